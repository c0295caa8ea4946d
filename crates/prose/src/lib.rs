//! Reads prose: the words of an author, their structure, and whether the author asserts them.
//!
//! Owns: Markdown blocks, sentences, tokens, lexicons, translation into English cues, clauses, patterns, modality, negation, normal forms.
//! May use: collections.
//! Must not know: what is a claim about a change or a decision of a project; `contract` and `ledger` say that.
//!
//! * `markdown` finds the lines that are prose, `sentences` the ends of sentences, `tokens` their parts.
//! * `lexicon` classifies words and phrases; `words` are tokens as they are spoken; `translation` maps them to English
//!   cues.
//! * `clauses` finds the asserted parts of a sentence, `modality` how a sentence as a whole is meant.
//! * `patterns` finds sequences of words and classes that a data file lists.
//! * `normal_form` decides whether two texts make one statement; `stems` finds their subject, `negation` their denials.

pub mod clauses;
pub mod lexicon;
pub mod markdown;
pub mod modality;
pub mod negation;
pub mod normal_form;
pub mod patterns;
pub mod sentences;
mod spans;
pub mod stems;
pub mod steps;
pub mod tokens;
pub mod translation;
pub mod words;

//! Reading prose: which words an author says, how they hang together, and whether the author stands behind them.
//!
//! Owns: Markdown blocks, sentences, tokens, lexicons, translation into English cues, clauses, modality, negation, normal forms.
//! May use: collections, core.
//! Must not know: what is a claim about a change or a decision of a project; `contract` and `ledger` say that.
//!
//! * `markdown` says which lines are prose, `sentences` where a sentence ends, `tokens` what it consists of.
//! * `lexicon` says what words and phrases do; `words` are tokens as they are spoken, `translation` brings them into English.
//! * `clauses` says which parts of a sentence are asserted, `modality` how a sentence as a whole is meant.
//! * `normal_form` says when two texts are one statement, `stems` what they speak about, `negation` whether they deny.

pub mod clauses;
pub mod lexicon;
pub mod markdown;
pub mod modality;
pub mod negation;
pub mod normal_form;
pub mod sentences;
mod spans;
pub mod stems;
pub mod tokens;
pub mod translation;
pub mod words;

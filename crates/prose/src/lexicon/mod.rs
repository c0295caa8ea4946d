//! The functions of words and phrases in a sentence: the sections of `lexicon/english.txt`, one constant each.
//!
//! A [`WordClass`] is a set of sections. A word is looked up once ([`class_of`]); a phrase is found at its first word
//! ([`PhraseSet`]).

mod phrases;
mod table;

pub use phrases::{
    PhraseSet, SpokenWord, contains, is_among, position_after, position_of, starts_with, strip,
};
pub(crate) use table::phrases_in;
pub use table::{class_of, words_of};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordClass([u64; WORDS]);

const WORDS: usize = 4;

impl WordClass {
    pub const NONE: Self = Self([0; WORDS]);

    /// Returns whether it shares a section with `other`.
    pub const fn is(self, other: Self) -> bool {
        let (own, others) = (self.0, other.0);
        own[0] & others[0] | own[1] & others[1] | own[2] & others[2] | own[3] & others[3] != 0
    }

    /// Returns whether no clause section lists the word: it is a name or a content word.
    pub const fn is_plain(self) -> bool {
        !self.is(CLAUSE_SECTIONS)
    }

    /// The union of both; `|` for constants.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        let (own, others) = (self.0, other.0);
        Self([own[0] | others[0], own[1] | others[1], own[2] | others[2], own[3] | others[3]])
    }

    const fn bit(index: usize) -> Self {
        let mut words = [0; WORDS];
        words[index / 64] = 1 << (index % 64);
        Self(words)
    }

    const fn below(index: usize) -> Self {
        let mut words = [0; WORDS];
        let mut at = 0;
        while at < index {
            words[at / 64] |= 1 << (at % 64);
            at += 1;
        }
        Self(words)
    }
}

impl std::ops::BitOr for WordClass {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

/// Returns the section of a name, in any case.
pub fn section(name: &str) -> Option<WordClass> {
    SECTIONS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, class)| *class)
}

macro_rules! sections {
    ($($clause:ident)* ; $($other:ident)*) => {
        #[expect(non_camel_case_types, clippy::upper_case_acronyms, reason = "the indexes of the constants")]
        enum ClassIndex { $($clause,)* Other, $($other,)* }

        $(#[doc = concat!("Section `", stringify!($clause), "`.")]
        pub const $clause: WordClass = WordClass::bit(ClassIndex::$clause as usize);)*
        $(#[doc = concat!("Section `", stringify!($other), "`.")]
        pub const $other: WordClass = WordClass::bit(ClassIndex::$other as usize);)*

        /// The sections used to parse clauses; a word that none of them lists is plain.
        const CLAUSE_SECTIONS: WordClass = WordClass::below(ClassIndex::Other as usize);

        const SECTIONS: &[(&str, WordClass)] = &[$((stringify!($clause), $clause),)* $((stringify!($other), $other),)*];
    };
}

sections! {
    NEGATION NO NOTHING WITHOUT ANY ALL PARTIAL_QUANTIFIER DETERMINER TEST TEST_KIND CHECK CI EVERYTHING PRONOUN
    SUCCESS FAILURE MARK AUXILIARY ADVERB PREPOSITION AND OR BUT SUBORDINATOR MODAL INTENTION HEDGE CLAUSE_HEDGE BELIEF_VERB CONDITION
    TEMPORAL_CONDITION STATEMENT_VERB REPORTING_VERB REQUEST_VERB PAST_ADVERB REGRESSION WORSENING_VERB ADDITIONAL FINDING PRODUCTION_VERB VERIFIED
    VERIFICATION CHANGE EXCLUSIVE CHANGE_VERB CHANGE_VERB_BASE LIMITATION DOCS FILES EXCEPTION OUTSIDE FIX_VERB
    ABSENCE FIRST_PERSON WISH_LABEL TO THAT NARROW_ADJECTIVE RUN_VERB INABILITY EXAMPLE CONFIRMATION_VERB PRESENCE
    PERSISTENCE OTHER STAY_VERB THIRD_PERSON CONTAINMENT_VERB UNTOUCHED INTERFACE CALLERS COMPATIBLE PUBLIC SAMENESS
    QUALITY REMOVAL_VERB ;

    SYMBOL CODE CODE_KIND TOOL CODE_USE REPLACEMENT ONWARD_RETRACTION CLAUSE_RETRACTION PLAIN_CHECK DROP_VERB REGRESSION_COMPOUND ADDITION_VERB
    FINDING_WORD APPEARANCE_VERB MEASURING_TOOL REACHED ACCEPTED FINITE_RESULT NUMERAL OPENER FILLER RETRACTION ACCEPTANCE REFUSAL OFFER_TO_DO OFFER_TO_HAVE
    OFFERED_WORK OFFERED_WAY IDEA_START SLIP SECOND_THOUGHT
    REVISION DECISION_VERB REPORTED_DECISION WORK_VERB INVESTIGATION SETTING_VERB WORK_PARTICIPLE COMPLETION FORBIDDEN_VERB
    IDLE_PROHIBITION IDLE_NO STATIVE_VERB IDLE_SUBJECT OBLIGATION DISCOVERY OPINION IDLE_START ADVERB_BEFORE_REPORT
    ATTITUDE_VERB DOUBT SENTENCE_CONDITION OPENING_CONDITION QUESTION UNREAL UNDECIDED AFTERTHOUGHT RULE_LABEL
    TASK_LABEL CLAUSE_START BENEFIT PROPOSAL_LABEL WORK_START CHOICE_BETWEEN ASKED_CHOICE SPEECH_REQUEST SUGGESTION HEDGED_START CHATTER
    TASK_REQUEST WITHDRAWAL OBSOLETE BROKEN_AGAIN INCOMPLETE UNFINISHED_PARTICIPLE CONFIRMATION PROGRESS PRACTICE
    TOLD_DISCOVERY DECISION_AGAINST_ACTION DECISION_AGAINST RULE_CHANGE GOAL IDLE_OBLIGATION SETTLEMENT IMMOVABLE
    BOUND VAGUE_VERB STOP_WORD ENGLISH_WORD AMBIGUOUS_WORD ABBREVIATION HEADING_OPEN HEADING_PROPOSALS HEADING_OPTIONS HEADING_DONE
    HEADING_DECISIONS HEADING_CONSTRAINTS HEADING_TASKS HEADING_GOALS HEADING_FACTS DOUBLING_VERB
    OPTIONALLY_DOUBLING_VERB NEGATABLE_VERB SHORTENED_IS GROUPING_WORD FINITE_VERB CLAUSE_OPENER NO_NOUN
    FOREIGN_NEGATION LETTERED_NOUN UNIT TIME_UNIT VERB
}

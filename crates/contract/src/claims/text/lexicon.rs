//! The words that matter, by class. A word may have several.
//!
//! One look-up a word, and the whole vocabulary on two screens.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A set of word classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Class(u128);

impl Class {
    pub(super) const NONE: Self = Self(0);

    /// Whether it shares a class with `other`.
    pub(super) const fn is(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it tells nothing about the word itself: none, or only that a phrase can begin with it.
    pub(super) const fn is_plain(self) -> bool {
        self.0 & !PHRASE.0 == 0
    }

    const fn bit(index: u32) -> Self {
        Self(1 << index)
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl std::ops::BitOr for Class {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.and(other)
    }
}

macro_rules! classes {
    ($($(#[$about:meta])* $name:ident = $index:literal;)*) => {
        $($(#[$about])* pub(super) const $name: Class = Class::bit($index);)*
    };
}

classes! {
    /// Turns a statement round: not, never.
    NEG = 0;
    /// Says that there is none: no, zero, none.
    NO = 1;
    /// Is none itself: nothing.
    NOTHING = 2;
    WITHOUT = 3;
    ANY = 4;
    ALL = 5;
    /// Says less than all: some, most, almost, only.
    PARTIAL = 6;
    DET = 7;
    TEST = 8;
    /// Tells tests apart: unit, integration.
    TEST_KIND = 9;
    CHECK = 10;
    CI = 11;
    EVERYTHING = 12;
    PRONOUN = 13;
    /// Says that something went well.
    PASS = 14;
    /// Says that something went wrong.
    FAIL = 15;
    AUX = 16;
    ADVERB = 17;
    PREP = 18;
    AND = 19;
    OR = 20;
    BUT = 21;
    /// Opens another clause: because, while.
    BECAUSE = 22;
    /// should, might.
    MODAL = 23;
    /// will, must, needs.
    FUTURE = 24;
    /// probably, seems.
    MAYBE = 25;
    /// think, hope.
    BELIEF = 26;
    /// if, unless.
    CONDITION = 27;
    /// says, claims.
    REPORT = 28;
    /// please, ensure, check.
    REQUEST = 29;
    /// previously, earlier.
    PAST = 30;
    REGRESSION = 31;
    /// regressed, worsened.
    WORSEN = 32;
    NEW = 33;
    FINDING = 34;
    /// introduces, causes, finds: verbs whose object then exists.
    BRING = 35;
    VERIFIED = 36;
    VERIFICATION = 37;
    /// What a verdict is about: change, patch, contract.
    CHANGE = 38;
    ONLY = 39;
    /// touched, changes.
    TOUCH = 40;
    /// touch, change: also a command.
    TOUCH_BASE = 41;
    LIMITED = 42;
    DOCS = 43;
    FILES = 44;
    EXCEPT = 45;
    OUTSIDE = 46;
    /// fixed, resolves.
    FIX = 47;
    /// gone, absent.
    GONE = 48;
    /// I, we.
    SELF = 49;
    /// todo, goal: what follows is wanted, not said.
    WANTED = 50;
    TO = 51;
    THAT = 52;
    /// performance, obvious: a narrower statement.
    NARROW = 53;
    /// A mark: ✅ or ❌.
    MARK = 54;
    RUN = 55;
    /// fails to, unable: turns the verb behind it round.
    UNABLE = 56;
    /// such as, for example.
    MENTION = 57;
    /// confirm, show: the author stands behind what follows.
    CONFIRM = 58;
    /// presence: present, reported, found.
    PRESENT = 59;
    STILL_THERE = 60;
    ELSE = 61;
    /// Begins one of the phrases that [`super::sentence`] knows.
    PHRASE = 62;
    STAY = 63;
    /// they, it.
    THEY = 64;
    /// contains, concerns: what a diff does.
    COMPRISE = 65;
    UNTOUCHED = 66;
    /// What others build on: the API, signatures.
    API = 67;
    /// Those who build on it.
    CALLERS = 68;
    COMPATIBLE = 69;
    /// public, exported.
    PUBLIC = 70;
    /// preserved, stable: as it was.
    SAME = 71;
    /// renamed, removed: what can be done to a symbol besides changing it.
    REMOVE = 72;
    /// quality, health: what a verdict measures.
    HEALTH = 73;
}

/// The class of a word, whatever its case.
pub(super) fn class_of(word: &str) -> Class {
    let mut buffer = [0; LONGEST];
    let Some(lower) = buffer.get_mut(..word.len()) else { return Class::NONE };
    lower.copy_from_slice(word.as_bytes());
    lower.make_ascii_lowercase();
    WORDS.find(lower)
}

/// The class of a code span: only names of test runners are words there.
pub(super) fn class_of_code(content: &str) -> Class {
    let runs_tests =
        content.split_whitespace().any(|word| class_of(word).is(TEST)) && !content.contains(['/', '(']);
    if runs_tests { TEST } else { Class::NONE }
}

/// The class of a number: none at all, all of them, or only some.
pub(super) fn class_of_number(number: &str) -> Class {
    match number.split_once('/') {
        Some((part, whole)) if part == whole => ALL,
        Some(_) => PARTIAL,
        None if number == "0" => NO,
        None if number == "100%" => ALL,
        None if number.ends_with('%') => PARTIAL,
        None => Class::NONE,
    }
}

/// The class of a pictorial mark.
pub(super) const fn mark(character: char) -> Option<Class> {
    match character {
        '✅' | '✔' | '✓' | '☑' | '🟢' | '💚' => Some(PASS.and(MARK)),
        '❌' | '✗' | '✘' | '✖' | '🔴' | '⛔' | '🚫' => Some(FAIL.and(MARK)),
        _ => None,
    }
}

/// Whether a full stop behind the word is part of it.
pub(super) fn is_abbreviation(word: &str) -> bool {
    ["e.g", "i.e", "etc", "vs", "cf", "approx", "incl", "resp"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(word))
}

/// The longest word of the vocabulary.
const LONGEST: usize = 16;

/// The vocabulary, class by class.
#[rustfmt::skip]
const VOCABULARY: &[(Class, &str)] = &[
    (NEG, "not never neither nor hardly barely scarcely cannot nobody"),
    (NO, "no zero none"),
    (NOTHING, "nothing"),
    (WITHOUT, "without"),
    (ANY, "any anything"),
    (ALL, "all every each both entire whole full complete"),
    (PARTIAL, "some most many few several half almost nearly mostly partially partly virtually practically \
        basically various certain part portion majority somewhat sometimes occasionally usually intermittently generally"),
    (DET, "the a an my our your its their this these those his her"),
    (TEST, "test tests testsuite suite suites specs pytest jest unittest unittests tox nextest junit \
        mocha rspec vitest ctest testcase testcases doctest doctests phpunit playwright cypress \
        selftest selftests"),
    (TEST_KIND, "unit integration functional regression e2e smoke acceptance system existing new old slow \
        fast updated relevant affected python rust backend frontend api browser property fuzz \
        snapshot"),
    (CHECK, "check checks gate gates jobs workflows"),
    (CI, "ci pipeline pipelines"),
    (EVERYTHING, "everything"),
    (PRONOUN, "it they them that there here what who he she which this"),
    (PASS, "pass passes passed passing green succeed succeeds succeeded succeeding successful \
        successfully success ok okay clean cleanly"),
    (FAIL, "fail fails failed failing failure failures red broken break breaks broke breaking error \
        errors erroring errored crash crashes crashed"),
    (AUX, "is are was were be been being am has have had do does did get gets got gotten become becomes \
        became remain remains remained stay stays stayed keep keeps kept continue continues \
        continued come comes came turn turns turned go goes went run runs ran finish finishes \
        finished complete completes completed execute executes executed end ends ended exit exits \
        exited"),
    (ADVERB, "still now also again currently locally fully completely entirely really indeed already just \
        finally consistently too together back up yet afterwards everywhere happily reliably \
        definitely certainly clearly absolutely successfully structurally independently thoroughly \
        manually automatically actually longer overall anywhere"),
    (PREP, "in on for of under from across within at by with against after during over per via through \
        using into inside between about including below beneath behind"),
    (AND, "and plus"),
    (OR, "or nor"),
    (BUT, "but however nevertheless nonetheless whereas instead"),
    (BECAUSE, "because since although though while so as thus hence therefore"),
    (MODAL, "should might may could would ought can shall"),
    (FUTURE, "will must need needs needed going gonna want wants wanted intend intends intended plan plans \
        planned aim aims aiming tries tried trying attempt attempts attempted supposed \
        requires require pending tbd"),
    (MAYBE, "probably maybe perhaps possibly likely unlikely hopefully presumably seems seem seemed \
        appears appear appeared apparently supposedly allegedly reportedly theoretically potentially \
        unclear unsure uncertain afaict afaik iirc imo imho arguably ideally unknown looks"),
    (BELIEF, "think thought believe believed guess hope hopes hoped hoping pretend trust expect expects expected \
        expecting assume assumes assumed suppose suspect suspected doubt doubts feel feels imagine \
        reckon wish wishes wonder wondering"),
    (CONDITION, "if unless until till once when whenever whether assuming provided providing supposing lest \
        before"),
    (REPORT, "says say said claims claim claimed claiming reports report reported states stated told tells \
        wrote writes mentioned mentions insists insisted argues argued suggests suggested asserts \
        asserted announced announces promised promises according quotes quoted asks asked answered \
        replied thinks believes commented alleges alleged"),
    (REQUEST, "please ensure check verify confirm make remember let lets run rerun see try keep validate \
        prove"),
    (PAST, "previously formerly originally earlier yesterday historically"),
    (REGRESSION, "regression regressions degradation degradations deterioration deteriorations"),
    (WORSEN, "regress regresses regressed regressing worsen worsens worsened worse degrade degrades \
        degraded deteriorate deteriorates deteriorated broke breaks break broken"),
    (NEW, "new additional further extra more"),
    (FINDING, "finding findings issue issues problem problems violation violations defect defects smell \
        smells bug bugs debt"),
    (BRING, "introduce introduces introduced introducing cause causes caused causing add adds added \
        adding create creates created creating bring brings brought bringing produce produces \
        produced producing lead leads led result results resulted contain contains contained have \
        has had having show shows showed shown find finds found see sees saw seen detect detects \
        detected detecting observe observes observed notice notices noticed spot spotted encounter \
        encountered yield yields yielded trigger triggers triggered leave leaves left exhibit \
        exhibits reveal reveals revealed carry carries include includes discover discovered make \
        makes made making"),
    (VERIFIED, "verified"),
    (VERIFICATION, "verification"),
    (CHANGE, "change changes patch patches contract commit commits pr diff work refactoring refactor \
        implementation edit edits branch code changeset update result results quality it this \
        everything all fix intent modification modifications"),
    (ONLY, "only solely exclusively merely purely just"),
    (TOUCH, "touched touches changed changes modified modifies edited edits updated updates altered \
        alters affected affects touching changing modifying editing rewrote revised"),
    (TOUCH_BASE, "touch change modify edit update alter affect"),
    (LIMITED, "limited confined restricted contained constrained scoped isolated"),
    (DOCS, "docs documentation doc docstrings documents markdown"),
    (FILES, "file files path paths directory directories folder folders module modules source sources thing things"),
    (EXCEPT, "except excluding besides barring save apart aside bar"),
    (OUTSIDE, "outside beyond"),
    (FIX, "fixed fixes resolved resolves eliminated eliminates removed removes closed closes repaired \
        repairs cleared clears mended mends addressed addresses cured cures solved solves remedied \
        remedies"),
    (GONE, "gone absent disappeared vanished"),
    (SELF, "i we"),
    (WANTED, "todo fixme goal goals plan plans expected acceptance requirement requirements criteria \
        wanted desired target objective aim tbd next wip"),
    (TO, "to"),
    (THAT, "that"),
    (NARROW, "performance speed memory latency visual obvious apparent significant major serious \
        noticeable visible big large real immediate critical severe perceptible notable substantial \
        blatant glaring security accessibility size benchmark runtime throughput"),
    (RUN, "ran run executed rerun reran"),
    (UNABLE, "unable refuse refused doubt deny denies false untrue incorrect wrong lack lacks impossible"),
    (MENTION, "e.g example instance"),
    (CONFIRM, "confirm confirmed confirms confirming verified checked ensured validated proved proven see \
        saw note noting"),
    (PRESENT, "present found detected introduced reported observed seen noticed there here identified \
        discovered spotted caused added created encountered flagged listed raised whatsoever exist exists compared relative versus vs"),
    (STILL_THERE, "remains remain persists persist reappears stays recurs"),
    (ELSE, "else other others"),
    (PHRASE, "not pretty fairly reasonably no in so as the on yet to would such instead rather up used have has had \
        is are for about prior more at far important necessary essential crucial vital imperative required per"),
    (STAY, "stay stays stayed remain remains remained"),
    (THEY, "they it these those"),
    (COMPRISE, "contains contain includes include comprises involves involve concerns concern"),
    (UNTOUCHED, "untouched unchanged unmodified unaffected alone"),
    (API, "api apis interface interfaces signature signatures surface exports"),
    (CALLERS, "callers caller clients consumers users dependents"),
    (COMPATIBLE, "compatible compatibility"),
    (PUBLIC, "public exported external outward"),
    (SAME, "same preserved stable intact identical maintained retained"),
    (HEALTH, "quality health maintainability"),
    (REMOVE, "renamed removed dropped deleted moved renames removes"),
];

/// Every word with all its classes.
static WORDS: LazyLock<Words> = LazyLock::new(|| {
    let mut classes: BTreeMap<&'static str, Class> = BTreeMap::new();
    for (class, list) in VOCABULARY {
        for word in list.split_whitespace() {
            let known = classes.entry(word).or_default();
            *known = *known | *class;
        }
    }
    Words::new(classes)
});

/// A hash table that only this module fills: every word of a review is looked up, so it has to be quick.
struct Words {
    slots: Vec<Option<(&'static str, Class)>>,
}

impl Words {
    /// A power of two, several times the number of words.
    const SLOTS: usize = 4096;

    fn new(classes: BTreeMap<&'static str, Class>) -> Self {
        let mut words = Self { slots: vec![None; Self::SLOTS] };
        for (word, class) in classes {
            let mut slot = Self::slot(word.as_bytes());
            while words.slots[slot].is_some() {
                slot = (slot + 1) % Self::SLOTS;
            }
            words.slots[slot] = Some((word, class));
        }
        words
    }

    /// FNV-1a, folded to the size of the table.
    fn slot(word: &[u8]) -> usize {
        let hash = word
            .iter()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
        (hash ^ (hash >> 15)) as usize % Self::SLOTS
    }

    fn find(&self, word: &[u8]) -> Class {
        let mut slot = Self::slot(word);
        while let Some((known, class)) = self.slots[slot] {
            if known.as_bytes() == word {
                return class;
            }
            slot = (slot + 1) % Self::SLOTS;
        }
        Class::NONE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_fits_and_is_lower_case() {
        let words: Vec<&str> = VOCABULARY.iter().flat_map(|(_, list)| list.split_whitespace()).collect();
        for word in &words {
            assert!(word.len() <= LONGEST && **word == word.to_ascii_lowercase(), "{word}");
        }
        assert!(words.len() * 3 < Words::SLOTS);
    }

    #[test]
    fn words_are_found_in_any_case() {
        assert!(class_of("TESTS").is(TEST) && class_of("Nothing").is(NOTHING));
        assert_eq!(class_of("parser"), Class::NONE);
        assert_eq!(class_of("anextraordinarilylongword"), Class::NONE);
    }

    #[test]
    fn a_share_is_only_all_if_nothing_is_left() {
        assert!(class_of_number("12/12").is(ALL) && class_of_number("11/12").is(PARTIAL));
        assert!(class_of_number("0").is(NO) && class_of_number("95%").is(PARTIAL));
    }
}

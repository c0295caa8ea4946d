//! Reading a turn takes steps linear in its length: counted, not timed, so that a busy machine changes nothing.

use probity_ledger::Ledger;
use probity_ledger::extract::{Role, Turn, extract};
use probity_prose::steps;

/// Pieces that look like the beginning of something the rules read, over and over.
const HOSTILE_PIECES: &[&str] = &[
    "never ",
    "never, ",
    "and ",
    "no, wait, ",
    "is done, and it ",
    "would like ",
    "it must, and ",
    "use x, ",
    "i will add it and ",
    "maybe ",
    "or ",
    "42 ms, ",
    "actually, ",
    "if not ",
    "wir nehmen ",
    "on ne veut pas ",
];

fn steps_of(text: &str, role: Role) -> u64 {
    steps::take();
    extract(&Ledger::new(), &Turn { id: "t", role, text });
    steps::take()
}

/// Twice the text may take at most this many times the steps, in percent: twice, and room for what a sentence costs once.
const MAX_GROWTH_PERCENT: u64 = 230;

#[test]
fn the_steps_of_a_sentence_grow_no_faster_than_its_length() {
    for piece in HOSTILE_PIECES {
        for role in [Role::User, Role::Assistant] {
            let n = 900 / piece.len();
            let (one, two) = (steps_of(&piece.repeat(n), role), steps_of(&piece.repeat(2 * n), role));
            assert!(one > 0, "{piece:?}");
            assert!(two * 100 <= one * MAX_GROWTH_PERCENT, "{piece:?}: {one} steps, then {two}");
        }
    }
}

#[test]
fn the_steps_of_a_turn_grow_no_faster_than_its_sentences() {
    for sentence in ["Wait, no. ", "Use Redis. ", "No. ", "It is done. ", "- [x] it. ", "Maybe. "] {
        let (one, two) =
            (steps_of(&sentence.repeat(100), Role::User), steps_of(&sentence.repeat(200), Role::User));
        assert!(two * 100 <= one * MAX_GROWTH_PERCENT, "{sentence:?}: {one} steps, then {two}");
    }
}

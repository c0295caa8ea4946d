//! Which test shows which requirement (R: reconciler, S: storage, E: extraction, X: export and evaluation). A test that is
//! named here and does not exist fails this one, so the table cannot rot.

/// A requirement, what it asks, and the tests that show it: file and name.
type Row = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const LAWS: &str = include_str!("../tests/laws.rs");
const QUESTIONS: &str = include_str!("../tests/questions.rs");
const EXPORT: &str = include_str!("../tests/export.rs");
const VECTORS: &str = include_str!("../tests/vectors.rs");
const UTTERANCES: &str = include_str!("../tests/extraction/utterances.rs");
const TRANSCRIPTS: &str = include_str!("../tests/extraction/transcripts.rs");
const WORDS: &str = include_str!("words.rs");
const WIRE: &str = include_str!("wire/tests.rs");
const SNAPSHOT: &str = include_str!("snapshot/tests.rs");
const MERGE: &str = include_str!("merge/tests.rs");
const MODEL: &str = include_str!("model/tests.rs");
const JOURNAL: &str = include_str!("../../storage/src/journal/tests.rs");
const CLIENT: &str = include_str!("../../model/src/client.rs");
const HTTP: &str = include_str!("../../model/src/http/tests.rs");
const END_TO_END: &str = include_str!("../../probity/tests/end_to_end/ledger.rs");

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("R1", "an explicit table of transitions, default deny, reopening makes a successor", &[
        (WORDS, "final_statuses_lead_nowhere"), (LAWS, "the_invariants_hold_after_every_step"), (VECTORS, "ledger")]),
    ("R2", "a pure function that no bytes panic; replay gives the same state and hash", &[
        (LAWS, "replaying_the_log_gives_the_same_state_and_the_same_verdicts"), (LAWS, "no_json_panics"), (WIRE, "no_bytes_panic"),
        (SNAPSHOT, "a_replayed_log_says_when_it_was_decided_otherwise")]),
    ("R3", "every input has its position, a stable code, and words", &[
        (LAWS, "the_invariants_hold_after_every_step"), (QUESTIONS, "every_input_can_be_looked_up"), (WIRE, "words_keep_their_ranks"),
        (END_TO_END, "what_is_rejected_has_a_position_a_code_and_words")]),
    ("R4", "the engine mints ids; redelivery is a no-op", &[
        (VECTORS, "ledger"), (END_TO_END, "session_files_of_agents_are_taken_in_once"),
        (MODEL, "what_was_said_is_a_candidate_with_a_minted_handle_and_its_words")]),
    ("R5", "revisions keep every version; links are typed, two-sided and acyclic", &[
        (LAWS, "the_invariants_hold_after_every_step"), (QUESTIONS, "explains_why_an_item_is_here_and_what_replaced_it")]),
    ("R6", "sources are (turn, range), known, deduplicated, append-only, indexed", &[
        (LAWS, "the_invariants_hold_after_every_step"), (QUESTIONS, "says_what_a_turn_supports")]),
    ("R7", "identity keeps polarity, numbers, units, order; contradictions are put on record", &[
        (VECTORS, "ledger_identity"), (QUESTIONS, "a_contradiction_is_put_on_record_and_settled"),
        (LAWS, "open_conflicts_are_exactly_the_active_pairs_that_deny_each_other")]),
    ("R8", "best effort and atomic batches, dry run, authority of authors", &[
        (LAWS, "an_aborted_batch_leaves_only_its_positions"), (QUESTIONS, "a_guarded_hard_constraint_yields_to_its_guardians_only"),
        (END_TO_END, "a_rehearsal_leaves_nothing")]),
    ("S1", "log first, framed, chained, synced; a torn end is cut and told; snapshots are a cache; kills lose nothing", &[
        (JOURNAL, "a_log_cut_anywhere_keeps_its_whole_frames_and_the_next_writer_says_what_was_torn"),
        (JOURNAL, "a_flipped_bit_is_found_wherever_it_is"), (SNAPSHOT, "a_book_reads_back_and_goes_on_alike"),
        (END_TO_END, "a_kill_at_any_instant_loses_nothing_acknowledged")]),
    ("S2", "many writers: four writers keep four writers' work", &[
        (JOURNAL, "writers_take_turns"), (END_TO_END, "four_processes_write_at_once_and_nothing_is_lost")]),
    ("S3", "`changed since` from indexes; the head gives nothing, beyond it is an error", &[
        (LAWS, "the_state_as_of_a_position_is_the_state_that_was"), (END_TO_END, "a_proposal_is_decided_and_can_be_asked_about")]),
    ("S4", "as-of reads at any position; the log is never compacted, so everything stays traceable", &[
        (LAWS, "the_state_as_of_a_position_is_the_state_that_was"), (END_TO_END, "a_proposal_is_decided_and_can_be_asked_about")]),
    ("E1", "no gate before the rules or a model: every turn is read", &[(MODEL, "windows_hold_what_fits_and_every_turn_once")]),
    ("E2", "sentences, Markdown, negation, questions, conditions, quotation", &[
        (UTTERANCES, "no_guess_question_condition_or_quotation_becomes_canonical"), (UTTERANCES, "a_denial_never_loses_its_negation"),
        (UTTERANCES, "firm_statements_are_found"), (MODEL, "what_was_hedged_asked_or_supposed_never_becomes_a_decision")]),
    ("E3", "turns are read one after the other against a working copy", &[
        (TRANSCRIPTS, "transcripts_are_read_well"), (MODEL, "later_deltas_may_name_earlier_ones_and_nothing_that_is_made_up")]),
    ("E4", "providers: structured output, timeout, retry, budget, usage; turns stay pending; the same checks", &[
        (HTTP, "speaks_to_an_openai_compatible_endpoint"), (HTTP, "a_slow_answer_is_not_waited_for"), (CLIENT, "keeps_to_its_budget"),
        (MODEL, "a_summary_must_not_turn_the_words_around"), (END_TO_END, "a_model_that_fails_leaves_its_turns_pending")]),
    ("E5", "duplicates add their sources to the winner, and are logged", &[
        (QUESTIONS, "explains_why_an_item_is_here_and_what_replaced_it"), (MERGE, "what_both_said_is_one_item")]),
    ("X1", "a token budget with a bound, whole lines, hard constraints first, every kind, query, increments", &[
        (EXPORT, "no_budget_is_ever_exceeded"), (EXPORT, "hard_constraints_are_paid_for_first"), (EXPORT, "every_kind_has_its_place"),
        (EXPORT, "the_query_decides_what_fits"), (EXPORT, "an_increment_shows_what_changed_and_what_ended")]),
    ("X2", "recall, precision and state quality by content, on held-out transcripts", &[
        (TRANSCRIPTS, "transcripts_that_the_rules_were_not_made_for_are_read_well_enough"),
        (TRANSCRIPTS, "transcripts_written_when_the_rules_were_done_are_read_well_enough")]),
];

#[test]
fn every_requirement_is_shown_by_tests_that_exist() {
    let names: Vec<_> = TABLE.iter().map(|(name, ..)| *name).collect();
    let all = [
        "R1", "R2", "R3", "R4", "R5", "R6", "R7", "R8", "S1", "S2", "S3", "S4", "E1", "E2", "E3", "E4", "E5",
        "X1", "X2",
    ];
    assert_eq!(names, all);
    for (name, asks, tests) in TABLE {
        for (file, test) in *tests {
            assert!(
                file.contains(&format!("fn {test}(")) || file.contains(&format!("{test} =>")),
                "{name} ({asks}): no test `{test}`"
            );
        }
    }
}

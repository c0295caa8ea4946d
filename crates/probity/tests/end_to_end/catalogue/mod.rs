//! The adversarial catalogue: ways to change a tree unseen, or to forge the evidence. Each numbered case runs a real
//! program on a real file system, judged by the real binary.
//!
//! [`CATALOGUE`] says for every number where its test is, or why there is none; a test keeps that table true.

mod baseline;
mod forgery;
mod hiding;
mod kinds;
mod links;
mod names;
mod processes;
mod vcs;

enum Where {
    /// In a module of this directory.
    Here(&'static str),
    /// In a crate, named by its directory and a part of the test's name.
    Elsewhere(&'static str, &'static str),
    /// Nowhere, for this reason.
    Missing(&'static str),
}

use Where::{Elsewhere, Here, Missing};

#[rustfmt::skip]
const CATALOGUE: &[(&str, Where)] = &[
    ("1 edit in scope",                          Here("edit_in_scope_passes")),
    ("2 edit out of scope",                      Here("edit_out_of_scope_fails_and_names_the_path")),
    ("3 glob scope",                             Here("a_glob_lets_in_what_it_covers")),
    ("4 everything, newline in a name",          Here("a_double_star_lets_in_any_name")),
    ("5 nothing changed",                        Here("no_change_passes")),
    ("6 delete in and out of scope",             Here("deletions_are_judged_like_edits")),
    ("7 edit and revert",                        Here("an_edit_that_was_undone_is_no_change")),
    ("8 uncommitted before",                       Here("dirt_from_before_is_not_in_the_delta")),
    ("9 uncommitted before, edited again",       Here("dirt_from_before_that_changes_again_is")),
    ("10 scope widened afterwards",              Here("the_sealed_scope_cannot_be_widened_by_editing_the_policy")),
    ("11 scopes that are no scopes",             Here("a_scope_that_could_mean_anything_is_refused")),
    ("12 exclusions",                            Here("the_last_match_wins")),
    ("13 broken classes",                        Here("a_broken_class_is_refused")),
    ("14 twelve stars",                          Here("twelve_stars_are_matched_at_once")),
    ("15 new file in a new directory",           Here("a_new_file_in_a_new_directory_can_be_named")),
    ("16 extra files in a new directory",        Here("every_file_of_a_new_directory_is_judged")),
    ("17 run from a subdirectory",               Here("paths_are_recorded_from_the_root_wherever_one_stands")),
    ("18 staged rename out of scope",            Here("a_staged_rename_shows_both_ends")),
    ("19 unstaged rename",                       Here("an_unstaged_rename_shows_both_ends")),
    ("20 rename into scope",                     Here("renaming_into_scope_is_a_deletion_outside")),
    ("21 rename within scope",                   Here("renaming_within_scope_passes")),
    ("22 directory replaced by a file",          Here("a_directory_replaced_by_a_file_shows_every_child")),
    ("23 file replaced by something else",       Here("special_files_are_unsafe_even_in_scope")),
    ("24 directory replaced by a link",          Here("a_directory_replaced_by_a_link_is_a_change")),
    ("25 executable bit",                        Here("permission_bits_are_part_of_a_file")),
    ("26 executable bit, core.fileMode=false",   Here("git_configuration_does_not_hide_permission_bits")),
    ("27 644 to 600, setuid",                    Here("every_permission_bit_counts")),
    ("28 owner, extended attributes",            Here("changed_owners_are_recorded")),
    ("29 empty directories",                     Here("empty_directories_are_entries")),
    ("30 newline in a name, out of scope",       Here("a_newline_in_a_name_is_reported_on_one_line")),
    ("31 newline in a name, declared",           Here("a_newline_in_a_name_can_be_declared")),
    ("32 name that is no UTF-8",                 Here("a_name_that_is_no_text_is_reported_without_loss")),
    ("33 backslash in a name",                   Here("a_backslash_is_an_ordinary_character")),
    ("34 trailing white space",                  Here("names_are_never_trimmed")),
    ("35 case variant",                          Here("case_is_never_folded")),
    ("36 case variant, core.ignorecase",         Here("git_configuration_does_not_fold_case")),
    ("37 folding file system",                   Missing("this kernel has no file system that folds names; the rule is tested on values: one_object_under_two_spellings_is_a_collision in crates/snapshot")),
    ("38 NFC and NFD",                           Here("bytes_decide_and_a_look_alike_gets_a_hint")),
    ("39 non-ASCII name",                        Here("names_beyond_ascii_are_ordinary")),
    ("40 look-alikes of .git",                   Here("look_alikes_of_git_are_unsafe")),
    ("41 control characters in names",           Here("names_cannot_write_to_the_terminal")),
    ("42 deeper than any path may be",           Here("a_path_longer_than_the_system_allows_is_seen")),
    ("43 ignored file",                          Here("an_ignored_file_counts")),
    ("44 directory that ignores itself",         Here("a_directory_that_ignores_itself_counts")),
    ("45 info/exclude, excludesFile",            Here("exclusion_files_of_git_hide_nothing")),
    ("46 cache directories",                     Here("well_known_cache_directories_count")),
    ("47 showUntrackedFiles=no",                 Here("untracked_files_count_whatever_git_shows")),
    ("48 assume-unchanged, skip-worktree",       Here("index_flags_hide_nothing")),
    ("49 core.fsmonitor script",                 Here("no_program_of_the_repository_is_started")),
    ("50 clean filter",                          Here("a_clean_filter_hides_nothing_and_is_not_started")),
    ("51 untracked cache",                       Here("the_untracked_cache_hides_nothing")),
    ("52 same size, time restored",              Here("a_restored_time_hides_nothing")),
    ("53 same, core.trustctime=false",           Here("git_configuration_does_not_make_times_trusted")),
    ("54 clock set back, equal times",           Elsewhere("crates/snapshot", "what_was_written_just_now_or_in_the_future_is_read_again")),
    ("55 direct writes and holes",               Here("direct_writes_and_holes_are_seen")),
    ("56 huge sparse file",                      Here("a_huge_file_is_judged")),
    ("57 unreadable file",                       Here("an_unreadable_path_is_named_and_fails_the_run")),
    ("58 mount point",                           Here("a_mount_point_inside_the_tree_is_unsafe")),
    ("59 planted hook",                          Here("a_planted_hook_is_a_protected_change")),
    ("60 git configuration",                     Here("git_configuration_is_protected")),
    ("61 committed change",                      Here("committing_hides_nothing")),
    ("62 amend, branch switch",                  Here("rewriting_history_hides_nothing")),
    ("63 .git deleted and made again",           Here("a_new_git_directory_hides_nothing")),
    ("64 .git made a file",                      Here("a_redirected_git_directory_is_protected")),
    ("65 stash",                                 Here("a_stash_is_recorded")),
    ("66 tag or branch",                         Here("new_refs_are_recorded_and_can_be_protected")),
    ("67 corrupt index",                         Here("a_corrupt_index_is_protected_and_changes_no_verdict")),
    ("68 index.lock",                            Here("a_stale_index_lock_changes_no_verdict")),
    ("69 dirty submodule",                       Here("content_of_submodules_is_judged")),
    ("70 same, ignoreSubmodules",                Here("git_configuration_does_not_hide_submodules")),
    ("71 nested repository",                     Here("a_nested_repository_is_content")),
    ("72 staged and reverted",                   Here("a_staged_change_alone_is_judged")),
    ("73 linked worktree",                       Here("a_new_worktree_is_recorded")),
    ("74 link to the outside",                   Here("an_in_scope_file_replaced_by_an_escaping_link_is_unsafe")),
    ("75 old link to the outside",               Here("an_escaping_link_from_before_is_reported_and_refused_in_scope")),
    ("76 write through an in-tree link",         Here("a_write_through_a_link_shows_the_real_path")),
    ("77 hard link to the outside",              Here("a_hard_link_to_the_outside_is_unsafe")),
    ("78 hard link across the scope",            Here("a_hard_link_across_the_scope_shows_both_names")),
    ("79 link loop",                             Here("a_loop_of_links_is_a_change_and_no_hang")),
    ("80 parent swapped during the walk",        Elsewhere("crates/snapshot", "a_directory_swapped_for_a_link_never_leads_outside")),
    ("81 escaping artifact path",                Here("artifacts_cannot_leave_the_bundle")),
    ("82 gate leaves a process",                 Here("a_gate_that_leaves_a_process_fails")),
    ("83 file modified while read",              Elsewhere("crates/snapshot", "a_file_that_never_rests_is_unstable")),
    ("84 file swapped away and back",            Here("what_was_swapped_away_and_back_is_recorded")),
    ("85 change after the last snapshot",        Here("the_evidence_binds_the_tree")),
    ("86 gate writes out of scope",              Here("gates_are_judged_too_and_may_have_outputs")),
    ("87 agent edits its own gate",              Here("the_sealed_gate_runs_not_the_edited_one")),
    ("88 gate times out",                        Here("a_timeout_keeps_output_and_ends_the_whole_group")),
    ("89 two runs at once",                      Here("two_runs_in_one_tree_are_one_too_many")),
    ("90 overlapping scopes of two agents",      Elsewhere("crates/scopes", "overlap_is_exact_and_symmetric")),
    ("91 race for one scope",                    Elsewhere("crates/probity", "of_two_racers_one_wins")),
    ("92 lease expires",                         Elsewhere("crates/probity", "who_writes_on_after_a_takeover_cannot_finish")),
    ("93 untracked list emptied",                Here("an_emptied_untracked_list_is_recomputed")),
    ("94 profile downgraded",                    Here("the_profile_is_demanded_by_the_caller")),
    ("95 gate results forged",                   Here("missing_and_failing_gates_are_found")),
    ("96 artifacts emptied or planted",          Here("the_bundle_is_a_closed_world")),
    ("97 chain link removed",                    Here("a_gap_in_the_chain_is_reported")),
    ("98 duplicate keys and other spellings",    Here("only_one_spelling_is_read")),
    ("99 trust taken from the bundle",           Here("a_bundle_cannot_bring_its_own_key")),
    ("100 symmetric signatures",                 Here("verifying_needs_no_secret")),
    ("101 hostile manifest",                     Here("hostile_manifests_are_refused_cleanly")),
    ("102 evidence inside the tree",             Here("evidence_lies_outside_the_judged_tree")),
];

#[test]
fn the_table_is_complete_and_true() {
    let sources = [
        include_str!("baseline.rs"),
        include_str!("kinds.rs"),
        include_str!("names.rs"),
        include_str!("hiding.rs"),
        include_str!("vcs.rs"),
        include_str!("links.rs"),
        include_str!("processes.rs"),
        include_str!("forgery.rs"),
    ]
    .concat();
    for (index, (title, place)) in CATALOGUE.iter().enumerate() {
        assert!(title.starts_with(&format!("{} ", index + 1)), "{title} is out of order");
        match place {
            Here(name) => assert!(sources.contains(&format!("fn {name}()")), "{title}: no test `{name}`"),
            Elsewhere(place, name) => {
                assert!(mentions(place, name), "{title}: no test with `{name}` in {place}");
            }
            Missing(why) => assert!(!why.is_empty()),
        }
    }
    assert_eq!(CATALOGUE.len(), 102);
}

/// Returns whether a crate has a function whose name contains `word`.
fn mentions(folder: &str, word: &str) -> bool {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let mut folders = vec![root.join("src"), root.join("tests")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).is_ok_and(|text| has_function(&text, word)) {
                return true;
            }
        }
    }
    false
}

fn has_function(source: &str, word: &str) -> bool {
    source.lines().any(|line| line.trim_start().starts_with("fn ") && line.contains(word))
}

//! Governing a run: plan, run, amend, revert, held changes, explain, evidence, keys.

use crate::harness::{Scene, story};

const AREA: &str = "govern";

const POLICY: &str = "[[gate]]\nid = \"check\"\ntier = \"T0\"\nrun = [\"true\"]\n";

/// Runs a script as the agent, with `src/a.py` as its scope.
fn run(scene: &Scene, case: &str, script: &str) {
    scene.case(case, &["run", "--scope", "src/a.py", "--", "sh", "-ec", script]);
}

/// Makes a run that changes a file inside its scope and one outside, as an intermediate step.
fn violate(scene: &Scene) {
    scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-ec", "echo x >> src/a.py; echo y >> docs/d.md"]);
}

#[test]
fn run_judges_what_a_command_changed() {
    story(AREA, "run", |scene| {
        scene.repo.write("probity.toml", POLICY);
        run(scene, "in_scope", "echo agent; echo x >> src/a.py");
        run(scene, "changes_nothing", "true");
        run(
            scene,
            "out_of_scope",
            "echo x >> src/a.py; echo y >> docs/d.md; rm src/b.py; echo new > new.txt",
        );
        scene.repo.sh("git checkout -q . && rm new.txt");
        run(scene, "protected", "mkdir -p .git/hooks; echo x > .git/hooks/pre-commit");
        run(scene, "command_fails", "echo x >> src/a.py; exit 3");
        run(scene, "moves_a_ref", "git tag t");
        scene.case("scope_covers_nothing", &["run", "--scope", "nothing/**", "--", "true"]);
        scene.case("no_scope", &["run", "--", "true"]);
        scene.case("bad_pattern", &["run", "--scope", "src/[", "--", "true"]);
        scene.case("no_such_command", &["run", "--scope", "src/a.py", "--", "no-such-program"]);
        scene.case("no_changes", &["run", "--no-changes", "--", "true"]);
        scene.case("no_changes_but_one", &["run", "--no-changes", "--", "sh", "-c", "echo x >> src/a.py"]);
        scene.case(
            "creates",
            &["run", "--creates", "--scope", "new/**", "--", "sh", "-c", "mkdir new; echo > new/n"],
        );
        scene.case("unknown_pack", &["run", "--pack", "none", "--", "true"]);
        scene.case("unknown_profile", &["run", "--scope", "src/a.py", "--profile", "none", "--", "true"]);
        scene.repo.write("probity.toml", &POLICY.replace("true", "false"));
        run(scene, "gate_fails", "echo x >> src/a.py");
        scene.repo.write("probity.toml", "gate = 1\n");
        run(scene, "bad_policy", "true");
    });
}

#[test]
fn run_answers_help_and_usage_errors() {
    story(AREA, "run_usage", |scene| {
        scene.case("no_command", &["run", "--scope", "src/a.py"]);
        scene.case("unknown_option", &["run", "--scopes", "src/a.py", "--", "true"]);
        let outside = scene.repo.outside().join("plain");
        std::fs::create_dir(&outside).expect("creates");
        scene.case_in(&outside, "without_git", &["run", "--scope", "**", "--creates", "--", "true"], "");
        scene.case("no_such_root", &["run", "--root", "nowhere", "--scope", "**", "--", "true"]);
    });
}

#[test]
fn plan_shows_what_would_be_sealed() {
    story(AREA, "plan", |scene| {
        scene.repo.write("probity.toml", &format!("{POLICY}[[pack]]\nid = \"code\"\nscope = [\"src/**\"]\n"));
        scene.case("scope", &["plan", "--scope", "src/**", "--scope", "!src/b.py"]);
        scene.case("pack", &["plan", "--pack", "code"]);
        scene.case("tier", &["plan", "--scope", "src/a.py", "--tier", "T1"]);
        scene.case("covers_nothing", &["plan", "--scope", "nothing/**"]);
        scene.case("no_scope", &["plan"]);
        scene.case("unknown_pack", &["plan", "--pack", "none"]);
        scene.case("bad_tier", &["plan", "--scope", "src/a.py", "--tier", "high"]);
        scene.case("suggest", &["plan", "--suggest", "src/a.py", "src/b.py"]);
        scene.case("suggest_from_nothing", &["plan", "--suggest-from", "last"]);
        violate(scene);
        scene.case("suggest_from", &["plan", "--suggest-from", "last"]);
    });
}

#[test]
fn amend_widens_a_scope_on_the_record() {
    story(AREA, "amend", |scene| {
        scene.case("no_run", &["amend", "last", "--add", "docs/**", "--why", "the docs", "--by", "ann"]);
        violate(scene);
        scene.case("nothing_is_open", &["amend", "--add", "docs/**", "--why", "the docs", "--by", "ann"]);
        scene.case("without_reason", &["amend", "last", "--add", "docs/**"]);
        scene.case("bad_pattern", &["amend", "last", "--add", "docs/[", "--why", "the docs"]);
        scene.case(
            "not_enough",
            &["amend", "last", "--add", "src/b.py", "--why", "the other file", "--by", "ann"],
        );
        scene.case("enough", &["amend", "last", "--add", "docs/**", "--why", "the docs", "--by", "ann"]);
    });
}

#[test]
fn revert_undoes_what_was_out_of_scope() {
    story(AREA, "revert", |scene| {
        scene.case("no_run", &["revert", "last"]);
        violate(scene);
        scene.case("dry_run", &["revert", "last", "--dry-run"]);
        scene.case("another_path", &["revert", "last", "src/b.py"]);
        scene.case("in_scope", &["revert", "last", "src/a.py", "--dry-run"]);
        scene.case("all", &["revert", "last"]);
        scene.case("again", &["revert", "last"]);
        violate(scene);
        scene.repo.sh("echo later >> docs/d.md");
        scene.case("changed_since", &["revert", "last"]);
    });
}

#[test]
fn held_changes_are_looked_at_landed_and_dropped() {
    story(AREA, "held", |scene| {
        scene.case("diff_nothing", &["diff"]);
        scene.case("land_nothing", &["land", "last"]);
        let script = "echo x >> src/a.py; echo y >> docs/d.md";
        scene.ask(&["run", "--enforce", "overlay", "--scope", "src/a.py", "--", "sh", "-ec", script]);
        scene.case("diff", &["diff", "last"]);
        scene.case("diff_stat", &["diff", "last", "--stat"]);
        scene.case("land_all", &["land", "last"]);
        scene.case("land_in_scope", &["land", "last", "--in-scope"]);
        scene.case("land_no_change", &["land", "last", "--only", "src/b.py"]);
        scene.case("enter", &["enter", "last", "--", "cat", "docs/d.md"]);
        scene.repo.sh("echo person >> docs/d.md");
        scene.case("land_conflict", &["land", "last", "--only", "docs/d.md"]);
        scene.case("land_rebase", &["land", "last", "--only", "docs/d.md", "--rebase"]);
        scene.case("discard", &["discard", "last"]);
        scene.case("discard_again", &["discard", "last"]);
    });
}

#[test]
fn explain_tells_codes_and_paths() {
    story(AREA, "explain", |scene| {
        scene.case("code", &["explain", "RECON.UNTRACKED_DELTA"]);
        scene.case("unknown_code", &["explain", "RECON.NOTHING"]);
        scene.case("path_without_a_run", &["explain", "src/a.py"]);
        violate(scene);
        scene.case("path_in_scope", &["explain", "src/a.py"]);
        scene.case("path_out_of_scope", &["explain", "docs/d.md"]);
        scene.case("path_not_changed", &["explain", "src/b.py", "--run", "last"]);
        scene.case("path_outside", &["explain", "../elsewhere"]);
        scene.case("unknown_run", &["explain", "src/a.py", "--run", "none"]);
    });
}

#[test]
fn evidence_is_listed_shown_checked_and_exported() {
    story(AREA, "evidence", |scene| {
        scene.case("list_empty", &["evidence", "list"]);
        scene.case("show_nothing", &["evidence", "show"]);
        scene.case("verify_nothing", &["evidence", "verify", "last"]);
        scene.case("chain_empty", &["evidence", "chain"]);
        scene.case("export_nothing", &["evidence", "export"]);
        scene.repo.write("probity.toml", POLICY);
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> src/a.py"]);
        violate(scene);
        scene.case("list", &["evidence", "list"]);
        scene.case("show_failed", &["evidence", "show"]);
        scene.case("verify_failed", &["evidence", "verify", "last"]);
        scene.case("verify_tree", &["evidence", "verify", "last", "--tree", "."]);
        scene.case("chain", &["evidence", "chain"]);
        scene.case("export_statement", &["evidence", "export", "--format", "statement"]);
        scene.case("export_unsigned", &["evidence", "export"]);
        scene.ask(&["keys", "generate"]);
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo y >> src/a.py"]);
        scene.case("show_passed", &["evidence", "show", "last"]);
        scene.case("verify_passed", &["evidence", "verify", "last"]);
        scene.case("export_signed", &["evidence", "export", "last"]);
        scene.repo.write("trust.json", "{\"schema\": \"probity/trust/v1\", \"profile\": \"release\"}");
        scene.case("verify_untrusted", &["evidence", "verify", "last", "--trust", "trust.json"]);
        scene.repo.write("trust.json", "{}");
        scene.case("verify_bad_trust", &["evidence", "verify", "last", "--trust", "trust.json"]);
        scene.case("verify_no_trust_file", &["evidence", "verify", "last", "--trust", "none.json"]);
        scene.case("show_unknown", &["evidence", "show", "none"]);
        scene.case("gc_dry_run", &["evidence", "gc", "--keep", "1", "--dry-run"]);
        scene.case("gc", &["evidence", "gc", "--keep", "1"]);
        scene.case("gc_nothing", &["evidence", "gc", "--older-than", "90d"]);
        scene.case("gc_without_a_limit", &["evidence", "gc"]);
        scene.case("gc_bad_time", &["evidence", "gc", "--older-than", "soon"]);
        scene.case("chain_pruned", &["evidence", "chain"]);
        scene.repo.sh("rm -r .git/probity/evidence/*/manifest.json");
        scene.case("chain_damaged", &["evidence", "chain"]);
        scene.case("verify_damaged", &["evidence", "verify", "last"]);
    });
}

#[test]
fn the_log_is_shown_proven_and_witnessed() {
    story(AREA, "transparency", |scene| {
        scene.case("show_nothing", &["log", "show"]);
        scene.case("checkpoint_nothing", &["log", "checkpoint"]);
        scene.case("consistency_nothing", &["log", "consistency", "0", "1"]);
        scene
            .case("witness_nothing", &["log", "witness", "--key", "../w.key", "--memory", "../w.checkpoint"]);
        scene.case("prove_nothing", &["evidence", "prove"]);
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo x >> src/a.py"]);
        scene.case("checkpoint_unsigned", &["log", "checkpoint"]);
        scene.ask(&["keys", "generate"]);
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo y >> src/a.py"]);
        scene.case("show", &["log", "show"]);
        scene.case("checkpoint", &["log", "checkpoint"]);
        scene.case("checkpoint_of_a_size", &["log", "checkpoint", "--size", "2", "-o", "../old.checkpoint"]);
        scene.case("checkpoint_too_large", &["log", "checkpoint", "--size", "99"]);
        scene.case("consistency", &["log", "consistency", "../old.checkpoint", "3"]);
        scene.case("consistency_backwards", &["log", "consistency", "3", "2"]);
        scene.case("consistency_no_file", &["log", "consistency", "none", "3"]);
        scene.case("prove", &["evidence", "prove", "last"]);
        scene.case("prove_to_a_file", &["evidence", "prove", "last", "-o", "../proof.json"]);
        scene
            .case("prove_before_it_was", &["evidence", "prove", "last", "--checkpoint", "../old.checkpoint"]);
        scene.case("verify_proof", &["evidence", "verify", "last", "--proof", "../proof.json"]);
        scene.repo.sh("sed -i 's/\"index\":2/\"index\":1/' ../proof.json");
        scene.case("verify_wrong_proof", &["evidence", "verify", "last", "--proof", "../proof.json"]);
        scene.case("verify_no_proof", &["evidence", "verify", "last", "--proof", "../none.json"]);
        let witness =
            ["log", "witness", "--key", "../w.key", "--memory", "../w.checkpoint", "--name", "w.example.org"];
        scene.case("witness", &witness);
        scene.repo.sh("cp -a .git/probity ../older");
        scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-c", "echo z >> src/a.py"]);
        scene.case("witness_again", &witness);
        scene
            .repo
            .sh("cp .git/probity/log.checkpoint ../newest; rm -r .git/probity; cp -a ../older .git/probity");
        scene.case("witness_shortened", &witness);
        scene.case("consistency_shortened", &["log", "consistency", "2", "../newest"]);
        scene.repo.sh("cp ../newest .git/probity/log.checkpoint");
        scene.case("list_shortened", &["evidence", "list"]);
        scene.case("chain_shortened", &["evidence", "chain"]);
        scene.case("status_shortened", &["status"]);
        scene.case("doctor_shortened", &["doctor"]);
        scene.case("restart", &["log", "restart", "--why", "the newest entries are lost", "--by", "ann"]);
        scene.case("show_restarted", &["log", "show"]);
        scene.case("restart_again", &["log", "restart", "--why", "again", "--by", "ann"]);
    });
}

#[test]
fn keys_are_made_once_and_shown() {
    story(AREA, "keys", |scene| {
        scene.case("show_none", &["keys", "show"]);
        scene.case("generate", &["keys", "generate"]);
        scene.case("generate_again", &["keys", "generate"]);
        scene.case("show", &["keys", "show"]);
    });
}

#[test]
fn a_change_is_reviewed_and_a_line_explained() {
    story(AREA, "review", |scene| {
        scene.case("show_none", &["review", "show", "last"]);
        violate(scene);
        scene.case("show", &["review", "show", "last"]);
        scene.case("show_worktree", &["review", "show", "worktree"]);
        scene.case("findings", &["review", "findings", "last"]);
        scene.case("export", &["review", "export", "last", "-o", "../review.html"]);
        scene.case("verify", &["review", "verify", "../review.html"]);
        scene.case("verify_missing", &["review", "verify", "none.html"]);
        scene.case("why", &["why", "src/a.py:2"]);
        scene.case("why_outside", &["why", "docs/d.md:2"]);
        scene.case("why_committed", &["why", "src/b.py:1"]);
        scene.case("why_at", &["why", "src/a.py:1", "--at", "HEAD"]);
        scene.case("why_no_line", &["why", "src/a.py:99"]);
        scene.case("why_usage", &["why", "src/a.py"]);
        scene.case("ui_bad_port", &["ui", "--port", "high"]);
    });
}

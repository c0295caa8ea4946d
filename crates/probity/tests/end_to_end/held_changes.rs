//! Changes that wait in a layer: looking at them, landing them, merging them, dropping them, and undoing what landed.

use crate::repo::{Outcome, Repo, verify};
use serde_json::{Value, json};
use std::fs;

fn read(repo: &Repo, name: &str) -> Option<String> {
    fs::read_to_string(repo.path().join(name)).ok()
}

/// Runs `script` in a view with `src/**` as its scope; `None` where there are no views.
fn run_in_view(repo: &Repo, script: &str) -> Option<Outcome> {
    let outcome = repo.run_with(&["--enforce", "overlay", "--scope", "src/**"], script);
    if outcome.json["reason"] == "ENFORCE.UNAVAILABLE" {
        probity_testkit::skip!("there are no views here");
        return None;
    }
    Some(outcome)
}

/// A repository with changes in and out of the scope that are held; the tree is as it was.
fn held() -> Option<Repo> {
    let repo = Repo::new();
    let run = run_in_view(&repo, "echo x >> src/a.py; echo y >> docs/d.md; git mv src/b.py docs/b.py")?;
    assert_eq!(run.json["landing"]["state"], "held", "{run:#?}");
    repo.sh("test -z \"$(git status --porcelain)\"");
    Some(repo)
}

fn states(outcome: &Outcome) -> (&Value, &Value) {
    (&outcome.json["state"], &outcome.json["paths"])
}

#[test]
fn a_held_layer_can_be_looked_at_and_dropped() {
    let Some(repo) = held() else { return };
    let diff = repo.ask(&["diff", "last"]);
    let changes = diff.json["changes"].as_array().expect("changes");
    assert_eq!(changes[0]["renamed_from"], "src/b.py");
    assert_eq!(changes[1]["hunks"], "@@ -1 +1,2 @@\n # D\n+y\n");
    let status = repo.ask(&["status"]);
    assert_eq!(status.json["held"].as_array().map(Vec::len), Some(1), "{status:#?}");
    let dropped = repo.ask(&["discard", "last"]);
    assert_eq!(dropped.exit_code, Some(0), "{dropped:#?}");
    repo.ask(&["discard", "last"]).refused_with("LAYER.UNKNOWN");
    assert_eq!(repo.ask(&["status"]).json["held"], json!([]));
}

/// A part that is in the tree already, or that is empty, is not said to have landed.
#[test]
fn nothing_lands_twice() {
    let Some(repo) = held() else { return };
    assert_eq!(repo.ask(&["land", "last", "--in-scope"]).json["state"], "landed");
    let again = repo.ask(&["land", "last", "--in-scope"]);
    again.refused_with("RECON.UNTRACKED_DELTA");
    assert!(
        again.json["message"].as_str().is_some_and(|it| it.ends_with("is in the tree already")),
        "{again:#?}"
    );
    let run = run_in_view(&repo, "echo y >> docs/d.md").expect("ran before");
    assert_eq!(run.json["landing"]["state"], "held", "{run:#?}");
    repo.ask(&["land", "last", "--in-scope"]).refused_with("RECON.UNTRACKED_DELTA");
}

/// A renamed file is no deletion of all its lines.
#[test]
fn a_rename_is_shown_once() {
    let Some(repo) = held() else { return };
    let shown = |arguments: &[&str]| {
        let words = repo.probity(arguments).output().expect("probity starts").stdout;
        String::from_utf8_lossy(&words).into_owned()
    };
    let words = shown(&["diff", "last"]);
    let rename = "diff --probity a/src/b.py b/docs/b.py\nrename from src/b.py\nrename to docs/b.py\n";
    assert!(words.contains(rename) && !words.contains("deleted"), "{words}");
    let words = shown(&["diff", "last", "--stat"]);
    assert!(words.contains("renamed   src/b.py → docs/b.py\n"), "{words}");
    assert!(words.contains("2 lines added, 0 removed"), "{words}");
    // The old name alone is a deletion.
    assert!(shown(&["diff", "last", "src/b.py"]).contains("deleted file 0644"));
}

#[test]
fn a_run_that_did_not_pass_lands_in_part_only() {
    let Some(repo) = held() else { return };
    repo.ask(&["land", "last"]).refused_with("RECON.UNTRACKED_DELTA");
    // The deletion of `src/b.py` is in scope, but its content would be lost.
    let part = repo.ask(&["land", "last", "--in-scope"]);
    assert_eq!(states(&part), (&json!("landed"), &json!(["src/a.py"])), "{part:#?}");
    assert_eq!(part.json["left"], json!(["docs/b.py", "docs/d.md", "src/b.py"]));
    assert!(repo.path().join("src/b.py").exists() && !repo.path().join("docs/b.py").exists());
    assert_eq!(verify(&part.evidence_dir(), None).json["outcome"], "PASS");
    let only = repo.ask(&["land", "last", "--only", "docs/d.md"]);
    assert_eq!(states(&only), (&json!("landed"), &json!(["docs/d.md"])), "{only:#?}");
    assert_eq!(only.json["left"], json!(["docs/b.py", "src/b.py"]));
    assert_eq!(repo.ask(&["evidence", "chain"]).json["outcome"], "PASS");
}

#[test]
fn an_amended_run_lands_and_can_be_undone_as_a_whole() {
    let Some(repo) = held() else { return };
    let amended = repo.ask(&["amend", "last", "--add", "docs/**", "--why", "the page moves, too"]);
    assert_eq!(amended.json["landing"]["state"], "landed", "{amended:#?}");
    assert_eq!(read(&repo, "docs/d.md").as_deref(), Some("# D\ny\n"));
    assert!(!repo.path().join("src/b.py").exists());
    assert_eq!(repo.ask(&["status"]).json["held"], json!([]));
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    repo.sh("test -z \"$(git status --porcelain)\"");
    assert_eq!(verify(&reverted.evidence_dir(), None).json["outcome"], "PASS");
}

#[test]
fn a_part_that_landed_is_undone_by_the_name_of_its_run() {
    let Some(repo) = held() else { return };
    for part in [&["land", "last", "--in-scope"][..], &["land", "last", "--only", "docs/d.md"]] {
        assert_eq!(repo.ask(part).json["state"], "landed");
    }
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!((reverted.exit_code, &reverted.json["landed"]), (Some(0), &json!(true)), "{reverted:#?}");
    let paths = reverted.json["paths"].as_array().expect("paths").iter();
    let actions: Vec<_> = paths.map(|one| (one["path"].as_str(), one["action"].as_str())).collect();
    assert_eq!(
        actions,
        [(Some("docs/d.md"), Some("restored")), (Some("src/a.py"), Some("restored"))],
        "the newest landing first"
    );
    repo.sh("test -z \"$(git status --porcelain)\"");
    // What was not landed is still held, and can land again.
    assert_eq!(repo.ask(&["land", "last", "--only", "docs/d.md"]).json["state"], "landed");
    repo.ask(&["revert", "last", "src/a.py"]).refused_with("PATH.INVALID");
    assert_eq!(repo.ask(&["revert", "last", "docs/d.md"]).exit_code, Some(0));
    repo.sh("test -z \"$(git status --porcelain)\"");
}

#[test]
fn a_part_that_landed_before_the_rest_is_undone_with_it() {
    let Some(repo) = held() else { return };
    assert_eq!(repo.ask(&["land", "last", "--only", "src/a.py"]).json["state"], "landed");
    let amended = repo.ask(&["amend", "last", "--add", "docs/**", "--why", "the page moves, too"]);
    assert_eq!(amended.json["landing"]["state"], "landed", "{amended:#?}");
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!(reverted.exit_code, Some(0), "{reverted:#?}");
    repo.sh("test -z \"$(git status --porcelain)\"");
}

/// Who asks why a line is there is told who let it in and why, not that the run failed before.
#[test]
fn a_line_that_an_amendment_let_in_is_explained_by_it() {
    let Some(repo) = held() else { return };
    let amended =
        repo.ask(&["amend", "last", "--add", "docs/**", "--why", "the page moves, too", "--by", "ann"]);
    assert_eq!(amended.json["landing"]["state"], "landed", "{amended:#?}");
    let why = repo.ask(&["why", "docs/d.md:2"]);
    let answer = why.json["answer"].as_str().expect("a sentence");
    assert!(answer.ends_with(", let in by docs/**, which ann added"), "{why:#?}");
    let steps = why.json["steps"].as_array().expect("steps");
    let words = |kind: &str| {
        let step = steps.iter().find(|step| step["step"] == kind).expect("the step");
        (step["answer"].as_str().expect("text").to_owned(), step["detail"].as_str().expect("text").to_owned())
    };
    assert!(words("change").1.ends_with("; it passed"), "{why:#?}");
    let (by, reason) = words("amendment");
    assert!(by == "amended by ann" && reason.starts_with("the page moves, too, at "), "{by} {reason}");
}

#[test]
fn nothing_that_is_only_held_is_called_undone() {
    let Some(repo) = held() else { return };
    let reverted = repo.ask(&["revert", "last"]);
    assert_eq!((&reverted.json["paths"], &reverted.json["evidence_dir"]), (&json!([]), &Value::Null));
    let words = repo.probity(&["revert", "last"]).output().expect("probity starts").stdout;
    let words = String::from_utf8_lossy(&words).into_owned();
    assert!(words.contains("nothing to undo") && words.contains("probity discard "), "{words}");
}

#[test]
fn an_amendment_that_is_not_enough_offers_what_a_held_run_can_do() {
    let Some(repo) = held() else { return };
    let run = repo.ask(&["status"]).json["held"][0]["run_id"].as_str().expect("an id").to_owned();
    let arguments = ["amend", "last", "--add", "docs/d.md", "--why", "the page"];
    let words = repo.probity(&arguments).output().expect("probity starts").stdout;
    let words = String::from_utf8_lossy(&words).into_owned();
    for part in [
        "nothing landed, your tree is as it was".to_owned(),
        format!("probity amend {run} --add 'docs/b.py'"),
        format!("probity land {run} --in-scope"),
        format!("probity discard {run}"),
    ] {
        assert!(words.contains(&part), "no `{part}` in {words}");
    }
    assert!(!words.contains("probity revert"), "nothing is in the tree: {words}");
}

#[test]
fn a_diff_leaves_build_outputs_out_unless_they_are_named() {
    let repo = Repo::new();
    repo.write("probity.toml", "[workspace]\nbuild_outputs = [\"out/**\"]\n");
    repo.sh("git add . && git commit -q -m policy");
    let script = "mkdir out; echo x > out/a; echo x > out/b; echo y >> src/a.py; echo y >> docs/d.md";
    let Some(_) = run_in_view(&repo, script) else { return };
    let paths = |diff: &Outcome| -> Vec<String> {
        let changes = diff.json["changes"].as_array().expect("changes").iter();
        changes.map(|change| change["path"].as_str().expect("a path").to_owned()).collect()
    };
    let diff = repo.ask(&["diff", "last"]);
    assert_eq!(
        (paths(&diff), &diff.json["n_outputs_left_out"]),
        (vec!["docs/d.md".into(), "src/a.py".into()], &json!(2))
    );
    let named = repo.ask(&["diff", "last", "out"]);
    assert_eq!(
        (paths(&named), &named.json["n_outputs_left_out"]),
        (vec!["out/a".into(), "out/b".into()], &json!(0))
    );
}

#[test]
fn later_work_is_not_overwritten_but_can_be_merged() {
    let repo = Repo::new();
    repo.write("src/t.txt", "1\n2\n3\n4\n5\n");
    repo.sh("git add . && git commit -q -m text");
    let Some(run) = run_in_view(&repo, "sed -i s/5/five/ src/t.txt; echo y >> docs/d.md") else { return };
    assert_eq!(run.json["landing"]["state"], "held");
    repo.write("src/t.txt", "one\n2\n3\n4\n5\n");
    let conflict = repo.ask(&["land", "last", "--in-scope"]);
    assert_eq!((conflict.exit_code, &conflict.json["state"]), (Some(5), &json!("conflict")), "{conflict:#?}");
    assert_eq!(read(&repo, "src/t.txt").as_deref(), Some("one\n2\n3\n4\n5\n"));
    let merged = repo.ask(&["land", "last", "--in-scope", "--rebase"]);
    assert_eq!(merged.json["merged"], json!(["src/t.txt"]), "{merged:#?}");
    assert_eq!(read(&repo, "src/t.txt").as_deref(), Some("one\n2\n3\n4\nfive\n"));
}

#[test]
fn edits_of_the_same_lines_are_not_merged() {
    let repo = Repo::new();
    let Some(_) = run_in_view(&repo, "echo agent > src/a.py; rm src/b.py; echo y >> docs/d.md") else {
        return;
    };
    repo.write("src/a.py", "person\n");
    repo.write("src/b.py", "person\n");
    let refused = repo.ask(&["land", "last", "--in-scope", "--rebase"]);
    let conflicts = refused.json["conflicts"].as_array().expect("conflicts");
    assert_eq!((refused.exit_code, conflicts.len()), (Some(5), 2), "{refused:#?}");
    assert_eq!(read(&repo, "src/a.py").as_deref(), Some("person\n"));
    assert_eq!(read(&repo, "src/b.py").as_deref(), Some("person\n"));
}

#[test]
fn a_command_can_look_at_held_changes_and_changes_nothing() {
    let Some(repo) = held() else { return };
    let mut command =
        repo.probity(&["enter", "last", "--", "sh", "-c", "cat docs/d.md; echo more > docs/more"]);
    let output = command.output().expect("starts");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("# D\ny\n"), "{output:?}");
    assert!(!repo.path().join("docs/more").exists());
    let diff = repo.ask(&["diff", "last", "docs/more"]);
    assert_eq!(diff.json["changes"], json!([]), "the held layer is as it was");
}

//! The ledger: knowledge and decisions of agents.

use crate::harness::story;
use serde_json::json;

const AREA: &str = "ledger";

/// Deltas of several kinds: some are accepted, some contradict, one is not understood.
fn deltas() -> String {
    json!([
        { "kind": "decision_made", "handle": "db", "summary": "Use Postgres for orders", "confidence": "high" },
        { "kind": "decision_made", "handle": "not-db", "summary": "Do not use Postgres for orders", "confidence": "high" },
        { "kind": "constraint_added", "handle": "license", "summary": "No GPL", "hard": true },
        { "kind": "constraint_revised", "target": "license", "summary": "No AGPL", "mode": "relaxed" },
        { "kind": "task_opened", "handle": "migrate", "summary": "Migrate the orders" },
        { "kind": "item_superseded", "target": "db", "reason": "cost", "by": "not-db" },
        { "kind": "decision_revised", "target": "nobody", "summary": "Use it" },
        { "kind": "guess" },
    ])
    .to_string()
}

const PROPOSE: [&str; 6] = [
    "ledger",
    "propose",
    "--said",
    "We use Postgres for orders. Or we do not use Postgres for orders.",
    "--author",
    "ann",
];

/// Turns as an agent's program writes them.
const TURNS: &str = "{\"id\": \"1\", \"role\": \"user\", \"text\": \"We decided to use tabs. TODO: format everything.\"}\n\
                     {\"id\": \"2\", \"role\": \"assistant\", \"text\": \"Done.\"}\nnot json\n";

#[test]
fn proposals_are_decided_and_kept() {
    story(AREA, "propose", |scene| {
        scene.case_with_input("dry_run", &[&PROPOSE[..], &["--dry-run"]].concat(), &deltas());
        scene.case_with_input("mixed", &PROPOSE, &deltas());
        let good = r#"{"kind": "task_opened", "handle": "t", "summary": "Write the manual"}"#;
        scene.case_with_input("accepted", &PROPOSE, good);
        scene.case_with_input("duplicate", &PROPOSE, good);
        scene.case_with_input("atomic", &[&PROPOSE[..], &["--atomic"]].concat(), &deltas());
        scene.case_with_input("no_json", &PROPOSE, "nonsense");
        scene.case_with_input("no_source", &["ledger", "propose", "--author", "ann"], good);
        scene.case("missing_file", &["ledger", "propose", "none.json"]);
        scene.case_with_input("stream", &[&PROPOSE[..], &["--stream", "night"]].concat(), good);
    });
}

#[test]
fn transcripts_are_taken_in() {
    story(AREA, "ingest", |scene| {
        scene.case_with_input("lines", &["ledger", "ingest", "--user", "ann"], TURNS);
        scene.case_with_input("again", &["ledger", "ingest", "--user", "ann"], TURNS);
        scene.case("missing_file", &["ledger", "ingest", "none.jsonl"]);
        std::fs::copy(
            crate::repo_file("crates/ledger/tests/data/sessions/claude-code.jsonl"),
            scene.repo.path().join("claude.jsonl"),
        )
        .expect("copies");
        std::fs::copy(
            crate::repo_file("crates/ledger/tests/data/sessions/codex.jsonl"),
            scene.repo.path().join("codex.jsonl"),
        )
        .expect("copies");
        scene.case("claude", &["ledger", "ingest", "claude.jsonl", "--user", "ann"]);
        scene.case("codex", &["ledger", "ingest", "codex.jsonl", "--user", "ann", "--stream", "codex"]);
        scene.case("nothing_pending", &["ledger", "ingest", "--pending"]);
        let said = "{\"id\": \"t1\", \"text\": \"We will use Postgres for orders.\"}";
        let model = ["ledger", "ingest", "--user", "ann", "--model-tries", "1", "--model-command"];
        scene.case_with_input("model_fails", &[&model[..], &["false"]].concat(), said);
        scene.case_with_input("no_such_model_program", &[&model[..], &["no-such-program"]].concat(), said);
        let script = "cat > /dev/null; echo '{\"deltas\": [{\"kind\": \"decision_made\", \"turn\": \"t1\", \
            \"quote\": \"We will use Postgres\", \"handle\": \"a\", \"summary\": \"Use Postgres\", \"confidence\": \"high\"}]}'";
        let pending = [&model[..], &["sh", "--model-arg=-c", "--model-arg", script, "--pending"]].concat();
        scene.case("model_reads_what_is_pending", &pending);
    });
}

#[test]
fn the_ledger_is_asked() {
    story(AREA, "ask", |scene| {
        scene.case("show_empty", &["ledger", "show"]);
        scene.case("export_empty", &["ledger", "export"]);
        scene.case("suggest_empty", &["ledger", "suggest"]);
        scene.case("scores_empty", &["ledger", "scores"]);
        scene.ask_with_input(&PROPOSE, &deltas());
        scene.case("show", &["ledger", "show"]);
        scene.case("show_all", &["ledger", "show", "--all"]);
        scene.case("show_kind", &["ledger", "show", "--kind", "constraint"]);
        scene.case("show_bad_kind", &["ledger", "show", "--kind", "nonsense"]);
        scene.case("show_unknown_stream", &["ledger", "show", "--stream", "none"]);
        scene.case("changed", &["ledger", "changed", "--since", "0"]);
        scene.case("changed_lately", &["ledger", "changed"]);
        scene.case("changed_too_far", &["ledger", "changed", "--since", "999"]);
        scene.case("explain", &["ledger", "explain", "db"]);
        scene.case("explain_unknown", &["ledger", "explain", "none"]);
        scene.case("history", &["ledger", "history", "license"]);
        scene.case("history_unknown", &["ledger", "history", "none"]);
        scene.case("as_of", &["ledger", "as-of", "2"]);
        scene.case("as_of_too_far", &["ledger", "as-of", "999"]);
        scene.case("scores", &["ledger", "scores"]);
        scene.case("replay", &["ledger", "replay", "--since", "0"]);
        scene.case("replay_too_far", &["ledger", "replay", "--since", "999"]);
        scene.case("export", &["ledger", "export", "--query", "how are orders stored?"]);
        scene.case("export_page", &["ledger", "export", "--page", "decisions"]);
        scene.case("export_small", &["ledger", "export", "--budget", "10"]);
        scene.case("suggest", &["ledger", "suggest"]);
        scene.case("cite", &["ledger", "cite", "run-1", "license", "--author", "ann"]);
        scene.case("cite_unknown", &["ledger", "cite", "run-1", "none", "--author", "ann"]);
    });
}

#[test]
fn guardians_keep_hard_constraints() {
    story(AREA, "guard", |scene| {
        scene.case("nobody", &["ledger", "guard"]);
        scene.case("set", &["ledger", "guard", "ann", "ben", "--by", "ann"]);
        scene.case("show", &["ledger", "guard"]);
        scene.case("refused", &["ledger", "guard", "cy", "--by", "cy"]);
        let hard = r#"{"kind": "constraint_added", "handle": "h", "summary": "No GPL", "hard": true}"#;
        scene.ask_with_input(&["ledger", "propose", "--said", "x", "--author", "ann"], hard);
        let revised =
            r#"{"kind": "constraint_revised", "target": "h", "summary": "No AGPL", "mode": "relaxed"}"#;
        let propose = ["ledger", "propose", "--said", "x", "--author", "cy"];
        scene.case_with_input("proposal_of_another", &propose, revised);
        scene.case("everyone", &["ledger", "guard", "--everyone", "--by", "ann"]);
    });
}

#[test]
fn a_stream_is_merged() {
    story(AREA, "merge", |scene| {
        scene.case("no_streams", &["ledger", "merge"]);
        let mine = r#"{"kind": "decision_made", "handle": "db", "summary": "Use Postgres for orders", "confidence": "high"}"#;
        let theirs = r#"{"kind": "decision_made", "handle": "not-db", "summary": "Do not use Postgres for orders", "confidence": "high"}"#;
        scene.ask_with_input(&[&PROPOSE[..], &["--stream", "night"]].concat(), theirs);
        scene.ask_with_input(&PROPOSE, mine);
        scene.case("streams", &["ledger", "merge"]);
        scene.case("bad_choice", &["ledger", "merge", "night", "--resolve", "nonsense"]);
        scene.case("unknown_point", &["ledger", "merge", "night", "--resolve", "ffffffff=ours"]);
        scene.case("unknown", &["ledger", "merge", "none"]);
        scene.case("dry_run", &["ledger", "merge", "night", "--dry-run"]);
        scene.case("undecided", &["ledger", "merge", "night"]);
        let points = scene.ask(&["ledger", "merge", "night", "--dry-run"]);
        let choices: Vec<String> = points["points"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|point| {
                point["id"]
                    .as_str()
                    .map(|id| format!("{id}={}", point["choices"][0].as_str().expect("a choice")))
            })
            .collect();
        let mut decided = vec!["ledger", "merge", "night", "--by", "ann"];
        decided.extend(choices.iter().flat_map(|choice| ["--resolve", choice.as_str()]));
        scene.case("decided", &decided);
    });
}

#[test]
fn a_contradiction_is_suggested_for_a_decision() {
    story(AREA, "suggest", |scene| {
        let deltas = json!([
            { "kind": "decision_made", "handle": "db", "summary": "Use Postgres for orders", "confidence": "high" },
            { "kind": "decision_made", "handle": "not-db", "summary": "Do not use Postgres for orders", "confidence": "high" },
        ]);
        scene.ask_with_input(&PROPOSE, &deltas.to_string());
        scene.case("contradiction", &["ledger", "suggest"]);
        scene.case("export", &["ledger", "export"]);
    });
}

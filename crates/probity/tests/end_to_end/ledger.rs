//! The ledger as users and agents use it: through the binary, from real session files, by several processes at once.

use crate::repo::{Outcome, Repo};
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Child, Stdio};

/// Session files as the agents write them.
pub(crate) const CLAUDE_SESSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ledger/tests/data/sessions/claude-code.jsonl");
pub(crate) const CODEX_SESSION: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../ledger/tests/data/sessions/codex.jsonl");

/// Runs a ledger command with `input` on its stdin.
pub(crate) fn give(repo: &Repo, arguments: &[&str], input: &str) -> Outcome {
    let child = start(repo, arguments, input);
    repo.outcome(&child.wait_with_output().expect("ends"))
}

fn start(repo: &Repo, arguments: &[&str], input: &str) -> Child {
    let mut command = repo.probity(&["ledger"]);
    command.args(arguments).arg("--json").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("probity starts");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("takes it");
    child
}

pub(crate) fn decision(handle: &str, summary: &str) -> Value {
    json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" })
}

fn codes(outcome: &Outcome) -> Vec<(String, Option<String>)> {
    let outcomes = outcome.json["outcomes"].as_array().expect("outcomes");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    outcomes.iter().map(|it| (text(&it["outcome"]).expect("a word"), text(&it["code"]))).collect()
}

#[test]
fn a_proposal_is_decided_and_can_be_asked_about() {
    let repo = Repo::new();
    let said = "We use Postgres for orders.";
    let proposed = give(&repo, &["propose", "--said", said], &decision("db", "Use Postgres").to_string());
    assert_eq!(proposed.exit_code, Some(0), "{proposed:?}");
    assert_eq!(codes(&proposed), [("accepted".into(), None)]);
    let why = repo.ask(&["ledger", "explain", "db"]);
    assert_eq!(why.json["quotes"], json!([said]));
    assert_eq!(why.json["item"]["id"], "decision-1");
    let again = give(&repo, &["propose", "--said", "Again."], &decision("pg", "use postgres.").to_string());
    assert_eq!(codes(&again), [("merged".into(), Some("duplicate".into()))]);
    assert_eq!(repo.ask(&["ledger", "changed", "--since", "1"]).json["items"][0]["handle"], "db");
    assert_eq!(repo.ask(&["ledger", "changed", "--since", "2"]).json["items"], json!([]));
    repo.ask(&["ledger", "changed", "--since", "3"]).refused_with("LEDGER.NO_SUCH_POSITION");
    let before = repo.ask(&["ledger", "as-of", "0"]);
    assert_eq!((&before.json["items"], &before.json["seq"]), (&json!([]), &json!(0)));
}

#[test]
fn what_is_rejected_has_a_position_a_code_and_words() {
    let repo = Repo::new();
    let deltas = json!([
        decision("a", "Use A"),
        { "kind": "decision_revised", "target": "nobody", "summary": "Use B" },
        { "kind": "guess" },
        { "kind": "task_opened", "handle": "t", "summary": " " },
    ]);
    let proposed = give(&repo, &["propose", "--said", "x"], &deltas.to_string());
    assert_eq!(proposed.exit_code, Some(1));
    let expected = [None, Some("target_not_found"), Some("unknown_kind"), Some("invalid_field")];
    let found: Vec<_> = codes(&proposed).into_iter().map(|(_, code)| code).collect();
    assert_eq!(found, expected.map(|code| code.map(str::to_owned)));
    assert_eq!(proposed.json["outcomes"][3]["seq"], 4);
    assert!(proposed.json["outcomes"][3]["message"].as_str().is_some_and(|words| words.contains("summary")));
    let atomic = give(&repo, &["propose", "--atomic", "--said", "x"], &deltas.to_string());
    assert_eq!(codes(&atomic)[0], ("rejected".into(), Some("batch_aborted".into())));
    let scores = repo.ask(&["ledger", "scores"]);
    assert_eq!(scores.json["authors"][0]["rejected"], 7);
}

#[test]
fn a_rehearsal_leaves_nothing() {
    let repo = Repo::new();
    let rehearsed =
        give(&repo, &["propose", "--dry-run", "--said", "x"], &decision("a", "Use A").to_string());
    assert_eq!((codes(&rehearsed), &rehearsed.json["seq"]), (vec![("accepted".into(), None)], &json!(0)));
    assert_eq!(repo.ask(&["ledger", "show"]).json["items"], json!([]));
    assert!(!repo.path().join(".git/probity/ledger/log").exists());
}

#[test]
fn session_files_of_agents_are_taken_in_once() {
    let repo = Repo::new();
    let first = repo.ask(&["ledger", "ingest", CLAUDE_SESSION]);
    assert_eq!(first.exit_code, Some(0), "{first:?}");
    assert_eq!(first.json["n_not_understood"], 1);
    assert!(first.json["turns_new"].as_u64() > Some(3), "{first:?}");
    let state = repo.ask(&["ledger", "show"]).json["items"].clone();
    assert!(state.to_string().contains("Redis"), "{state}");
    for absent in ["MySQL", "Oracle", "Postgres"] {
        assert!(!state.to_string().contains(absent), "nobody said {absent}: {state}");
    }
    let again = repo.ask(&["ledger", "ingest", CLAUDE_SESSION]);
    assert_eq!((&again.json["turns_new"], &again.json["outcomes"]), (&json!(0), &json!([])));
    assert_eq!(repo.ask(&["ledger", "show"]).json["items"], state, "a redelivery changes nothing");
    let codex = repo.ask(&["ledger", "ingest", CODEX_SESSION]);
    assert_eq!(codex.json["turns_new"], 4, "{codex:?}");
}

#[test]
fn four_processes_write_at_once_and_nothing_is_lost() {
    let repo = Repo::new();
    let propose = |writer: usize, n: usize| {
        let name = format!("w{writer}-{n}");
        let deltas = json!([decision(&name, &format!("Use tool {writer} for job {n}"))]);
        start(
            &repo,
            &["propose", "--author", &format!("writer {writer}"), "--said", &name],
            &deltas.to_string(),
        )
    };
    for n in 0..6 {
        let children: Vec<_> = (0..4).map(|writer| propose(writer, n)).collect();
        for child in children {
            let outcome = repo.outcome(&child.wait_with_output().expect("ends"));
            assert_eq!(codes(&outcome), [("accepted".into(), None)]);
        }
    }
    let shown = repo.ask(&["ledger", "show"]);
    assert_eq!((&shown.json["seq"], shown.json["items"].as_array().map(Vec::len)), (&json!(24), Some(24)));
    let scores = repo.ask(&["ledger", "scores"]);
    assert!(scores.json["authors"].as_array().expect("authors").iter().all(|score| score["accepted"] == 6));
    let replayed = repo.ask(&["ledger", "replay"]);
    assert_eq!((&replayed.json["seq"], &replayed.json["decided_otherwise"]), (&json!(24), &json!(0)));
}

#[test]
fn the_context_for_the_next_prompt_keeps_to_its_budget() {
    let repo = Repo::new();
    let mut deltas: Vec<_> =
        (0..40).map(|n| decision(&format!("d{n}"), &format!("Use tool {n} for job {n}"))).collect();
    deltas.push(
        json!({ "kind": "constraint_added", "handle": "c", "summary": "Never commit secrets", "hard": true }),
    );
    give(&repo, &["propose", "--said", "x"], &Value::from(deltas).to_string());
    let exported = repo.ask(&["ledger", "export", "--budget", "120"]);
    assert!(exported.json["tokens"].as_u64() <= Some(120));
    assert!(exported.json["text"].as_str().is_some_and(|text| text.contains("Never commit secrets")));
    assert_eq!(exported.json["hard_left_out"], 0);
    let page = repo.ask(&["ledger", "export", "--page", "constraints"]);
    assert_eq!(page.json["text"], "# Constraints\n\n## Hard\n\n- [c] Never commit secrets\n");
}

#[test]
fn a_change_cites_its_decision_and_the_decision_shows_the_change() {
    let repo = Repo::new();
    give(&repo, &["propose", "--said", "x"], &decision("db", "Use Postgres").to_string());
    repo.ask(&["ledger", "cite", "run-7", "decision-1", "--author", "ann"]);
    repo.ask(&["ledger", "cite", "run-7", "db", "--author", "ann"]);
    let why = repo.ask(&["ledger", "explain", "db"]);
    assert_eq!(why.json["changes"], json!([{ "change": "run-7", "item": "db", "author": "ann", "at": 1 }]));
    repo.ask(&["ledger", "cite", "run-7", "nothing"]).refused_with("LEDGER.NO_SUCH_ITEM");
}

#[test]
fn a_start_lists_the_constraints_of_its_scope_and_cites_what_it_implements() {
    let repo = Repo::new();
    let rule = |handle: &str, summary: &str, hard: bool| json!({ "kind": "constraint_added", "handle": handle, "summary": summary, "hard": hard });
    let deltas = json!([
        decision("db", "Use Postgres"),
        rule("soft", "Prefer plain functions", false),
        rule("here", "Never log tokens in src/a.py", true),
        rule("elsewhere", "docs/x.md must stay short", true),
    ]);
    give(&repo, &["propose", "--said", "x"], &deltas.to_string());
    let unknown = repo.ask(&["start", "src/a.py", "--intent", "a change", "--implements", "nothing"]);
    unknown.refused_with("LEDGER.NO_SUCH_ITEM");
    assert_eq!(repo.ask(&["intent", "list"]).json["intents"], json!([]), "a refused start leaves nothing");
    let started =
        repo.ask(&["start", "src/a.py", "--intent", "a change", "--implements", "db", "--agent", "ann"]);
    assert_eq!(started.json["status"], "active", "{started:?}");
    let listed: Vec<_> = started.json["constraints"].as_array().expect("constraints").iter().collect();
    assert_eq!(
        listed[0],
        &json!({ "handle": "here", "summary": "Never log tokens in src/a.py", "hard": true, "because": "src/a.py" })
    );
    assert_eq!((listed.len(), &listed[1]["handle"]), (2, &json!("soft")), "{listed:?}");
    assert_eq!(started.json["implements"], json!(["db"]));
    let why = repo.ask(&["ledger", "explain", "db"]);
    assert_eq!(why.json["changes"][0]["change"], started.json["intent_id"]);
}

/// The whole story: two agents' sessions, one in its own stream, a contradiction, its resolution, the context.
#[test]
fn two_agents_sessions_are_merged_with_a_contradiction_that_is_resolved() {
    let repo = Repo::new();
    let codex = repo.ask(&["ledger", "ingest", CODEX_SESSION, "--stream", "codex"]);
    repo.ask(&["ledger", "ingest", CLAUDE_SESSION]);
    assert_eq!(codex.json["turns_new"], 4);
    let listed = repo.ask(&["ledger", "merge"]);
    assert_eq!(listed.json["streams"][0]["name"], "codex");
    let before = repo.ask(&["ledger", "show"]).json["items"].to_string();
    assert!(before.contains("Use Redis") && !before.contains("Postgres"), "{before}");

    let review = repo.ask(&["ledger", "merge", "codex", "--by", "ann"]);
    assert_eq!((review.exit_code, &review.json["status"]), (Some(5), &json!("review")), "{review:?}");
    let points = review.json["points"].as_array().expect("points");
    let point = points.iter().find(|point| point["kind"] == "contradiction").expect("Redis is contested");
    assert!(point["theirs"].as_str().is_some_and(|words| words.contains("Redis")), "{point}");
    assert_eq!(
        repo.ask(&["ledger", "show"]).json["items"].to_string(),
        before,
        "nothing is served before the review"
    );

    let choices: Vec<String> = points
        .iter()
        .map(|point| {
            let keep = if point["kind"] == "contradiction" { &point["about"] } else { &point["choices"][0] };
            format!("--resolve={}={}", point["id"].as_str().expect("an id"), keep.as_str().expect("a choice"))
        })
        .collect();
    let mut arguments = vec!["ledger", "merge", "codex", "--by", "ann"];
    arguments.extend(choices.iter().map(String::as_str));
    let merged = repo.ask(&arguments);
    assert_eq!((merged.exit_code, &merged.json["status"]), (Some(0), &json!("merged")), "{merged:?}");
    assert!(merged.json["commits_object"].is_string());

    let exported = repo.ask(&["ledger", "export", "--budget", "2000", "--query", "rate limiting counters"]);
    let text = exported.json["text"].as_str().expect("a text");
    assert!(text.contains("Postgres for the counters"), "{text}");
    assert!(!text.contains("## Contradictions"), "{text}");
    assert!(!text.contains("] Use Redis"), "{text}");
    let redis = repo.ask(&["ledger", "show", "--status", "superseded"]);
    assert!(redis.json["items"].to_string().contains("Redis"), "what was given up is still there: {redis:?}");
    let replayed = repo.ask(&["ledger", "replay"]);
    assert_eq!(replayed.json["decided_otherwise"], 0);
}

/// Uses a shell script as the model.
fn with_model(repo: &Repo, script: &str, input: &str) -> Outcome {
    let arguments =
        ["ingest", "--model-command", "sh", "--model-arg=-c", "--model-arg", script, "--model-tries", "2"];
    give(repo, &arguments, input)
}

#[test]
fn a_model_proposes_and_the_same_checks_apply() {
    let repo = Repo::new();
    let lines = "{\"id\": \"t1\", \"text\": \"Maybe we use Redis. We use Postgres.\"}";
    let script = r#"cat > /dev/null; echo '{"deltas": [
        {"kind": "decision_made", "turn": "t1", "quote": "We use Postgres", "handle": "a", "summary": "Use Postgres", "confidence": "high"},
        {"kind": "decision_made", "turn": "t1", "quote": "we use Redis", "handle": "b", "summary": "Use Redis", "confidence": "high"},
        {"kind": "decision_made", "turn": "t1", "quote": "We use Oracle", "handle": "c", "summary": "Use Oracle", "confidence": "high"}]}'"#;
    let read = with_model(&repo, script, lines);
    assert_eq!((read.exit_code, &read.json["turns_pending"]), (Some(0), &json!(0)), "{read:?}");
    assert_eq!(read.json["model"]["usage"]["calls"], 1);
    assert_eq!(read.json["model"]["dropped"][0]["why"], "quote_not_found");
    let items = repo.ask(&["ledger", "show"]).json["items"].clone();
    let kinds: Vec<_> = items.as_array().expect("items").iter().map(|item| item["kind"].clone()).collect();
    assert_eq!(kinds, ["decision", "hypothesis"], "{items}");
}

#[test]
fn a_model_that_fails_leaves_its_turns_pending() {
    let repo = Repo::new();
    let lines = "{\"id\": \"t1\", \"text\": \"We will use Postgres for orders.\"}";
    for script in ["exit 1", "echo nonsense", "echo '{\"deltas\": 3}'"] {
        let read = with_model(&repo, script, lines);
        assert_eq!((read.exit_code, &read.json["turns_pending"]), (Some(1), &json!(1)), "{read:?}");
        assert_eq!(read.json["model"]["usage"]["calls"], 2, "it is asked again");
        assert!(read.json["model"]["failed"].is_string());
        assert_eq!(read.json["outcomes"], json!([]));
    }
    let by_rules = repo.ask(&["ledger", "ingest", "--pending"]);
    assert_eq!(by_rules.json["turns_pending"], 0);
    assert!(repo.ask(&["ledger", "show"]).json["items"].to_string().contains("Postgres"));
}

/// Law 10. `PROBITY_KILLS` sets the number of kills (`cargo xtask kill` uses many).
#[test]
fn a_kill_at_any_instant_loses_nothing_acknowledged() {
    let kills: usize = std::env::var("PROBITY_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(30);
    let repo = Repo::new();
    let mut acknowledged = Vec::new();
    let (mut killed, mut round, mut wait_us) = (0, 0_u64, 1_000_u64);
    while killed < kills {
        round += 1;
        let handle = format!("d{round}");
        let delta = decision(&handle, &format!("Use tool {round} for job {round}"));
        let mut child = start(&repo, &["propose", "--said", &handle], &delta.to_string());
        // Sweeps over the whole life of the process, repeatedly.
        wait_us = if wait_us > 40_000 { 500 } else { wait_us + 617 };
        std::thread::sleep(std::time::Duration::from_micros(wait_us));
        child.kill().expect("is killed");
        let output = child.wait_with_output().expect("ends");
        if output.status.success() {
            acknowledged.push(handle);
        } else {
            killed += 1;
        }
    }
    let shown = repo.ask(&["ledger", "show"]);
    let handles: std::collections::BTreeSet<String> = shown.json["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["handle"].as_str().expect("text").to_owned())
        .collect();
    for handle in &acknowledged {
        assert!(handles.contains(handle), "{handle} was acknowledged and is gone");
    }
    let after = give(&repo, &["propose", "--said", "x"], &decision("after", "Use the rest").to_string());
    assert_eq!(codes(&after), [("accepted".into(), None)], "the ledger goes on");
    assert_eq!(repo.ask(&["ledger", "replay"]).json["decided_otherwise"], 0);
    println!("{killed} kills, {} acknowledged, {} in the ledger", acknowledged.len(), handles.len());
}

#[test]
fn a_torn_end_is_cut_told_and_kept() {
    let repo = Repo::new();
    give(&repo, &["propose", "--said", "x"], &decision("a", "Use A").to_string());
    let log = repo.path().join(".git/probity/ledger/log");
    let mut bytes = std::fs::read(&log).expect("is there");
    let whole = bytes.len();
    let beginning = bytes[16..60].to_vec();
    bytes.extend(beginning);
    std::fs::write(&log, &bytes).expect("writes");
    assert_eq!(repo.ask(&["ledger", "show"]).json["seq"], 1, "readers see what is whole");
    let next = give(&repo, &["propose", "--said", "x"], &decision("b", "Use B").to_string());
    assert!(next.json["notices"][0].as_str().is_some_and(|words| words.contains("44 bytes")), "{next:?}");
    let kept = std::fs::read(log.with_extension(format!("torn-{whole}"))).expect("is kept");
    assert_eq!(kept, bytes[whole..]);
    let mut damaged = std::fs::read(&log).expect("is there");
    damaged[40] ^= 1;
    std::fs::write(&log, &damaged).expect("writes");
    let refused = repo.ask(&["ledger", "show"]);
    assert_eq!(
        (refused.exit_code, &refused.json["reason"]),
        (Some(70), &json!("STATE.DAMAGED")),
        "{refused:?}"
    );
}

#[test]
fn an_agent_may_propose_while_it_is_governed() {
    let repo = Repo::new();
    give(&repo, &["propose", "--said", "x"], &decision("a", "Use A").to_string());
    let delta = decision("b", "Use B").to_string();
    let binary = env!("CARGO_BIN_EXE_probity");
    repo.run(&format!("echo '{delta}' | '{binary}' ledger propose --said hello >&2; echo 1 > src/a.py"))
        .passes();
    assert_eq!(repo.ask(&["ledger", "show"]).json["seq"], 2);
    let forged = repo.run("echo forged >> .git/probity/ledger/log; echo 2 > src/a.py");
    forged.fails_with("PROTECTED.CHANGED");
}

#[test]
fn hard_constraints_yield_to_their_guardians_only() {
    let repo = Repo::new();
    assert_eq!(repo.ask(&["ledger", "guard"]).json["guardians"], Value::Null);
    assert_eq!(repo.ask(&["ledger", "guard", "lead", "--by", "lead"]).json["guardians"], json!(["lead"]));
    repo.ask(&["ledger", "guard", "--everyone", "--by", "agent"]).refused_with("LEDGER.NOT_AUTHORISED");
    let hard = json!({ "kind": "constraint_added", "handle": "c", "summary": "No GPL code", "hard": true });
    give(&repo, &["propose", "--said", "x", "--author", "agent"], &hard.to_string());
    let end = json!({ "kind": "item_superseded", "target": "c", "reason": "in the way" }).to_string();
    let refused = give(&repo, &["propose", "--said", "x", "--author", "agent"], &end);
    assert_eq!(codes(&refused), [("rejected".into(), Some("not_authorised".into()))]);
    let allowed = give(&repo, &["propose", "--said", "x", "--author", "lead"], &end);
    assert_eq!(codes(&allowed), [("accepted".into(), None)]);
}

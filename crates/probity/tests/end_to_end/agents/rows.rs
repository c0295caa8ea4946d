//! Rows that no well-behaved agent reaches: the state comes from a rule-breaking program, or from damage.

use super::time::{declaration, owner, workspace};
use super::{Agent, is, verdict};
use crate::repo::Repo;
use probity_changes::registry::{IntentService, LocalHost, RegistryHost};
use probity_core::Digest;
use probity_intents::CommandId;
use probity_intents::registry::{RegistryChange, RegistryEvent};
use probity_quality::analysis_store::AnalysisStore;
use probity_storage::ports::{AppendOutcome, StorageEngine};
use serde_json::json;
use std::collections::BTreeSet;

#[test]
fn a_claim_that_overlaps_all_the_same_blocks_the_finish() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    let declaration = declaration(&b, "rule-breaker", "src/a.py", 3600);
    let intent = a.begin("src/a.py", &[]);
    // Another program granted it without checking who holds the path.
    let workspace = workspace(&repo);
    let shell = IntentService::open(&workspace).expect("opens");
    let head = shell.registry().head();
    let event = RegistryEvent {
        form: 1,
        seq: head.seq.next(),
        prev: head.digest,
        at: LocalHost.now(),
        command: CommandId::parse("rule-breaker").expect("an id"),
        request: Digest::of(b""),
        by: owner(&b, None),
        notices: Vec::new(),
        clone_log: None,
        change: RegistryChange::Granted {
            declaration,
            displaced: BTreeSet::new(),
            passed: BTreeSet::new(),
            announced: BTreeSet::new(),
            lacks: BTreeSet::new(),
        },
    };
    let bytes = probity_core::json::canonical(&json!(event));
    let log = workspace.state.store().expect("opens").log("intents");
    assert!(matches!(log.append(head.seq.0, "rule-breaker", &bytes).expect("appends"), AppendOutcome::At(_)));
    repo.write("src/a.py", "print('whose?')\n");
    let blocked = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(verdict(&blocked), is("unverified", "workspace_hygiene", 3), "{blocked:#?}");
    let hygiene = &blocked.json["workspace_hygiene_after"];
    assert_eq!(hygiene["finish_block_reason"], "foreign_dirty_overlap");
    assert_eq!(hygiene["foreign_dirty_overlaps"][0]["path"], "src/a.py");
    assert_eq!(blocked.json["next_step"], "coordinate_with_owner");
    // Once the other gives it up, the finish succeeds.
    assert_eq!(b.ask(&["intent", "clear", "rule-breaker"]).exit_code, Some(0));
    assert_eq!(a.finish(&intent, &["--changed", "src/a.py"]).json["status"], "accepted");
}

/// Starts a change of `src/a.py`; returns the intent and the hex digits of its base analysis.
fn begun(agent: &Agent<'_>) -> (String, String) {
    let started = agent.start("src/a.py", &[]);
    let word = |name: &str| started.json[name].as_str().expect("a word").to_owned();
    (word("intent_id"), word("run_id").replace("sha256:", ""))
}

#[test]
fn a_before_run_that_is_another_now_expires_the_change() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let (intent, run) = begun(&a);
    // Another intact analysis under the same id, but not the one that the intent started from.
    let runs = AnalysisStore::open(&workspace(&repo));
    let mut other = runs.load(&run).expect("is stored").run;
    other.health.score_milli -= 1;
    runs.save(other).expect("saves");
    repo.write("src/a.py", "print('a2')\n");
    let expired = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(expired.json["status"], "expired", "{expired:#?}");
    assert_eq!((&expired.json["next_step"], expired.exit_code), (&json!("analyze_then_start"), Some(4)));
    assert_eq!(expired.json["intent_cleared"], false, "the claim is kept until it is given up");
}

#[test]
fn a_before_run_with_a_damaged_part_is_no_run_rather_than_one_without_findings() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    let (intent, run) = begun(&a);
    let file = workspace(&repo).state.runs().join(run);
    let mut bytes = std::fs::read(&file).expect("is stored");
    // The parts are at the end, after the head.
    let last = bytes.len() - 1;
    bytes[last] ^= 0x41;
    std::fs::write(&file, bytes).expect("writes");
    repo.write("src/a.py", "print('a2')\n");
    let stopped = a.finish(&intent, &["--changed", "src/a.py"]);
    assert_eq!(verdict(&stopped), is("unverified", "no_before_run", 3), "{stopped:#?}");
    assert_eq!(stopped.json["intent_cleared"], false, "{stopped:#?}");
    let message = stopped.json["message"].as_str().expect("words");
    assert!(message.contains("gone or damaged"), "{stopped:#?}");
}

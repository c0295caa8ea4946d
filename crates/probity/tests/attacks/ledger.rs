//! Hostile transcripts, proposals and logs of the ledger.

use crate::repo::Repo;
use serde_json::{Value, json};

fn turn(id: &str, text: &str) -> String {
    json!({ "id": id, "role": "user", "text": text }).to_string() + "\n"
}

fn ingest(repo: &Repo, lines: &str) -> Value {
    let file = repo.outside().join("turns.jsonl");
    std::fs::write(&file, lines).expect("writes");
    let answer = repo.ask(&["ledger", "ingest", file.to_str().expect("text"), "--user", "ann"]);
    assert_eq!(answer.exit_code, Some(0), "{answer:#?}");
    answer.json
}

fn propose(repo: &Repo, said: &str, delta: &Value) -> crate::repo::Outcome {
    let file = repo.outside().join("delta.json");
    std::fs::write(&file, delta.to_string()).expect("writes");
    repo.ask(&["ledger", "propose", file.to_str().expect("text"), "--said", said, "--author", "ann"])
}

/// With time quadratic in the length of a sentence each of these takes minutes to hours.
#[test]
fn a_sentence_without_end_does_not_stop_the_reader() {
    let repo = Repo::new();
    let patterns = [
        "Never ".repeat(20_000),
        "because ".repeat(20_000),
        "and it must ".repeat(15_000),
        "done, and is done, ".repeat(10_000),
        "would like to ".repeat(15_000),
        "\"a ".repeat(40_000),
        "(".repeat(200_000),
        "`'\"“".repeat(30_000),
        "a/b/c.rs, ".repeat(20_000),
        ".".repeat(1_000_000),
        "x".repeat(1_000_000),
        "never. ".repeat(20_000),
        "wir nehmen ".repeat(15_000),
        // Each restatement adds a source to the same item.
        "We must use Redis. ".repeat(10_000),
        "we must use redis; we must use kafka; ".repeat(3_000),
        (0..3_000).map(|n| format!("{n}. use item{n}")).collect::<Vec<_>>().join("\n"),
    ];
    let lines: String = patterns.iter().enumerate().map(|(n, text)| turn(&format!("t{n}"), text)).collect();
    let answer = ingest(&repo, &lines);
    assert_eq!(answer["turns_new"], patterns.len(), "{answer:#}");
    let unread = answer["left_out"]["sentence too long to read"].as_u64();
    assert!(unread.is_some_and(|n| n >= 6), "what is not read is told: {:#}", answer["left_out"]);
}

#[test]
fn a_turn_that_comes_again_with_other_words_is_named() {
    let repo = Repo::new();
    ingest(&repo, &turn("1", "We decided to use tabs."));
    let same = ingest(&repo, &turn("1", "We decided to use tabs."));
    assert_eq!((&same["turns_known"], &same["turns_conflicting"]), (&json!(1), &json!([])), "{same:#}");
    let other = ingest(&repo, &turn("1", "We decided to use spaces."));
    assert_eq!(other["turns_conflicting"], json!(["1"]), "{other:#}");
    let twice =
        ingest(&repo, &(turn("2", "We decided to use Redis.") + &turn("2", "We decided to use Kafka.")));
    assert_eq!(twice["turns_conflicting"], json!(["2"]), "{twice:#}");
}

#[test]
fn a_proposal_cannot_cite_words_that_say_the_opposite() {
    let repo = Repo::new();
    let said = "Never push to production without review.";
    let delta = |summary: &str| json!({ "kind": "constraint_added", "handle": "push", "summary": summary, "hard": true });
    let opposite = propose(&repo, said, &delta("Agents may push to production without review"));
    assert_eq!(opposite.json["outcomes"][0]["code"], "contradicts_source", "{opposite:#?}");
    assert_eq!(opposite.exit_code, Some(1));
    let same = propose(&repo, said, &delta("Never push to production without review"));
    assert_eq!(same.json["outcomes"][0]["outcome"], "accepted", "{same:#?}");
    // The decision is in the log and comes out the same when it is replayed.
    let replayed = repo.ask(&["ledger", "replay", "--since", "0"]);
    assert_eq!(replayed.json["decided_otherwise"], 0, "{replayed:#?}");
    assert!(replayed.json.to_string().contains("contradicts_source"), "{replayed:#?}");
}

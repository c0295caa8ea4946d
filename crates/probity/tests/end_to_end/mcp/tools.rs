//! The tools besides start and finish: ledger, merges, cancellation, and the size of answers.

use super::client::Client;
use crate::repo::Repo;
use serde_json::{Value, json};

/// Maximum cost of an answer in `summary`, at four characters per token.
const MAX_ANSWER_TOKENS: usize = 2_000;

fn tokens(answer: &Value) -> usize {
    answer.to_string().len() / 4
}

#[test]
fn the_ledger_is_proposed_to_asked_and_exported() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let delta = json!({
        "kind": "decision_made", "handle": "db", "summary": "Use Postgres for orders", "confidence": "high",
    });
    let propose =
        json!({ "author": "ann", "said": "We use Postgres.", "deltas": [delta, { "kind": "guess" }] });
    let proposed = client.call("ledger_propose", &propose).json;
    assert_eq!(proposed["schema"], "probity/ledger-propose/v1", "{proposed:#}");
    let outcomes: Vec<&Value> =
        proposed["outcomes"].as_array().expect("outcomes").iter().map(|it| &it["outcome"]).collect();
    assert_eq!(outcomes, [&json!("accepted"), &json!("rejected")], "{proposed:#}");
    let items = client.call("ledger_query", &json!({ "kind": "decision" })).json;
    assert_eq!(items["items"][0]["handle"], "db", "{items:#}");
    // The same answers as at the command line.
    let told = repo.ask(&["ledger", "show", "--kind", "decision"]).json;
    assert_eq!(items["items"], told["items"]);
    let why = client.call("ledger_query", &json!({ "item": "db" })).json;
    assert_eq!(why["quotes"], json!(["We use Postgres."]), "{why:#}");
    let history = client.call("ledger_query", &json!({ "item": "db", "history": true })).json;
    assert_eq!(history["schema"], "probity/ledger-history/v1", "{history:#}");
    assert_eq!(client.call("ledger_query", &json!({ "as_of": 0 })).json["items"], json!([]));
    assert_eq!(client.call("ledger_query", &json!({ "since": 0 })).json["items"][0]["handle"], "db");
    let exported = client.call("ledger_export", &json!({ "query": "how are orders stored?" })).json;
    assert!(exported["text"].as_str().is_some_and(|text| text.contains("Postgres")), "{exported:#}");
    for wrong in [json!({ "kind": "nonsense" }), json!({ "item": "db", "since": 0 })] {
        let refused = client.call("ledger_query", &wrong);
        assert_eq!(
            (refused.is_error, &refused.json["reason"]),
            (true, &json!("USAGE.INVALID")),
            "{refused:#?}"
        );
    }
    for answer in [proposed, items, why, history, exported] {
        assert!(tokens(&answer) <= MAX_ANSWER_TOKENS, "{} tokens: {answer:#}", tokens(&answer));
    }
}

#[test]
fn a_long_list_is_cut_and_says_how_much_is_left_out() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let deltas: Vec<Value> = (0..50)
        .map(|n| json!({ "kind": "task_opened", "handle": format!("t{n}"), "summary": format!("Do thing number {n}") }))
        .collect();
    let proposed =
        client.call("ledger_propose", &json!({ "author": "ann", "said": "x", "deltas": deltas })).json;
    assert_eq!(proposed["left_out_of_lists"]["outcomes"], 35, "{proposed:#}");
    let all = client.call("ledger_query", &json!({ "limit": 100 })).json;
    assert_eq!(all["items"].as_array().map(Vec::len), Some(50));
    assert_eq!(all["left_out_of_lists"], Value::Null);
    let usual = client.call("ledger_query", &json!({})).json;
    assert!(tokens(&usual) <= MAX_ANSWER_TOKENS, "{} tokens", tokens(&usual));
}

#[test]
fn a_merge_is_analyzed_and_decided() {
    let (store, merge) = crate::commits::Store::merged();
    let mut client = Client::start(&store.repo);
    let found = client.call("analyze_merge", &json!({ "merge": merge })).json;
    assert_eq!(
        (&found["schema"], &found["conflicts"][0]["place"]),
        (&json!("probity/merge-analysis/v1"), &json!("rank"))
    );
    let id = found["conflicts"][0]["id"].clone();
    let decide =
        json!({ "merge": merge, "resolutions": [{ "conflict": id, "choose": "ours" }], "why": "hers" });
    let rehearsed = client.call("reconcile_merge", &with(&decide, "dry_run", &json!(true))).json;
    assert_eq!(rehearsed["written"], false, "{rehearsed:#}");
    let done = client.call("reconcile_merge", &decide).json;
    assert_eq!((&done["result"], &done["written"]), (&json!("survival"), &json!(true)), "{done:#}");
    assert_eq!(store.repo.ask(&["commits", "state"]).json["state"]["ticket"]["t1"]["rank"], 1);
    let heads = client.call("analyze_merge", &json!({})).json;
    assert_eq!(heads["schema"], "probity/merge-heads/v1", "{heads:#}");
    let wrong = client.call("analyze_merge", &json!({ "merge": merge, "ours": "@" }));
    assert_eq!(wrong.json["reason"], "USAGE.INVALID", "{wrong:#?}");
    for answer in [found, rehearsed, done, heads] {
        assert!(tokens(&answer) <= MAX_ANSWER_TOKENS, "{} tokens: {answer:#}", tokens(&answer));
    }
}

fn with(arguments: &Value, name: &str, value: &Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value.clone();
    arguments
}

/// Creates a tree that takes a while to analyze.
fn large() -> Repo {
    let repo = Repo::new();
    for number in 0..3_000_usize {
        // No two are alike: each line is one of three, chosen by a base-3 digit of the number.
        let line = |n: u32| match number / 3_usize.pow(n) % 3 {
            0 => format!("    a = {n} * b\n"),
            1 => format!("    if a > {n}:\n        b = [a]\n"),
            _ => format!("    for a in range({n}):\n        print(b, a)\n"),
        };
        let body: Vec<String> = (0..8).map(line).collect();
        repo.write(&format!("many/m{number}.py"), &format!("def f{number}(a, b):\n{}", body.concat()));
    }
    repo
}

/// Begins an analysis and waits until it reports progress.
fn begin(client: &mut Client) -> u64 {
    let call = json!({ "name": "analyze_repository", "arguments": {}, "_meta": { "progressToken": "p" } });
    let id = client.post("tools/call", &call);
    client.wait_for_note("notifications/progress");
    id
}

#[test]
fn an_analysis_that_is_given_up_ends_and_leaves_nothing() {
    let repo = large();
    let mut client = Client::start(&repo);
    let id = begin(&mut client);
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }),
    );
    // The server still answers, and ends with its client.
    assert!(client.request("tools/list", &json!({}))["result"]["tools"].is_array());
    client.close();
    assert_eq!(repo.ask(&["runs", "list"]).json["runs"], json!([]), "the analysis was carried through");
}

#[test]
fn a_client_that_goes_takes_its_analysis_with_it() {
    let repo = large();
    let mut client = Client::start(&repo);
    begin(&mut client);
    client.close();
    assert_eq!(repo.ask(&["runs", "list"]).json["runs"], json!([]), "the analysis was carried through");
}

#[test]
fn every_answer_is_short_in_a_tree_with_much_to_say() {
    let repo = Repo::new();
    for number in 0..120 {
        let branches: Vec<String> = (0..12).map(|n| format!("    if a > {n}:\n        b += {n}\n")).collect();
        let branches = branches.concat();
        repo.write(&format!("many/m{number}.py"), &format!("def f(a, b):\n{branches}    return b\n"));
    }
    repo.sh("git add . && git commit -q -m many");
    for number in 0..60 {
        repo.write(&format!("loose/d{number}.txt"), "x\n");
    }
    let mut client = Client::start(&repo);
    let mut answers = vec![("analyze_repository", client.call("analyze_repository", &json!({})).json)];
    let files: Vec<String> = (0..40).map(|number| format!("many/m{number}.py")).collect();
    let wish = json!({ "intent": "much", "agent": "ann", "allowed_files": files });
    let granted = client.call("start_controlled_change", &wish).json;
    assert_eq!(granted["status"], "active", "{granted:#}");
    let blocked = client.call("start_controlled_change", &with(&wish, "agent", &json!("bo"))).json;
    assert_eq!(blocked["status"], "blocked", "{blocked:#}");
    for file in &files {
        repo.write(file, "def f(a, b):\n    return a\n");
    }
    for number in 0..60 {
        repo.write(&format!("more/d{number}.txt"), "x\n");
    }
    let finish = json!({ "intent_id": granted["intent_id"], "owner": granted["owner"], "analyze": true });
    let missing =
        client.call("finish_controlled_change", &with(&finish, "changed_files", &json!(["many/m0.py"]))).json;
    assert_eq!(missing["workspace_hygiene_after"]["finish_block_reason"], "missing_evidence", "{missing:#}");
    let finished =
        client.call("finish_controlled_change", &with(&finish, "changed_files", &json!(files))).json;
    assert_eq!(finished["intent_cleared"], true, "{finished:#}");
    answers.extend([
        ("start", granted),
        ("blocked start", blocked),
        ("finish", missing),
        ("finish", finished),
    ]);
    answers.push(("intents", client.call("manage_change_intent", &json!({ "action": "list" })).json));
    answers.push(("blast", client.call("get_blast_radius", &json!({ "files": ["many/m0.py"] })).json));
    answers.push(("contract", client.call("check_patch_contract", &json!({})).json));
    answers.push(("budget", client.call("check_patch_contract", &json!({ "mode": "budget" })).json));
    answers
        .push(("claims", client.call("validate_review_claims", &json!({ "text": "No regressions." })).json));
    answers.push(("receipt", client.call("create_review_receipt", &json!({})).json));
    let long: Vec<(&str, usize)> = answers
        .iter()
        .map(|(name, answer)| (*name, tokens(answer)))
        .filter(|(_, tokens)| *tokens > MAX_ANSWER_TOKENS)
        .collect();
    assert_eq!(long, [], "answers that cost more than {MAX_ANSWER_TOKENS} tokens");
}

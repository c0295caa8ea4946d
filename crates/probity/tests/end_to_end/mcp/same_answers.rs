//! The command line and the tools give the same answers: same requests, same defaults, same documents.

use super::client::Client;
use crate::repo::Repo;
use serde_json::{Value, json};

const ANN: &str = "handle-of-ann-0123456789";

/// Members that differ between two otherwise equal repositories: ids, times, processes, and who may see the handle.
const REDACTED: [&str; 24] = [
    "age_seconds",
    "agent_pid",
    "at",
    "at_utc",
    "tree",
    "declared_at",
    "digest",
    "dirty_snapshot",
    "expires_at",
    "head",
    "history",
    "host",
    "intent_id",
    "lease_expires_at",
    "lease_expires_in_seconds",
    "lease_left_seconds",
    "life_left_seconds",
    "owner",
    "patch_trail_digest",
    "pid",
    "prev",
    "request",
    "run_id",
    "since",
];

/// Redacts a document; sentences name `intent` by a prefix of its id.
fn redacted(document: &Value, intent: &str) -> Value {
    match document {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| {
                let is_redacted = REDACTED.contains(&name.as_str()) && !value.is_object();
                (name.clone(), if is_redacted { json!("[REDACTED]") } else { redacted(value, intent) })
            })
            .collect(),
        Value::Array(items) => items.iter().map(|item| redacted(item, intent)).collect(),
        Value::String(text) => {
            let ends = (8..=intent.len()).rev();
            Value::String(ends.fold(text.clone(), |text, end| text.replace(&intent[..end], "[INTENT]")))
        }
        other => other.clone(),
    }
}

/// Compares two documents member by member.
fn assert_alike(place: &str, told: &Value, called: &Value) {
    if let (Value::Object(told), Value::Object(called)) = (told, called) {
        let names = |members: &serde_json::Map<String, Value>| members.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(told), names(called), "the members of {place}");
        for (name, value) in told {
            assert_alike(&format!("{place}.{name}"), value, &called[name]);
        }
    } else {
        assert_eq!(told, called, "{place}");
    }
}

#[test]
fn a_change_is_answered_alike_on_the_command_line_and_by_the_tools() {
    let (told, called) = (Repo::new(), Repo::new());
    let mut client = Client::start(&called);
    let mut call = |tool: &str, arguments: Value| {
        let answer = client.call(tool, &arguments);
        assert!(!answer.is_error, "{tool}: {answer:#?}");
        answer.json
    };
    // Neither tree has been analyzed yet.
    let start =
        ["start", "src/a.py", "--related", "docs/d.md", "-m", "fix a", "--owner", ANN, "--agent", "ann"];
    let by_command = told.ask(&start).json;
    let by_tool = call(
        "start_controlled_change",
        json!({
            "intent": "fix a", "allowed_files": ["src/a.py"], "allowed_related": ["docs/d.md"],
            "owner": ANN, "agent": "ann",
        }),
    );
    assert_eq!(by_command["status"], "active", "{by_command:#}");
    let intent = |document: &Value| document["intent_id"].as_str().expect("an intent").to_owned();
    let (told_id, called_id) = (intent(&by_command), intent(&by_tool));
    let compare = |what: &str, by_command: &Value, by_tool: &Value| {
        assert_alike(what, &redacted(by_command, &told_id), &redacted(by_tool, &called_id));
    };
    compare("start", &by_command, &by_tool);

    for repo in [&told, &called] {
        repo.write("src/a.py", "print('a2')\n");
        repo.write("stray.txt", "stray\n");
    }
    let act = |action: &str| json!({ "action": action, "intent_id": called_id, "owner": ANN });
    let by_command = told.ask(&["status", "--owner", ANN]).json;
    compare("status", &by_command, &call("manage_change_intent", act("status")));
    let by_command = told.ask(&["intent", "list", "--owner", ANN]).json;
    compare("intent list", &by_command, &call("manage_change_intent", act("list")));
    let by_command = told.ask(&["intent", "show", &told_id, "--owner", ANN]).json;
    compare("intent show", &by_command, &call("manage_change_intent", act("get")));

    let finish = json!({ "intent_id": called_id, "owner": ANN });
    let with = |name: &str, value: Value| {
        let mut arguments = finish.clone();
        arguments[name] = value;
        arguments
    };
    let by_command = told.ask(&["finish", &told_id, "--owner", ANN, "--strict"]).json;
    assert_eq!(by_command["reason"], "workspace_hygiene", "{by_command:#}");
    compare("strict finish", &by_command, &call("finish_controlled_change", with("strict", json!(true))));
    let by_command = told.ask(&["finish", &told_id, "--owner", ANN, "--changed", "src/b.py"]).json;
    let listed = with("changed_files", json!(["src/b.py"]));
    compare("finish with a list", &by_command, &call("finish_controlled_change", listed));
    let by_command = told.ask(&["finish", &told_id, "--owner", ANN]).json;
    assert_eq!(by_command["intent_cleared"], true, "{by_command:#}");
    compare("finish", &by_command, &call("finish_controlled_change", finish));
}

#[test]
fn both_surfaces_analyze_unless_they_are_told_not_to() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    let wish = json!({ "intent": "x", "agent": "ann", "allowed_files": ["src/a.py"], "analyze": false });
    let refused = client.call("start_controlled_change", &wish).json;
    assert_eq!(refused["status"], "needs_analysis", "{refused:#}");
    assert_eq!(refused, {
        let told = repo.ask(&["start", "src/a.py", "-m", "x", "--agent", "ann", "--no-analyze"]).json;
        let mut told = told;
        told["owner"] = refused["owner"].clone();
        told
    });
    let wish = json!({ "intent": "x", "agent": "ann", "allowed_files": ["src/a.py"], "analyze": null });
    assert_eq!(client.call("start_controlled_change", &wish).json["status"], "active");
}

#[test]
fn a_tool_says_which_intents_are_ones_own_by_a_kept_handle() {
    let repo = Repo::new();
    let started = repo.ask(&["start", "src/a.py", "-m", "x"]).json;
    let mut client = Client::start(&repo);
    let listed = client.call("manage_change_intent", &json!({ "action": "list" })).json;
    assert_eq!(listed["intents"][0]["handle_kept"], true, "{listed:#}");
    assert_eq!(
        listed["intents"][0]["handle_kept"],
        repo.ask(&["intent", "list"]).json["intents"][0]["handle_kept"]
    );
    let get = json!({ "action": "get", "intent_id": started["intent_id"] });
    assert_eq!(client.call("manage_change_intent", &get).json["intent"]["handle_kept"], true);
    // An agent with another name may not use it.
    let other = json!({ "action": "list", "agent": "somebody else" });
    let listed = client.call("manage_change_intent", &other).json;
    assert_eq!(listed["intents"][0]["handle_kept"], false, "{listed:#}");
}

#[test]
fn an_unknown_word_is_refused_with_the_known_ones() {
    let repo = Repo::new();
    let mut client = Client::start(&repo);
    for (tool, member, words) in [
        ("start_controlled_change", "on_conflict", "block, queue"),
        ("start_controlled_change", "strictness", "ci, strict, relaxed"),
        ("start_controlled_change", "dirty_scope_policy", "block, continue_own_wip"),
        ("finish_controlled_change", "detail_level", "summary, normal, full"),
        ("check_patch_contract", "strictness", "ci, strict, relaxed"),
    ] {
        let mut arguments = match tool {
            "start_controlled_change" => json!({ "intent": "x", "allowed_files": ["src/a.py"] }),
            "finish_controlled_change" => json!({ "intent_id": "x" }),
            _ => json!({}),
        };
        arguments[member] = json!("perhaps");
        let refused = client.call(tool, &arguments);
        assert_eq!(
            (refused.is_error, &refused.json["reason"]),
            (true, &json!("USAGE.INVALID")),
            "{refused:#?}"
        );
        let message = refused.json["message"].as_str().unwrap_or_default();
        assert!(message.contains(&format!("`perhaps` is not one of {words}")), "{message}");
    }
}

#[test]
fn a_failed_gate_is_named_with_the_end_of_its_log_on_every_surface() {
    let repo = Repo::new();
    let script = "for n in $(seq 1 30); do echo line $n; done; exit 3";
    repo.write(
        "probity.toml",
        &format!("[[gate]]\nid = \"unit-tests\"\ntier = \"T0\"\nrun = [\"sh\", \"-c\", {script:?}]\n"),
    );
    repo.sh("git add . && git commit -q -m policy");
    let started = repo.ask(&["start", "src/a.py", "-m", "x", "--owner", ANN]).json;
    let intent = started["intent_id"].as_str().expect("an intent").to_owned();
    repo.write("src/a.py", "print('a2')\n");
    let output = repo.probity(&["finish", &intent, "--owner", ANN]).output().expect("probity starts");
    let human = String::from_utf8(output.stdout).expect("is text");
    assert!(human.contains("gate      unit-tests failed: exit code 3"), "{human}");
    assert!(human.contains("line 30") && !human.contains("line 9\n"), "{human}");
    assert!(human.contains("gate `unit-tests` failed: fix what makes it fail, then finish again"), "{human}");
    assert!(human.contains("[gate_failures]") && !human.contains("worse"), "{human}");
    let mut client = Client::start(&repo);
    let answer = client.call("finish_controlled_change", &json!({ "intent_id": intent, "owner": ANN })).json;
    let gate = &answer["failed_gates"][0];
    assert_eq!((&gate["id"], &gate["detail"]), (&json!("unit-tests"), &json!("exit code 3")), "{answer:#}");
    assert!(gate["log_tail"].as_str().is_some_and(|tail| tail.ends_with("line 30")), "{answer:#}");
}

#[test]
fn people_are_told_in_words_and_the_code_comes_once_in_brackets() {
    let repo = Repo::new();
    let say = |arguments: &[&str]| {
        let output = repo.probity(arguments).output().expect("probity starts");
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).expect("is text")).concat()
    };
    let started = repo.ask(&["start", "src/a.py", "-m", "x", "--owner", ANN]).json;
    let intent = started["intent_id"].as_str().expect("an intent").to_owned();
    let bo = "handle-of-bo-0123456789";
    for (arguments, words, code) in [
        (&["start", "src/a.py", "-m", "y", "--owner", bo][..], "others hold these paths", "coordination"),
        (
            &["start", "src/a.py", "-m", "y", "--owner", ANN],
            "your own intent holds these paths",
            "overlaps_own",
        ),
        (&["finish", &intent, "--owner", bo], "belongs to", "held_by_other"),
        (&["intent", "clear", &intent, "--owner", bo], "belongs to", "held_by_other"),
        (&["intent", "show", "none"], "there is no intent", "unknown_intent"),
    ] {
        let said = say(arguments);
        assert!(said.contains(words), "{arguments:?}: {said}");
        assert_eq!(said.matches(code).count(), 1, "{arguments:?}: {said}");
        assert!(said.contains(&format!("[{code}]")), "{arguments:?}: {said}");
    }
}

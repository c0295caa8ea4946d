//! Every tool for agents, through the real server: its answers and its refusals.

use crate::client::Client;
use crate::harness::{Form, Scene, branches, pretty};
use crate::schema_check;
use serde_json::{Value, json};

const AREA: &str = "tools";

/// An agent's session in a repository.
struct Session {
    scene: Scene,
    client: Client,
}

impl Session {
    fn new() -> Self {
        let scene = Scene::new(AREA, "session", Form::Json);
        let client = Client::connect(scene.probity(&["mcp"]));
        Self { scene, client }
    }

    /// Calls a tool and compares its answer with a snapshot.
    fn case(&mut self, case: &str, tool: &str, arguments: &Value) -> Value {
        let answer = self.client.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer:#}"));
        let document: Value = serde_json::from_str(text).expect("the text is a document");
        assert_eq!(document, result["structuredContent"], "both forms say the same");
        let is_error = result["isError"] == true;
        let given = pretty(&arguments.to_string());
        let shown = format!("tools/call {tool} {given}\nis error: {is_error}\n{}\n", pretty(text));
        self.scene.assert(case, &shown);
        schema_check::check(&format!("{AREA}/{case}"), &document);
        document
    }

    /// Sends any other request and compares its result with a snapshot.
    fn request(&mut self, case: &str, method: &str, params: &Value) {
        let answer = self.client.request(method, params);
        let outcome = if answer["error"].is_object() { &answer["error"] } else { &answer["result"] };
        self.scene.assert(case, &format!("{method} {params}\n{}\n", pretty(&outcome.to_string())));
    }
}

#[test]
fn a_session_opens_and_lists_what_there_is() {
    let mut session = Session::new();
    let info = session.client.info.clone();
    session.scene.assert("initialize", &format!("{}\n", pretty(&info.to_string())));
    session.request("list_tools", "tools/list", &json!({}));
    session.request("list_resources_empty", "resources/list", &json!({}));
    session.request("unknown_tool", "tools/call", &json!({ "name": "no_such_tool", "arguments": {} }));
    session.request("unknown_resource", "resources/read", &json!({ "uri": "probity://evidence/none" }));
    session.scene.ask(&["run", "--scope", "src/a.py", "--", "true"]);
    session.request("list_resources", "resources/list", &json!({}));
    session.request("list_resource_templates", "resources/templates/list", &json!({}));
}

#[test]
fn analysis() {
    let mut session = Session::new();
    let first = session.case("analyze_repository", "analyze_repository", &json!({}));
    session.case("analyze_repository_refused", "analyze_repository", &json!({ "no_such_argument": 1 }));
    session.case("analyze_repository_elsewhere", "analyze_repository", &json!({ "root": "/nowhere/at/all" }));
    let body = branches(30);
    session.scene.repo.write("src/a.py", &format!("def one(a, b):\n{body}    return b\n"));
    session.case("analyze_repository_findings", "analyze_repository", &json!({}));
    session.case("compare_runs", "compare_runs", &json!({ "before": first["run_id"] }));
    session.case("compare_runs_unknown", "compare_runs", &json!({ "before": "none" }));
    session.case("get_blast_radius", "get_blast_radius", &json!({ "files": ["src/a.py"] }));
    session.case("get_blast_radius_unknown", "get_blast_radius", &json!({ "files": ["src/none.py"] }));
    session.case("get_blast_radius_refused", "get_blast_radius", &json!({ "files": "src/a.py" }));
}

#[test]
fn a_change() {
    let mut session = Session::new();
    let wish = json!({ "intent": "fix a", "agent": "ann", "allowed_files": ["src/a.py"] });
    session.case("start_needs_analysis", "start_controlled_change", &with(&wish, "analyze", json!(false)));
    let wish = with(&wish, "analyze", json!(true));
    let started = session.case("start", "start_controlled_change", &wish);
    session.case("start_blocked", "start_controlled_change", &with(&wish, "agent", json!("bo")));
    let queued = with(&with(&wish, "agent", json!("bo")), "on_conflict", json!("queue"));
    session.case("start_queued", "start_controlled_change", &queued);
    session.case("start_refused", "start_controlled_change", &json!({ "intent": "nothing", "agent": "ann" }));
    let pattern = with(&wish, "allowed_files", json!(["src/*.py"]));
    session.case("start_pattern", "start_controlled_change", &pattern);
    let id = &started["intent_id"];
    session.case("intent_list", "manage_change_intent", &json!({ "action": "list" }));
    let act = |action: &str| json!({ "action": action, "intent_id": id, "owner": started["owner"] });
    session.case("intent_status", "manage_change_intent", &act("status"));
    session.case("intent_show", "manage_change_intent", &act("get"));
    session.case("intent_renew", "manage_change_intent", &act("renew"));
    let amend = with(&with(&act("amend"), "allowed_files", json!(["src/c.py"])), "why", json!("a helper"));
    session.case("intent_amend", "manage_change_intent", &amend);
    session.case("intent_amend_without_reason", "manage_change_intent", &act("amend"));
    session.case("intent_unknown", "manage_change_intent", &json!({ "action": "get", "intent_id": "none" }));
    session.case("intent_unknown_action", "manage_change_intent", &json!({ "action": "nonsense" }));
    session.case("intent_gc", "manage_change_intent", &json!({ "action": "gc" }));
    session.scene.repo.write("src/a.py", "print('a2')\n");
    let finish = json!({ "intent_id": id, "owner": started["owner"], "analyze": true });
    let missing = with(&finish, "changed_files", json!(["src/b.py"]));
    session.case("finish_not_declared", "finish_controlled_change", &missing);
    session.case("finish_unknown", "finish_controlled_change", &with(&finish, "intent_id", json!("none")));
    let claimed = with(&finish, "claims_text", json!("No regressions."));
    session.case("finish", "finish_controlled_change", &claimed);
    session.case("finish_refused", "finish_controlled_change", &json!({}));
}

#[test]
fn a_contract() {
    let mut session = Session::new();
    session.case("budget", "check_patch_contract", &json!({ "mode": "budget" }));
    session.scene.repo.write("src/a.py", "print('a2')\n");
    session.case("contract", "check_patch_contract", &json!({}));
    session.case("contract_out_of_scope", "check_patch_contract", &json!({ "allowed_files": ["src/b.py"] }));
    session.case("contract_refused", "check_patch_contract", &json!({ "mode": "nonsense" }));
    session.case("contract_unknown_base", "check_patch_contract", &json!({ "base_ref": "none" }));
    let text = json!({ "text": "No regressions. Docs only. It is nicer." });
    session.case("claims", "validate_review_claims", &text);
    session.case("claims_none", "validate_review_claims", &json!({}));
    session.case("claims_unknown", "validate_review_claims", &json!({ "claims": [{ "claim": "nonsense" }] }));
    session.case("receipt", "create_review_receipt", &json!({}));
    session.case("receipt_refused", "create_review_receipt", &json!({ "text": 1 }));
}

#[test]
fn the_ledger() {
    let mut session = Session::new();
    let delta =
        json!({ "kind": "decision_made", "handle": "db", "summary": "Use Postgres", "confidence": "high" });
    let propose =
        json!({ "author": "ann", "said": "We use Postgres.", "deltas": [delta, { "kind": "guess" }] });
    session.case("ledger_propose", "ledger_propose", &propose);
    session.case("ledger_propose_refused", "ledger_propose", &json!({ "author": "ann" }));
    session.case("ledger_query", "ledger_query", &json!({}));
    session.case("ledger_query_item", "ledger_query", &json!({ "item": "db" }));
    session.case("ledger_query_history", "ledger_query", &json!({ "item": "db", "history": true }));
    session.case("ledger_query_since", "ledger_query", &json!({ "since": 0 }));
    session.case("ledger_query_as_of", "ledger_query", &json!({ "as_of": 0 }));
    session.case("ledger_query_unknown", "ledger_query", &json!({ "item": "none" }));
    session.case("ledger_query_refused", "ledger_query", &json!({ "item": "db", "since": 0 }));
    session.case("ledger_export", "ledger_export", &json!({ "query": "how are orders stored?" }));
    session.case("ledger_export_refused", "ledger_export", &json!({ "budget": "much" }));
}

#[test]
fn the_origin_of_a_line() {
    let mut session = Session::new();
    session.scene.ask(&["run", "--scope", "src/a.py", "--", "sh", "-ec", "echo x >> src/a.py"]);
    session.case("why_line", "why_line", &json!({ "path": "src/a.py", "line": 2 }));
    session.case("why_line_refused", "why_line", &json!({ "path": "src/a.py", "line": 99 }));
}

#[test]
fn a_git_merge() {
    let mut session = Session::new();
    session.case("audit_merge_none", "audit_merge", &json!({}));
    crate::documents::lossy_git_merge(&session.scene);
    session.case("audit_merge", "audit_merge", &json!({ "revision": "HEAD" }));
    session.case("audit_merge_range", "audit_merge", &json!({ "revision": "HEAD~2..HEAD", "limit": 1 }));
}

#[test]
fn a_merge() {
    let mut session = Session::new();
    session.case("analyze_merge_no_store", "analyze_merge", &json!({}));
    crate::documents::diverged(&session.scene);
    session.case("analyze_merge_heads", "analyze_merge", &json!({}));
    session.scene.ask(&["commits", "reduce"]);
    let found = session.case("analyze_merge", "analyze_merge", &json!({ "merge": "@" }));
    session.case("analyze_merge_refused", "analyze_merge", &json!({ "merge": "@", "ours": "@" }));
    let conflict = &found["conflicts"][0]["id"];
    let decide = json!({
        "merge": "@", "resolutions": [{ "conflict": conflict, "choose": "ours" }], "why": "hers", "author": "dee",
    });
    session.case("reconcile_merge_dry_run", "reconcile_merge", &with(&decide, "dry_run", json!(true)));
    session.case("reconcile_merge", "reconcile_merge", &decide);
    session.case("reconcile_merge_without_reason", "reconcile_merge", &json!({ "merge": "@" }));
    let nobody = with(&decide, "resolutions", json!([{ "conflict": "ffff", "choose": "ours" }]));
    session.case("reconcile_merge_unknown_conflict", "reconcile_merge", &nobody);
}

fn with(arguments: &Value, name: &str, value: Value) -> Value {
    let mut arguments = arguments.clone();
    arguments[name] = value;
    arguments
}

//! Behavior over time: silent owners, lapsed leases, expired intents. The registry is written with a clock some minutes
//! in the past; the binary reads it now.

use super::{Agent, is, verdict};
use crate::repo::Repo;
use probity_changes::registry::{Caller, IntentService, LocalHost, OwnerHandle, RegistryHost, TreeFacts};
use probity_intents::registry::{IntentBase, IntentDeclaration, RegistryAction};
use probity_intents::start::{DirtyScopePolicy, OnConflict};
use probity_intents::{IntentId, IntentOwner, IntentScope, ProcessProbe, ScopeEntry, Timestamp};
use probity_workspace::Workspace;
use serde_json::json;
use std::sync::Arc;

/// This machine, the given number of seconds ago.
struct Ago(u64);

impl RegistryHost for Ago {
    fn now(&self) -> Timestamp {
        Timestamp(LocalHost.now().0.saturating_sub(self.0))
    }
    fn host_name(&self) -> &str {
        LocalHost.host_name()
    }
    fn boot_id(&self) -> Option<&str> {
        LocalHost.boot_id()
    }
    fn probe_process(&self, pid: u32) -> ProcessProbe {
        LocalHost.probe_process(pid)
    }
}

pub(super) fn workspace(repo: &Repo) -> Workspace {
    Workspace::find(Some(&repo.path()), &repo.path()).expect("is found")
}

/// Returns the owner that an agent at the command line is recorded as.
pub(super) fn owner(agent: &Agent<'_>, pid: Option<u32>) -> IntentOwner {
    let handle = OwnerHandle::parse(&agent.owner).expect("a handle");
    Caller { handle, is_new: false, label: "agent".into(), pid }.owner(&LocalHost).expect("an owner")
}

/// Returns the declaration that a start of `path` makes in the current tree.
pub(super) fn declaration(agent: &Agent<'_>, id: &str, path: &str, ttl_seconds: u64) -> IntentDeclaration {
    let begun = agent.begin(path, &[]);
    let shell = IntentService::open(&workspace(agent.repo)).expect("opens");
    let base: IntentBase = shell.resolve(&begun).expect("is there").base.clone();
    assert_eq!(agent.ask(&["intent", "clear", &begun]).exit_code, Some(0));
    IntentDeclaration {
        intent_id: IntentId::parse(id).expect("an id"),
        description: "a change of some time ago".into(),
        expected_effects: Vec::new(),
        scope: IntentScope { allowed_files: [ScopeEntry::new(path)].into(), ..IntentScope::default() },
        ttl_seconds,
        lease_seconds: 60,
        base,
        task: None,
    }
}

/// Records a start on `path` ten minutes ago with the shortest lease.
fn started_long_ago(agent: &Agent<'_>, id: &str, path: &str, ttl_seconds: u64) {
    let declaration = declaration(agent, id, path, ttl_seconds);
    let store = workspace(agent.repo).state.store().expect("opens");
    let mut shell = IntentService::on_store(&store, Arc::new(Ago(600)));
    let action = RegistryAction::Start {
        declaration,
        dirty_scope_policy: DirtyScopePolicy::Block,
        on_conflict: OnConflict::Block,
    };
    let tree = TreeFacts { run_available: true, ..TreeFacts::default() };
    shell.execute(&owner(agent, Some(std::process::id())), action, &tree).expect("was granted");
}

#[test]
fn a_silent_owner_still_holds_its_paths() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    started_long_ago(&a, "long-ago", "src/a.py", 3600);
    let blocked = b.start("src/a.py", &[]);
    assert_eq!(verdict(&blocked), is("blocked", "coordination", 2), "{blocked:#?}");
    assert_eq!(blocked.json["next_step"], "coordinate_with_stale_owner");
    let neighbor = &blocked.json["workspace"]["concurrent_intents"][0];
    assert_eq!(neighbor["ownership"], "foreign_stale", "{blocked:#?}");
    assert_eq!(neighbor["recommended_action"], "coordinate_or_wait_for_its_end");
    assert_eq!(blocked.json["workspace"]["stale_count"], 1);
    // Its owner is alive: others may neither recover nor clear it.
    assert_eq!(b.ask(&["intent", "recover", "long-ago"]).exit_code, Some(5));
    assert_eq!(b.ask(&["intent", "clear", "long-ago"]).exit_code, Some(5));
    assert_eq!(repo.ask(&["intent", "show", "long-ago"]).json["intent"]["ownership"], "foreign_stale");
}

#[test]
fn a_lapse_is_told_to_the_one_it_concerns_and_costs_nothing_else() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    started_long_ago(&a, "long-ago", "src/a.py", 3600);
    assert_eq!(
        a.ask(&["intent", "show", "long-ago"]).json["intent"]["ownership"],
        "own_active",
        "use renews it"
    );
    repo.write("src/a.py", "print('late')\n");
    let finished = a.finish("long-ago", &["--changed", "src/a.py"]);
    assert_eq!(verdict(&finished), is("accepted", "", 0), "{finished:#?}");
}

#[test]
fn renewing_after_a_lapse_says_since_when_one_was_silent() {
    let repo = Repo::new();
    let a = Agent::new(&repo, "a");
    started_long_ago(&a, "long-ago", "src/a.py", 3600);
    let mut shell = IntentService::open(&workspace(&repo)).expect("opens");
    let action = RegistryAction::Renew {
        intent_id: IntentId::parse("long-ago").expect("an id"),
        lease_seconds: 60,
        ttl_seconds: None,
    };
    let done = shell.execute(&owner(&a, None), action, &TreeFacts::default()).expect("is its own");
    assert_eq!(json!(done.notices[0].kind)["kind"], "lease_lapsed", "{done:?}");
}

#[test]
fn what_is_over_cannot_be_finished() {
    let repo = Repo::new();
    let (a, b) = (Agent::new(&repo, "a"), Agent::new(&repo, "b"));
    started_long_ago(&a, "long-ago", "src/a.py", 60);
    repo.write("src/a.py", "print('too late')\n");
    let over = a.finish("long-ago", &["--changed", "src/a.py"]);
    assert_eq!(over.exit_code, Some(4), "{over:#?}");
    assert!(over.json["next_step"].as_str().is_some_and(|words| !words.is_empty()), "{over:#?}");
    // It blocks nobody, and its owner is notified of the successor.
    repo.sh("git checkout -q src/a.py");
    let next = b.begin("src/a.py", &[]);
    let told = a.ask(&["intent", "list"]);
    let notice = &told.json["notices"][0];
    assert_eq!(
        (&notice["kind"]["kind"], &notice["kind"]["by"]),
        (&json!("closed"), &json!(next)),
        "{told:#?}"
    );
}

#[test]
fn dirt_is_attributed_to_the_living_only() {
    let repo = Repo::new();
    repo.write("src/c.py", "print('c')\n");
    repo.sh("git add . && git commit -q -m c");
    let [a, silent, over, queued] = ["a", "silent", "over", "queued"].map(|name| Agent::new(&repo, name));
    started_long_ago(&silent, "silent", "src/b.py", 3600);
    started_long_ago(&over, "over", "src/c.py", 60);
    let intent = a.begin("src/a.py", &[]);
    let waits = queued.start("src/b.py", &["--queue"]);
    assert_eq!(waits.json["status"], "queued", "{waits:#?}");
    for file in ["src/a.py", "src/b.py", "src/c.py"] {
        repo.write(file, "print('changed')\n");
    }
    let finished = a.finish(&intent, &["--changed", "src/a.py", "--detail-level", "full"]);
    let hygiene = &finished.json["workspace_hygiene_after"];
    assert_eq!(hygiene["foreign_attributed_outside_scope"], json!(["src/b.py"]), "{finished:#?}");
    assert_eq!(hygiene["new_unattributed_unscoped_dirty"], json!(["src/c.py"]), "{finished:#?}");
    assert_eq!(verdict(&finished), is("accepted_with_external_changes", "", 0));
}

//! A store as a surface uses it: concurrent writes, a merge, the loss it finds, a decision, and the decided state.

use super::merge::{MergeSelector, ReconcileRequest};
use super::write::DocumentWrite;
use super::*;
use probity_documents::ConflictChoice;
use serde_json::json;
use tempfile::TempDir;

const SCHEMA: &str = "struct Ticket {\n title: string\n rank: int64\n labels: set<string> = []\n}\n\
                      attachment ticket: Ticket";

fn fresh() -> (TempDir, CommitStore) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("c.db");
    write::init(&path, SCHEMA.as_bytes()).expect("makes");
    let store = open(&path).expect("opens");
    (directory, store)
}

fn by(author: &str) -> CommitMetadata {
    CommitMetadata { author: Some(author.into()), label: None }
}

fn rank(store: &CommitStore, on: &str, author: &str, rank: i64) -> String {
    let update = DocumentWrite::Update {
        op: "document_update".into(),
        attachment: "ticket".into(),
        key: "t1".into(),
        path: "rank".into(),
        value: json!(rank),
    };
    let answer = write::write(store, Some(on), &update, &by(author)).expect("writes");
    answer.commit.id.to_string()
}

/// Returns a store in which two writers changed the same field, with their merge.
fn merged() -> (TempDir, CommitStore, String) {
    let (directory, store) = fresh();
    let put = DocumentWrite::Put {
        attachment: "ticket".into(),
        key: "t1".into(),
        value: json!({"title": "one", "rank": 0}),
    };
    write::write(&store, None, &put, &by("cy")).expect("writes");
    write::set_ref(&store, "start", Some("@")).expect("names");
    let (ours, theirs) = (rank(&store, "start", "ann", 1), rank(&store, "start", "bo", 2));
    let merge = write::merge(&store, &ours, &theirs, &by("dee")).expect("merges").to_string();
    (directory, store, merge)
}

fn decide(merge: &str, rest: Option<ConflictChoice>) -> ReconcileRequest {
    ReconcileRequest {
        merge: merge.into(),
        rest,
        by: by("dee"),
        why: "ann was first".into(),
        ..ReconcileRequest::default()
    }
}

fn code(result: Result<impl std::fmt::Debug, ServiceError>) -> Option<ReasonCode> {
    result.expect_err("is refused").reason()
}

#[test]
fn a_lost_intent_is_found_decided_and_found_decided_again() {
    let (_folder, store, id) = merged();
    let found = merge::analyze(&store, &MergeSelector::Written(id.clone())).expect("analyses");
    assert_eq!((found.n_open(), found.authors[0].as_slice()), (1, &["ann".to_owned()][..]));
    let done = merge::reconcile(&store, &decide(&id, Some(ConflictChoice::Ours))).expect("decides");
    assert!(done.written && done.survival.is_some());
    let state = read::state(&store, None, Some("ticket/t1")).expect("reads");
    assert_eq!(state.state["ticket"]["t1"]["rank"], 1);
    let again = merge::analyze(&store, &MergeSelector::Written(id.clone())).expect("analyses");
    let record = again.histories[0].resolved_by.as_ref().expect("is resolved");
    assert_eq!((record.by.as_str(), record.why.as_str(), again.n_open()), ("dee", "ann was first", 0));
    let shown = merge::decisions(&store, Some(&id)).expect("reads");
    assert_eq!(
        shown.decisions[0].record.decisions[0].conflict.theirs,
        probity_documents::LocusReading(Some(json!(2)))
    );
}

#[test]
fn a_dry_run_writes_nothing() {
    let (_folder, store, id) = merged();
    let request = ReconcileRequest { dry_run: true, ..decide(&id, Some(ConflictChoice::Ours)) };
    let done = merge::reconcile(&store, &request).expect("decides");
    assert!(!done.written && done.survival.is_some());
    assert_eq!(store.heads().expect("reads")[0].to_string(), id);
    assert!(merge::decisions(&store, None).expect("reads").decisions.is_empty());
}

#[test]
fn resolutions_are_given_by_id_or_by_place() {
    let (_folder, store, id) = merged();
    let found = merge::analyze(&store, &MergeSelector::Written(id.clone())).expect("analyses");
    let conflict = &found.analysis.conflicts()[0];
    for resolution in [
        json!({"conflict": conflict.id, "choose": {"value": {"some": 7}}}),
        json!({"attachment": "ticket", "key": "t1", "path": [{"field": "rank"}], "choose": {"value": {"some": 7}}}),
    ] {
        let request =
            ReconcileRequest { resolutions: vec![resolution.into()], dry_run: true, ..decide(&id, None) };
        let done = merge::reconcile(&store, &request).expect("decides");
        assert_eq!(done.ops[0]["value"], 7);
    }
    for bad in [
        json!({"conflict": "ffff", "choose": "ours"}),
        json!({"conflict": conflict.id, "choose": "mine"}),
        json!({"conflict": conflict.id, "choose": {"value": {"some": "seven"}}}),
        json!({"attachment": "ticket", "key": "t9", "path": [], "choose": "ours"}),
        json!(7),
    ] {
        let request = ReconcileRequest { resolutions: vec![bad.clone().into()], ..decide(&id, None) };
        let refused = code(merge::reconcile(&store, &request));
        assert_eq!(refused, Some(ReasonCode::MergeResolutionRefused), "{bad}");
    }
}

#[test]
fn the_policy_speaks_before_a_person_is_asked() {
    let (_folder, store, id) = merged();
    let policy = json!({
        "rules": [{"attachment": "ticket", "path": [{"field": "rank"}], "decide": "max"}],
        "invariants": [{"range": {"attachment": "ticket", "path": [{"field": "rank"}], "max": 1}}],
    });
    merge::set_policy(&store, policy.to_string().as_bytes()).expect("sets");
    let found = merge::analyze(&store, &MergeSelector::Written(id.clone())).expect("analyses");
    assert_eq!((found.n_open(), found.violations.len()), (0, 1));
    let done = merge::reconcile(&store, &decide(&id, None)).expect("decides");
    assert_eq!(
        (done.decided[0].1.clone(), done.decided[0].2.as_str()),
        (ConflictChoice::Theirs, "policy rule 0")
    );
    let refuse = json!({"rules": [{"attachment": "*", "decide": "refuse"}]});
    merge::set_policy(&store, refuse.to_string().as_bytes()).expect("sets");
    assert_eq!(
        code(merge::reconcile(&store, &decide(&id, Some(ConflictChoice::Ours)))),
        Some(ReasonCode::MergeRefused)
    );
    for bad in [json!({"rules": [{"attachment": "x", "decide": "ours"}]}), json!({"rule": []}), json!([])] {
        assert_eq!(
            code(merge::set_policy(&store, bad.to_string().as_bytes())),
            Some(ReasonCode::MergePolicyInvalid)
        );
    }
}

#[test]
fn commits_are_named_by_ref_beginning_or_as_the_only_head() {
    let (_folder, store, id) = merged();
    let resolve = |name: &str| store.read(|view| resolve(view, name)).expect("reads");
    assert_eq!(resolve("@").expect("one head").to_string(), id);
    assert_eq!(resolve(&id[..12]).expect("a beginning").to_string(), id);
    assert!(resolve("start").is_ok());
    for unknown in ["0", "zz", "00000000", "", "no/such"] {
        assert_eq!(code(resolve(unknown)), Some(ReasonCode::CommitUnknown), "{unknown}");
    }
    rank(&store, "start", "eve", 3);
    assert_eq!(code(resolve("@")), Some(ReasonCode::CommitSeveralHeads));
}

#[test]
fn heads_are_analyzed_before_and_after_they_are_reduced() {
    let (_folder, store, id) = merged();
    rank(&store, "start", "eve", 3);
    let before = merge::analyze_heads(&store).expect("analyses");
    let merges = write::reduce(&store).expect("reduces");
    let after = merge::analyze_all(&store, &merges).expect("analyses");
    assert_eq!(before.len(), 1);
    assert_eq!(before[0].analysis, after[0].analysis);
    assert_ne!(merges[0].to_string(), id);
}

#[test]
fn says_why_an_opcode_had_no_effect() {
    let (_folder, store) = fresh();
    let update = json!({"op": "document_update", "attachment": "ticket", "key": "t1", "path": [{"field": "rank"}], "value": 1});
    write::write(&store, None, &DocumentWrite::Ops(vec![update]), &by("ann")).expect("writes");
    let traced = read::trace(&store, "@", "ticket/t1").expect("traces");
    assert_eq!(traced.trace[0].skipped, Some(probity_documents::SkipReason::DocumentAbsent));
    let wrong = DocumentWrite::Put {
        attachment: "ticket".into(),
        key: "t1".into(),
        value: json!({"title": 1, "rank": 0}),
    };
    let fault = write::write(&store, None, &wrong, &by("ann")).expect_err("is refused");
    assert!(fault.to_string().contains("value.title"), "{fault}");
}

#[test]
fn a_flat_store_has_the_state_and_no_history() {
    let (directory, store, _) = merged();
    let into = directory.path().join("flat.db");
    exchange::flatten(&store, "@", &into, &by("ann")).expect("flattens");
    let flat = open(&into).expect("opens");
    let state = |store: &CommitStore| read::state(store, None, None).expect("reads").state;
    assert_eq!(state(&flat), state(&store));
    let log =
        read::log(&flat, &read::LogRequest { limit: 10, ..read::LogRequest::default() }).expect("lists");
    assert_eq!(log.total, 1);
}

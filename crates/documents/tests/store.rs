//! The library as used by an application that embeds the store.

#![allow(missing_docs, clippy::unwrap_used)]

use probity_documents::*;
use proptest::prelude::*;
use serde_json::{Value as Json, json};

fn schema() -> DocumentSchema {
    DocumentSchema::from_json(&json!({
        "enums": {"Phase": ["idea", "draft", "final"]},
        "structs": {"Ticket": [
            ["title", "string"], ["rank", "int64"], ["labels", "set<string>"], ["votes", "map<string,int64>"],
            ["notes", "xarray<string>"], ["phase", "Phase"], ["steps", "vector<string>"], ["after", "optional<key<ticket>>"],
        ]},
        "attachments": {"ticket": "Ticket", "raw": "tuple<bytes,uuid,float,uint64,any>"},
    }))
    .unwrap()
}

fn ticket(title: &str) -> Json {
    json!({
        "title": title, "rank": 10, "labels": ["blue"], "votes": [["ann", 1]], "phase": "idea", "steps": ["one"],
        "notes": {"order": ["p1"], "elements": {"p1": "alpha"}}, "after": null,
    })
}

/// A store with one schema and a clock that ticks with every commit.
struct World {
    schema: DocumentSchema,
    store: MemoryCommits,
    time: i64,
}

impl World {
    fn new() -> Self {
        Self { schema: schema(), store: MemoryCommits::new(), time: 0 }
    }

    fn stamp(&mut self, author: &str) -> CommitStamp {
        self.time += 1;
        CommitStamp::new(author, "test", self.time).unwrap()
    }

    fn write(
        &mut self,
        parent: Option<CommitId>,
        author: &str,
        record: impl Fn(&mut DocumentEditor<'_, '_>),
    ) -> CommitId {
        let stamp = self.stamp(author);
        let mut mutations = MutationBuilder::new(&self.schema);
        record(&mut mutations.document("ticket", "t1"));
        let commit = mutations.commit(parent, stamp);
        self.store.append(commit).unwrap()
    }

    /// Creates a ticket that two writers changed, and merges them.
    fn merged(
        ours: impl Fn(&mut DocumentEditor<'_, '_>),
        theirs: impl Fn(&mut DocumentEditor<'_, '_>),
    ) -> (Self, CommitId) {
        let mut world = Self::new();
        let root = world.write(None, "cy", |t| {
            t.set(&ticket("first")).unwrap();
        });
        let a = world.write(Some(root), "ann", ours);
        let b = world.write(Some(root), "bo", theirs);
        let stamp = world.stamp("dee");
        let merge = world.store.append(Commit::merge(a, b, stamp)).unwrap();
        (world, merge)
    }

    fn analyzer(&self) -> MergeAnalyzer<'_, MemoryCommits> {
        MergeAnalyzer::new(&self.schema, &self.store)
    }

    fn analyze(&self, merge: CommitId) -> MergeAnalysis {
        self.analyzer().analyze_merge(&merge).unwrap()
    }

    fn read(&self, commit: CommitId) -> Json {
        let state = DocumentEngine::new(&self.store).state(&commit).unwrap();
        state.document_json(&self.schema, &DocumentId::new("ticket", "t1")).unwrap()
    }

    /// Returns the verdict of a one-rule policy on the only conflict of a merge.
    fn verdict(&self, merge: CommitId, decide: &str) -> ConflictVerdict {
        let rule = json!({"attachment": "ticket", "path": [{"field": "rank"}], "decide": decide});
        let policy: MergePolicy = serde_json::from_value(json!({ "rules": [rule] })).unwrap();
        let rulings = self.analyzer().apply_policy(&self.analyze(merge), &policy).unwrap();
        rulings.conflicts[0].verdict.clone()
    }
}

fn field(name: &str) -> Json {
    json!([{ "field": name }])
}

fn rank(number: i64) -> impl Fn(&mut DocumentEditor<'_, '_>) {
    move |t| {
        t.update(&field("rank"), &json!(number)).unwrap();
    }
}

#[test]
fn a_lost_write_is_found_decided_and_survives() {
    let (mut world, merge) = World::merged(rank(11), rank(12));
    let analysis = world.analyze(merge);
    let [conflict] = analysis.conflicts() else { panic!("{analysis:?}") };
    assert_eq!((conflict.ours.0.clone(), conflict.merged.0.clone()), (Some(json!(11)), Some(json!(12))));
    let resolution = MergeResolution::new(conflict, ConflictChoice::Ours);
    let stamp = world.stamp("dee");
    let outcome = world.analyzer().reconcile(&merge, &[resolution], stamp).unwrap();
    let survival = world.store.append(outcome.survival.unwrap()).unwrap();
    assert_eq!(world.read(survival)["rank"], 11);
    assert_eq!(world.store.heads(), [survival]);
}

#[test]
fn every_type_has_one_form() {
    let schema = schema();
    let mut mutations = MutationBuilder::new(&schema);
    let big = json!({"type": "vector<uint64>", "value": ["18446744073709551615", 1]});
    let raw = json!(["00ff", "0190a5b4-0c8e-7cc1-8a3d-2f1e5d6c7b8a", 0.1, "9007199254740992", big]);
    mutations.document("raw", "r").set(&raw).unwrap();
    let commit = mutations.commit(None, CommitStamp::new("ann", "", 0).unwrap());
    let again = Commit::decode(&schema, commit.bytes()).unwrap();
    assert_eq!(again, commit);
    let mut store = MemoryCommits::new();
    let id = store.append(commit).unwrap();
    let state = DocumentEngine::new(&store).state(&id).unwrap();
    assert_eq!(state.to_json(&schema), json!({ "raw": { "r": raw } }));
    assert_eq!(CommitState::from_json(&schema, &state.to_json(&schema)).unwrap(), state);
}

#[test]
fn a_second_form_of_a_value_is_refused() {
    let schema = schema();
    let good = json!(["00ff", "0190a5b4-0c8e-7cc1-8a3d-2f1e5d6c7b8a", 0.5, 7, null]);
    for (index, bad) in [
        (0, json!("00FF")),
        (0, json!("0")),
        (1, json!("0190A5B4-0c8e-7cc1-8a3d-2f1e5d6c7b8a")),
        (1, json!("0190a5b40c8e7cc18a3d2f1e5d6c7b8a")),
        (2, json!(0.100_000_001)),
        (3, json!("7")),
        (3, json!("09007199254740993")),
        (3, json!(9_007_199_254_740_993_u64)),
        (3, json!(-1)),
        (4, json!({"type": "set< string>", "value": []})),
        (4, json!({"type": "set<string>", "value": ["b", "a"]})),
        (4, json!({"type": "Nothing", "value": 1})),
    ] {
        let mut raw = good.clone();
        raw[index] = bad.clone();
        let misfit = MutationBuilder::new(&schema).document("raw", "r").set(&raw).err();
        assert!(misfit.is_some_and(|misfit| misfit.place.contains(&format!("[{index}]"))), "{bad}");
    }
}

#[test]
fn an_error_names_the_place() {
    let schema = schema();
    let mut mutations = MutationBuilder::new(&schema);
    let mut bad = ticket("x");
    bad["votes"] = json!([["ann", 1], ["bo", true]]);
    let error = mutations.document("ticket", "t1").set(&bad).unwrap_err().to_string();
    assert_eq!(error, "document_set ticket/t1 value.votes[1][1]: this is not of type `int64`: true");
    let error = mutations.document("ticket", "t1").update(&field("size"), &json!(1)).unwrap_err().to_string();
    assert_eq!(error, "document_update ticket/t1 path[0]: `Ticket` cannot be entered by `field`: \"size\"");
    assert!(mutations.document("ticket", "t1").union_in_set(&field("rank"), &json!([])).is_err());
    assert!(mutations.document("ticket", "t1").union_in_set(&field("labels"), &json!([])).is_ok());
    assert!(mutations.ops().is_empty(), "a refused verb, and one without members, record nothing");
}

#[test]
fn every_skipped_opcode_has_a_reason() {
    let mut world = World::new();
    let early = world.write(None, "ann", rank(1));
    let root = world.write(Some(early), "ann", |t| {
        t.set(&ticket("first")).unwrap();
    });
    let top = world.write(Some(root), "bo", |t| {
        let x = json!("x");
        t.update(&json!([]), &ticket("second")).unwrap();
        t.update(&json!([{"field": "steps"}, {"index": 5}]), &x).unwrap();
        t.update(&json!([{"field": "after"}, {"unwrap": true}]), &json!("t1")).unwrap();
        t.update_in_map(&field("votes"), &json!([["bo", 1]])).unwrap();
        t.update_in_xarray(&field("notes"), "p9", &x).unwrap();
        t.insert_in_xarray(&field("notes"), "p9", "p2", &x).unwrap();
        t.remove_in_xarray(&field("notes"), "p1").unwrap();
    });
    let stamp = world.stamp("bo");
    let masked = world.store.append(Commit::disable(Some(top), top, stamp)).unwrap();
    let document = DocumentId::new("ticket", "t1");
    let reasons = |commit| {
        let traced = DocumentEngine::new(&world.store).trace(&commit, &document).unwrap();
        traced.into_iter().map(|entry| entry.skipped.map(SkipReason::as_str)).collect::<Vec<_>>()
    };
    assert_eq!(
        reasons(top),
        [
            Some("document_absent"),
            None,
            Some("root_update"),
            Some("index_out_of_range"),
            None,
            Some("keys_missing"),
            Some("position_unknown"),
            Some("anchor_unknown"),
            None,
        ]
    );
    assert_eq!(reasons(masked)[2..].iter().flatten().filter(|code| **code == "masked").count(), 6);
}

#[test]
fn old_commits_are_read_under_a_schema_that_has_grown() {
    let (world, merge) = World::merged(rank(11), rank(12));
    let mut json = world.schema.to_json();
    json["version"] = json!(2);
    json["structs"]["Ticket"].as_array_mut().unwrap().push(json!(["note", "string", "none yet"]));
    let newer = DocumentSchema::from_json(&json).unwrap();
    assert_eq!(world.schema.check_successor(&newer), Ok(()));
    let mut store = MemoryCommits::new();
    let received = import_bundle(&mut store, &newer, &export_bundle(world.store.iter())).unwrap();
    assert_eq!((received.added.len(), store.heads()), (4, world.store.heads()), "identities stay");
    let state = DocumentEngine::new(&store).state(&merge).unwrap();
    let document = state.document_json(&newer, &DocumentId::new("ticket", "t1")).unwrap();
    assert_eq!((&document["note"], &document["rank"]), (&json!("none yet"), &json!(12)));
}

#[test]
fn a_bundle_can_be_taken_in_again_and_damage_is_found() {
    let (world, _) = World::merged(rank(11), rank(12));
    let bundle = export_bundle(world.store.iter());
    let mut other = MemoryCommits::new();
    import_bundle(&mut other, &world.schema, &bundle).unwrap();
    let again = import_bundle(&mut other, &world.schema, &bundle).unwrap();
    assert_eq!((again.added.len(), again.n_known), (0, 4));
    assert_eq!(other.heads(), world.store.heads());
    let damaged = String::from_utf8(bundle).unwrap().replacen("first", "third", 1);
    let error = import_bundle(&mut MemoryCommits::new(), &world.schema, damaged.as_bytes()).unwrap_err();
    assert!(matches!(error, BundleError::Append { line: 2, error: AppendError::Missing { .. } }), "{error}");
}

#[test]
fn a_merge_needs_two_streams() {
    let mut world = World::new();
    let root = world.write(None, "ann", |t| {
        t.set(&ticket("first")).unwrap();
    });
    let child = world.write(Some(root), "ann", rank(1));
    let stamp = world.stamp("dee");
    let error = world.store.append(Commit::merge(root, child, stamp)).unwrap_err();
    assert!(matches!(error, AppendError::Ancestor(_)), "{error}");
    assert!(matches!(world.analyzer().analyze_merge(&root), Err(AnalyzeError::NotAMerge(_))));
}

#[test]
fn policies_decide_numbers() {
    let (world, merge) = World::merged(rank(13), rank(12));
    assert_eq!(world.verdict(merge, "max"), ConflictVerdict::Decided(ConflictChoice::Ours));
    assert_eq!(world.verdict(merge, "min"), ConflictVerdict::Decided(ConflictChoice::Theirs));
    assert_eq!(world.verdict(merge, "sum"), ConflictVerdict::Decided(ConflictChoice::value(&json!(15))));
    assert_eq!(world.verdict(merge, "newest"), ConflictVerdict::Decided(ConflictChoice::Theirs));
    assert_eq!(world.verdict(merge, "ours"), ConflictVerdict::Decided(ConflictChoice::Ours));
    assert_eq!(world.verdict(merge, "union"), ConflictVerdict::Review, "both have a value");
    assert_eq!(world.verdict(merge, "require_review"), ConflictVerdict::Review);
    assert_eq!(world.verdict(merge, "refuse"), ConflictVerdict::Refused);
}

#[test]
fn the_first_rule_that_matches_speaks_and_its_resolutions_hold() {
    let (mut world, merge) = World::merged(
        |t| {
            t.union_in_set(&field("labels"), &json!(["a", "b"])).unwrap();
            t.update(&field("rank"), &json!(20)).unwrap();
            t.update(&field("title"), &json!("ours")).unwrap();
        },
        |t| {
            t.update(&field("labels"), &json!([])).unwrap();
            t.update(&field("rank"), &json!(12)).unwrap();
            t.update(&field("title"), &json!("theirs")).unwrap();
        },
    );
    let policy: MergePolicy = serde_json::from_value(json!({"rules": [
        {"attachment": "ticket", "path": [{"field": "labels"}, "*"], "decide": "union"},
        {"attachment": "*", "path": [{"field": "rank"}, "**"], "decide": "max"},
        {"attachment": "ticket", "path": [{"field": "title"}], "decide": "require_review"},
        {"attachment": "*", "decide": "refuse"},
    ]}))
    .unwrap();
    let analysis = world.analyze(merge);
    let rulings = world.analyzer().apply_policy(&analysis, &policy).unwrap();
    assert_eq!(
        rulings.conflicts.iter().map(|ruling| ruling.rule).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(1), Some(2)]
    );
    assert_eq!((rulings.n_open(), rulings.is_refused()), (1, false));
    let stamp = world.stamp("policy");
    let outcome = world.analyzer().reconcile(&merge, &rulings.resolutions(&analysis), stamp).unwrap();
    let survival = world.store.append(outcome.survival.unwrap()).unwrap();
    let read = world.read(survival);
    assert_eq!(
        (&read["labels"], &read["rank"], &read["title"]),
        (&json!(["a", "b"]), &json!(20), &json!("theirs"))
    );
}

#[test]
fn invariants_are_checked_on_the_merged_state() {
    let mut world = World::new();
    let stamp = world.stamp("ann");
    let mut mutations = MutationBuilder::new(&world.schema);
    let mut third = ticket("other");
    third["after"] = json!({"some": "t9"});
    third["rank"] = json!(-3);
    for (key, document) in [("t1", ticket("same")), ("t2", ticket("same")), ("t3", third)] {
        mutations.document("ticket", key).set(&document).unwrap();
    }
    let commit = mutations.commit(None, stamp);
    let id = world.store.append(commit).unwrap();
    let invariants: Vec<Invariant> = serde_json::from_value(json!([
        {"unique": {"attachment": "ticket", "path": [{"field": "title"}]}},
        {"references": {"attachment": "ticket"}},
        {"range": {"attachment": "ticket", "path": [{"field": "rank"}], "min": 0, "max": 10}},
    ]))
    .unwrap();
    let state = DocumentEngine::new(&world.store).state(&id).unwrap();
    let violations = check_invariants(&world.schema, &state, &invariants).unwrap();
    let found: Vec<(usize, &str, &str)> =
        violations.iter().map(|v| (v.invariant, &*v.key, v.why.as_str())).collect();
    assert_eq!(
        found,
        [
            (0, "t2", "has the same value as `t1`"),
            (1, "t3", "names `ticket/t9`, which does not exist"),
            (2, "t3", "-3 is out of range"),
        ]
    );
    let wrong = [Invariant::References { attachment: "nothing".into() }];
    assert_eq!(check_invariants(&world.schema, &state, &wrong).unwrap_err().index, 0);
}

#[test]
fn decisions_are_remembered_proposed_again_and_missed_when_overridden() {
    let (mut world, merge) = World::merged(rank(11), rank(12));
    let analysis = world.analyze(merge);
    let resolutions = [MergeResolution::new(&analysis.conflicts()[0], ConflictChoice::Ours)];
    let stamp = world.stamp("dee");
    let outcome = world.analyzer().reconcile(&merge, &resolutions, stamp).unwrap();
    let record = DecisionRecord::new(&analysis, &resolutions, &outcome, "dee", 99, "ann knows best");
    let copy: DecisionRecord = serde_json::from_value(serde_json::to_value(&record).unwrap()).unwrap();
    assert_eq!((copy.id(), &copy), (record.id(), &record));
    let survival = world.store.append(outcome.survival.unwrap()).unwrap();
    let decisions = DecisionIndex::new([&record]);
    assert_eq!(decisions.resolved_by(&analysis.conflicts()[0]), Some(&record));

    // The same merge with sides swapped gets the same decision, swapped.
    let stamp = world.stamp("eve");
    let turned = world.store.append(Commit::merge(analysis.theirs(), analysis.ours(), stamp)).unwrap();
    let other = world.analyze(turned);
    assert_eq!(decisions.resolved_by(&other.conflicts()[0]), None);
    assert_eq!(decisions.proposal(&other.conflicts()[0]), Some(ConflictChoice::Theirs));

    // A later merge that overrides the survival commit reports that.
    let late = world.write(Some(analysis.theirs()), "bo", rank(13));
    let stamp = world.stamp("eve");
    let overriding = world.store.append(Commit::merge(survival, late, stamp)).unwrap();
    let conflicts = world.analyze(overriding);
    assert_eq!(decisions.overridden(&conflicts.conflicts()[0]), [&record]);
}

#[test]
fn reducing_many_heads_reports_each_loss_where_it_happens() {
    let mut world = World::new();
    let root = world.write(None, "cy", |t| {
        t.set(&ticket("first")).unwrap();
    });
    for number in 0..4 {
        world.write(Some(root), "ann", rank(20 + number));
    }
    let heads = world.store.heads();
    let report = world.analyzer().analyze_heads(&heads).unwrap();
    assert_eq!(report.len(), 3);
    assert!(report.iter().all(|(_, analysis)| analysis.conflicts().len() == 1));
    for (merge, _) in &report {
        world.store.append(merge.clone()).unwrap();
    }
    assert_eq!(world.store.heads(), [report[2].0.id()], "the merges that were looked at are those to append");
}

#[test]
fn merge_bases_are_one_none_or_several() {
    let (mut world, merge) = World::merged(rank(11), rank(12));
    let analysis = world.analyze(merge);
    let stamp = world.stamp("eve");
    let crossed = world.store.append(Commit::merge(analysis.theirs(), analysis.ours(), stamp)).unwrap();
    let apart = world.write(None, "zoe", rank(1));
    let engine = DocumentEngine::new(&world.store);
    assert_eq!(engine.merge_base(&merge, &analysis.ours()).unwrap(), MergeBase::One(analysis.ours()));
    assert_eq!(engine.merge_base(&merge, &apart).unwrap(), MergeBase::None);
    let mut both = vec![analysis.ours(), analysis.theirs()];
    both.sort_unstable();
    assert_eq!(engine.merge_base(&merge, &crossed).unwrap(), MergeBase::Several(both));
    assert!(engine.is_ancestor(&analysis.ours(), &crossed).unwrap());
    assert!(!engine.is_ancestor(&apart, &crossed).unwrap());
}

/// Generates shallow JSON that contains the keywords of the formats.
fn any_json() -> impl Strategy<Value = Json> {
    let word = prop::sample::select(vec![
        "op",
        "attachment",
        "key",
        "path",
        "value",
        "position",
        "before",
        "field",
        "index",
        "element",
        "unwrap",
        "some",
        "type",
        "order",
        "elements",
        "disabled",
        "ticket",
        "raw",
        "t1",
        "labels",
        "notes",
        "votes",
        "END",
        "set_union",
        "document_set",
        "document_update",
        "xarray_insert",
        "any",
        "set<any>",
        "enums",
        "structs",
        "attachments",
    ]);
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        word.clone().prop_map(Json::from),
        any::<String>().prop_map(Json::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map(word.clone(), inner, 0..6).prop_map(|members| members
                .into_iter()
                .map(|(name, json)| (name.to_owned(), json))
                .collect()),
        ]
    })
}

/// Generates an opcode with one part replaced by arbitrary JSON.
fn bent_op() -> impl Strategy<Value = Json> {
    let ops = vec![
        json!({"op": "document_set", "attachment": "ticket", "key": "t1", "value": ticket("x")}),
        json!({"op": "set_union", "attachment": "ticket", "key": "t1", "path": field("labels"), "value": ["a"]}),
        json!({"op": "xarray_insert", "attachment": "ticket", "key": "t1", "path": field("notes"), "position": "p", "before": "END"}),
        json!({"op": "document_update", "attachment": "raw", "key": "r", "path": [{"index": 4}], "value": null}),
    ];
    let part =
        prop::sample::select(vec!["op", "attachment", "key", "path", "value", "position", "before", "more"]);
    (prop::sample::select(ops), part, any_json()).prop_map(|(mut op, part, json)| {
        op[part] = json;
        op
    })
}

proptest! {
    #[test]
    fn no_json_makes_a_reader_panic(json in any_json()) {
        let _ = DocumentSchema::from_json(&json);
        let _ = CommitState::from_json(&schema(), &json);
        let _ = Commit::from_json(&schema(), &json);
        let _ = serde_json::from_value::<MergeResolution>(json);
    }

    #[test]
    fn an_opcode_that_is_accepted_is_written_as_it_means(op in bent_op()) {
        let schema = schema();
        if let Ok(accepted) = DocumentOp::from_json(&schema, &op) {
            let written = accepted.to_json(&schema);
            prop_assert_eq!(DocumentOp::from_json(&schema, &written), Ok(accepted));
            prop_assert_eq!(probity_core::json::canonical(&written), probity_core::json::canonical(&op));
        }
    }
}

fn place_policy(decide: &str) -> MergePolicy {
    serde_json::from_value(json!({"groups": [
        {"attachment": "ticket", "paths": [[{"field": "title"}], [{"field": "rank"}]], "decide": decide},
    ]}))
    .unwrap()
}

fn title(text: &'static str) -> impl Fn(&mut DocumentEditor<'_, '_>) {
    move |t| {
        t.update(&field("title"), &json!(text)).unwrap();
    }
}

#[test]
fn a_group_that_nobody_wrote_is_torn_and_decided_as_a_whole() {
    let (mut world, merge) = World::merged(rank(11), title("theirs"));
    let analysis = world.analyze(merge);
    assert_eq!(analysis.conflicts(), []);
    for (decide, expected) in
        [("ours", ("first", 11)), ("theirs", ("theirs", 10)), ("newest", ("theirs", 10))]
    {
        let policy = place_policy(decide);
        let rulings = world.analyzer().apply_policy(&analysis, &policy).unwrap();
        assert!(rulings.groups[0].torn);
        let groups = rulings.group_decisions(&policy);
        let stamp = world.stamp("dee");
        let outcome = world.analyzer().reconcile_groups(&merge, &[], &groups, stamp).unwrap();
        let document =
            outcome.documents.document_json(&world.schema, &DocumentId::new("ticket", "t1")).unwrap();
        assert_eq!(
            (document["title"].as_str(), document["rank"].as_i64()),
            (Some(expected.0), Some(expected.1))
        );
    }
    let rulings = world.analyzer().apply_policy(&analysis, &place_policy("require_review")).unwrap();
    assert_eq!((rulings.n_open(), rulings.is_refused()), (1, false));
}

#[test]
fn the_conflicts_of_a_group_share_its_side() {
    let both = |number: i64, text: &'static str| {
        move |t: &mut DocumentEditor<'_, '_>| {
            rank(number)(t);
            title(text)(t);
        }
    };
    let (mut world, merge) = World::merged(both(11, "ours"), both(12, "theirs"));
    let analysis = world.analyze(merge);
    let policy = place_policy("ours");
    let rulings = world.analyzer().apply_policy(&analysis, &policy).unwrap();
    assert_eq!(rulings.conflicts.iter().filter(|ruling| ruling.group == Some(0)).count(), 2);
    let (resolutions, groups) = (rulings.resolutions(&analysis), rulings.group_decisions(&policy));
    let stamp = world.stamp("dee");
    let outcome = world.analyzer().reconcile_groups(&merge, &resolutions, &groups, stamp.clone()).unwrap();
    let document = outcome.documents.document_json(&world.schema, &DocumentId::new("ticket", "t1")).unwrap();
    assert_eq!((&document["title"], &document["rank"]), (&json!("ours"), &json!(11)));
    // A part of the group cannot be decided for the other side.
    let other = [MergeResolution::new(&analysis.conflicts()[0], ConflictChoice::Theirs)];
    let refused = world.analyzer().reconcile_groups(&merge, &other, &groups, stamp).unwrap_err();
    assert_eq!(refused.code(), Some(ReconcileCode::OverlappingResolutions));
}

#[test]
fn a_commit_names_its_blobs() {
    let schema = DocumentSchema::parse("attachment file: map<string,optional<blob>>").unwrap();
    let digest = probity_core::Digest::of(b"bytes");
    let mut mutations = MutationBuilder::new(&schema);
    mutations.document("file", "f").set(&json!([["a", {"some": digest}]])).unwrap();
    mutations.document("file", "f").union_in_map(&json!([]), &json!([["b", null]])).unwrap();
    assert!(mutations.document("file", "f").set(&json!([["a", {"some": "abc"}]])).is_err());
    let commit = mutations.commit(None, CommitStamp::new("ann", "", 0).unwrap());
    assert_eq!(commit.blobs().into_iter().collect::<Vec<_>>(), [digest]);
    assert_eq!(Commit::decode(&schema, commit.bytes()), Ok(commit));
}

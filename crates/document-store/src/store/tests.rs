//! The store as its users see it: durable, verified, and the same for every process.

use super::*;
use probity_documents::{
    Commit, CommitReader, CommitSeq, CommitStamp, CommitState, ConflictChoice, DecisionRecord,
    DocumentEngine, DocumentId, MemoryCommits, MergeAnalyzer, MergeResolution, MutationBuilder,
};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use tempfile::TempDir;

fn schema() -> DocumentSchema {
    DocumentSchema::from_json(&json!({
        "structs": {"Ticket": [["title", "string"], ["rank", "int64"]]},
        "attachments": {"ticket": "Ticket", "tags": "set<string>", "feed": "xarray<string>", "file": "blob"},
    }))
    .expect("a schema")
}

fn fresh() -> (TempDir, CommitStore) {
    let directory = tempfile::tempdir().expect("a directory");
    let store = CommitStore::create(&directory.path().join("c.db"), &schema()).expect("creates");
    (directory, store)
}

fn stamp(time: i64) -> CommitStamp {
    CommitStamp::new("ann", "test", time).expect("a time")
}

fn rank(parent: Option<CommitId>, key: &str, rank: i64, time: i64) -> Commit {
    let schema = schema();
    let mut mutations = MutationBuilder::new(&schema);
    let mut document = mutations.document("ticket", key);
    match parent {
        None => document.set(&json!({"title": "t", "rank": rank})),
        Some(_) => document.update(&json!([{"field": "rank"}]), &json!(rank)),
    }
    .expect("fits");
    mutations.commit(parent, stamp(time))
}

fn state_json(store: &CommitStore, id: &CommitId) -> Json {
    let state = store.read(|view| DocumentEngine::new(view).state(id)).expect("reads").expect("has a state");
    state.to_json(store.schema())
}

/// Appends a chain of updates to four documents, long enough for several snapshots.
fn chain(store: &CommitStore, length: i64) -> Vec<CommitId> {
    let mut commits: Vec<Commit> = Vec::new();
    for number in 0..length {
        let parent = commits.last().map(Commit::id);
        let schema = schema();
        let mut mutations = MutationBuilder::new(&schema);
        let key = format!("t{}", number % 4);
        if number < 4 {
            mutations.document("ticket", &key).set(&json!({"title": key, "rank": 0})).expect("fits");
        } else {
            let path = json!([{"field": "rank"}]);
            mutations.document("ticket", &key).update(&path, &json!(number)).expect("fits");
        }
        commits.push(mutations.commit(parent, stamp(number)));
    }
    store.append_all(commits).expect("appends")
}

#[test]
fn what_was_appended_is_there_for_the_next_process() {
    let (directory, store) = fresh();
    let root = store.append(rank(None, "a", 1, 1)).expect("appends");
    let next = store.append(rank(Some(root), "a", 2, 2)).expect("appends");
    assert_eq!(store.append(rank(Some(root), "a", 2, 2)).expect("appends"), next, "twice is once");
    drop(store);
    let store = CommitStore::open(&directory.path().join("c.db")).expect("opens");
    assert_eq!(store.heads().expect("reads"), [next]);
    assert_eq!(state_json(&store, &next), json!({"ticket": {"a": {"title": "t", "rank": 2}}}));
}

#[test]
fn states_are_those_of_a_store_in_memory_wherever_states_are_kept() {
    let (_folder, store) = fresh();
    let ids = chain(&store, 2500);
    let mut memory = MemoryCommits::new();
    for id in &ids {
        memory.append((*store.get(id).expect("reads").expect("is there")).clone()).expect("appends");
    }
    let n_kept: i64 = store
        .read(|view| view.query("SELECT count(*) FROM snapshot", [], |row| row.get(0)))
        .expect("reads")
        .expect("counts")
        .expect("a row");
    assert!(n_kept >= 2, "{n_kept} states are kept");
    for id in ids.iter().step_by(37).chain(ids.last()) {
        let expected = DocumentEngine::new(&memory).state(id).expect("a state");
        let found = store.read(|view| DocumentEngine::new(view).state(id)).expect("reads").expect("a state");
        assert_eq!(found, expected);
        let document = DocumentId::new("ticket", "t3");
        let one = store
            .read(|view| DocumentEngine::new(view).document(id, &document))
            .expect("reads")
            .expect("reads");
        assert_eq!(one.as_ref(), expected.document(&document));
    }
}

#[test]
fn merges_and_masks_read_as_in_memory() {
    let (_folder, store) = fresh();
    let ids = chain(&store, 2200);
    let (base, mut ours, mut theirs) = (ids[300], ids[599], ids[300]);
    for number in 0..300 {
        theirs = store.append(rank(Some(theirs), "t1", number, 10_000 + number)).expect("appends");
    }
    let merge = store.append(Commit::merge(ours, theirs, stamp(20_000))).expect("appends");
    let masked = store.append(Commit::disable(Some(merge), ids[599], stamp(20_001))).expect("appends");
    let shut = store.append(Commit::disable(Some(masked), merge, stamp(20_002))).expect("appends");
    ours = store.append(rank(Some(shut), "t2", -1, 20_003)).expect("appends");
    let mut memory = MemoryCommits::new();
    let n_commits = store.read(|view| view.n_commits()).expect("reads");
    for seq in 0..n_commits {
        let commit = store.read(|view| view.commit(CommitSeq(seq))).expect("reads").expect("is there");
        memory.append((*commit).clone()).expect("appends");
    }
    for id in [base, theirs, merge, masked, shut, ours] {
        let expected = DocumentEngine::new(&memory).state(&id).expect("a state");
        let found = store.read(|view| DocumentEngine::new(view).state(&id)).expect("reads").expect("a state");
        assert_eq!(found, expected);
    }
    let (schema, expected) =
        (schema(), MergeAnalyzer::new(&schema(), &memory).analyze_merge(&merge).expect("analyses"));
    let found = store.read(|view| MergeAnalyzer::new(&schema, view).analyze_merge(&merge)).expect("reads");
    assert_eq!(found.expect("analyses"), expected);
    assert_eq!(store.check().expect("checks").findings, []);
}

#[test]
fn writers_in_threads_lose_nothing_and_refusals_are_their_own() {
    let (_folder, store) = fresh();
    let root = store.append(rank(None, "a", 0, 0)).expect("appends");
    let store = Arc::new(store);
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                let mut head = root;
                for number in 0..20 {
                    head =
                        store.append(rank(Some(head), "a", number, thread * 1000 + number)).expect("appends");
                    let unknown: CommitId = probity_core::Digest::of(&number.to_le_bytes()).into();
                    let refused = store.append(rank(Some(unknown), "a", 1, number)).expect_err("is refused");
                    assert!(
                        matches!(refused, CommitsError::Append(AppendError::Missing { .. })),
                        "{refused}"
                    );
                }
                head
            })
        })
        .collect();
    let mut heads: Vec<CommitId> = threads.into_iter().map(|thread| thread.join().expect("ends")).collect();
    heads.sort_unstable();
    assert_eq!(store.heads().expect("reads"), heads);
    let merges = store.reduce().expect("reduces");
    assert_eq!(merges.len(), 7);
    assert_eq!(store.heads().expect("reads"), merges[6..]);
    assert_eq!(store.reduce().expect("reduces"), []);
}

#[test]
fn what_is_there_is_left_alone() {
    let (_folder, store) = fresh();
    let ids = chain(&store, 1034);
    for id in &ids {
        let again = store.get(id).expect("reads").expect("is there");
        assert_eq!(store.append_all(vec![(*again).clone()]).expect("is there"), [*id]);
    }
    assert_eq!(store.read(|view| view.n_commits()).expect("reads") as usize, ids.len());
}

#[test]
fn what_was_acknowledged_is_in_the_files_of_that_moment() {
    let (directory, store) = fresh();
    let mut head = store.append(rank(None, "a", 0, 0)).expect("appends");
    for number in 1..=72 {
        head = store.append(rank(Some(head), "a", number, number)).expect("appends");
    }
    let elsewhere = directory.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("makes a directory");
    for name in ["c.db", "c.db-wal"] {
        std::fs::copy(directory.path().join(name), elsewhere.join(name)).expect("copies");
    }
    let copy = CommitStore::open(&elsewhere.join("c.db")).expect("opens");
    assert_eq!(copy.heads().expect("reads"), [head]);
    assert_eq!(state_json(&copy, &head), state_json(&store, &head));
    assert_eq!(copy.check().expect("checks").findings, []);
}

#[test]
fn a_damaged_commit_is_named_and_not_used() {
    let (directory, store) = fresh();
    let ids = chain(&store, 20);
    drop(store);
    let path = directory.path().join("c.db");
    let raw = Connection::open(&path).expect("opens");
    raw.execute(
        "UPDATE node SET bytes = CAST(replace(CAST(bytes AS TEXT), 'ann', 'bob') AS BLOB) WHERE seq = 7",
        [],
    )
    .expect("damages");
    drop(raw);
    let store = CommitStore::open(&path).expect("opens");
    let last = ids[19];
    let error =
        store.read(|view| DocumentEngine::new(view).state(&last)).expect("reads").expect_err("is damaged");
    assert!(matches!(&error, HistoryError::Damaged { id, .. } if *id == ids[7]), "{error}");
    let survey = store.check().expect("checks");
    assert!(survey.findings.iter().any(|finding| finding.commit == Some(ids[7])), "{survey:?}");
}

#[test]
fn a_damaged_kept_state_or_index_is_found() {
    let (directory, store) = fresh();
    chain(&store, 2200);
    drop(store);
    let path = directory.path().join("c.db");
    for damage in [
        "UPDATE version SET value = CAST('{\"rank\":9,\"title\":\"t0\"}' AS BLOB) WHERE version = 1",
        "DELETE FROM writer WHERE seq = 5",
        "UPDATE node SET parent = 2 WHERE seq = 4",
        "DELETE FROM head",
    ] {
        let copy = directory.path().join("copy.db");
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(&path, &copy).expect("copies");
        let raw = Connection::open(&copy).expect("opens");
        assert!(raw.execute(damage, []).expect("damages") > 0);
        drop(raw);
        let survey = CommitStore::open(&copy).expect("opens").check().expect("checks");
        assert_ne!(survey.findings, [], "{damage}");
    }
}

#[test]
fn refs_move_only_from_where_they_were_seen() {
    let (_folder, store) = fresh();
    let (a, main) = (store.append(rank(None, "a", 1, 1)).expect("appends"), "main".parse().expect("a name"));
    store.set_ref(&main, None, Some(a)).expect("sets");
    let b = store.append(rank(Some(a), "a", 2, 2)).expect("appends");
    assert!(
        matches!(store.set_ref(&main, None, Some(b)), Err(CommitsError::RefMoved { now: Some(id), .. }) if id == a)
    );
    store.set_ref(&main, Some(a), Some(b)).expect("sets");
    assert_eq!(store.read(|view| view.refs()).expect("reads").expect("reads"), [(main.clone(), b)]);
    store.set_ref(&main, Some(b), None).expect("deletes");
    let nothing: CommitId = probity_core::Digest::of(b"x").into();
    assert!(store.set_ref(&main, None, Some(nothing)).is_err());
}

#[test]
fn a_commit_needs_its_blobs() {
    let (_folder, store) = fresh();
    let schema = schema();
    let digest = probity_core::Digest::of(b"content");
    let mut mutations = MutationBuilder::new(&schema);
    mutations.document("file", "f").set(&json!(digest)).expect("fits");
    let commit = mutations.commit(None, stamp(1));
    let refused = store.append(commit.clone()).expect_err("is refused");
    assert!(matches!(refused, CommitsError::MissingBlob { .. }));
    assert_eq!(store.put_blob(b"content").expect("keeps"), digest);
    store.append(commit).expect("appends");
    let bytes = store.read(|view| view.blob(&digest)).expect("reads").expect("reads");
    assert_eq!(bytes.as_deref(), Some(&b"content"[..]));
}

/// Fills a store with two heads, a merge, a decision, a blob and a ref.
fn full(store: &CommitStore) -> CommitId {
    store.put_blob(b"bytes").expect("keeps");
    let root = store.append(rank(None, "a", 0, 0)).expect("appends");
    let ours = store.append(rank(Some(root), "a", 1, 1)).expect("appends");
    let theirs = store.append(rank(Some(root), "a", 2, 2)).expect("appends");
    let merge = store.append(Commit::merge(ours, theirs, stamp(3))).expect("appends");
    let schema = schema();
    let (survival, record) = store
        .read(|view| {
            let analyzer = MergeAnalyzer::new(&schema, view);
            let analysis = analyzer.analyze_merge(&merge).expect("analyses");
            let chosen = [MergeResolution::new(&analysis.conflicts()[0], ConflictChoice::Ours)];
            let outcome = analyzer.reconcile(&merge, &chosen, stamp(4)).expect("reconciles");
            let record = DecisionRecord::new(&analysis, &chosen, &outcome, "ann", 4, "hers was right");
            (outcome.survival.expect("something was decided"), record)
        })
        .expect("reads");
    let id = survival.id();
    store
        .write(|writing| {
            writing.append(survival)?;
            writing.record(&record)?;
            writing.set_ref(&"main".parse()?, None, Some(id))
        })
        .expect("writes");
    id
}

#[test]
fn a_bundle_carries_everything_and_can_be_repeated() {
    let (_folder, store) = fresh();
    let id = full(&store);
    let mut bundle = Vec::new();
    store.export(&mut bundle).expect("exports");
    let (_elsewhere, other) = fresh();
    let moved = other.import(&mut &bundle[..]).expect("imports");
    assert_eq!((moved.n_commits, moved.n_known, moved.n_blobs, moved.n_decisions), (5, 0, 1, 1));
    assert_eq!(state_json(&other, &id), state_json(&store, &id));
    assert_eq!(other.read(|view| view.decisions()).expect("reads").expect("reads").len(), 1);
    let again = other.import(&mut &bundle[..]).expect("imports");
    assert_eq!((again.n_commits, again.n_known, again.n_decisions), (0, 5, 0));
    let mut second = Vec::new();
    other.export(&mut second).expect("exports");
    assert_eq!(second, bundle);
    // A changed byte makes the line an invalid commit, or one that nothing names.
    let broken = String::from_utf8(bundle).expect("text").replacen("\"timestamp\":1,", "\"timestamp\":9,", 1);
    let (_third, third) = fresh();
    let error = third.import(&mut broken.as_bytes()).expect_err("is refused");
    assert!(matches!(error, CommitsError::Bundle { .. }), "{error}");
}

#[test]
fn two_stores_come_together_and_reduce_to_the_same() {
    let (_a, ours) = fresh();
    let (_b, theirs) = fresh();
    let root = ours.append(rank(None, "a", 0, 0)).expect("appends");
    theirs.append(rank(None, "a", 0, 0)).expect("appends");
    ours.append(rank(Some(root), "a", 1, 1)).expect("appends");
    theirs.append(rank(Some(root), "a", 2, 2)).expect("appends");
    let done = ours.synchronize(&theirs, SyncDirection::Both).expect("synchronises");
    assert_eq!((done.pulled.n_commits, done.pushed.n_commits), (1, 1));
    assert_eq!(ours.heads().expect("reads"), theirs.heads().expect("reads"));
    assert_eq!(ours.reduce().expect("reduces"), theirs.reduce().expect("reduces"));
    let done = ours.synchronize(&theirs, SyncDirection::Both).expect("synchronises");
    assert_eq!((done.pulled.n_commits, done.pushed.n_commits), (0, 0));
}

#[test]
fn a_schema_grows_and_old_documents_get_the_default() {
    let (directory, mut store) = fresh();
    let id = store.append(rank(None, "a", 1, 1)).expect("appends");
    let mut json = schema().to_json();
    json["version"] = json!(2);
    json["structs"]["Ticket"].as_array_mut().expect("fields").push(json!(["note", "string", "none"]));
    let newer = DocumentSchema::from_json(&json).expect("a schema");
    let stale = CommitStore::open(&directory.path().join("c.db")).expect("opens");
    store.evolve(&newer).expect("grows");
    assert_eq!(state_json(&store, &id)["ticket"]["a"]["note"], "none");
    let refused = stale.append(rank(Some(id), "a", 2, 2)).expect_err("is stale");
    assert!(matches!(refused, CommitsError::SchemaMoved { now: 2 }));
    assert!(store.evolve(&schema()).is_err());
}

#[test]
fn a_failed_write_leaves_nothing_behind() {
    let (_folder, store) = fresh();
    let failed: Result<(), CommitsError> = store.write(|writing| {
        writing.append(rank(None, "a", 1, 1))?;
        Err(CommitsError::Unknown)
    });
    assert!(failed.is_err());
    assert_eq!(store.heads().expect("reads"), []);
    let id = store.append(rank(None, "b", 1, 1)).expect("appends");
    assert_eq!(state_json(&store, &id), json!({"ticket": {"b": {"title": "t", "rank": 1}}}));
}

#[test]
fn what_is_no_commit_store_is_said_to_be_none() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("c.db");
    assert!(CommitStore::open(&path).is_err());
    std::fs::write(&path, "not a database, but long enough to look at".repeat(20)).expect("writes");
    assert!(matches!(CommitStore::open(&path), Err(CommitsError::Store(StoreError::Damaged { .. }))));
    let other = directory.path().join("other.db");
    drop(probity_storage::sqlite::SqliteStore::open(&other).expect("opens"));
    assert!(matches!(CommitStore::open(&other), Err(CommitsError::Store(StoreError::Damaged { .. }))));
    let (_folder, store) = fresh();
    assert!(matches!(CommitStore::create(store.path(), &schema()), Err(CommitsError::Exists(_))));
}

#[test]
fn two_who_have_the_store_open_see_each_other() {
    let (directory, one) = fresh();
    let other = CommitStore::open(&directory.path().join("c.db")).expect("opens");
    let n_commits = 2148;
    let (mut last, mut number) = (None, 0);
    while number < n_commits {
        let store = if number / 90 % 2 == 0 { &one } else { &other };
        let mut commits: Vec<Commit> = Vec::new();
        while commits.len() < 90 && number < n_commits {
            let parent = commits.last().map(Commit::id).or(last);
            commits.push(rank(parent, &format!("t{}", number % 7), number, number));
            number += 1;
        }
        let id = *store.append_all(commits).expect("appends").last().expect("some");
        for store in [&one, &other] {
            let prefix = &id.to_string()[..20];
            assert_eq!(store.read(|view| view.with_prefix(prefix)).expect("reads").expect("reads"), [id]);
            assert_eq!(store.heads().expect("reads"), [id]);
        }
        last = Some(id);
    }
    let last = last.expect("something was written");
    let document = DocumentId::new("ticket", "t3");
    let writers = |store: &CommitStore| {
        store.read(|view| view.writers(&document, CommitSeq(0))).expect("reads").expect("reads")
    };
    assert_eq!(writers(&one), writers(&other));
    assert_eq!(i64::try_from(writers(&one).len()), Ok((n_commits + 3) / 7));
    assert_eq!(state_json(&one, &last), state_json(&other, &last));
    let third = CommitStore::open(one.path()).expect("opens");
    assert_eq!(third.heads().expect("reads"), [last]);
    assert_eq!(third.check().expect("checks").findings, []);
}

#[test]
fn a_kept_state_of_many_documents_is_that_of_a_replay() {
    let (_folder, store) = fresh();
    let mut parent = None;
    for time in 0..8 {
        let mut mutations = MutationBuilder::new(store.schema());
        for number in 0..1500 {
            let ticket = json!({"title": "one", "rank": time});
            mutations.document("ticket", &format!("t{number}")).set(&ticket).expect("fits");
        }
        parent = Some(store.append(mutations.commit(parent, stamp(time))).expect("appends"));
    }
    assert_eq!(store.check().expect("checks").findings, []);
    // Documents of a snapshot are decoded in parallel.
    let ids: BTreeSet<DocumentId> =
        (0..1500).map(|number| DocumentId::new("ticket", &format!("t{number}"))).collect();
    let kept = |view: &CommitView<'_>| -> Vec<CommitState> {
        let seqs = (0..view.n_commits()).map(CommitSeq).filter(|seq| view.has_snapshot(*seq).expect("reads"));
        seqs.map(|seq| view.snapshot_of(seq, &ids).expect("reads")).collect()
    };
    let kept = store.read(kept).expect("reads");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].to_json(store.schema()), state_json(&store, &parent.expect("some")));
}

#[test]
fn the_state_of_a_merge_is_kept_with_the_commit_after_it() {
    let (_folder, store) = fresh();
    let root = store.append(rank(None, "t1", 0, 0)).expect("appends");
    let streams = [1, 2].map(|side| {
        let (mut head, mut commits) = (root, Vec::new());
        for number in 0..1030 {
            commits.push(rank(Some(head), "t1", number, side * 10_000 + number));
            head = commits[commits.len() - 1].id();
        }
        store.append_all(commits).expect("appends");
        head
    });
    let merge = store.append(Commit::merge(streams[0], streams[1], stamp(30_000))).expect("merges");
    let next = store.append(rank(Some(merge), "t1", 7, 30_001)).expect("appends");
    let is_kept = |id: &CommitId| {
        let kept = store.read(|view| view.find(id)?.map(|seq| view.has_snapshot(seq)).transpose());
        kept.expect("reads").expect("reads")
    };
    assert_eq!((is_kept(&merge), is_kept(&next)), (Some(false), Some(true)));
    assert_eq!(store.check().expect("checks").findings, []);
    assert_eq!(state_json(&store, &next)["ticket"]["t1"]["rank"], json!(7));
}

#[test]
fn a_view_stays_at_its_instant_while_others_write() {
    let (_folder, store) = fresh();
    let old = *chain(&store, 20).last().expect("some");
    let document = DocumentId::new("ticket", "t1");
    store
        .read(|view| {
            let writers = view.writers(&document, CommitSeq(0)).expect("reads");
            let mut head = old;
            let mut newer = Vec::new();
            for number in 0..1034 {
                newer.push(rank(Some(head), "t1", number, 1000 + number));
                head = newer[newer.len() - 1].id();
            }
            store.append_all(newer).expect("appends");
            assert_eq!(view.heads().expect("reads"), [old]);
            assert_eq!(view.find(&head).expect("reads"), None);
            assert_eq!(view.with_prefix(&head.to_string()[..8]).expect("reads"), []);
            assert_eq!(view.writers(&document, CommitSeq(0)).expect("reads"), writers);
        })
        .expect("reads");
    assert_eq!(store.heads().expect("reads").len(), 1);
    assert_ne!(store.heads().expect("reads"), [old]);
}

#[test]
fn a_store_of_the_first_form_is_brought_up_to_date() {
    let (directory, new) = fresh();
    let ids = chain(&new, 30);
    let path = directory.path().join("old.db");
    let raw = Connection::open(&path).expect("opens");
    raw.execute_batch(schema::COMMIT_STORE_FORMAT.migrations[0]).expect("is made");
    raw.execute("ATTACH ?1 AS new", [new.path().to_str()]).expect("attaches");
    raw.execute_batch(
        "INSERT INTO schema_version SELECT * FROM new.schema_version;
         INSERT INTO document SELECT * FROM new.document;
         INSERT INTO node SELECT seq, id, kind, parent, target, since, since_bytes, kept_bytes, bytes FROM new.node;
         INSERT INTO writer SELECT * FROM new.writer;
         INSERT INTO head SELECT max(seq) FROM node;",
    )
    .expect("is filled");
    raw.pragma_update(None, "user_version", 1).expect("is marked");
    raw.pragma_update(None, "application_id", schema::COMMIT_STORE_FORMAT.application).expect("is marked");
    drop(raw);
    let old = CommitStore::open(&path).expect("opens");
    assert_eq!(old.heads().expect("reads"), ids[29..]);
    assert_eq!(state_json(&old, &ids[29]), state_json(&new, &ids[29]));
    assert_eq!(old.check().expect("checks").findings, []);
    old.append(rank(Some(ids[29]), "t1", 31, 31)).expect("appends");
    assert_eq!(old.check().expect("checks").findings, []);
}

#[test]
fn a_store_with_commits_that_were_not_indexed_yet_is_brought_up_to_date() {
    let (directory, new) = fresh();
    let ids = chain(&new, 30);
    let theirs = new.append(rank(Some(ids[10]), "t2", 7, 40)).expect("appends");
    let merge = new.append(Commit::merge(ids[29], theirs, stamp(41))).expect("appends");
    let path = directory.path().join("old.db");
    let raw = Connection::open(&path).expect("opens");
    raw.execute_batch(&schema::COMMIT_STORE_FORMAT.migrations[..2].concat()).expect("is made");
    raw.execute("ATTACH ?1 AS new", [new.path().to_str()]).expect("attaches");
    raw.execute_batch(
        "INSERT INTO schema_version SELECT * FROM new.schema_version;
         INSERT INTO document SELECT * FROM new.document;
         INSERT INTO node SELECT seq, id, kind, parent, target, since, since_bytes, kept_bytes,
             coalesce((SELECT group_concat(document) FROM new.writer WHERE writer.seq = node.seq), ''), bytes
             FROM new.node;
         UPDATE indexed SET until = 12;
         INSERT INTO node_id SELECT * FROM new.node_id WHERE seq < 12;
         INSERT INTO writer SELECT * FROM new.writer WHERE seq < 12;
         INSERT INTO head VALUES (11);",
    )
    .expect("is filled");
    raw.pragma_update(None, "user_version", 2).expect("is marked");
    raw.pragma_update(None, "application_id", schema::COMMIT_STORE_FORMAT.application).expect("is marked");
    drop(raw);
    let old = CommitStore::open(&path).expect("opens");
    assert_eq!(old.heads().expect("reads"), [merge]);
    assert_eq!(state_json(&old, &merge), state_json(&new, &merge));
    assert_eq!(old.check().expect("checks").findings, []);
}

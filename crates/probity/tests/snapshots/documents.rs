//! Typed documents with their history, and the losses of their merges.

use crate::harness::{Scene, story};
use serde_json::json;

const AREA: &str = "documents";

const SCHEMA: &str = "struct Ticket {\n    title: string\n    rank: int64\n    labels: set<string> = []\n}\n\
                      attachment ticket: Ticket\nattachment file: blob\n";

fn init(scene: &Scene) {
    scene.repo.write("t.schema", SCHEMA);
    scene.ask(&["commits", "init", "--schema", "t.schema"]);
}

fn put(scene: &Scene) {
    scene.ask(&["commits", "put", "ticket/t1", r#"{"title": "one", "rank": 0}"#, "--author", "cy"]);
    scene.ask(&["commits", "ref", "start", "@"]);
}

fn rank(scene: &Scene, author: &str, rank: &str) -> String {
    let answer =
        scene.ask(&["commits", "update", "ticket/t1", "rank", rank, "--on", "start", "--author", author]);
    answer["commit"]["id"].as_str().unwrap_or_else(|| panic!("no commit: {answer:#}")).to_owned()
}

/// Creates a ticket whose rank two writers changed; returns the two commits. Heads are sorted by id, and ids depend on
/// times: the store is created again until the first of the two sorts first.
pub(crate) fn diverged(scene: &Scene) -> (String, String) {
    loop {
        init(scene);
        put(scene);
        let (ours, theirs) = (rank(scene, "ann", "1"), rank(scene, "bo", "2"));
        if ours < theirs {
            return (ours, theirs);
        }
        scene.repo.sh("rm .git/probity/commits.db*");
    }
}

#[test]
fn commits_are_written_and_read() {
    story(AREA, "commits", |scene| {
        scene.repo.write("t.schema", SCHEMA);
        scene.case("log_without_a_store", &["commits", "log"]);
        scene.case("init_missing_schema", &["commits", "init", "--schema", "none.schema"]);
        scene.case_with_input("init_bad_schema", &["commits", "init", "--schema", "-"], "struct {");
        scene.case("init", &["commits", "init", "--schema", "t.schema"]);
        scene.case("init_again", &["commits", "init", "--schema", "t.schema"]);
        scene.case("schema", &["commits", "schema"]);
        scene.case("heads_empty", &["commits", "heads"]);
        scene.case("log_empty", &["commits", "log"]);
        scene.case("show_nothing", &["commits", "show"]);
        scene.case("state_empty", &["commits", "state"]);
        let value = r#"{"title": "one", "rank": 0}"#;
        scene.case("put", &["commits", "put", "ticket/t1", value, "--author", "cy", "-m", "first"]);
        scene.case("put_misfit", &["commits", "put", "ticket/t1", r#"{"title": 1}"#, "--author", "cy"]);
        scene.case("put_no_key", &["commits", "put", "ticket", value, "--author", "cy"]);
        scene.case("put_no_json", &["commits", "put", "ticket/t1", "one", "--author", "cy"]);
        scene.case("update", &["commits", "update", "ticket/t1", "rank", "3", "--author", "ann"]);
        let union =
            ["commits", "update", "ticket/t1", "labels", "[\"new\"]", "--op", "set_union", "--author", "ann"];
        scene.case("update_set", &union);
        scene.case(
            "update_unknown_field",
            &["commits", "update", "ticket/t1", "size", "1", "--author", "ann"],
        );
        scene.case("update_unknown_op", &["commits", "update", "ticket/t1", "rank", "1", "--op", "none"]);
        scene.case("update_nothing", &["commits", "update", "--author", "ann"]);
        scene.case("log", &["commits", "log"]);
        scene.case("log_document", &["commits", "log", "--document", "ticket/t1", "-n", "1"]);
        scene.case("show", &["commits", "show", "@"]);
        scene.case("show_unknown", &["commits", "show", "ffffffff"]);
        scene.case("heads", &["commits", "heads"]);
        scene.case("state", &["commits", "state"]);
        scene.case("state_document", &["commits", "state", "--document", "ticket/t1", "--why"]);
        scene.case("state_unknown_document", &["commits", "state", "--document", "ticket/none"]);
        scene.case("ref_empty", &["commits", "ref"]);
        scene.case("ref_set", &["commits", "ref", "main", "@"]);
        scene.case("ref_list", &["commits", "ref"]);
        scene.case("ref_unknown_commit", &["commits", "ref", "main", "ffffffff"]);
        scene.case("disable", &["commits", "disable", "@", "-m", "wrong", "--author", "ann"]);
        scene.case("enable", &["commits", "enable", "main", "--author", "ann"]);
        scene.case("enable_unknown", &["commits", "enable", "ffffffff", "--author", "ann"]);
        scene.case("disable_unknown", &["commits", "disable", "ffffffff", "--author", "ann"]);
        scene.case("diff", &["commits", "diff", "main", "@"]);
        scene.case("diff_same", &["commits", "diff", "@", "@"]);
        scene.case("diff_unknown", &["commits", "diff", "none", "@"]);
        scene.case("ref_delete", &["commits", "ref", "main", "--delete"]);
        scene.case("ref_delete_unknown", &["commits", "ref", "none", "--delete"]);
        let wider = SCHEMA.replace("= []\n", "= []\n    size: int64 = 0\n");
        scene.repo.write("t2.schema", &format!("version 2\n{wider}"));
        scene.case("schema_set_same_version", &["commits", "schema", "--set", "t.schema"]);
        scene.case("schema_set", &["commits", "schema", "--set", "t2.schema"]);
        let other = SCHEMA.replace("rank: int64", "rank: string");
        scene.repo.write("t3.schema", &format!("version 3\n{other}"));
        scene.case("schema_set_incompatible", &["commits", "schema", "--set", "t3.schema"]);
        scene.case("blob", &["commits", "blob", "t.schema"]);
        scene.case("blob_missing", &["commits", "blob", "none.png"]);
        let unknown = format!("sha256:{}", "0".repeat(64));
        scene.case("blob_unknown", &["commits", "blob", &unknown]);
        scene.case("check", &["commits", "check"]);
    });
}

#[test]
fn commits_travel_between_stores() {
    story(AREA, "travel", |scene| {
        init(scene);
        put(scene);
        scene.ask(&["commits", "init", "other.db", "--schema", "t.schema"]);
        scene.case("sync", &["commits", "sync", "other.db"]);
        scene.case("sync_again", &["commits", "sync", "other.db", "--pull"]);
        scene.case("sync_missing", &["commits", "sync", "none.db"]);
        scene.case("export", &["commits", "export", "all.bundle"]);
        scene.case("export_again", &["commits", "export", "all.bundle"]);
        scene.ask(&["commits", "init", "third.db", "--schema", "t.schema"]);
        scene.case("import", &["commits", "import", "all.bundle", "--store", "third.db"]);
        scene.case("import_again", &["commits", "import", "all.bundle", "--store", "third.db"]);
        scene.case("import_missing", &["commits", "import", "none.bundle"]);
        scene.repo.write("bad.bundle", "nonsense");
        scene.case("import_damaged", &["commits", "import", "bad.bundle"]);
        scene.case("flatten", &["commits", "flatten", "@", "--into", "flat.db", "--author", "ann"]);
        scene.case("flatten_again", &["commits", "flatten", "@", "--into", "flat.db", "--author", "ann"]);
        scene
            .repo
            .write("text.db", "nonsense that is no database at all, and long enough to look like one\n");
        scene.case("no_store", &["commits", "check", "--store", "text.db"]);
    });
}

#[test]
fn a_merge_says_what_it_lost() {
    story(AREA, "merge", |scene| {
        let (ours, theirs) = diverged(scene);
        scene.case("heads", &["commits", "heads"]);
        scene.case(
            "ambiguous_head",
            &["commits", "put", "ticket/t2", r#"{"title": "two", "rank": 0}"#, "--author", "ann"],
        );
        scene.case("analyze_unwritten", &["merge", "analyze", "--ours", &ours, "--theirs", &theirs]);
        scene.case("analyze_heads", &["merge", "analyze", "--heads"]);
        scene.case("commits_dry_run", &["commits", "merge", &ours, &theirs, "--dry-run"]);
        scene.case("commits", &["commits", "merge", &ours, &theirs, "--author", "dee"]);
        scene.case("commits_unknown", &["commits", "merge", &ours, "ffffffff", "--author", "dee"]);
        scene.case("show", &["commits", "show", "@"]);
        scene.case("analyze", &["merge", "analyze", "@"]);
        scene.case("analyze_no_merge", &["merge", "analyze", &ours]);
        scene.case("analyze_nothing", &["merge", "analyze"]);
        scene.case("policy_none", &["merge", "policy"]);
        scene.repo.write("p.json", r#"{"rules": [{"attachment": "ticket", "decide": "require_review"}]}"#);
        scene.case("policy_set", &["merge", "policy", "--set", "p.json"]);
        scene.case("policy", &["merge", "policy"]);
        scene.case_with_input("policy_bad", &["merge", "policy", "--set", "-"], r#"{"rules": 1}"#);
        scene.case("decisions_none", &["merge", "decisions"]);
        scene.case("reconcile_undecided", &["merge", "reconcile", "@", "--author", "dee"]);
        scene.case("reconcile_policy_only", &["merge", "reconcile", "@", "--policy-only", "--author", "dee"]);
        let side = ["merge", "reconcile", "@", "--all", "left", "--why", "x", "--author", "dee"];
        scene.case("reconcile_bad_side", &side);
        let id = scene.ask(&["merge", "analyze", "@"])["conflicts"][0]["id"].clone();
        scene.repo.write("r.json", &json!([{"conflict": id, "choose": "ours"}]).to_string());
        let decide =
            ["merge", "reconcile", "@", "--resolutions", "r.json", "--why", "hers", "--author", "dee"];
        scene.case("reconcile_dry_run", &[&decide[..], &["--dry-run"]].concat());
        scene.case("reconcile", &decide);
        scene.case("decisions", &["merge", "decisions"]);
        scene.case("decisions_unknown", &["merge", "decisions", "ffffffff"]);
    });
}

/// Two branches of one file, and a merge whose resolution took it whole from one of them.
pub(crate) fn lossy_git_merge(scene: &Scene) {
    let program = |first: &str, second: &str| {
        format!(
            "def price(order):\n    total = sum(order)\n    {first}\n    return total\n\n\n\
             def ship(order):\n    parcel = pack(order)\n    {second}\n    return parcel\n"
        )
    };
    let write = |first: &str, second: &str| scene.repo.write("shop.py", &program(first, second));
    write("check(total)", "weigh(parcel)");
    scene.repo.sh("git add shop.py; git commit -qm 'A shop'");
    scene.repo.sh("git checkout -qb rounding");
    write("total = round(total, 2)", "weigh(parcel)");
    scene.repo.sh("git commit -qam 'Round the total'; git checkout -q -");
    write("check(total)", "insure(parcel)");
    scene.repo.sh("git commit -qam 'Insure parcels'");
    scene.repo.sh(
        "git merge -q --no-commit rounding; git checkout -q HEAD -- shop.py; git commit -qm 'Merge rounding'",
    );
}

#[test]
fn a_git_merge_says_whose_edit_it_lost() {
    story(AREA, "git_merge", |scene| {
        lossy_git_merge(scene);
        scene.case("audit", &["merge", "audit", "HEAD"]);
        scene.case("audit_short", &["merge", "audit", "HEAD", "--short"]);
        scene.case("audit_github", &["merge", "audit", "HEAD", "--github", "--short"]);
        scene.case("audit_range", &["merge", "audit", "HEAD~2..HEAD"]);
        scene.case("audit_no_merge", &["merge", "audit", "HEAD~1"]);
        scene.case("audit_unknown", &["merge", "audit", "nowhere"]);
        scene.case("audit_not_merging", &["merge", "audit", "--working"]);
        scene.case("audit_same_trees", &["merge", "audit", "--trees", "HEAD", "HEAD", "HEAD", "HEAD"]);
        let restore = ["merge", "audit", "HEAD", "--restore", "lost", "--why", "dropped by mistake"];
        scene.case("restore_dry_run", &[&restore[..], &["--dry-run"]].concat());
        scene.case("restore_unknown", &["merge", "audit", "HEAD", "--restore", "ffff"]);
        scene.case("restore_range", &["merge", "audit", "HEAD~2..HEAD", "--restore", "lost"]);
        scene.case("audit_markdown", &["merge", "audit", "HEAD", "--markdown"]);
        scene.case("audit_sarif", &["merge", "audit", "HEAD", "--short", "--sarif", "merges.sarif"]);
        scene.case("before_commit_none", &["merge", "audit", "--before-commit"]);
        scene.case("accept_without_reason", &["merge", "audit", "HEAD", "--accept", "all"]);
        scene.case("git_decisions_none", &["merge", "decisions", "--git"]);
        scene.case("accept", &["merge", "audit", "HEAD", "--accept", "all", "--why", "withdrawn"]);
        scene.case("audit_accepted", &["merge", "audit", "HEAD"]);
        scene.case("repeat_nothing", &["merge", "audit", "HEAD", "--repeat", "--why", "again"]);
        scene.case("git_decisions", &["merge", "decisions", "--git"]);
        scene.case("hook_install", &["merge", "hook", "--install"]);
        scene.case("hook_remove", &["merge", "hook", "--remove"]);
        scene.case("hook_remove_none", &["merge", "hook", "--remove"]);
    });
}

#[test]
fn heads_are_reduced() {
    story(AREA, "reduce", |scene| {
        diverged(scene);
        scene.case("dry_run", &["commits", "reduce", "--dry-run"]);
        scene.case("two", &["commits", "reduce"]);
        scene.case("one", &["commits", "reduce"]);
        scene.case(
            "reconcile_all",
            &["merge", "reconcile", "@", "--all", "ours", "--why", "first", "--author", "dee"],
        );
    });
}

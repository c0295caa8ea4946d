//! `probity analyze` and `probity runs` as a user runs them.

use crate::repo::Repo;
use serde_json::{Value, json};
use std::process::Command;

fn branches(name: &str, n: usize) -> String {
    let arms: Vec<String> = (0..n).map(|i| format!("    if x == {i}:\n        return {i}\n")).collect();
    format!("def {name}(x):\n{}    return -1\n", arms.concat())
}

fn text(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[test]
fn a_tree_is_analyzed_and_its_run_is_stored() {
    let repo = Repo::new();
    repo.write("src/c.py", &branches("many", 20));
    repo.write("src/d.swift", "print(1)\n");
    let answer = repo.ask(&["analyze"]);
    assert_eq!(answer.exit_code, Some(0), "{answer:#?}");
    assert_eq!(answer.json["files"]["analyzed"], 3);
    assert_eq!(answer.json["files"]["not_analyzed"], json!({ "unknown_language": 1 }));
    assert_eq!(answer.json["findings_by_family"]["complexity"], 1);
    assert!(answer.json["health"]["score"].as_u64().expect("a number") < 100);
    assert_eq!((&answer.json["known"], &answer.json["parsed"]), (&json!(false), &json!(3)));
    let again = repo.ask(&["analyze"]);
    assert_eq!((&again.json["known"], &again.json["parsed"]), (&json!(true), &json!(0)));
    for field in ["run_id", "report_digest", "health", "findings", "files"] {
        assert_eq!(again.json[field], answer.json[field], "{field}");
    }
    let shown = repo.ask(&["runs", "show", text(&answer.json["run_id"])]);
    assert_eq!(shown.json["report_digest"], answer.json["report_digest"]);
}

#[test]
fn two_clones_of_one_repository_give_the_same_report() {
    let repo = Repo::new();
    let first = repo.ask(&["analyze", "--threads", "1"]);
    repo.sh("git clone -q . ../deep-clone");
    let clone = repo.outside().join("deep-clone");
    let output = Command::new(env!("CARGO_BIN_EXE_probity"))
        .current_dir(&clone)
        .args(["analyze", "--json", "--cold", "--threads", "3"])
        .output()
        .expect("probity starts");
    let second: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(second["run_digest"], first.json["run_digest"]);
    assert_eq!(second["report_digest"], first.json["report_digest"]);
}

#[test]
fn a_change_is_compared_with_a_revision_and_with_a_stored_run() {
    let repo = Repo::new();
    let before = repo.ask(&["analyze"]);
    repo.write("src/a.py", &branches("many", 40));
    let answer = repo.ask(&["analyze", "--changed", "HEAD"]);
    let changed = &answer.json["changed"];
    assert_eq!(changed["verdict"], "regressed", "{answer:#?}");
    assert_eq!(changed["changed_files"], json!(["src/a.py"]));
    assert_eq!(changed["before"]["run_digest"], before.json["run_digest"]);
    assert!(changed["health_delta"].as_i64().expect("a number") < 0);
    assert_eq!(changed["regression_findings"][0]["caused_in"], json!(["src/a.py"]));
    let compared = repo.ask(&["runs", "compare", text(&before.json["run_id"])]);
    assert_eq!(compared.json["regressions"], changed["regressions"]);
    assert_eq!(repo.ask(&["runs", "list"]).json["runs"][0]["run_digest"], answer.json["run_digest"]);
    assert_eq!(repo.ask(&["runs", "gc", "--keep", "1"]).json["removed"], json!([before.json["run_id"]]));
    let gone = repo.ask(&["runs", "show", text(&before.json["run_id"])]);
    assert_eq!(gone.exit_code, Some(2));
    assert!(text(&gone.json["next_step"]).contains("probity runs list"));
}

#[test]
fn a_worsened_symbol_below_every_threshold_is_named() {
    let repo = Repo::new();
    repo.write("src/a.py", &branches("some", 3));
    let before = repo.ask(&["analyze"]);
    repo.write("src/a.py", &branches("some", 5));
    repo.ask(&["analyze"]);
    let compared = repo.ask(&["runs", "compare", text(&before.json["run_id"]), "last"]);
    let worse = compared.json["worsened_symbols"].as_array().expect("a list");
    assert!(
        worse.iter().any(|symbol| symbol["symbol"] == "some"
            && symbol["metric"] == "cyclomatic"
            && (symbol["before"] == 4 && symbol["after"] == 6)),
        "{worse:#?}"
    );
}

#[test]
fn the_baseline_lets_known_findings_pass_and_stops_new_ones() {
    let repo = Repo::new();
    repo.write("probity.toml", "[analysis.gates]\nnew_findings = 0\n");
    repo.write("src/c.py", &branches("many", 30));
    let bare = repo.ask(&["analyze", "--check"]);
    assert_eq!((bare.exit_code, &bare.json["gates"]["would_fail"]), (Some(1), &json!(true)), "{bare:#?}");
    assert_eq!(repo.ask(&["analyze"]).exit_code, Some(0));
    let captured = repo.ask(&["analyze", "baseline", "capture", "--why", "we start here", "--by", "ann"]);
    assert_eq!(captured.json["history"][0]["why"], "we start here");
    assert_eq!(captured.json["history"][0]["by"], "ann");
    assert_eq!(repo.ask(&["analyze", "--check"]).exit_code, Some(0));
    // The known finding became worse, so it is new.
    repo.write("src/c.py", &branches("many", 60));
    let worse = repo.ask(&["analyze", "--check"]);
    assert_eq!(worse.json["gates"]["reasons"][0]["gate"], "new_findings", "{worse:#?}");
    assert_eq!(worse.exit_code, Some(1));
}

#[test]
fn a_baseline_that_was_edited_by_hand_is_not_trusted() {
    let repo = Repo::new();
    repo.write("probity.toml", "[analysis.gates]\nnew_findings = 0\n");
    repo.write("src/c.py", &branches("many", 30));
    repo.ask(&["analyze", "baseline", "capture", "--why", "start"]);
    repo.sh("sed -i 's/\"count\": 1/\"count\": 9/' probity.baseline.json");
    let answer = repo.ask(&["analyze", "--check"]);
    assert_eq!(answer.exit_code, Some(1));
    assert_eq!(answer.json["baseline"]["status"], "untrusted");
}

#[test]
fn every_gate_says_why_it_fails() {
    let repo = Repo::new();
    repo.write(
        "probity.toml",
        "[analysis.gates]\nhealth = 100\ncyclomatic = 10\ncycles = 0\ndead_code = 0\nuntested_hotspots = 0\n",
    );
    repo.write("src/x.py", "import y\n\n\ndef _unused():\n    return 1\n");
    repo.write("src/y.py", &format!("import x\n\n\n{}", branches("many", 20)));
    let answer = repo.ask(&["analyze", "--check"]);
    let reasons = answer.json["gates"]["reasons"].as_array().expect("reasons");
    let gates: Vec<&str> = reasons.iter().map(|reason| text(&reason["gate"])).collect();
    assert_eq!(gates, ["health", "cyclomatic", "cycles", "dead_code", "untested_hotspots"], "{answer:#?}");
}

#[test]
fn a_misspelt_gate_is_refused_with_a_suggestion() {
    let repo = Repo::new();
    repo.write("probity.toml", "[analysis.gates]\nhealht = 60\n");
    let answer = repo.ask(&["analyze"]);
    answer.refused_with("CONFIG.INVALID");
    assert!(answer.words.contains("did you mean `health`?"), "{}", answer.words);
}

#[test]
fn the_blast_radius_names_dependents_and_symbols() {
    let repo = Repo::new();
    repo.write("pkg/__init__.py", "");
    repo.write("pkg/base.py", "def help():\n    return 1\n");
    repo.write("pkg/mid.py", "from pkg.base import help\n\n\ndef use():\n    return help()\n");
    repo.write("pkg/top.py", "from pkg.mid import use\n\n\ndef main():\n    return use()\n");
    let answer = repo.ask(&["analyze", "blast", "pkg/base.py"]);
    assert_eq!(answer.json["direct_dependents"], json!(["pkg/mid.py"]), "{answer:#?}");
    assert_eq!(answer.json["transitive_dependents"], json!(["pkg/mid.py", "pkg/top.py"]));
    assert_eq!(answer.json["symbols"]["pkg/base.py"]["help"], json!(["pkg/mid.py"]));
    assert_eq!(answer.json["unknown"], json!([]));
    let partly_unknown = repo.ask(&["analyze", "blast", "pkg/base.py", "nowhere.py"]);
    partly_unknown.refused_with("ANALYSIS.PATH_UNKNOWN");
}

#[test]
fn reports_are_written_and_those_of_others_join() {
    let repo = Repo::new();
    repo.write("src/c.py", &branches("many", 20));
    repo.write("lcov.info", "SF:src/c.py\nDA:1,1\nDA:2,0\nDA:3,0\nend_of_record\n");
    let plain = repo.ask(&["analyze"]);
    let answer = repo.ask(&[
        "analyze",
        "--coverage",
        "lcov.info",
        "--html",
        "r.html",
        "--sarif",
        "r.sarif",
        "--markdown",
        "r.md",
    ]);
    assert_eq!(answer.exit_code, Some(0), "{answer:#?}");
    assert_eq!(answer.json["written"], json!(["r.html", "r.sarif", "r.md"]));
    assert_eq!(answer.json["joined"][0]["format"], "lcov");
    assert_ne!(answer.json["run_digest"], plain.json["run_digest"]);
    let sarif = std::fs::read(repo.path().join("r.sarif")).expect("was written");
    let sarif: Value = serde_json::from_slice(&sarif).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let back = repo.ask(&["analyze", "--sarif-in", "r.sarif"]);
    assert!(back.json["findings_by_family"]["external"].as_u64().expect("a number") > 0, "{back:#?}");
    assert_eq!(repo.ask(&["analyze", "--sarif-in", "lcov.info"]).exit_code, Some(2));
}

#[test]
fn after_an_edit_one_file_is_read_and_a_damaged_cache_changes_nothing() {
    let repo = Repo::new();
    for name in ["c", "d", "e"] {
        repo.write(&format!("src/{name}.py"), &branches(name, 12));
    }
    repo.ask(&["analyze"]);
    repo.write("src/d.py", &branches("d", 14));
    let edited = repo.ask(&["analyze"]);
    assert_eq!(edited.json["parsed"], 1);
    let facts = repo.path().join(".git/probity/cache/facts");
    let mut bytes = std::fs::read(&facts).expect("facts are kept");
    let whole = bytes.clone();
    for byte in bytes.iter_mut().skip(40).step_by(97) {
        *byte ^= 0x55;
    }
    for (damaged, is_read_again) in [(bytes, true), (whole[..whole.len() / 2].to_vec(), true), (whole, false)]
    {
        std::fs::write(&facts, damaged).expect("writes");
        repo.sh("rm -rf .git/probity/runs");
        let again = repo.ask(&["analyze"]);
        assert_eq!(again.json["report_digest"], edited.json["report_digest"]);
        assert_eq!(again.json["parsed"].as_u64() > Some(0), is_read_again);
    }
    let cold = repo.ask(&["analyze", "--cold"]);
    assert_eq!(cold.json["report_digest"], edited.json["report_digest"]);
}

#[test]
fn whatever_lies_in_a_tree_is_read_or_named() {
    let repo = Repo::new();
    let deep = format!("x = {}1{}\n", "(\n".repeat(100_000), ")\n".repeat(100_000));
    repo.write("deep.py", &deep);
    repo.write("long.js", &"(".repeat(100_000));
    repo.write("half.rs", "fn main() { let x = [1, 2, \"abc");
    let write = |name: &str, bytes: &[u8]| std::fs::write(repo.path().join(name), bytes).expect("writes");
    write("nul.py", &[0; 5_000]);
    write("mixed.py", b"s = '\xe9'\nt = '\xe6\x97\xa5'\n");
    std::fs::File::create(repo.path().join("huge.java"))
        .and_then(|file| file.set_len(100 << 20))
        .expect("a file of a hundred megabytes");
    let answer = repo.ask(&["analyze"]);
    assert_eq!(answer.exit_code, Some(0), "{answer:#?}");
    let noted = answer.json["files"]["noted"].as_array().expect("a list");
    let note = |name: &str| noted.iter().find(|file| file["path"] == name).map(|file| &file["notes"]);
    assert_eq!(note("nul.py"), Some(&json!(["binary"])));
    assert_eq!(note("huge.java"), Some(&json!(["too_large"])));
    assert_eq!(note("mixed.py"), Some(&json!(["not_utf8"])));
    assert_eq!(note("half.rs"), Some(&json!(["syntax_errors"])));
    assert_eq!(note("long.js"), Some(&json!(["generated"])));
    assert_eq!(note("deep.py"), None, "it is deep, and it is Python");
}

#[test]
fn a_tree_without_code_has_no_health_and_is_still_judged() {
    let repo = Repo::new();
    repo.sh(
        "git rm -q -r src docs .gitignore && echo hello > notes.txt && git add -A && git commit -q -m notes",
    );
    let answer = repo.ask(&["analyze"]);
    crate::schemas::check(&answer.json);
    assert_eq!(
        answer.json["health"],
        json!({ "score": null, "score_milli": null, "grade": null, "dimensions": {} }),
        "{answer:#?}"
    );
    let output = repo.probity(&["analyze", "--html", "../r.html"]).output().expect("starts");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.starts_with("nothing to analyze: no file in a known language"), "{shown}");
    assert!(!shown.contains("100"), "{shown}");
    for ask in [&["runs", "list"][..], &["runs", "show"], &["contract", "budget"], &["contract", "verify"]] {
        let answer = repo.ask(ask);
        assert_eq!(answer.exit_code, Some(0), "{ask:?}: {:#}", answer.json);
        crate::schemas::check(&answer.json);
    }
    // The first code of a project costs no health: there was none to lose.
    repo.write("a.py", &branches("many", 40));
    let first = repo.ask(&["contract", "verify", "--strictness", "strict", "--severity-floor", "critical"]);
    crate::schemas::check(&first.json);
    assert_eq!(first.json["structural_delta"]["health_delta"], Value::Null, "{:#}", first.json);
    assert!(!first.json["blocking_violations"].to_string().contains("health"), "{:#}", first.json);
}

#[test]
fn a_report_names_the_project_and_the_commit_and_leads_with_hard_functions_outside_tests() {
    let repo = Repo::new();
    repo.write("src/hard.py", &branches("hard", 20));
    repo.write("tests/test_hard.py", &branches("test_everything", 40));
    repo.write("src/plain.js", "describe('a', () => {\n  it('b', () => {\n    c();\n  });\n});\n");
    repo.sh("git add -A && git commit -q -m code");
    repo.sh("git rev-parse HEAD > ../head");
    let head = std::fs::read_to_string(repo.outside().join("head")).expect("was written")[..12].to_owned();
    let name = repo.path().file_name().expect("a name").to_string_lossy().into_owned();
    let report = || {
        repo.ask(&["analyze", "--html", "../r.html", "--markdown", "../r.md"]);
        ["r.html", "r.md"]
            .map(|file| std::fs::read_to_string(repo.outside().join(file)).expect("was written"))
    };
    let answer = repo.ask(&["analyze"]);
    assert_eq!(answer.json["hot_spots"][0]["path"], "src/hard.py", "{answer:#?}");
    let [page, summary] = report();
    assert!(page.contains(&format!("<h1>{name}</h1>")), "{name}");
    assert!(page.contains(&format!("Commit {head} ·")), "{head}");
    let spots = page.split("id=\"hot-spots\"").nth(1).expect("the section");
    let place = |symbol: &str| spots.find(&format!("<code>{symbol}</code>")).expect("is listed");
    let tests = spots.find("In test code").expect("tests are apart");
    assert!(place("hard") < tests && tests < place("test_everything"), "{spots}");
    assert!(!spots.split("</section>").next().expect("a section").contains("anonymous"), "{spots}");
    assert!(summary.contains(&format!("Commit {head}")), "{summary}");
    assert!(!summary.contains("test_everything |"), "{summary}");
    repo.sh("echo >> src/hard.py");
    assert!(report()[0].contains(&format!("Commit {head}, with uncommitted changes ·")));
}

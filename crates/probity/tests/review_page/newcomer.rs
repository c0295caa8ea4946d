//! What somebody who has never seen the page does with it: who is where they should not be, undo it, accept what another
//! agent needs, decide a lost edit, and ask why a line is there. The command line agrees afterwards.

use crate::browser::{Browser, obstacle};
use crate::in_a_browser::{assert_policy_held, open_board};
use crate::repo::Repo;
use serde_json::json;

/// Three agents: one outside its scope, one that needs its test too, one on a base that moved on; and a merge that lost
/// an edit.
struct SharedClone {
    repo: Repo,
    /// The run that is outside, with its changes in the tree.
    trespass: String,
    /// The run that needs a wider scope.
    narrow: String,
    merge: String,
}

impl SharedClone {
    fn new() -> Self {
        let repo = Repo::new();
        repo.write("src/c.py", "def fetch(get, key):\n    return get(key)\n");
        repo.write("lib/m.py", "OLD = 1\n");
        repo.sh("git add . && git commit -q -m 'more code' && git checkout -q -b store");
        repo.write("src/c.py", "def fetch(get, key, limit=3):\n    return get(key, limit)\n");
        repo.sh("git commit -q -a -m 'Retry three times' --author 'codex/store <c@example.org>' && git checkout -q main");
        repo.write("docs/d.md", "# D\nkept for ten years\n");
        repo.sh("git commit -q -a -m 'our edit' && git merge -q -s ours store -m 'Merge branch store'");
        let head = repo.ask(&["status"]).json["head"].as_str().expect("a commit").to_owned();
        repo.ask(&["start", "--agent", "codex/billing", "--intent", "Round totals", "src/b.py"]);
        repo.write("src/b.py", "print('round up')\n");
        repo.sh("git commit -q -m 'Round up' src/b.py");
        let run = |options: &[&str], script| {
            let outcome = repo.run_with(options, script);
            outcome.json["run_id"].as_str().expect("a run").to_owned()
        };
        let narrow = run(
            &["--scope", "lib/**", "--agent", "gemini/tests", "--enforce", "auto"],
            "echo 'NEW = 1' > lib/n.py; mkdir tests; echo 'assert True' > tests/test_n.py",
        );
        let trespass = run(
            &["--scope", "src/a.py", "--agent", "claude/auth"],
            "echo x >> src/a.py; echo debug >> docs/d.md",
        );
        Self { repo, trespass, narrow, merge: head }
    }
}

/// The text of the card that names somebody.
fn card_of(browser: &Browser, who: &str) -> String {
    let script = format!(
        "const card = [...document.querySelectorAll('.need')].find((card) => card.textContent.includes({})); return card ? card.textContent : ''",
        json!(who)
    );
    browser.run(&script).as_str().unwrap_or_default().to_owned()
}

/// Follows the first link of the card that names somebody.
#[track_caller]
fn open_card(browser: &Browser, who: &str) {
    probity_testkit::wait_until(who, || !card_of(browser, who).is_empty());
    let script = format!(
        "[...document.querySelectorAll('.need')].find((card) => card.textContent.includes({})).querySelector('a').click()",
        json!(who)
    );
    browser.run(&script);
}

#[test]
fn a_newcomer_finds_undoes_accepts_decides_and_asks_why() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let SharedClone { repo, trespass, narrow, merge } = SharedClone::new();
    let (server, browser) = open_board(&repo);
    let board = server.address("/board");

    // Which agent touched what it should not?
    browser.wait_for(".need.out");
    let card = card_of(&browser, "claude/auth");
    assert!(card.contains("was to change only src/a.py, and also changed docs/d.md"), "{card}");
    assert!(card.contains("it is in the tree"), "{card}");
    assert!(card_of(&browser, "codex/billing").contains("src/b.py"), "the base moved on");
    assert!(browser.text("#dirty").contains("claude/auth"), "{}", browser.text("#dirty"));
    browser.screenshot("newcomer-light.png");

    // Undo it.
    open_card(&browser, "claude/auth");
    browser.wait_for("#decide [data-key=R]");
    browser.press("R");
    browser.wait_for("#act[open] #preview");
    assert!(browser.text("#act").contains("docs/d.md"), "{}", browser.text("#act"));
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
    let restored = std::fs::read_to_string(repo.path().join("docs/d.md")).expect("is there");
    assert_eq!(restored, "# D\nkept for ten years\n");
    browser.go(&board);
    browser.wait_for("#board");
    assert_eq!(card_of(&browser, "claude/auth"), "", "nothing of it waits any more");

    // Accept what another agent needs.
    let card = card_of(&browser, "gemini/tests");
    assert!(card.contains("was to change only lib/**, and also changed tests/test_n.py"), "{card}");
    open_card(&browser, "gemini/tests");
    browser.wait_for("#decide [data-key=E]");
    browser.press("E");
    browser.wait_for("#act[open] textarea[name=add]");
    assert_eq!(browser.run("return document.querySelector('#act textarea').value"), "tests/test_n.py");
    browser.run("document.querySelector('#act input[name=why]').value = 'its test belongs to it'");
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
    assert!(browser.text("#decided").contains("the run passes with it"), "{}", browser.text("#decided"));
    assert!(repo.path().join("tests/test_n.py").exists(), "the tree has it");

    // Decide the edit that a merge lost.
    browser.go(&board);
    open_card(&browser, "Merge branch store");
    browser.wait_for(".quad");
    browser.press("3");
    browser.wait_for("#act[open] input[name=why]");
    browser.run("document.querySelector('#act input[name=why]').value = 'the limit was agreed on'");
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
    assert!(browser.text("#decided").contains("git merge probity/survive-"), "{}", browser.text("#decided"));
    browser.go(&board);
    // The list of merges is read again beside the page.
    browser.wait_until("return !document.querySelector('.need.lost')");

    // Why is a line there? The path is enough.
    browser.run(
        "const find = document.querySelector('#q'); find.value = 'tests/test_n.py'; find.form.requestSubmit()",
    );
    browser.wait_for("#why");
    let why = browser.text("#why");
    assert!(why.contains("gemini/tests") && why.contains("let in by tests/test_n.py"), "{why}");
    assert!(why.contains("amended by Ines Marten") && why.contains("its test belongs to it"), "{why}");
    assert!(why.contains("it passed"), "the judgment is that after the amendment: {why}");

    // The command line says the same.
    let show = |change: &str| repo.ask(&["review", "show", change]).json;
    assert_eq!((&show(&trespass)["state"], &show(&narrow)["state"]), (&json!("undone"), &json!("landed")));
    assert_eq!(show(&narrow)["amendments"][0]["by"], "Ines Marten");
    let bundle = show(&narrow)["bundle"].as_str().expect("the judgment after the amendment").to_owned();
    for (bundle, outcome, codes) in
        [(&bundle, "PASS", json!([])), (&trespass, "FAIL", json!(["RECON.UNTRACKED_DELTA"]))]
    {
        let verified = repo.ask(&["evidence", "verify", bundle]).json;
        assert_eq!((&verified["outcome"], &verified["codes"]), (&json!(outcome), &codes), "{verified:#}");
    }
    let export = repo.outside().join("review.html").display().to_string();
    repo.ask(&["review", "export", &narrow, "-o", &export]);
    let verified = repo.ask(&["review", "verify", &export]).json;
    assert_eq!((&verified["outcome"], &verified["codes"]), (&json!("PASS"), &json!([])), "{verified:#}");
    browser.go(&format!("file://{export}"));
    assert!(browser.text("main").contains("amended by Ines Marten"), "{}", browser.text("main"));
    assert_eq!(browser.run("return document.querySelectorAll('a[href^=\"/\"]').length"), json!(0));
    assert_eq!(repo.ask(&["evidence", "chain"]).json["codes"], json!([]));
    let audit = repo.ask(&["merge", "audit", &merge]).json;
    assert_eq!(audit["findings"][0]["decision"]["by"], "Ines Marten", "{audit:#}");
    assert_eq!(repo.ask(&["log", "show"]).json["entries"]["decisions"], 2, "the third is of the merge");
    assert_policy_held(&server, &browser);
}

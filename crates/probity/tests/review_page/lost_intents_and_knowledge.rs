//! What merges lost, the ledger and the health of the code, in a browser.

use crate::browser::{Browser, obstacle};
use crate::in_a_browser::{assert_policy_held, look_around, open_board};
use crate::repo::Repo;
use serde_json::json;
use std::io::Write as _;
use std::process::Stdio;

/// A name of a file and an author that would be markup if anybody took it for markup.
const HOSTILE: &str = "<img src=x onerror=document.title='owned'>\u{202e}";

/// A merge that dropped two edits of the other side; returns its commit.
fn lossy_merge(repo: &Repo) -> String {
    repo.write("src/<b>c.py", "def c():\n    return 1\n\n\ndef d():\n    return 2\n");
    repo.sh("git add . && git commit -q -m 'more code' && git checkout -q -b theirs");
    repo.write("src/a.py", "print('a')\nprint('kept by them <script>document.title=1</script>')\n");
    repo.write("src/<b>c.py", "def c():\n    return 1\n\n\ndef d():\n    return 2222\n");
    // Git takes angle brackets out of names; everything else stays.
    let author = "onload=x & \u{202e}mallory <x@example.org>";
    repo.sh(&format!(
        "git commit -q -a -m 'their <script>document.title=1</script>' --author '{author}' && git checkout -q main"
    ));
    repo.write("src/b.py", "print('b')\nprint('ours')\n");
    repo.sh("git commit -q -a -m 'our edit' && git merge -q -s ours theirs -m 'Merge <i>theirs</i>'");
    let head = std::process::Command::new("git")
        .args(["-C", &repo.path().display().to_string(), "rev-parse", "HEAD"])
        .output()
        .expect("git starts");
    String::from_utf8(head.stdout).expect("an id").trim().to_owned()
}

fn assert_nothing_ran(browser: &Browser, place: &str) {
    let strange = "return document.querySelectorAll('img, iframe, object, main i:not(.path i):not(.live i), main b > b, script:not([src^=\"/s/\"]), [onclick], [onload], [onerror]').length";
    assert_eq!(browser.run(strange), json!(0), "{place}");
    let title = browser.run("return document.title");
    assert!(title != json!("owned") && title != json!("1"), "{place}: {title}");
}

/// Gives the reason in the open preview and sends it.
fn give_reason(browser: &Browser, why: &str) {
    browser.wait_for("#act[open] input[name=why]");
    browser.run(&format!("document.querySelector('#act input[name=why]').value = {}", json!(why)));
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
}

#[test]
fn a_lost_edit_is_restored_and_another_accepted_with_the_keyboard() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let merge = lossy_merge(&repo);
    let (server, browser) = open_board(&repo);
    browser.go(&server.address("/merge"));
    assert!(browser.text("main").contains("Merge <i>theirs</i>"), "{}", browser.text("main"));
    assert_nothing_ran(&browser, "/merge");
    look_around(&browser, &server.address("/merge"), "merges");
    let address = server.address(&format!("/merge/{merge}"));
    look_around(&browser, &address, "merge");
    assert_nothing_ran(&browser, "/merge/ID");
    assert!(browser.text("#merge").contains("2 places, 2 open"), "{}", browser.text("#merge"));
    assert!(browser.has(".pane.theirs mark"), "what differs is marked");
    let first = browser.text("#place-h");
    browser.press("3");
    browser.wait_for("#act[open] #preview");
    let preview = browser.text("#act");
    assert!(preview.contains(&format!("probity merge audit {merge} --restore")), "{preview}");
    assert!(preview.contains("every existing reference stay as they are"), "{preview}");
    browser.screenshot("merge-preview-light.png");
    give_reason(&browser, "dropped by mistake");
    assert!(browser.text("#decided").contains("probity/survive-"), "{}", browser.text("#decided"));
    browser.go(&address);
    browser.press("]");
    let other = format!("return document.querySelector('#place-h').textContent !== {}", json!(first));
    browser.wait_until(&other);
    browser.press("4");
    give_reason(&browser, "the feature was withdrawn");
    let decided = repo.ask(&["merge", "decisions", "--git"]).json["decisions"].clone();
    let chosen: Vec<&str> =
        decided.as_array().expect("a list").iter().filter_map(|one| one["chosen"].as_str()).collect();
    assert_eq!(chosen, ["theirs", "merged"], "{decided:#}");
    assert_eq!(decided[1]["by"], "Ines Marten");
    repo.sh("git branch --list 'probity/survive-*' | grep -q survive");
    assert_policy_held(&server, &browser);
}

#[test]
fn a_decision_about_a_place_that_somebody_decided_is_too_late() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let merge = lossy_merge(&repo);
    let (server, browser) = open_board(&repo);
    browser.go(&server.address(&format!("/merge/{merge}")));
    browser.press("4");
    browser.wait_for("#act[open] input[name=why]");
    repo.ask(&["merge", "audit", &merge, "--accept", "all", "--why", "first"]);
    let open = repo.ask(&["merge", "audit", &merge]).json["findings"].clone();
    for finding in open.as_array().expect("a list") {
        repo.ask(&["merge", "audit", &merge, "--accept", finding["id"].as_str().unwrap(), "--why", "first"]);
    }
    browser.run("document.querySelector('#act input[name=why]').value = 'second'");
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#refusal");
    assert!(browser.text("#refusal").contains("DECISION.TOO_LATE"), "{}", browser.text("#refusal"));
}

#[test]
fn a_conflict_of_documents_is_decided() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    repo.write(
        "t.schema",
        "struct Ticket {\n    title: string\n    rank: int64\n}\nattachment ticket: Ticket\n",
    );
    repo.ask(&["commits", "init", "--schema", "t.schema"]);
    repo.ask(&["commits", "put", "ticket/t1", r#"{"title": "one", "rank": 0}"#, "--author", "cy"]);
    repo.ask(&["commits", "ref", "start", "@"]);
    let title = |text: &str, author: &str| {
        let value = json!(text).to_string();
        let answer = repo.ask(&[
            "commits",
            "update",
            "ticket/t1",
            "title",
            &value,
            "--on",
            "start",
            "--author",
            author,
        ]);
        answer.json["commit"]["id"].as_str().expect("an id").to_owned()
    };
    let (ours, theirs) = (title("<script>document.title='owned'</script>", HOSTILE), title("two", "bo"));
    let merged = repo.ask(&["commits", "merge", &ours, &theirs, "--author", "dee"]);
    let merge = merged.json["merge"].as_str().expect("an id").to_owned();
    let (server, browser) = open_board(&repo);
    browser.go(&server.address("/merge"));
    assert!(browser.text("main").contains("1 conflict in 1 document"), "{}", browser.text("main"));
    let address = server.address(&format!("/merge/documents/{merge}"));
    look_around(&browser, &address, "document-merge");
    assert_nothing_ran(&browser, "/merge/documents/ID");
    assert!(browser.text(".pane.ours").contains("owned"), "the value is shown as text");
    browser.press("2");
    browser.wait_for("#act[open] #preview");
    assert!(browser.text("#act").contains("probity merge reconcile"), "{}", browser.text("#act"));
    give_reason(&browser, "the first one was agreed on");
    assert!(browser.text("#decided").contains("Survival commit"), "{}", browser.text("#decided"));
    assert_eq!(
        repo.ask(&["commits", "state"]).json["state"]["ticket"]["t1"]["title"],
        "<script>document.title='owned'</script>"
    );
    assert_policy_held(&server, &browser);
}

fn propose(repo: &Repo, said: &str, delta: &serde_json::Value) {
    let mut command = repo.probity(&["ledger", "propose", "--said", said, "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("a pipe").write_all(delta.to_string().as_bytes()).expect("takes it");
    let answer = child.wait_with_output().expect("ends");
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stdout));
}

#[test]
fn the_ledger_leads_from_an_item_to_the_words_and_to_the_changes() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let decision = |handle: &str, summary: &str| json!({ "kind": "decision_made", "handle": handle, "summary": summary, "confidence": "high" });
    propose(&repo, "We use Postgres for orders.", &decision("db", "Use Postgres for orders"));
    let hostile = "Sessions end <script>document.title='owned'</script> after 30 minutes";
    propose(&repo, "\"><img src=x onerror=document.title=1>", &decision("sessions", hostile));
    let run = repo.run("echo x >> src/a.py").json["run_id"].as_str().expect("a run").to_owned();
    repo.ask(&["ledger", "cite", &run, "db", "--author", "ann"]);
    let (server, browser) = open_board(&repo);
    browser.press("gl");
    browser.wait_for("#ledger");
    assert!(
        browser.text("#ledger").contains("2 items in force at position 2"),
        "{}",
        browser.text("#ledger")
    );
    assert_nothing_ran(&browser, "/ledger");
    let since = server.address("/ledger?since=1");
    look_around(&browser, &since, "ledger");
    assert!(browser.text(".item .chip.in").contains("new"));
    browser.go(&server.address("/ledger/sessions"));
    assert_nothing_ran(&browser, "/ledger/sessions");
    assert!(browser.text(".cite").contains("onerror"), "the words are quoted as text");
    let item = server.address("/ledger/db");
    look_around(&browser, &item, "ledger-item");
    assert!(browser.text("#item").contains("We use Postgres for orders."));
    assert!(browser.has(&format!("#item a[href='/c/{run}']")), "{}", browser.text("#item"));
    assert_policy_held(&server, &browser);
}

#[test]
fn the_health_of_the_code_is_shown_with_its_trend() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let (server, browser) = open_board(&repo);
    browser.go(&server.address("/code"));
    assert!(browser.text("#code").contains("No analysis is stored"), "{}", browser.text("#code"));
    repo.ask(&["analyze"]);
    let branches = (0..40).map(|n| format!("    if x == {n}:\n        return {n} * x\n"));
    let branches = branches.collect::<Vec<_>>().concat();
    repo.write(
        "src/<img src=x onerror=document.title=1>.py",
        &format!("def tangled(x):\n{branches}    return x\n"),
    );
    repo.ask(&["analyze"]);
    look_around(&browser, &server.address("/code"), "code");
    assert_nothing_ran(&browser, "/code");
    assert!(browser.text("#moved").contains("tangled"), "{}", browser.text("#moved"));
    assert!(browser.has("svg.river path.o"), "the trend is drawn");
    assert_policy_held(&server, &browser);
}

#[test]
fn the_board_says_what_a_merge_lost() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let merge = lossy_merge(&repo);
    let (_server, browser) = open_board(&repo);
    // The audit runs beside the page: the board hears of it.
    browser.wait_for(&format!(".need.lost a[href='/merge/{merge}']"));
    assert!(browser.text(".need.lost").contains("dropped 2 edits"), "{}", browser.text(".need.lost"));
    assert_eq!(browser.text("#n-merge").split_whitespace().next(), Some("2"));
    assert_nothing_ran(&browser, "/board");
}

#[test]
fn one_side_of_a_contradiction_is_kept() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let propose = |handle: &str, summary: &str| {
        let delta =
            json!({ "kind": "decision_made", "handle": handle, "confidence": "high", "summary": summary });
        let mut command = repo.probity(&["ledger", "propose", "--author", "ann", "--said", summary]);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(delta.to_string().as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    };
    propose("retry", "We retry failed payments.");
    propose("no-retry", "We do not retry failed payments.");
    let open = repo.ask(&["ledger", "show"]).json["contradictions"].clone();
    assert_eq!(open.as_array().map(Vec::len), Some(1), "{open:#}");
    let (server, browser) = open_board(&repo);
    browser.go(&server.address("/ledger"));
    look_around(&browser, &server.address("/ledger"), "contradiction");
    browser.run("document.querySelector('.contradiction a[href^=\"/ledger/no-retry/do/keep\"]').click()");
    give_reason(&browser, "payments are idempotent nowhere");
    assert!(browser.text("#decided").contains("no-retry stays in force"), "{}", browser.text("#decided"));
    let after = repo.ask(&["ledger", "show"]).json;
    assert_eq!(after["contradictions"].as_array().map(Vec::len), Some(0), "{after:#}");
    let history = repo.ask(&["ledger", "history", "retry"]);
    assert!(history.json.to_string().contains("superseded"), "{:#}", history.json);
    assert_policy_held(&server, &browser);
}

#[test]
fn heads_of_documents_are_merged_and_decided() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    repo.write("t.schema", "struct Ticket {\n    title: string\n}\nattachment ticket: Ticket\n");
    repo.ask(&["commits", "init", "--schema", "t.schema"]);
    repo.ask(&["commits", "put", "ticket/t1", r#"{"title": "one"}"#, "--author", "cy"]);
    repo.ask(&["commits", "ref", "start", "@"]);
    for (title, author) in [("\"two\"", "ann"), ("\"three\"", "ben")] {
        repo.ask(&["commits", "update", "ticket/t1", "title", title, "--on", "start", "--author", author]);
    }
    let (server, browser) = open_board(&repo);
    browser.go(&server.address("/merge/heads"));
    assert!(browser.text(".quad").contains("two") && browser.text(".quad").contains("three"));
    browser.press("4");
    browser.wait_for("#act[open] #preview");
    assert!(browser.text("#act").contains("probity commits reduce"), "{}", browser.text("#act"));
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
    browser.run("document.querySelector('main a.btn.main').click()");
    browser.wait_for(".quad");
    browser.press("2");
    give_reason(&browser, "ann asked the customer");
    assert!(browser.text("#decided").contains("0 conflicts open"), "{}", browser.text("#decided"));
}

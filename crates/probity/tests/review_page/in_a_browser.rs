//! What a person sees and decides.

use crate::browser::{Browser, obstacle};
use crate::repo::Repo;
use crate::ui_server::UiServer;
use serde_json::json;

/// A server, and a browser that entered through its link and shows the board.
pub(crate) fn open_board(repo: &Repo) -> (UiServer, Browser) {
    let server = UiServer::start(repo, &[]);
    let browser = Browser::open();
    browser.go(&server.link);
    browser.wait_for("#board");
    (server, browser)
}

/// The browser found nothing that the policy of the page forbids.
#[track_caller]
pub(crate) fn assert_policy_held(server: &UiServer, browser: &Browser) {
    browser.go(&server.address("/csp"));
    assert_eq!(browser.text("body"), "0", "the policy of the page was violated");
}

/// Looks at a page in light, dark and narrow: nothing is wider than the window.
pub(crate) fn look_around(browser: &Browser, address: &str, name: &str) {
    for (width, scheme) in [(1440, "light"), (1440, "dark"), (400, "light")] {
        browser.resize(width, 900);
        browser.prefer(scheme);
        browser.go(address);
        let overflow =
            browser.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overflow, json!(0), "{name} at {width} is wider than its window");
        let kind = if width == 400 { "narrow" } else { scheme };
        browser.screenshot(&format!("{name}-{kind}.png"));
    }
    browser.resize(1440, 900);
    browser.prefer("light");
}

#[test]
fn a_person_finds_what_is_outside_and_undoes_it_with_the_keyboard() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let outcome = repo.run("echo x >> src/a.py; echo y >> docs/d.md");
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    repo.ask(&["start", "--agent", "codex/b", "--intent", "Round totals", "src/b.py"]);
    let (server, browser) = open_board(&repo);
    assert!(browser.text("#board").contains("Round totals"));
    look_around(&browser, &server.address("/board"), "board");
    browser.go(&server.address(&format!("/c/{run}")));
    assert!(browser.text("#decide").contains("Did not pass"), "{}", browser.text("#decide"));
    assert!(browser.text(".dlist").contains("Outside: no clause lets it in"));
    assert!(browser.has(".diff .add mark, .diff .add"), "the diff is there");
    look_around(&browser, &server.address(&format!("/c/{run}")), "change");
    browser.press("?");
    browser.wait_for("#help[open]");
    browser.press("\u{e00c}");
    browser.wait_until("return !document.querySelector('#help').open");
    browser.press("R");
    browser.wait_for("#act[open] #preview");
    assert!(browser.text("#act").contains(&format!("probity revert {run}")));
    assert!(browser.text("#act").contains("recorded as Ines Marten"));
    browser.screenshot("preview-light.png");
    browser.run("document.querySelector('#act form').requestSubmit()");
    browser.wait_for("#decided");
    assert_eq!(std::fs::read_to_string(repo.path().join("docs/d.md")).unwrap(), "# D\n");
    browser.go(&server.address("/why/worktree?path=src/a.py&line=2"));
    assert!(browser.text("#why").contains("let in by src/a.py"), "{}", browser.text("#why"));
    look_around(&browser, &server.address("/why/worktree?path=src/a.py&line=2"), "why");
    browser.go(&server.address(&format!("/c/{run}/evidence")));
    assert!(browser.text("#proof").contains("do not prove that the log is complete"));
    look_around(&browser, &server.address(&format!("/c/{run}/evidence")), "evidence");
    look_around(&browser, &server.address("/c"), "changes");
    look_around(&browser, &server.address("/log"), "log");
    assert_policy_held(&server, &browser);
    assert_eq!(
        repo.ask(&["evidence", "verify", &run]).json["skipped"].as_array().map(Vec::is_empty),
        Some(false)
    );
}

#[test]
fn names_and_texts_of_agents_run_nothing() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let script = "printf '<script>document.title=\"owned\"</script>\\n\\342\\200\\256gnp.exe\\n' > 'src/<img src=x onerror=document.title=1>.py'; \
                  printf 'x' > \"$(printf 'src/\\342\\200\\256a\\\"onload=.py')\"";
    let outcome = repo.run(script);
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    let intent = "\"><script>document.title='owned'</script>";
    repo.ask(&["start", "--agent", "<b onclick=x>", "--intent", intent, "src/b.py"]);
    let (server, browser) = open_board(&repo);
    for path in ["/board", &format!("/c/{run}"), "/c", "/c/worktree", "/log", &format!("/c/{run}/do/revert")]
    {
        browser.go(&server.address(path));
        let strange = "return document.querySelectorAll('img, iframe, object, script:not([src^=\"/s/\"]), [onclick], [onload], [onerror]').length";
        assert_eq!(browser.run(strange), json!(0), "{path}");
        let title = browser.run("return document.title");
        assert!(title != json!("owned") && title != json!("1"), "{path}: {title}");
    }
    browser.go(&server.address(&format!("/c/{run}")));
    assert!(browser.has(".diff .esc"), "what reorders a line is shown as an escape");
    assert_policy_held(&server, &browser);
}

#[test]
fn two_browsers_see_each_other_and_the_end_of_the_server() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let outcome = repo.run("echo x >> src/a.py; echo y >> docs/d.md");
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    let mut server = UiServer::start(&repo, &[]);
    let (one, other) = (Browser::open(), Browser::open());
    one.go(&server.link);
    other.go(&server.another_link());
    one.wait_for("#board");
    other.wait_for("#board");
    let preview = server.address(&format!("/c/{run}/do/revert"));
    one.go(&preview);
    other.go(&preview);
    one.run("document.querySelector('#preview').requestSubmit()");
    one.wait_for("#decided");
    other.run("document.querySelector('#preview').requestSubmit()");
    other.wait_for("#refusal");
    assert!(other.text("#refusal").contains("DECISION.TOO_LATE"), "{}", other.text("#refusal"));
    other.go(&server.address("/board"));
    other.wait_until("return !document.querySelector('#live').classList.contains('off')");
    repo.ask(&["start", "--agent", "codex/b", "--intent", "Seen without a reload", "src/b.py"]);
    other.wait_until("return document.querySelector('#map').textContent.includes('Seen without a reload')");
    assert!(
        other.text("#feed").contains("Ines Marten"),
        "the decision is in the log: {}",
        other.text("#feed")
    );
    server.stop();
    other.wait_until("return document.querySelector('#live').classList.contains('off')");
}

#[test]
fn findings_of_a_run_stand_beside_their_lines() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let branches: Vec<String> =
        (0..40).map(|n| format!("    if x == {n}:\\n        return {n} * x\\n")).collect();
    let branches = branches.concat();
    let outcome = repo.run(&format!("printf 'def tangled(x):\\n{branches}    return x\\n' >> src/a.py"));
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    let (server, browser) = open_board(&repo);
    browser.go(&server.address(&format!("/c/{run}")));
    browser.wait_for(".diff tr.note");
    assert!(browser.text(".diff tr.note").contains("tangled"), "{}", browser.text(".diff tr.note"));
    assert!(browser.text("#findings-dd").contains("new"), "{}", browser.text("#findings-dd"));
    browser.go(&server.address(&format!("/c/{run}")));
    assert!(browser.has(".diff tr.note"), "what was compared comes with the page");
    let found = repo.ask(&["review", "findings", &run]).json;
    assert_eq!(found["findings"][0]["change"], "new", "{found:#}");
    assert_eq!(found["findings"][0]["path"], "src/a.py", "{found:#}");
    look_around(&browser, &server.address(&format!("/c/{run}/findings")), "findings");
    assert_policy_held(&server, &browser);
}

#[test]
fn the_board_offers_the_decisions_of_each_change() {
    if let Some(why) = obstacle() {
        return probity_testkit::skip!("{why}");
    }
    let repo = Repo::new();
    let outcome = repo
        .run_with(&["--scope", "src/a.py", "--enforce", "auto"], "echo x >> src/a.py; echo y >> docs/d.md");
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    repo.ask(&["start", "--agent", "codex/b", "--intent", "Round totals", "src/b.py"]);
    let (server, browser) = open_board(&repo);
    let intent = "document.querySelector('.lane .acts a[href$=\"/do/clear\"]')";
    browser.run(&format!("{intent}.closest('details').open = true; {intent}.click()"));
    browser.wait_for("#act[open] #preview");
    assert!(browser.text("#act").contains("The intent is given up"), "{}", browser.text("#act"));
    browser.press("\u{e00c}");
    browser.wait_until("return !document.querySelector('#act').open");
    browser.go(&server.address("/c"));
    assert!(browser.has(&format!("a[href='/c/{run}']")), "{}", browser.text("main"));
}

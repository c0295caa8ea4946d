//! Requests that no page of ours sends.

use crate::repo::Repo;
use crate::ui_server::UiServer;

/// A repository with a run that changed a path outside its scope.
fn violated() -> (Repo, String) {
    let repo = Repo::new();
    let outcome = repo.run("echo x >> src/a.py; echo y >> docs/d.md");
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    (repo, run)
}

fn form_value<'a>(page: &'a str, name: &str) -> &'a str {
    let at = page.find(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no {name}: {page}"));
    page[at..].split('"').nth(3).expect("a value")
}

#[test]
fn every_request_names_this_server_and_has_a_session() {
    let (repo, run) = violated();
    let server = UiServer::start(&repo, &[]);
    let port = server.port;
    let cookie = server.enter(&server.link);
    for path in ["/board", "/events", &format!("/c/{run}"), "/log"] {
        let foreign = format!("GET {path} HTTP/1.1\r\nHost: evil.example:{port}\r\nCookie: {cookie}");
        assert_eq!(server.send(&foreign, "").status, 421, "{path}: another name leads here");
        let other_port = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:1\r\nCookie: {cookie}");
        assert_eq!(server.send(&other_port, "").status, 421, "{path}");
        assert_eq!(server.get(path, "").status, 401, "{path}: without a session");
        assert_eq!(server.get(path, "probity_ui_1=x").status, 401, "{path}: the cookie of another port");
    }
    let page = server.get("/board", &cookie);
    assert_eq!(page.status, 200, "{}", page.text);
    for header in [
        "content-security-policy: default-src 'none'",
        "x-content-type-options: nosniff",
        "cache-control: no-store",
    ] {
        assert!(page.text.contains(header), "no {header}: {}", page.text);
    }
    assert!(!page.text.contains("<script>") && !page.text.contains("style="), "nothing is inline");
}

#[test]
fn a_link_opens_one_session() {
    let (repo, _) = violated();
    let mut server = UiServer::start(&repo, &[]);
    server.enter(&server.link);
    let path = server.link.split(&server.port.to_string()).nth(1).expect("a path").to_owned();
    assert_eq!(server.get(&path, "").status, 403, "the link is used up");
    assert_eq!(server.get("/enter?t=guess", "").status, 403);
    let another = server.another_link();
    server.enter(&another);
}

#[test]
fn an_action_needs_our_page_our_form_and_what_was_shown() {
    let (repo, run) = violated();
    let server = UiServer::start(&repo, &[]);
    let (port, cookie) = (server.port, server.enter(&server.link));
    let preview = server.get(&format!("/c/{run}/do/revert"), &cookie);
    assert_eq!(preview.status, 200, "{}", preview.text);
    let form =
        |token: &str, shown: &str, id: &str| format!("token={token}&change={run}&shown={shown}&id={id}");
    let (token, shown) = (form_value(&preview.text, "token"), form_value(&preview.text, "shown"));
    let shown_value = shown.replace(':', "%3A");
    let send = |origin: &str, cookie: &str, body: &str| {
        let head = format!(
            "POST /c/{run}/do/revert HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{origin}Cookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded"
        );
        server.send(&head, body)
    };
    let own = format!("Origin: http://127.0.0.1:{port}\r\n");
    let good = form(token, &shown_value, "one");
    assert_eq!(send("", &cookie, &good).status, 403, "without an origin");
    assert_eq!(send("Origin: http://evil.example\r\n", &cookie, &good).status, 403);
    assert_eq!(send(&format!("{own}Sec-Fetch-Site: cross-site\r\n"), &cookie, &good).status, 403);
    assert_eq!(send(&own, "", &good).status, 401);
    assert_eq!(send(&own, &cookie, &form("forged", &shown_value, "one")).status, 403);
    let newer = format!("sha256%3A{}", "0".repeat(64));
    let late = send(&own, &cookie, &form(token, &newer, "one"));
    assert_eq!(late.status, 409, "what was shown does not stand: {}", late.text);
    assert!(late.text.contains("DECISION.TOO_LATE"), "{}", late.text);
    assert_eq!(
        std::fs::read_to_string(repo.path().join("docs/d.md")).unwrap(),
        "# D\ny\n",
        "nothing was done"
    );
    assert!(send(&own, &cookie, &"x".repeat(70_000)).status >= 400, "a body has a limit");
    let done = send(&own, &cookie, &good);
    assert_eq!(done.status, 200, "{}", done.text);
    assert_eq!(std::fs::read_to_string(repo.path().join("docs/d.md")).unwrap(), "# D\n", "it is undone");
    assert_eq!(send(&own, &cookie, &good).status, 409, "a decision is made once");
    let log = repo.ask(&["log", "show"]);
    assert_eq!(log.json["entries"]["decisions"], 1, "{:#?}", log.json);
}

#[test]
fn a_page_that_only_shows_decides_nothing() {
    let (repo, run) = violated();
    let server = UiServer::start(&repo, &["--read-only"]);
    let (port, cookie) = (server.port, server.enter(&server.link));
    let page = server.get(&format!("/c/{run}"), &cookie);
    assert!(page.text.contains("probity revert") && !page.text.contains("/do/revert"), "{}", page.text);
    let preview = server.get(&format!("/c/{run}/do/revert"), &cookie);
    let body = format!(
        "token={}&change={run}&shown={}&id=one",
        form_value(&preview.text, "token"),
        form_value(&preview.text, "shown").replace(':', "%3A")
    );
    let head = format!(
        "POST /c/{run}/do/revert HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nCookie: {cookie}"
    );
    assert_eq!(server.send(&head, &body).status, 403);
}

#[test]
fn a_page_and_the_command_line_give_the_same_document() {
    let (repo, run) = violated();
    let server = UiServer::start(&repo, &[]);
    let (port, cookie) = (server.port, server.enter(&server.link));
    let head = format!(
        "GET /c/{run} HTTP/1.1\r\nHost: localhost:{port}\r\nAccept: application/json\r\nCookie: {cookie}"
    );
    let answer = server.send(&head, "");
    let body = answer.text.split("\r\n\r\n").nth(1).expect("a body");
    let shown: serde_json::Value = serde_json::from_str(body).expect("JSON");
    assert_eq!(shown, repo.ask(&["review", "show", &run]).json);
    assert_eq!(shown["state"], "failed");
}

/// A directory of a large change is one row beside the files; what is outside the scope keeps a row of its own.
#[test]
fn a_large_change_is_listed_by_directory() {
    let repo = Repo::new();
    let script = "for n in $(seq 100 399); do echo $n > src/n$n.txt; done; mkdir docs/x; echo a > docs/x/one; echo b > docs/x/two";
    let outcome = repo.run_with(&["--scope", "src/**"], script);
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    let server = UiServer::start(&repo, &[]);
    let cookie = server.enter(&server.link);
    let page = server.get(&format!("/c/{run}"), &cookie).text;
    let (_, rest) = page.split_once("<nav class=\"card tree\"").expect("a tree of paths");
    let (tree, _) = rest.split_once("</nav>").expect("its end");
    assert!(tree.contains("src/</span>") && tree.contains("300 files"), "the directory has a row");
    assert!(tree.contains(">one</span>") && tree.contains(">two</span>"), "outside paths have rows");
    assert!(!tree.contains("n250.txt"), "files of the directory have none");
    assert_eq!(page.matches("id=\"f-").count(), outcome.delta().len(), "every file has its card");
}

/// After a part landed, the page says what the tree has, and offers what is left.
#[test]
fn a_part_that_landed_is_not_offered_again() {
    let repo = Repo::new();
    let script = "echo x >> src/a.py; echo y >> docs/d.md";
    let outcome = repo.run_with(&["--scope", "src/a.py", "--enforce", "auto"], script);
    let run = outcome.json["run_id"].as_str().expect("a run").to_owned();
    if outcome.json["landing"]["state"] != "held" {
        return probity_testkit::skip!("no view is possible here: {}", outcome.json["confinement"]);
    }
    repo.ask(&["land", &run, "--in-scope"]);
    let server = UiServer::start(&repo, &[]);
    let cookie = server.enter(&server.link);
    let page = server.get(&format!("/c/{run}"), &cookie).text;
    assert!(page.contains("1 of 2 paths is in your tree already"), "{page}");
    assert!(!page.contains("/do/land-in-scope") && !page.contains("/do/land-only"), "{page}");
    let preview = server.get(&format!("/c/{run}/do/discard"), &cookie).text;
    assert!(preview.contains("What is held of 1 path is dropped"), "{preview}");
    assert!(preview.contains("1 path that the tree has already stays as it is"), "{preview}");
    let board = server.get("/board", &cookie).text;
    assert!(board.contains("Rest held, waits for you") && !board.contains("Stale base"), "{board}");
}

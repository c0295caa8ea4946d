//! `cargo xtask bench review`: the review page of a repository with many claims and receipts, and of a large change, beside
//! `git diff` and, if it is on the PATH, difftastic.
//!
//! The repository has 10,000 files; 1,000 agents hold and have edited one file each; the receipts are those of changes
//! that were really started and finished. The newest commit changes 1,000 files.

use crate::bench::{shell, time};
use crate::bench_browser::BenchBrowser;
use crate::bench_change::{N_OTHER_AGENTS, expect, fill, start_others};
use crate::mcp::ServerProcess;
use crate::measure::median;
use crate::{ChoreResult, build};
use serde_json::json;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const ROUNDS: usize = 9;
/// A board that was read is kept for half a second.
const BOARD_INTERVAL: Duration = Duration::from_millis(600);
/// Boards that are open at the same time, each of a client of its own.
const N_STREAMS: usize = 200;
/// Tabs of one browser that show the board.
const N_TABS: usize = 7;
/// Files that the newest commit changes, each by about 25 lines.
const N_CHANGED_FILES: usize = 1_000;

pub fn review(n_receipts: usize) -> ChoreResult {
    let binary = build("release")?;
    let place = std::env::temp_dir().join(format!("probity-review-{}", std::process::id()));
    let result = measure(&binary, &place, n_receipts);
    let _ = fs::remove_dir_all(&place);
    result
}

fn measure(binary: &Path, place: &Path, n_receipts: usize) -> ChoreResult {
    let root = place.join("repo");
    fs::create_dir_all(&root).map_err(|error| error.to_string())?;
    shell(&root, "git init -q -b main")?;
    let mut server = ServerProcess::start(binary, &["mcp"], &root)?;
    make_receipts(&mut server, &root, n_receipts)?;
    // They live as long as the server that started them.
    start_others(&mut server)?;
    fill(&root)?;
    commit_large_change(&root)?;
    println!(
        "10,000 files, {N_OTHER_AGENTS} live intents, {n_receipts} receipts; a commit that changes {N_CHANGED_FILES} files"
    );
    let mut page = ReviewPage::open(binary, &root)?;
    let first = page.get("/board")?;
    println!("the first board           {}, {} kB", milliseconds(first.took), first.bytes / 1000);
    page.repeat("another board", "/board")?;
    page.repeat("the page of the commit", "/c/HEAD~1..HEAD")?;
    page.repeat("one of its files", "/c/HEAD~1..HEAD/f/500")?;
    page.repeat("why a line is there", "/why/HEAD?path=src/p20/m2000.py&line=5")?;
    // A change starts from an analysis of the tree.
    server.call("analyze_repository", &json!({}))?;
    streams(&page, &mut server)?;
    in_a_browser(&mut page, &mut server, place)?;
    println!("memory of the server      {} MB", page.peak_kilobytes()? / 1000);
    drop(page);
    let command = |program: &Path, words: &[&str]| {
        let mut command = Command::new(program);
        command.args(words).current_dir(&root);
        command
    };
    let git = Path::new("git");
    repeat("probity review show", || command(binary, &["review", "show", "HEAD~1..HEAD", "--json"]))?;
    repeat("probity why", || command(binary, &["why", "src/p20/m2000.py:5", "--json"]))?;
    repeat("git diff --histogram", || command(git, &["diff", "--histogram", "HEAD~1", "HEAD"]))?;
    let difftastic = || {
        command(git, &["-c", "diff.external=difft --display=inline --color=never", "diff", "HEAD~1", "HEAD"])
    };
    if Command::new("difft").arg("--version").stdout(Stdio::null()).status().is_ok() {
        let took = time(&mut difftastic())?;
        println!("difftastic, once          {}", milliseconds(took));
    } else {
        println!("difftastic                is not on the PATH");
    }
    Ok(())
}

/// Appends an entry to the log: the note of one more agent.
fn append(server: &mut ServerProcess, number: usize) -> ChoreResult {
    let wish = json!({ "intent": "an event", "agent": format!("event {number}"), "allowed_files": [format!("events/{number}.md")] });
    let (granted, _) = server.call("start_controlled_change", &wish)?;
    expect(&granted, "active")
}

/// How long an entry takes until every one of many open boards has it, from the end of the call that appended it.
fn streams(page: &ReviewPage, server: &mut ServerProcess) -> ChoreResult {
    let (ready, all_ready) = mpsc::channel();
    let (heard, all_heard) = mpsc::channel();
    let began = Instant::now();
    for _ in 0..N_STREAMS {
        let mut stream = page.ask("/events")?;
        let (ready, heard) = (ready.clone(), heard.clone());
        thread::spawn(move || {
            let mut lines = BufReader::new(&mut stream).lines().map_while(Result::ok);
            let _ = ready.send(lines.any(|line| line.starts_with("event: board")));
            while lines.any(|line| line == "event: log") {
                let _ = heard.send(Instant::now());
            }
        });
    }
    for _ in 0..N_STREAMS {
        if !all_ready.recv().map_err(|error| error.to_string())? {
            return Err("an event stream ended".into());
        }
    }
    println!("{N_STREAMS} event streams         open in {}", milliseconds(began.elapsed()));
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        append(server, round)?;
        let appended = Instant::now();
        let mut last = appended;
        for _ in 0..N_STREAMS {
            last = last.max(all_heard.recv().map_err(|error| error.to_string())?);
        }
        times.push(last.duration_since(appended));
    }
    let worst = times.iter().max().copied().unwrap_or_default();
    println!(
        "an entry until all have it {}, at most {}",
        milliseconds(median(times).unwrap_or_default()),
        milliseconds(worst)
    );
    let began = Instant::now();
    let boards: Vec<_> = (0..N_STREAMS).map(|_| page.ask("/board")).collect::<Result<_, _>>()?;
    for mut board in boards {
        let mut answer = Vec::new();
        board.read_to_end(&mut answer).map_err(|error| error.to_string())?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            return Err("a board was refused".into());
        }
    }
    println!("{N_STREAMS} boards at once        {}", milliseconds(began.elapsed()));
    Ok(())
}

/// The large change and seven boards in a real Chromium.
fn in_a_browser(page: &mut ReviewPage, server: &mut ServerProcess, place: &Path) -> ChoreResult {
    let Some(browser) = BenchBrowser::open(&place.join("profile")) else {
        println!("in a browser              none is installed");
        return Ok(());
    };
    let link = page.another_link()?;
    browser.go(&link)?;
    let address = page.address.clone();
    let mut paints = Vec::new();
    for _ in 0..ROUNDS {
        browser.go(&format!("http://{address}/c/HEAD~1..HEAD"))?;
        let paint = "const [n] = performance.getEntriesByType('navigation'); const p = performance.getEntriesByName('first-contentful-paint')[0]; return p ? p.startTime - n.responseStart : null";
        while browser.run(paint)?.is_null() {}
        paints.push(Duration::from_secs_f64(browser.run(paint)?.as_f64().unwrap_or(0.0) / 1e3));
    }
    println!(
        "first paint of the commit {}, after the first byte",
        milliseconds(median(paints).unwrap_or_default())
    );
    for share in [2, 1] {
        browser.run(&format!("scrollTo(0, document.documentElement.scrollHeight / {share})"))?;
        while browser.run("return document.querySelector('.file[data-busy].wait') !== null")? == true {}
    }
    println!("memory of its renderer    {} MB, after two jumps", browser.renderer_megabytes());
    let board = format!("http://{address}/board");
    browser.go(&board)?;
    let mut tabs = Vec::new();
    for _ in 0..N_TABS {
        tabs.push(browser.open_tab()?);
        browser.go(&board)?;
        while browser.run("return document.querySelector('#live.off') !== null")? == true {}
    }
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let name = format!("event {}", ROUNDS + round);
        for tab in &tabs {
            browser.show_tab(tab)?;
            // Each tab notes by itself when the row stands in it.
            browser.run(&format!("window.heard = null; new MutationObserver((_, watch) => {{ if (document.querySelector('#feed').textContent.includes({name:?})) {{ window.heard = Date.now(); watch.disconnect(); }} }}).observe(document.querySelector('#board'), {{ childList: true, subtree: true }})"))?;
        }
        append(server, ROUNDS + round)?;
        let appended = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        let mut last = Duration::ZERO;
        for tab in &tabs {
            browser.show_tab(tab)?;
            let heard = loop {
                if let Some(heard) = browser.run("return window.heard")?.as_f64() {
                    break heard;
                }
            };
            last = last.max(Duration::from_secs_f64(heard / 1e3).saturating_sub(appended));
        }
        times.push(last);
    }
    let worst = times.iter().max().copied().unwrap_or_default();
    println!(
        "an entry until {N_TABS} tabs show it {}, at most {}",
        milliseconds(median(times).unwrap_or_default()),
        milliseconds(worst)
    );
    Ok(())
}

/// Starts and finishes changes while the tree is small: only their number matters.
fn make_receipts(server: &mut ServerProcess, root: &Path, n_receipts: usize) -> ChoreResult {
    let failed = |error: std::io::Error| error.to_string();
    fs::create_dir_all(root.join("notes")).map_err(failed)?;
    fs::write(root.join("notes/n.md"), "# A note\n").map_err(failed)?;
    shell(root, "git add . && git -c user.name=b -c user.email=b@example.org commit -qm notes")?;
    for number in 0..n_receipts {
        let wish = json!({ "intent": "a note", "agent": "writer", "allowed_files": ["notes/n.md"], "dirty_scope_policy": "continue_own_wip" });
        let (granted, _) = server.call("start_controlled_change", &wish)?;
        expect(&granted, "active")?;
        fs::write(root.join("notes/n.md"), format!("# Note {number}\n")).map_err(failed)?;
        let done = json!({
            "intent_id": granted["intent_id"], "owner": granted["owner"], "changed_files": ["notes/n.md"],
        });
        let (finished, _) = server.call("finish_controlled_change", &done)?;
        expect(&finished, "accepted")?;
    }
    Ok(())
}

fn commit_large_change(root: &Path) -> ChoreResult {
    for number in N_OTHER_AGENTS..N_OTHER_AGENTS + N_CHANGED_FILES {
        let path = root.join(format!("src/p{:02}/m{number:04}.py", number / 100));
        let old = fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let more: String = (0..25).map(|line| format!("    first += second * {line}\n")).collect();
        fs::write(&path, old.replace("    return first\n", &(more + "    return second\n")))
            .map_err(|error| error.to_string())?;
    }
    shell(root, "git -c user.name=b -c user.email=b@example.org commit -qm large src")
}

/// A running server of the page, and a session with it.
struct ReviewPage {
    process: Child,
    address: String,
    cookie: String,
    /// What comes after `http://` in the links that the server prints.
    links: mpsc::Receiver<String>,
}

struct PageLoad {
    took: Duration,
    bytes: usize,
    headers: String,
}

impl ReviewPage {
    fn open(binary: &Path, root: &Path) -> Result<Self, String> {
        let mut process = Command::new(binary)
            .args(["ui", "--no-open", "--read-only"])
            .current_dir(root)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let output = process.stderr.take().ok_or("a server without output")?;
        let (to, links) = mpsc::channel();
        // Its output is read to the end, so that the server never waits for a reader.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some((_, link)) = line.split_once("http://") {
                    let _ = to.send(link.trim().to_owned());
                }
            }
        });
        let link = links.recv().map_err(|_| "the server printed no link")?;
        let (address, path) = link.split_once('/').ok_or("the link has no path")?;
        let mut page = Self { process, address: address.to_owned(), cookie: String::new(), links };
        let entered = page.get(&format!("/{path}"))?;
        let cookie = entered.headers.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("set-cookie")
                .then(|| value.split(';').next().unwrap_or(value).to_owned())
        });
        page.cookie = cookie.ok_or("the link opened no session")?;
        Ok(page)
    }

    /// Asks for another link, as a person does with the Enter key.
    fn another_link(&mut self) -> Result<String, String> {
        let input = self.process.stdin.as_mut().ok_or("a server without input")?;
        input.write_all(b"\n").map_err(|error| error.to_string())?;
        let link = self.links.recv().map_err(|_| "the server printed no link")?;
        Ok(format!("http://{link}"))
    }

    /// Sends a request; the answer is still to be read.
    fn ask(&self, path: &str) -> Result<TcpStream, String> {
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let mut stream = TcpStream::connect(&self.address).map_err(failed)?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nCookie: {}\r\nAccept: text/html\r\nConnection: close\r\n\r\n",
            self.address, self.cookie
        );
        stream.write_all(request.as_bytes()).map_err(failed)?;
        Ok(stream)
    }

    fn get(&self, path: &str) -> Result<PageLoad, String> {
        let failed = |error: std::io::Error| format!("{path}: {error}");
        let began = Instant::now();
        let mut stream = self.ask(path)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(failed)?;
        let took = began.elapsed();
        let text = String::from_utf8_lossy(&answer);
        let (headers, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        if !headers.starts_with("HTTP/1.1 200") {
            return Err(format!("{path}: {}", headers.lines().next().unwrap_or_default()));
        }
        Ok(PageLoad { took, bytes: body.len(), headers: headers.to_owned() })
    }

    fn repeat(&mut self, name: &str, path: &str) -> ChoreResult {
        let (mut times, mut bytes) = (Vec::new(), 0);
        for _ in 0..ROUNDS {
            thread::sleep(BOARD_INTERVAL);
            let load = self.get(path)?;
            times.push(load.took);
            bytes = load.bytes;
        }
        println!("{name:<25} {}, {} kB", milliseconds(median(times).unwrap_or_default()), bytes / 1000);
        Ok(())
    }

    /// The highest resident memory of the server so far.
    fn peak_kilobytes(&self) -> Result<u64, String> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))
            .map_err(|error| error.to_string())?;
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak.and_then(|text| text.trim().trim_end_matches(" kB").parse().ok())
            .ok_or_else(|| "no memory figure".to_owned())
    }
}

impl Drop for ReviewPage {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn repeat(name: &str, command: impl Fn() -> Command) -> ChoreResult {
    let times: Result<Vec<Duration>, String> = (0..ROUNDS).map(|_| time(&mut command())).collect();
    println!("{name:<25} {}", milliseconds(median(times?).unwrap_or_default()));
    Ok(())
}

fn milliseconds(time: Duration) -> String {
    format!("{:>8.1} ms", time.as_secs_f64() * 1e3)
}

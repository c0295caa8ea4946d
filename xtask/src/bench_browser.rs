//! A real Chromium for benchmarks, driven through the `WebDriver` protocol.

use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

pub struct BenchBrowser {
    driver: Child,
    port: u16,
    session: String,
}

impl BenchBrowser {
    /// Starts a browser; `None` if none is installed (`cargo xtask test-tools` installs it).
    pub fn open(profile: &Path) -> Option<Self> {
        let binary = ["/usr/bin/chromium", "/usr/bin/chromium-browser"]
            .into_iter()
            .find(|path| Path::new(path).exists())?;
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(driver.stdout.take()?).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            line.split("successfully on port ").nth(1)?.trim_end_matches('.').trim().parse().ok()
        });
        // Read on, so that the driver never waits for a reader.
        thread::spawn(move || lines.for_each(drop));
        let mut browser = Self { driver, port: port?, session: String::new() };
        let arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-sync",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--window-size=1440,900",
            format!("--user-data-dir={}", profile.display()),
        ]);
        let options = json!({ "binary": binary, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let session = browser.ask("POST", "/session", &wanted).ok()?;
        browser.session = format!("/session/{}", session["sessionId"].as_str()?);
        Some(browser)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let failed = |error: std::io::Error| format!("the browser: {error}");
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).map_err(failed)?;
        let (port, length) = (self.port, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        )
        .map_err(failed)?;
        // The driver keeps its connections open, so the length tells where an answer ends.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            if answer.read_line(&mut line).map_err(failed)? == 0 || line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or(("", ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).map_err(failed)?;
        let answer: Value = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        if !answer["value"]["error"].is_null() {
            return Err(answer["value"]["message"].to_string());
        }
        Ok(answer["value"].clone())
    }

    pub fn go(&self, address: &str) -> Result<(), String> {
        self.ask("POST", &format!("{}/url", self.session), &json!({ "url": address })).map(drop)
    }

    /// Runs a script in the page and returns its value.
    pub fn run(&self, script: &str) -> Result<Value, String> {
        let body = json!({ "script": script, "args": [] });
        self.ask("POST", &format!("{}/execute/sync", self.session), &body)
    }

    /// Opens another tab and goes on in it; returns its name.
    pub fn open_tab(&self) -> Result<String, String> {
        let tab = self.ask("POST", &format!("{}/window/new", self.session), &json!({ "type": "tab" }))?;
        let handle = tab["handle"].as_str().unwrap_or_default().to_owned();
        self.show_tab(&handle)?;
        Ok(handle)
    }

    pub fn show_tab(&self, handle: &str) -> Result<(), String> {
        self.ask("POST", &format!("{}/window", self.session), &json!({ "handle": handle })).map(drop)
    }

    /// The anonymous memory of the largest renderer, in megabytes.
    pub fn renderer_megabytes(&self) -> u64 {
        let driver = self.driver.id().to_string();
        let Ok(processes) = fs::read_dir("/proc") else { return 0 };
        let of = |entry: fs::DirEntry| {
            let place = entry.path();
            let words = fs::read_to_string(place.join("cmdline")).ok()?;
            let is_ours = words.contains("--type=renderer") && is_below(&place, &driver);
            let status = fs::read_to_string(place.join("status")).ok().filter(|_| is_ours)?;
            let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
            line.trim().trim_end_matches(" kB").parse::<u64>().ok()
        };
        processes.flatten().filter_map(of).max().unwrap_or(0) / 1000
    }
}

/// Returns whether a process descends from another.
fn is_below(process: &Path, ancestor: &str) -> bool {
    let mut place = process.to_owned();
    for _ in 0..12 {
        let Ok(status) = fs::read_to_string(place.join("status")) else { return false };
        let Some(parent) = status.lines().find_map(|line| line.strip_prefix("PPid:")) else { return false };
        let parent = parent.trim();
        if parent == ancestor {
            return true;
        }
        place = Path::new("/proc").join(parent);
    }
    false
}

impl Drop for BenchBrowser {
    fn drop(&mut self) {
        let _ = self.ask("DELETE", &self.session, &Value::Null);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

//! A browser, driven through the `WebDriver` protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const DRIVER: &str = "chromedriver";
const BROWSERS: &[&str] = &["/usr/bin/chromium", "/usr/bin/chromium-browser"];

/// Why there is no browser here, if there is none.
pub(crate) fn obstacle() -> Option<String> {
    let has_browser = BROWSERS.iter().any(|path| std::path::Path::new(path).exists());
    let has_driver = Command::new(DRIVER).arg("--version").output().is_ok();
    (!has_browser || !has_driver).then(|| {
        "chromium or chromium-driver is not installed: `cargo xtask test-tools` installs them".to_owned()
    })
}

pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub(crate) fn open() -> Self {
        let mut driver = Command::new(DRIVER)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("starts");
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            line.split("successfully on port ").nth(1)?.trim_end_matches('.').trim().parse().ok()
        });
        // Read on, so that the driver never waits for a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().expect("a directory");
        let binary = BROWSERS.iter().find(|path| std::path::Path::new(path).exists()).expect("a browser");
        let options = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-background-networking",
            "--disable-sync",
            "--no-first-run",
            "--disable-component-update",
            "--disable-dev-shm-usage",
            "--window-size=1440,900",
        ];
        let mut arguments: Vec<String> = options.iter().map(|&option| option.to_owned()).collect();
        arguments.push(format!("--user-data-dir={}", profile.path().display()));
        let mut browser = Self {
            driver,
            port: port.expect("the driver says its port"),
            session: String::new(),
            _profile: profile,
        };
        let options = json!({ "binary": binary, "args": arguments });
        let wanted = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": options } } });
        let session = browser.ask("POST", "/session", &wanted);
        browser.session = format!("/session/{}", session["sessionId"].as_str().expect("a session"));
        browser
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("connects");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes())).expect("is sent");
        // The driver keeps its connections open, so the length tells where an answer ends.
        let mut answer = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(answer.read_line(&mut line).expect("answers") > 0, "{path}: the driver ended");
            if line.trim().is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').unwrap_or(("", ""));
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut bytes = vec![0; length];
        answer.read_exact(&mut bytes).expect("answers");
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert!(value["value"]["error"].is_null(), "{path}: {value:#}");
        value["value"].clone()
    }

    pub(crate) fn go(&self, address: &str) {
        self.ask("POST", &format!("{}/url", self.session), &json!({ "url": address }));
    }

    /// Runs a script in the page and returns its value.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.ask("POST", &format!("{}/execute/sync", self.session), &json!({ "script": script, "args": [] }))
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let found = self.run(&format!("return document.querySelector({}).textContent", json!(selector)));
        found.as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn has(&self, selector: &str) -> bool {
        self.run(&format!("return document.querySelector({}) !== null", json!(selector))) == json!(true)
    }

    /// Waits until a selector finds something.
    #[track_caller]
    pub(crate) fn wait_for(&self, selector: &str) {
        probity_testkit::wait_until(selector, || self.has(selector));
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub(crate) fn wait_until(&self, script: &str) {
        probity_testkit::wait_until(script, || self.run(script) == json!(true));
    }

    /// Types keys into the page.
    pub(crate) fn press(&self, keys: &str) {
        let mut actions = Vec::new();
        for key in keys.chars() {
            actions.extend([
                json!({ "type": "keyDown", "value": key }),
                json!({ "type": "keyUp", "value": key }),
            ]);
        }
        let sequence = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.ask("POST", &format!("{}/actions", self.session), &sequence);
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.ask("POST", &format!("{}/goog/cdp/execute", self.session), &body);
    }

    pub(crate) fn resize(&self, width: u32, height: u32) {
        let parameters = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.devtools("Emulation.setDeviceMetricsOverride", &parameters);
    }

    pub(crate) fn prefer(&self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.devtools("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// Keeps a picture of the page if `PROBITY_SCREENSHOTS` names a directory.
    pub(crate) fn screenshot(&self, name: &str) {
        use base64::Engine as _;
        let Some(directory) = std::env::var_os("PROBITY_SCREENSHOTS") else { return };
        let picture = self.ask("GET", &format!("{}/screenshot", self.session), &Value::Null);
        let bytes = base64::engine::general_purpose::STANDARD.decode(picture.as_str().expect("a picture"));
        std::fs::write(std::path::Path::new(&directory).join(name), bytes.expect("base64")).expect("writes");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.ask("DELETE", &self.session, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

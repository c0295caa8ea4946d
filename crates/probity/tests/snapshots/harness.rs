//! Runs commands in a fixed environment and compares their output with snapshots.

use crate::redaction::redact;
use crate::repo::Repo;
use crate::schema_check;
use serde_json::Value;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

/// Width at which clap wraps help; other output is wrapped only on a real terminal.
const COLUMNS: &str = "100";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Human,
    Json,
}

impl Form {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Json => "json",
        }
    }
}

/// Plays a story twice, each time in a fresh repository: once for people, once for programs. A command that changes
/// something thus meets the same state in both forms.
pub(crate) fn story(area: &'static str, name: &'static str, script: impl Fn(&Scene)) {
    for form in [Form::Human, Form::Json] {
        script(&Scene::new(area, name, form));
    }
}

/// A repository in which the commands of a story run one after the other.
pub(crate) struct Scene {
    pub(crate) repo: Repo,
    pub(crate) form: Form,
    area: &'static str,
    story: &'static str,
}

impl Scene {
    pub(crate) fn new(area: &'static str, story: &'static str, form: Form) -> Self {
        fix_umask();
        Self { repo: Repo::new(), form, area, story }
    }

    /// Runs a command and compares its output with the snapshot `<story>_<case>`.
    pub(crate) fn case(&self, case: &str, arguments: &[&str]) {
        self.case_with_input(case, arguments, "");
    }

    /// Like [`Self::case`], with input on stdin.
    pub(crate) fn case_with_input(&self, case: &str, arguments: &[&str], input: &str) {
        self.case_in(&self.repo.path(), case, arguments, input);
    }

    /// Like [`Self::case_with_input`], in another directory.
    pub(crate) fn case_in(&self, directory: &Path, case: &str, arguments: &[&str], input: &str) {
        let arguments = self.in_form(arguments);
        let mut command = self.probity(&arguments);
        let output = finish(command.current_dir(directory), input);
        let name = format!("{}_{case}", self.story);
        self.assert(&name, &transcript(&arguments, &output));
        if self.form == Form::Json {
            let document = serde_json::from_slice(&output.stdout)
                .unwrap_or_else(|error| panic!("{name} answers no JSON document: {error}"));
            schema_check::check(&format!("{}/{name}", self.area), &document);
        }
    }

    /// Runs a command that answers with text in both forms, such as help and version.
    pub(crate) fn case_of_words(&self, case: &str, arguments: &[&str]) {
        let output = finish(&mut self.probity(arguments), "");
        self.assert(&format!("{}_{case}", self.story), &transcript(arguments, &output));
    }

    /// Runs a command that must print something; the snapshot does not contain it.
    pub(crate) fn case_of_presence(&self, case: &str, arguments: &[&str]) {
        let arguments = self.in_form(arguments);
        let mut output = finish(&mut self.probity(&arguments), "");
        assert!(!output.stdout.is_empty(), "{arguments:?} prints nothing");
        output.stdout = b"[SOMETHING]\n".to_vec();
        self.assert(&format!("{}_{case}", self.story), &transcript(&arguments, &output));
    }

    fn in_form<'a>(&self, arguments: &[&'a str]) -> Vec<&'a str> {
        match self.form {
            Form::Human => arguments.to_vec(),
            Form::Json => with_json(arguments),
        }
    }

    /// Runs a command as an intermediate step, without a snapshot; its answer must be JSON.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Value {
        self.ask_with_input(arguments, "")
    }

    /// Like [`Self::ask`], with input on stdin.
    pub(crate) fn ask_with_input(&self, arguments: &[&str], input: &str) -> Value {
        let output = finish(&mut self.probity(&with_json(arguments)), input);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }

    /// Returns the binary in the repository, with an environment that is the same everywhere.
    pub(crate) fn probity(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        command.args(arguments).current_dir(self.repo.path());
        fix_environment(&mut command, self.repo.outside());
        command
    }

    /// Compares a text with a snapshot of this area and form.
    pub(crate) fn assert(&self, name: &str, text: &str) {
        assert_snapshot(self.area, &format!("{name}.{}", self.form.name()), text, self.repo.outside());
    }
}

/// Compares `text`, redacted, with `snapshots/<area>/<name>.snap`.
pub(crate) fn assert_snapshot(area: &str, name: &str, text: &str, outside: &Path) {
    let canonical = outside.canonicalize().expect("is there");
    let system_temporary = std::env::temp_dir();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let canonical_source = source.canonicalize().expect("is there");
    // Nested directories come before the ones that contain them.
    let places: [(&Path, &str); 6] = [
        (&canonical, "[TMP]"),
        (outside, "[TMP]"),
        (Path::new(env!("CARGO_BIN_EXE_probity")), "[BIN]/probity"),
        (Path::new(env!("CARGO_MANIFEST_DIR")), "[SOURCE]/crates/probity"),
        (&canonical_source, "[SOURCE]"),
        (&system_temporary, "[TMPDIR]"),
    ];
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(snapshot_directory().join(area));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, redact(text, &places)));
}

/// Returns the directory of the snapshots, which has one subdirectory per area.
pub(crate) fn snapshot_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/snapshots")
}

/// Returns the body of a Python function with `count` branches over `a` and `b`.
pub(crate) fn branches(count: usize) -> String {
    (0..count).map(|n| format!("    if a > {n}:\n        b += a * {n}\n")).collect::<Vec<_>>().concat()
}

/// Formats JSON with one member per line, in the original order.
pub(crate) fn pretty(json: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    let (mut in_string, mut is_escaped) = (false, false);
    let mut letters = json.chars().filter(|letter| *letter != '\n').peekable();
    while let Some(letter) = letters.next() {
        if in_string {
            text.push(letter);
            in_string = is_escaped || letter != '"';
            is_escaped = !is_escaped && letter == '\\';
            continue;
        }
        match letter {
            '{' | '[' => {
                text.push(letter);
                if letters.next_if(|next| matches!(next, '}' | ']')).map(|end| text.push(end)).is_none() {
                    depth += 1;
                    break_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth -= 1;
                break_line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(',');
                break_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            letter if letter.is_whitespace() => {}
            letter => {
                text.push(letter);
                in_string = letter == '"';
            }
        }
    }
    text
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
}

/// Adds `--json`, before the governed command if there is one.
fn with_json<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    let end = arguments.iter().position(|argument| *argument == "--").unwrap_or(arguments.len());
    let mut all = arguments.to_vec();
    all.insert(end, "--json");
    all
}

fn finish(command: &mut Command, input: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("probity starts");
    // A command that reads nothing may have ended already.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("ends")
}

/// Formats what a person would see: the command line, the exit code, and both streams.
fn transcript(arguments: &[&str], output: &Output) -> String {
    let mut text = String::from("$ probity");
    for argument in arguments {
        let _ = write!(text, " {}", quote_name(argument));
    }
    let code = output.status.code().map_or_else(|| "none: ended by a signal".into(), |code| code.to_string());
    let _ = writeln!(text, "\nexit code: {code}");
    for (name, bytes) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        if !bytes.is_empty() {
            let _ = write!(text, "--- {name}\n{}", String::from_utf8_lossy(bytes));
        }
    }
    text
}

fn quote_name(argument: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:@+,…".contains(letter);
    if !argument.is_empty() && argument.chars().all(is_plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Replaces the environment of the machine, the user and the test runner by a fixed one.
pub(crate) fn fix_environment(command: &mut Command, home: &Path) {
    command.env_clear();
    // Needed but never shown: the paths of programs and of temporary files. An unreadable directory would turn "not
    // found" into "permission denied".
    let path = std::env::var_os("PATH").unwrap_or_default();
    let readable = std::env::split_paths(&path).filter(|directory| directory.read_dir().is_ok());
    command.env("PATH", std::env::join_paths(readable).expect("was a path before"));
    command.envs(std::env::var_os("TMPDIR").map(|value| ("TMPDIR", value)));
    command.env("HOME", home).env("XDG_CONFIG_HOME", home).env("USER", "tester").env("LOGNAME", "tester");
    command.env("LC_ALL", "C").env("LANG", "C").env("TZ", "UTC");
    // Whether a view can be had depends on the machine.
    command.env("PROBITY_ENFORCE", "observe");
    command.env("COLUMNS", COLUMNS).env("NO_COLOR", "1").env("TERM", "dumb");
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "tester");
        command.env(format!("GIT_{role}_EMAIL"), "tester@example.org");
        command.env(format!("GIT_{role}_DATE"), "2026-01-01T00:00:00Z");
    }
}

/// Fixes the modes of new files, whatever umask the tests were started with.
fn fix_umask() {
    static FIXED: Once = Once::new();
    FIXED.call_once(|| {
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    });
}

#[test]
fn json_is_broken_into_lines_and_nothing_else() {
    let text = r#"{"b":[1,{"a":"x, \\\"{y}\\\\"}],"a":{},"c":[]}"#;
    let lines = pretty(text);
    assert_eq!(lines.lines().nth(1), Some(r#"  "b": ["#));
    let compact: String = lines.lines().map(str::trim_start).collect();
    assert_eq!(compact.replace("\": ", "\":"), text);
}

//! A fresh git repository for one test, and the binary's answers about programs that ran in it.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;
use tempfile::TempDir;

/// A repository with `src/a.py`, `src/b.py`, `docs/d.md`, a `.gitignore` and one commit.
pub(crate) struct Repo {
    outer: Rc<TempDir>,
    /// The directory below `outer` that contains `repo`.
    beside: &'static str,
}

impl Repo {
    pub(crate) fn new() -> Self {
        Self::at(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn at(place: TempDir) -> Self {
        let repo = Self { outer: Rc::new(place), beside: "" };
        fs::create_dir(repo.path()).expect("creates");
        repo.write("src/a.py", "print('a')\n");
        repo.write("src/b.py", "print('b')\n");
        repo.write("docs/d.md", "# D\n");
        repo.write(".gitignore", "ignored/\n*.log\n");
        // The same modes whatever umask the tests were started with.
        repo.sh("chmod -R u=rwX,go=rX . && git init -q -b main && git add . && git commit -q -m start");
        repo
    }

    /// Wraps a repository that a test made itself, at `<beside>/repo` next to another one.
    pub(crate) fn existing(other: &Self, beside: &'static str) -> Self {
        Self { outer: Rc::clone(&other.outer), beside }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.outer.path().join(self.beside).join("repo")
    }

    /// A directory outside the repository.
    pub(crate) fn outside(&self) -> &Path {
        self.outer.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("creates");
        fs::write(path, text).expect("writes");
    }

    /// Runs a shell script in the repository, before or after a governed run.
    pub(crate) fn sh(&self, script: &str) {
        let output = self.environment(Command::new("sh").arg("-ec").arg(script)).output().expect("sh starts");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Runs `script` as the agent, with `src/a.py` as its scope.
    pub(crate) fn run(&self, script: &str) -> Outcome {
        self.run_with(&["--scope", "src/a.py"], script)
    }

    /// Runs `script` as the agent with other options.
    pub(crate) fn run_with<O: AsRef<OsStr>>(&self, options: &[O], script: &str) -> Outcome {
        let mut command = self.probity(&["run", "--json"]);
        command.args(options).args(["--", "sh", "-ec", script]);
        self.outcome(&command.output().expect("probity starts"))
    }

    /// Runs any other command of the binary with `--json`.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Outcome {
        self.outcome(&self.probity(arguments).arg("--json").output().expect("probity starts"))
    }

    pub(crate) fn outcome(&self, output: &Output) -> Outcome {
        Outcome { _repo: Some(Rc::clone(&self.outer)), ..Outcome::of(output) }
    }

    /// Waits until no process works in or beside the repository: an agent that outlived its supervisor may still write
    /// for a moment.
    pub(crate) fn wait_for_silence(&self) {
        probity_testkit::wait_until("no process works in the repository", || self.n_processes() == 0);
    }

    /// Counts the processes that work in or beside the repository, apart from the test itself.
    pub(crate) fn n_processes(&self) -> usize {
        let place = self.outside().canonicalize().expect("is there");
        let processes = fs::read_dir("/proc").expect("processes can be listed").flatten();
        let works_here = |process: &fs::DirEntry| {
            // A process that has ended has no working directory.
            fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&place))
        };
        processes.filter(works_here).count()
    }

    /// Returns the binary, to be started in the repository.
    pub(crate) fn probity(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
        self.environment(command.args(arguments));
        command
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.current_dir(self.path());
        isolate(command, self.outside());
        for (name, value) in [("NAME", "tester"), ("EMAIL", "tester@example.org")] {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command
    }
}

/// Hides the user's configuration and the test runner's environment from `command`.
pub(crate) fn isolate(command: &mut Command, home: &Path) {
    // A git hook runs tests with `GIT_DIR` and the like, an agent with a `PROBITY_RUN_ID`.
    for (name, _) in std::env::vars_os() {
        if [b"GIT_".as_slice(), b"PROBITY_"].iter().any(|own| name.as_bytes().starts_with(own)) {
            command.env_remove(name);
        }
    }
    for color in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(color);
    }
    command.env("HOME", home).env("XDG_CONFIG_HOME", home).env("GIT_CONFIG_NOSYSTEM", "1");
    command.env("LC_ALL", "C").env("TZ", "UTC");
    // Most tests are about what is found in the tree afterwards. Those of views ask for a view.
    command.env("PROBITY_ENFORCE", "observe");
}

pub(crate) fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) exit_code: Option<i32>,
    pub(crate) json: Value,
    pub(crate) words: String,
    /// Keeps the repository, and with it the evidence, as long as the outcome is in use.
    _repo: Option<Rc<TempDir>>,
}

impl Outcome {
    fn of(output: &Output) -> Self {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let json = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("no JSON ({error}): {}\n{words}", String::from_utf8_lossy(&output.stdout))
        });
        Self { exit_code: output.status.code(), json, words, _repo: None }
    }

    pub(crate) fn passes(&self) -> &Self {
        assert_eq!((self.json["status"].as_str(), self.exit_code), (Some("pass"), Some(0)), "{self:#?}");
        assert_eq!(self.json["reason"], Value::Null);
        self.has_valid_evidence("PASS")
    }

    /// Asserts that the run failed with exactly these untracked paths.
    pub(crate) fn is_out(&self, paths: &[&str]) -> &Self {
        self.fails_with("RECON.UNTRACKED_DELTA");
        assert_eq!(self.json["untracked_delta_paths"], Value::from(paths.to_vec()), "{self:#?}");
        self
    }

    pub(crate) fn fails_with(&self, code: &str) -> &Self {
        assert_eq!((self.json["status"].as_str(), self.exit_code), (Some("fail"), Some(1)), "{self:#?}");
        assert!(self.has_reason(code), "no {code}: {self:#?}");
        self.has_valid_evidence("FAIL")
    }

    /// Asserts that the command was refused before anything ran.
    pub(crate) fn refused_with(&self, code: &str) -> &Self {
        assert_eq!(self.exit_code, Some(2), "{self:#?}");
        assert_eq!(self.json["reason"], code, "{self:#?}");
        self
    }

    pub(crate) fn has_reason(&self, code: &str) -> bool {
        self.json["reasons"].as_array().is_some_and(|reasons| reasons.iter().any(|reason| reason == code))
    }

    /// Asserts that a finding with this code names this path.
    pub(crate) fn finds(&self, code: &str, path: &str) -> &Self {
        let findings = self.json["findings"].as_array().expect("findings");
        assert!(
            findings.iter().any(|finding| finding["code"] == code && finding["path"] == path),
            "{self:#?}"
        );
        self
    }

    /// Returns the changed paths.
    pub(crate) fn delta(&self) -> Vec<String> {
        let paths = self.json["workspace_delta_paths"].as_array().expect("a delta");
        paths.iter().map(|path| path.as_str().map_or_else(|| path.to_string(), str::to_owned)).collect()
    }

    pub(crate) fn evidence_dir(&self) -> PathBuf {
        PathBuf::from(self.json["evidence_dir"].as_str().expect("evidence was written"))
    }

    /// Law 11: whatever the outcome of the run, its bundle exists and is valid.
    fn has_valid_evidence(&self, outcome: &str) -> &Self {
        let verified = verify(&self.evidence_dir(), None);
        assert_eq!(verified.json["outcome"], outcome, "{verified:#?}");
        let broken = verified.codes().into_iter().find(|code| code.starts_with("EVIDENCE."));
        assert_eq!(broken, None, "{verified:#?}");
        self
    }

    /// Returns the codes of `evidence verify`.
    pub(crate) fn codes(&self) -> Vec<String> {
        let codes = self.json["codes"].as_array().expect("codes");
        codes.iter().map(|code| code.as_str().expect("text").to_owned()).collect()
    }
}

/// Verifies a bundle from a directory unrelated to the repository.
pub(crate) fn verify(bundle: &Path, trust: Option<&Path>) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probity"));
    command.current_dir("/").args(["evidence", "verify", "--json"]).arg(bundle);
    if let Some(trust) = trust {
        command.arg("--trust").arg(trust);
    }
    Outcome::of(&command.output().expect("probity starts"))
}

pub(crate) fn os(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

//! A repository, a directory beside it and a home, all owned by the user who runs the case.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use tempfile::{NamedTempFile, TempDir};

/// The ids of the user `nobody`, who owns nothing.
const ORDINARY_ID: u32 = 65534;

/// Where the trees may be, best first. Not below `/tmp`, which is private in a view: what is outside would be invisible
/// instead of read-only.
const PLACES: [&str; 4] = [env!("CARGO_TARGET_TMPDIR"), "/srv", "/opt", "/dev/shm"];

/// Type of an overlay in `statfs`: it cannot be the upper layer of another one.
const OVERLAY_MAGIC: i64 = 0x794c_7630;

/// Printed by every case before anything else.
const MARK: &str = "case-ran";

/// A place that others can reach too, with the binary in it.
static PLACE: OnceLock<Option<TempDir>> = OnceLock::new();

/// How a run must end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Passes,
    Fails,
    /// Fails, and a landing was refused.
    Conflicts,
    /// The attempt may be refused by the system, so that nothing is left to judge.
    Any,
}

/// An attempt to get out, or honest work that must pass.
pub(crate) struct Case {
    /// The level of enforcement.
    pub(crate) level: &'static str,
    pub(crate) scope: &'static [&'static str],
    pub(crate) options: &'static [&'static str],
    /// A script that prepares the case, outside.
    pub(crate) setup: &'static str,
    /// A script that starts the run with `exec "$@"`, for descriptors and variables that it inherits.
    pub(crate) start: &'static str,
    /// The governed command.
    pub(crate) inside: &'static str,
    /// Done outside while the command waits for the file `go` beside the repository.
    pub(crate) meanwhile: Option<fn(&Fixture)>,
    /// What the run must have changed in the repository: files with their content, new directories with a slash, `None`
    /// for what is gone.
    pub(crate) lands: &'static [(&'static str, Option<&'static str>)],
    /// Paths, such as `repo/README.md`, whose changes are found and not prevented, at a level that cannot.
    pub(crate) found: &'static [&'static str],
    pub(crate) end: End,
    pub(crate) for_root_only: bool,
}

impl Case {
    pub(crate) const fn new(inside: &'static str, end: End) -> Self {
        Self {
            level: "overlay",
            scope: &["src/auth/**"],
            options: &[],
            setup: "",
            start: "",
            inside,
            meanwhile: None,
            lands: &[],
            found: &[],
            end,
            for_root_only: false,
        }
    }

    /// Runs the case for every user that can be had.
    pub(crate) fn run(&self) {
        self.run_beside(|_| Box::new(()));
    }

    /// Like [`Self::run`], while what `beside` returns exists.
    pub(crate) fn run_beside(&self, beside: impl Fn(&Fixture) -> Box<dyn std::any::Any>) {
        let Some(place) = place() else {
            return probity_testkit::skip!("there is no directory for views");
        };
        let is_root = rustix::process::geteuid().is_root();
        let users: &[bool] = if is_root { &[false, true] } else { &[false] };
        for as_other in users {
            if self.for_root_only && (*as_other || !is_root) {
                continue;
            }
            let fixture = Fixture::new(place, *as_other);
            if let Some(why) = fixture.refusal(self.level) {
                return probity_testkit::skip!("the level cannot be had: {why}");
            }
            let _beside = beside(&fixture);
            self.check(&fixture);
        }
    }

    #[track_caller]
    fn check(&self, fixture: &Fixture) {
        fixture.sh(self.setup);
        let mut expected = fixture.entries();
        let (code, words) = self.govern(fixture);
        let who = if fixture.as_other { "as an ordinary user" } else { "as this user" };
        assert!(words.contains(MARK), "{who}: the command did not run: {words}");
        let is_right = match self.end {
            End::Passes => code == Some(0),
            End::Fails => code == Some(1),
            End::Conflicts => code == Some(5),
            End::Any => matches!(code, Some(0 | 1)),
        };
        assert!(is_right, "{who}: exit code {code:?}, expected {:?}: {words}", self.end);
        if self.meanwhile.is_some() {
            expected = fixture.expected_meanwhile(expected);
        }
        for (path, content) in self.lands {
            match (content, path.strip_suffix('/')) {
                (Some(_), Some(path)) => {
                    drop(expected.insert(format!("repo/{path}"), "directory 755".into()));
                }
                (Some(content), None) => {
                    drop(expected.insert(format!("repo/{path}"), format!("file {content:?}")));
                }
                (None, _) => drop(expected.remove(&format!("repo/{path}"))),
            }
        }
        let found = fixture.entries();
        let differing: Vec<_> = expected
            .keys()
            .chain(found.keys())
            .filter(|path| expected.get(*path) != found.get(*path))
            .filter(|path| !self.found.contains(&path.as_str()))
            .map(|path| (path, expected.get(path), found.get(path)))
            .collect();
        assert!(differing.is_empty(), "{who}: path, expected, found: {differing:#?}\n{words}");
    }

    /// Runs the command under Probity; returns the exit code and all words.
    fn govern(&self, fixture: &Fixture) -> (Option<i32>, String) {
        let mut words: Vec<String> = ["run", "--enforce", self.level].map(str::to_owned).into();
        words.extend(self.scope.iter().flat_map(|scope| ["--scope".to_owned(), (*scope).to_owned()]));
        words.extend(self.options.iter().map(ToString::to_string));
        let wait = if self.meanwhile.is_some() { "until test -e \"$OUT/go\"; do :; done; " } else { "" };
        let inside = format!("echo {MARK}; {wait}{}", self.inside);
        words.extend(["--".into(), "sh".into(), "-c".into(), inside]);
        let log = fs::File::create(fixture.path("log")).expect("creates");
        let mut command = fixture.shell(&format!("{}\nexec \"$@\"", self.start));
        command.arg("sh").arg(fixture.binary()).args(words).current_dir(fixture.path("repo"));
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a handle")).stderr(log);
        let mut child: Child = command.spawn().expect("sh starts");
        let read = || String::from_utf8_lossy(&fs::read(fixture.path("log")).expect("reads")).into_owned();
        if let Some(meanwhile) = self.meanwhile {
            probity_testkit::wait_until("the command runs", || {
                read().contains(MARK) || child.try_wait().expect("waits").is_some()
            });
            meanwhile(fixture);
            fixture.give_away();
            fs::write(fixture.path("outside/go"), "").expect("writes");
        }
        let status = child.wait().expect("ends");
        (status.code(), read())
    }
}

/// Finds a place for views and puts the binary there.
fn place() -> Option<&'static Path> {
    let place = PLACE.get_or_init(|| {
        let for_others = rustix::process::geteuid().is_root();
        let place = PLACES.iter().map(Path::new).find(|place| is_usable(place, for_others))?;
        let place = TempDir::new_in(place).expect("a directory");
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("sets the mode");
        probity_testkit::copy_program(env!("CARGO_BIN_EXE_probity"), place.path().join("probity"));
        Some(place)
    });
    place.as_ref().map(TempDir::path)
}

fn is_usable(place: &Path, for_others: bool) -> bool {
    let is_overlay = rustix::fs::statfs(place).is_ok_and(|status| status.f_type == OVERLAY_MAGIC);
    let others_pass = |directory: &Path| {
        fs::metadata(directory).is_ok_and(|metadata| metadata.permissions().mode() & 0o001 != 0)
    };
    place.is_dir() && !is_overlay && (!for_others || place.ancestors().all(others_pass))
}

pub(crate) struct Fixture {
    directory: TempDir,
    binary: PathBuf,
    /// Whether commands run as another user than this test.
    as_other: bool,
}

impl Fixture {
    fn new(place: &Path, as_other: bool) -> Self {
        let directory = TempDir::new_in(place).expect("a directory");
        fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("sets the mode");
        let fixture = Self { directory, binary: place.join("probity"), as_other };
        for name in ["repo", "outside", "home"] {
            fs::create_dir(fixture.path(name)).expect("creates");
        }
        fs::write(fixture.path("outside/canary"), "canary\n").expect("writes");
        fs::write(fixture.path("home/.bashrc"), "# start\n").expect("writes");
        fixture.give_away();
        fixture.sh("git init -q -b main; git config user.name a; git config user.email a@example.org
             mkdir -p src/auth/deep docs lib; echo login > src/auth/login.sh; echo d > src/auth/deep/d
             echo a > src/a.py; echo '# readme' > README.md; echo d > docs/d.md; echo 1 > lib/one
             git add .; git commit -qm start");
        fixture
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn binary(&self) -> &Path {
        &self.binary
    }

    /// Gives all files to the user who runs the commands.
    fn give_away(&self) {
        if self.as_other {
            let owner = format!("{ORDINARY_ID}:{ORDINARY_ID}");
            let status = Command::new("chown").args(["-hR", &owner]).arg(self.directory.path()).status();
            assert!(status.expect("chown starts").success());
        }
    }

    /// Returns a shell of the user with a fixed environment.
    pub(crate) fn shell(&self, script: &str) -> Command {
        let mut command = if self.as_other {
            let mut command = Command::new("setpriv");
            command.args([format!("--reuid={ORDINARY_ID}"), format!("--regid={ORDINARY_ID}")]);
            command.args(["--clear-groups", "sh"]);
            command
        } else {
            Command::new("sh")
        };
        command.arg("-c").arg(script).env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command.env("LC_ALL", "C").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", self.path("home"));
        command.env("ROOT", self.path("repo")).env("OUT", self.path("outside")).env("PROBITY", &self.binary);
        command.current_dir(self.path("repo"));
        command
    }

    /// Runs a script outside of any view.
    pub(crate) fn sh(&self, script: &str) {
        let output = self.shell(&format!("set -e; umask 022\n{script}")).output().expect("sh starts");
        assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Returns why the level cannot be had, if so.
    fn refusal(&self, level: &str) -> Option<String> {
        let script = format!("\"$PROBITY\" run --enforce {level} --no-changes -- true");
        let output = self.shell(&script).output().expect("sh starts");
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        words.contains("ENFORCE.UNAVAILABLE").then_some(words)
    }

    /// Lists every entry outside of Probity's own state with its kind, permission bits where they are unusual, and
    /// content.
    fn entries(&self) -> BTreeMap<String, String> {
        let mut entries = BTreeMap::new();
        for name in ["repo", "outside", "home"] {
            self.list(&self.path(name), &mut entries);
        }
        entries
    }

    fn list(&self, directory: &Path, entries: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(directory).expect("is there") {
            let path = entry.expect("an entry").path();
            let facts = fs::symlink_metadata(&path).expect("facts");
            let kind = facts.file_type();
            let name = path.strip_prefix(self.directory.path()).expect("is inside");
            let name = name.to_string_lossy().into_owned();
            if name == "repo/.git/probity" {
                continue;
            }
            if kind.is_dir() {
                self.list(&path, entries);
            }
            let text = if kind.is_dir() {
                format!("directory {:o}", facts.permissions().mode() & 0o7777)
            } else if kind.is_symlink() {
                format!("link {}", fs::read_link(&path).expect("a target").display())
            } else if kind.is_file() && facts.len() > 1_000_000 {
                format!("file of {} bytes {:o}", facts.len(), facts.permissions().mode() & 0o777)
            } else if kind.is_file() {
                let mode = facts.permissions().mode() & 0o777;
                let mode = if mode == 0o644 { String::new() } else { format!(" {mode:o}") };
                let content = fs::read(&path).expect("reads");
                format!("file {:?}{mode}", String::from_utf8_lossy(&content))
            } else if kind.is_fifo() {
                "pipe".to_owned()
            } else {
                "other".to_owned()
            };
            entries.insert(name, text);
        }
    }

    /// Adds what cases with a person at work write meanwhile.
    fn expected_meanwhile(&self, mut expected: BTreeMap<String, String>) -> BTreeMap<String, String> {
        let written = fs::read_to_string(self.path("person")).unwrap_or_default();
        for line in written.lines() {
            let now = fs::read(self.path("repo").join(line)).ok();
            match now {
                Some(content) => {
                    let text = format!("file {:?}", String::from_utf8_lossy(&content));
                    expected.insert(format!("repo/{line}"), text);
                }
                None => drop(expected.remove(&format!("repo/{line}"))),
            }
        }
        expected.insert("outside/go".into(), "file \"\"".into());
        expected
    }

    /// Writes a file of the repository as a person would, while a run goes on; `None` removes it.
    pub(crate) fn edit(&self, path: &str, content: Option<&str>) {
        let file = self.path("repo").join(path);
        match content {
            Some(content) => fs::write(file, content).expect("writes"),
            None => fs::remove_file(file).expect("removes"),
        }
        let known = fs::read_to_string(self.path("person")).unwrap_or_default();
        fs::write(self.path("person"), format!("{known}{path}\n")).expect("writes");
    }
}

/// Defines tests from cases.
/// A file outside of the view that must be as it was when the case has ended. It is removed then.
pub(crate) struct Canary(NamedTempFile);

impl Canary {
    /// Makes a file of the user in a shared directory; its path is in `$OUT/name`.
    pub(crate) fn new_in(directory: &str, fixture: &Fixture) -> Self {
        let file = tempfile::Builder::new().prefix("probity-escape-").tempfile_in(directory);
        let file = file.expect("a file");
        fs::write(&file, "canary").expect("writes");
        let name = fixture.path("outside/name");
        fs::write(&name, file.path().as_os_str().as_encoded_bytes()).expect("writes");
        if fixture.as_other {
            for path in [file.path(), &name] {
                std::os::unix::fs::chown(path, Some(ORDINARY_ID), Some(ORDINARY_ID)).expect("gives away");
            }
        }
        Self(file)
    }
}

impl Drop for Canary {
    fn drop(&mut self) {
        let content = fs::read_to_string(&self.0).ok();
        assert!(content.as_deref() == Some("canary") || std::thread::panicking(), "{content:?}");
    }
}

macro_rules! cases {
    ($($(#[$about:meta])* $name:ident => $case:expr;)+) => {
        $($(#[$about])* #[test] fn $name() { let case: $crate::fixture::Case = $case; case.run(); })+
    };
}
pub(crate) use cases;

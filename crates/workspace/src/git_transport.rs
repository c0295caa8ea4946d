//! Reads and moves references of a git remote, through a repository of its own.
//!
//! The repository's own configuration is never read: the judged can write it, and it can name programs for
//! credentials, transport and hooks. The user's and the system's configuration are, so that git has the credentials that
//! the user gave it. Programs are looked for where [`crate::git`] looks for git, never inside a judged tree (law 8).

use crate::git_program::git_program;
use probity_core::bytes::escape;
use probity_process::{
    CaptureError, CaptureLimits, CapturedOutput, JobOutcome, ProcessEnvironment, capture_from,
};
use probity_snapshot::ObjectFormat;
use probity_snapshot::git::GitLayout;
use probity_storage::{StoreError, durable};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time limit of one exchange with a remote.
const EXCHANGE_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: usize = 256 << 20;
/// The largest configuration that is compared with ours.
const MAX_CONFIG_BYTES: u64 = 4096;
/// How many references are named in one call of git: a command line has an end.
const MAX_REFERENCES_PER_FETCH: usize = 500;

const EXCHANGE_SETTINGS: [&str; 10] = [
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.commitGraph=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
    "i18n.logOutputEncoding=UTF-8",
    "transfer.credentialsInUrl=allow",
];

/// The variables of the user that git needs to reach a remote with the user's credentials.
const EXCHANGE_VARIABLES: [&str; 18] = [
    "HOME",
    "USER",
    "LOGNAME",
    "TMPDIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "SSH_AUTH_SOCK",
    "GIT_SSH_COMMAND",
    "GIT_SSL_CAINFO",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "ALL_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
];

/// The configuration of our repository, word for word; anything else there is replaced.
fn own_config(format: ObjectFormat) -> String {
    match format {
        ObjectFormat::Sha1 => "[core]\n\trepositoryformatversion = 0\n\tbare = true\n".to_owned(),
        ObjectFormat::Sha256 => {
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n"
                .to_owned()
        }
    }
}

/// A commit of a chain: its id and its message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainCommit {
    pub id: String,
    pub message: String,
}

/// A reference to move: from the commit it must point to, or from nothing, to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefMove {
    pub name: String,
    pub from: Option<String>,
    pub to: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushOutcome {
    /// Every reference was moved.
    Done,
    /// One of them pointed elsewhere; none was moved.
    Moved,
    /// The reply was lost: it is not known whether they were moved.
    Unknown,
}

/// A bare repository that holds the chains of a team, and the way to its remote.
#[derive(Debug, Clone)]
pub struct GitTransport {
    /// The repository whose trees are judged, and in which no program is looked for.
    judged: GitLayout,
    directory: PathBuf,
    remote: String,
    empty_tree: String,
}

impl GitTransport {
    /// Opens the repository at `directory` and makes it if there is none.
    pub fn open(judged: &GitLayout, directory: PathBuf, remote: &str) -> Result<Self, StoreError> {
        let mut transport =
            Self { judged: judged.clone(), directory, remote: remote.to_owned(), empty_tree: String::new() };
        let config = transport.directory.join("config");
        let expected = own_config(judged.object_format);
        if !transport.directory.join("HEAD").exists() {
            for part in ["objects/info", "objects/pack", "refs/heads", "info"] {
                durable::create_dir(&transport.directory.join(part))?;
            }
            durable::write(&config, expected.as_bytes())?;
            durable::write(&transport.directory.join("HEAD"), b"ref: refs/heads/none\n")?;
        } else if durable::read(&config)?.as_deref() != Some(expected.as_bytes()) {
            durable::write(&config, expected.as_bytes())?;
        }
        let empty_tree = match judged.object_format {
            ObjectFormat::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            ObjectFormat::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        };
        empty_tree.clone_into(&mut transport.empty_tree);
        let tree_file = transport.directory.join("objects").join(&transport.empty_tree[..2]);
        if !tree_file.join(&transport.empty_tree[2..]).exists() {
            transport.local(&["hash-object", "-w", "-t", "tree", "--stdin"], Some(b""))?;
        }
        Ok(transport)
    }

    pub fn remote(&self) -> &str {
        &self.remote
    }

    /// Returns whether a file is the configuration of such a repository, word for word.
    pub fn is_own_config(path: &Path) -> bool {
        let found = durable::read_at_most(path, MAX_CONFIG_BYTES).ok().flatten();
        let formats = [ObjectFormat::Sha1, ObjectFormat::Sha256];
        found.is_some_and(|found| formats.iter().any(|format| own_config(*format).as_bytes() == found))
    }

    /// Returns the remote's references whose names begin with `prefix`, with the commits they point to.
    pub fn remote_refs(&self, prefix: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let pattern = format!("{prefix}*");
        let answer = self.exchange(&["ls-remote", "--refs", "--", &self.remote, &pattern])?;
        let Exchange::Answered(captured) = answer else {
            return Err(self.unreachable("it did not answer in time"));
        };
        if !captured.succeeded() {
            return Err(self.failure(&captured));
        }
        let text = String::from_utf8_lossy(&captured.stdout);
        let lines = text.lines().filter_map(|line| line.split_once('\t'));
        // Git matches the end of a name, too: `refs/heads/refs/…` is none of ours.
        let own = lines.filter(|(_, name)| name.starts_with(prefix));
        Ok(own.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    /// Brings references here under the same names. A reference that does not lead on from the one that is here is
    /// refused: the remote lost or rewrote a part of it.
    pub fn fetch(&self, names: &[&str], may_jump: bool) -> Result<(), StoreError> {
        names.chunks(MAX_REFERENCES_PER_FETCH).try_for_each(|names| self.fetch_some(names, may_jump))
    }

    fn fetch_some(&self, names: &[&str], may_jump: bool) -> Result<(), StoreError> {
        let force = if may_jump { "+" } else { "" };
        let specs: Vec<String> = names.iter().map(|name| format!("{force}{name}:{name}")).collect();
        let mut words =
            vec!["fetch", "--no-progress", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"];
        words.extend(["--", &self.remote]);
        words.extend(specs.iter().map(String::as_str));
        let Exchange::Answered(captured) = self.exchange(&words)? else {
            return Err(self.unreachable("it did not answer in time"));
        };
        if captured.succeeded() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&captured.stderr);
        if words.contains("non-fast-forward") || words.contains("[rejected]") {
            let why = "the log of the team lost events, or was replaced by another one".into();
            return Err(StoreError::Shortened { path: PathBuf::from(self.name()), why });
        }
        Err(self.failure(&captured))
    }

    /// Moves references of the remote, all or none, each only from where it is expected. Never forces: a `+` would beat the
    /// comparison.
    pub fn push(&self, moves: &[RefMove]) -> Result<PushOutcome, StoreError> {
        let leases: Vec<String> = moves
            .iter()
            .map(|it| format!("--force-with-lease={}:{}", it.name, it.from.as_deref().unwrap_or("")))
            .collect();
        let specs: Vec<String> = moves.iter().map(|it| format!("{}:{}", it.to, it.name)).collect();
        let mut words = vec!["push", "--porcelain", "--no-verify", "--no-signed"];
        // Not every server takes several references at once or not at all; one alone is atomic anyway.
        if moves.len() > 1 {
            words.push("--atomic");
        }
        words.extend(leases.iter().map(String::as_str));
        words.extend(["--", &self.remote]);
        words.extend(specs.iter().map(String::as_str));
        let Exchange::Answered(captured) = self.exchange(&words)? else { return Ok(PushOutcome::Unknown) };
        let answer = String::from_utf8_lossy(&captured.stdout).into_owned();
        if captured.succeeded() {
            for it in moves {
                self.local(&["update-ref", &it.name, &it.to], None)?;
            }
            return Ok(PushOutcome::Done);
        }
        let refused: Vec<&str> = answer.lines().filter(|line| line.starts_with('!')).collect();
        let is_moved = |line: &&str| {
            [
                "stale info",
                "fetch first",
                "non-fast-forward",
                "failed to update ref",
                "cannot lock ref",
                "incorrect old value",
                "already exists",
            ]
            .iter()
            .any(|sign| line.contains(sign))
        };
        if refused.iter().any(is_moved) {
            return Ok(PushOutcome::Moved);
        }
        if let Some(line) = refused.iter().find(|line| line.contains("remote rejected")) {
            return Err(StoreError::Denied { store: self.name(), why: escape(line.as_bytes()) });
        }
        match self.failure(&captured) {
            // Broken off in between: the other side may have gone on.
            StoreError::Unreachable { .. } if !never_began(&captured) => Ok(PushOutcome::Unknown),
            error => Err(error),
        }
    }

    /// Stores a commit with one line of header, one of body and no files.
    pub fn write_commit(&self, parent: Option<&str>, at: u64, message: &str) -> Result<String, StoreError> {
        let parent = parent.map_or_else(String::new, |id| format!("parent {id}\n"));
        let person = format!("Probity <probity@localhost> {at} +0000");
        let tree = &self.empty_tree;
        let raw = format!("tree {tree}\n{parent}author {person}\ncommitter {person}\n\n{message}\n");
        let answer = self.local(&["hash-object", "-w", "-t", "commit", "--stdin"], Some(raw.as_bytes()))?;
        Ok(String::from_utf8_lossy(&answer).trim().to_owned())
    }

    /// Returns the newest `limit` commits of the chain that ends with `id`, newest first. `None` if `id` is not here.
    pub fn chain(&self, id: &str, skip: usize, limit: usize) -> Result<Option<Vec<ChainCommit>>, StoreError> {
        let (skip, limit) = (format!("--skip={skip}"), format!("--max-count={limit}"));
        let words = ["log", "-z", "--no-show-signature", "--format=%H%n%B", &skip, &limit, id, "--"];
        let captured = self.run(&words, None, &LOCAL_ONLY)?;
        let Exchange::Answered(captured) = captured else { return Err(self.unreachable("git hangs")) };
        if !captured.succeeded() {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&captured.stdout);
        let records = text.split('\0').filter(|record| !record.trim().is_empty());
        let commit = |record: &str| {
            let (id, message) = record.trim_start().split_once('\n')?;
            Some(ChainCommit { id: id.to_owned(), message: message.trim_end_matches('\n').to_owned() })
        };
        Ok(Some(records.filter_map(commit).collect()))
    }

    /// Returns the references that are here, with the commits they point to.
    pub fn local_refs(&self, prefix: &str) -> Result<BTreeMap<String, String>, StoreError> {
        let answer = self.local(&["for-each-ref", "--format=%(objectname) %(refname)", prefix], None)?;
        let text = String::from_utf8_lossy(&answer);
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        Ok(lines.map(|(id, name)| (name.to_owned(), id.to_owned())).collect())
    }

    fn local(&self, words: &[&str], input: Option<&[u8]>) -> Result<Vec<u8>, StoreError> {
        match self.run(words, input, &LOCAL_ONLY)? {
            Exchange::Answered(captured) if captured.succeeded() => Ok(captured.stdout),
            Exchange::Answered(captured) => {
                let why = escape(String::from_utf8_lossy(&captured.stderr).trim().as_bytes());
                Err(StoreError::Engine {
                    path: self.directory.clone(),
                    why: format!("git {}: {why}", words[0]),
                })
            }
            Exchange::TimedOut => Err(self.unreachable("git hangs")),
        }
    }

    fn exchange(&self, words: &[&str]) -> Result<Exchange, StoreError> {
        self.run(words, None, &[("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh")])
    }

    fn run(
        &self,
        words: &[&str],
        input: Option<&[u8]>,
        extra: &[(&str, &str)],
    ) -> Result<Exchange, StoreError> {
        let cannot = |source| StoreError::Io { path: PathBuf::from("git"), source };
        let program = git_program(&self.judged).map_err(|error| cannot(error.into()))?;
        let mut environment = ProcessEnvironment::empty();
        for name in EXCHANGE_VARIABLES {
            if let Some(value) = std::env::var_os(name) {
                environment = environment.with(name, value);
            }
        }
        if std::env::var_os("GIT_SSH_COMMAND").is_none() {
            environment = environment.with("GIT_SSH_COMMAND", "ssh -oBatchMode=yes -oConnectTimeout=15");
        }
        let fixed = [
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_ASKPASS", "/bin/false"),
            ("LC_ALL", "C"),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
        ];
        for (name, value) in fixed.iter().chain(extra) {
            environment = environment.with(name, value);
        }
        // A file `commondir` in the repository would lead git to a configuration that others wrote; the variable wins.
        let environment =
            environment.with("GIT_COMMON_DIR", self.directory.as_os_str()).with("PATH", &program.search_path);
        let mut argv: Vec<OsString> =
            vec![program.path.into(), "--git-dir".into(), self.directory.clone().into()];
        for setting in EXCHANGE_SETTINGS {
            argv.extend(["-c".into(), setting.into()]);
        }
        argv.extend(words.iter().map(OsString::from));
        let limits = CaptureLimits { time: EXCHANGE_TIMEOUT, output_bytes: MAX_ANSWER_BYTES };
        let input = input.map(|bytes| file_of(bytes).map_err(cannot)).transpose()?;
        tracing::debug!(command = ?words, "git exchange");
        match capture_from(&argv, &environment, Path::new("/"), limits, input) {
            Ok(captured) => Ok(Exchange::Answered(captured)),
            Err(CaptureError::TimedOut { .. }) => Ok(Exchange::TimedOut),
            Err(error) => Err(StoreError::Engine { path: self.directory.clone(), why: error.to_string() }),
        }
    }

    /// The remote's name in messages, without a password.
    fn name(&self) -> String {
        shown_remote(&self.remote)
    }

    fn unreachable(&self, why: &str) -> StoreError {
        StoreError::Unreachable { store: self.name(), why: why.to_owned() }
    }

    fn failure(&self, captured: &CapturedOutput) -> StoreError {
        let words = String::from_utf8_lossy(&captured.stderr).into_owned();
        let line = words
            .lines()
            .rev()
            .find(|line| line.starts_with("fatal:") || line.starts_with("ERROR"))
            .or(words.lines().last());
        let why = escape(line.unwrap_or("git failed without a word").as_bytes());
        let lower = words.to_lowercase();
        let is_denied = [
            "permission denied",
            "authentication failed",
            "could not read username",
            "403",
            "401",
            "not authorized",
            "access denied",
        ]
        .iter()
        .any(|sign| lower.contains(sign));
        let store = self.name();
        match captured.outcome {
            JobOutcome::Exited(_) if is_denied => StoreError::Denied { store, why },
            JobOutcome::Exited(_) if lower.contains("does not appear to be a git repository") => {
                StoreError::Unreachable { store, why: "there is no git repository at this address".into() }
            }
            _ => StoreError::Unreachable { store, why },
        }
    }
}

/// Returns true if a failed exchange ended before anything was sent.
fn never_began(captured: &CapturedOutput) -> bool {
    let words = String::from_utf8_lossy(&captured.stderr).to_lowercase();
    [
        "could not resolve",
        "connection refused",
        "unable to connect",
        "unable to access",
        "no route to host",
        "does not appear to be a git repository",
        "could not read from remote",
    ]
    .iter()
    .any(|sign| words.contains(sign))
}

enum Exchange {
    Answered(CapturedOutput),
    TimedOut,
}

const LOCAL_ONLY: [(&str, &str); 1] = [("GIT_ALLOW_PROTOCOL", "none")];

fn file_of(bytes: &[u8]) -> std::io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Returns an address for messages, without the name and password that it may hold.
pub fn shown_remote(remote: &str) -> String {
    let shown = match remote.split_once("://") {
        Some((scheme, rest)) => {
            match rest.split_once('@').filter(|(user, _)| user.contains(':') && !user.contains('/')) {
                Some((_, place)) => format!("{scheme}://{place}"),
                None => remote.to_owned(),
            }
        }
        None => remote.to_owned(),
    };
    escape(shown.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_is_not_shown() {
        assert_eq!(shown_remote("https://ann:secret@example.org/r.git"), "https://example.org/r.git");
        assert_eq!(shown_remote("ssh://git@example.org/r.git"), "ssh://git@example.org/r.git");
        assert_eq!(shown_remote("git@example.org:r.git"), "git@example.org:r.git");
    }
}

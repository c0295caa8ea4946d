//! The environment variables of a job, chosen by name and never inherited by accident.
//!
//! The agent works in its user's environment. A gate gets a clean one: a short list of variables that tools need to
//! find themselves, the names that its sealed definition lists, and the three `PROBITY_…` facts. Variables that
//! redirect git never reach a gate, even if a policy lists them, because a gate could then judge another tree. The same
//! holds for the variables that set Python's bytecode location; [`ProcessEnvironment::with_python_cache`] sets them.

use crate::secrets::without_userinfo;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The variables that a gate sees if they are set; a name that ends in `*` is a prefix.
pub const ALLOWED_VARIABLES: &[&str] = &[
    // User and location
    "HOME",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "USER",
    // Language, time, terminal
    "COLORTERM",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "NO_COLOR",
    "SOURCE_DATE_EPOCH",
    "TERM",
    "TZ",
    // Tool locations
    "CARGO_HOME",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "PYENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "VIRTUAL_ENV",
    "XDG_*",
    // Network settings of the machine
    "ALL_PROXY",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "all_proxy",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    // Set on build servers
    "CI",
];

/// The variables that no gate inherits, even if its definition lists them.
const FORBIDDEN_VARIABLES: &[&str] =
    &["GIT_*", "PROBITY_*", "PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX"];

/// The variable that holds the run a process belongs to.
pub const RUN_VARIABLE: &str = "PROBITY_RUN_ID";

/// The environment of a job, sorted by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessEnvironment(BTreeMap<OsString, OsString>);

impl ProcessEnvironment {
    pub fn empty() -> Self {
        Self::default()
    }

    /// Returns all variables of this process, for the agent's command.
    pub fn inherited() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// Returns the variables of this process that are [`ALLOWED_VARIABLES`] or listed in `extra`, for gates.
    ///
    /// `GIT_…`, `PROBITY_…` and the location of Python bytecode are left out even when listed. `PATH` loses its
    /// relative entries, which would be looked up in the tree being judged.
    pub fn allow_listed(extra: &[String]) -> Self {
        Self::inherited().retain_allowed(extra)
    }

    /// Adds `PROBITY_RUN_ID` and `PROBITY_REPO_DIR`.
    #[must_use]
    pub fn with_run(self, run_id: &str, repo_dir: &Path) -> Self {
        self.with(RUN_VARIABLE, run_id).with("PROBITY_REPO_DIR", repo_dir)
    }

    /// Adds `PROBITY_GATE_ID`.
    #[must_use]
    pub fn with_gate(self, gate_id: &str) -> Self {
        self.with("PROBITY_GATE_ID", gate_id)
    }

    /// Keeps Python from using bytecode in the tree, which may not correspond to its source. Python looks for bytecode
    /// in `cache`, an empty directory, instead.
    #[must_use]
    pub fn with_python_cache(self, cache: &Path) -> Self {
        self.with("PYTHONDONTWRITEBYTECODE", "1").with("PYTHONPYCACHEPREFIX", cache)
    }

    #[must_use]
    pub fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.0.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Self {
        self.0.remove(name.as_ref());
        self
    }

    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.0.get(name.as_ref()).map(OsString::as_os_str)
    }

    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    fn retain_allowed(mut self, extra: &[String]) -> Self {
        self.0.retain(|name, _| is_allowed(name.as_bytes(), extra));
        if let Some(path) = self.0.get_mut(OsStr::new("PATH")) {
            *path = absolute_entries(path);
        }
        for (_, proxy) in self.0.iter_mut().filter(|(name, _)| is_proxy(name.as_bytes())) {
            *proxy = OsString::from_vec(without_proxy_user(proxy.as_bytes()));
        }
        self
    }
}

fn is_allowed(name: &[u8], extra: &[String]) -> bool {
    let listed = ALLOWED_VARIABLES.iter().any(|pattern| matches(pattern, name));
    let asked_for = extra.iter().any(|wanted| wanted.as_bytes() == name);
    (listed || asked_for) && !FORBIDDEN_VARIABLES.iter().any(|pattern| matches(pattern, name))
}

fn is_proxy(name: &[u8]) -> bool {
    name.to_ascii_lowercase().ends_with(b"_proxy") && !name.eq_ignore_ascii_case(b"no_proxy")
}

/// Returns the address of a proxy without its user and password: what a gate prints is in the evidence.
fn without_proxy_user(proxy: &[u8]) -> Vec<u8> {
    match proxy.iter().rposition(|byte| *byte == b'@') {
        // A proxy may be written without its scheme.
        Some(at) if !proxy.windows(3).any(|window| window == b"://") => proxy[at + 1..].to_vec(),
        _ => without_userinfo(proxy),
    }
}

fn matches(pattern: &str, name: &[u8]) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => name == pattern.as_bytes(),
    }
}

/// Returns the absolute entries of a search path. An empty entry means the current directory, so it is dropped too.
fn absolute_entries(path: &OsStr) -> OsString {
    let kept: Vec<&[u8]> =
        path.as_bytes().split(|&byte| byte == b':').filter(|entry| entry.starts_with(b"/")).collect();
    OsStr::from_bytes(&kept.join(&b':')).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(variables: &[(&str, &str)]) -> ProcessEnvironment {
        variables.iter().fold(ProcessEnvironment::empty(), |all, (name, value)| all.with(name, value))
    }

    fn names(environment: &ProcessEnvironment) -> Vec<&str> {
        environment.iter().map(|(name, _)| name.to_str().unwrap()).collect()
    }

    #[test]
    fn keeps_only_what_is_listed() {
        let all =
            given(&[("LC_ALL", "C"), ("LD_PRELOAD", "x"), ("SECRET", "x"), ("HOME", "/h"), ("LCX", "")]);
        assert_eq!(names(&all.retain_allowed(&[])), ["HOME", "LC_ALL"]);
    }

    #[test]
    fn a_proxy_loses_its_password() {
        let all = given(&[
            ("HTTPS_PROXY", "http://ann:pw@proxy:3128"),
            ("http_proxy", "ann:pw@proxy:3128"),
            ("NO_PROXY", "a@b"),
        ]);
        let kept = all.retain_allowed(&[]);
        let value = |name| kept.get(name).and_then(OsStr::to_str);
        assert_eq!(value("HTTPS_PROXY"), Some("http://proxy:3128"));
        assert_eq!((value("http_proxy"), value("NO_PROXY")), (Some("proxy:3128"), Some("a@b")));
    }

    #[test]
    fn a_gate_may_ask_for_more() {
        let all = given(&[("SECRET", "x"), ("SECRETS", "x"), ("A", "x")]);
        assert_eq!(names(&all.retain_allowed(&["SECRET".into()])), ["SECRET"]);
    }

    #[test]
    fn variables_that_redirect_git_never_pass() {
        let all = given(&[("GIT_DIR", "/else"), ("PROBITY_RUN_ID", "old"), ("TERM", "dumb")]);
        assert_eq!(names(&all.retain_allowed(&["GIT_DIR".into(), "PROBITY_RUN_ID".into()])), ["TERM"]);
    }

    #[test]
    fn where_python_keeps_bytecode_is_not_for_the_policy_to_say() {
        let all = given(&[
            ("PYTHONPYCACHEPREFIX", "/else"),
            ("PYTHONDONTWRITEBYTECODE", ""),
            ("PYTHONPATH", "lib"),
        ]);
        let wanted = ["PYTHONPYCACHEPREFIX", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"].map(String::from);
        let gate = all.retain_allowed(&wanted).with_python_cache(Path::new("/private"));
        assert_eq!(names(&gate), ["PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "PYTHONPYCACHEPREFIX"]);
        assert_eq!(gate.get("PYTHONPYCACHEPREFIX").unwrap(), "/private");
    }

    #[test]
    fn the_search_path_keeps_absolute_entries_only() {
        let all = given(&[("PATH", ":/usr/bin:.:node_modules/.bin:/bin:")]).retain_allowed(&[]);
        assert_eq!(all.get("PATH").unwrap(), "/usr/bin:/bin");
    }

    #[test]
    fn the_facts_of_a_run_are_added() {
        let facts = ProcessEnvironment::empty().with_run("r1", Path::new("/repo")).with_gate("lint");
        let shown: Vec<String> =
            facts.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect();
        assert_eq!(shown, ["PROBITY_GATE_ID=lint", "PROBITY_REPO_DIR=/repo", "PROBITY_RUN_ID=r1"]);
    }
}

//! Files that no agent may write: the configuration of agents and their hooks, Probity's policy and state.

/// Files below a project or a home directory that switch hooks, permissions or MCP servers. A trailing slash means
/// everything below.
const AGENT_CONFIGURATION: [&str; 29] = [
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/hooks/",
    ".claude.json",
    ".mcp.json",
    ".codex/config.toml",
    ".codex/hooks.json",
    ".codex/hooks/",
    ".codex/rules/",
    ".codex/requirements.toml",
    ".gemini/settings.json",
    ".gemini/hooks/",
    ".gemini/policies/",
    ".gemini/trusted_hooks.json",
    ".gemini/trustedFolders.json",
    ".qwen/settings.json",
    ".qwen/hooks/",
    ".cursor/hooks.json",
    ".cursor/hooks/",
    ".cursor/mcp.json",
    ".cursor/cli.json",
    ".github/hooks/",
    ".copilot/",
    "opencode.json",
    "opencode.jsonc",
    "opencode-probity.js",
    ".opencode/",
    ".config/opencode/",
    ".config/github-copilot/",
];

/// Managed settings, outside any project.
const MANAGED_CONFIGURATION: [&str; 3] = ["/etc/claude-code/", "/etc/codex/", "/etc/gemini-cli/"];

/// Probity's own files at the top of a tree.
const POLICY_FILES: [&str; 3] = ["probity.toml", "probity.json", ".probity/"];

/// Git's files that run programs.
const GIT_PROGRAMS: [&str; 3] = [".git/hooks/", ".git/config", ".git/info/attributes"];

/// What a file that may not be written is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuardedFileKind {
    AgentConfiguration,
    ProbityPolicy,
    ProbityState,
    GitPrograms,
    GuardProgram,
}

impl GuardedFileKind {
    pub(crate) const fn describe(self) -> &'static str {
        match self {
            Self::AgentConfiguration => "configures agents or their hooks",
            Self::ProbityPolicy => "is Probity's policy",
            Self::ProbityState => "is Probity's state",
            Self::GitPrograms => "configures programs that git runs",
            Self::GuardProgram => "is a program of the guard",
        }
    }
}

/// Classifies a write to the absolute `path`. With `is_deep` everything below counts as written, too.
pub fn guarded_file(
    path: &str,
    is_deep: bool,
    roots: &[&str],
    home: &str,
    state_dir: Option<&str>,
) -> Option<GuardedFileKind> {
    // A command on the whole tree is judged by the scope.
    let is_deep = is_deep && !roots.contains(&path);
    // File systems that fold case open the same file by another spelling, and a refusal of a look-alike costs nothing.
    let (path, home) = (&fold_case(path), &fold_case(home));
    let roots: Vec<String> = roots.iter().map(|root| fold_case(root)).collect();
    let state_dir = state_dir.map(fold_case);
    if state_dir.is_some_and(|state| touches(path, &format!("{state}/"), is_deep)) {
        return Some(GuardedFileKind::ProbityState);
    }
    if MANAGED_CONFIGURATION.iter().any(|guarded| touches(path, guarded, is_deep)) {
        return Some(GuardedFileKind::AgentConfiguration);
    }
    let below = |base: &str, names: &[&str]| {
        names.iter().any(|name| touches(path, &fold_case(&format!("{base}/{name}")), is_deep))
    };
    for root in &roots {
        if below(root, &POLICY_FILES) {
            return Some(GuardedFileKind::ProbityPolicy);
        }
        if below(root, &GIT_PROGRAMS) {
            return Some(GuardedFileKind::GitPrograms);
        }
    }
    // Agents also read configuration from directories below the top, so the place in the tree does not matter.
    let in_tree = roots.iter().any(|root| {
        path.strip_prefix(root.as_str()).is_some_and(|rest| {
            rest.match_indices('/').any(|(at, _)| {
                let base = &path[..path.len() - rest.len() + at];
                below(base, &AGENT_CONFIGURATION)
            })
        })
    });
    (in_tree || below(home, &AGENT_CONFIGURATION)).then_some(GuardedFileKind::AgentConfiguration)
}

/// Folds case as file systems do, with the letters of other scripts that fold to ASCII.
fn fold_case(path: &str) -> String {
    if path.is_ascii() { path.to_ascii_lowercase() } else { path.to_uppercase().to_lowercase() }
}

/// Returns whether writing `path` touches `guarded`, a file or, with a trailing slash, a directory.
pub(crate) fn touches(path: &str, guarded: &str, is_deep: bool) -> bool {
    let is_above = || {
        let dir = guarded.trim_end_matches('/');
        dir == path || dir.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
    };
    match guarded.strip_suffix('/') {
        Some(dir) => {
            path == dir && is_deep
                || path.strip_prefix(guarded).is_some_and(|rest| !rest.is_empty())
                || is_deep && is_above()
        }
        None => path == guarded || is_deep && is_above(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str, is_deep: bool) -> Option<GuardedFileKind> {
        guarded_file(path, is_deep, &["/repo"], "/home/u", Some("/repo/.git/probity"))
    }

    #[test]
    fn configuration_of_agents_policy_and_state_are_guarded() {
        use GuardedFileKind::{AgentConfiguration, GitPrograms, ProbityPolicy, ProbityState};
        for path in [
            "/repo/.claude/settings.json",
            "/repo/.claude/settings.local.json",
            "/repo/sub/.claude/settings.json",
            "/home/u/.claude/settings.json",
            "/home/u/.codex/config.toml",
            "/repo/.github/hooks/probity.json",
            "/repo/.opencode/plugins/x.js",
            "/etc/claude-code/managed-settings.json",
        ] {
            assert_eq!(kind(path, false), Some(AgentConfiguration), "{path}");
        }
        assert_eq!(kind("/repo/probity.toml", false), Some(ProbityPolicy));
        assert_eq!(kind("/repo/.git/probity/guard.json", false), Some(ProbityState));
        assert_eq!(kind("/repo/.git/hooks/pre-commit", false), Some(GitPrograms));
    }

    #[test]
    fn another_spelling_of_the_same_name_is_guarded() {
        for path in ["/repo/.Claude/Settings.json", "/repo/.claude/\u{17f}ettings.json", "/repo/PROBITY.toml"]
        {
            assert!(kind(path, false).is_some(), "{path}");
        }
    }

    #[test]
    fn removing_a_directory_removes_what_is_in_it() {
        for path in ["/repo/.claude", "/repo/.git", "/repo/.git/probity", "/home/u/.codex", "/repo/.github"] {
            assert!(kind(path, true).is_some(), "{path}");
        }
        assert_eq!(kind("/repo", true), None);
    }

    #[test]
    fn ordinary_files_are_not_guarded() {
        for path in
            ["/repo/src/a.rs", "/repo/.claude/agents/x.md", "/repo/.github/workflows/ci.yml", "/tmp/x"]
        {
            assert_eq!(kind(path, false), None, "{path}");
        }
        assert_eq!(kind("/repo/src", true), None);
    }
}

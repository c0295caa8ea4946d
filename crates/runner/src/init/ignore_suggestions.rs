//! Suggests build outputs from the project's `.gitignore` that no proposal covers, for the user to choose from. They
//! are not exempt automatically: ignore rules keep clutter out of commits and also cover secrets and settings, and a
//! run that changes those should be noticed.

use probity_paths::{RepoPath, Scope};

/// Parts of names that suggest secrets or settings, in lower case.
const PERSONAL_NAME_PARTS: &[&str] = &[
    ".env",
    "secret",
    "credential",
    "password",
    "token",
    ".pem",
    ".key",
    ".p12",
    ".pfx",
    ".crt",
    "id_rsa",
    ".npmrc",
    ".pypirc",
    ".netrc",
    "config",
    "settings",
    ".local",
    ".idea",
    ".vscode",
    ".vs",
    ".claude",
    ".cursor",
    ".codex",
    ".gemini",
    "probity",
    ".iml",
    ".sw",
    ".python-version",
    ".tool-versions",
    ".workon",
    ".git",
];

const SOURCE_SUFFIXES: &[&str] = &[
    ".py", ".pyc", ".js", ".ts", ".rs", ".go", ".c", ".h", ".cc", ".cpp", ".java", ".rb", ".php", ".sh",
    ".md", ".toml", ".yml", ".yaml",
];

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct OutputSuggestions {
    /// Patterns for `build_outputs`, in the order of the rules.
    pub(super) patterns: Vec<String>,
    /// Rules left out because their text would not be displayed as written.
    pub(super) n_deceptive: usize,
}

/// Returns the patterns for `build_outputs` that the rules suggest.
pub(super) fn suggestions(rules: &[u8], exempt: &Scope, kept: &[RepoPath]) -> OutputSuggestions {
    let (mut found, mut n_deceptive): (Vec<String>, usize) = (Vec::new(), 0);
    for rule in probity_snapshot::git::ignore_patterns(rules) {
        // Text an editor would not show must not reach a file that a person is asked to read and uncomment.
        let Ok(pattern) = String::from_utf8(rule.pattern) else {
            n_deceptive += 1;
            continue;
        };
        if probity_core::bytes::is_deceptive_text(&pattern) {
            n_deceptive += 1;
            continue;
        }
        let name = pattern.rsplit('/').next().unwrap_or(&pattern);
        let is_file = !rule.dirs_only && (name.contains('*') || name.trim_start_matches('.').contains('.'));
        // Virtual environments are recognized by their content, and `env` may be a source directory.
        let is_known = is_covered(&pattern, exempt) || ["env", "ENV", "venv"].contains(&name);
        let pattern = if is_file { pattern.clone() } else { format!("{pattern}/**") };
        if !is_known
            && !found.contains(&pattern)
            && is_wanted(&pattern)
            && !covers_tracked_files(&pattern, kept)
        {
            found.push(pattern);
        }
    }
    OutputSuggestions { patterns: found, n_deceptive }
}

fn is_wanted(pattern: &str) -> bool {
    let pattern = pattern.to_lowercase();
    let names_something = pattern.chars().any(char::is_alphanumeric);
    let has = |parts: &[&str]| parts.iter().any(|part| pattern.contains(part));
    names_something && !has(PERSONAL_NAME_PARTS) && !SOURCE_SUFFIXES.iter().any(|end| pattern.ends_with(end))
}

/// Returns whether `exempt` already covers this pattern, judging by one sample path.
fn is_covered(pattern: &str, exempt: &Scope) -> bool {
    let sample = pattern.replace("**/", "").replace("/**", "/x").replace(['*', '?'], "x");
    let sample = RepoPath::parse(sample.as_bytes());
    sample.is_ok_and(|sample| exempt.contains(&sample) || exempt.contains(&path_inside(&sample)))
}

fn path_inside(directory: &RepoPath) -> RepoPath {
    directory.join(b"x").unwrap_or_else(|_| directory.clone())
}

/// Returns whether git tracks files there.
fn covers_tracked_files(pattern: &str, kept: &[RepoPath]) -> bool {
    Scope::parse(&[pattern]).map_or(true, |scope| kept.iter().any(|file| scope.contains(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_settings_sources_and_what_is_covered_are_left_out() {
        let rules = b"# comment\n.tox/\ndocs/_build\n*.gz\n.env\n.env.*\n*.pem\n.idea/\ntoy.py\n!keep.gz\n\
                      *\nnosetests.xml\nkept/\nbenchmarks/graphs\n/out\n";
        let exempt = Scope::parse(&["**/.tox/**"]).expect("patterns");
        let kept = [RepoPath::parse(b"kept/a").expect("a path")];
        assert_eq!(
            suggestions(rules, &exempt, &kept).patterns,
            ["docs/_build/**", "**/*.gz", "**/nosetests.xml", "benchmarks/graphs/**", "out/**"]
        );
    }

    #[test]
    fn rules_that_would_not_be_shown_as_they_are_written_are_left_out_and_counted() {
        let rules = "out/\nc1\u{9b}31m/\nbidi\u{202e}txt/\nzero\u{200b}width/\n";
        let rules = [rules.as_bytes(), b"not-text\xff/\n"].concat();
        let found = suggestions(&rules, &Scope::default(), &[]);
        assert_eq!(found, OutputSuggestions { patterns: vec!["**/out/**".into()], n_deceptive: 4 });
    }
}

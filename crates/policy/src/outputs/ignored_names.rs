//! What the `.gitignore` of a project says of files that its tools write.

use super::table::Ecosystem;
use super::{OutputProposal, ReadText};
use probity_paths::RepoPath;
use std::collections::BTreeSet;

/// Lock files, each with the ecosystem whose package manager writes it.
const LOCK_FILES: [(&str, &str); 4] = [
    ("Rust", "Cargo.lock"),
    ("JavaScript", "package-lock.json"),
    ("JavaScript", "yarn.lock"),
    ("JavaScript", "pnpm-lock.yaml"),
];

/// Proposes the lock files of libraries that do not keep theirs: every build writes them again.
pub(super) fn propose_lock_files(
    ecosystem: &Ecosystem,
    marker: &RepoPath,
    files: &[RepoPath],
    read: ReadText<'_>,
    found: &mut Vec<OutputProposal>,
) {
    let ignored = IgnoredNames::read(read);
    for (_, name) in LOCK_FILES.iter().filter(|(owner, _)| *owner == ecosystem.name) {
        let pattern = if ignored.anywhere.contains(*name) {
            format!("**/{name}")
        } else if ignored.at_root.contains(*name) {
            (*name).to_owned()
        } else {
            continue;
        };
        if !files.iter().any(|file| file.file_name() == name.as_bytes()) {
            found.push(OutputProposal { pattern, ecosystem: ecosystem.name, because: marker.clone() });
        }
    }
}

/// Names that the rules in the `.gitignore` at the root ignore.
#[derive(Default)]
pub(super) struct IgnoredNames {
    pub(super) anywhere: BTreeSet<String>,
    pub(super) at_root: BTreeSet<String>,
}

impl IgnoredNames {
    pub(super) fn read(read: ReadText<'_>) -> Self {
        let rules = RepoPath::parse(b".gitignore").ok().and_then(|file| read(&file)).unwrap_or_default();
        let mut names = Self::default();
        for rule in rules.lines().map(str::trim).filter(|rule| !rule.starts_with(['#', '!'])) {
            let name = rule.trim_end_matches('/').trim_start_matches("**/");
            match name.strip_prefix('/') {
                Some(name) if !name.contains('/') => names.at_root.insert(name.to_owned()),
                None if !name.contains('/') => names.anywhere.insert(name.to_owned()),
                _ => false,
            };
        }
        names
    }

    pub(super) fn contains(&self, name: &str, is_at_root: bool) -> bool {
        self.anywhere.contains(name) || (is_at_root && self.at_root.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::super::propose_build_outputs;
    use super::*;

    fn patterns(tree: &[&str], rules: &str) -> Vec<String> {
        let files: Vec<RepoPath> =
            tree.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect();
        let read = |file: &RepoPath| (file.as_bytes() == b".gitignore").then(|| rules.to_owned());
        let proposed = propose_build_outputs(&files, &read).into_iter().map(|proposal| proposal.pattern);
        proposed.filter(|pattern| pattern.contains("lock")).collect()
    }

    #[test]
    fn a_lock_file_is_exempt_where_the_project_ignores_it() {
        assert_eq!(patterns(&["Cargo.toml"], "/target\n/Cargo.lock\n"), ["Cargo.lock"]);
        assert_eq!(patterns(&["Cargo.toml", "package.json"], "Cargo.lock\n"), ["**/Cargo.lock"]);
        assert_eq!(patterns(&["package.json"], "yarn.lock\n"), ["**/yarn.lock"]);
        assert_eq!(patterns(&["package.json"], "Cargo.lock\n"), Vec::<String>::new());
        assert_eq!(patterns(&["Cargo.toml"], "/target\n"), Vec::<String>::new());
        assert_eq!(patterns(&["Cargo.toml", "Cargo.lock"], "Cargo.lock\n"), Vec::<String>::new());
    }
}

//! What builds write: proposals for `build_outputs`, from the files that a tree has.
//!
//! Careful by choice: an exemption hides changes. A directory is proposed only beside the file that makes a build
//! tool write there, only under the name that the tool uses by itself, and never when the tree keeps files in it.

use paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

/// A pattern for `build_outputs`, and the file that speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// The pattern.
    pub pattern: String,
    /// The file that makes a build tool write there.
    pub because: RepoPath,
}

/// Where a tool writes: beside each of its files, or beside the topmost only.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Each,
    Topmost,
}

/// A marker (a file name, or an extension with its dot), where its tool writes, and into which directories.
const MARKERS: &[(&str, Place, &[&str])] = &[
    ("Cargo.toml", Place::Topmost, &["target"]),
    ("package.json", Place::Each, &["node_modules"]),
    ("pom.xml", Place::Each, &["target"]),
    ("build.gradle", Place::Each, &["build", ".gradle"]),
    ("build.gradle.kts", Place::Each, &["build", ".gradle"]),
    ("conftest.py", Place::Topmost, &[".pytest_cache"]),
    ("pytest.ini", Place::Topmost, &[".pytest_cache"]),
    ("mix.exs", Place::Each, &["_build", "deps"]),
    ("Package.swift", Place::Each, &[".build"]),
    ("build.zig", Place::Each, &["zig-out", ".zig-cache"]),
    ("next.config.js", Place::Each, &[".next"]),
    ("next.config.mjs", Place::Each, &[".next"]),
    (".csproj", Place::Each, &["bin", "obj"]),
];

/// Proposes `build_outputs` for a tree with these files. Hand in the files that the tree is meant to keep (the
/// tracked ones, where there is version control).
pub fn propose_build_outputs(files: &[RepoPath]) -> Vec<Proposal> {
    let mut found: BTreeMap<String, RepoPath> = BTreeMap::new();
    for (marker, place, outputs) in MARKERS {
        for (directory, file) in directories_with(marker, *place, files) {
            for output in *outputs {
                let output = join(&directory, output.as_bytes());
                if let Some(pattern) = all_below(&output).filter(|_| !is_kept(&output, files)) {
                    found.entry(pattern).or_insert_with(|| file.clone());
                }
            }
        }
    }
    if let Some(python) = files.iter().find(|file| file.as_bytes().ends_with(b".py"))
        && !files.iter().any(|file| file.segments().any(|name| name == b"__pycache__"))
    {
        found.insert("**/__pycache__/**".into(), python.clone());
    }
    found.into_iter().map(|(pattern, because)| Proposal { pattern, because }).collect()
}

/// Directories (empty at the root) that hold a marker, each with the first marker in it.
fn directories_with(marker: &str, place: Place, files: &[RepoPath]) -> BTreeMap<Vec<u8>, RepoPath> {
    let mut holders: BTreeMap<Vec<u8>, RepoPath> = BTreeMap::new();
    for file in files.iter().filter(|file| is_marked(file.file_name(), marker)) {
        let directory = file.parent().map_or_else(Vec::new, |parent| parent.as_bytes().to_vec());
        holders.entry(directory).or_insert_with(|| file.clone());
    }
    if place == Place::Topmost {
        let all: BTreeSet<Vec<u8>> = holders.keys().cloned().collect();
        holders.retain(|directory, _| !all.iter().any(|other| is_below(directory, other)));
    }
    holders
}

fn is_marked(name: &[u8], marker: &str) -> bool {
    let is_extension = marker == ".csproj";
    name == marker.as_bytes() || is_extension && name.ends_with(marker.as_bytes())
}

fn is_below(directory: &[u8], other: &[u8]) -> bool {
    match directory.strip_prefix(other) {
        Some(rest) => !rest.is_empty() && (other.is_empty() || rest[0] == b'/'),
        None => false,
    }
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, name].join(&b'/') }
}

fn is_kept(directory: &[u8], files: &[RepoPath]) -> bool {
    files.iter().any(|file| file.is_covered_by(directory))
}

/// The pattern for everything below a directory whose name may hold characters that are special in patterns;
/// `None` when the name is no text and so cannot stand in `probity.toml`, or begins with `!`, which no pattern can
/// say exactly.
fn all_below(directory: &[u8]) -> Option<String> {
    let name = std::str::from_utf8(directory).ok().filter(|name| !name.starts_with('!'))?;
    let mut pattern = String::new();
    for letter in name.chars() {
        match letter {
            '*' | '?' | '[' => pattern.extend(['[', letter, ']']),
            _ => pattern.push(letter),
        }
    }
    Some(pattern + "/**")
}

#[cfg(test)]
mod tests {
    use super::*;
    use paths::Scope;

    fn files(names: &[&str]) -> Vec<RepoPath> {
        names.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect()
    }

    fn patterns(names: &[&str]) -> Vec<String> {
        propose_build_outputs(&files(names)).into_iter().map(|proposal| proposal.pattern).collect()
    }

    #[test]
    fn a_cargo_workspace_builds_at_its_top() {
        assert_eq!(patterns(&["Cargo.toml", "crates/a/Cargo.toml"]), ["target/**"]);
        assert_eq!(
            patterns(&["a/Cargo.toml", "ab/Cargo.toml", "a/b/Cargo.toml"]),
            ["a/target/**", "ab/target/**"]
        );
    }

    #[test]
    fn each_package_has_its_own_modules() {
        let found = patterns(&["package.json", "web/package.json"]);
        assert_eq!(found, ["node_modules/**", "web/node_modules/**"]);
    }

    #[test]
    fn python_leaves_caches_anywhere() {
        assert_eq!(patterns(&["src/a.py", "conftest.py"]), ["**/__pycache__/**", ".pytest_cache/**"]);
    }

    #[test]
    fn says_which_file_speaks_for_it() {
        let found = propose_build_outputs(&files(&["App/App.csproj"]));
        assert_eq!(found[0].pattern, "App/bin/**");
        assert_eq!(found[0].because, files(&["App/App.csproj"])[0]);
    }

    #[test]
    fn never_proposes_what_the_tree_keeps() {
        assert_eq!(patterns(&["build.gradle", "build/rules.txt"]), [".gradle/**"]);
        assert_eq!(patterns(&["README.md", "go.mod"]), Vec::<String>::new());
    }

    #[test]
    fn strange_directory_names_are_matched_as_they_are() {
        for name in ["a[x]*?", "a[b", "a\\b", " a "] {
            let found = patterns(&[&format!("{name}/Cargo.toml")]);
            let scope = Scope::parse(&found).expect("valid patterns");
            assert!(scope.lets_in(&files(&[&format!("{name}/target/debug/x")])[0]), "{name}");
            assert!(!scope.lets_in(&files(&["x/target/debug/x"])[0]), "{name}");
        }
        assert_eq!(patterns(&["!x/Cargo.toml"]), Vec::<String>::new());
    }
}

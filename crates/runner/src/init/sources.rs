//! Finds the sources of a tree, for an example that works.

use probity_paths::RepoPath;
use std::collections::BTreeMap;

const SOURCE_EXTENSIONS: &[&str] = &[
    "py", "js", "mjs", "cjs", "jsx", "ts", "tsx", "rs", "go", "java", "kt", "c", "cc", "cpp", "h", "hpp",
    "cs", "rb", "php", "ex", "exs", "swift", "zig", "scala", "hs", "dart", "sh", "vue", "svelte",
];

/// Directories with secondary sources, such as tests and tools.
const SECONDARY_DIRECTORIES: &[&str] = &[
    "test",
    "tests",
    "spec",
    "specs",
    "__tests__",
    "doc",
    "docs",
    "example",
    "examples",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "fuzz",
    "scripts",
    "tools",
    "ci",
    "vendor",
    "third_party",
    "fixtures",
];

/// Returns the scope with the most sources: a top-level directory, or the files at the root.
pub(super) fn example_scope(files: &[RepoPath]) -> Option<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files {
        let Some(end) = source_end(file) else { continue };
        let mut names = file.segments();
        let Some(first) = names.next().and_then(|name| std::str::from_utf8(name).ok()) else { continue };
        let scope = if names.next().is_none() { format!("*.{end}") } else { format!("{first}/**") };
        let is_plain = !first.starts_with(['.', '!']) && !first.contains(['*', '?', '[']);
        if is_plain && !SECONDARY_DIRECTORIES.contains(&first) {
            *counts.entry(scope).or_default() += 1;
        }
    }
    // Ties are broken by name, to keep the result deterministic.
    counts
        .into_iter()
        .max_by(|one, other| one.1.cmp(&other.1).then(other.0.cmp(&one.0)))
        .map(|(scope, _)| scope)
}

fn source_end(file: &RepoPath) -> Option<&str> {
    let name = std::str::from_utf8(file.file_name()).ok()?;
    let (_, end) = name.rsplit_once('.')?;
    SOURCE_EXTENSIONS.contains(&end).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(names: &[&str]) -> Option<String> {
        let files: Vec<RepoPath> =
            names.iter().map(|name| RepoPath::parse(name.as_bytes()).expect("a path")).collect();
        example_scope(&files)
    }

    #[test]
    fn the_directory_with_the_most_sources_is_named() {
        assert_eq!(
            scope(&["index.js", "lib/a.js", "lib/b.js", "test/a.js", "test/b.js", "test/c.js"]),
            Some("lib/**".into())
        );
        assert_eq!(scope(&["gin.go", "context.go", "binding/a.go"]), Some("*.go".into()));
        assert_eq!(scope(&["README.md", "docs/a.py"]), None);
        assert_eq!(scope(&["b/a.rs", "a/a.rs"]), Some("a/**".into()));
    }
}

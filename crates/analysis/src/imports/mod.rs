//! Resolves imports to files.
//!
//! Each family of languages has its rule: [`python`] packages, [`rust`] modules, [`javascript`] paths, [`go`]
//! modules, [`packages`] of classes (Java, Kotlin, C#, PHP), [`relative`] files (C, C++, Ruby). An import is
//! of the project, external, or *dangling*: it names a part of the project that does not exist. In doubt it
//! is external, because a false alarm would be worse.

mod go;
mod javascript;
mod names;
mod packages;
mod python;
mod relative;
mod rust;

use crate::corpus::CorpusFile;
use crate::facts::{ImportKind, ImportStatement, count};
use crate::language::Language;
use probity_paths::RepoPath;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What an import refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ImportTarget {
    /// Files of the project: indices.
    Files(Vec<u32>),
    /// Not part of the project, or unknown.
    External,
    /// A part of the project that does not exist.
    Missing,
}

/// A dependency of one file on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DependencyEdge {
    pub from: u32,
    pub to: u32,
    pub kind: EdgeKind,
    /// The import in `from` that causes it, if there is one.
    pub import: Option<u32>,
}

/// How one file needs another, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EdgeKind {
    /// To load.
    Load,
    /// Later, or for types only.
    Later,
    /// As a part of its own module.
    Part,
    /// By a name of the same package, which needs no import.
    Implicit,
}

/// Everything known about the files of a tree.
pub(crate) struct SourceTree<'a> {
    pub files: &'a [CorpusFile],
    /// Configuration files that name packages, with their text.
    pub governance: &'a BTreeMap<RepoPath, &'a [u8]>,
    /// Every path of the tree, read or not.
    pub paths: BTreeSet<&'a [u8]>,
    by_path: BTreeMap<&'a [u8], u32>,
}

impl<'a> SourceTree<'a> {
    /// `others` are paths of the tree besides the files and the configuration.
    pub(crate) fn new(
        files: &'a [CorpusFile],
        governance: &'a BTreeMap<RepoPath, &'a [u8]>,
        others: impl Iterator<Item = &'a RepoPath>,
    ) -> Self {
        let by_path: BTreeMap<_, _> =
            files.iter().enumerate().map(|(index, file)| (file.path.as_bytes(), count(index))).collect();
        let others = others.chain(governance.keys()).map(RepoPath::as_bytes);
        let paths = by_path.keys().copied().chain(others).collect();
        Self { files, governance, paths, by_path }
    }

    fn file(&self, path: &[u8]) -> Option<u32> {
        self.by_path.get(path).copied()
    }

    /// Returns the file at the first of some paths that has one.
    fn first_file(&self, paths: impl IntoIterator<Item = String>) -> Option<u32> {
        paths.into_iter().find_map(|path| self.file(path.as_bytes()))
    }

    fn exists(&self, path: &str) -> bool {
        self.paths.contains(path.as_bytes())
    }

    /// Returns true if anything is known below a directory.
    fn has_folder(&self, directory: &str) -> bool {
        let prefix = format!("{directory}/");
        self.paths.range(prefix.as_bytes()..).next().is_some_and(|path| path.starts_with(prefix.as_bytes()))
    }

    fn governance_text(&self, name: &'static str) -> impl Iterator<Item = (String, &'a str)> + '_ {
        let named = self.governance.iter().filter(move |(path, _)| path.file_name() == name.as_bytes());
        named.filter_map(|(path, bytes)| Some((directory(path), std::str::from_utf8(bytes).ok()?)))
    }
}

/// Returns the directory of a path as text; empty at the root.
fn directory(path: &RepoPath) -> String {
    path.parent()
        .map_or_else(String::new, |directory| String::from_utf8_lossy(directory.as_bytes()).into_owned())
}

fn join(directory: &str, name: &str) -> String {
    match (directory.is_empty(), name.is_empty()) {
        (true, _) => name.to_owned(),
        (_, true) => directory.to_owned(),
        _ => format!("{directory}/{name}"),
    }
}

/// Resolves a relative path within a directory. Returns `None` if it climbs out of the tree.
fn resolve_relative(directory: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// What the imports of a tree, or of one file, lead to.
#[derive(Default)]
pub(crate) struct ResolvedImports {
    /// Sorted, the strongest for each pair of files.
    pub edges: Vec<DependencyEdge>,
    /// Imports of project files that do not exist: (file, import).
    pub dangling: Vec<(u32, u32)>,
    /// Imports of names that a project file does not have: (file, import, name).
    pub missing_names: Vec<(u32, u32, String)>,
    /// Imports of what is not part of the project: (file, import).
    pub external: Vec<(u32, u32)>,
}

pub(crate) fn resolve(tree: &SourceTree<'_>) -> ResolvedImports {
    let resolvers = ImportResolvers::new(tree);
    let names = names::ModuleNameIndex::new(tree.files);
    let of_files: Vec<ResolvedImports> = (0..count(tree.files.len()))
        .into_par_iter()
        .map(|from| resolve_file(tree, &resolvers, &names, from))
        .collect();
    let mut all = ResolvedImports::default();
    for of_file in of_files {
        all.edges.extend(of_file.edges);
        all.dangling.extend(of_file.dangling);
        all.missing_names.extend(of_file.missing_names);
        all.external.extend(of_file.external);
    }
    all
}

/// Resolves the imports of one file.
fn resolve_file(
    tree: &SourceTree<'_>,
    resolvers: &ImportResolvers,
    names: &names::ModuleNameIndex,
    from: u32,
) -> ResolvedImports {
    let mut found = ResolvedImports::default();
    for (number, import) in (0..).zip(&tree.files[from as usize].facts.imports) {
        let target = resolvers.target(tree, from, import);
        let missing = names.missing(resolvers, tree, from, import, &target);
        found.missing_names.extend(missing.map(|name| (from, number, name)));
        match target {
            ImportTarget::Files(files) => found.edges.extend(files.into_iter().map(|to| DependencyEdge {
                from,
                to,
                kind: edge_kind(import.kind),
                import: Some(number),
            })),
            ImportTarget::Missing if !import.optional => found.dangling.push((from, number)),
            ImportTarget::External => found.external.push((from, number)),
            ImportTarget::Missing => {}
        }
    }
    let implicit = resolvers.packages.implicit(tree, from);
    found.edges.extend(implicit.into_iter().map(|to| DependencyEdge {
        from,
        to,
        kind: EdgeKind::Implicit,
        import: None,
    }));
    found.edges.retain(|edge| edge.from != edge.to);
    found.edges.sort_unstable();
    found.edges.dedup_by_key(|edge| edge.to);
    found
}

const fn edge_kind(kind: ImportKind) -> EdgeKind {
    match kind {
        ImportKind::Load => EdgeKind::Load,
        ImportKind::Deferred | ImportKind::TypeOnly => EdgeKind::Later,
        ImportKind::Part => EdgeKind::Part,
    }
}

struct ImportResolvers {
    python: python::PythonModules,
    rust: rust::CrateModules,
    javascript: javascript::JavaScriptPackages,
    go: go::GoModules,
    packages: packages::PackageIndex,
    relative: relative::FileNameIndex,
}

impl ImportResolvers {
    fn new(tree: &SourceTree<'_>) -> Self {
        Self {
            python: python::PythonModules::new(tree),
            rust: rust::CrateModules::new(tree),
            javascript: javascript::JavaScriptPackages::new(tree),
            go: go::GoModules::new(tree),
            packages: packages::PackageIndex::new(tree),
            relative: relative::FileNameIndex::new(tree),
        }
    }

    fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        match tree.files[from as usize].language {
            Language::Python => self.python.target(tree, from, import),
            Language::Rust => self.rust.target(tree, from, import),
            Language::JavaScript | Language::TypeScript | Language::Tsx => {
                self.javascript.target(tree, from, import)
            }
            Language::Go => self.go.target(import),
            // PHP imports both: classes of packages, and files.
            Language::Php if import.module.starts_with('.') => self.relative.target(tree, from, import),
            Language::Bash | Language::C | Language::Cpp | Language::Ruby => {
                self.relative.target(tree, from, import)
            }
            Language::Java | Language::Kotlin | Language::CSharp | Language::Php => {
                self.packages.target(tree, from, import)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_stay_inside_the_tree() {
        assert_eq!(resolve_relative("a/b", "./c").as_deref(), Some("a/b/c"));
        assert_eq!(resolve_relative("a/b", "../c/./d").as_deref(), Some("a/c/d"));
        assert_eq!(resolve_relative("", "c").as_deref(), Some("c"));
        assert_eq!(resolve_relative("a", "../../c"), None);
    }
}

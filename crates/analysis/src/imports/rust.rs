//! Rust: the modules of each crate, and the crates of a workspace by all their names.

use super::{ImportTarget, SourceTree, directory, join};
use crate::facts::{ImportKind, ImportStatement, count};
use crate::language::Language;
use std::collections::BTreeMap;

/// The position of a file in its crate.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct ModuleLocation {
    /// The directory of the crate's root file, and the root file itself.
    root: String,
    module: Vec<String>,
}

/// A name that a path takes from a module.
pub(super) struct NameInModule<'a> {
    pub module: u32,
    pub name: &'a str,
    /// The directory of the crate, if the module is its root.
    pub crate_root: Option<String>,
}

/// The modules of all crates.
pub(super) struct CrateModules {
    places: BTreeMap<u32, ModuleLocation>,
    files: BTreeMap<ModuleLocation, u32>,
    /// Library roots of the crates in the tree, by each of their names.
    libraries: BTreeMap<String, String>,
}

impl CrateModules {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let mut crates = Self { places: BTreeMap::new(), files: BTreeMap::new(), libraries: libraries(tree) };
        for (index, file) in tree.files.iter().enumerate() {
            if file.language == Language::Rust
                && let Ok(path) = std::str::from_utf8(file.path.as_bytes())
            {
                let place = place(path);
                crates.places.insert(count(index), place.clone());
                crates.files.insert(place, count(index));
            }
        }
        crates
    }

    pub(super) fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        if import.kind == ImportKind::Part {
            return resolve_mod_declaration(tree, from, import);
        }
        let found = self.module_of(from, import).map(|(file, _)| file);
        found.map_or(ImportTarget::External, |file| ImportTarget::Files(vec![file]))
    }

    /// Returns the module that a path leads to, and the name that the path takes from it. Paths of inline modules
    /// begin elsewhere.
    pub(super) fn name_in_module<'a>(
        &self,
        tree: &SourceTree<'_>,
        from: u32,
        import: &'a ImportStatement,
    ) -> Option<NameInModule<'a>> {
        let first = import.module.split("::").next().unwrap_or_default();
        let is_relative = matches!(first, "self" | "super");
        let library = self.libraries.get(first);
        let is_absolute = first == "crate" || library.is_some();
        // `use a::name` after `mod a;`
        let is_child = || {
            let facts = &tree.files[from as usize].facts;
            let is_module = |it: &ImportStatement| it.kind == ImportKind::Part && it.module == first;
            !import.inner && import.module.contains("::") && facts.imports.iter().any(is_module)
        };
        let is_known = is_absolute || is_relative && !import.inner || is_child();
        if import.kind == ImportKind::Part || !is_known {
            return None;
        }
        // Elsewhere the root of the crate is unknown: a manifest may name any file.
        let root = library.unwrap_or(&self.places.get(&from)?.root);
        if root != "src" && !root.ends_with("/src") {
            return None;
        }
        let (module, n_left) = self.module_of(from, import)?;
        let parts: Vec<&str> = import.module.split("::").filter(|part| !part.is_empty()).collect();
        let name = parts.get(parts.len().checked_sub(n_left)?)?;
        let is_at_root = self.places.get(&module)?.module.is_empty();
        Some(NameInModule { module, name, crate_root: is_at_root.then(|| root.clone()) })
    }

    /// Returns the file of the longest part of a path that is a module, and the number of parts left.
    fn module_of(&self, from: u32, import: &ImportStatement) -> Option<(u32, usize)> {
        let place = self.places.get(&from)?;
        let path: Vec<&str> = import.module.split("::").filter(|part| !part.is_empty()).collect();
        match path.split_first() {
            Some((&"crate", rest)) => self.longest(&place.root, &[], rest, 0),
            Some((&"self", rest)) => self.longest(&place.root, &place.module, rest, 0),
            Some((&"super", _)) => {
                let n_up = path.iter().take_while(|part| **part == "super").count();
                let keep = place.module.len().saturating_sub(n_up);
                self.longest(&place.root, &place.module[..keep], &path[n_up..], 0)
            }
            Some((&name, rest)) => match self.libraries.get(name) {
                Some(root) => self.longest(root, &[], rest, 0),
                None => self.longest(&place.root, &place.module, &path, 1),
            },
            None => None,
        }
    }

    /// Returns the file of the longest prefix of `path` below `base` that is a module, at least `least` steps long,
    /// and the number of steps left.
    fn longest(&self, root: &str, base: &[String], path: &[&str], least: usize) -> Option<(u32, usize)> {
        (least..=path.len()).rev().find_map(|n_steps| {
            let steps = path[..n_steps].iter().map(|part| (*part).to_owned());
            let module = base.iter().cloned().chain(steps).collect();
            let file = self.files.get(&ModuleLocation { root: root.to_owned(), module })?;
            Some((*file, path.len() - n_steps))
        })
    }
}

/// Resolves `mod name;`. The file must be in the directory of the module. A manifest may make any file a
/// root, so the directory of the file itself is accepted, too.
fn resolve_mod_declaration(tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
    let file = &tree.files[from as usize];
    let here = directory(&file.path);
    let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
    let inner = join(&here, name.trim_end_matches(".rs"));
    let is_module = !matches!(name.as_str(), "lib.rs" | "main.rs" | "mod.rs");
    let directories = [&inner, &here].into_iter().skip(usize::from(!is_module));
    let candidates: Vec<String> = directories
        .flat_map(|directory| {
            [format!("{}.rs", import.module), format!("{}/mod.rs", import.module)]
                .map(|name| join(directory, &name))
        })
        .collect();
    let is_there = candidates.iter().any(|candidate| tree.exists(candidate));
    match tree.first_file(candidates) {
        Some(file) => ImportTarget::Files(vec![file]),
        None if is_there => ImportTarget::External,
        None => ImportTarget::Missing,
    }
}

/// Returns the position of a path in its crate, by Cargo's conventions.
fn place(path: &str) -> ModuleLocation {
    let parts: Vec<&str> = path.split('/').collect();
    let (names, file) = (&parts[..parts.len() - 1], parts[parts.len() - 1]);
    let stem = file.trim_end_matches(".rs");
    let src = names.iter().rposition(|name| *name == "src");
    let other = names.iter().rposition(|name| matches!(*name, "tests" | "examples" | "benches" | "bin"));
    let (root, inner) = match (src, other) {
        (Some(src), Some(other)) if other > src => (other + 1, &names[other + 1..]),
        (Some(src), _) => (src + 1, &names[src + 1..]),
        (None, Some(other)) => (other + 1, &names[other + 1..]),
        (None, None) => (names.len(), &names[names.len()..]),
    };
    let is_own_root = inner.is_empty() && other.is_some_and(|other| src.is_none_or(|src| other > src));
    let mut directory = names[..root].join("/");
    if is_own_root {
        // Each file of such a directory is its own crate.
        directory = format!("{directory}/{stem}.rs");
    }
    let mut module: Vec<String> = inner.iter().map(|name| (*name).to_owned()).collect();
    let is_root = matches!(stem, "lib" | "main") && inner.is_empty();
    if !(is_own_root || is_root || stem == "mod") {
        module.push(stem.to_owned());
    }
    ModuleLocation { root: directory, module }
}

/// Returns the directory of each crate's library root, by package name and by dependency aliases.
fn libraries(tree: &SourceTree<'_>) -> BTreeMap<String, String> {
    let mut libraries = BTreeMap::new();
    let mut aliases = Vec::new();
    for (directory, text) in tree.governance_text("Cargo.toml") {
        let Ok(manifest) = text.parse::<toml::Table>() else { continue };
        if let Some(name) = manifest.get("package").and_then(|package| package.get("name")?.as_str()) {
            libraries.insert(name.replace('-', "_"), join(&directory, "src"));
        }
        let workspace = manifest.get("workspace").and_then(|workspace| workspace.get("dependencies"));
        for dependencies in [manifest.get("dependencies"), workspace].into_iter().flatten() {
            for (alias, dependency) in dependencies.as_table().into_iter().flatten() {
                if let Some(package) = dependency.get("package").and_then(toml::Value::as_str) {
                    aliases.push((alias.replace('-', "_"), package.replace('-', "_")));
                }
            }
        }
    }
    for (alias, package) in aliases {
        if let Some(root) = libraries.get(&package).cloned() {
            libraries.insert(alias, root);
        }
    }
    libraries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_stand_where_cargo_puts_them() {
        let at = |path: &str| {
            let place = place(path);
            (place.root, place.module.join("::"))
        };
        let is = |root: &str, module: &str| (root.to_owned(), module.to_owned());
        assert_eq!(at("src/lib.rs"), is("src", ""));
        assert_eq!(at("crates/a/src/b/mod.rs"), is("crates/a/src", "b"));
        assert_eq!(at("crates/a/src/b/c.rs"), is("crates/a/src", "b::c"));
        assert_eq!(at("src/bin/tool.rs"), is("src/bin/tool.rs", ""));
        assert_eq!(at("tests/it.rs"), is("tests/it.rs", ""));
        assert_eq!(at("build.rs"), is("", "build"));
    }
}

//! Python: packages with and without `__init__.py`, `src` layouts, several packages in one tree, relative imports.

use super::{ImportTarget, SourceTree, directory, join};
use crate::facts::{ImportStatement, count};
use crate::language::Language;
use std::collections::{BTreeMap, BTreeSet};

/// Modules by their full names.
pub(super) struct PythonModules {
    by_name: BTreeMap<String, Vec<u32>>,
    /// Packages of the project: directories with Python files.
    packages: BTreeSet<String>,
    roots: BTreeSet<String>,
}

impl PythonModules {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let roots = roots(tree);
        let mut modules =
            Self { by_name: BTreeMap::new(), packages: BTreeSet::new(), roots: BTreeSet::new() };
        for (index, file) in tree.files.iter().enumerate() {
            if file.language == Language::Python
                && let Ok(path) = std::str::from_utf8(file.path.as_bytes())
            {
                modules.add(count(index), path, &roots);
            }
        }
        modules.roots = roots;
        modules
    }

    /// Registers a file under its name from every root above it.
    fn add(&mut self, index: u32, path: &str, roots: &BTreeSet<String>) {
        let Some((stem, _)) = path.rsplit_once('.') else { return };
        let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
        let starts = std::iter::once(0).chain(stem.match_indices('/').map(|(slash, _)| slash + 1));
        for start in starts {
            if !roots.contains(stem[..start].trim_end_matches('/')) {
                continue;
            }
            let name = stem[start..].replace('/', ".");
            for (dot, _) in name.match_indices('.') {
                self.packages.insert(name[..dot].to_owned());
            }
            self.by_name.entry(name).or_default().push(index);
        }
    }

    pub(super) fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        let n_dots = import.module.bytes().take_while(|&byte| byte == b'.').count();
        if n_dots > 0 {
            return relative(tree, from, n_dots, &import.module[n_dots..], &import.names);
        }
        let module = &import.module;
        let mut files: Vec<u32> = import
            .names
            .iter()
            .filter_map(|name| self.nearest(tree, from, &format!("{module}.{name}")))
            .collect();
        if files.len() < import.names.len().max(1) {
            files.extend(self.nearest(tree, from, module));
        }
        if !files.is_empty() {
            return ImportTarget::Files(files);
        }
        let top = module.split('.').next().unwrap_or_default();
        let is_ours = self.packages.contains(top) && !self.packages.contains(module);
        if is_ours && !is_generated(module) && !self.exists_in_other_form(tree, module) {
            return ImportTarget::Missing;
        }
        ImportTarget::External
    }

    /// Returns the file of a module itself, without the names that are imported from it.
    pub(super) fn module_file(&self, tree: &SourceTree<'_>, from: u32, module: &str) -> Option<u32> {
        let n_dots = module.bytes().take_while(|&byte| byte == b'.').count();
        match n_dots {
            0 => self.nearest(tree, from, module),
            _ => module_at(tree, &relative_base(tree, from, n_dots, &module[n_dots..])?),
        }
    }

    /// Returns true if a module contains another one of this name, in any form.
    pub(super) fn has_submodule(&self, tree: &SourceTree<'_>, from: u32, module: &str, name: &str) -> bool {
        let n_dots = module.bytes().take_while(|&byte| byte == b'.').count();
        if is_generated(name) {
            return true;
        }
        if n_dots > 0 {
            let base = relative_base(tree, from, n_dots, &module[n_dots..]);
            return base.is_none_or(|base| {
                let path = join(&base, name);
                module_at(tree, &path).is_some() || has_other_form(tree, &path)
            });
        }
        let full = format!("{module}.{name}");
        self.by_name.contains_key(&full)
            || self.packages.contains(&full)
            || self.exists_in_other_form(tree, &full)
    }

    /// Returns the file of a module; if several have the name, the one closest to the importing file.
    fn nearest(&self, tree: &SourceTree<'_>, from: u32, module: &str) -> Option<u32> {
        let from = tree.files[from as usize].path.as_bytes();
        let common = |file: u32| {
            let path = tree.files[file as usize].path.as_bytes();
            path.iter().zip(from).take_while(|(a, b)| a == b).count()
        };
        self.by_name.get(module)?.iter().copied().max_by_key(|&file| (common(file), u32::MAX - file))
    }

    /// Returns true if a module exists in another form: a C extension, a stub, a data directory.
    fn exists_in_other_form(&self, tree: &SourceTree<'_>, module: &str) -> bool {
        let path = module.replace('.', "/");
        self.roots.iter().any(|root| has_other_form(tree, &join(root, &path)))
    }
}

/// Returns true for modules that builds generate.
fn is_generated(module: &str) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    ["_pb2", "_pb2_grpc", "_version", "__version__"].iter().any(|suffix| last.ends_with(suffix))
}

/// Returns the directories that imports start from: the root, conventional ones, and those that contain a
/// topmost package.
fn roots(tree: &SourceTree<'_>) -> BTreeSet<String> {
    let mut roots = BTreeSet::from([String::new()]);
    for file in tree.files.iter().filter(|file| file.language == Language::Python) {
        let mut here = directory(&file.path);
        while !here.is_empty() && tree.exists(&join(&here, "__init__.py")) {
            here = here.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned());
        }
        for (at, _) in file_folders(&here) {
            if here[..at].ends_with("src") || here[..at].ends_with("lib") || at == here.len() {
                roots.insert(here[..at].to_owned());
            }
        }
        roots.insert(here);
    }
    roots
}

/// Returns the end positions of the directories along a path.
fn file_folders(path: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    path.char_indices().filter(|(_, c)| *c == '/').chain(std::iter::once((path.len(), '/')))
}

/// Returns the path of a module that is written relative to a file.
fn relative_base(tree: &SourceTree<'_>, from: u32, n_dots: usize, module: &str) -> Option<String> {
    let mut base = directory(&tree.files[from as usize].path);
    for _ in 1..n_dots {
        if base.is_empty() {
            return None;
        }
        base = base.rsplit_once('/').map_or_else(String::new, |(above, _)| above.to_owned());
    }
    Some(join(&base, &module.replace('.', "/")))
}

fn module_at(tree: &SourceTree<'_>, path: &str) -> Option<u32> {
    let forms = ["{}.py", "{}/__init__.py", "{}.pyi", "{}/__init__.pyi"];
    match path {
        "" => tree.first_file(["__init__.py".to_owned()]),
        _ => tree.first_file(forms.map(|form| form.replace("{}", path))),
    }
}

/// Resolves `from ..a import b`.
fn relative(tree: &SourceTree<'_>, from: u32, n_dots: usize, module: &str, names: &[String]) -> ImportTarget {
    let Some(base) = relative_base(tree, from, n_dots, module) else { return ImportTarget::Missing };
    let own = module_at(tree, &base);
    let mut files: Vec<u32> = names.iter().filter_map(|name| module_at(tree, &join(&base, name))).collect();
    if files.len() < names.len().max(1) {
        files.extend(own);
    }
    if !files.is_empty() {
        return ImportTarget::Files(files);
    }
    let last = base.rsplit('/').next().unwrap_or_default();
    if has_other_form(tree, &base) || is_generated(last) {
        ImportTarget::External
    } else {
        ImportTarget::Missing
    }
}

/// Returns true if a module exists as a directory or in another form, such as `a/b.so` for `a/b`.
fn has_other_form(tree: &SourceTree<'_>, module: &str) -> bool {
    let file = format!("{module}.");
    let next = tree.paths.range(file.as_bytes()..).next();
    tree.has_folder(module) || next.is_some_and(|path| path.starts_with(file.as_bytes()))
}

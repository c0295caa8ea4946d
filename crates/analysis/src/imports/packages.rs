//! Languages whose files belong to named packages (Java, Kotlin, C#, PHP), and names that files of one
//! package use from each other without an import (also in Go).

use super::{ImportTarget, SourceTree};
use crate::corpus::CorpusFile;
use crate::facts::{ImportStatement, UnitKind, count};
use crate::language::Language;
use std::collections::{BTreeMap, BTreeSet};

/// The contents of packages. Keys begin with the language's name, because packages of different languages are
/// distinct.
pub(super) struct PackageIndex {
    /// The files of each package.
    files: BTreeMap<String, Vec<u32>>,
    /// The file that declares a name in a package.
    names: BTreeMap<(String, String), u32>,
}

impl PackageIndex {
    pub(super) fn new(tree: &SourceTree<'_>) -> Self {
        let mut packages = Self { files: BTreeMap::new(), names: BTreeMap::new() };
        for (index, file) in tree.files.iter().enumerate() {
            let Some(package) = package(file) else { continue };
            for name in declared(file) {
                packages.names.entry((package.clone(), name.to_owned())).or_insert(count(index));
            }
            packages.files.entry(package).or_default().push(count(index));
        }
        packages
    }

    pub(super) fn target(&self, tree: &SourceTree<'_>, from: u32, import: &ImportStatement) -> ImportTarget {
        let file = &tree.files[from as usize];
        let path = import.module.trim_start_matches('\\').replace('\\', ".");
        if let Some(package) = path.strip_suffix(".*") {
            return self.whole_package(tree, from, package);
        }
        if file.language == Language::CSharp {
            return match self.whole_package(tree, from, &path) {
                ImportTarget::External => self.class_of_namespace(&path),
                found => found,
            };
        }
        // The longest prefix that is a package, and the name after it: `a.b.C.member`.
        let cuts: Vec<usize> = path.match_indices('.').map(|(dot, _)| dot).rev().collect();
        for cut in cuts {
            let package = key(file.language, &path[..cut]);
            let name = path[cut + 1..].split('.').next().unwrap_or_default();
            if let Some(&found) = self.names.get(&(package.clone(), name.to_owned())) {
                return ImportTarget::Files(vec![found]);
            }
            if let Some(files) = self.files.get(&package) {
                // A file that cannot be read completely may declare it.
                let is_read = files.iter().all(|&file| tree.files[file as usize].facts.n_errors == 0);
                // Kotlin files declare properties and aliases that are not units, PHP files functions and constants. To
                // Java the functions of a Kotlin file are members of a class, whose name an annotation may choose.
                let names_class =
                    |file: &u32| tree.files[*file as usize].facts.symbols.iter().any(|it| it == "JvmName");
                let is_complete = is_read
                    && file.language == Language::Java
                    && name.starts_with(char::is_uppercase)
                    && !name.ends_with("Kt")
                    && !files.iter().any(names_class);
                return if is_complete { ImportTarget::Missing } else { ImportTarget::External };
            }
        }
        ImportTarget::External
    }

    /// Returns the file of a class by its whole name: `using static A.B`.
    fn class_of_namespace(&self, path: &str) -> ImportTarget {
        let name = path.rsplit_once('.');
        let name = name.map(|(namespace, class)| (key(Language::CSharp, namespace), class.to_owned()));
        let file = name.and_then(|name| self.names.get(&name));
        file.map_or(ImportTarget::External, |&file| ImportTarget::Files(vec![file]))
    }

    /// Returns the files of a package that declare a name the importing file uses.
    fn whole_package(&self, tree: &SourceTree<'_>, from: u32, package: &str) -> ImportTarget {
        let file = &tree.files[from as usize];
        match self.files.get(&key(file.language, package)) {
            Some(files) => ImportTarget::Files(used(tree, from, files)),
            None => ImportTarget::External,
        }
    }

    /// Returns the files of the same package that a file uses without an import.
    pub(super) fn implicit(&self, tree: &SourceTree<'_>, from: u32) -> Vec<u32> {
        let file = &tree.files[from as usize];
        let Some(package) = package(file) else { return Vec::new() };
        let own: BTreeSet<&str> = declared(file).collect();
        let symbols = file.facts.symbols.iter().filter(|symbol| !own.contains(*symbol));
        let found =
            symbols.filter_map(|symbol| self.names.get(&(package.clone(), (*symbol).to_owned())).copied());
        let files: BTreeSet<u32> = found.filter(|&other| other != from).collect();
        files.into_iter().collect()
    }
}

/// Returns those of `files` that declare a name that `from` uses.
fn used(tree: &SourceTree<'_>, from: u32, files: &[u32]) -> Vec<u32> {
    let symbols: BTreeSet<&str> = tree.files[from as usize].facts.symbols.iter().collect();
    let declares = |file: &u32| declared(&tree.files[*file as usize]).any(|name| symbols.contains(name));
    files.iter().copied().filter(|file| *file != from && declares(file)).collect()
}

/// Returns the package of a file. In Go packages are directories: files with the same package name in
/// different directories are unrelated.
fn package(file: &CorpusFile) -> Option<String> {
    let name = file.facts.package.as_deref().map(|name| name.replace('\\', "."));
    match file.language {
        Language::Java | Language::Kotlin | Language::CSharp | Language::Php => {
            Some(key(file.language, &name.unwrap_or_default()))
        }
        Language::Go => Some(key(file.language, &super::directory(&file.path))),
        _ => None,
    }
}

/// Java and Kotlin share their packages.
fn key(language: Language, package: &str) -> String {
    let family = if language == Language::Kotlin { Language::Java } else { language };
    format!("{} {package}", family.name())
}

/// Returns the names that a file declares at top level.
fn declared(file: &CorpusFile) -> impl Iterator<Item = &str> {
    let units = file.facts.units.iter();
    let top = units.filter(|unit| unit.parent == Some(0) && unit.kind != UnitKind::Lambda);
    top.map(|unit| unit.name.rsplit('.').next().unwrap_or_default())
}

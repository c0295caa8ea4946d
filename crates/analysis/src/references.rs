//! Names and modules that the files of a tree refer to without the tree declaring them.
//!
//! Most belong to libraries. But a name that an earlier run of the tree declared and that a later one only refers to
//! was removed while something still uses it: see [`removed_references`](crate::removed_references).
//!
//! Names are compared, not bindings. A name counts as declared if any file of the same family of languages binds it
//! anywhere, so that what is missing here is missing for certain.

use crate::corpus::CorpusFile;
use crate::facts::{NameRole, UnitKind, count};
use crate::hash;
use crate::language::{FreeNameRule, Language};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a file refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceKind {
    /// A name that no file of the tree declares; of an imported class the whole path.
    Name,
    /// A module, file or namespace that is not part of the tree.
    Module,
    /// The package or namespace that the file declares itself.
    Package,
    /// A variable or constant that the file declares at its top level.
    Constant,
}

impl ReferenceKind {
    /// Returns true for what the file declares itself, which others may refer to.
    pub const fn is_declaration(self) -> bool {
        matches!(self, Self::Package | Self::Constant)
    }
}

/// A reference of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileReference {
    /// Index of the file.
    pub file: u32,
    pub kind: ReferenceKind,
    pub name: String,
    /// The line of the first one.
    pub line: u32,
}

/// Languages whose files can refer to each other.
pub(crate) const fn family(language: Language) -> Language {
    match language {
        Language::TypeScript | Language::Tsx => Language::JavaScript,
        Language::Kotlin => Language::Java,
        Language::Cpp => Language::C,
        other => other,
    }
}

/// Returns the references of each file, sorted by file, kind and name. `external` are the imports of what is not part
/// of the tree: (file, import).
pub(crate) fn find(files: &[CorpusFile], external: &[(u32, u32)]) -> Vec<FileReference> {
    let declared = DeclaredNames::of(files);
    let mut imports: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &(file, import) in external {
        imports.entry(file).or_default().push(import);
    }
    let of_file = |(index, file): (usize, &CorpusFile)| {
        let imports = imports.get(&count(index)).map_or(&[][..], Vec::as_slice);
        references_of(count(index), file, imports, &declared)
    };
    files.par_iter().enumerate().flat_map_iter(of_file).collect()
}

fn references_of(
    index: u32,
    file: &CorpusFile,
    external: &[u32],
    declared: &DeclaredNames,
) -> Vec<FileReference> {
    let mut found: BTreeMap<(ReferenceKind, &str), u32> = BTreeMap::new();
    // Whatever is imported as a whole may declare any name.
    let is_open = file.facts.imports.iter().any(|import| import.names.iter().any(|name| name == "*"));
    if !is_open && file.facts.n_errors == 0 {
        for (symbol, line) in free_names(file) {
            if !declared.has(file.language, file.symbols[symbol as usize]) {
                found.entry((ReferenceKind::Name, file.facts.symbols.get(symbol))).or_insert(line);
            }
        }
    }
    for &import in external {
        let import = &file.facts.imports[import as usize];
        let line = import.range.start_line;
        match file.language {
            _ if import.optional => {}
            Language::Java | Language::Kotlin | Language::Php => {
                let class = class_of_path(file.language, &import.module);
                let is_declared = declared.has(file.language, hash::of_bytes(class.as_bytes()));
                // The whole path, because another package may have a class of the same name.
                if !is_declared && class != "*" {
                    found.entry((ReferenceKind::Name, &import.module)).or_insert(line);
                }
            }
            _ => drop(found.entry((ReferenceKind::Module, &import.module)).or_insert(line)),
        }
    }
    for constant in constants(file) {
        found.insert((ReferenceKind::Constant, constant), 1);
    }
    if let Some(package) = &file.facts.package {
        found.insert((ReferenceKind::Package, package), 1);
    }
    let reference = |((kind, name), line): ((ReferenceKind, &str), u32)| FileReference {
        file: index,
        kind,
        name: name.to_owned(),
        line,
    };
    found.into_iter().map(reference).collect()
}

/// Returns the class that a path of packages leads to: the last name, or in Java and Kotlin the first with a capital,
/// because a member may follow.
pub(crate) fn class_of_path(language: Language, path: &str) -> &str {
    let parts = || path.split(['.', '\\']).filter(|part| !part.is_empty());
    let is_class = |part: &&str| language != Language::Php && part.starts_with(char::is_uppercase);
    parts().find(is_class).or_else(|| parts().next_back()).unwrap_or(path)
}

/// Returns the names that a file uses and does not bind itself, each with the line of its first use.
fn free_names(file: &CorpusFile) -> Vec<(u32, u32)> {
    const IS_FREE: u8 = 1;
    const IS_BOUND: u8 = 2;
    let mut states = vec![0u8; file.facts.symbols.len()];
    for name in &file.facts.names {
        states[name.symbol() as usize] |= match name.role() {
            NameRole::Free => IS_FREE,
            NameRole::Declared | NameRole::Imported => IS_BOUND,
            NameRole::Other => 0,
        };
    }
    let mut free = Vec::new();
    for (at, name) in file.facts.names.iter().enumerate() {
        let symbol = name.symbol();
        if name.role() == NameRole::Free && states[symbol as usize] == IS_FREE {
            // Once is enough.
            states[symbol as usize] = IS_BOUND;
            free.push((symbol, line_of_name(file, count(at))));
        }
    }
    free
}

/// Returns the names that a file binds outside of all units, where the language tells bindings from uses.
fn constants(file: &CorpusFile) -> Vec<&str> {
    if crate::language::spec(file.language).free_names != FreeNameRule::NotBound || file.is_test {
        return Vec::new();
    }
    let units = &file.facts.units;
    let mut inner = units.iter().skip(1).map(|unit| unit.names).peekable();
    let mut end = 0;
    let mut found = Vec::new();
    for (name, at) in file.facts.names.iter().zip(0u32..) {
        // Units are sorted by their start; nested ones end before those around them.
        while let Some(span) = inner.next_if(|span| span.start <= at) {
            end = end.max(span.end);
        }
        if at >= end && name.role() == NameRole::Declared && !name.is_definition() {
            found.push(file.facts.symbols.get(name.symbol()));
        }
    }
    found
}

/// Returns the first line of the statement that contains a use of a name.
fn line_of_name(file: &CorpusFile, at: u32) -> u32 {
    let after = file.facts.statements.partition_point(|statement| statement.first_name <= at);
    let statement = after.checked_sub(1).and_then(|index| file.facts.statements.get(index));
    statement.map_or(1, |statement| statement.range.start_line)
}

/// The names that the files of each family of languages declare.
struct DeclaredNames(BTreeMap<Language, Vec<u64>>);

impl DeclaredNames {
    fn of(files: &[CorpusFile]) -> Self {
        let each: Vec<(Language, Vec<u64>)> =
            files.par_iter().map(|file| (family(file.language), declared_in(file))).collect();
        let mut names: BTreeMap<Language, Vec<u64>> = BTreeMap::new();
        for (family, mut own) in each {
            names.entry(family).or_default().append(&mut own);
        }
        for names in names.values_mut() {
            names.par_sort_unstable();
            names.dedup();
        }
        Self(names)
    }

    fn has(&self, language: Language, name: u64) -> bool {
        self.0.get(&family(language)).is_some_and(|names| names.binary_search(&name).is_ok())
    }
}

fn declared_in(file: &CorpusFile) -> Vec<u64> {
    let bound = file.facts.names.iter().filter(|name| name.role() == NameRole::Declared);
    let bound = bound.map(|name| file.symbols[name.symbol() as usize]);
    let units = file.facts.units.iter().filter(|unit| unit.kind != UnitKind::Lambda);
    let units = units.filter_map(|unit| unit.name.rsplit('.').next());
    let facades = kotlin_facades(file);
    let facades = facades.iter().map(|name| hash::of_bytes(name.as_bytes()));
    sorted(bound.chain(units.map(|name| hash::of_bytes(name.as_bytes()))).chain(facades))
}

/// Returns the classes that Java sees the functions of a Kotlin file in. An annotation may choose the name: it is
/// usually that of the file.
fn kotlin_facades(file: &CorpusFile) -> Vec<String> {
    if file.language != Language::Kotlin {
        return Vec::new();
    }
    let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
    let stem = name.trim_end_matches(".kt");
    let is_named = file.facts.symbols.iter().any(|symbol| symbol == "JvmName");
    std::iter::once(format!("{stem}Kt")).chain(is_named.then(|| stem.to_owned())).collect()
}

/// The names that importers of one module can rely on.
pub(crate) struct ModuleNames {
    /// Sorted.
    names: Vec<u64>,
    /// Top-level units that the module keeps to itself, sorted.
    hidden: Vec<u64>,
    /// True if the module may have other names, too.
    is_open: bool,
    /// The imports that take whatever another module has.
    globs: Vec<u32>,
}

impl ModuleNames {
    pub(crate) fn of(file: &CorpusFile) -> Self {
        const DYNAMIC_NAMES: [&str; 10] = [
            "__getattr__",
            "globals",
            "setattr",
            "exec",
            "eval",
            "vars",
            "include",
            "exports",
            "defineProperty",
            "__exportStar",
        ];
        let facts = &file.facts;
        let symbol = |symbol: u32| file.symbols[symbol as usize];
        let bound = facts.names.iter().filter(|name| {
            matches!(name.role(), NameRole::Declared | NameRole::Imported) || name.is_definition()
        });
        let is_glob = |module: &str| module.ends_with("::*");
        let globs = facts.imports.iter().zip(0u32..);
        let globs = globs.filter(|(import, _)| import.names.iter().any(|name| name == "*"));
        let has_glob = facts.imports.iter().any(|import| is_glob(&import.module));
        let exported = sorted(facts.exports.iter().map(|&name| symbol(name)));
        let hidden = facts.units.iter().filter(|unit| {
            unit.parent == Some(0)
                && matches!(unit.kind, UnitKind::Function | UnitKind::Class)
                && unit.access == crate::facts::AccessLevel::Private
        });
        let units = facts.units.iter().filter_map(|unit| unit.name.rsplit('.').next());
        let units = units.map(|name| hash::of_bytes(name.as_bytes()));
        Self {
            names: sorted(bound.map(|name| symbol(name.symbol())).chain(units)),
            hidden: sorted(
                hidden
                    .map(|unit| hash::of_bytes(unit.name.as_bytes()))
                    .filter(|name| exported.binary_search(name).is_err()),
            ),
            is_open: has_glob
                || facts.n_errors > 0
                || facts.symbols.iter().any(|symbol| DYNAMIC_NAMES.contains(&symbol)),
            globs: globs.map(|(_, index)| index).collect(),
        }
    }

    /// Returns the imports that take whatever another module has: it may have names that the module itself lacks.
    pub(crate) fn globs(&self) -> &[u32] {
        &self.globs
    }

    /// Returns true if the module certainly has no such name, except for what its globs take.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        !self.is_open && self.names.binary_search(&hash::of_bytes(name.as_bytes())).is_err()
    }

    /// Returns true if the module certainly has the name for itself alone.
    pub(crate) fn hides(&self, name: &str) -> bool {
        let is_hidden = |name: u64| self.hidden.binary_search(&name).is_ok();
        !self.is_open && self.globs.is_empty() && is_hidden(hash::of_bytes(name.as_bytes()))
    }
}

fn sorted(names: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut names: Vec<u64> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

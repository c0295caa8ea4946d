//! Unused code, reported only if the language itself rules out uses from outside.
//!
//! A unit is dead if no file of the tree names it outside its own body and outside other dead code. Names are compared,
//! not bindings: a name used for something else can hide a dead unit, but a used unit is never reported. Code that a
//! framework could reach is left alone: code with a decorator that may register it, overriding code, tests, entry
//! points, names mentioned in strings. Unused public code is an interface, not a finding.

use crate::corpus::CorpusFile;
use crate::facts::{AccessLevel, CodeUnit, UnitKind, count};
use crate::finding::{Confidence, FindingDraft, FindingFamily, Severity};
use crate::hash::{self, mix};
use crate::language::Language;
use crate::newer_syntax;
use probity_collections::HashIndex;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Dead code may use other code that is dead then, too: rounds after which the search ends.
const MAX_DEAD_CODE_ROUNDS: usize = 16;

/// A dead unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DeadUnit {
    pub file: u32,
    pub unit: u32,
    used_by: RemainingUse,
}

/// The code that still names a dead unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RemainingUse {
    Nothing,
    DeadCode,
    OwnTests,
}

pub(crate) fn find(files: &[CorpusFile]) -> Vec<DeadUnit> {
    let mut candidates: Vec<(u32, u32)> = Vec::new();
    for (index, file) in files.iter().enumerate() {
        let units = file.facts.units.iter().enumerate().filter(|(_, unit)| is_candidate(file, unit));
        candidates.extend(units.map(|(unit, _)| (count(index), count(unit))));
    }
    let mut uses = NameUsage::of(files, &candidates);
    let mut dead: Vec<DeadUnit> = Vec::new();
    for round in 0..MAX_DEAD_CODE_ROUNDS {
        let used_by = if round == 0 { RemainingUse::Nothing } else { RemainingUse::DeadCode };
        let (found, left): (Vec<_>, Vec<_>) =
            candidates.into_iter().partition(|&place| !uses.reach(files, place));
        candidates = left;
        if found.is_empty() {
            break;
        }
        for (file, unit) in found {
            for (file, unit) in uses.parts(files, (file, unit)) {
                uses.remove_uses_in(files, file, unit);
            }
            dead.push(DeadUnit { file, unit, used_by });
        }
    }
    let only_tested = candidates.into_iter().filter(|&place| is_used_by_own_tests_alone(files, &uses, place));
    dead.extend(only_tested.map(|(file, unit)| DeadUnit { file, unit, used_by: RemainingUse::OwnTests }));
    dead.sort_unstable();
    without_parts(files, dead)
}

/// Removes code inside dead code, which needs no separate finding: nested units, and the methods of a Go type.
fn without_parts(files: &[CorpusFile], mut dead: Vec<DeadUnit>) -> Vec<DeadUnit> {
    let all: BTreeSet<(u32, u32)> = dead.iter().map(|dead| (dead.file, dead.unit)).collect();
    let is_go_type = |&&(file, unit): &&(u32, u32)| {
        let file = &files[file as usize];
        file.language == Language::Go && file.facts.units[unit as usize].kind == UnitKind::Class
    };
    let types: BTreeSet<u64> = all
        .iter()
        .filter(is_go_type)
        .map(|&(file, unit)| {
            let file = &files[file as usize];
            go_type_key(file, &file.facts.units[unit as usize].name)
        })
        .collect();
    dead.retain(|&DeadUnit { file, unit, .. }| {
        let file_facts = &files[file as usize];
        let unit = &file_facts.facts.units[unit as usize];
        unit.parent.is_none_or(|parent| !all.contains(&(file, parent)))
            && receiver_key(file_facts, unit).is_none_or(|key| !types.contains(&key))
    });
    dead
}

/// Returns true for a function of Rust that only the test module of its own file uses: the compiler leaves such
/// modules out of the program.
fn is_used_by_own_tests_alone(files: &[CorpusFile], uses: &NameUsage, (file, unit): (u32, u32)) -> bool {
    let place = file as usize;
    let file = &files[place];
    let candidate = &file.facts.units[unit as usize];
    if file.language != Language::Rust || candidate.access != AccessLevel::Private {
        return false;
    }
    let name = hash::of_bytes(simple_name(candidate).as_bytes());
    let is_test_module = |unit: &&CodeUnit| unit.test && unit.name.starts_with("tests.");
    let n_own = uses.n_uses_in(files, place, candidate, name);
    let in_tests = file.facts.units.iter().filter(is_test_module);
    // Units inside other test units would count twice.
    let outermost = in_tests.filter(|unit| unit.parent == Some(0));
    let n_tested: u32 = outermost.map(|unit| uses.n_uses_in(files, place, unit, name)).sum();
    n_tested > 0 && !uses.is_mentioned(simple_name(candidate), name) && uses.n_uses(name) <= n_own + n_tested
}

pub(crate) fn drafts(files: &[CorpusFile], dead: &[DeadUnit]) -> Vec<FindingDraft> {
    let has_open_dispatch = files.iter().any(looks_up_private_names);
    dead.iter()
        .map(|&DeadUnit { file, unit, used_by }| {
            let file = &files[file as usize];
            let unit = &file.facts.units[unit as usize];
            let is_sure = unit.access == AccessLevel::Private
                && used_by != RemainingUse::OwnTests
                && file.facts.n_errors == 0
                && !is_dynamic(file)
                && !(has_open_dispatch && file.language == Language::Python);
            let who = match used_by {
                RemainingUse::Nothing => "nothing in the project uses",
                RemainingUse::DeadCode => "only unused code uses",
                RemainingUse::OwnTests => "only its own tests use",
            };
            FindingDraft {
                message: format!("{who} `{}`", unit.name),
                confidence: if is_sure { Confidence::High } else { Confidence::Medium },
                content: unit.exact,
                value: Some(unit.n_tokens),
                ..FindingDraft::new(
                    FindingFamily::DeadCode,
                    if is_sure { Severity::Warning } else { Severity::Info },
                    format!("{} {}", file.language.name(), unit.name),
                    vec![file.unit_location(unit)],
                )
            }
        })
        .collect()
}

/// Returns true if a file looks up members by computed names.
fn is_dynamic(file: &CorpusFile) -> bool {
    const REFLECTION_FUNCTIONS: [&str; 8] =
        ["getattr", "globals", "eval", "send", "public_send", "getMethod", "GetMethod", "call_user_func"];
    file.facts.symbols.iter().any(|symbol| REFLECTION_FUNCTIONS.contains(&symbol))
}

/// Returns true if a file looks up private names of Python of which only the underscore is known:
/// `globals()[f"_{name}"]`.
fn looks_up_private_names(file: &CorpusFile) -> bool {
    file.language == Language::Python
        && file.facts.mentions.iter().any(|&word| file.facts.symbols.get(word) == "_")
        && is_dynamic(file)
}

/// Returns true for an `extension(…)` block of C# 14 and its members. The grammar takes the block for a constructor, and its
/// members for local functions; where that fails, it is read as a class of another name.
fn is_in_extension_block(file: &CorpusFile, unit: &CodeUnit, parent: Option<&CodeUnit>) -> bool {
    let is_block = |unit: &CodeUnit| matches!(simple_name(unit), "extension" | newer_syntax::EXTENSION_BLOCK);
    file.language == Language::CSharp && (is_block(unit) || parent.is_some_and(is_block))
}

fn is_candidate(file: &CorpusFile, unit: &CodeUnit) -> bool {
    let parent = unit.parent.map(|parent| &file.facts.units[parent as usize]);
    let simple = simple_name(unit);
    let is_hidden = match file.language {
        // A private class of Rust or C has uses that are not names; compilers detect these better.
        Language::Rust | Language::C | Language::Cpp if unit.kind == UnitKind::Class => false,
        // A leading underscore marks it as intentionally unused.
        Language::Rust if simple.starts_with('_') => false,
        // A script without imports and exports shares its names with the page.
        Language::JavaScript if file.facts.imports.is_empty() && file.facts.exports.is_empty() => false,
        // `export { Name }` after the class opens its methods to others.
        Language::JavaScript | Language::TypeScript | Language::Tsx
            if unit.access == AccessLevel::Internal
                && parent.is_some_and(|parent| is_listed(file, parent)) =>
        {
            false
        }
        _ => unit.access != AccessLevel::Public,
    };
    is_hidden
        && matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class)
        && !(unit.decorated || unit.test || unit.inherits || unit.constructor || file.is_test)
        && !parent.is_some_and(|parent| {
            parent.kind == UnitKind::Class
                && (parent.decorated || (parent.inherits && !is_closed_to_supertypes(file.language, unit)))
        })
        && !is_entry(file, unit)
        && !is_in_extension_block(file, unit, parent)
        // It may have taken in what follows it, with its uses.
        && !unit.misread
        // `[Symbol.iterator]`: any code that has the symbol may call it.
        && !simple.ends_with(']')
        // Hooks such as `__len__` and `_repr_html_`.
        && !(simple.starts_with('_') && simple.ends_with('_'))
}

/// Returns true if no supertype of its class can call the unit: the language forbids private members to override, and
/// no common runtime looks them up by name. C# is not among these, because game engines do.
fn is_closed_to_supertypes(language: Language, unit: &CodeUnit) -> bool {
    unit.access == AccessLevel::Private
        && matches!(language, Language::Java | Language::Kotlin | Language::TypeScript | Language::Tsx)
}

/// Returns true if a file exports a unit by listing its name.
fn is_listed(file: &CorpusFile, unit: &CodeUnit) -> bool {
    file.facts.exports.iter().any(|&symbol| file.facts.symbols.get(symbol) == simple_name(unit))
}

/// Returns true if the language or its runtime calls the unit, or something inside it.
fn is_entry(file: &CorpusFile, unit: &CodeUnit) -> bool {
    let is_entry =
        |unit: &CodeUnit| crate::language::spec(file.language).entry_points.contains(&simple_name(unit));
    let inside = file.facts.units.iter().filter(|inner| unit.range.contains(&inner.range));
    is_entry(unit) || (unit.kind == UnitKind::Class && inside.into_iter().any(is_entry))
}

fn simple_name(unit: &CodeUnit) -> &str {
    unit.name.rsplit('.').next().unwrap_or(&unit.name)
}

/// How often the names of candidates are used in the tree, except in their definitions and in dead code.
struct NameUsage {
    /// The fingerprints of the names, and their places there.
    names: Vec<u64>,
    index: HashIndex,
    /// For each name its uses, and whether a string or a list of exports has it.
    counts: Vec<u32>,
    mentioned: Vec<bool>,
    /// Strings that look like the beginning of names: `"visit_" + kind`.
    prefixes: BTreeSet<String>,
    /// Units by content, sorted: a copy of a unit does not keep it alive.
    copies: Vec<(u64, u32, u32)>,
    /// The methods of Go's types, by [`go_type_key`]: they stand beside their type, and do not keep it alive.
    go_methods: BTreeMap<u64, Vec<(u32, u32)>>,
    /// For each file with dead code, the name uses in it.
    dead_names: BTreeMap<usize, Vec<bool>>,
}

impl NameUsage {
    fn of(files: &[CorpusFile], candidates: &[(u32, u32)]) -> Self {
        let mut usage = Self {
            names: Vec::new(),
            index: HashIndex::default(),
            counts: Vec::new(),
            mentioned: Vec::new(),
            prefixes: BTreeSet::new(),
            copies: Vec::new(),
            go_methods: BTreeMap::new(),
            dead_names: BTreeMap::new(),
        };
        for &(file, unit) in candidates {
            let unit = &files[file as usize].facts.units[unit as usize];
            usage.add_name(hash::of_bytes(simple_name(unit).as_bytes()));
        }
        for (index, file) in files.iter().enumerate() {
            usage.add_file(count(index), file);
        }
        usage.copies.par_sort_unstable();
        usage
    }

    fn add_name(&mut self, name: u64) {
        if self.find(name).is_none() {
            self.index.insert(name, count(self.names.len()));
            self.names.push(name);
            self.counts.push(0);
            self.mentioned.push(false);
        }
    }

    fn find(&self, name: u64) -> Option<usize> {
        self.index.find(name, |at| self.names[at as usize] == name).map(|at| at as usize)
    }

    fn add_file(&mut self, index: u32, file: &CorpusFile) {
        let known: Vec<Option<usize>> = file.symbols.iter().map(|&symbol| self.find(symbol)).collect();
        for used in file.facts.names.iter().filter(|used| !used.is_definition()) {
            if let Some(name) = known[used.symbol() as usize] {
                self.counts[name] += 1;
            }
        }
        for &symbol in file.facts.mentions.iter().chain(&file.facts.exports) {
            if let Some(name) = known[symbol as usize] {
                self.mentioned[name] = true;
            }
        }
        let words = file.facts.mentions.iter().map(|&symbol| file.facts.symbols.get(symbol));
        self.prefixes.extend(words.filter(|word| word.len() > 3 && word.ends_with('_')).map(str::to_owned));
        for (unit, facts) in file.facts.units.iter().enumerate() {
            if facts.kind.is_callable() && facts.exact != 0 {
                self.copies.push((facts.exact, index, count(unit)));
            }
            if let Some(key) = receiver_key(file, facts) {
                self.go_methods.entry(key).or_default().push((index, count(unit)));
            }
        }
    }

    /// Returns true if anything except the unit itself and dead code names it.
    fn reach(&self, files: &[CorpusFile], (place, unit): (u32, u32)) -> bool {
        let file = &files[place as usize];
        let facts = &file.facts.units[unit as usize];
        let simple = simple_name(facts);
        let name = hash::of_bytes(simple.as_bytes());
        if self.is_mentioned(simple, name) {
            return true;
        }
        let n_uses = self.n_uses(name);
        if n_uses == 0 {
            return false;
        }
        let own = |(file, unit): (u32, u32)| {
            let unit = &files[file as usize].facts.units[unit as usize];
            self.n_uses_in(files, file as usize, unit, name)
        };
        let n_own: u32 = match self.copies(facts) {
            [] => self.parts(files, (place, unit)).into_iter().map(own).sum(),
            copies => copies.iter().map(|&(_, file, unit)| own((file, unit))).sum(),
        };
        n_uses > n_own
    }

    /// Returns true if a string has the name, or its beginning.
    fn is_mentioned(&self, simple: &str, name: u64) -> bool {
        simple.match_indices('_').any(|(at, _)| self.prefixes.contains(&simple[..=at]))
            || self.find(name).is_some_and(|at| self.mentioned[at])
    }

    fn n_uses(&self, name: u64) -> u32 {
        self.find(name).map_or(0, |at| self.counts[at])
    }

    fn n_uses_in(&self, files: &[CorpusFile], place: usize, unit: &CodeUnit, name: u64) -> u32 {
        let file = &files[place];
        let dead = self.dead_names.get(&place);
        let uses = unit.names.usize().filter(|&at| {
            let used = file.facts.names[at];
            !used.is_definition()
                && file.symbols[used.symbol() as usize] == name
                && dead.is_none_or(|dead| !dead[at])
        });
        count(uses.count())
    }

    /// Returns a unit with the methods that stand beside it.
    fn parts(&self, files: &[CorpusFile], (place, unit): (u32, u32)) -> Vec<(u32, u32)> {
        let file = &files[place as usize];
        let facts = &file.facts.units[unit as usize];
        let is_go_type = file.language == Language::Go && facts.kind == UnitKind::Class;
        let methods = is_go_type.then(|| self.go_methods.get(&go_type_key(file, &facts.name))).flatten();
        std::iter::once((place, unit)).chain(methods.into_iter().flatten().copied()).collect()
    }

    /// No longer counts what a dead unit uses.
    fn remove_uses_in(&mut self, files: &[CorpusFile], file: u32, unit: u32) {
        let place = file as usize;
        let file = &files[place];
        let dead = self.dead_names.entry(place).or_insert_with(|| vec![false; file.facts.names.len()]);
        let facts = &file.facts.units[unit as usize];
        for at in facts.names.usize() {
            let used = file.facts.names[at];
            if used.is_definition() || std::mem::replace(&mut dead[at], true) {
                continue;
            }
            let name = file.symbols[used.symbol() as usize];
            let names = &self.names;
            if let Some(at) = self.index.find(name, |at| names[at as usize] == name) {
                self.counts[at as usize] -= 1;
            }
        }
    }

    /// Returns the callables with the same content, including the unit itself; none if it is not comparable.
    fn copies(&self, unit: &CodeUnit) -> &[(u64, u32, u32)] {
        if !unit.kind.is_callable() {
            return &[];
        }
        let first = self.copies.partition_point(|(content, ..)| *content < unit.exact);
        let last = self.copies.partition_point(|(content, ..)| *content <= unit.exact);
        &self.copies[first..last]
    }
}

/// Returns the key of a type of Go: its name within its package, which is a directory.
fn go_type_key(file: &CorpusFile, name: &str) -> u64 {
    let path = file.path.as_bytes();
    let directory = &path[..path.iter().rposition(|&byte| byte == b'/').unwrap_or(0)];
    mix(hash::of_bytes(directory), hash::of_bytes(name.as_bytes()))
}

/// Returns the key of the type that a method of Go belongs to.
fn receiver_key(file: &CorpusFile, unit: &CodeUnit) -> Option<u64> {
    if file.language != Language::Go || unit.kind != UnitKind::Function {
        return None;
    }
    unit.name.split_once('.').map(|(receiver, _)| go_type_key(file, receiver))
}

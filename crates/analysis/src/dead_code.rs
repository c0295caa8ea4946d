//! Unused code, reported only if the language itself rules out uses from outside.
//!
//! A unit is dead if no file of the tree names it outside its own body. Names are compared, not bindings: a
//! name used for something else can hide a dead unit, but a used unit is never reported. Code that a
//! framework could reach is left alone: decorated and overriding code, tests, entry points, names mentioned
//! in strings. Unused public code is an interface, not a finding.

use crate::corpus::CorpusFile;
use crate::facts::{AccessLevel, CodeUnit, UnitKind, count};
use crate::finding::{Confidence, FindingDraft, FindingFamily, Severity};
use crate::hash;
use crate::language::Language;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// A dead unit: file and unit.
pub(crate) type DeadUnit = (u32, u32);

pub(crate) fn find(files: &[CorpusFile]) -> Vec<DeadUnit> {
    let uses = NameUsage::of(files);
    let mut dead = Vec::new();
    for (index, file) in files.iter().enumerate() {
        for (unit, facts) in file.facts.units.iter().enumerate() {
            if is_candidate(file, facts) && !uses.reach(files, file, facts) {
                dead.push((count(index), count(unit)));
            }
        }
    }
    // Code inside dead code needs no separate finding.
    let all: BTreeSet<DeadUnit> = dead.iter().copied().collect();
    dead.retain(|&(file, unit)| {
        let units = &files[file as usize].facts.units;
        units[unit as usize].parent.is_none_or(|parent| !all.contains(&(file, parent)))
    });
    dead
}

pub(crate) fn drafts(files: &[CorpusFile], dead: &[DeadUnit]) -> Vec<FindingDraft> {
    dead.iter()
        .map(|&(file, unit)| {
            let file = &files[file as usize];
            let unit = &file.facts.units[unit as usize];
            let is_sure =
                unit.access == AccessLevel::Private && file.facts.n_errors == 0 && !is_dynamic(file);
            FindingDraft {
                message: format!("nothing in the project uses `{}`", unit.name),
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
        _ => unit.access != AccessLevel::Public,
    };
    is_hidden
        && matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class)
        && !(unit.decorated || unit.test || unit.inherits || unit.constructor || file.is_test)
        && !parent
            .is_some_and(|parent| parent.kind == UnitKind::Class && (parent.inherits || parent.decorated))
        && !is_entry(file, unit)
        // Hooks such as `__len__` and `_repr_html_`.
        && !(simple.starts_with('_') && simple.ends_with('_'))
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

/// How often each name is used in the tree, except in its definitions.
struct NameUsage {
    counts: Vec<(u64, u32)>,
    /// Sorted.
    mentioned: Vec<u64>,
    /// Strings that look like the beginning of names: `"visit_" + kind`.
    prefixes: BTreeSet<String>,
    /// Units by content, sorted: a copy of a unit does not keep it alive.
    copies: Vec<(u64, u32, u32)>,
}

impl NameUsage {
    fn of(files: &[CorpusFile]) -> Self {
        let mut counts = Vec::new();
        let mut mentioned = Vec::new();
        let mut prefixes = BTreeSet::new();
        let mut copies = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let mut n_uses = vec![0u32; file.symbols.len()];
            for name in file.facts.names.iter().filter(|name| !name.is_definition()) {
                n_uses[name.symbol() as usize] += 1;
            }
            counts.extend(file.symbols.iter().copied().zip(n_uses).filter(|(_, n_uses)| *n_uses > 0));
            let listed = file.facts.mentions.iter().chain(&file.facts.exports);
            mentioned.extend(listed.map(|&symbol| file.symbols[symbol as usize]));
            let words = file.facts.mentions.iter().map(|&symbol| file.facts.symbols.get(symbol));
            prefixes.extend(words.filter(|word| word.len() > 3 && word.ends_with('_')).map(str::to_owned));
            for (unit, facts) in file.facts.units.iter().enumerate() {
                if facts.kind.is_callable() && facts.renamed != 0 {
                    copies.push((facts.renamed, count(index), count(unit)));
                }
            }
        }
        counts.par_sort_unstable();
        copies.par_sort_unstable();
        mentioned.par_sort_unstable();
        mentioned.dedup();
        counts.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        Self { counts, mentioned, prefixes, copies }
    }

    /// Returns true if anything except the unit itself names it.
    fn reach(&self, files: &[CorpusFile], file: &CorpusFile, unit: &CodeUnit) -> bool {
        let simple = simple_name(unit);
        let name = hash::of_bytes(simple.as_bytes());
        let is_begun = simple.match_indices('_').any(|(at, _)| self.prefixes.contains(&simple[..=at]));
        if is_begun || self.mentioned.binary_search(&name).is_ok() {
            return true;
        }
        let n_uses = match self.counts.binary_search_by_key(&name, |(symbol, _)| *symbol) {
            Ok(at) => self.counts[at].1,
            Err(_) => return false,
        };
        let own = |&(_, file, unit): &(u64, u32, u32)| {
            let file = &files[file as usize];
            uses_in(file, &file.facts.units[unit as usize], name)
        };
        let n_own: u32 = match self.copies(unit) {
            [] => uses_in(file, unit, name),
            copies => copies.iter().map(own).sum(),
        };
        n_uses > n_own
    }

    /// Returns the callables with the same content, including the unit itself; none if it is not comparable.
    fn copies(&self, unit: &CodeUnit) -> &[(u64, u32, u32)] {
        if !unit.kind.is_callable() {
            return &[];
        }
        let first = self.copies.partition_point(|(content, ..)| *content < unit.renamed);
        let last = self.copies.partition_point(|(content, ..)| *content <= unit.renamed);
        &self.copies[first..last]
    }
}

fn uses_in(file: &CorpusFile, unit: &CodeUnit, name: u64) -> u32 {
    let names = file.facts.names[unit.names.usize()].iter();
    count(names.filter(|used| !used.is_definition() && file.symbols[used.symbol() as usize] == name).count())
}

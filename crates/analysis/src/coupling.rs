//! Coupling of classes: how many other project classes each class names (CBO).
//!
//! A name refers to a class only in the file of the class, or in a file that depends on it. A class is not
//! coupled to itself, nor to nested or enclosing classes. Classes of other projects do not count: one cannot
//! restructure them here.

use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, UnitKind, count};
use crate::hash;
use crate::imports::DependencyEdge;
use rayon::prelude::*;

/// Returns for each file the coupling of its classes: (unit, number of other classes), in unit order.
pub(crate) fn of(files: &[CorpusFile], edges: &[DependencyEdge]) -> Vec<Vec<(u32, u32)>> {
    let classes: Vec<Vec<u64>> = files.par_iter().map(class_names).collect();
    let of_file = |(index, file): (usize, &CorpusFile)| {
        if classes[index].is_empty() {
            return Vec::new();
        }
        let first = edges.partition_point(|edge| (edge.from as usize) < index);
        let needed = edges[first..].iter().take_while(|edge| edge.from as usize == index);
        let mut known = classes[index].clone();
        known.extend(needed.flat_map(|edge| &classes[edge.to as usize]));
        known.sort_unstable();
        known.dedup();
        couplings(file, &known)
    };
    files.par_iter().enumerate().map(of_file).collect()
}

/// Returns the fingerprints of a file's class names, sorted.
fn class_names(file: &CorpusFile) -> Vec<u64> {
    let classes = file.facts.units.iter().filter(|unit| unit.kind == UnitKind::Class);
    let mut names: Vec<u64> = classes.map(name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn name(class: &CodeUnit) -> u64 {
    hash::of_bytes(class.name.rsplit('.').next().unwrap_or_default().as_bytes())
}

fn couplings(file: &CorpusFile, known: &[u64]) -> Vec<(u32, u32)> {
    let is_class: Vec<bool> = file.symbols.iter().map(|symbol| known.binary_search(symbol).is_ok()).collect();
    let units = file.facts.units.iter().enumerate();
    let classes = units.filter(|(_, unit)| unit.kind == UnitKind::Class);
    classes.map(|(index, class)| (count(index), coupling(file, class, &is_class))).collect()
}

fn coupling(file: &CorpusFile, class: &CodeUnit, is_class: &[bool]) -> u32 {
    let uses = file.facts.names[class.names.usize()].iter().filter(|used| !used.is_definition());
    let mut named: Vec<u32> =
        uses.map(|used| used.symbol()).filter(|&symbol| is_class[symbol as usize]).collect();
    named.sort_unstable();
    named.dedup();
    if named.is_empty() {
        return 0;
    }
    let related = file.facts.units.iter().filter(|other| {
        other.kind == UnitKind::Class
            && (class.range.contains(&other.range) || other.range.contains(&class.range))
    });
    let related: Vec<u64> = related.map(name).collect();
    count(named.iter().filter(|&&symbol| !related.contains(&file.symbols[symbol as usize])).count())
}

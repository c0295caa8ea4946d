//! Cohesion of classes: LCOM4, the number of groups of methods that share no field and no call.
//!
//! Constructors do not count: they touch every field and would connect unrelated groups. Neither do methods
//! that touch nothing of the object.

use crate::facts::{FileFacts, UnitKind, count};
use crate::language::LanguageSpec;
use std::collections::{BTreeMap, BTreeSet};

/// Computes the LCOM4 of every class with methods. `fields` are the declared fields: (class, symbol).
pub(crate) fn fill_lcom4(facts: &mut FileFacts, fields: &[(u32, u32)], spec: &LanguageSpec) {
    let mut methods: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (index, unit) in facts.units.iter().enumerate() {
        if let (UnitKind::Method, Some(class)) = (unit.kind, unit.parent) {
            methods.entry(class).or_default().push(count(index));
        }
    }
    for (class, methods) in methods {
        let members = members(facts, fields, class, &methods, spec);
        facts.units[class as usize].lcom4 = Some(n_groups(facts, &methods, &members));
    }
}

/// Returns the symbols of class members, for languages in which methods use bare names.
fn members(
    facts: &FileFacts,
    fields: &[(u32, u32)],
    class: u32,
    methods: &[u32],
    spec: &LanguageSpec,
) -> BTreeSet<u32> {
    if !spec.bare_fields {
        return BTreeSet::new();
    }
    let names = methods.iter().filter_map(|&method| defined_symbol(facts, method));
    fields.iter().filter(|(of, _)| *of == class).map(|(_, symbol)| *symbol).chain(names).collect()
}

fn defined_symbol(facts: &FileFacts, method: u32) -> Option<u32> {
    let names = &facts.names[facts.units[method as usize].names.usize()];
    names.iter().find(|name| name.is_definition()).map(|name| name.symbol())
}

fn n_groups(facts: &FileFacts, methods: &[u32], members: &BTreeSet<u32>) -> u32 {
    let mut groups: Vec<BTreeSet<u32>> = Vec::new();
    for &method in methods {
        let unit = &facts.units[method as usize];
        if unit.constructor {
            continue;
        }
        let mut touched: BTreeSet<u32> = facts.names[unit.names.usize()]
            .iter()
            .filter(|name| !name.is_definition())
            .filter(|name| name.is_own() || members.contains(&name.symbol()))
            .map(|name| name.symbol())
            .collect();
        let is_called = defined_symbol(facts, method);
        if touched.is_empty() && !is_called.is_some_and(|own| groups.iter().any(|group| group.contains(&own)))
        {
            continue;
        }
        touched.extend(is_called);
        let (joined, apart) = groups.into_iter().partition(|group| !group.is_disjoint(&touched));
        groups = apart;
        groups.push(joined.into_iter().fold(touched, |mut all, group| {
            all.extend(group);
            all
        }));
    }
    count(groups.len()).max(1)
}

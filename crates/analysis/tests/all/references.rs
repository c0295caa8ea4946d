//! References to what a change removed, labeled by hand before the rules were written: broken ones are found, and
//! innocent ones are left alone.

mod broken;
mod innocent;

use crate::common::run;
use broken::BROKEN;
use innocent::INNOCENT;
use probity_analysis::{FindingFamily, compare};
use std::collections::BTreeMap;

/// A tree, and a change of it: files with their new text, or `None` for a file that is deleted.
pub(crate) struct ReferenceCase {
    pub(crate) name: &'static str,
    pub(crate) files: &'static [(&'static str, &'static str)],
    pub(crate) change: &'static [(&'static str, Option<&'static str>)],
}

const fn case(
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    change: &'static [(&'static str, Option<&'static str>)],
) -> ReferenceCase {
    ReferenceCase { name, files, change }
}

/// Returns the messages about references that dangle because of the change.
pub(crate) fn dangling(case: &ReferenceCase) -> Vec<String> {
    let before: BTreeMap<&str, &str> = case.files.iter().copied().collect();
    let mut after = before.clone();
    for (path, text) in case.change {
        match text {
            Some(text) => drop(after.insert(path, text)),
            None => assert!(after.remove(path).is_some(), "{}: no {path}", case.name),
        }
    }
    let of = |files: BTreeMap<&str, &str>| run(&files.into_iter().collect::<Vec<_>>());
    let found = compare(&of(before), &of(after)).regressions;
    let dangling = found.iter().filter(|it| it.finding.family == FindingFamily::DanglingImport);
    dangling.map(|it| format!("{} {}", it.finding.locations[0].path, it.finding.message)).collect()
}

const PY_UTIL: &str = "def load(a):\n    return a.load()\n\n\ndef store(a):\n    return a.store()\n";
const PY_UTIL_LESS: &str = "def load(a):\n    return a.load()\n";
const TS_UTIL: &str = "export function load(a: number) {\n  return a + 1;\n}\n\nexport function store(a: number) {\n  return a + 2;\n}\n";
const TS_UTIL_LESS: &str = "export function load(a: number) {\n  return a + 1;\n}\n";
const GO_UTIL: &str = "package util\n\nfunc Load(a int) int {\n\treturn a + 1\n}\n\nfunc Store(a int) int {\n\treturn a + 2\n}\n";
const GO_UTIL_LESS: &str = "package util\n\nfunc Load(a int) int {\n\treturn a + 1\n}\n";
const RS_UTIL: &str = "pub fn load(a: u32) -> u32 {\n    a + 1\n}\n\npub fn store(a: u32) -> u32 {\n    a + 2\n}\n\npub struct Record;\n";
const RS_UTIL_LESS: &str = "pub fn load(a: u32) -> u32 {\n    a + 1\n}\n";

#[test]
fn what_a_change_removed_and_something_still_names_dangles() {
    let unseen: Vec<&str> =
        BROKEN.iter().filter(|case| dangling(case).is_empty()).map(|case| case.name).collect();
    assert_eq!(unseen, [""; 0], "of {} broken references", BROKEN.len());
}

#[test]
fn what_is_found_elsewhere_does_not_dangle() {
    let accused: Vec<(&str, Vec<String>)> = INNOCENT
        .iter()
        .map(|case| (case.name, dangling(case)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert_eq!(accused, [], "of {} innocent changes", INNOCENT.len());
}

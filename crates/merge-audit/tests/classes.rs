//! Places where the class of a missing edit hangs on what the other side did there.

use probity_merge_audit::{AuditFinding, AuditOptions, FileVersion, FindingClass, FourTrees, audit};
use probity_paths::RepoPath;
use std::sync::Arc;

const SHOP: &str = "import sys

def price(order):
    total = sum(order)
    check(total)
    return total

def ship(order):
    parcel = pack(order, wrapping)
    weigh(parcel)
    return parcel
";

fn findings(name: &str, texts: [&str; 4]) -> Vec<AuditFinding> {
    let path = RepoPath::parse(name.as_bytes()).expect("a path");
    let version = |text: &str| {
        let id = probity_core::Digest::of(text.as_bytes()).to_hex();
        Some(FileVersion { mode: 0o100_644, id: id.into(), bytes: Some(Arc::from(text.as_bytes())) })
    };
    let trees = FourTrees::from([(path, texts.map(version))]);
    audit(&trees, AuditOptions { two_way: false, checks_breakages: true }).findings
}

fn classes(texts: [&str; 4]) -> Vec<FindingClass> {
    findings("shop.py", texts).iter().map(|finding| finding.class).collect()
}

#[test]
fn two_bodies_of_one_new_function_are_contested() {
    let ours = format!("{SHOP}\ndef refund(order):\n    money = owed(order)\n    return money\n");
    let theirs = format!("{SHOP}\ndef refund(order):\n    # to be written\n    pass\n");
    let found = classes([SHOP, &ours, &theirs, &ours]);
    assert!(!found.is_empty());
    assert!(found.iter().all(|class| *class == FindingClass::Contested), "{found:?}");
}

#[test]
fn a_shortened_line_is_there_though_the_other_side_says_its_old_words_elsewhere() {
    let ours = SHOP.replace("pack(order, wrapping)", "pack(order)");
    let more = "\ndef gift(order):\n    parcel = pack(order, wrapping)\n    return ribbon(parcel)\n";
    let [theirs, merged] = [format!("{SHOP}{more}"), format!("{ours}{more}")];
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), []);
    assert_eq!(classes([SHOP, &ours, &theirs, &theirs]), [FindingClass::Lost]);
}

#[test]
fn a_deletion_is_contested_if_the_other_side_edited_what_was_deleted_with_it() {
    let ours = SHOP.replace("    parcel = pack(order, wrapping)\n    weigh(parcel)\n", "    parcel = None\n");
    let theirs = SHOP.replace("weigh(parcel)", "weigh(parcel, scale, unit)");
    let found = classes([SHOP, &ours, &theirs, &theirs]);
    assert!(!found.is_empty());
    assert!(found.iter().all(|class| *class == FindingClass::Contested), "{found:?}");
    // An edit elsewhere does not explain it.
    let elsewhere = SHOP.replace("check(total)", "check(total, limit)");
    let without = SHOP.replace("    weigh(parcel)\n", "");
    assert_eq!(classes([SHOP, &without, &elsewhere, &elsewhere]), [FindingClass::Lost]);
}

#[test]
fn a_file_that_merges_cleanly_can_still_define_a_name_twice() {
    let refund = "def refund(order):\n    return owed(order)\n\n";
    let ours = SHOP.replace("def price", &format!("{refund}def price"));
    let theirs = format!("{SHOP}\n{}", refund.trim_end());
    let merged = format!("{ours}\n{}", refund.trim_end());
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), [FindingClass::Duplicate]);
}

#[test]
fn calls_are_held_against_definitions_of_files_that_mention_their_name() {
    let version = |text: &str| {
        let id = probity_core::Digest::of(text.as_bytes()).to_hex();
        Some(FileVersion { mode: 0o100_644, id: id.into(), bytes: Some(Arc::from(text.as_bytes())) })
    };
    let define = |parameters: &str| format!("def weigh(\n    {parameters}\n):\n    return 1\n");
    let [old, new] = [define("parcel"), define("parcel, unit")];
    let [without, with] =
        ["def ship(parcel):\n    load(parcel)\n", "def ship(parcel):\n    load(parcel)\n    weigh(parcel)\n"];
    let path = |name: &str| RepoPath::parse(name.as_bytes()).expect("a path");
    let trees = FourTrees::from([
        (path("scale.py"), [old.as_str(), &new, &old, &new].map(version)),
        (path("ship.py"), [without, without, with, with].map(version)),
    ]);
    let report = audit(&trees, AuditOptions { two_way: false, checks_breakages: true });
    let found: Vec<_> =
        report.findings.iter().map(|finding| (finding.class, finding.path.to_string())).collect();
    assert_eq!(found, [(FindingClass::Signature, "ship.py".to_owned())]);
}

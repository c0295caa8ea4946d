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

fn version(text: &str) -> FileVersion {
    let id = probity_core::Digest::of(text.as_bytes()).to_hex();
    FileVersion { mode: 0o100_644, id: id.into(), bytes: Some(Arc::from(text.as_bytes())) }
}

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name.as_bytes()).expect("a path")
}

fn findings(name: &str, texts: [&str; 4]) -> Vec<AuditFinding> {
    let trees = FourTrees::from([(path(name), texts.map(|text| Some(version(text))))]);
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
    let define = |parameters: &str| format!("def weigh(\n    {parameters}\n):\n    return 1\n");
    let [old, new] = [define("parcel"), define("parcel, unit")];
    let [without, with] =
        ["def ship(parcel):\n    load(parcel)\n", "def ship(parcel):\n    load(parcel)\n    weigh(parcel)\n"];
    let trees = FourTrees::from([
        (path("scale.py"), [old.as_str(), &new, &old, &new].map(|text| Some(version(text)))),
        (path("ship.py"), [without, without, with, with].map(|text| Some(version(text)))),
    ]);
    let report = audit(&trees, AuditOptions { two_way: false, checks_breakages: true });
    let found: Vec<_> =
        report.findings.iter().map(|finding| (finding.class, finding.path.to_string())).collect();
    assert_eq!(found, [(FindingClass::Signature, "ship.py".to_owned())]);
}

#[test]
fn a_comment_that_is_wrapped_anew_is_there() {
    let noted = |comment: &str| SHOP.replace("    check(total)\n", &format!("{comment}    check(total)\n"));
    let ours = noted("    # The check compares the total with the limit of the order.\n");
    let theirs = SHOP.replace("weigh(parcel)", "weigh(parcel, unit)");
    let merged = noted("    # The check compares the total\n    # with the limit of the order.\n");
    let merged = merged.replace("weigh(parcel)", "weigh(parcel, unit)");
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), []);
    assert_eq!(classes([SHOP, &ours, &theirs, &theirs]), [FindingClass::Lost]);
}

#[test]
fn one_of_two_equal_lines_of_a_file_that_both_sides_added_is_contested() {
    let ours = "def build(size):\n    setup(size)\n    return size\n\ndef free(size):\n    clear(size)\n";
    let theirs = "def build(size):\n    setup(size)\n    return size\n\ndef free(size):\n    setup(size)\n";
    let texts = [None, Some(version(ours)), Some(version(theirs)), Some(version(ours))];
    let trees = FourTrees::from([(path("buffer.py"), texts)]);
    let report = audit(&trees, AuditOptions::default());
    let found: Vec<FindingClass> = report.findings.iter().map(|finding| finding.class).collect();
    assert_eq!(found, [FindingClass::Contested]);
    // What both have and the result has not is lost all the same.
    let texts = [
        None,
        Some(version(ours)),
        Some(version(theirs)),
        Some(version("def build(size):\n    return size\n")),
    ];
    let report = audit(&FourTrees::from([(path("buffer.py"), texts)]), AuditOptions::default());
    let is_lost = |finding: &AuditFinding| {
        finding.class == FindingClass::Lost && finding.lost.iter().any(|line| line == "    setup(size)")
    };
    assert!(report.findings.iter().any(is_lost), "{:?}", report.findings);
}

#[test]
fn a_line_that_was_moved_to_a_new_file_and_that_the_other_side_edited_at_its_old_place_is_contested() {
    let base = "def price(order):\n    total = sum(order)\n    check(total, limit)\n    return total\n";
    let stub = "from prices import price\n";
    let edited = base.replace("check(total, limit)", "verify(total)");
    let trees = FourTrees::from([
        (
            path("shop.py"),
            [Some(version(base)), Some(version(stub)), Some(version(&edited)), Some(version(stub))],
        ),
        (path("prices.py"), [None, Some(version(base)), None, Some(version(&edited))]),
    ]);
    let report = audit(&trees, AuditOptions { two_way: false, checks_breakages: true });
    let hard: Vec<&AuditFinding> = report.findings.iter().filter(|finding| finding.class.is_hard()).collect();
    assert!(hard.is_empty(), "{hard:?}");
}

#[test]
fn what_is_put_into_a_block_that_the_other_side_deleted_is_contested() {
    let base = format!("{SHOP}\ndef start(shop):\n    shop.open()\n    shop.run()\n    finish(shop)\n");
    let ours = base.replace("    shop.run()\n", "    shop.check_all()\n    shop.run()\n");
    let theirs = base.replace("    shop.open()\n    shop.run()\n", "    shop.serve()\n");
    assert_eq!(classes([&base, &ours, &theirs, &theirs]), [FindingClass::Contested]);
}

#[test]
fn equal_edits_of_one_file_have_ids_of_their_own() {
    let base = format!("{SHOP}\ndef first():\n    a()\n    b()\n\ndef second():\n    a()\n    b()\n");
    let ours = base.replace("    a()\n", "    a()\n    log(order, total)\n");
    let theirs = base.replace("import sys", "import sys, os");
    let found = findings("shop.py", [&base, &ours, &theirs, &theirs]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_ne!(found[0].id, found[1].id);
}

#[test]
fn where_a_translated_text_is_used_is_no_edit() {
    let base = "#: shop.py:10\nmsgid \"Total\"\nmsgstr \"Summe\"\n\n#: shop.py:20\nmsgid \"Parcel\"\nmsgstr \"Paket\"\n";
    let ours = base.replace("shop.py:10", "shop.py:14");
    let theirs = base.replace("Paket", "Sendung");
    assert_eq!(findings("de.po", [base, &ours, &theirs, &theirs]), []);
    let lost: Vec<Vec<String>> =
        findings("de.po", [base, &ours, &theirs, &ours]).into_iter().map(|finding| finding.lost).collect();
    assert_eq!(lost, [["msgstr \"Sendung\""]]);
    let texts = [base, &ours, &theirs, &theirs].map(|text| Some(version(text)));
    let report = audit(&FourTrees::from([(path("shop.pot"), texts)]), AuditOptions::default());
    assert_eq!((report.findings.len(), report.set_aside.len()), (0, 1));
}

#[test]
fn two_lines_that_the_merge_wrote_as_one_are_there() {
    let ours =
        SHOP.replace("    check(total)\n", "    check_once('limit of %s' %\n      render(total, order))\n");
    let theirs = SHOP.replace("    check(total)\n", "    check(translate('limit of %s, %s') % total)\n");
    let merged = SHOP.replace(
        "    check(total)\n",
        "    check_once(translate('limit of %s, %s') % render(total, order), 'limit of %s')\n",
    );
    let hard: Vec<AuditFinding> = findings("shop.txt", [SHOP, &ours, &theirs, &merged])
        .into_iter()
        .filter(|finding| finding.class.is_hard())
        .collect();
    assert!(hard.is_empty(), "{hard:?}");
}

#[test]
fn where_the_merge_wrote_a_line_of_its_own_an_edit_is_contested() {
    let ours =
        SHOP.replace("    weigh(parcel)\n", "    weigh(parcel)\n    ssl_host = setup_host(parcel.name)\n");
    let theirs = SHOP.replace("check(total)", "check(total, limit)");
    let merged =
        theirs.replace("    weigh(parcel)\n", "    weigh(parcel)\n    ssl_context = setup_context()\n");
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), [FindingClass::Contested]);
    assert_eq!(classes([SHOP, &ours, &theirs, &theirs]), [FindingClass::Lost]);
}

#[test]
fn a_man_page_that_a_program_wrote_is_set_aside() {
    let base = ".\\\" generated with Ronn/v0.7.3\n.TH \"SHOP\" \"8\" \"May 2019\"\n";
    let [ours, theirs] = ["June", "July"].map(|month| base.replace("May", month));
    let texts = [base, &ours, &theirs, base].map(|text| Some(version(text)));
    let report = audit(&FourTrees::from([(path("shop.8"), texts)]), AuditOptions::default());
    assert_eq!((report.findings.len(), report.set_aside.len()), (0, 1));
}

#[test]
fn what_both_sides_wrote_in_other_words_is_contested_also_if_one_has_the_old_line_within() {
    let base = SHOP.replace("    check(total)\n", "    self.data = {}\n");
    let ours = base.replace("self.data = {}\n", "self.data = {} if data is None else data\n");
    let theirs = base.replace("self.data = {}\n", "self.data = data or {}\n    self.heap = heap or []\n");
    let merged = ours.replace("else data\n", "else data\n    self.heap = [] if heap is None else heap\n");
    let found = classes([&base, &ours, &theirs, &merged]);
    assert!(!found.is_empty() && found.iter().all(|class| *class == FindingClass::Contested), "{found:?}");
    assert!(classes([&base, &base, &theirs, &base]).contains(&FindingClass::Lost));
}

#[test]
fn a_deletion_beside_a_line_that_the_other_side_rewrote_is_contested() {
    let base =
        SHOP.replace("def ship(order):\n", "def ship(order, unit):\n    unit = unit or standard(order)\n");
    let ours = base.replace(
        "def ship(order, unit):\n    unit = unit or standard(order)\n",
        "def send(order, door):\n    knock(door)\n",
    );
    let theirs = base.replace("def ship(order, unit):\n", "def send_all(order, unit):\n");
    let merged =
        theirs.replace("def send_all(order, unit):\n", "def send_all(order, unit, door):\n    knock(door)\n");
    let found = classes([&base, &ours, &theirs, &merged]);
    assert!(found.iter().all(|class| *class == FindingClass::Contested), "{found:?}");
    // A result that has both is no decision.
    let old = "def send_all(order, unit):\n    unit = unit or standard(order)\n";
    let both = ours.replace("    knock(door)\n", &format!("    knock(door)\n{old}"));
    assert!(classes([&base, &ours, &theirs, &both]).contains(&FindingClass::Lost));
}

#[test]
fn a_list_that_the_merge_wrapped_in_another_way_is_there() {
    let ours = SHOP.replace(
        "import sys\n",
        "import sys\nkinds = ['box', 'bag', 'crate', 'tube',\n         'pallet', 'roll', 'drum', 'sack']\n",
    );
    let theirs = SHOP.replace("check(total)", "check(total, limit)");
    let merged = theirs.replace(
        "import sys\n",
        "import sys\nforms = {\n    'box', 'bag', 'crate', 'tube', 'pallet',\n    'roll', 'drum', 'sack',\n}\n",
    );
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), []);
    let without = merged.replace("'roll', 'drum', 'sack',", "'jar',");
    assert!(!classes([SHOP, &ours, &theirs, &without]).is_empty());
}

#[test]
fn two_versions_of_one_inserted_text_are_contested() {
    let noted = |rest: &str| {
        let first = "    # The total is checked against the limit of the order,\n";
        SHOP.replace("    check(total)\n", &format!("{first}{rest}    check(total)\n"))
    };
    let ours = noted("    # because two agents may add to one order at a time.\n");
    let theirs =
        noted("    # which nobody may exceed without a note from the manager.\n    # See the manual.\n");
    let found = classes([SHOP, &ours, &theirs, &ours]);
    assert!(!found.is_empty() && found.iter().all(|class| *class == FindingClass::Contested), "{found:?}");
    // Where one side only has more of the same, nothing contradicts it.
    let longer = noted("    # because two agents may add to one order at a time.\n    # See the manual.\n");
    assert_eq!(classes([SHOP, &longer, &ours, &ours]), [FindingClass::Lost]);
}

#[test]
fn a_comment_that_the_merge_shortened_is_contested() {
    let ours =
        SHOP.replace("    check(total)\n", "    check(total)  # orders of version one have no limit\n");
    let theirs = SHOP.replace("weigh(parcel)", "weigh(parcel, unit)");
    let merged = theirs.replace("    check(total)\n", "    check(total)  # version one\n");
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), [FindingClass::Contested]);
}

#[test]
fn another_bullet_is_no_edit() {
    let base =
        "# Changes\n\nThe newest comes first.\n\n## 1.0\n\n* The shop opens at nine, and closes at five.\n";
    let entry = "The total of an order is rounded to cents before it is checked.\n";
    let ours = base.replace("## 1.0\n\n", &format!("## Rounding\n\n- {entry}\n## 1.0\n\n"));
    let theirs = base.replace("closes at five", "closes at six");
    let merged = theirs.replace("## 1.0\n\n", &format!("## Rounding\n\n* {entry}\n## 1.0\n\n"));
    assert_eq!(findings("NEWS.md", [base, &ours, &theirs, &merged]), []);
    // A sentence that a side has twice is there if it is there once.
    let twice = ours.replace("## 1.0\n\n", &format!("## 1.0\n\n- {entry}"));
    assert_eq!(findings("NEWS.md", [base, &twice, &theirs, &merged]), []);
    assert_eq!(findings("NEWS.md", [base, &ours, &theirs, &theirs]).len(), 1);
}

#[test]
fn a_shortened_line_that_is_there_beside_the_old_one_is_a_deletion() {
    let base = SHOP.replace("    check(total)\n", "    check(total, limit, unit)\n    log(total)\n");
    let ours = base.replace("check(total, limit, unit)", "check(total, limit)");
    let merged = base.replace("    check(", "    check(total, limit)\n    check(");
    let found = findings("shop.py", [&base, &ours, &base, &merged]);
    let told: Vec<_> = found.iter().map(|one| (one.kind.is_deletion(), one.lost.clone())).collect();
    assert_eq!(told, [(true, vec!["    check(total, limit, unit)".to_owned()])]);
}

#[test]
fn an_import_that_the_merge_wrote_together_with_another_is_there() {
    let ours = SHOP.replace("import sys\n", "import sys\nfrom clock import timestamp\n");
    let theirs = SHOP.replace("import sys\n", "import sys\nfrom clock import timer\n");
    let merged = SHOP.replace("import sys\n", "import sys\nfrom clock import timer, timestamp\n");
    assert_eq!(classes([SHOP, &ours, &theirs, &merged]), []);
    assert!(!classes([SHOP, &ours, &theirs, &theirs]).is_empty());
}

#[test]
fn an_edit_that_says_all_that_the_other_side_added_is_lost_without_it() {
    let base = SHOP.replace("    check(total)\n", "    check(total, limit)\n");
    let ours = base.replace("    check(total, limit)", "    await safe_check(total.cents, limit.cents)");
    let theirs = base.replace("    check(total, limit)", "    await check(total, limit)");
    assert_eq!(classes([&base, &ours, &theirs, &theirs]), [FindingClass::Lost]);
    let theirs = base.replace("    check(total, limit)", "    assert check(total, limit)");
    assert_eq!(classes([&base, &ours, &theirs, &theirs]), [FindingClass::Contested]);
}

#[test]
fn a_row_of_tildes_underlines_a_heading() {
    let text = "The shop opens at nine, and closes\nat five: nobody is there\non a holiday.\n";
    let base = format!("Opening\n-------\n\n{text}\nEnd of this page.\n");
    let ours = base.replace("-------", "~~~~~~~");
    let theirs = base.replace("End of this page", "End of the page");
    assert_eq!(findings("hours.rst", [&base, &ours, &theirs, &theirs]), []);
}

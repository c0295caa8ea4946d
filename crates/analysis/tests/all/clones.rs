//! Clones: each kind is found, code that only looks alike is not, and copies are counted.

use crate::common::{findings, run};
use probity_analysis::{AnalysisRun, CloneType, Finding, FindingFamily};

const ORIGINAL: &str = r#"
def collect(rows, limit):
    """Collects the rows that matter."""
    out = []
    seen = set()
    for row in rows:
        if row.key in seen:
            continue
        seen.add(row.key)
        value = row.amount * 2 + limit
        if value > 100:
            out.append(value)
        else:
            out.append(row.amount)
    total = sum(out)
    return out, total
"#;

fn clones(run: &AnalysisRun) -> Vec<&Finding> {
    let mut found = findings(run, FindingFamily::Clone);
    found.extend(findings(run, FindingFamily::CloneBlock));
    found
}

/// Returns the clone between the original and a copy in another file.
fn clone_of(copy: &str) -> Option<(FindingFamily, Option<CloneType>)> {
    let run = run(&[("a.py", ORIGINAL), ("b.py", copy)]);
    let found = clones(&run);
    assert!(found.len() <= 1, "told more than once: {found:#?}");
    found.first().map(|finding| (finding.family, finding.clone_type))
}

#[test]
fn type_1_survives_layout_comments_and_documentation() {
    let copy = ORIGINAL
        .replace("\"\"\"Collects the rows that matter.\"\"\"", "# no documentation")
        .replace("sum(out)", "sum(\n        out,\n    )")
        .replace("    out = []\n", "    out = []\n\n    # a comment\n");
    let copy = copy + "\nother = 1\n";
    assert_eq!(clone_of(&copy), Some((FindingFamily::Clone, Some(CloneType::Exact))));
}

#[test]
fn type_2_survives_a_renamed_receiver() {
    let copy = ORIGINAL.replace("out", "acc").replace("def collect", "def gather") + "\nother = 1\n";
    assert_eq!(clone_of(&copy), Some((FindingFamily::Clone, Some(CloneType::Renamed))));
}

#[test]
fn type_2_survives_other_literals_and_annotations() {
    let copy = ORIGINAL.replace("100", "250").replace("(rows, limit)", "(rows: list, limit: int) -> tuple")
        + "\nother = 1\n";
    assert_eq!(clone_of(&copy), Some((FindingFamily::Clone, Some(CloneType::Renamed))));
}

#[test]
fn type_3_survives_an_added_a_removed_and_a_changed_statement() {
    let added = ORIGINAL.replace("    total = ", "    print(rows)\n    total = ") + "\nother = 1\n";
    let removed = ORIGINAL.replace("        seen.add(row.key)\n", "") + "\nother = 1\n";
    let changed = ORIGINAL.replace("row.amount * 2 + limit", "scale(row.amount)") + "\nother = 1\n";
    for copy in [added, removed, changed] {
        assert_eq!(clone_of(&copy), Some((FindingFamily::Clone, Some(CloneType::Near))), "{copy}");
    }
}

#[test]
fn swapped_variables_are_no_renaming() {
    let swapped = ORIGINAL.replace("out.append(value)", "out.append(limit)") + "\nother = 1\n";
    assert_eq!(clone_of(&swapped), Some((FindingFamily::Clone, Some(CloneType::Near))));
}

#[test]
fn a_copied_block_inside_different_functions_is_found() {
    let body = r"
        value = row.amount * 2 + limit
        if value > 100:
            out.append(value)
        else:
            out.append(row.amount)
        seen.add(row.key)
        total = sum(out) + len(seen)
        log.debug('%s %s', value, total)
        state.update(total=total, value=value, count=len(out))
        yield value, total, state.result(out)
";
    let first =
        format!("def one(rows, limit, out, seen):\n    for row in rows:{body}\n    return finish(rows)\n");
    let second = format!(
        "def two(path):\n    limit, out, seen = load(path)\n    check(path)\n    for row in walk(path):{body}\n        more(row)\n    while path.next():\n        path.step()\n        path.log('x')\n        path.other(limit, 1, 2)\n    with path.open() as stream:\n        stream.write(limit)\n        stream.write(seen)\n        stream.flush()\n        for chunk in stream:\n            if chunk:\n                path.emit(chunk, seen, 3)\n    return path.done()\n"
    );
    let run = run(&[("a.py", &first), ("b.py", &second)]);
    let found = findings(&run, FindingFamily::CloneBlock);
    assert_eq!(found.len(), 1, "{:#?}", clones(&run));
    assert_eq!(found[0].locations[0].symbol, "two");
}

#[test]
fn copies_within_one_file_are_found() {
    let copy = ORIGINAL.replace("collect", "gather").replace("row", "item");
    let run = run(&[("a.py", &format!("{ORIGINAL}{copy}"))]);
    assert_eq!(clones(&run).len(), 1);
    assert_eq!(clones(&run)[0].locations.len(), 2);
}

#[test]
fn a_third_copy_of_a_known_clone_is_a_new_finding() {
    let copy = |name: &str| ORIGINAL.replace("collect", name);
    let two = run(&[("a.py", &copy("a")), ("b.py", &(copy("b") + "\nx = 1\n"))]);
    let three = run(&[
        ("a.py", &copy("a")),
        ("b.py", &(copy("b") + "\nx = 1\n")),
        ("0.py", &(copy("c") + "\ny = f(2)\n")),
    ]);
    let ids =
        |run: &AnalysisRun| clones(run).iter().map(|finding| finding.id.to_string()).collect::<Vec<_>>();
    assert_eq!((ids(&two).len(), ids(&three).len()), (1, 2));
    assert!(ids(&three).contains(&ids(&two)[0]));
}

#[test]
fn a_copied_file_is_one_finding_and_not_one_for_each_function() {
    let text =
        format!("{ORIGINAL}{}", ORIGINAL.replace("collect", "other").replace("sum(out)", "max(out, 1, 2)"));
    let run = run(&[("a.py", &text), ("b.py", &text)]);
    let found = clones(&run);
    let whole = found.iter().filter(|finding| finding.locations[0].symbol.is_empty()).count();
    assert_eq!(whole, 1, "{found:#?}");
    assert_eq!(found.len(), 2, "the file, and that its two functions are alike: {found:#?}");
}

#[test]
fn small_functions_of_one_shape_are_no_clones() {
    let text = r"
class Point:
    def first(self, other):
        check(self.x, other.x)
        self.x = convert(other.x, self.scale)
        return self.x + other.left

    def second(self, other):
        verify(self.y, other.y)
        self.y = translate(other.y, self.unit)
        return self.y + other.right
";
    assert!(clones(&run(&[("a.py", text)])).is_empty());
}

#[test]
fn tables_and_lists_of_calls_are_no_clones() {
    let line = |n| format!("    parser.add('--o{n}', default={n}, help='h{n}')\n");
    let lines = (0..60).map(line).collect::<Vec<_>>().concat();
    let text = format!("def build(parser):\n{lines}    return parser\n");
    let run = run(&[("a.py", &text)]);
    assert!(clones(&run).is_empty(), "{:#?}", clones(&run));
}

#[test]
fn a_19_line_and_a_20_line_copy_are_one_group() {
    let longer = ORIGINAL.replace("    out = []\n", "    out = [\n\n\n\n    ]\n") + "\nother = 1\n";
    assert_eq!(clone_of(&longer), Some((FindingFamily::Clone, Some(CloneType::Exact))));
}

#[test]
fn text_that_a_branch_gives_is_code_and_no_documentation() {
    let arms = |word: &str| {
        (0..20).map(|n| format!("        Kind::K{n} => \"{word} {n}\",\n")).collect::<Vec<_>>().concat()
    };
    let function = |name: &str| {
        format!("fn {name}(kind: Kind) -> &'static str {{\n    match kind {{\n{}    }}\n}}\n", arms(name))
    };
    let run = run(&[("a.rs", &function("one")), ("b.rs", &function("other"))]);
    let types: Vec<_> = clones(&run).iter().map(|finding| finding.clone_type).collect();
    assert_eq!(types, [Some(CloneType::Renamed)]);
}

#[test]
fn enumerations_of_other_constants_are_no_copies() {
    let protocol = |package: &str, name: &str, constants: &str, n: usize| {
        let constants: Vec<&str> = constants.split(' ').take(n).collect();
        let list = constants.join(", ");
        format!(
            "package {package};\n\npublic enum {name} implements Rawable {{\n    {list};\n\n    private final byte[] raw;\n\n    private {name}() {{\n        raw = Encoder.encode(name());\n    }}\n\n    @Override\n    public byte[] getRaw() {{\n        return raw;\n    }}\n}}\n"
        )
    };
    let one = "MEET RESET INFO FAILOVER SLOTS NODES REPLICAS SLAVES MYID ADDSLOTS DELSLOTS SETSLOT IMPORTING STABLE NODE LINKS BUMPEPOCH SHARDS SAVE COUNT";
    let other = "AVG SUM MIN MAX RANGE TOTAL FIRST LAST TWA LABELS FILTER VALUES QUERY EMPTY ALIGN LATEST CHUNK POLICY UNIT ON";
    for n in [8, 14, 20] {
        let run = run(&[
            ("a/Cluster.java", &protocol("a", "Cluster", one, n)),
            ("b/Series.java", &protocol("b", "Series", other, n)),
        ]);
        assert!(clones(&run).is_empty(), "{n}: {:#?}", clones(&run));
    }
}

//! Properties of an audit, on random merges whose losses are known because the result is composed from known edits.

use probity_line_diff::{LineAlignment, merge};
use probity_merge_audit::{
    AuditFinding, AuditOptions, EditKind, FileVersion, FindingClass, FourTrees, MergeSide, audit, restore_edit,
};
use probity_paths::RepoPath;
use proptest::prelude::*;
use std::sync::Arc;

const N_FUNCTIONS: usize = 6;
const N_STATEMENTS: usize = 5;

/// A program: functions of statements, each with a word of its own.
type Program = Vec<Vec<String>>;

fn base_program() -> Program {
    let statement = |function: usize, at: usize| format!("step_{function}_{at}({at}, value_{function}_{at})");
    (0..N_FUNCTIONS).map(|function| (0..N_STATEMENTS).map(|at| statement(function, at)).collect()).collect()
}

/// An edit of one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Insert { at: usize },
    Update { at: usize },
    Delete { at: usize },
}

fn apply(function: &mut Vec<String>, edit: Edit, word: &str) {
    match edit {
        Edit::Insert { at } => function.insert(at, format!("added_{word}(1, 2)")),
        Edit::Update { at } => function[at] = function[at].replace(')', &format!(", changed_{word})")),
        Edit::Delete { at } => {
            function.remove(at);
        }
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    (0..3, 1..N_STATEMENTS - 1).prop_map(|(kind, at)| match kind {
        0 => Edit::Insert { at },
        1 => Edit::Update { at },
        _ => Edit::Delete { at },
    })
}

/// Edits of both sides, each in a function of its own: ours in the first half.
fn edits() -> impl Strategy<Value = [Vec<(usize, Edit)>; 2]> {
    let half = N_FUNCTIONS / 2;
    let side = |first: usize| {
        prop::collection::vec((prop::bool::weighted(0.7), edit()), half).prop_map(move |list| {
            list.into_iter()
                .enumerate()
                .filter(|(_, (is_made, _))| *is_made)
                .map(|(index, (_, edit))| (first + index, edit))
                .collect::<Vec<_>>()
        })
    };
    (side(0), side(half)).prop_map(|(ours, theirs)| [ours, theirs])
}

fn with(edits: &[(usize, Edit)]) -> Program {
    let mut program = base_program();
    for (function, edit) in edits {
        apply(&mut program[*function], *edit, &format!("f{function}"));
    }
    program
}

fn python(program: &Program, step: &str) -> String {
    let function = |(index, body): (usize, &Vec<String>)| {
        let lines: Vec<String> = body.iter().map(|line| format!("{step}{line}\n")).collect();
        format!("def function_{index}():\n{}\n", lines.concat())
    };
    program.iter().enumerate().map(function).collect()
}

fn trees_of(texts: [&str; 4]) -> FourTrees {
    let path = RepoPath::parse(b"src/program.py").expect("a path");
    let version = |text: &str| {
        let id = probity_core::Digest::of(text.as_bytes()).to_hex();
        Some(FileVersion { mode: 0o100_644, id: id.into(), bytes: Some(Arc::from(text.as_bytes())) })
    };
    FourTrees::from([(path, texts.map(version))])
}

fn findings(texts: [&str; 4]) -> Vec<AuditFinding> {
    audit(&trees_of(texts), AuditOptions::default()).findings
}

proptest! {
    #[test]
    fn a_clean_merge_loses_nothing([ours, theirs] in edits()) {
        let [base, ours, theirs] = [&[][..], &ours, &theirs].map(|edits| python(&with(edits), "    "));
        let Ok(merged) = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), LineAlignment::Anchored) else {
            return Err(TestCaseError::fail("edits of different functions do not conflict"));
        };
        let merged = String::from_utf8(merged).expect("text");
        prop_assert_eq!(findings([&base, &ours, &theirs, &merged]), []);
    }

    #[test]
    fn another_layout_loses_nothing([ours, theirs] in edits()) {
        let all: Vec<(usize, Edit)> = ours.iter().chain(&theirs).copied().collect();
        let [base, ours, theirs] = [&[][..], &ours, &theirs].map(|edits| python(&with(edits), "    "));
        let merged = python(&with(&all), "\t").replace("(1, 2)", "(\n\t\t1,\n\t\t2,\n\t)");
        prop_assert_eq!(findings([&base, &ours, &theirs, &merged]), []);
    }

    #[test]
    fn a_planted_loss_is_found_alone_and_can_be_restored([ours, theirs] in edits(), chosen: prop::sample::Index) {
        prop_assume!(!ours.is_empty());
        let lost = chosen.index(ours.len());
        let all: Vec<(usize, Edit)> = ours.iter().chain(&theirs).copied().collect();
        let kept: Vec<(usize, Edit)> = all.iter().copied().filter(|edit| *edit != ours[lost]).collect();
        let [base, ours, theirs, merged, whole] =
            [&[][..], &ours, &theirs, &kept, &all].map(|edits| python(&with(edits), "    "));
        let found = findings([&base, &ours, &theirs, &merged]);
        prop_assert_eq!(found.len(), 1, "{:?}", found);
        prop_assert_eq!((found[0].class, found[0].side), (FindingClass::Lost, Some(MergeSide::Ours)));
        let place = found[0].place;
        let restored = restore_edit(base.as_bytes(), ours.as_bytes(), merged.as_bytes(), place.version, place.lines);
        prop_assert_eq!(restored.map(|text| String::from_utf8(text).expect("text")), Some(whole.clone()));
        prop_assert_eq!(findings([&base, &ours, &theirs, &whole]), []);
    }

    #[test]
    fn swapping_the_sides_swaps_the_findings([ours, theirs] in edits(), from_ours: bool) {
        let kept = if from_ours { &ours } else { &theirs };
        let merged = python(&with(kept), "    ");
        let [base, ours, theirs] = [&[][..], &ours, &theirs].map(|edits| python(&with(edits), "    "));
        let tell = |finding: &AuditFinding, side: MergeSide| {
            (finding.class, finding.kind, finding.side == Some(side), finding.lost.clone())
        };
        let one: Vec<_> = findings([&base, &ours, &theirs, &merged]).iter().map(|it| tell(it, MergeSide::Ours)).collect();
        let two: Vec<_> = findings([&base, &theirs, &ours, &merged]).iter().map(|it| tell(it, MergeSide::Theirs)).collect();
        prop_assert_eq!(one, two);
    }

    #[test]
    fn no_four_texts_make_it_panic(texts: [Option<Vec<u8>>; 4], name in "[a-z]{1,3}\\.(py|rs|json|yml|md|toml|txt|c)") {
        let path = RepoPath::parse(name.as_bytes()).expect("a path");
        let version = |bytes: Option<Vec<u8>>| {
            bytes.map(|bytes| FileVersion {
                mode: 0o100_644,
                id: probity_core::Digest::of(&bytes).to_hex().into(),
                bytes: Some(bytes.into()),
            })
        };
        let trees = FourTrees::from([(path, texts.map(version))]);
        audit(&trees, AuditOptions { two_way: false, checks_breakages: true });
    }

    #[test]
    fn any_four_trees_are_audited_the_same_from_both_sides(trees in any_trees()) {
        let options = AuditOptions { two_way: false, checks_breakages: true };
        let report = audit(&trees, options);
        prop_assert_eq!(&report, &audit(&trees, options), "the same trees have the same answer");
        let swapped: FourTrees = trees
            .iter()
            .map(|(path, [base, ours, theirs, result])| {
                (path.clone(), [base.clone(), theirs.clone(), ours.clone(), result.clone()])
            })
            .collect();
        let other = audit(&swapped, options);
        let broken = |report: &probity_merge_audit::AuditReport| {
            let mut classes: Vec<_> = report
                .findings
                .iter()
                .filter(|one| one.side.is_none())
                .map(|one| (one.class, one.path.clone()))
                .collect();
            classes.sort();
            classes
        };
        prop_assert_eq!(broken(&report), broken(&other));
        for finding in report.findings.iter().filter(|finding| finding.place.lines != [0, 0]) {
            let versions = &trees[&finding.path];
            let text = |at: usize| versions[at].as_ref().and_then(|one| one.bytes.clone()).unwrap_or_default();
            let version = if finding.side == Some(MergeSide::Ours) { 1 } else { 2 };
            // Whatever it gives, it must not panic.
            let _ = restore_edit(&text(0), &text(version), &text(3), finding.place.version, finding.place.lines);
        }
    }
}

fn file(name: &str, texts: [Option<&str>; 4]) -> (RepoPath, [Option<FileVersion>; 4]) {
    let version = |text: &str| FileVersion {
        mode: 0o100_644,
        id: probity_core::Digest::of(text.as_bytes()).to_hex().into(),
        bytes: Some(Arc::from(text.as_bytes())),
    };
    (RepoPath::parse(name.as_bytes()).expect("a path"), texts.map(|text| text.map(version)))
}

#[test]
fn a_rename_that_the_result_undid_is_told() {
    let text = python(&base_program(), "    ");
    let edited = text.replace("step_0_0", "first_step");
    for theirs in [&text, &edited] {
        let undone = FourTrees::from([
            file("old.py", [Some(&text), None, Some(theirs), Some(theirs)]),
            file("new.py", [None, Some(&text), None, None]),
        ]);
        let found = audit(&undone, AuditOptions::default()).findings;
        let told: Vec<_> =
            found.iter().map(|one| (one.class, one.kind, one.side, one.path.to_string())).collect();
        let expected = (FindingClass::Lost, EditKind::RenameFile, Some(MergeSide::Ours), "new.py".to_owned());
        assert_eq!(told, [expected]);
        let kept = FourTrees::from([
            file("old.py", [Some(&text), None, Some(theirs), None]),
            file("new.py", [None, Some(&text), None, Some(theirs)]),
        ]);
        assert_eq!(audit(&kept, AuditOptions::default()).findings, []);
    }
}

#[test]
fn a_function_that_is_back_at_its_old_place_is_a_lost_move() {
    let functions: Vec<String> =
        python(&base_program(), "    ").split_inclusive("\n\n").map(str::to_owned).collect();
    let mut reordered = functions.clone();
    let moved = reordered.remove(4);
    reordered.insert(1, moved);
    let edit = |functions: &[String]| functions.concat().replace("step_0_2", "other_step");
    let (base, ours) = (functions.concat(), reordered.concat());
    let (theirs, both) = (edit(&functions), edit(&reordered));
    let found = findings([&base, &ours, &theirs, &theirs]);
    let told: Vec<_> = found.iter().map(|one| (one.class, one.kind, one.entity.as_deref())).collect();
    assert_eq!(told, [(FindingClass::Lost, EditKind::Move, Some("function_4"))]);
    assert_eq!(findings([&base, &ours, &theirs, &both]), []);
    // Nobody can say which of two orders is right.
    let mut swapped = functions.clone();
    swapped.swap(0, 1);
    assert!(findings([&base, &ours, &swapped.concat(), &base]).iter().all(|one| one.kind != EditKind::Move));
}

/// Lines that programs, settings and half-merged files are made of.
const LINES: [&str; 16] = [
    "def price(order):",
    "    return total",
    "    total = sum(order)",
    "    check(total, 2)",
    "import os",
    "class Shop {",
    "}",
    "<<<<<<< ours",
    "=======",
    ">>>>>>> theirs",
    "",
    "# a note",
    "\"key\": [1, 2],",
    "fn main() { price(1); }",
    "\t\u{e4}\u{f6}\r",
    "x",
];

const NAMES: [&str; 7] = ["a.py", "b.rs", "lib/a.py", "c.json", "d.md", "e.c", "f.yml"];

/// Four trees of up to three files, which may be absent, renamed or equal.
fn any_trees() -> impl Strategy<Value = FourTrees> {
    let text =
        prop::collection::vec(prop::sample::select(&LINES[..]), 0..12).prop_map(|lines| lines.join("\n"));
    let versions = prop::array::uniform4(prop::option::weighted(0.8, text));
    prop::collection::btree_map(prop::sample::select(&NAMES[..]), versions, 1..4).prop_map(|files| {
        let version = |text: Option<String>| {
            text.map(|text| FileVersion {
                mode: 0o100_644,
                id: probity_core::Digest::of(text.as_bytes()).to_hex().into(),
                bytes: Some(Arc::from(text.as_bytes())),
            })
        };
        files
            .into_iter()
            .map(|(name, texts)| (RepoPath::parse(name.as_bytes()).expect("a path"), texts.map(version)))
            .collect()
    })
}

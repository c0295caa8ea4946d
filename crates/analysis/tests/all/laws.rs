//! Properties: determinism, no panic on any edit of any language, copies never raise health.

use crate::common::{path, run};
use probity_analysis::{
    AnalysisInput, AnalysisSettings, FileFacts, Language, SourceInput, analyze, read_facts,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

const FLOW: [(&str, &str); 14] = [
    ("Sample.java", include_str!("../fixtures/flow/Sample.java")),
    ("sample.c", include_str!("../fixtures/flow/sample.c")),
    ("sample.cpp", include_str!("../fixtures/flow/sample.cpp")),
    ("sample.cs", include_str!("../fixtures/flow/sample.cs")),
    ("sample.go", include_str!("../fixtures/flow/sample.go")),
    ("sample.js", include_str!("../fixtures/flow/sample.js")),
    ("sample.kt", include_str!("../fixtures/flow/sample.kt")),
    ("sample.php", include_str!("../fixtures/flow/sample.php")),
    ("sample.py", include_str!("../fixtures/flow/sample.py")),
    ("sample.rb", include_str!("../fixtures/flow/sample.rb")),
    ("sample.rs", include_str!("../fixtures/flow/sample.rs")),
    ("sample.sh", include_str!("../fixtures/flow/sample.sh")),
    ("sample.ts", include_str!("../fixtures/flow/sample.ts")),
    ("sample.tsx", include_str!("../fixtures/flow/sample.tsx")),
];

fn with_threads(n_threads: usize, input: &AnalysisInput<'_>) -> String {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("a pool");
    pool.install(|| {
        serde_json::to_string(&analyze(input, &AnalysisSettings::default()).run).expect("serialises")
    })
}

#[test]
fn the_same_tree_gives_the_same_bytes_with_any_number_of_threads() {
    let sources: BTreeMap<_, _> =
        FLOW.iter().map(|(name, text)| (path(name), SourceInput::Bytes(text.as_bytes()))).collect();
    let input = AnalysisInput { sources, ..AnalysisInput::default() };
    let one = with_threads(1, &input);
    for n_threads in [2, 5] {
        assert_eq!(with_threads(n_threads, &input), one);
    }
}

#[test]
fn facts_survive_their_stored_form() {
    for (name, text) in FLOW {
        let language = Language::of_file_name(path(name).file_name()).expect("a language");
        let facts = read_facts(language, text.as_bytes(), 1 << 20);
        let stored = postcard::to_stdvec(&facts).expect("memory takes every byte");
        assert_eq!(postcard::from_bytes::<FileFacts>(&stored).expect("reads back"), facts);
        assert!(facts.is_sound());
    }
}

#[test]
fn damaged_facts_are_told_and_never_used() {
    let mut facts = read_facts(Language::Python, b"def f(a):\n    return a\n", 1 << 20);
    facts.units[1].parent = Some(7);
    assert!(!facts.is_sound());
    let known = SourceInput::Known { content: probity_core::Digest::of(b"x"), facts: facts.into() };
    let input =
        AnalysisInput { sources: BTreeMap::from([(path("a.py"), known)]), ..AnalysisInput::default() };
    let run = analyze(&input, &AnalysisSettings::default()).run;
    assert_eq!(run.file_counts(), (0, 0, 1));
}

/// Returns Python functions with different contents.
fn function(seed: u8) -> String {
    let n = u32::from(seed);
    let steps = (0..4 + n % 7).map(|step| match (n + step) % 4 {
        0 => format!("    for row{step} in rows:\n        out.add{n}(row{step}, {step})\n"),
        1 => format!("    if x{n} > {step}:\n        out = g{step}(out, x{n})\n"),
        2 => format!("    out.call_{n}_{step}(rows, x{n}, {n})\n"),
        _ => format!("    value{step} = out.get(x{n}) + rows.len{n}\n    use(value{step})\n"),
    });
    let body = steps.collect::<Vec<_>>().concat();
    format!("def f{n}(rows, x{n}):\n    out = load{n}(rows)\n{body}    return out\n\n\n")
}

#[test]
fn a_copy_does_not_end_the_likeness_of_whole_files() {
    let [one, two, three, four] = [2, 8, 30, 36].map(function);
    let other = three + &four;
    let health = |text: &str| run(&[("b.py", text), ("c.py", &other)]).health.score_milli;
    let copy = one.replacen("def f", "def copy_of_f", 1);
    let text = one + &two;
    assert!(health(&(text.clone() + &copy)) <= health(&text));
}

/// Returns Python code in which each function calls the next one and every fifth is hard to follow.
fn program(n_functions: usize) -> String {
    let function = |n: usize| {
        let decisions = if n.is_multiple_of(5) { 24 } else { 2 };
        let steps: Vec<String> = (0..decisions)
            .map(|i| format!("    if rows.k{n}_{i} > {i}:\n        out = out.a{n}_{i}(rows)\n"))
            .collect();
        format!("def f{n}(rows, out):\n{}    return f{}(rows, out)\n\n\n", steps.concat(), n + 1)
    };
    (0..n_functions).map(function).collect::<Vec<_>>().concat() + "f0(1, 2)\n"
}

/// Returns functions that nothing uses, each different from the others.
fn filler(n_functions: usize) -> String {
    let function = |n: usize| {
        let next = (n + 1) % n_functions;
        format!(
            "def filler{n}(a, b):\n    c{n} = a.x{n} + b.y{n}\n    a.put{n}(c{n}, {n})\n    return filler{next}(b.get{n}(c{n}), a)\n\n\n"
        )
    };
    (0..n_functions).map(function).collect::<Vec<_>>().concat()
}

#[test]
fn unused_filler_never_raises_health() {
    let text = program(40);
    let health = |files: &[(&str, &str)]| run(files).health.score_milli;
    let before = health(&[("a.py", &text)]);
    assert!(before < 95_000, "{before}");
    let filler = filler(300);
    assert!(health(&[("a.py", &text), ("b.py", &filler)]) <= before);
    assert!(health(&[("a.py", &(text.clone() + &filler))]) <= before);
    // Code that is used does.
    let used = filler + "filler0(1, 2)\n";
    assert!(health(&[("a.py", &text), ("b.py", &used)]) > before);
}

#[test]
fn tests_neither_lower_nor_raise_the_health_of_a_tree() {
    let text = program(40);
    let health = |files: &[(&str, &str)]| run(files).health.score_milli;
    let before = health(&[("a.py", &text)]);
    let good = filler(200).replace("def filler", "def test_filler");
    let copies = function(2).repeat(6) + &text.replace("f0(1, 2)\n", "");
    assert_eq!(health(&[("a.py", &text), ("tests/test_a.py", &good)]), before);
    assert_eq!(health(&[("a.py", &text), ("tests/test_a.py", &copies)]), before);
    // A tree of nothing but tests has their health.
    assert!(health(&[("tests/test_a.py", &copies)]) < 100_000);
}

#[test]
fn two_hundred_pasted_lines_are_seen_in_tenths() {
    let text = program(400);
    let pasted: String =
        text.lines().take(200).collect::<Vec<_>>().join("\n").replace("def f", "def pasted") + "\n";
    let before = run(&[("a.py", &text)]).health.score_milli;
    let after = run(&[("a.py", &text), ("b.py", &pasted)]).health.score_milli;
    assert!(before >= after + 100, "{before} {after}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// A copy of a function, exact or renamed, before or after any code, never raises health.
    #[test]
    fn a_copy_never_raises_health(
        seeds in prop::collection::btree_set(0u8..40, 2..8),
        which in any::<prop::sample::Index>(),
        renames: bool,
        place in 0usize..3,
        is_in_front: bool,
    ) {
        let seeds: Vec<u8> = seeds.into_iter().collect();
        let texts: Vec<String> = seeds.iter().map(|seed| function(*seed)).collect();
        let middle = texts.len() / 2;
        let mut files = [texts[..middle].concat(), texts[middle..].concat(), String::new()];
        let mut copy = texts[which.index(texts.len())].replacen("def f", "def copy_of_f", 1);
        if renames {
            copy = copy.replace("out", "acc").replace("rows", "items");
        }
        let names = ["b.py", "c.py", "a.py"];
        let health = |files: &[String; 3]| {
            let tree: Vec<(&str, &str)> = names.iter().copied().zip(files.iter().map(String::as_str)).collect();
            run(&tree).health
        };
        let before = health(&files);
        files[place] = if is_in_front { copy + &files[place] } else { files[place].clone() + &copy };
        let after = health(&files);
        prop_assert!(after.score_milli <= before.score_milli, "{before:?} {after:?}");
    }

    /// Whatever an editor leaves behind, reading it gives consistent facts.
    #[test]
    fn random_edits_never_break_the_engine(
        which in 0usize..13,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..5), 1..6),
    ) {
        let (name, text) = FLOW[which];
        let mut bytes = text.as_bytes().to_vec();
        for (from, to, kind) in cuts {
            let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 200));
            let piece = bytes[from..to].to_vec();
            match kind {
                0 => drop(bytes.drain(from..to)),
                1 => drop(bytes.splice(from..from, piece)),
                2 => bytes.truncate(to),
                3 => drop(bytes.splice(from..to, b"{([\"'".iter().copied())),
                _ => bytes.rotate_left(to),
            }
        }
        let input = AnalysisInput { sources: BTreeMap::from([(path(name), SourceInput::Bytes(&bytes))]), ..AnalysisInput::default() };
        let analysis = analyze(&input, &AnalysisSettings::default());
        for (_, facts) in analysis.facts.values() {
            prop_assert!(facts.is_sound());
        }
    }

    /// Arbitrary bytes.
    #[test]
    fn random_bytes_never_break_the_engine(which in 0usize..13, bytes: Vec<u8>) {
        let language = Language::of_file_name(FLOW[which].0.as_bytes()).expect("a language");
        prop_assert!(read_facts(language, &bytes, 1 << 20).is_sound());
    }
}

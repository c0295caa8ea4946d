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
        let stored = serde_json::to_string(&facts).expect("serialises");
        assert_eq!(serde_json::from_str::<FileFacts>(&stored).expect("reads back"), facts);
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

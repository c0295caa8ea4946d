//! Complexity compared with values counted by hand: each fixture states the expectation above a function.

use probity_analysis::{CodeUnit, Language, read_facts};

/// Every fixture, compiled in: this crate's tests read no files.
macro_rules! fixtures {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../fixtures/flow/", $name)))),*]
    };
}

const FIXTURES: [(&str, &str); 14] = fixtures![
    "Sample.java",
    "sample.c",
    "sample.cpp",
    "sample.cs",
    "sample.go",
    "sample.js",
    "sample.kt",
    "sample.php",
    "sample.py",
    "sample.rb",
    "sample.rs",
    "sample.sh",
    "sample.ts",
    "sample.tsx",
];

fn language(name: &str) -> Language {
    Language::of_file_name(name.as_bytes()).expect("a known language")
}

/// Returns the expectations of a fixture: the line, and the words after `expect:`.
fn expectations(text: &str) -> impl Iterator<Item = (u32, String)> + '_ {
    (1..).zip(text.lines()).filter_map(|(line, text)| {
        let (_, words) = text.split_once("expect: ")?;
        Some((line, words.trim().to_owned()))
    })
}

fn words(unit: &CodeUnit) -> String {
    format!(
        "cyclomatic {}, cognitive {}, nesting {}, parameters {}",
        unit.cyclomatic,
        unit.cognitive,
        unit.nesting,
        unit.parameters.len()
    )
}

#[test]
fn complexity_is_what_a_person_counts() {
    let mut wrong = Vec::new();
    for (name, text) in FIXTURES {
        let facts = read_facts(language(name), text.as_bytes(), 1 << 20);
        assert_eq!(facts.n_errors, 0, "{name} does not parse: {:?}", facts.errors);
        for (line, expected) in expectations(text) {
            let below =
                facts.units.iter().filter(|unit| unit.kind.is_callable() && unit.range.end_line > line);
            let unit = below
                .filter(|unit| unit.range.start_line >= line)
                .min_by_key(|unit| unit.range.start_line)
                .unwrap_or_else(|| panic!("{name}:{line}: no callable below"));
            let found = words(unit);
            if found != expected {
                wrong.push(format!("{name} {}: {found}, expected {expected}", unit.name));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn every_language_has_a_fixture() {
    for wanted in Language::ALL {
        assert!(FIXTURES.iter().any(|(name, _)| language(name) == wanted), "{wanted:?}");
    }
}

//! Copies that were rewritten: braces dropped, variables introduced, branches turned around, loops exchanged, names changed.
//! The pairs of a fixture are under `=== name original` and `=== name copy`. Nothing else in it is a copy.

use crate::common::run;
use probity_analysis::{CloneType, FindingFamily};

const FIXTURES: [(&str, &str); 5] = [
    ("c", include_str!("../fixtures/rewrites/c.txt")),
    ("go", include_str!("../fixtures/rewrites/go.txt")),
    ("java", include_str!("../fixtures/rewrites/java.txt")),
    ("py", include_str!("../fixtures/rewrites/py.txt")),
    ("ts", include_str!("../fixtures/rewrites/ts.txt")),
];

/// Returns the files of a fixture: `name/original.ext` and `name/copy.ext`, with their texts.
fn files(extension: &str, fixture: &str) -> Vec<(String, String)> {
    let parts = fixture.strip_prefix("=== ").expect("a head line first").split("\n=== ");
    parts
        .map(|part| {
            let (head, text) = part.split_once('\n').expect("a head line");
            let (name, role) = head.split_once(' ').expect("a name and a role");
            (format!("{name}/{role}.{extension}"), text.to_owned())
        })
        .collect()
}

#[test]
fn rewritten_copies_are_linked_with_their_originals_and_with_nothing_else() {
    let mut missed = Vec::new();
    let mut wrong = Vec::new();
    for (extension, fixture) in FIXTURES {
        let files = files(extension, fixture);
        let files: Vec<(&str, &str)> =
            files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let run = run(&files);
        let is_clone = |family| matches!(family, FindingFamily::Clone | FindingFamily::CloneBlock);
        let mut linked = Vec::new();
        for finding in run.findings.iter().filter(|finding| is_clone(finding.family)) {
            let paths: Vec<String> = finding.locations.iter().map(|place| place.path.to_string()).collect();
            let pair = |path: &str| path.split_once('/').map(|(pair, _)| pair.to_owned()).unwrap_or_default();
            if paths.len() == 2 && pair(&paths[0]) == pair(&paths[1]) {
                assert_eq!(finding.clone_type, Some(CloneType::Near), "{}", finding.message);
                linked.push(pair(&paths[0]));
            } else {
                wrong.push(format!("{paths:?} {}", finding.message));
            }
        }
        let originals =
            files.iter().filter_map(|(name, _)| name.split_once("/original").map(|(pair, _)| pair));
        missed
            .extend(originals.filter(|pair| !linked.iter().any(|linked| linked == pair)).map(str::to_owned));
    }
    assert_eq!((missed, wrong), (Vec::<String>::new(), Vec::<String>::new()));
}

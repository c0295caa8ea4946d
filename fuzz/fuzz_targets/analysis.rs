//! Any bytes as code of any language, and as a report of another tool: facts that hold together, never a panic.
//!
//! The first byte chooses the language, or the kind of report.
#![no_main]

use libfuzzer_sys::fuzz_target;
use probity_analysis::report::ReportSubject;
use probity_analysis::{
    AnalysisInput, AnalysisSettings, ExternalReport, Language, ReportKind, SourceInput, analyze,
    join_reports, report,
};
use probity_paths::RepoPath;
use std::collections::BTreeMap;

/// A file of each language, so that the engine chooses as it does for a tree.
const NAMES: [&str; 14] = [
    "a.sh", "a.c", "a.cpp", "a.cs", "a.go", "A.java", "a.js", "a.kt", "a.php", "a.py", "a.rb", "a.rs",
    "a.ts", "a.tsx",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    match NAMES.get(usize::from(choice) % (NAMES.len() + 2)) {
        Some(name) => read(name, bytes),
        None if choice % 2 == 0 => join_report(ReportKind::Findings, bytes),
        None => join_report(ReportKind::Coverage, bytes),
    }
});

fn read(name: &str, bytes: &[u8]) {
    let path = RepoPath::parse(name.as_bytes()).expect("a path");
    assert!(Language::of_file_name(name.as_bytes()).is_some());
    // The same code twice: every clone path is walked.
    let again = RepoPath::parse(format!("again/{name}").as_bytes()).expect("a path");
    let sources = BTreeMap::from([(path, SourceInput::Bytes(bytes)), (again, SourceInput::Bytes(bytes))]);
    let analysis =
        analyze(&AnalysisInput { sources, ..AnalysisInput::default() }, &AnalysisSettings::default());
    assert!(analysis.facts.values().all(|(_, facts)| facts.is_sound()));
    let page = report::html(&analysis.run, None, &|_| Some(bytes.to_vec()), &ReportSubject::default());
    assert_eq!(page.matches("<script").count(), 1);
    report::sarif(&analysis.run, None);
    report::markdown(&analysis.run, None, &ReportSubject::default());
}

fn join_report(kind: ReportKind, bytes: &[u8]) {
    let path = RepoPath::parse(b"a.py").expect("a path");
    let text = b"def f(a):\n    return a\n";
    let input = AnalysisInput {
        sources: BTreeMap::from([(path, SourceInput::Bytes(text))]),
        ..AnalysisInput::default()
    };
    let run = analyze(&input, &AnalysisSettings::default()).run;
    let _ = join_reports(run, &[ExternalReport { name: "fuzz", kind, bytes }], b"/tree", &|_| {
        Some(text.to_vec())
    });
}

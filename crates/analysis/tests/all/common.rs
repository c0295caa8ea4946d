//! Shared by the tests: trees written as text, and queries on runs.

use probity_analysis::{
    AnalysisInput, AnalysisOutput, AnalysisRun, AnalysisSettings, Finding, FindingFamily, SourceInput,
    analyze,
};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn path(text: &str) -> probity_paths::RepoPath {
    probity_paths::RepoPath::parse(text.as_bytes()).expect("a path")
}

/// Analyzes a tree: configuration files are governance, everything else is source.
pub(crate) fn analysis(files: &[(&str, &str)]) -> AnalysisOutput {
    let is_governance = |name: &str| {
        ["go.mod", "Cargo.toml", "package.json", "tsconfig.json", "pyproject.toml"]
            .iter()
            .any(|known| name.ends_with(known))
    };
    let (governance, sources): (Vec<_>, Vec<_>) = files.iter().partition(|(name, _)| is_governance(name));
    let input = AnalysisInput {
        sources: sources
            .iter()
            .map(|(name, text)| (path(name), SourceInput::Bytes(text.as_bytes())))
            .collect(),
        governance: governance.iter().map(|(name, text)| (path(name), text.as_bytes())).collect(),
        others: BTreeSet::new(),
    };
    analyze(&input, &AnalysisSettings::default())
}

pub(crate) fn run(files: &[(&str, &str)]) -> AnalysisRun {
    analysis(files).run
}

pub(crate) fn findings(run: &AnalysisRun, family: FindingFamily) -> Vec<&Finding> {
    run.findings.iter().filter(|finding| finding.family == family).collect()
}

/// Returns the dependencies between files, by path.
pub(crate) fn needs(run: &AnalysisRun) -> BTreeMap<String, BTreeSet<String>> {
    let name = |file: u32| run.files[file as usize].path.to_string();
    let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for edge in &run.dependencies {
        needs.entry(name(edge.from)).or_default().insert(name(edge.to));
    }
    needs
}

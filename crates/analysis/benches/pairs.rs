//! How many labeled pairs of copies are found: `cargo xtask quality --pairs SET…`.
//!
//! A set is a directory with one directory per pair, which holds two files of one language: an original and
//! its copy. All pairs of a set are analyzed as one tree. A pair is *found* if a finding connects its two files,
//! and *covered* if what the finding points at is at least half of the lines of both. A link between files of different
//! pairs is listed, so that a person can judge whether it is wrong. Directories whose names agree up to the last
//! `_` are versions of one original: links between them count neither way.
#![expect(clippy::disallowed_methods, reason = "it reads the sets it measures")]
#![expect(clippy::print_stdout, reason = "its output is a table for a person")]

use probity_analysis::{
    AnalysisInput, AnalysisRun, AnalysisSettings, CodeLocation, Finding, FindingFamily, SourceInput, analyze,
};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many missed pairs and how many links between different pairs are listed.
const MAX_LISTED: usize = 60;

type SetFiles = BTreeMap<RepoPath, Vec<u8>>;

fn main() {
    let sets: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    println!("| Set | Pairs | Found | Half covered | Links between pairs |\n|---|---:|---:|---:|---:|");
    let mut listed = Vec::new();
    for set in &sets {
        let files = read_set(Path::new(set));
        let sources = files.iter().map(|(path, bytes)| (path.clone(), SourceInput::Bytes(bytes)));
        let input = AnalysisInput { sources: sources.collect(), ..AnalysisInput::default() };
        let run = analyze(&input, &AnalysisSettings::default()).run;
        listed.push((set, judge(set, &files, &run)));
    }
    for (set, lines) in listed {
        println!("\n{set}");
        for line in lines {
            println!("  {line}");
        }
    }
}

fn read_set(set: &Path) -> SetFiles {
    let mut files = SetFiles::new();
    let Ok(pairs) = std::fs::read_dir(set) else { return files };
    for pair in pairs.flatten() {
        let Ok(members) = std::fs::read_dir(pair.path()) else { continue };
        for member in members.flatten() {
            let below =
                format!("{}/{}", pair.file_name().to_string_lossy(), member.file_name().to_string_lossy());
            if let (Ok(path), Ok(bytes)) = (RepoPath::parse(below.as_bytes()), std::fs::read(member.path())) {
                files.insert(path, bytes);
            }
        }
    }
    files
}

fn judge(set: &str, files: &SetFiles, run: &AnalysisRun) -> Vec<String> {
    let pairs: BTreeSet<String> = files.keys().map(pair_of).collect();
    let mut found: BTreeSet<String> = BTreeSet::new();
    let mut covered: BTreeSet<String> = BTreeSet::new();
    let mut wrong: BTreeMap<(String, String), String> = BTreeMap::new();
    for finding in run.findings.iter().filter(|finding| is_clone(finding)) {
        for (index, one) in finding.locations.iter().enumerate() {
            for other in &finding.locations[index + 1..] {
                let names = (pair_of(&one.path), pair_of(&other.path));
                if one.path != other.path && names.0 == names.1 {
                    if covers_half(files, one) && covers_half(files, other) {
                        covered.insert(names.0.clone());
                    }
                    found.insert(names.0);
                } else if original_of(&names.0) != original_of(&names.1) {
                    wrong.entry(names).or_insert_with(|| finding.message.clone());
                }
            }
        }
    }
    println!("| {set} | {} | {} | {} | {} |", pairs.len(), found.len(), covered.len(), wrong.len());
    let wrong = wrong.iter().map(|((one, other), message)| format!("link {one} {other}: {message}"));
    let missed = pairs.difference(&found).map(|pair| format!("missed {pair}"));
    wrong.take(MAX_LISTED).chain(missed.take(MAX_LISTED)).collect()
}

fn pair_of(path: &RepoPath) -> String {
    path.segments().next().map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default()
}

fn original_of(pair: &str) -> &str {
    pair.rsplit_once('_').map_or(pair, |(original, _)| original)
}

fn is_clone(finding: &Finding) -> bool {
    matches!(finding.family, FindingFamily::Clone | FindingFamily::CloneBlock)
}

fn covers_half(files: &SetFiles, place: &CodeLocation) -> bool {
    let n_lines = files.get(&place.path).map_or(0, |bytes| String::from_utf8_lossy(bytes).lines().count());
    place.range.n_lines() as usize * 2 >= n_lines
}

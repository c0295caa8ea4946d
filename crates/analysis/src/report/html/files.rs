//! Files: the least healthy ones, what they need of each other, what joined in, and what was not analyzed.

use super::{PageSection, grade_class, labels, more, path_html, table};
use crate::facts::FileNote;
use crate::run::{AnalysisRun, RunFile};
use maud::{Markup, html};
use probity_paths::RepoPath;
use std::collections::{BTreeMap, BTreeSet};

const MAX_LISTED_FILES: usize = 30;
const MAX_CYCLES: usize = 20;
const MAX_CYCLE_MEMBERS: usize = 12;

/// The files with the lowest health.
pub(super) fn worst(run: &AnalysisRun) -> Option<PageSection> {
    let mut n_findings: BTreeMap<&RepoPath, u64> = BTreeMap::new();
    for place in run.findings.iter().filter_map(|finding| finding.locations.first()) {
        *n_findings.entry(&place.path).or_default() += 1;
    }
    let mut files: Vec<(u32, &RunFile)> = run
        .files
        .iter()
        .filter_map(|file| Some((file.health_milli?, file)))
        .filter(|(score, _)| *score < 90_000)
        .collect();
    if files.is_empty() {
        return None;
    }
    files.sort_by_key(|(score, file)| (*score, &file.path));
    let row = |(score, file): &(u32, &RunFile)| {
        html! {
            tr {
                td { code { (path_html(&file.path)) } }
                td { (file.language.map_or("", crate::Language::name)) }
                td.n { (labels::format_number(u64::from(file.n_lines))) }
                td.n { (n_findings.get(&file.path).copied().unwrap_or(0)) }
                td.n { span class={ "badge grade-" (grade_class(*score)) } { (labels::format_milli(*score)) } }
            }
        }
    };
    let rows = files.iter().take(MAX_LISTED_FILES).map(row);
    let body = html! {
        (table(&["File", "Language", "#Lines", "#Findings", "#Health"], rows))
        (more(files.len(), MAX_LISTED_FILES))
    };
    let lead =
        html! { (labels::format_count(files.len(), "file")) " with a health below 90, the worst first." };
    Some(PageSection { id: "files", title: "Files", lead, body })
}

/// Cycles, and the files that most others need.
pub(super) fn dependencies(run: &AnalysisRun) -> Option<PageSection> {
    if run.dependencies.is_empty() {
        return None;
    }
    let mut needs: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for edge in &run.dependencies {
        needs.entry(edge.to).or_default().0 += 1;
        needs.entry(edge.from).or_default().1 += 1;
    }
    let mut files: Vec<(u32, (u64, u64))> = needs.into_iter().collect();
    files.sort_by_key(|(file, (needed_by, _))| (u64::MAX - needed_by, *file));
    let row = |(file, (needed_by, needs)): &(u32, (u64, u64))| {
        html! { tr { td { code { (path_html(run.path(*file))) } } td.n { (needed_by) } td.n { (needs) } } }
    };
    let body = html! {
        (cycles(run))
        h3 { "Most needed files" }
        (table(&["File", "#Needed by", "#Needs"], files.iter().take(MAX_LISTED_FILES / 2).map(row)))
    };
    let lead = html! {
        (labels::format_count(run.dependencies.len(), "import")) " between files of this project, "
        (labels::format_count(run.cycles.len(), "cycle")) "."
    };
    Some(PageSection { id: "dependencies", title: "Dependencies", lead, body })
}

fn cycles(run: &AnalysisRun) -> Markup {
    html! {
        @if !run.cycles.is_empty() {
            h3 { "Cycles" }
            ul.cycles { @for cycle in run.cycles.iter().take(MAX_CYCLES) { li { (members(run, cycle)) } } }
            (more(run.cycles.len(), MAX_CYCLES))
        }
    }
}

fn members(run: &AnalysisRun, cycle: &[u32]) -> Markup {
    html! {
        @for (index, file) in cycle.iter().take(MAX_CYCLE_MEMBERS).enumerate() {
            @if index > 0 { " ⇄ " }
            code { (path_html(run.path(*file))) }
        }
        @if cycle.len() > MAX_CYCLE_MEMBERS { " and " (cycle.len() - MAX_CYCLE_MEMBERS) " more" }
    }
}

/// Reports of other tools.
pub(super) fn joined(run: &AnalysisRun) -> Option<PageSection> {
    if run.joined.is_empty() {
        return None;
    }
    let rows = run.joined.iter().map(|report| {
        let left: Vec<String> = report
            .left_out
            .iter()
            .map(|(why, n)| {
                format!("{} {}", labels::format_number(u64::from(*n)), labels::omission_text(*why))
            })
            .collect();
        html! {
            tr {
                td { (report.tools.join(", ")) }
                td { (report.format.as_str()) }
                td.n { (labels::format_number(u64::from(report.n_taken))) }
                td { (left.join(", ")) }
            }
        }
    });
    let body = table(&["Tool", "Format", "#Taken", "Left out"], rows);
    let lead = html! { "Reports that joined this run." };
    Some(PageSection { id: "joined", title: "Other tools", lead, body })
}

/// What was not analyzed and why; files of unknown languages by their extensions.
pub(super) fn not_analyzed(run: &AnalysisRun) -> Option<PageSection> {
    let mut reasons: BTreeMap<FileNote, Vec<&RunFile>> = BTreeMap::new();
    for file in &run.files {
        for note in &file.notes {
            reasons.entry(*note).or_default().push(file);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let body = html! { @for (note, files) in &reasons { (reason(*note, files)) } };
    let lead = html! { "What is not analyzed is not judged: it is neither good nor bad." };
    Some(PageSection { id: "not-analyzed", title: "Not analyzed", lead, body })
}

fn reason(note: FileNote, files: &[&RunFile]) -> Markup {
    html! {
        details {
            summary { b { (labels::format_count(files.len(), "file")) } " " (note.label()) }
            @if note == FileNote::UnknownLanguage { (by_extension(files)) } @else { (by_path(files)) }
        }
    }
}

fn by_path(files: &[&RunFile]) -> Markup {
    html! {
        ul { @for file in files.iter().take(MAX_LISTED_FILES * 3) { li { code { (path_html(&file.path)) } } } }
        (more(files.len(), MAX_LISTED_FILES * 3))
    }
}

fn by_extension(files: &[&RunFile]) -> Markup {
    let mut kinds: BTreeMap<String, (usize, BTreeSet<&RepoPath>)> = BTreeMap::new();
    for file in files {
        let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
        let extension = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map(|(_, extension)| format!(".{extension}"));
        let kind = kinds.entry(extension.unwrap_or(name)).or_default();
        kind.0 += 1;
        if kind.1.len() < 3 {
            kind.1.insert(&file.path);
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(extension, (n_files, _))| (usize::MAX - n_files, extension.clone()));
    let row = |(extension, (n_files, some)): &(String, (usize, BTreeSet<&RepoPath>))| {
        html! {
            tr {
                td { code { (extension) } }
                td.n { (n_files) }
                td { @for path in some { code { (path_html(path)) } " " } }
            }
        }
    };
    html! {
        (table(&["Kind", "#Files", "Such as"], kinds.iter().take(MAX_LISTED_FILES).map(row)))
        (more(kinds.len(), MAX_LISTED_FILES))
    }
}

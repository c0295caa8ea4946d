//! Files: the least healthy ones, what they need of each other, what joined in, and what was not analysed.

use super::{Section, esc, grade_class, more, path_html, table, words};
use crate::facts::Note;
use crate::run::{Run, RunFile};
use std::collections::{BTreeMap, BTreeSet};

const SHOWN: usize = 30;
const MAX_CYCLES: usize = 20;
const MAX_MEMBERS: usize = 12;

/// The files with the lowest health.
pub(super) fn worst(run: &Run) -> Option<Section> {
    let mut n_findings: BTreeMap<&probity_paths::RepoPath, u64> = BTreeMap::new();
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
        format!(
            "<tr><td><code>{}</code></td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\"><span class=\"badge grade-{}\">{}</span></td></tr>\n",
            path_html(&file.path.to_string()),
            file.language.map_or("", crate::Language::name),
            words::number(u64::from(file.n_lines)),
            n_findings.get(&file.path).copied().unwrap_or(0),
            grade_class(*score),
            words::milli(*score),
        )
    };
    let rows: String = files.iter().take(SHOWN).map(row).collect();
    let body =
        table(&["File", "Language", "#Lines", "#Findings", "#Health"], &rows) + &more(files.len(), SHOWN);
    let lead = format!("{} with a health below 90, the worst first.", words::counted(files.len(), "file"));
    Some(Section { id: "files", title: "Files", lead, body })
}

/// Cycles, and the files that most others need.
pub(super) fn dependencies(run: &Run) -> Option<Section> {
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
        let path = path_html(&run.path(*file).to_string());
        format!(
            "<tr><td><code>{path}</code></td><td class=\"n\">{needed_by}</td><td class=\"n\">{needs}</td></tr>\n"
        )
    };
    let rows: String = files.iter().take(SHOWN / 2).map(row).collect();
    let body =
        cycles(run) + "<h3>Most needed files</h3>\n" + &table(&["File", "#Needed by", "#Needs"], &rows);
    let lead = format!(
        "{} between files of this project, {}.",
        words::counted(run.dependencies.len(), "import"),
        words::counted(run.cycles.len(), "cycle")
    );
    Some(Section { id: "dependencies", title: "Dependencies", lead, body })
}

fn cycles(run: &Run) -> String {
    if run.cycles.is_empty() {
        return String::new();
    }
    let cycle = |cycle: &Vec<u32>| {
        let names: Vec<String> = cycle
            .iter()
            .take(MAX_MEMBERS)
            .map(|file| format!("<code>{}</code>", path_html(&run.path(*file).to_string())))
            .collect();
        let n_more = cycle.len().saturating_sub(MAX_MEMBERS);
        let rest = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        format!("<li>{}{rest}</li>", names.join(" ⇄ "))
    };
    let items: String = run.cycles.iter().take(MAX_CYCLES).map(cycle).collect();
    format!("<h3>Cycles</h3>\n<ul class=\"cycles\">{items}</ul>{}", more(run.cycles.len(), MAX_CYCLES))
}

/// Reports of other tools.
pub(super) fn joined(run: &Run) -> Option<Section> {
    if run.joined.is_empty() {
        return None;
    }
    let rows = run
        .joined
        .iter()
        .map(|report| {
            let left: Vec<String> = report
                .left_out
                .iter()
                .map(|(why, n)| format!("{} {}", words::number(u64::from(*n)), words::left_out(*why)))
                .collect();
            format!(
                "<tr><td>{}</td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                esc(&report.tools.join(", ")),
                report.format.as_str(),
                words::number(u64::from(report.n_taken)),
                left.join(", ")
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let body = table(&["Tool", "Format", "#Taken", "Left out"], &rows);
    Some(Section {
        id: "joined",
        title: "Other tools",
        lead: "Reports that joined this run.".to_owned(),
        body,
    })
}

/// What was not analysed and why; files of unknown languages by their extensions.
pub(super) fn not_analysed(run: &Run) -> Option<Section> {
    let mut reasons: BTreeMap<Note, Vec<&RunFile>> = BTreeMap::new();
    for file in &run.files {
        for note in &file.notes {
            reasons.entry(*note).or_default().push(file);
        }
    }
    if reasons.is_empty() {
        return None;
    }
    let body: String = reasons.iter().map(|(note, files)| reason(*note, files)).collect();
    let lead = "What is not analysed is not judged: it is neither good nor bad.".to_owned();
    Some(Section { id: "not-analysed", title: "Not analysed", lead, body })
}

fn reason(note: Note, files: &[&RunFile]) -> String {
    let items = if note == Note::UnknownLanguage { by_extension(files) } else { by_path(files) };
    let what = words::note(note);
    format!(
        "<details><summary><b>{}</b> {what}</summary>\n{items}</details>\n",
        words::counted(files.len(), "file")
    )
}

fn by_path(files: &[&RunFile]) -> String {
    let item = |file: &&RunFile| format!("<li><code>{}</code></li>", path_html(&file.path.to_string()));
    let items: String = files.iter().take(SHOWN * 3).map(item).collect();
    format!("<ul>{items}</ul>{}", more(files.len(), SHOWN * 3))
}

fn by_extension(files: &[&RunFile]) -> String {
    let mut kinds: BTreeMap<String, (usize, BTreeSet<String>)> = BTreeMap::new();
    for file in files {
        let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
        let extension = name
            .rsplit_once('.')
            .filter(|(stem, _)| !stem.is_empty())
            .map(|(_, extension)| format!(".{extension}"));
        let kind = kinds.entry(extension.unwrap_or(name)).or_default();
        kind.0 += 1;
        if kind.1.len() < 3 {
            kind.1.insert(file.path.to_string());
        }
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(extension, (n_files, _))| (usize::MAX - n_files, extension.clone()));
    let row = |(extension, (n_files, some)): &(String, (usize, BTreeSet<String>))| {
        let some: Vec<String> = some.iter().map(|path| format!("<code>{}</code>", path_html(path))).collect();
        format!(
            "<tr><td><code>{}</code></td><td class=\"n\">{n_files}</td><td>{}</td></tr>\n",
            esc(extension),
            some.join(" ")
        )
    };
    let rows: String = kinds.iter().take(SHOWN).map(row).collect();
    table(&["Kind", "#Files", "Such as"], &rows) + &more(kinds.len(), SHOWN)
}

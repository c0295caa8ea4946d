//! How well lost edits are found: in merges of real projects that git repeats without a difference, one edit of one side is taken out of the
//! result, and the audit must name it and nothing else; putting it back must give the merge byte for byte. Controls: the
//! merge as it is, with another indentation, and with a comment at its end.
//!
//! Nothing of the projects is kept. Which merge gets which loss follows from its position in the list.
//!
//! `cargo bench -p probity-merges --bench planted_losses -- CLONE… [merges=2000] [offset=0]`

#![allow(clippy::print_stdout, reason = "it prints what was found")]

use probity_line_diff::{LineAlignment, line_changes, split_lines};
use probity_merge_audit::{
    AuditFinding, AuditOptions, AuditReport, BASE, FileVersion, FindingClass, FourTrees, MergeSide, OURS,
    RESULT, THEIRS, audit, is_proven_by_ids, restore_edit,
};
use probity_merges::read_four_trees;
use probity_paths::RepoPath;
use probity_workspace::Workspace;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const EXTENSIONS: [&str; 13] =
    ["py", "js", "ts", "tsx", "java", "go", "rs", "c", "h", "cpp", "rb", "cs", "kt"];
/// Larger edits are rarely lost alone.
const MAX_PLANTED_LINES: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mutation {
    DroppedInsertion,
    RevertedLine,
    UndoneDeletion,
    OtherFileTaken,
    Nothing,
    OtherIndentation,
    Comment,
}

const MUTATIONS: [Mutation; 7] = [
    Mutation::DroppedInsertion,
    Mutation::RevertedLine,
    Mutation::UndoneDeletion,
    Mutation::OtherFileTaken,
    Mutation::Nothing,
    Mutation::OtherIndentation,
    Mutation::Comment,
];

/// A merge with a planted loss.
struct PlantedLoss {
    path: RepoPath,
    side: usize,
    text: Vec<u8>,
    /// The lines that an audit must name; none in a control.
    lost: Vec<String>,
}

#[derive(Default)]
struct Score {
    cases: usize,
    found: usize,
    as_lost: usize,
    false_hard: usize,
    restored: usize,
    restorable: usize,
}

fn main() {
    let (mut n_merges, mut offset, mut clones) = (2_000, 0, Vec::new());
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        match argument.split_once('=') {
            Some(("merges", number)) => n_merges = number.parse().expect("a number of merges"),
            Some(("offset", number)) => offset = number.parse().expect("a number"),
            _ => clones.push(argument),
        }
    }
    let mut scores: BTreeMap<Mutation, Score> = BTreeMap::new();
    let (mut n_clean, mut n_clean_lost) = (0, 0);
    for clone in &clones {
        let place = Path::new(clone);
        let workspace = Workspace::find(Some(place), place).expect("a repository");
        for (index, merge) in clean_merges_of(place, n_merges).iter().enumerate() {
            let Ok(Some(trees)) = read_four_trees(&workspace, merge) else { continue };
            let plain = audit(&trees, AuditOptions { two_way: false, checks_breakages: true });
            n_clean += 1;
            let n_lost = plain.findings.iter().filter(|one| one.class == FindingClass::Lost).count();
            n_clean_lost += n_lost;
            if plain.findings.iter().any(|one| one.class.is_hard()) {
                println!("clean {merge}: {:?}", plain.findings);
                continue;
            }
            let wanted = MUTATIONS[(index + offset) % MUTATIONS.len()];
            if let Some(planted) = plant(&trees, wanted) {
                judge(merge, wanted, &trees, &planted, scores.entry(wanted).or_default());
            }
        }
    }
    println!("{n_clean} clean merges, {n_clean_lost} findings of class lost in them");
    println!(
        "{:<18} {:>6} {:>6} {:>8} {:>6} {:>18}",
        "planted", "cases", "found", "as lost", "false", "restored equal"
    );
    for (mutation, score) in &scores {
        println!(
            "{:<18} {:>6} {:>6} {:>8} {:>6} {:>11} of {:>3}",
            format!("{mutation:?}"),
            score.cases,
            score.found,
            score.as_lost,
            score.false_hard,
            score.restored,
            score.restorable
        );
    }
}

/// Returns merges that git repeats without a difference: git is the judge of what is clean, not the audit.
fn clean_merges_of(clone: &Path, n_merges: usize) -> Vec<String> {
    let limit = format!("--max-count={n_merges}");
    let output = Command::new("git")
        .arg("-C")
        .arg(clone)
        .args(["log", "--merges", "--max-parents=2", &limit, "--remerge-diff", "--format=%x00%H", "HEAD"])
        .output()
        .expect("git starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let merges = text.split('\0').filter_map(|part| part.split_once('\n').or(Some((part, ""))));
    merges
        .filter(|(id, rest)| !id.is_empty() && rest.trim().is_empty())
        .map(|(id, _)| id.to_owned())
        .collect()
}

fn is_telling(line: &[u8]) -> bool {
    let n_letters = line.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
    n_letters >= 3 && line.trim_ascii().len() >= 12
}

fn is_source(path: &RepoPath) -> bool {
    let name = String::from_utf8_lossy(path.file_name()).into_owned();
    name.rsplit_once('.').is_some_and(|(_, end)| EXTENSIONS.contains(&end))
}

fn count(lines: &[&[u8]], line: &[u8]) -> usize {
    lines.iter().filter(|other| other.trim_ascii() == line.trim_ascii()).count()
}

/// Plants a loss in the first file that allows it.
fn plant(trees: &FourTrees, wanted: Mutation) -> Option<PlantedLoss> {
    trees.iter().filter(|(path, _)| is_source(path)).find_map(|(path, versions)| {
        let bytes = |at: usize| versions[at].as_ref().and_then(|version| version.bytes.clone());
        let (base, result) = (bytes(BASE)?, bytes(RESULT)?);
        let [base, result] = [&base, &result].map(|text| split_lines(text));
        for (side, other) in [(OURS, THEIRS), (THEIRS, OURS)] {
            let (of_side, of_other) = (bytes(side)?, bytes(other)?);
            let lines = split_lines(&of_side);
            let (text, lost): (Vec<u8>, Vec<&[u8]>) = match wanted {
                Mutation::Nothing => (result.concat(), Vec::new()),
                Mutation::OtherIndentation if !path.file_name().ends_with(b".py") => (
                    result.iter().flat_map(|line| [b"  ".to_vec(), line.to_vec()].concat()).collect(),
                    Vec::new(),
                ),
                Mutation::OtherIndentation => continue,
                Mutation::Comment => {
                    let mark: &[u8] = if path.file_name().ends_with(b".py") { b"# " } else { b"// " };
                    let note = [mark, b"checked while merging\n"].concat();
                    (result.iter().copied().chain([&note[..]]).collect::<Vec<_>>().concat(), Vec::new())
                }
                Mutation::OtherFileTaken => {
                    let others = split_lines(&of_other);
                    if of_other == of_side || others == base {
                        continue;
                    }
                    let changes = line_changes(&base, &lines, LineAlignment::Shortest);
                    let written = changes.iter().flat_map(|change| &lines[change.after.clone()]);
                    let lost: Vec<&[u8]> = written
                        .filter(|line| is_telling(line) && count(&others, line) == 0)
                        .copied()
                        .collect();
                    if lost.is_empty() {
                        continue;
                    }
                    (of_other.to_vec(), lost)
                }
                _ => match plant_in_lines(&base, &lines, &result, wanted) {
                    Some(planted) => planted,
                    None => continue,
                },
            };
            let lost = lost.iter().map(|line| String::from_utf8_lossy(line).trim().to_owned()).collect();
            return Some(PlantedLoss { path: path.clone(), side, text, lost });
        }
        None
    })
}

fn plant_in_lines<'a>(
    base: &[&'a [u8]],
    side: &[&'a [u8]],
    result: &[&'a [u8]],
    wanted: Mutation,
) -> Option<(Vec<u8>, Vec<&'a [u8]>)> {
    for change in line_changes(base, side, LineAlignment::Shortest) {
        let (old, new) = (&base[change.before.clone()], &side[change.after.clone()]);
        if old.len().max(new.len()) > MAX_PLANTED_LINES {
            continue;
        }
        let telling = |lines: &[&'a [u8]]| -> Vec<&'a [u8]> {
            lines.iter().filter(|line| is_telling(line)).copied().collect()
        };
        let at = |part: &[&[u8]]| result.windows(part.len().max(1)).position(|window| window == part);
        match (wanted, old.is_empty(), new.is_empty()) {
            (Mutation::DroppedInsertion, true, false) => {
                let lost = telling(new);
                let Some(place) = at(new) else { continue };
                if lost.is_empty() || lost.iter().any(|line| count(result, line) != 1) {
                    continue;
                }
                return Some(([&result[..place], &result[place + new.len()..]].concat().concat(), lost));
            }
            (Mutation::RevertedLine, false, false) if old.len() == 1 && new.len() == 1 => {
                let lost = telling(new);
                let Some(place) = at(new) else { continue };
                if lost.is_empty()
                    || !is_telling(old[0])
                    || count(result, new[0]) != 1
                    || count(result, old[0]) > 0
                {
                    continue;
                }
                return Some(([&result[..place], old, &result[place + 1..]].concat().concat(), lost));
            }
            (Mutation::UndoneDeletion, false, true) => {
                let lost = telling(old);
                let before = change.after.start.checked_sub(1).map(|index| side[index]);
                let Some(before) = before.filter(|line| count(result, line) == 1) else { continue };
                let Some(place) = result.iter().position(|line| line.trim_ascii() == before.trim_ascii())
                else {
                    continue;
                };
                if lost.is_empty() || lost.iter().any(|line| count(result, line) > 0) {
                    continue;
                }
                return Some(([&result[..=place], old, &result[place + 1..]].concat().concat(), lost));
            }
            _ => {}
        }
    }
    None
}

fn judge(merge: &str, wanted: Mutation, trees: &FourTrees, planted: &PlantedLoss, score: &mut Score) {
    let mut mutated = trees.clone();
    let Some(version) = mutated.get_mut(&planted.path).and_then(|versions| versions[RESULT].as_mut()) else {
        return;
    };
    let whole = version.bytes.clone().unwrap_or_default();
    let id = probity_core::Digest::of(&planted.text).to_hex();
    *version = FileVersion { mode: version.mode, id: id.into(), bytes: Some(Arc::from(&planted.text[..])) };
    if wanted != Mutation::Nothing && mutated.get(&planted.path).is_some_and(is_proven_by_ids) {
        return;
    }
    score.cases += 1;
    let report = audit(&mutated, AuditOptions { two_way: false, checks_breakages: true });
    let side = if planted.side == OURS { MergeSide::Ours } else { MergeSide::Theirs };
    let names_it = |finding: &&AuditFinding| {
        finding.side == Some(side)
            && finding.path == planted.path
            && finding.lost.iter().any(|line| planted.lost.iter().any(|lost| lost == line.trim()))
    };
    let named: Vec<&AuditFinding> = report.findings.iter().filter(names_it).collect();
    score.found += usize::from(!named.is_empty() || planted.lost.is_empty());
    score.as_lost +=
        usize::from(planted.lost.is_empty() || named.iter().any(|one| one.class == FindingClass::Lost));
    let is_elsewhere = |finding: &&AuditFinding| {
        finding.class.is_hard() && (planted.lost.is_empty() || finding.path != planted.path)
    };
    let false_hard: Vec<&AuditFinding> = report.findings.iter().filter(is_elsewhere).collect();
    score.false_hard += usize::from(!false_hard.is_empty());
    if (named.is_empty() && !planted.lost.is_empty()) || !false_hard.is_empty() {
        println!(
            "{wanted:?} {merge} {} wanted {:?}, false {false_hard:?}",
            planted.path,
            planted.lost.first()
        );
    }
    if matches!(wanted, Mutation::DroppedInsertion | Mutation::RevertedLine | Mutation::UndoneDeletion) {
        score.restorable += 1;
        score.restored += usize::from(restored_text(&mutated, planted, &report).as_deref() == Some(&*whole));
    }
}

/// Puts every lost edit of the file back.
fn restored_text(trees: &FourTrees, planted: &PlantedLoss, report: &AuditReport) -> Option<Vec<u8>> {
    let versions = trees.get(&planted.path)?;
    let bytes = |at: usize| versions[at].as_ref().and_then(|version| version.bytes.clone());
    let mut text = planted.text.clone();
    for finding in
        report.findings.iter().filter(|one| one.class == FindingClass::Lost && one.path == planted.path)
    {
        let side = bytes(if finding.side? == MergeSide::Ours { OURS } else { THEIRS })?;
        if let Some(restored) =
            restore_edit(&bytes(BASE)?, &side, &text, finding.place.version, finding.place.lines)
        {
            text = restored;
        }
    }
    Some(text)
}

//! Reports of other tools join a run: findings from SARIF 2.1.0, and coverage from lcov or Cobertura.
//!
//! A run that others joined is another run: its id is made of the plain run's and of the digests of the reports.
//! Health is ours alone and does not change. What is left out of a report is counted, with the reason. A report that
//! cannot be read as a whole is refused as a whole.

mod coverage;
mod place;
mod sarif;
mod untested;

use crate::facts::count;
use crate::finding;
use crate::run::{Run, RunId};
use place::Locator;
use probity_core::Digest;
use probity_paths::RepoPath;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// Where the bytes of a file come from: `None` if there is no such file.
pub type Sources<'a> = dyn Fn(&RepoPath) -> Option<Vec<u8>> + 'a;

/// A report of another tool, as the caller has it.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// What to call it in errors, such as the name of its file.
    pub name: &'a str,
    /// What it is said to hold.
    pub kind: ReportKind,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// What a report is said to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportKind {
    /// Findings, as SARIF 2.1.0.
    Findings,
    /// Which lines tests ran, as lcov or Cobertura: the bytes tell which.
    Coverage,
}

probity_core::word_enum! {
    /// The format of a report.
    pub enum ReportFormat {
        /// SARIF 2.1.0.
        Sarif = "sarif",
        /// The tracefile of lcov.
        Lcov = "lcov",
        /// Cobertura's XML.
        Cobertura = "cobertura",
    }
}

probity_core::word_enum! {
    /// Why an entry of a report is left out.
    pub enum LeftOut {
        /// The report itself says that it is no failure, gone, or accepted by a person.
        Suppressed = "suppressed",
        /// It says no place, or its place is no path of a file.
        NoPlace = "no_place",
        /// Its place is not below the root of this tree.
        OutsideTree = "outside_tree",
        /// Coverage of a file that this run does not know.
        UnknownFile = "unknown_file",
    }
}

/// A report that joined a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    /// Its format.
    pub format: ReportFormat,
    /// The digest of its bytes.
    pub content: Digest,
    /// The tools that it names.
    pub tools: Vec<String>,
    /// How many findings, or files with coverage, were taken.
    pub n_taken: u32,
    /// How many were left out, and why.
    pub left_out: BTreeMap<LeftOut, u32>,
}

impl Joined {
    fn new(format: ReportFormat, bytes: &[u8]) -> Self {
        Self { format, content: Digest::of(bytes), tools: Vec::new(), n_taken: 0, left_out: BTreeMap::new() }
    }

    fn leave_out(&mut self, why: LeftOut) {
        *self.left_out.entry(why).or_default() += 1;
    }
}

/// Why a report cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// More bytes than are read.
    #[error("{report}: {size} bytes are more than the {limit} that are read")]
    TooLarge {
        /// The report.
        report: String,
        /// Its size.
        size: usize,
        /// The most that is read.
        limit: usize,
    },
    /// More entries than are taken.
    #[error("{report}: it holds more than {limit} {what}")]
    TooMany {
        /// The report.
        report: String,
        /// What there is too much of.
        what: &'static str,
        /// The most that is taken.
        limit: usize,
    },
    /// It is not in the format that it is said to have.
    #[error("{report}: {place}: {why}")]
    Malformed {
        /// The report.
        report: String,
        /// Where: a line, or a path inside the document.
        place: String,
        /// What is wrong there.
        why: String,
    },
}

/// What reading one report needs to know.
struct Reader<'a> {
    report: Report<'a>,
    locator: Locator<'a>,
    sources: &'a Sources<'a>,
}

impl Reader<'_> {
    fn limit_size(&self, limit: usize) -> Result<(), JoinError> {
        let size = self.report.bytes.len();
        if size <= limit {
            return Ok(());
        }
        Err(JoinError::TooLarge { report: self.report.name.to_owned(), size, limit })
    }

    fn too_many(&self, what: &'static str, limit: usize) -> JoinError {
        JoinError::TooMany { report: self.report.name.to_owned(), what, limit }
    }

    fn malformed(&self, place: impl Into<String>, why: impl Into<String>) -> JoinError {
        let report = self.report.name.to_owned();
        JoinError::Malformed { report, place: place.into(), why: why.into() }
    }
}

/// Joins reports to a run. `root` is where the tree lay when the tools ran: absolute paths below it are of the tree.
///
/// The order of the reports does not matter, and a report that is given twice counts once.
pub fn join(
    mut run: Run,
    reports: &[Report<'_>],
    root: &[u8],
    sources: &Sources<'_>,
) -> Result<Run, JoinError> {
    let mut joined: BTreeMap<Digest, Joined> = BTreeMap::new();
    let mut drafts = Vec::new();
    let mut lines = coverage::Lines::new();
    for &report in reports {
        let content = Digest::of(report.bytes);
        if joined.contains_key(&content) {
            continue;
        }
        let reader = Reader { report, locator: Locator { root }, sources };
        let taken = match report.kind {
            ReportKind::Findings => reader.findings(&mut drafts)?,
            ReportKind::Coverage => reader.coverage(&run, &mut lines)?,
        };
        joined.insert(content, taken);
    }
    if joined.is_empty() {
        return Ok(run);
    }
    drafts.extend(untested::drafts(&run, &lines));
    run.findings.extend(finding::number(drafts));
    run.id = RunId(Digest::of_json(&json!({ "run": run.id, "joined": joined.keys().collect::<Vec<_>>() })));
    run.joined = joined.into_values().collect();
    Ok(run)
}

/// The text, cut to what is kept of it.
fn shortened(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A line number of a report; line 0 is that of a careless tool for the file as a whole.
fn line(number: u64) -> u32 {
    count(usize::try_from(number.max(1)).unwrap_or(usize::MAX))
}

//! Which edits of either side a merge does not have. Pure: four trees in, findings out.
//!
//! Owns: path identity across four trees, three-way merging, items and edit atoms, survival, classes, breakages.
//! May use: analysis, core, line-diff, paths.
//! Must not know: a repository, a commit, a file system, who made an edit.
//!
//! * [`audit`]: the whole question; [`audit_again`]: the same after a first audit of fewer files.
//! * [`is_proven_by_ids`]: paths that need no contents, because ids alone prove that nothing is lost.
//! * [`restore_edit`]: the text of a result with a lost edit put back.
//!
//! An edit is judged by what it changed, not by where its lines are: code in another layout, another order or another
//! file is the same code. What both sides have and the result has not is always lost.

mod breakages;
mod edits;
mod file_audit;
mod file_items;
mod finding;
mod hashes;
mod item_cache;
mod lexed_text;
mod line_proof;
mod moved_code;
mod path_class;
mod path_identity;
mod restore;
mod side_audit;
mod survival;
mod trees;
mod whole_file;

pub use finding::{
    AuditFinding, AuditReport, EditKind, EditPlace, FindingClass, LossCause, MergeSide, SetAsideFile,
    UncheckedPart, VersionExcerpt, WholeFileTaken,
};
pub use item_cache::ItemCache;
pub use path_class::SetAsideReason;
pub use restore::restore_edit;
pub use trees::{BASE, FileVersion, FourTrees, OURS, PathVersions, RESULT, THEIRS, is_proven_by_ids};

use moved_code::TreeSearch;

/// What an audit does besides comparing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AuditOptions {
    /// There is no common ancestor: findings are hints.
    pub two_way: bool,
    /// Look for breakages also in files that merge cleanly, and for calls that the other side broke.
    pub checks_breakages: bool,
}

/// Finds every edit of either side that the result does not have, and every place where the result is broken.
pub fn audit(trees: &FourTrees, options: AuditOptions) -> AuditReport {
    audit_again(trees, options, &ItemCache::default())
}

/// Like [`audit`], with what an earlier audit of the same merge read.
pub fn audit_again(trees: &FourTrees, options: AuditOptions, items: &ItemCache) -> AuditReport {
    let mut report = AuditReport::default();
    let search = TreeSearch::new(trees, items);
    let groups = path_identity::unproven_groups(trees);
    report.n_compared = groups.len();
    for group in &groups {
        file_audit::audit_file(group, &search, options, &mut report);
    }
    if options.checks_breakages && !options.two_way {
        let calls = breakages::broken_calls(trees, &search);
        if calls.is_none() {
            report.unchecked.push(UncheckedPart::Calls);
        }
        let (confirmed, unconfirmed) = calls.unwrap_or_default();
        let with_id = |mut finding: AuditFinding| {
            finding.fill_id(["", "", "", ""], 0);
            finding
        };
        report.findings.extend(confirmed.into_iter().map(with_id));
        report.unconfirmed = unconfirmed.into_iter().map(with_id).collect();
    }
    if search.is_exhausted() {
        report.unchecked.push(UncheckedPart::Moves);
    }
    report
}

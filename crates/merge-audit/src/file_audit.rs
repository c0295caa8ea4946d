//! The audit of one file: what ids and clean merges prove, whole-file edits, then each side item by item.

use crate::AuditOptions;
use crate::breakages::{broken_file, duplicates, has_markers, may_be_broken};
use crate::edits::FileAlignments;
use crate::file_items::FileItems;
use crate::finding::{AuditFinding, AuditReport, FindingClass, MergeSide, SetAsideFile, WholeFileTaken};
use crate::item_cache::{FileKey, VersionContent, is_source, read_lines, read_versions};
use crate::line_proof::{has_every_line, keeps_every_order};
use crate::moved_code::TreeSearch;
use crate::path_class::{SetAsideReason, class_of_content, class_of_path};
use crate::side_audit::SideAudit;
use crate::survival::{SideTexts, SideView, VersionText};
use crate::trees::{BASE, FileGroup, OURS, RESULT, THEIRS, is_same, normalized};
use crate::whole_file::{file_loss, mode_loss, rename_loss, special_loss};
use probity_line_diff::{LineAlignment, ThreeWayTexts, split_lines};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

const SIDES: [(usize, usize, MergeSide); 2] =
    [(OURS, THEIRS, MergeSide::Ours), (THEIRS, OURS, MergeSide::Theirs)];

pub(crate) fn audit_file(
    group: &FileGroup,
    search: &TreeSearch<'_>,
    options: AuditOptions,
    report: &mut AuditReport,
) {
    let n_before = report.findings.len();
    audit_group(group, search, options, report);
    let ids = group.versions.each_ref().map(|version| version.as_ref().map_or("", |version| &*version.id));
    let mut n_equal: BTreeMap<String, usize> = BTreeMap::new();
    for finding in &mut report.findings[n_before..] {
        if options.two_way
            && matches!(
                finding.class,
                FindingClass::Lost | FindingClass::Contested | FindingClass::Superseded
            )
        {
            finding.class = FindingClass::TwoWay;
        }
        finding.fill_id(ids, 0);
        let n_before = n_equal.entry(finding.id.clone()).or_default();
        *n_before += 1;
        if *n_before > 1 {
            finding.fill_id(ids, *n_before - 1);
        }
    }
}

fn audit_group(group: &FileGroup, search: &TreeSearch<'_>, options: AuditOptions, report: &mut AuditReport) {
    let is_special = |version: &crate::FileVersion| version.is_submodule() || version.is_link();
    if group.versions.iter().flatten().any(is_special) {
        report.findings.extend(SIDES.iter().filter_map(|side| special_loss(group, *side)));
        return;
    }
    if let Some(reason) = set_aside_reason(group) {
        let is_merged = group
            .versions
            .iter()
            .all(|version| version.as_ref().is_some_and(|version| version.bytes.is_some()))
            && is_proven_by_content(group);
        if !is_merged {
            report.set_aside.push(SetAsideFile { path: group.path_in(RESULT).clone(), reason });
        }
        return;
    }
    search.set_own_paths(group.paths.iter().flatten().cloned());
    report.findings.extend(SIDES.iter().filter_map(|side| mode_loss(group, *side)));
    report.findings.extend(SIDES.iter().filter_map(|side| rename_loss(group, *side, search)));
    let whole: Vec<AuditFinding> = SIDES.iter().filter_map(|side| file_loss(group, *side, search)).collect();
    let is_settled = group.versions[RESULT].is_none() || !whole.is_empty();
    report.findings.extend(whole);
    if is_settled {
        return;
    }
    audit_content(group, search, options, report);
}

/// Returns true if the result is what a clean merge of the three gives, under either way to pair lines. The merge knows
/// no merge driver and no attribute: what it merges cleanly, nobody can have lost.
fn is_clean_merge(three: &ThreeWayTexts<'_>, result: &[u8]) -> bool {
    [LineAlignment::Anchored, LineAlignment::Shortest]
        .into_iter()
        .any(|alignment| three.merge(alignment).is_ok_and(|merged| merged == result))
}

fn is_proven_by_content(group: &FileGroup) -> bool {
    let [Some(base), Some(ours), Some(theirs), Some(result)] =
        [BASE, OURS, THEIRS, RESULT].map(|at| group.bytes(at))
    else {
        return false;
    };
    is_clean_merge(&ThreeWayTexts::new(base, ours, theirs), result)
}

fn set_aside_reason(group: &FileGroup) -> Option<SetAsideReason> {
    if let Some(reason) = group.paths.iter().flatten().find_map(class_of_path) {
        return Some(reason);
    }
    if group.lacks_content() {
        return Some(SetAsideReason::NotRead);
    }
    [BASE, OURS, THEIRS, RESULT].iter().find_map(|&version| group.bytes(version).and_then(class_of_content))
}

/// The four texts of a file, all with the line endings of Unix.
struct FileTexts<'a> {
    group: &'a FileGroup,
    texts: [Option<&'a [u8]>; 4],
    /// The base and the sides, if all three are there; made when it is first needed.
    three: OnceCell<Option<ThreeWayTexts<'a>>>,
}

fn audit_content(
    group: &FileGroup,
    search: &TreeSearch<'_>,
    options: AuditOptions,
    report: &mut AuditReport,
) {
    let texts: [Option<Cow<'_, [u8]>>; 4] =
        [BASE, OURS, THEIRS, RESULT].map(|at| group.bytes(at).map(normalized));
    FileTexts::new(group, texts.each_ref().map(Option::as_deref)).audit(search, options, report);
}

impl<'a> FileTexts<'a> {
    fn new(group: &'a FileGroup, texts: [Option<&'a [u8]>; 4]) -> Self {
        Self { group, texts, three: OnceCell::new() }
    }

    fn three(&self) -> Option<&ThreeWayTexts<'a>> {
        let make = || match self.texts {
            [Some(base), Some(ours), Some(theirs), _] => Some(ThreeWayTexts::new(base, ours, theirs)),
            _ => None,
        };
        self.three.get_or_init(make).as_ref()
    }

    fn key(&self) -> FileKey {
        let ids =
            self.group.versions.each_ref().map(|version| version.as_ref().map(|file| Arc::clone(&file.id)));
        (self.group.path_in(RESULT).clone(), ids)
    }

    fn audit(&self, search: &TreeSearch<'_>, options: AuditOptions, report: &mut AuditReport) {
        let [base, ours, theirs, result] = self.texts;
        let result_path = self.group.path_in(RESULT);
        let name = result_path.file_name();
        let is_known = search.items.is_proven(&self.key());
        let is_clean =
            is_known || self.three().is_some_and(|three| is_clean_merge(three, result.unwrap_or_default()));
        let has_markers = result.is_some_and(|result| has_markers(result, [ours, theirs]));
        let is_proven = is_clean
            || has_every_line([base, ours, theirs], result.unwrap_or_default())
            || self.has_every_edit_by_lines(name, search);
        if is_proven && !is_known {
            search.items.set_proven(self.key());
        }
        if is_clean && !has_markers && !options.checks_breakages {
            return;
        }
        if is_proven && !has_markers {
            // Nothing is lost. Only a result that may be broken is compared with the other versions.
            let [.., merged] = read_versions(search.items, name, [None, None, None, self.content(RESULT)]);
            if !merged.is_some_and(|merged| may_be_broken(&merged)) {
                return;
            }
        }
        let files = read_versions(search.items, name, self.contents());
        let is_broken = audit_breakage(self.group, &files, [ours, theirs, result], report);
        if !is_broken {
            let by_version = files.each_ref().map(Option::as_deref);
            report.findings.extend(duplicates(result_path, result.unwrap_or_default(), by_version));
        }
        if !is_proven {
            note_whole_file(self.group, report);
            report.findings.extend(self.item_findings(&files, search));
        }
    }

    fn content(&self, version: usize) -> Option<VersionContent<'_>> {
        self.group.versions[version].as_ref().map(|file| &file.id).zip(self.texts[version])
    }

    fn contents(&self) -> [Option<VersionContent<'_>>; 4] {
        [BASE, OURS, THEIRS, RESULT].map(|version| self.content(version))
    }

    /// Returns true if the audit of a source file finds nothing line by line. Items are lines or consist of them, so that it
    /// finds nothing item by item, either, and the versions need not be parsed. Only functions that moved have no lines.
    fn has_every_edit_by_lines(&self, name: &[u8], search: &TreeSearch<'_>) -> bool {
        let [base, ours, theirs, _] = self.texts;
        is_source(name)
            && keeps_every_order([base, ours, theirs])
            && self.item_findings(&read_lines(search.items, self.contents()), search).is_empty()
    }

    /// Finds what either side did to items of the file and the result does not have.
    fn item_findings(
        &self,
        files: &[Option<Arc<FileItems>>; 4],
        search: &TreeSearch<'_>,
    ) -> Vec<AuditFinding> {
        let versions = &self.group.versions;
        let conflicts: Option<Vec<Range<usize>>> = self.three().map(|three| {
            let conflicts = three.merge(LineAlignment::Anchored).err().unwrap_or_default();
            conflicts.into_iter().map(|conflict| conflict.base).collect()
        });
        let empty = FileItems::default();
        let lines = self.texts.map(|text| VersionText::new(text.unwrap_or_default()));
        let or_empty = |version: usize| files[version].as_deref().unwrap_or(&empty);
        let alignments = FileAlignments::new([BASE, OURS, THEIRS, RESULT].map(or_empty));
        let mut findings = Vec::new();
        for (version, other, side) in SIDES {
            let (Some(of_side), false) =
                (&files[version], is_same(versions[version].as_ref(), versions[BASE].as_ref()))
            else {
                continue;
            };
            let side_texts = SideTexts {
                base: lines[BASE].clone(),
                side: lines[version].clone(),
                other: lines[other].clone(),
                result: lines[RESULT].clone(),
            };
            let view = SideView::new(
                [or_empty(BASE), of_side, or_empty(other), or_empty(RESULT)],
                side_texts,
                search,
                [version, other],
                &alignments,
            );
            let audit = SideAudit {
                group: self.group,
                version,
                other,
                side,
                texts: lines.clone(),
                conflicts: conflicts.as_deref(),
                both_added: versions[BASE].is_none() && versions[other].is_some(),
                view,
            };
            findings.extend(audit.findings());
        }
        findings
    }
}

/// Reports markers and parse errors of the result. Returns true if it has any.
fn audit_breakage(
    group: &FileGroup,
    files: &[Option<Arc<FileItems>>; 4],
    [ours, theirs, result]: [Option<&[u8]>; 3],
    report: &mut AuditReport,
) -> bool {
    let path = group.path_in(RESULT);
    let Some(result) = result else { return false };
    if has_markers(result, [ours, theirs]) {
        let line = split_lines(result).iter().position(|line| line.starts_with(b"<<<<<<< ")).unwrap_or(0);
        let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
        report.findings.push(broken_file(FindingClass::Markers, path, Some([line, line]), "<<<<<<<"));
        return true;
    }
    let Some(merged) = files[RESULT].as_ref().filter(|file| file.has_strict_grammar()) else { return false };
    let sides_parse = [BASE, OURS, THEIRS]
        .iter()
        .all(|&version| files[version].as_ref().is_none_or(|file| file.n_errors() == 0));
    let has_side = files[OURS].is_some() || files[THEIRS].is_some();
    if merged.n_errors() > 0 && sides_parse && has_side {
        report.findings.push(broken_file(FindingClass::DoesNotParse, path, None, ""));
        return true;
    }
    false
}

/// Notes that the result took a file whole from one side although both had changed it.
fn note_whole_file(group: &FileGroup, report: &mut AuditReport) {
    let at = |version: usize| group.versions[version].as_ref();
    if is_same(at(OURS), at(BASE)) || is_same(at(THEIRS), at(BASE)) {
        return;
    }
    let id = |version: usize| at(version).map(|file| &file.id);
    for (version, _, side) in SIDES {
        if id(version).is_some() && id(version) == id(RESULT) {
            report.taken_whole.push(WholeFileTaken { path: group.path_in(RESULT).clone(), from: side });
            return;
        }
    }
}

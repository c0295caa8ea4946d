//! What a side did to a file as a whole: added, removed, renamed, its mode, the target of a link.

use crate::file_items::Item;
use crate::finding::{AuditFinding, EditKind, EditPlace, FindingClass, LossCause, MergeSide};
use crate::item_cache::read_versions;
use crate::moved_code::TreeSearch;
use crate::side_audit::text_of_line;
use crate::survival::{VersionText, sought_line};
use crate::trees::{BASE, FileGroup, OURS, RESULT, is_same, normalized};
use probity_line_diff::split_lines;

fn whole_file_finding(
    group: &FileGroup,
    version: usize,
    side: MergeSide,
    class: FindingClass,
    kind: EditKind,
) -> AuditFinding {
    AuditFinding {
        id: String::new(),
        class,
        kind,
        side: Some(side),
        path: group.path_in(version).clone(),
        result_path: group.paths[RESULT].clone(),
        place: EditPlace { version, lines: [0, 0] },
        entity: None,
        lines: None,
        lost: Vec::new(),
        cause: Some(LossCause::File),
        versions: Default::default(),
    }
}

/// Symbolic links and submodules have no lines: the result has a side's target or it has not.
pub(crate) fn special_loss(
    group: &FileGroup,
    (version, other, side): (usize, usize, MergeSide),
) -> Option<AuditFinding> {
    let at = |version: usize| group.versions[version].as_ref();
    if is_same(at(version), at(BASE)) || is_same(at(version), at(RESULT)) {
        return None;
    }
    let is_alone = is_same(at(other), at(BASE)) || is_same(at(other), at(version));
    let class = if is_alone { FindingClass::Lost } else { FindingClass::Contested };
    let is_submodule = group.versions.iter().flatten().any(crate::FileVersion::is_submodule);
    let kind = if is_submodule { EditKind::Submodule } else { EditKind::Symlink };
    let mut finding = whole_file_finding(group, version, side, class, kind);
    finding.lost = vec![at(version).map_or_else(|| "removed".to_owned(), |file| file.id.to_string())];
    Some(finding)
}

pub(crate) fn mode_loss(
    group: &FileGroup,
    (version, other, side): (usize, usize, MergeSide),
) -> Option<AuditFinding> {
    let mode = |version: usize| group.versions[version].as_ref().map(|file| file.mode);
    let (base, of_side, of_other, result) = (mode(BASE)?, mode(version)?, mode(other), mode(RESULT)?);
    if of_side == base || result == of_side {
        return None;
    }
    let class = if of_other.is_none_or(|mode| mode == base || mode == of_side) {
        FindingClass::Lost
    } else {
        FindingClass::Contested
    };
    let mut finding = whole_file_finding(group, version, side, class, EditKind::Mode);
    finding.lost = vec![format!("mode {of_side:o}")];
    Some(finding)
}

/// A file that a side gave another name, and that has its old name in the result.
pub(crate) fn rename_loss(
    group: &FileGroup,
    (version, other, side): (usize, usize, MergeSide),
    search: &TreeSearch<'_>,
) -> Option<AuditFinding> {
    let [base, of_side, of_other, result] =
        [BASE, version, other, RESULT].map(|version| group.paths[version].as_ref());
    let (base, of_side, result) = (base?, of_side?, result?);
    // A file that is there under both names is a copy, and its old name may be wanted.
    let is_undone = of_side != base && result != of_side && !search.has_file(RESULT, of_side);
    if !is_undone {
        return None;
    }
    let class = match of_other {
        Some(path) if path == base && result == base => FindingClass::Lost,
        Some(path) if path == of_side => FindingClass::Lost,
        _ => FindingClass::Contested,
    };
    let mut finding = whole_file_finding(group, version, side, class, EditKind::RenameFile);
    finding.lost = vec![format!("{base} renamed to {of_side}")];
    Some(finding)
}

/// Files that a side added, removed or changed, and that the result has not or has again.
pub(crate) fn file_loss(
    group: &FileGroup,
    side: (usize, usize, MergeSide),
    search: &TreeSearch<'_>,
) -> Option<AuditFinding> {
    let (version, other, word) = side;
    let at = |version: usize| group.versions[version].as_ref();
    let has_changed = !is_same(at(version), at(BASE));
    if !has_changed {
        return None;
    }
    let (class, kind) = match (at(BASE), at(version), at(other), at(RESULT)) {
        (None, Some(_), None, None) => (FindingClass::Lost, EditKind::AddFile),
        // Reported once, for the first side.
        (None, Some(_), Some(_), None) if version == OURS => (FindingClass::Lost, EditKind::AddFile),
        (Some(_), Some(_), None, None) => (FindingClass::Contested, EditKind::UpdateFile),
        (Some(_), Some(_), Some(_), None) => (FindingClass::Lost, EditKind::UpdateFile),
        (Some(base), None, Some(of_other), Some(_)) if of_other.is_same(base) => {
            (FindingClass::Lost, EditKind::RemoveFile)
        }
        (Some(_), None, None, Some(_)) if version == OURS => (FindingClass::Lost, EditKind::RemoveFile),
        (Some(_), None, Some(_), Some(_)) => (FindingClass::Contested, EditKind::RemoveFile),
        _ => return None,
    };
    if at(RESULT).is_none() && content_went_elsewhere(group, version, search) {
        return None;
    }
    let shown = if at(version).is_some() { version } else { BASE };
    let mut finding = whole_file_finding(group, shown, word, class, kind);
    let text = group.bytes(shown).unwrap_or_default();
    finding.lost = split_lines(text).iter().map(|line| text_of_line(line)).collect();
    finding.lines = Some([1, u32::try_from(finding.lost.len().max(1)).unwrap_or(u32::MAX)]);
    Some(finding)
}

/// Returns true if most of what a side wrote into a file is new in other files of the result.
fn content_went_elsewhere(group: &FileGroup, version: usize, search: &TreeSearch<'_>) -> bool {
    const MIN_MOVED_PERCENT: usize = 70;
    const MAX_SAMPLED_ITEMS: usize = 60;
    let name = group.path_in(version).file_name().to_vec();
    let texts =
        [BASE, version].map(|at| group.versions[at].as_ref().map(|file| &file.id).zip(group.bytes(at)));
    let texts = texts.map(|text| text.map(|(id, bytes)| (id, normalized(bytes))));
    let [of_base, of_side] = texts.each_ref().map(|text| text.as_ref().map(|(id, text)| (*id, &**text)));
    let [base, side, ..] = read_versions(search.items, &name, [of_base, of_side, None, None]);
    let (Some(side), Some((_, text))) = (side, of_side) else { return false };
    let text = VersionText::new(text);
    let is_new = |item: &&Item| base.as_ref().is_none_or(|base| base.count(item.hash) == 0);
    let long = |item: &&Item| item.stream.len() >= 3;
    let items: Vec<&Item> = side.items.iter().filter(is_new).filter(long).take(MAX_SAMPLED_ITEMS).collect();
    let moved = items
        .iter()
        .filter(|item| {
            !search.files_that_gained(RESULT, &[BASE, version], &sought_line(&text, item)).is_empty()
        })
        .count();
    !items.is_empty() && moved * 100 >= items.len() * MIN_MOVED_PERCENT
}

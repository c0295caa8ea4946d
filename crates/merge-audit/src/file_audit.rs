//! The audit of one file: whole-file edits by their ids, everything else item by item.

use crate::AuditOptions;
use crate::breakages::{broken_file, duplicates, has_markers, may_be_broken};
use crate::edits::{EditAtom, edits_of, similarity_percent};
use crate::file_items::{FileItems, Item, read_versions};
use crate::finding::{
    AuditFinding, AuditReport, EditKind, EditPlace, FindingClass, LossCause, MergeSide, SetAsideFile,
    VersionExcerpt, WholeFileTaken,
};
use crate::moved_code::TreeSearch;
use crate::path_class::{SetAsideReason, class_of_content, class_of_path};
use crate::survival::{SideTexts, SideView, VersionText, sought_line};
use crate::trees::{BASE, FileGroup, OURS, RESULT, THEIRS, is_same};
use probity_analysis::{ItemKind, UnitKind};
use probity_line_diff::{ChangedRegion, LineAlignment, aligned_pairs, merge, split_lines};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

/// Longer excerpts are cut.
const MAX_EXCERPT_LINES: usize = 60;

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
    for finding in &mut report.findings[n_before..] {
        if options.two_way
            && matches!(
                finding.class,
                FindingClass::Lost | FindingClass::Contested | FindingClass::Superseded
            )
        {
            finding.class = FindingClass::TwoWay;
        }
        finding.fill_id(ids);
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
fn is_clean_merge(base: &[u8], ours: &[u8], theirs: &[u8], result: &[u8]) -> bool {
    [LineAlignment::Anchored, LineAlignment::Shortest]
        .into_iter()
        .any(|alignment| merge(base, ours, theirs, alignment).is_ok_and(|merged| merged == result))
}

fn is_proven_by_content(group: &FileGroup) -> bool {
    let [Some(base), Some(ours), Some(theirs), Some(result)] =
        [BASE, OURS, THEIRS, RESULT].map(|at| group.bytes(at))
    else {
        return false;
    };
    is_clean_merge(base, ours, theirs, result)
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
fn special_loss(
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

fn mode_loss(group: &FileGroup, (version, other, side): (usize, usize, MergeSide)) -> Option<AuditFinding> {
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
fn rename_loss(
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
fn file_loss(
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
    let [base, side, ..] = read_versions(&name, [group.bytes(BASE), group.bytes(version), None, None]);
    let Some(side) = side else { return false };
    let text: VersionText<'_> = split_lines(group.bytes(version).unwrap_or_default()).into();
    let is_new = |item: &&Item| base.as_ref().is_none_or(|base| base.count(item.hash) == 0);
    let long = |item: &&Item| item.stream.len() >= 3;
    let items: Vec<&Item> = side.items.iter().filter(is_new).filter(long).take(MAX_SAMPLED_ITEMS).collect();
    let moved = items
        .iter()
        .filter(|item| {
            !search.files_that_gained(RESULT, &[BASE, version], &sought_line(&side, &text, item)).is_empty()
        })
        .count();
    !items.is_empty() && moved * 100 >= items.len() * MIN_MOVED_PERCENT
}

/// Line endings are no edit.
fn normalized(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.windows(2).any(|two| two == b"\r\n") {
        return Cow::Borrowed(bytes);
    }
    let mut text = Vec::with_capacity(bytes.len());
    for (index, &byte) in bytes.iter().enumerate() {
        if byte != b'\r' || bytes.get(index + 1) != Some(&b'\n') {
            text.push(byte);
        }
    }
    Cow::Owned(text)
}

fn audit_content(
    group: &FileGroup,
    search: &TreeSearch<'_>,
    options: AuditOptions,
    report: &mut AuditReport,
) {
    let texts: [Option<Cow<'_, [u8]>>; 4] =
        [BASE, OURS, THEIRS, RESULT].map(|at| group.bytes(at).map(normalized));
    let text = |version: usize| texts[version].as_deref();
    let result_path = group.path_in(RESULT).clone();
    let name = result_path.file_name().to_vec();
    let result = text(RESULT).unwrap_or_default();
    let is_clean = match (text(BASE), text(OURS), text(THEIRS)) {
        (Some(base), Some(ours), Some(theirs)) => is_clean_merge(base, ours, theirs, result),
        _ => false,
    };
    let has_markers = text(RESULT).is_some_and(|result| has_markers(result, [text(OURS), text(THEIRS)]));
    if is_clean && !has_markers {
        if !options.checks_breakages {
            return;
        }
        let [.., merged] = read_versions(&name, [None, None, None, Some(result)]);
        if !merged.is_some_and(|merged| may_be_broken(&merged)) {
            return;
        }
    }
    let files = read_versions(&name, [text(BASE), text(OURS), text(THEIRS), text(RESULT)]);
    let is_broken = audit_breakage(group, &files, [text(OURS), text(THEIRS), text(RESULT)], report);
    if !is_broken {
        let by_version = files.each_ref().map(Option::as_ref);
        report.findings.extend(duplicates(&result_path, result, by_version));
    }
    if is_clean {
        return;
    }
    note_whole_file(group, report);
    let conflicts = match (text(BASE), text(OURS), text(THEIRS)) {
        (Some(base), Some(ours), Some(theirs)) => {
            let conflicts = merge(base, ours, theirs, LineAlignment::Anchored).err().unwrap_or_default();
            Some(conflicts.into_iter().map(|conflict| conflict.base).collect::<Vec<_>>())
        }
        _ => None,
    };
    let empty = FileItems::default();
    let lines: [VersionText<'_>; 4] =
        [BASE, OURS, THEIRS, RESULT].map(|at| split_lines(text(at).unwrap_or_default()).into());
    for (version, other, side) in SIDES {
        let (Some(of_side), false) =
            (&files[version], is_same(group.versions[version].as_ref(), group.versions[BASE].as_ref()))
        else {
            continue;
        };
        let or_empty = |version: usize| files[version].as_ref().unwrap_or(&empty);
        let side_texts = SideTexts {
            base: Rc::clone(&lines[BASE]),
            side: Rc::clone(&lines[version]),
            other: Rc::clone(&lines[other]),
            result: Rc::clone(&lines[RESULT]),
        };
        let view = SideView::new(
            [or_empty(BASE), of_side, or_empty(other), or_empty(RESULT)],
            side_texts,
            search,
            [version, other],
        );
        let audit = SideAudit {
            group,
            version,
            other,
            side,
            texts: lines.clone(),
            conflicts: conflicts.as_deref(),
            both_added: group.versions[BASE].is_none() && group.versions[other].is_some(),
            view,
        };
        report.findings.extend(audit.findings());
    }
}

/// Reports markers and parse errors of the result. Returns true if it has any.
fn audit_breakage(
    group: &FileGroup,
    files: &[Option<FileItems>; 4],
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
    let Some(merged) = files[RESULT].as_ref().filter(|file| file.strict_grammar) else { return false };
    let sides_parse = [BASE, OURS, THEIRS]
        .iter()
        .all(|&version| files[version].as_ref().is_none_or(|file| file.n_errors == 0));
    let has_side = files[OURS].is_some() || files[THEIRS].is_some();
    if merged.n_errors > 0 && sides_parse && has_side {
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

fn text_of_line(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned()
}

/// The audit of one side of one file.
struct SideAudit<'a> {
    group: &'a FileGroup,
    version: usize,
    other: usize,
    side: MergeSide,
    texts: [VersionText<'a>; 4],
    /// Ranges of base lines in conflict; `None` without a base.
    conflicts: Option<&'a [Range<usize>]>,
    both_added: bool,
    view: SideView<'a>,
}

impl SideAudit<'_> {
    fn findings(&self) -> Vec<AuditFinding> {
        let mut findings = Vec::new();
        for (region, atoms) in edits_of(self.view.base, self.view.side, &self.view.base_to_side) {
            let is_deletion = |atom: EditAtom| matches!(atom, EditAtom::Delete { .. });
            let (mut texts, mut deletions) = (Vec::new(), Vec::new());
            for &atom in atoms.iter().filter(|&&atom| !self.view.survives(atom)) {
                let told = self.view.half_of(atom);
                let list = if is_deletion(told) { &mut deletions } else { &mut texts };
                list.push((self.class_of(told, &region), told, is_deletion(atom)));
            }
            // As many deletions as lost insertions are the other half of the same edit.
            let n_deleted = deletions.iter().filter(|(.., is_plain)| *is_plain).count();
            if n_deleted <= texts.len() {
                deletions.retain(|(.., is_plain)| !is_plain);
            }
            for list in [texts, deletions] {
                for group in list.chunk_by(|one, two| one.0 == two.0) {
                    let atoms: Vec<EditAtom> = group.iter().map(|(_, atom, _)| *atom).collect();
                    findings.extend(self.finding(group[0].0, &atoms, &region));
                }
            }
        }
        findings.extend(self.lost_moves());
        findings
    }

    /// Finds functions, methods and classes that the side moved within the file, while the result has the order of the base.
    fn lost_moves(&self) -> Vec<AuditFinding> {
        let view = &self.view;
        let orders = [view.base, view.side, view.other, view.result].map(UnitOrder::new);
        let is_everywhere = |name: &&str| orders.iter().all(|order| order.places.contains_key(name));
        let [base, side, other, result] =
            orders.each_ref().map(|order| order.names().filter(is_everywhere).collect::<Vec<&str>>());
        // Where the other side reordered, too, nobody can say which order is right.
        if side == base || other != base || result != base {
            return Vec::new();
        }
        let kept: BTreeSet<usize> = aligned_pairs(&base, &side).into_iter().map(|(_, at)| at).collect();
        let moved = side.iter().enumerate().filter(|(at, _)| !kept.contains(at)).map(|(_, name)| *name);
        moved.filter_map(|name| self.lost_move(name, orders[1].places[name])).collect()
    }

    fn lost_move(&self, name: &str, lines: [u32; 2]) -> Option<AuditFinding> {
        let head = self.texts[self.version].get(lines[0] as usize - 1)?;
        let path = self.group.path_in(self.version).clone();
        Some(AuditFinding {
            id: String::new(),
            class: FindingClass::Lost,
            kind: EditKind::Move,
            side: Some(self.side),
            path,
            result_path: self.group.paths[RESULT].clone(),
            place: EditPlace { version: self.version, lines },
            entity: Some(name.to_owned()),
            lines: Some(lines),
            lost: vec![text_of_line(head)],
            cause: Some(LossCause::Resolution),
            versions: Default::default(),
        })
    }

    fn class_of(&self, atom: EditAtom, region: &ChangedRegion) -> FindingClass {
        let view = &self.view;
        let is_contested = match atom {
            EditAtom::Delete { base } => self.is_deletion_contested(base, region),
            EditAtom::Update { base, side } => {
                !view.other_has(side) && (self.both_added || !view.other_keeps(base))
            }
            EditAtom::Insert { side } => {
                !view.other_has(side) && (self.both_added || self.is_insert_contested(side, region))
            }
        };
        if is_contested { FindingClass::Contested } else { FindingClass::Lost }
    }

    /// A deletion is contested if the other side edited any of the lines that were deleted together.
    fn is_deletion_contested(&self, base: usize, region: &ChangedRegion) -> bool {
        let view = &self.view;
        if view.other_deleted(base) {
            return false;
        }
        let is_deleted = |index: &usize| view.side.count(view.base.items[*index].hash) == 0;
        let before = (region.before.start..base).rev().take_while(is_deleted);
        let after = (base..region.before.end).skip(1).take_while(is_deleted);
        before.chain(after).chain([base]).any(|index| !view.other_deleted(index) && !view.other_keeps(index))
    }

    /// Two insertions at one place can both be kept, unless they say the same in two ways, or the place is gone.
    fn is_insert_contested(&self, side: usize, region: &ChangedRegion) -> bool {
        let view = &self.view;
        let touching: Vec<&ChangedRegion> = view.base_to_other.touching(&region.before).collect();
        if touching.is_empty() {
            return false;
        }
        let entity = view.side.entity_of(&view.side.items[side]);
        let has_entity = |file: &FileItems| file.entities.iter().any(|name| name == entity);
        // Both sides wrote the entity: the result can have only one of the two.
        if !entity.is_empty() && !has_entity(view.base) && has_entity(view.other) {
            return true;
        }
        if !region.before.is_empty() {
            return region.before.clone().any(|base| !view.other_keeps(base));
        }
        let n_base = view.base.items.len();
        let before = region.before.start.checked_sub(1);
        let after = Some(region.before.end).filter(|&index| index < n_base);
        let is_gone = |index: Option<usize>| index.is_none_or(|index| !view.other_keeps(index));
        let has_neighbor = before.is_some() || after.is_some();
        if has_neighbor && is_gone(before) && is_gone(after) {
            return true;
        }
        let item = &view.side.items[side];
        touching.iter().flat_map(|region| region.after.clone()).any(|index| {
            let other = &view.other.items[index];
            let head = view.side.head_of(item);
            // A key that stands in many places, such as a field of every entry of a list, is no common place.
            let is_frequent = head.is_some_and(|word| view.base.stream_of(item).count(word) > 2);
            let min_percent = if is_frequent { 80 } else { 60 };
            head == view.other.head_of(other)
                && similarity_percent(view.side, item, view.other, other) >= min_percent
        })
    }

    fn finding(
        &self,
        class: FindingClass,
        atoms: &[EditAtom],
        region: &ChangedRegion,
    ) -> Option<AuditFinding> {
        let view = &self.view;
        let is_deletion = matches!(atoms.first()?, EditAtom::Delete { .. });
        let (file, version) = if is_deletion { (view.base, BASE) } else { (view.side, self.version) };
        let indices: Vec<usize> = atoms
            .iter()
            .map(|atom| match *atom {
                EditAtom::Insert { side } | EditAtom::Update { side, .. } => side,
                EditAtom::Delete { base } => base,
            })
            .collect();
        let items: Vec<&Item> = indices.iter().map(|&index| &file.items[index]).collect();
        let first = items.first()?;
        let entity = entity_of(file, &items);
        let lines =
            [items.iter().map(|item| item.first_line).min()?, items.iter().map(|item| item.last_line).max()?];
        let source = &self.texts[version];
        let mut numbers: Vec<u32> = items.iter().flat_map(|item| item.first_line..=item.last_line).collect();
        numbers.dedup();
        let mut lost: Vec<String> = numbers
            .iter()
            .filter_map(|&line| source.get(line as usize - 1))
            .map(|line| text_of_line(line))
            .collect();
        lost.extend(self.shortened_lines(atoms));
        Some(AuditFinding {
            id: String::new(),
            class,
            kind: self.kind_of(atoms, &items, file, &entity, is_deletion),
            side: Some(self.side),
            path: self.group.path_in(self.version).clone(),
            result_path: self.group.paths[RESULT].clone(),
            place: EditPlace { version, lines },
            entity: Some(entity).filter(|name| !name.is_empty()),
            lines: Some(lines),
            lost,
            cause: Some(self.cause(first, is_deletion, region)),
            versions: self.excerpts(region),
        })
    }

    /// Returns the base lines of updates that only took words out: they are what is back.
    fn shortened_lines(&self, atoms: &[EditAtom]) -> Vec<String> {
        let source = &self.texts[BASE];
        let shortened = atoms.iter().filter_map(|atom| match *atom {
            EditAtom::Update { base, side } if !self.view.adds_words(base, side) => {
                Some(&self.view.base.items[base])
            }
            _ => None,
        });
        let lines = shortened.flat_map(|item| item.first_line..=item.last_line);
        lines.filter_map(|line| source.get(line as usize - 1)).map(|line| text_of_line(line)).collect()
    }

    fn kind_of(
        &self,
        atoms: &[EditAtom],
        items: &[&Item],
        file: &FileItems,
        entity: &str,
        is_deletion: bool,
    ) -> EditKind {
        let view = &self.view;
        let is_whole = !entity.is_empty()
            && file
                .items
                .iter()
                .filter(|item| file.entity_of(item) == entity)
                .all(|item| items.iter().any(|one| one.stream == item.stream));
        if items.iter().all(|item| item.kind == ItemKind::Import) {
            let used = items
                .iter()
                .any(|item| file.words_of(item).last().is_some_and(|word| view.result.code.count(*word) > 0));
            return if used && !is_deletion { EditKind::ImportLost } else { EditKind::Import };
        }
        if items.iter().all(|item| item.kind == ItemKind::Comment) {
            return EditKind::Comment;
        }
        match (is_deletion, is_whole) {
            (true, true) if !view.side.entities.iter().any(|name| name == entity) => EditKind::RemoveEntity,
            (true, _) => EditKind::Delete,
            (false, true) if !view.base.entities.iter().any(|name| name == entity) => EditKind::AddEntity,
            _ if atoms.iter().any(|atom| matches!(atom, EditAtom::Update { .. })) => EditKind::Update,
            _ => EditKind::Insert,
        }
    }

    fn cause(&self, first: &Item, is_deletion: bool, region: &ChangedRegion) -> LossCause {
        let Some(conflicts) = self.conflicts else { return LossCause::Conflict };
        let items = &self.view.base.items;
        let line_before = |index: usize| {
            index.checked_sub(1).and_then(|index| items.get(index)).map_or(0, |item| item.last_line)
        };
        let (start, end) = if is_deletion {
            (first.first_line - 1, first.last_line)
        } else {
            let start = line_before(region.before.start);
            let end = items.get(region.before.end).map_or(u32::MAX, |item| item.first_line - 1);
            (start, end)
        };
        let is_inside =
            conflicts.iter().any(|range| range.start <= end as usize && start as usize <= range.end);
        if is_inside { LossCause::Conflict } else { LossCause::Resolution }
    }

    /// Returns the four versions of the place.
    fn excerpts(&self, region: &ChangedRegion) -> [Option<VersionExcerpt>; 4] {
        let view = &self.view;
        let mut excerpts: [Option<VersionExcerpt>; 4] = Default::default();
        excerpts[BASE] = excerpt(&self.texts[BASE], view.base, &region.before);
        excerpts[self.version] = excerpt(&self.texts[self.version], view.side, &region.after);
        let in_other = between(&view.base_to_other.forward, &region.before, view.other.items.len());
        excerpts[self.other] = excerpt(&self.texts[self.other], view.other, &in_other);
        let in_result = between(&view.side_to_result.forward, &region.after, view.result.items.len());
        excerpts[RESULT] = excerpt(&self.texts[RESULT], view.result, &in_result);
        excerpts
    }
}

/// The units of a file with a name of their own, and their lines.
struct UnitOrder<'a> {
    places: BTreeMap<&'a str, [u32; 2]>,
}

impl<'a> UnitOrder<'a> {
    fn new(file: &'a FileItems) -> Self {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for unit in &file.units {
            *counts.entry(&unit.name).or_default() += 1;
        }
        let named = file.units.iter().filter(|unit| {
            let is_movable = matches!(unit.kind, UnitKind::Function | UnitKind::Method | UnitKind::Class);
            // Decorators and what has no name of its own (`<lambda>`) are no landmarks.
            is_movable && counts[unit.name.as_str()] == 1 && !unit.name.contains('<')
        });
        let places =
            named.map(|unit| (unit.name.as_str(), [unit.range.start_line, unit.range.end_line])).collect();
        Self { places }
    }

    /// Returns the names in the order of the file.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        let mut names: Vec<(&[u32; 2], &'a str)> =
            self.places.iter().map(|(name, lines)| (lines, *name)).collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name)
    }
}

/// Returns the entity of the first item that is code.
fn entity_of(file: &FileItems, items: &[&Item]) -> String {
    let code = items.iter().find(|item| !item.is_note()).or(items.first());
    code.map(|item| file.entity_of(item).to_owned()).unwrap_or_default()
}

/// Returns the range in the second version that lies between the aligned neighbors of a range of the first.
fn between(forward: &[Option<usize>], range: &Range<usize>, n_items: usize) -> Range<usize> {
    let start = forward[..range.start].iter().rev().flatten().next().map_or(0, |index| index + 1);
    let end = forward[range.end..].iter().flatten().next().copied().unwrap_or(n_items);
    start.min(end)..end
}

fn excerpt(text: &VersionText<'_>, file: &FileItems, range: &Range<usize>) -> Option<VersionExcerpt> {
    let items = file.items.get(range.clone()).filter(|items| !items.is_empty())?;
    let first = items.iter().map(|item| item.first_line).min()?;
    let last = items.iter().map(|item| item.last_line).max()?;
    let lines: Vec<String> = text
        .iter()
        .skip(first as usize - 1)
        .take(((last - first + 1) as usize).min(MAX_EXCERPT_LINES))
        .map(|line| text_of_line(line))
        .collect();
    Some(VersionExcerpt { lines: [first, last], text: lines.join("\n") })
}

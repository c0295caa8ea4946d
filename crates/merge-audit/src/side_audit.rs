//! The audit of one side of one file, item by item: what did not survive, and its class, kind, cause and place.

use crate::edits::{EditAtom, similarity_percent};
use crate::file_items::{FileItems, Item};
use crate::finding::{AuditFinding, EditKind, EditPlace, FindingClass, LossCause, MergeSide, VersionExcerpt};
use crate::survival::{SideView, VersionText, between};
use crate::trees::{BASE, FileGroup, RESULT};
use probity_analysis::{ItemKind, UnitKind};
use probity_line_diff::{ChangedRegion, aligned_pairs};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Longer excerpts are cut.
const MAX_EXCERPT_LINES: usize = 60;

/// Returns a line without its end.
pub(crate) fn text_of_line(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).to_owned()
}

/// The audit of one side of one file.
pub(crate) struct SideAudit<'a> {
    pub(crate) group: &'a FileGroup,
    pub(crate) version: usize,
    pub(crate) other: usize,
    pub(crate) side: MergeSide,
    pub(crate) texts: [VersionText<'a>; 4],
    /// Ranges of base lines in conflict; `None` without a base.
    pub(crate) conflicts: Option<&'a [Range<usize>]>,
    pub(crate) both_added: bool,
    pub(crate) view: SideView<'a>,
}

impl SideAudit<'_> {
    pub(crate) fn findings(&self) -> Vec<AuditFinding> {
        let mut findings = Vec::new();
        for (region, atoms) in self.view.edits {
            let is_deletion = |atom: EditAtom| matches!(atom, EditAtom::Delete { .. });
            let (mut texts, mut deletions) = (Vec::new(), Vec::new());
            for &atom in atoms.iter().filter(|&&atom| !self.view.survives(atom)) {
                let told = self.view.half_of(atom);
                let list = if is_deletion(told) { &mut deletions } else { &mut texts };
                list.push((self.class_of(told, region), told, is_deletion(atom)));
            }
            // As many deletions as lost insertions are the other half of the same edit.
            let n_deleted = deletions.iter().filter(|(.., is_plain)| *is_plain).count();
            if n_deleted <= texts.len() {
                deletions.retain(|(.., is_plain)| !is_plain);
            }
            for list in [texts, deletions] {
                for group in list.chunk_by(|one, two| one.0 == two.0) {
                    let atoms: Vec<EditAtom> = group.iter().map(|(_, atom, _)| *atom).collect();
                    findings.extend(self.finding(group[0].0, &atoms, region));
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
        let head = self.texts[self.version].lines.get(lines[0] as usize - 1)?;
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
        let has_third_version = |side: usize| !view.other_has(side) && view.has_third_version(side);
        let is_contested = match atom {
            EditAtom::Delete { base } => self.is_deletion_contested(base, region),
            EditAtom::Update { base, side } => {
                !view.other_has(side) && (self.both_added || !view.other_keeps(base))
                    || has_third_version(side)
            }
            EditAtom::Insert { side } => {
                !view.other_has(side)
                    && (self.both_added
                        || self.is_insert_contested(side, region)
                        || view.other_edited_source(side))
                    || has_third_version(side)
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
        // Where the result has all that the side wrote instead, the old lines are only back.
        let is_absent = |index: usize| view.side_to_result.forward[index].is_none();
        if !region.after.is_empty() && !region.after.clone().any(is_absent) {
            return false;
        }
        let is_deleted = |index: &usize| view.side.count(view.base.items[*index].hash) == 0;
        let before = (region.before.start..base).rev().take_while(is_deleted);
        let after = (base..region.before.end).skip(1).take_while(is_deleted);
        before.chain(after).chain([base]).any(|index| view.other_rewrote(index))
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
        let is_gone = |index: Option<usize>| index.is_none_or(|index| !view.other_keeps_place(index));
        let has_neighbor = before.is_some() || after.is_some();
        if has_neighbor && is_gone(before) && is_gone(after) {
            return true;
        }
        if touching.iter().any(|other| self.is_other_version_of_block(side, region, other)) {
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

    /// Returns true if both sides inserted a block at one place, the two have a line in common, and the other side's has lines
    /// of its own where this one has the item: two versions of one text.
    fn is_other_version_of_block(&self, side: usize, region: &ChangedRegion, other: &ChangedRegion) -> bool {
        const MIN_COMMON_WORDS: usize = 3;
        let view = &self.view;
        if other.before != region.before {
            return false;
        }
        let [mine, theirs] = [(view.side, &region.after), (view.other, &other.after)]
            .map(|(file, range)| &file.hashes[range.clone()]);
        let pairs = aligned_pairs(mine, theirs);
        let is_telling = |(at, _): &(usize, usize)| {
            view.side.sorted_words(&view.side.items[region.after.start + at]).len() >= MIN_COMMON_WORDS
        };
        let at = side - region.after.start;
        let before = pairs.iter().rfind(|(mine, _)| *mine < at).map_or(0, |(_, theirs)| theirs + 1);
        let after = pairs.iter().find(|(mine, _)| *mine > at).map_or(theirs.len(), |(_, theirs)| *theirs);
        pairs.iter().any(is_telling) && before < after
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
        let source = &self.texts[version].lines;
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
        let source = &self.texts[BASE].lines;
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
        for unit in file.units() {
            *counts.entry(&unit.name).or_default() += 1;
        }
        let named = file.units().iter().filter(|unit| {
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

fn excerpt(text: &VersionText<'_>, file: &FileItems, range: &Range<usize>) -> Option<VersionExcerpt> {
    let items = file.items.get(range.clone()).filter(|items| !items.is_empty())?;
    let first = items.iter().map(|item| item.first_line).min()?;
    let last = items.iter().map(|item| item.last_line).max()?;
    let lines: Vec<String> = text
        .lines
        .iter()
        .skip(first as usize - 1)
        .take(((last - first + 1) as usize).min(MAX_EXCERPT_LINES))
        .map(|line| text_of_line(line))
        .collect();
    Some(VersionExcerpt { lines: [first, last], text: lines.join("\n") })
}

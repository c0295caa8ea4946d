//! A sequence addressed by stable positions.
//!
//! Every known position has a label, and labels are in the order of the sequence. A new position takes a label between
//! its neighbors. If there is no room, the labels around it are spread out again in ever wider windows, so that
//! inserting costs the logarithm of the size, amortized. Removing an element keeps its position as a tombstone.
//! Equality and order compare the visible (position, value) pairs only.

use crate::value::{DocumentValue, SharedText};
use imbl::OrdMap;
use std::cmp::Ordering;

#[derive(Debug, Clone, Default)]
pub struct XArray {
    order: OrdMap<u64, SharedText>,
    slots: OrdMap<SharedText, XArraySlot>,
}

#[derive(Debug, Clone)]
struct XArraySlot {
    label: u64,
    content: SlotContent,
}

/// The content of a known position.
#[derive(Debug, Clone)]
pub(crate) enum SlotContent {
    Visible(DocumentValue),
    Tombstone,
    /// Inserted by a disabled commit: the position keeps its place, and no update makes it visible.
    Disabled,
}

/// The name of the place after the last position.
pub(crate) const END_POSITION: &str = "END";

/// The distance between the labels of appended positions.
const LABEL_STRIDE: u64 = 1 << 32;

impl XArray {
    /// Returns true if the position is known, visible or not.
    pub fn contains_position(&self, position: &str) -> bool {
        self.slots.contains_key(position)
    }

    pub fn element(&self, position: &str) -> Option<&DocumentValue> {
        match &self.slots.get(position)?.content {
            SlotContent::Visible(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if only a disabled commit inserted the position.
    pub fn is_disabled(&self, position: &str) -> bool {
        matches!(self.slots.get(position), Some(XArraySlot { content: SlotContent::Disabled, .. }))
    }

    /// Returns every known position, in order.
    pub fn order(&self) -> impl Iterator<Item = &SharedText> {
        self.order.values()
    }

    /// Returns the visible positions and their elements, in order.
    pub fn visible(&self) -> impl Iterator<Item = (&SharedText, &DocumentValue)> {
        self.order.values().filter_map(|position| Some((position, self.element(position)?)))
    }

    /// Returns the positions that follow a known one.
    pub(crate) fn after(&self, position: &str) -> impl Iterator<Item = &SharedText> {
        let start = self.slots.get(position).map_or(u64::MAX, |slot| slot.label);
        self.order.range(start..).map(|(_, position)| position).skip(1)
    }

    pub(crate) fn element_mut(&mut self, position: &str) -> Option<&mut DocumentValue> {
        match &mut self.slots.get_mut(position)?.content {
            SlotContent::Visible(value) => Some(value),
            _ => None,
        }
    }

    /// Changes the content of a known position; unknown positions are ignored.
    pub(crate) fn put(&mut self, position: &str, content: SlotContent) {
        if let Some(slot) = self.slots.get_mut(position) {
            slot.content = content;
        }
    }

    /// Appends a new position.
    pub(crate) fn push(&mut self, position: SharedText, content: SlotContent) {
        let label = match self.order.get_max() {
            None => LABEL_STRIDE,
            Some((last, _)) => last.checked_add(LABEL_STRIDE).unwrap_or_else(|| {
                self.spread(0, 64);
                self.order.get_max().map_or(LABEL_STRIDE, |(last, _)| last.midpoint(u64::MAX))
            }),
        };
        self.insert_slot(position, label, content);
    }

    /// Inserts a new position just before a known one.
    pub(crate) fn insert_before(&mut self, anchor: &str, position: SharedText, content: SlotContent) {
        loop {
            let Some(upper) = self.slots.get(anchor).map(|slot| slot.label) else {
                return;
            };
            let lower = self.order.range(..upper).next_back().map_or(0, |(label, _)| *label);
            if upper - lower >= 2 {
                return self.insert_slot(position, lower.midpoint(upper), content);
            }
            self.make_room(upper);
        }
    }

    fn insert_slot(&mut self, position: SharedText, label: u64, content: SlotContent) {
        self.order.insert(label, position.clone());
        self.slots.insert(position, XArraySlot { label, content });
    }

    /// Spreads the labels of the smallest window around `label` that is sparse enough.
    fn make_room(&mut self, label: u64) {
        // A window of 2^i labels may hold up to (3/2)^i positions. Wider windows are sparser, so a window just spread
        // stays usable for as many inserts as it has positions.
        let mut capacity = 1_u64;
        for bits in 1..64 {
            capacity = capacity + capacity / 2 + 1;
            let start = label >> bits << bits;
            let inside = self.order.range(start..=(start | ((1 << bits) - 1))).count() as u64;
            if inside < capacity && ((1_u64 << bits) - 1) / (inside + 1) >= 2 {
                return self.spread(start, bits);
            }
        }
        self.spread(0, 64);
    }

    /// Assigns evenly spaced labels to the positions in the window of 2^bits labels that starts at `start`.
    fn spread(&mut self, start: u64, bits: u32) {
        let last = if bits == 64 { u64::MAX } else { start | ((1 << bits) - 1) };
        let inside: Vec<(u64, SharedText)> =
            self.order.range(start..=last).map(|(label, position)| (*label, position.clone())).collect();
        let step = (last - start) / (inside.len() as u64 + 1);
        for (label, _) in &inside {
            self.order.remove(label);
        }
        let mut label = start;
        for (_, position) in inside {
            label += step;
            if let Some(slot) = self.slots.get_mut(&position) {
                slot.label = label;
            }
            self.order.insert(label, position);
        }
    }
}

impl PartialEq for XArray {
    fn eq(&self, other: &Self) -> bool {
        self.visible().eq(other.visible())
    }
}

impl Eq for XArray {}

impl PartialOrd for XArray {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for XArray {
    fn cmp(&self, other: &Self) -> Ordering {
        self.visible().cmp(other.visible())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn visible(number: usize) -> SlotContent {
        SlotContent::Visible(DocumentValue::Uint(number as u64))
    }

    fn listed(array: &XArray) -> Vec<String> {
        array.order().map(ToString::to_string).collect()
    }

    #[test]
    fn tombstones_do_not_count_for_equality() {
        let (mut a, mut b) = (XArray::default(), XArray::default());
        a.push("p".into(), visible(1));
        b.push("q".into(), SlotContent::Tombstone);
        b.push("p".into(), visible(1));
        assert_eq!(a, b);
        b.put("q", visible(1));
        assert_ne!(a, b);
    }

    #[test]
    fn always_inserting_at_one_place_stays_in_order() {
        let mut array = XArray::default();
        array.push("last".into(), SlotContent::Tombstone);
        let mut expected = vec!["last".to_owned()];
        let mut anchor = "last".to_owned();
        for number in 0..3000 {
            let position = format!("p{number}");
            array.insert_before(&anchor, position.as_str().into(), SlotContent::Tombstone);
            expected.push(position.clone());
            anchor = position;
        }
        expected.reverse();
        assert_eq!(listed(&array), expected);
    }

    proptest! {
        #[test]
        fn lists_positions_as_a_plain_vector_would(anchors in prop::collection::vec(any::<prop::sample::Index>(), 1..300)) {
            let mut array = XArray::default();
            let mut model: Vec<String> = Vec::new();
            for (number, anchor) in anchors.iter().enumerate() {
                let position = format!("p{number}");
                let at = anchor.index(model.len() + 1);
                if at == model.len() {
                    array.push(position.as_str().into(), visible(number));
                } else {
                    array.insert_before(&model[at], position.as_str().into(), visible(number));
                }
                model.insert(at, position);
            }
            prop_assert_eq!(listed(&array), model.clone());
            let following: Vec<String> = array.after(&model[0]).map(ToString::to_string).collect();
            prop_assert_eq!(&following, &model[1..]);
        }
    }
}

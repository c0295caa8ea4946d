//! Lists that a surface shortens: omitted entries are counted, never silently dropped.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The number of entries omitted from each list of an answer, by list name. Only tools for agents shorten lists.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct LeftOutOfLists(BTreeMap<&'static str, usize>);

impl LeftOutOfLists {
    /// Tells whether every list is complete.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Shortens the list `name` to `limit` entries, and counts the omitted ones.
    pub fn cut<T>(&mut self, name: &'static str, list: &mut Vec<T>, limit: usize) {
        if list.len() > limit {
            self.0.insert(name, list.len() - limit);
            list.truncate(limit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_counted() {
        let mut left_out = LeftOutOfLists::default();
        let (mut long, mut short) = (vec![1, 2, 3], vec![1]);
        left_out.cut("long", &mut long, 2);
        left_out.cut("short", &mut short, 2);
        assert_eq!((long, short), (vec![1, 2], vec![1]));
        assert_eq!(left_out.0, BTreeMap::from([("long", 1)]));
    }
}

//! A list of strings in one allocation: a file has hundreds of names, and a tree hundreds of thousands.

use crate::facts::count;
use serde::{Deserialize, Serialize};

/// Strings one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Texts {
    joined: String,
    /// The end of each string.
    ends: Vec<u32>,
}

impl Texts {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the string with this index; empty if there is none.
    pub fn get(&self, index: u32) -> &str {
        let index = index as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.end(before));
        self.joined.get(start..self.end(index)).unwrap_or_default()
    }

    fn end(&self, index: usize) -> usize {
        self.ends.get(index).map_or(0, |&end| end as usize)
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..count(self.len())).map(|index| self.get(index))
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.joined.push_str(text);
        self.ends.push(count(self.joined.len()));
    }
}

impl<'a> FromIterator<&'a str> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_order_and_a_wrong_index_is_empty() {
        let texts: Texts = ["a", "", "ß", "long name"].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "ß", "long name"]);
        assert_eq!((texts.get(2), texts.get(4), texts.get(u32::MAX)), ("ß", "", ""));
    }

    #[test]
    fn ends_that_make_no_sense_give_empty_texts() {
        let texts = Texts { joined: "ßa".to_owned(), ends: vec![1, 9, 0] };
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "", ""]);
    }
}

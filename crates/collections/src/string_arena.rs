//! A list of texts in one piece of memory: a file has hundreds of names, a tree hundreds of thousands, and none of them
//! is worth an allocation.

use serde::{Deserialize, Serialize};

/// Texts one after another, numbered from zero.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StringArena {
    joined: String,
    /// Where each text ends; it begins where the one before it ends.
    ends: Vec<usize>,
}

impl StringArena {
    /// How many there are.
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text with this number; empty if there is none.
    pub fn get(&self, number: u32) -> &str {
        let number = number as usize;
        let start = number.checked_sub(1).map_or(0, |before| self.end(before));
        self.joined.get(start..self.end(number)).unwrap_or_default()
    }

    fn end(&self, number: usize) -> usize {
        self.ends.get(number).copied().unwrap_or(0)
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..).take(self.len()).map(|number| self.get(number))
    }

    /// Appends a text and returns its number. Callers keep their lists far below the four billion texts that can be
    /// numbered; beyond them the last number stands for all.
    pub fn push(&mut self, text: &str) -> u32 {
        let number = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.joined.push_str(text);
        self.ends.push(self.joined.len());
        number
    }

    /// Forgets all texts from `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        self.joined.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

impl<'a> FromIterator<&'a str> for StringArena {
    fn from_iter<I: IntoIterator<Item = &'a str>>(texts: I) -> Self {
        let mut all = Self::default();
        for text in texts {
            all.push(text);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_order_and_a_wrong_number_is_empty() {
        let mut texts: StringArena = ["a", "", "ß", "long name"].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "ß", "long name"]);
        assert_eq!((texts.get(2), texts.get(4), texts.get(u32::MAX)), ("ß", "", ""));
        texts.truncate(1);
        assert_eq!((texts.len(), texts.push("d"), texts.get(1)), (1, 1, "d"));
    }

    #[test]
    fn ends_that_make_no_sense_give_empty_texts() {
        let texts = StringArena { joined: "ßa".to_owned(), ends: vec![1, 9, 0] };
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["", "", ""]);
    }
}

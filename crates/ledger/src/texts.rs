//! Texts, one after the other in one string: no allocation and no header for each.

/// An append-only list of texts. Ids count from zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    bytes: String,
    /// Where each text ends; it begins where the one before it ends.
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn len(&self) -> u32 {
        count(self.ends.len())
    }

    pub(crate) fn get(&self, id: u32) -> &str {
        let at = id as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.bytes[start..self.ends[at]]
    }

    pub(crate) fn push(&mut self, text: &str) -> u32 {
        let id = self.len();
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
        id
    }

    /// Forgets all texts from `len` on.
    pub(crate) fn truncate(&mut self, len: u32) {
        self.ends.truncate(len as usize);
        self.bytes.truncate(self.ends.last().copied().unwrap_or(0));
    }
}

/// A length as an id. Ids stay below `u32::MAX` because every input adds a bounded number of things and the ledger
/// refuses inputs long before (see `MAX_INPUTS`).
pub(crate) fn count(len: usize) -> u32 {
    u32::try_from(len).expect("the ledger refuses inputs before ids run out")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_pushed() {
        let mut texts = Texts::default();
        for text in ["a", "", "ccc"] {
            texts.push(text);
        }
        assert_eq!((texts.get(0), texts.get(1), texts.get(2)), ("a", "", "ccc"));
        texts.truncate(1);
        assert_eq!((texts.len(), texts.push("d"), texts.get(1)), (1, 1, "d"));
    }
}

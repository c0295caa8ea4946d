//! Texts as words and marks, without a parser: whether code stands in another file is asked of many files.

use crate::hashes::hash_of;

/// The words and marks of a text. Layout, separators and braces do not count.
#[derive(Debug, Default)]
pub(crate) struct LexedText(Vec<u64>);

impl LexedText {
    pub(crate) fn new(text: &[u8]) -> Self {
        let mut tokens = Vec::with_capacity(text.len() / 4);
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            if is_word_byte(byte) {
                let length = text[at..].iter().take_while(|&&byte| is_word_byte(byte)).count();
                tokens.push(hash_of(&text[at..at + length]));
                at += length;
                continue;
            }
            if !byte.is_ascii_whitespace() && !matches!(byte, b',' | b';' | b'{' | b'}') {
                tokens.push(u64::from(byte));
            }
            at += 1;
        }
        Self(tokens)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Counts where the tokens of another text stand in a row.
    pub(crate) fn count(&self, sought: &Self) -> usize {
        let Some(&first) = sought.0.first() else { return 0 };
        let starts = self.0.iter().enumerate().filter(|(_, token)| **token == first);
        starts.filter(|(at, _)| self.0[*at..].starts_with(&sought.0)).count()
    }
}

pub(crate) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 128
}

/// Returns the words of a text.
pub(crate) fn words_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| !is_word_byte(byte)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_does_not_hide_code() {
        let text = LexedText::new(b"f(a, b) {\n  g(\n    1,\n    2,\n  );\n}\ng(1, 2);\n");
        assert_eq!(text.count(&LexedText::new(b"g(1, 2)")), 2);
        assert_eq!(text.count(&LexedText::new(b"g(1)")), 0);
        assert_eq!(text.count(&LexedText::new(b"")), 0);
    }
}

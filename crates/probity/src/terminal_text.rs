//! Text for a terminal: styles of ours, and nothing that text from outside brings.
//!
//! Answers mix our words with names, reasons and messages that others wrote. None of those may move the cursor, change
//! colors, reorder or hide what stands beside them, on a terminal or behind a pipe whose reader interprets escapes. A
//! style is therefore written as a mark that only this process knows, and [`TerminalText`] turns marks into escape
//! sequences after everything else has been made visible.

use anstyle::{AnsiColor, Style};
use probity_core::bytes::is_deceptive;
use std::fmt::{Display, Write as _};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

/// What a piece of text is to its reader.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TextStyle {
    Bold,
    Dim,
    Good,
    Bad,
    Warn,
    /// A command to type.
    Code,
}

impl TextStyle {
    const ALL: [Self; 6] = [Self::Bold, Self::Dim, Self::Good, Self::Bad, Self::Warn, Self::Code];

    pub(crate) const fn ansi(self) -> Style {
        match self {
            Self::Bold => Style::new().bold(),
            Self::Dim => Style::new().dimmed(),
            Self::Good => AnsiColor::Green.on_default().bold(),
            Self::Bad => AnsiColor::Red.on_default().bold(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Code => AnsiColor::Cyan.on_default(),
        }
    }

    const fn letter(self) -> char {
        match self {
            Self::Bold => 'b',
            Self::Dim => 'd',
            Self::Good => 'g',
            Self::Bad => 'r',
            Self::Warn => 'y',
            Self::Code => 'c',
        }
    }
}

/// Follows the mark that ends a style.
const END_LETTER: char = 'e';

/// Begins every mark. Its random part cannot be known to an author of text that this process prints.
static STYLE_MARK: LazyLock<String> = LazyLock::new(|| {
    let random = || RandomState::new().hash_one(0_u8);
    format!("\u{fdd0}{:016x}{:016x}", random(), random())
});

/// Marks text with a style, for [`TerminalText`] to render.
pub(crate) fn styled(style: TextStyle, text: impl Display) -> String {
    let mark = STYLE_MARK.as_str();
    format!("{mark}{}{text}{mark}{END_LETTER}", style.letter())
}

/// Text that is safe to write: its only escape sequences are those of our styles.
#[derive(Debug, Clone)]
pub(crate) struct TerminalText(String);

impl TerminalText {
    /// Renders one line. Further lines of its text are indented, so that none of them can pass for a line of ours.
    pub(crate) fn of_line(line: impl Display, indent: usize) -> Self {
        let line = line.to_string();
        let mut pieces = line.split(STYLE_MARK.as_str());
        let mut text = String::with_capacity(line.len());
        let break_text = format!("\n{}", " ".repeat(indent));
        let push = |piece: &str, text: &mut String| {
            text.push_str(&visible(piece, |character| "\n\t".contains(character)).replace('\n', &break_text));
        };
        push(pieces.next().unwrap_or_default(), &mut text);
        for piece in pieces {
            let mut rest = piece.chars();
            let letter = rest.next();
            match TextStyle::ALL.into_iter().find(|style| Some(style.letter()) == letter) {
                Some(style) => {
                    let _ = write!(text, "{}", style.ansi());
                }
                None => {
                    let _ = write!(text, "{:#}", TextStyle::Bold.ansi());
                }
            }
            push(rest.as_str(), &mut text);
        }
        Self(text)
    }

    /// Renders text that is a document of several lines, such as Markdown or a policy. The invisible joiner that
    /// [`probity_core::markup`] puts behind an `@` stays.
    pub(crate) fn of_document(text: &str) -> Self {
        Self(visible(text, |character| "\n\t\u{2060}".contains(character)))
    }

    /// Renders a JSON text. Its escapes are JSON's, so that the text means the same.
    pub(crate) fn of_json(text: &str) -> Self {
        let mut safe = String::with_capacity(text.len());
        for character in text.chars() {
            if is_deceptive(character) && character != '\n' {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let _ = write!(safe, "\\u{unit:04x}");
                }
            } else {
                safe.push(character);
            }
        }
        Self(safe)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Replaces the text by a form of it with the same characters, such as a wrapped one.
    pub(crate) fn map(self, form: impl FnOnce(&str) -> String) -> Self {
        Self(form(&self.0))
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = Self> {
        self.0.lines().map(|line| Self(line.to_owned()))
    }
}

impl Display for TerminalText {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Writes deceptive characters as escapes, apart from those that `stays` names.
fn visible(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_deceptive(character) && !stays(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_styles_become_escape_sequences() {
        let line = format!("{} \u{1b}[32mPASS\u{1b}[0m", styled(TextStyle::Bad, "FAIL\u{1b}]0;x\u{7}"));
        assert_eq!(
            TerminalText::of_line(line, 2).as_str(),
            "\u{1b}[1m\u{1b}[31mFAIL\\u{1b}]0;x\\u{7}\u{1b}[0m \\u{1b}[32mPASS\\u{1b}[0m"
        );
        assert_eq!(TerminalText::of_line("\u{fdd0}gno mark of ours", 2).as_str(), "\u{fdd0}gno mark of ours");
    }

    #[test]
    fn a_further_line_is_indented() {
        assert_eq!(TerminalText::of_line("a\nPASS\r\n", 4).as_str(), "a\n    PASS\\r\n    ");
    }

    #[test]
    fn a_document_keeps_its_lines_and_json_its_meaning() {
        assert_eq!(
            TerminalText::of_document("# a\n@\u{2060}b\u{202e}\u{9b}\n").as_str(),
            "# a\n@\u{2060}b\\u{202e}\\u{9b}\n"
        );
        let document = serde_json::json!({"a": "\u{202e}\u{9b}\u{e0041}\n\u{1b}"});
        let text = serde_json::to_string_pretty(&document).expect("writes");
        let safe = TerminalText::of_json(&text);
        assert!(!safe.lines().any(|line| line.as_str().chars().any(is_deceptive)), "{safe}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(safe.as_str()).expect("reads"), document);
    }
}

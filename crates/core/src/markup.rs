//! Untrusted text in Markdown, HTML and XML: nothing in it is read as markup, and nothing in it hides or reorders what
//! stands beside it.

use crate::bytes::is_deceptive;

/// Text in a Markdown sentence.
pub fn markdown_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // An invisible joiner: services look for mentions in the rendered text, where an entity is an `@` again.
            '@' => safe.push_str("@\u{2060}"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' => safe.extend(['\\', character]),
            other if other.is_control() => safe.push(' '),
            other if is_deceptive(other) => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

/// Text in a Markdown code span that it cannot end. Bytes go through [`crate::bytes::escape`] first.
pub fn markdown_code(text: &str) -> String {
    let longest_run = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest_run + 1);
    let visible = |character: char| match character {
        control if control.is_control() => ' ',
        deceptive if is_deceptive(deceptive) => '\u{fffd}',
        other => other,
    };
    let line: String = text.chars().map(visible).collect();
    // Spaces at both ends keep the fence apart from the text, and a reader strips exactly one at each end.
    let is_plain = !line.is_empty() && !line.starts_with(['`', ' ']) && !line.ends_with(['`', ' ']);
    let space = if is_plain { "" } else { " " };
    format!("{fence}{space}{line}{space}{fence}")
}

/// Text in an element or an attribute of HTML, or in an element of XML. Characters that XML forbids and those that
/// reorder a line become a replacement mark.
pub fn markup_text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(character),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other if is_deceptive(other) => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_break_out_of_its_code_span() {
        let spans = [
            ("src/a.rs", "`src/a.rs`"),
            ("a`b", "``a`b``"),
            ("`x`", "`` `x` ``"),
            ("a\n# b", "`a # b`"),
            ("", "`  `"),
            (" a ", "`  a  `"),
        ];
        for (text, span) in spans {
            assert_eq!(markdown_code(text), span);
        }
    }

    #[test]
    fn a_sentence_has_no_markup_and_tells_nobody() {
        assert_eq!(markdown_text("<b>@x [l](u)\n#1"), "&lt;b&gt;@\u{2060}x \\[l\\](u) \\#1");
        assert_eq!(markdown_text("a\u{202e}b\u{9b}"), "a\u{fffd}b ");
        assert_eq!(markdown_code("a\u{2066}b"), "`a\u{fffd}b`");
    }

    #[test]
    fn no_text_becomes_an_element_or_ends_an_attribute() {
        assert_eq!(markup_text("<a href='x' b=\"&\">"), "&lt;a href=&#39;x&#39; b=&quot;&amp;&quot;&gt;");
        assert_eq!(markup_text("a\u{202e}b\0c\n"), "a\u{fffd}b\u{fffd}c\n");
    }
}

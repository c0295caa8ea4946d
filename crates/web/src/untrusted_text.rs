//! Text that agents wrote, in a page: nothing in it is read as markup, and what is invisible or reorders a line is shown
//! as an escape.

use maud::{Markup, PreEscaped, Render, html};
use probity_core::bytes::{escape, is_deceptive};
use probity_core::markup::markup_text;
use probity_paths::RepoPath;

/// Text in an element.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Untrusted<'a>(pub(crate) &'a str);

impl Render for Untrusted<'_> {
    fn render_to(&self, page: &mut String) {
        push_text(page, self.0);
    }
}

/// A sentence in which commands, paths and patterns stand between backticks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentenceWithCode<'a>(pub(crate) &'a str);

impl Render for SentenceWithCode<'_> {
    fn render_to(&self, page: &mut String) {
        let mut rest = self.0;
        while let Some((before, code, after)) = first_code(rest) {
            push_text(page, before);
            page.push_str("<code>");
            push_text(page, code);
            page.push_str("</code>");
            rest = after;
        }
        push_text(page, rest);
    }
}

/// Splits at the first pair of backticks.
fn first_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    Some((before, code, after))
}

/// Appends text to a page with visible escapes. Line ends and tabs stay.
pub(crate) fn push_text(page: &mut String, text: &str) {
    let is_hidden = |letter: char| is_deceptive(letter) && !matches!(letter, '\n' | '\t');
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        page.push_str(&markup_text(&rest[..at]));
        let Some(letter) = rest[at..].chars().next() else { break };
        page.push_str("<span class=\"esc\">");
        page.push_str(&markup_text(&letter.escape_default().to_string()));
        page.push_str("</span>");
        rest = &rest[at + letter.len_utf8()..];
    }
    page.push_str(&markup_text(rest));
}

/// Text in an attribute: one line, with the same escapes as words.
pub(crate) fn attribute(text: &str) -> String {
    escape(text.as_bytes())
}

/// A path with its directory in the background.
pub(crate) fn path_text(path: &RepoPath) -> Markup {
    let shown = path.to_string();
    let (directory, name) = shown.rsplit_once('/').map_or(("", shown.as_str()), |(dir, name)| (dir, name));
    html! { span.path { @if !directory.is_empty() { i { (directory) "/" } } (name) } }
}

/// A symbol of the page, by its id.
pub(crate) fn glyph(id: &str, class: &str) -> Markup {
    html! { svg class={ "g " (class) } aria-hidden="true" { use href={ "#" (id) } {} } }
}

/// Markup that this crate made itself.
pub(crate) fn own_markup(text: String) -> Markup {
    PreEscaped(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        html! { (Untrusted(text)) }.into_string()
    }

    #[test]
    fn no_text_becomes_an_element() {
        assert_eq!(shown("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
        assert_eq!(shown("\"onload='x'&"), "&quot;onload=&#39;x&#39;&amp;");
    }

    #[test]
    fn code_of_a_sentence_is_escaped_too() {
        let shown = |text| html! { (SentenceWithCode(text)) }.into_string();
        assert_eq!(shown("run `a <b>` and ` alone"), "run <code>a &lt;b&gt;</code> and ` alone");
        assert_eq!(shown("`</code><script>`"), "<code>&lt;/code&gt;&lt;script&gt;</code>");
    }

    #[test]
    fn what_is_hidden_is_shown() {
        assert_eq!(shown("a\u{202e}b"), "a<span class=\"esc\">\\u{202e}</span>b");
        assert_eq!(shown("\u{200b}<"), "<span class=\"esc\">\\u{200b}</span>&lt;");
        assert_eq!(shown("a\tb\n"), "a\tb\n");
        assert!(shown("\u{1b}[31m").starts_with("<span class=\"esc\">\\u{1b}</span>"));
    }
}

//! Spans with marks at both ends: code, quotations, deleted text, link targets.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanKind {
    Code,
    Quotation,
    /// Struck out, or a link target: its author does not say it.
    Unsaid,
}

/// A span at the beginning of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextSpan<'a> {
    pub(crate) kind: SpanKind,
    pub(crate) content: &'a str,
    /// The length of the opening mark.
    pub(crate) open: usize,
    /// The total length, including the marks.
    pub(crate) length: usize,
}

/// The longest span, in bytes. Without a bound, marks that are never closed would make the search quadratic.
const MAX_SPAN: usize = 1000;

/// Returns the span that `rest` begins with.
pub(crate) fn span_at(rest: &str) -> Option<TextSpan<'_>> {
    match rest.chars().next()? {
        '`' => {
            let ticks = &rest[..rest.len() - rest.trim_start_matches('`').len()];
            span(rest, SpanKind::Code, ticks.len(), ticks)
        }
        '"' => span(rest, SpanKind::Quotation, 1, "\""),
        '“' => span(rest, SpanKind::Quotation, '“'.len_utf8(), "”"),
        '„' => span(rest, SpanKind::Quotation, '„'.len_utf8(), "“"),
        '«' => span(rest, SpanKind::Quotation, '«'.len_utf8(), "»"),
        '‘' => span(rest, SpanKind::Quotation, '‘'.len_utf8(), "’"),
        '\'' => span(rest, SpanKind::Quotation, 1, "'")
            .filter(|span| !rest[span.length..].starts_with(char::is_alphanumeric)),
        '~' if rest.starts_with("~~") => span(rest, SpanKind::Unsaid, 2, "~~"),
        ']' if rest.starts_with("](") => span(rest, SpanKind::Unsaid, 2, ")"),
        _ => None,
    }
}

fn span<'a>(rest: &'a str, kind: SpanKind, open: usize, close: &str) -> Option<TextSpan<'a>> {
    let inner = &rest[open..];
    let end = inner[..inner.floor_char_boundary(MAX_SPAN)].find(close)?;
    Some(TextSpan { kind, content: &inner[..end], open, length: open + end + close.len() })
}

//! The symbols of the page: every state has a shape, so that nobody needs the color.

use crate::untrusted_text::own_markup;
use maud::Markup;
use std::fmt::Write as _;

/// Names and drawings in a field of 12 by 12.
const SYMBOLS: &[(&str, &str)] = &[
    ("in", "<circle cx='6' cy='6' r='4.2'/>"),
    ("out", "<path d='M6 .4 11.6 6 6 11.6.4 6Z'/>"),
    ("exempt", "<circle cx='6' cy='6' r='3.6' fill='none' stroke='currentColor' stroke-width='1.6'/>"),
    ("gate", "<rect x='2' y='2' width='8' height='8' rx='1'/>"),
    (
        "held",
        "<rect x='2.2' y='1.5' width='2.8' height='9' rx='1'/><rect x='7' y='1.5' width='2.8' height='9' rx='1'/>",
    ),
    (
        "ok",
        "<path d='M1.6 6.4 4.7 9.4 10.4 2.8' fill='none' stroke='currentColor' stroke-width='2' stroke-linecap='round' stroke-linejoin='round'/>",
    ),
    (
        "no",
        "<path d='M2.2 2.2 9.8 9.8M9.8 2.2 2.2 9.8' fill='none' stroke='currentColor' stroke-width='2' stroke-linecap='round'/>",
    ),
    ("skip", "<path d='M2 6H10' fill='none' stroke='currentColor' stroke-width='2' stroke-linecap='round'/>"),
    (
        "stale",
        "<path d='M10 3.2A4.6 4.6 0 1 0 10.6 6.4' fill='none' stroke='currentColor' stroke-width='1.7' stroke-linecap='round'/><path d='M10.8.8V4H7.6' fill='none' stroke='currentColor' stroke-width='1.6' stroke-linecap='round' stroke-linejoin='round'/>",
    ),
    (
        "queue",
        "<circle cx='2' cy='6' r='1.4'/><circle cx='6' cy='6' r='1.4'/><circle cx='10' cy='6' r='1.4'/>",
    ),
    ("run", "<path d='M3 1.6 10 6 3 10.4Z'/>"),
    (
        "ask",
        "<path d='M6 1.2V10.8M1.2 6H10.8' fill='none' stroke='currentColor' stroke-width='2' stroke-linecap='round'/>",
    ),
    (
        "lost",
        "<path d='M.8 9.6C3 9.6 3.4 6 5 6M7.6 3.8C8.2 3 9 2.4 11.2 2.4M6 3.4 4.6 1.6M8 8.4 6.8 6.6' fill='none' stroke='currentColor' stroke-width='1.6' stroke-linecap='round'/>",
    ),
    ("find", "<path d='M6 1 11.4 10.6H.6Z'/>"),
    (
        "unk",
        "<path d='M4 4.2C4 2.8 5 2.2 6 2.2S8 2.9 8 4.1C8 5.6 6 5.6 6 7.2' fill='none' stroke='currentColor' stroke-width='1.6' stroke-linecap='round'/><circle cx='6' cy='9.8' r='1'/>",
    ),
    (
        "link",
        "<path d='M5 7 7 5M4.6 4.2 5.8 3A2.1 2.1 0 0 1 9 6.1L7.8 7.4M7.4 7.8 6.2 9A2.1 2.1 0 0 1 3 5.9L4.2 4.6' fill='none' stroke='currentColor' stroke-width='1.4' stroke-linecap='round'/>",
    ),
];

/// All symbols, to be used by name.
pub(crate) fn sprite() -> Markup {
    let mut text = String::from("<svg class=\"sprite\" aria-hidden=\"true\">");
    for (name, drawing) in SYMBOLS {
        let _ = write!(text, "<symbol id=\"{name}\" viewBox=\"0 0 12 12\">{drawing}</symbol>");
    }
    text.push_str("</svg>");
    own_markup(text)
}

//! Copies side by side, with what differs marked.

use super::diff::{self, Row};
use super::{Section, esc, more, path_html, words};
use crate::finding::{CloneType, Family, Finding, Location};
use crate::join::Sources;
use crate::run::Run;
use std::collections::BTreeSet;

const SHOWN: usize = 25;
const OPEN: usize = 3;
/// The most lines that are shown of each side, and the most characters of each line.
const MAX_LINES: usize = 80;
const MAX_LETTERS: usize = 240;
const MAX_OTHERS: usize = 10;

pub(super) fn section(run: &Run, sources: &Sources<'_>) -> Option<Section> {
    let is_clone = |finding: &&Finding| matches!(finding.family, Family::Clone | Family::CloneBlock);
    let mut found: Vec<&Finding> =
        run.findings.iter().filter(is_clone).filter(|found| found.locations.len() > 1).collect();
    if found.is_empty() {
        return None;
    }
    let n_found = found.len();
    found.sort_by_key(|finding| (u32::MAX - finding.value.unwrap_or(0), &finding.id));
    // The copies of one piece are one entry here: it lists them all.
    let mut seen = BTreeSet::new();
    found.retain(|finding| seen.insert(subject(finding)));
    let shown = found.iter().take(SHOWN).enumerate();
    let body: String = shown.map(|(index, finding)| pair(finding, index < OPEN, sources)).collect();
    let lead = format!(
        "{} about {}, the largest first. What differs is <mark>marked</mark>.",
        words::counted(n_found, "finding"),
        words::counted(found.len(), "piece")
    );
    Some(Section { id: "copies", title: "Copies", lead, body: body + &more(found.len(), SHOWN) })
}

/// What all copies of one piece have in common: the id without its number.
fn subject(finding: &Finding) -> &str {
    finding.id.as_str().split('#').next().unwrap_or_default()
}

fn pair(finding: &Finding, is_open: bool, sources: &Sources<'_>) -> String {
    let (copy, original) = (&finding.locations[0], &finding.locations[1]);
    let kind = match finding.clone_type {
        Some(CloneType::Exact) => "exact",
        Some(CloneType::Renamed) => "renamed",
        Some(CloneType::Near) | None => "near",
    };
    let open = if is_open { " open" } else { "" };
    format!(
        "<details class=\"pair\"{open}><summary><span class=\"badge {kind}\">{kind}</span> {} \
         <span class=\"arrow\">↔</span> {} <span class=\"quiet\">{} tokens</span></summary>\n{}{}</details>\n",
        title(original),
        title(copy),
        finding.value.unwrap_or(0),
        code(original, copy, sources),
        others(&finding.locations[2..]),
    )
}

fn title(place: &Location) -> String {
    let symbol =
        if place.symbol.is_empty() { String::new() } else { format!(" <b>{}</b>", esc(&place.symbol)) };
    format!("<code>{}:{}</code>{symbol}", path_html(&place.path.to_string()), place.range.start_line)
}

fn others(places: &[Location]) -> String {
    if places.is_empty() {
        return String::new();
    }
    let items = places
        .iter()
        .take(MAX_OTHERS)
        .map(|place| format!("<li>{}</li>", title(place)))
        .collect::<Vec<_>>()
        .concat();
    format!("<p class=\"quiet\">The same is also in:</p><ul>{items}</ul>{}", more(places.len(), MAX_OTHERS))
}

/// The lines of a place, without the indentation that all have.
struct Piece {
    first: u32,
    lines: Vec<String>,
    n_more: usize,
}

impl Piece {
    fn of(place: &Location, sources: &Sources<'_>) -> Option<Self> {
        let bytes = sources(&place.path)?;
        let (first, last) = words::lines(&place.range);
        let text = String::from_utf8_lossy(&bytes);
        let n_lines = (last + 1).saturating_sub(first) as usize;
        let all: Vec<&str> = text.lines().skip(first.saturating_sub(1) as usize).take(n_lines).collect();
        // The first line of a unit often has no indentation of its own in the range.
        let filled = all.iter().filter(|line| !line.trim().is_empty());
        let indent = filled.map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        let cut = |line: &&str| {
            line.get(indent..).unwrap_or_default().replace('\t', "    ").chars().take(MAX_LETTERS).collect()
        };
        Some(Self {
            first,
            lines: all.iter().take(MAX_LINES).map(cut).collect(),
            n_more: all.len().saturating_sub(MAX_LINES),
        })
    }

    fn number(&self, index: usize) -> u32 {
        self.first + crate::facts::count(index)
    }
}

fn code(original: &Location, copy: &Location, sources: &Sources<'_>) -> String {
    let (Some(left), Some(right)) = (Piece::of(original, sources), Piece::of(copy, sources)) else {
        return "<p class=\"quiet\">The code is not at hand.</p>".to_owned();
    };
    let left_lines: Vec<&str> = left.lines.iter().map(String::as_str).collect();
    let right_lines: Vec<&str> = right.lines.iter().map(String::as_str).collect();
    let rows: String =
        diff::align(&left_lines, &right_lines).into_iter().map(|row| row_html(row, &left, &right)).collect();
    let n_more = left.n_more.max(right.n_more);
    let rest = if n_more > 0 {
        format!("<p class=\"more\">and {} more lines</p>", words::number(n_more as u64))
    } else {
        String::new()
    };
    format!("<div class=\"scroll\"><table class=\"code\"><tbody>\n{rows}</tbody></table></div>{rest}\n")
}

fn row_html(row: Row, left: &Piece, right: &Piece) -> String {
    let none = "<td class=\"l\"></td><td class=\"none\"></td>".to_owned();
    let alone = |piece: &Piece, index: usize| {
        side(piece.number(index), &format!("<mark>{}</mark>", esc(&piece.lines[index])), "changed")
    };
    let [one, other] = match row {
        Row::Left(index) => [alone(left, index), none],
        Row::Right(index) => [none, alone(right, index)],
        Row::Both(one, other) => {
            let (a, b) = (left.lines[one].as_str(), right.lines[other].as_str());
            let class = if a.trim() == b.trim() { "" } else { "changed" };
            let [a, b] = diff::words(a, b).map(|pieces| marked(&pieces, class.is_empty()));
            [side(left.number(one), &a, class), side(right.number(other), &b, class)]
        }
    };
    format!("<tr>{one}{other}</tr>\n")
}

fn side(number: u32, html: &str, class: &str) -> String {
    format!("<td class=\"l\">{number}</td><td class=\"{class}\">{html}</td>")
}

fn marked(pieces: &[(&str, bool)], is_equal: bool) -> String {
    let piece = |(text, is_common): &(&str, bool)| {
        if *is_common || is_equal || text.trim().is_empty() {
            esc(text)
        } else {
            format!("<mark>{}</mark>", esc(text))
        }
    };
    pieces.iter().map(piece).collect::<Vec<_>>().concat()
}

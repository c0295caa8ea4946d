//! A run as one HTML page that needs nothing else: no network, no other file, and no script to be read.
//!
//! Text becomes markup by its type alone: whatever is not [`Markup`] is escaped. The page also carries a policy that lets
//! only its own style and its own script in, by their digests: markup that slipped through could still do nothing.

mod clones;
mod diff;
mod files;
mod findings;
mod health;
mod hot_spots;
mod treemap;

use super::{ReportSubject, labels};
use crate::compare::AnalysisComparison;
use crate::external_reports::SourceReader;
use crate::run::AnalysisRun;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use probity_core::Digest;
use probity_paths::RepoPath;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The run as a page. With a comparison that ends in this run, it begins with what changed. `sources` gives the code
/// that copies are shown with; without it they are listed by place only.
pub fn html(
    run: &AnalysisRun,
    against: Option<&AnalysisComparison>,
    sources: &SourceReader<'_>,
    subject: &ReportSubject,
) -> String {
    let sections = [
        Some(health::section(run, against)),
        health::changes(against),
        treemap::section(run),
        hot_spots::section(run),
        clones::section(run, sources),
        Some(findings::section(run, against)),
        files::worst(run),
        files::dependencies(run),
        files::joined(run),
        files::not_analyzed(run),
    ];
    let sections: Vec<PageSection> = sections.into_iter().flatten().collect();
    without_controls(&page(run, subject, &sections).into_string())
}

fn page(run: &AnalysisRun, subject: &ReportSubject, sections: &[PageSection]) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(content_security_policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { @if let Some(name) = &subject.project { (name) " · " } (labels::health(run)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (subject.project.as_deref().unwrap_or("Structural report")) }
                    p {
                        @if let Some(commit) = subject.commit_words() { (commit) " · " }
                        "Run " code title=(run.id.0.to_hex()) { (run.id.short()) } " · " (size(run))
                    }
                }
                nav aria-label="Sections" {
                    @for section in sections { a href={ "#" (section.id) } { (section.title) } }
                }
                main { @for section in sections { (section.html()) } }
                footer { p { "Made by " (run.analyser) ". The same tree gives the same page." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
        "\n"
    }
}

/// One part of the page.
struct PageSection {
    /// Its anchor.
    id: &'static str,
    title: &'static str,
    /// A sentence under the title.
    lead: Markup,
    body: Markup,
}

impl PageSection {
    fn html(&self) -> Markup {
        html! {
            section id=(self.id) {
                h2 { (self.title) }
                @if !self.lead.0.is_empty() { p.lead { (self.lead) } }
                (self.body)
            }
            // A line for each section: the page can be compared with an earlier one.
            "\n"
        }
    }
}

/// The policy of the page: nothing is loaded, and only this style and this script count.
fn content_security_policy() -> String {
    let digest = |text: &str| STANDARD.encode(Digest::of(text.as_bytes()).as_bytes());
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

fn size(run: &AnalysisRun) -> Markup {
    let (n_analyzed, n_skipped, n_failed) = run.file_counts();
    let n_lines: u64 = run.files.iter().map(|file| u64::from(file.n_lines)).sum();
    html! {
        (labels::format_count(n_analyzed, "file")) " · " (labels::format_number(n_lines)) " lines"
        @if n_skipped + n_failed > 0 {
            " · "
            a href="#not-analyzed" {
                (labels::format_number(n_skipped as u64)) " left out"
                @if n_failed > 0 { ", " (labels::format_number(n_failed as u64)) " given up" }
            }
        }
    }
}

/// The page without characters that hide or reorder what is shown: direction marks could make code read as other code,
/// and other control characters have no meaning in HTML. Done once for all of it, so that no place can be forgotten.
fn without_controls(page: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if c.is_control() || is_direction(c) => '\u{fffd}',
        c => c,
    };
    page.chars().map(shown).collect()
}

const fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// A path that may break after its slashes.
fn path_html(path: &RepoPath) -> Markup {
    let path = path.to_string();
    html! { @for part in path.split_inclusive('/') { (part) @if part.ends_with('/') { wbr; } } }
}

/// The letter of a score in thousandths, in lower case: the class that gives it its color.
const fn grade_class(score_milli: u32) -> char {
    match score_milli / 1000 {
        90.. => 'a',
        75..90 => 'b',
        60..75 => 'c',
        40..60 => 'd',
        _ => 'f',
    }
}

/// A table; a head that begins with `#` is a column of numbers.
fn table(heads: &[&str], rows: impl Iterator<Item = Markup>) -> Markup {
    table_of_class("sortable", heads, rows)
}

fn table_of_class(class: &str, heads: &[&str], rows: impl Iterator<Item = Markup>) -> Markup {
    html! {
        div.scroll {
            table class=(class) {
                thead { tr { @for head in heads { (head_cell(head)) } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

fn head_cell(head: &str) -> Markup {
    html! {
        @if let Some(number) = head.strip_prefix('#') {
            th.n scope="col" { (number) }
        } @else {
            th scope="col" { (head) }
        }
    }
}

/// The line under a list that was cut.
fn more(n_all: usize, n_shown: usize) -> Markup {
    html! { @if n_all > n_shown { p.more { "and " (labels::format_number((n_all - n_shown) as u64)) " more" } } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_becomes_markup() {
        let path = RepoPath::parse(b"<script>/\"a\" & 'b'\xe2\x80\xae.py").expect("a path");
        let page = html! { code title=(path.to_string()) { (path_html(&path)) } }.into_string();
        let page = without_controls(&page);
        assert_eq!(page.matches('<').count(), 3, "{page}");
        assert!(page.starts_with("<code title=\"&lt;script&gt;/&quot;a&quot; &amp; 'b'"), "{page}");
        assert_eq!(without_controls("a\u{202e}b\0c\u{2066}"), "a\u{fffd}b\u{fffd}c\u{fffd}");
    }

    #[test]
    fn style_and_script_cannot_end_their_elements() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}

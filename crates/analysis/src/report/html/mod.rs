//! A run as one HTML page that needs nothing else: no network, no other file, and no script to be read.
//!
//! All text of the tree goes through [`esc`]. The page also carries a policy that lets only its own style and its own
//! script in, by their digests: markup that slipped through could still do nothing.

mod clones;
mod diff;
mod files;
mod findings;
mod health;
mod hot_spots;
mod treemap;

use super::{ReportSubject, words};
use crate::compare::Comparison;
use crate::join::Sources;
use crate::run::Run;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use probity_core::Digest;
use probity_core::markup::markup_text as esc;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The run as a page. With a comparison that ends in this run, it begins with what changed. `sources` gives the code
/// that copies are shown with; without it they are listed by place only.
pub fn html(
    run: &Run,
    against: Option<&Comparison>,
    sources: &Sources<'_>,
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
        files::not_analysed(run),
    ];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let body: String = sections.iter().map(Section::html).collect();
    let links: String = sections.iter().map(Section::link).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <header><h1>{}</h1><p>{}Run <code title=\"{}\">{}</code> · {}</p></header>\n\
         <nav aria-label=\"Sections\">{links}</nav>\n<main>\n{body}</main>\n\
         <footer><p>Made by {}. The same tree gives the same page.</p></footer>\n\
         <script>{SCRIPT}</script>\n</body>\n</html>\n",
        policy(),
        subject.project.as_ref().map_or_else(String::new, |name| format!("{} · ", esc(name))),
        esc(&words::health(run)),
        subject.project.as_ref().map_or_else(|| "Structural report".to_owned(), |name| esc(name)),
        subject.commit_words().map_or_else(String::new, |words| format!("{} · ", esc(&words))),
        run.id.0.to_hex(),
        run.id.short(),
        size(run),
        esc(&run.analyser),
    )
}

/// One part of the page.
struct Section {
    /// Its anchor.
    id: &'static str,
    title: &'static str,
    /// A sentence under the title; escaped already.
    lead: String,
    body: String,
}

impl Section {
    fn html(&self) -> String {
        let lead = if self.lead.is_empty() {
            String::new()
        } else {
            format!("<p class=\"lead\">{}</p>\n", self.lead)
        };
        format!("<section id=\"{}\">\n<h2>{}</h2>\n{lead}{}</section>\n", self.id, self.title, self.body)
    }

    fn link(&self) -> String {
        format!("<a href=\"#{}\">{}</a>", self.id, self.title)
    }
}

/// The policy of the page: nothing is loaded, and only this style and this script count.
fn policy() -> String {
    let digest = |text: &str| STANDARD.encode(Digest::of(text.as_bytes()).as_bytes());
    format!(
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; \
         script-src 'sha256-{}'; base-uri 'none'; form-action 'none'\">",
        digest(STYLE),
        digest(SCRIPT)
    )
}

fn size(run: &Run) -> String {
    let (n_analysed, n_skipped, n_failed) = run.file_counts();
    let n_lines: u64 = run.files.iter().map(|file| u64::from(file.n_lines)).sum();
    let left_out = match (n_skipped, n_failed) {
        (0, 0) => String::new(),
        (n, 0) => format!(" · <a href=\"#not-analysed\">{} left out</a>", words::number(n as u64)),
        (n, failed) => format!(
            " · <a href=\"#not-analysed\">{} left out, {} given up</a>",
            words::number(n as u64),
            words::number(failed as u64)
        ),
    };
    format!("{} · {} lines{left_out}", words::counted(n_analysed, "file"), words::number(n_lines))
}

/// A path that may break after its slashes.
fn path_html(path: &str) -> String {
    esc(path).replace('/', "/<wbr>")
}

/// The letter of a score in thousandths, in lower case: the class that gives it its colour.
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
fn table(heads: &[&str], rows: &str) -> String {
    let heads: String = heads.iter().map(|head| head_cell(head)).collect();
    format!(
        "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn head_cell(head: &str) -> String {
    head.strip_prefix('#').map_or_else(
        || format!("<th scope=\"col\">{head}</th>"),
        |number| format!("<th scope=\"col\" class=\"n\">{number}</th>"),
    )
}

/// The line under a list that was cut.
fn more(n_all: usize, n_shown: usize) -> String {
    match n_all.saturating_sub(n_shown) {
        0 => String::new(),
        n_more => format!("<p class=\"more\">and {} more</p>\n", words::number(n_more as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_cannot_end_their_elements() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
    }
}

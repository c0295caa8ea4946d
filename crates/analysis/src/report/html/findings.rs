//! All findings, by family. Without a script they can be read and opened; with it they can be filtered and sorted.

use super::{Section, esc, more, path_html, table, words};
use crate::compare::Comparison;
use crate::finding::{Confidence, Family, Finding, FindingId, Location, Severity};
use crate::run::Run;
use std::collections::BTreeSet;

/// How many findings of a family are shown.
const SHOWN: usize = 250;
const MAX_PLACES: usize = 6;

pub(super) fn section(run: &Run, against: Option<&Comparison>) -> Section {
    let new = super::super::new_ids(against);
    let families: String = Family::ALL.iter().map(|family| family_html(run, *family, &new)).collect();
    let body = if families.is_empty() {
        "<p>None.</p>\n".to_owned()
    } else {
        filters(against.is_some()) + &families
    };
    let lead = format!("{} by kind, what matters most first.", words::counted(run.findings.len(), "finding"));
    Section { id: "findings", title: "Findings", lead, body }
}

fn filters(compares: bool) -> String {
    let severity = |name: &str| {
        format!("<label><input type=\"checkbox\" name=\"severity\" value=\"{name}\" checked> {name}</label>")
    };
    let boxes: String = ["critical", "warning", "info"].iter().map(|name| severity(name)).collect();
    let new = if compares { "<label><input type=\"checkbox\" name=\"new\"> only new</label>" } else { "" };
    format!(
        "<form class=\"filters script\"><label>Filter <input type=\"search\" name=\"text\" placeholder=\"path, symbol or words\"></label>{boxes}{new}\
         <output name=\"count\"></output></form>\n"
    )
}

fn family_html(run: &Run, family: Family, new: &BTreeSet<&FindingId>) -> String {
    let mut found: Vec<&Finding> = run.findings.iter().filter(|finding| finding.family == family).collect();
    if found.is_empty() {
        return String::new();
    }
    found.sort_by_key(|finding| (!new.contains(&finding.id), words::rank(finding)));
    let counts = [Severity::Critical, Severity::Warning, Severity::Info]
        .into_iter()
        .map(|severity| (severity, found.iter().filter(|finding| finding.severity == severity).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(severity, n)| {
            let word = words::severity(severity);
            format!(" <span class=\"badge {word}\">{} {word}</span>", words::number(n as u64))
        })
        .collect::<Vec<_>>()
        .concat();
    let rows: String =
        found.iter().take(SHOWN).map(|finding| row(finding, new.contains(&finding.id))).collect();
    let open = if found[0].severity == Severity::Critical { " open" } else { "" };
    format!(
        "<details class=\"family\"{open}><summary><b>{}</b>{counts}</summary>\n<p class=\"quiet\">{}</p>\n{}{}</details>\n",
        words::family(family),
        words::family_meaning(family),
        table(&["Severity", "What", "Where"], &rows).replacen("sortable", "sortable stacked", 1),
        more(found.len(), SHOWN),
    )
}

fn row(finding: &Finding, is_new: bool) -> String {
    let severity = words::severity(finding.severity);
    let is_copy = matches!(finding.family, Family::Clone | Family::CloneBlock);
    let places = places(&finding.locations, if is_copy { 2 } else { MAX_PLACES });
    let new = if is_new { " <span class=\"badge new\">new</span>" } else { "" };
    let rule = finding.rule.as_ref().map_or(String::new(), |rule| format!("<code>{}</code> ", esc(rule)));
    let unsure = match finding.confidence {
        Confidence::High => "",
        Confidence::Medium => " <span class=\"quiet\">(fairly sure)</span>",
        Confidence::Low => " <span class=\"quiet\">(not sure)</span>",
    };
    format!(
        "<tr data-severity=\"{severity}\"{} title=\"{}\"><td data-sort=\"{}\"><span class=\"badge {severity}\">{severity}</span>{new}</td><td>{rule}{}{unsure}</td><td>{places}</td></tr>\n",
        if is_new { " data-new" } else { "" },
        finding.id,
        finding.severity as u8,
        esc(&finding.message),
    )
}

fn places(places: &[Location], n_shown: usize) -> String {
    let place = |place: &Location| {
        let symbol = if place.symbol.is_empty() { String::new() } else { format!(" {}", esc(&place.symbol)) };
        format!(
            "<div><code>{}:{}</code>{symbol}</div>",
            path_html(&place.path.to_string()),
            place.range.start_line
        )
    };
    let n_more = places.len().saturating_sub(n_shown);
    let shown: String = places.iter().take(n_shown).map(place).collect();
    if n_more > 0 { format!("{shown}<div class=\"quiet\">and {n_more} more</div>") } else { shown }
}

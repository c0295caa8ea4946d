//! The callables that are hardest to change.

use super::{PageSection, more, path_html, table};
use crate::run::{AnalysisRun, UnitMeasurements};
use maud::{Markup, html};

const MAX_LISTED_HOT_SPOTS: usize = 30;

pub(super) fn section(run: &AnalysisRun) -> Option<PageSection> {
    let limits = &run.settings;
    let hard = super::super::hard_callables(run);
    if hard.production.is_empty() && hard.tests.is_empty() {
        return None;
    }
    let lead = html! {
        "Functions with many decisions, the hardest first. Above " (limits.cyclomatic) " (cyclomatic) or "
        (limits.cognitive) " (cognitive) they are findings."
    };
    let body = html! {
        (functions(&hard.production, run))
        @if !hard.tests.is_empty() {
            h3 { "In test code" }
            (functions(&hard.tests, run))
        }
    };
    Some(PageSection { id: "hot-spots", title: "Hot spots", lead, body })
}

fn functions(hard: &[&UnitMeasurements], run: &AnalysisRun) -> Markup {
    if hard.is_empty() {
        return html! { p { "None outside test code." } };
    }
    let rows = hard.iter().take(MAX_LISTED_HOT_SPOTS).map(|unit| row(unit, run));
    let heads = ["Function", "File", "#Cyclomatic", "#Cognitive", "#Nesting", "#Lines", "#Parameters"];
    html! { (table(&heads, rows)) (more(hard.len(), MAX_LISTED_HOT_SPOTS)) }
}

fn row(unit: &UnitMeasurements, run: &AnalysisRun) -> Markup {
    let limits = &run.settings;
    let numbers = [
        (unit.cyclomatic, limits.cyclomatic),
        (unit.cognitive, limits.cognitive),
        (unit.nesting, limits.nesting),
        (unit.lines, limits.lines),
        (unit.parameters, limits.parameters),
    ];
    let symbol = if unit.symbol.is_empty() { "(anonymous)" } else { unit.symbol.as_str() };
    html! {
        tr {
            td { code { (symbol) } }
            td { code { (path_html(run.path(unit.file))) ":" (unit.line) } }
            @for (value, limit) in numbers { td class=(number_class(value, limit)) { (value) } }
        }
    }
}

const fn number_class(value: u32, limit: u32) -> &'static str {
    match value {
        value if value > limit.saturating_mul(2) => "n far",
        value if value > limit => "n over",
        _ => "n",
    }
}

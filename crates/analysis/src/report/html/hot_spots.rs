//! The callables that are hardest to change.

use super::{Section, esc, more, path_html, table};
use crate::run::{Measured, Run};

const SHOWN: usize = 30;

pub(super) fn section(run: &Run) -> Option<Section> {
    let limits = &run.settings;
    let hard = super::super::hard_callables(run);
    if hard.production.is_empty() && hard.tests.is_empty() {
        return None;
    }
    let lead = format!(
        "Functions with many decisions, the hardest first. Above {} (cyclomatic) or {} (cognitive) they are findings.",
        limits.cyclomatic, limits.cognitive
    );
    let in_tests = if hard.tests.is_empty() {
        String::new()
    } else {
        format!("<h3>In test code</h3>\n{}", functions(&hard.tests, run))
    };
    let body = functions(&hard.production, run) + &in_tests;
    Some(Section { id: "hot-spots", title: "Hot spots", lead, body })
}

fn functions(hard: &[&Measured], run: &Run) -> String {
    if hard.is_empty() {
        return "<p>None outside test code.</p>\n".to_owned();
    }
    let rows: String = hard.iter().take(SHOWN).map(|unit| row(unit, run)).collect();
    let heads = ["Function", "File", "#Cyclomatic", "#Cognitive", "#Nesting", "#Lines", "#Parameters"];
    table(&heads, &rows) + &more(hard.len(), SHOWN)
}

fn row(unit: &Measured, run: &Run) -> String {
    let limits = &run.settings;
    let path = run.path(unit.file).to_string();
    let numbers = [
        (unit.cyclomatic, limits.cyclomatic),
        (unit.cognitive, limits.cognitive),
        (unit.nesting, limits.nesting),
        (unit.lines, limits.lines),
        (unit.parameters, limits.parameters),
    ];
    let cells: String = numbers.iter().map(|(value, limit)| number(*value, *limit)).collect();
    let symbol = if unit.symbol.is_empty() { "(anonymous)" } else { unit.symbol.as_str() };
    format!(
        "<tr><td><code>{}</code></td><td><code>{}:{}</code></td>{cells}</tr>\n",
        esc(symbol),
        path_html(&path),
        unit.line
    )
}

fn number(value: u32, limit: u32) -> String {
    let class = match value {
        value if value > limit.saturating_mul(2) => "n far",
        value if value > limit => "n over",
        _ => "n",
    };
    format!("<td class=\"{class}\">{value}</td>")
}

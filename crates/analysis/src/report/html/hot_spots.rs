//! The callables that are hardest to change.

use super::{Section, esc, more, path_html, table};
use crate::run::{Measured, Run};

const SHOWN: usize = 30;

pub(super) fn section(run: &Run) -> Option<Section> {
    let limits = &run.settings;
    let mut hot: Vec<&Measured> = run
        .units
        .iter()
        .filter(|unit| unit.kind.is_callable())
        .filter(|unit| {
            unit.cyclomatic * 2 > limits.cyclomatic
                || unit.cognitive * 2 > limits.cognitive
                || unit.lines > limits.lines
        })
        .collect();
    if hot.is_empty() {
        return None;
    }
    hot.sort_by_key(|unit| (u32::MAX - weight(unit, run), unit.file, unit.line));
    let rows: String = hot.iter().take(SHOWN).map(|unit| row(unit, run)).collect();
    let heads = ["Function", "File", "#Cyclomatic", "#Cognitive", "#Nesting", "#Lines", "#Parameters"];
    let lead = format!(
        "Functions with many decisions, the hardest first. Above {} (cyclomatic) or {} (cognitive) they are findings.",
        limits.cyclomatic, limits.cognitive
    );
    let body = table(&heads, &rows) + &more(hot.len(), SHOWN);
    Some(Section { id: "hot-spots", title: "Hot spots", lead, body })
}

/// How hard a callable is, in percent of the limits.
fn weight(unit: &Measured, run: &Run) -> u32 {
    let share = |value: u32, limit: u32| value.saturating_mul(100) / limit.max(1);
    let limits = &run.settings;
    share(unit.cyclomatic, limits.cyclomatic)
        .saturating_add(share(unit.cognitive, limits.cognitive))
        .saturating_add(share(unit.lines, limits.lines) / 2)
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

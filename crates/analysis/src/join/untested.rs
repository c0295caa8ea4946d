//! Untested hot spots: callables with many decisions that tests cover too little.
//!
//! A callable is hot once its decisions begin to cost health: from two thirds of the threshold. Files that no
//! report mentions are not judged.

use super::coverage::{Lines, within};
use crate::facts::Range;
use crate::finding::{Confidence, Draft, Family, Location, Severity};
use crate::run::{Measured, Run};

pub(super) fn drafts(run: &Run, lines: &Lines) -> Vec<Draft> {
    let hot = run.units.iter().filter(|unit| unit.kind.is_callable() && is_hot(unit, run));
    hot.filter_map(|unit| draft(run, unit, lines)).collect()
}

fn is_hot(unit: &Measured, run: &Run) -> bool {
    let limits = (run.settings.cyclomatic * 2 / 3, run.settings.cognitive * 2 / 3);
    unit.cyclomatic > limits.0 || unit.cognitive > limits.1
}

fn draft(run: &Run, unit: &Measured, lines: &Lines) -> Option<Draft> {
    let path = run.path(unit.file);
    let last = unit.line.saturating_add(unit.lines.saturating_sub(1));
    let (n_lines, n_run) = within(lines.get(path)?, unit.line, last);
    if n_lines == 0
        || u64::from(n_run) * 100 >= u64::from(n_lines) * u64::from(run.settings.hot_spot_coverage)
    {
        return None;
    }
    let percent = n_run * 100 / n_lines;
    let language = run.files[unit.file as usize].language.map_or("", crate::Language::name);
    let range =
        Range { start_line: unit.line, start_column: 1, end_line: last.saturating_add(1), end_column: 1 };
    Some(Draft {
        message: format!("tests run {percent} % of {} ({} decisions)", unit.symbol, unit.cyclomatic - 1),
        confidence: Confidence::High,
        content: u64::from_str_radix(&unit.content, 16).unwrap_or_default(),
        value: Some(percent),
        ..Draft::new(
            Family::Untested,
            if n_run == 0 { Severity::Warning } else { Severity::Info },
            format!("{language} {}", unit.symbol),
            vec![Location { path: path.clone(), range, symbol: unit.symbol.clone() }],
        )
    })
}

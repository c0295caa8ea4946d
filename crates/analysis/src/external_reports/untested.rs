//! Untested hot spots: callables with many decisions that tests cover too little.
//!
//! A callable is hot once its decisions begin to cost health: from two thirds of the threshold. Files that no
//! report mentions are not judged.

use super::coverage::{LineCoverage, coverage_between};
use crate::facts::SourceRange;
use crate::finding::{CodeLocation, Confidence, FindingDraft, FindingFamily, Severity};
use crate::run::{AnalysisRun, UnitMeasurements};

pub(super) fn drafts(run: &AnalysisRun, lines: &LineCoverage) -> Vec<FindingDraft> {
    let hot = run.units.iter().filter(|unit| unit.kind.is_callable() && is_hot(unit, run));
    hot.filter_map(|unit| draft(run, unit, lines)).collect()
}

fn is_hot(unit: &UnitMeasurements, run: &AnalysisRun) -> bool {
    let limits = (run.settings.cyclomatic * 2 / 3, run.settings.cognitive * 2 / 3);
    unit.cyclomatic > limits.0 || unit.cognitive > limits.1
}

fn draft(run: &AnalysisRun, unit: &UnitMeasurements, lines: &LineCoverage) -> Option<FindingDraft> {
    let path = run.path(unit.file);
    let last = unit.line.saturating_add(unit.lines.saturating_sub(1));
    let (n_lines, n_run) = coverage_between(lines.get(path)?, unit.line, last);
    if n_lines == 0
        || u64::from(n_run) * 100 >= u64::from(n_lines) * u64::from(run.settings.hot_spot_coverage)
    {
        return None;
    }
    let percent = n_run * 100 / n_lines;
    let language = run.files[unit.file as usize].language.map_or("", crate::Language::name);
    let range = SourceRange {
        start_line: unit.line,
        start_column: 1,
        end_line: last.saturating_add(1),
        end_column: 1,
    };
    Some(FindingDraft {
        message: format!("tests run {percent} % of {} ({} decisions)", unit.symbol, unit.cyclomatic - 1),
        confidence: Confidence::High,
        content: u64::from_str_radix(&unit.content, 16).unwrap_or_default(),
        value: Some(percent),
        ..FindingDraft::new(
            FindingFamily::Untested,
            if n_run == 0 { Severity::Warning } else { Severity::Info },
            format!("{language} {}", unit.symbol),
            vec![CodeLocation { path: path.clone(), range, symbol: unit.symbol.clone() }],
        )
    })
}

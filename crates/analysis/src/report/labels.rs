//! Labels for people: names of families, notes and numbers.

use crate::facts::SourceRange;
use crate::finding::{CodeLocation, Finding, FindingFamily, Severity};
use crate::health::HealthDimension;
use crate::run::AnalysisRun;
use crate::run::LeftOut;

pub(super) fn health(run: &AnalysisRun) -> String {
    match (run.health.score(), run.health.grade()) {
        (Some(score), Some(grade)) => format!("Health {score} of 100, grade {grade}"),
        _ => "Nothing to analyze: no file in a known language".to_owned(),
    }
}

pub(super) const fn family(family: FindingFamily) -> &'static str {
    match family {
        FindingFamily::Clone => "Copies",
        FindingFamily::CloneBlock => "Copied blocks",
        FindingFamily::Complexity => "Complexity",
        FindingFamily::Length => "Long functions",
        FindingFamily::Parameters => "Many parameters",
        FindingFamily::Nesting => "Deep nesting",
        FindingFamily::Coupling => "Coupling",
        FindingFamily::Cohesion => "Low cohesion",
        FindingFamily::Cycle => "Dependency cycles",
        FindingFamily::DanglingImport => "Dangling imports",
        FindingFamily::DeadCode => "Dead code",
        FindingFamily::DuplicatedBranches => "Repeated branches",
        FindingFamily::ParseError => "Unreadable places",
        FindingFamily::Untested => "Untested hot spots",
        FindingFamily::External => "Other tools",
    }
}

pub(super) const fn family_meaning(family: FindingFamily) -> &'static str {
    match family {
        FindingFamily::Clone => {
            "A function, class or file repeats another, perhaps with other names or a few changes."
        }
        FindingFamily::CloneBlock => "A run of statements repeats another one.",
        FindingFamily::Complexity => "A function has too many decisions or is too hard to follow.",
        FindingFamily::Length => "A function is too long.",
        FindingFamily::Parameters => "A function takes too many parameters.",
        FindingFamily::Nesting => "Control flow nests too deeply.",
        FindingFamily::Coupling => "A file or class depends on too many others.",
        FindingFamily::Cohesion => "The methods of a class fall into groups with nothing in common.",
        FindingFamily::Cycle => "Files need each other to load.",
        FindingFamily::DanglingImport => "An import names a part of this project that is not there.",
        FindingFamily::DeadCode => "Nothing in the project uses this code.",
        FindingFamily::DuplicatedBranches => "Two branches of one conditional do the same.",
        FindingFamily::ParseError => "A file holds places that its language's grammar cannot read.",
        FindingFamily::Untested => "A function with many decisions is hardly run by tests.",
        FindingFamily::External => "Another tool reported it.",
    }
}

pub(super) const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::Warning => "warning",
        Severity::Info => "info",
    }
}

pub(super) const fn dimension(dimension: HealthDimension) -> &'static str {
    match dimension {
        HealthDimension::Duplication => "Duplication",
        HealthDimension::Complexity => "Complexity",
        HealthDimension::Structure => "Structure",
        HealthDimension::Dependencies => "Dependencies",
        HealthDimension::DeadCode => "Dead code",
        HealthDimension::Readability => "Readability",
    }
}

pub(super) const fn omission_text(why: LeftOut) -> &'static str {
    match why {
        LeftOut::Suppressed => "suppressed there",
        LeftOut::NoPlace => "without a place",
        LeftOut::OutsideTree => "outside this tree",
        LeftOut::UnknownFile => "of files that this run does not know",
    }
}

/// `12345` as `12,345`.
pub(super) fn format_number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 file`, `2 files`.
pub(super) fn format_count(value: usize, one: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {one}{plural}", format_number(value as u64))
}

/// Formats thousandths with one decimal: `93.4`.
pub(super) fn format_milli(value: u32) -> String {
    format!("{}.{}", value / 1000, value % 1000 / 100)
}

/// Formats a difference of thousandths with its sign, in tenths: `+0.4`, `−1.2`. One that is too small for that gets
/// the digits it takes, because a difference must not look like none: `−0.02`.
pub fn format_health_delta(milli: i32) -> String {
    let sign = if milli < 0 { "−" } else { "+" };
    let size = milli.unsigned_abs();
    let digits = match size {
        0 | 100.. => format_milli(size),
        10..100 => format!("0.0{}", size / 10),
        1..10 => format!("0.00{size}"),
    };
    format!("{sign}{digits}")
}

/// Returns the first and last line of a range, whose end is exclusive.
pub(super) const fn lines(range: &SourceRange) -> (u32, u32) {
    let n_lines = range.n_lines();
    (range.start_line, range.start_line + n_lines - 1)
}

/// Formats `path:line`, with the symbol if there is one.
pub(super) fn format_location(location: &CodeLocation) -> String {
    let place = format!("{}:{}", location.path, location.range.start_line);
    if location.symbol.is_empty() { place } else { format!("{place} {}", location.symbol) }
}

/// The sort order of lists: most important first, then by location.
pub(super) fn rank(finding: &Finding) -> impl Ord + use<'_> {
    let value = u32::MAX - finding.value.unwrap_or(0);
    (std::cmp::Reverse(finding.severity), std::cmp::Reverse(finding.confidence), value, &finding.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_at_a_glance() {
        assert_eq!(format_number(7), "7");
        assert_eq!(format_number(1_234_567), "1,234,567");
        assert_eq!(format_count(1, "file"), "1 file");
        assert_eq!(format_count(1200, "file"), "1,200 files");
        assert_eq!(format_milli(93_456), "93.4");
        let deltas = [-1_250, 400, -99, 20, -7, 0].map(format_health_delta);
        assert_eq!(deltas, ["−1.2", "+0.4", "−0.09", "+0.02", "−0.007", "+0.0"]);
    }
}

//! Findings about single units and files: complexity, length, parameters, nesting, cohesion, repeated
//! branches, syntax errors.

use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, SourceRange, UnitKind};
use crate::finding::{Confidence, FindingDraft, FindingFamily, Severity};
use crate::hash;
use crate::settings::AnalysisSettings;

pub(crate) fn drafts(file: &CorpusFile, settings: &AnalysisSettings) -> Vec<FindingDraft> {
    let mut drafts = Vec::new();
    for unit in &file.facts.units {
        if unit.kind.is_callable() || unit.kind == UnitKind::File {
            drafts.extend(complexity(file, unit, settings));
            drafts.extend(nesting(file, unit, settings));
        }
        if unit.kind.is_callable() {
            drafts.extend(length(file, unit, settings));
            drafts.extend(parameters(file, unit, settings));
        }
        drafts.extend(cohesion(file, unit, settings));
    }
    drafts.extend(branches(file));
    drafts.extend(parse_error(file));
    drafts
}

fn of_unit(
    file: &CorpusFile,
    unit: &CodeUnit,
    family: FindingFamily,
    severity: Severity,
    value: u32,
) -> FindingDraft {
    let name = match unit.kind {
        UnitKind::File => String::from_utf8_lossy(file.path.file_name()).into_owned(),
        // A label is unique in its file at most.
        UnitKind::Lambda => format!("{} {}", file.path, unit.name),
        UnitKind::Class | UnitKind::Function | UnitKind::Method => unit.name.clone(),
    };
    FindingDraft {
        content: unit.exact,
        value: Some(value),
        ..FindingDraft::new(
            family,
            severity,
            format!("{} {name}", file.language.name()),
            vec![file.unit_location(unit)],
        )
    }
}

fn complexity(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> Option<FindingDraft> {
    let over = |factor: u32| {
        unit.cyclomatic > settings.cyclomatic * factor || unit.cognitive > settings.cognitive * factor
    };
    if !over(1) {
        return None;
    }
    let severity = if over(2) { Severity::Critical } else { Severity::Warning };
    Some(FindingDraft {
        message: format!("{} decisions, cognitive complexity {}", unit.cyclomatic - 1, unit.cognitive),
        ..of_unit(file, unit, FindingFamily::Complexity, severity, unit.cyclomatic.max(unit.cognitive))
    })
}

fn nesting(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> Option<FindingDraft> {
    (unit.nesting > settings.nesting).then(|| FindingDraft {
        message: format!("control flow nests {} deep", unit.nesting),
        ..of_unit(file, unit, FindingFamily::Nesting, Severity::Info, unit.nesting)
    })
}

fn length(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> Option<FindingDraft> {
    let n_lines = unit.range.n_lines();
    (n_lines > settings.lines).then(|| FindingDraft {
        message: format!("{n_lines} lines"),
        ..of_unit(file, unit, FindingFamily::Length, Severity::Info, n_lines)
    })
}

fn parameters(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> Option<FindingDraft> {
    let n_parameters = crate::facts::count(unit.parameters.len());
    (n_parameters > settings.parameters).then(|| FindingDraft {
        message: format!("{n_parameters} parameters"),
        ..of_unit(file, unit, FindingFamily::Parameters, Severity::Info, n_parameters)
    })
}

fn cohesion(file: &CorpusFile, unit: &CodeUnit, settings: &AnalysisSettings) -> Option<FindingDraft> {
    let n_groups = unit.lcom4.filter(|n_groups| *n_groups > settings.lcom4)?;
    Some(FindingDraft {
        message: format!("its methods fall into {n_groups} groups with nothing in common"),
        confidence: Confidence::Medium,
        ..of_unit(file, unit, FindingFamily::Cohesion, Severity::Info, n_groups)
    })
}

/// Returns the findings about classes that name too many other classes: (unit, number of classes).
pub(crate) fn couplings<'a>(
    file: &'a CorpusFile,
    classes: &'a [(u32, u32)],
    settings: &'a AnalysisSettings,
) -> impl Iterator<Item = FindingDraft> + 'a {
    let over = classes.iter().filter(|(_, n_named)| *n_named > settings.class_coupling);
    over.map(|&(class, n_named)| FindingDraft {
        message: format!("it uses {n_named} other classes of the project"),
        confidence: Confidence::Medium,
        ..of_unit(file, &file.facts.units[class as usize], FindingFamily::Coupling, Severity::Info, n_named)
    })
}

fn branches(file: &CorpusFile) -> impl Iterator<Item = FindingDraft> + '_ {
    file.facts.twins.iter().map(|twin| {
        let unit = &file.facts.units[twin.unit as usize];
        let locations = vec![file.location(twin.second, &unit.name), file.location(twin.first, &unit.name)];
        FindingDraft {
            message: format!("this branch does the same as the one at line {}", twin.first.start_line),
            content: twin.content,
            ..FindingDraft::new(
                FindingFamily::DuplicatedBranches,
                Severity::Info,
                format!("{} {:016x}", unit.name, twin.content),
                locations,
            )
        }
    })
}

fn parse_error(file: &CorpusFile) -> Option<FindingDraft> {
    let first = *file.facts.errors.first()?;
    let is_strict = crate::language::spec(file.language).strict_grammar;
    let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
    let symbol = enclosing_unit_name(file, first);
    Some(FindingDraft {
        message: match file.facts.n_errors {
            1 => format!("line {} cannot be read", first.start_line),
            n => format!("{n} places cannot be read, the first at line {}", first.start_line),
        },
        // A grammar may lag behind its language.
        confidence: if is_strict { Confidence::Medium } else { Confidence::Low },
        content: hash::of_bytes(name.as_bytes()),
        value: Some(file.facts.n_errors),
        ..FindingDraft::new(
            FindingFamily::ParseError,
            if is_strict { Severity::Critical } else { Severity::Info },
            name,
            vec![file.location(first, symbol)],
        )
    })
}

/// Returns the name of the innermost unit around a location.
fn enclosing_unit_name(file: &CorpusFile, range: SourceRange) -> &str {
    let inside = file.facts.units.iter().rfind(|unit| unit.range.contains(&range));
    inside.map_or("", |unit| &unit.name)
}

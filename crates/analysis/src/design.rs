//! Findings about single units and files: complexity, length, parameters, nesting, cohesion, repeated
//! branches, syntax errors.

use crate::corpus::File;
use crate::facts::{Range, Unit, UnitKind};
use crate::finding::{Confidence, Draft, Family, Severity};
use crate::hash;
use crate::settings::Settings;

pub(crate) fn drafts(file: &File, settings: &Settings) -> Vec<Draft> {
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

fn of_unit(file: &File, unit: &Unit, family: Family, severity: Severity, value: u32) -> Draft {
    let name = if unit.name.is_empty() {
        String::from_utf8_lossy(file.path.file_name()).into_owned()
    } else {
        unit.name.clone()
    };
    Draft {
        content: unit.exact,
        value: Some(value),
        ..Draft::new(
            family,
            severity,
            format!("{} {name}", file.language.name()),
            vec![file.unit_location(unit)],
        )
    }
}

fn complexity(file: &File, unit: &Unit, settings: &Settings) -> Option<Draft> {
    let over = |factor: u32| {
        unit.cyclomatic > settings.cyclomatic * factor || unit.cognitive > settings.cognitive * factor
    };
    if !over(1) {
        return None;
    }
    let severity = if over(2) { Severity::Critical } else { Severity::Warning };
    Some(Draft {
        message: format!("{} decisions, cognitive complexity {}", unit.cyclomatic - 1, unit.cognitive),
        ..of_unit(file, unit, Family::Complexity, severity, unit.cyclomatic.max(unit.cognitive))
    })
}

fn nesting(file: &File, unit: &Unit, settings: &Settings) -> Option<Draft> {
    (unit.nesting > settings.nesting).then(|| Draft {
        message: format!("control flow nests {} deep", unit.nesting),
        ..of_unit(file, unit, Family::Nesting, Severity::Info, unit.nesting)
    })
}

fn length(file: &File, unit: &Unit, settings: &Settings) -> Option<Draft> {
    let n_lines = unit.range.n_lines();
    (n_lines > settings.lines).then(|| Draft {
        message: format!("{n_lines} lines"),
        ..of_unit(file, unit, Family::Length, Severity::Info, n_lines)
    })
}

fn parameters(file: &File, unit: &Unit, settings: &Settings) -> Option<Draft> {
    let n_parameters = crate::facts::count(unit.parameters.len());
    (n_parameters > settings.parameters).then(|| Draft {
        message: format!("{n_parameters} parameters"),
        ..of_unit(file, unit, Family::Parameters, Severity::Info, n_parameters)
    })
}

fn cohesion(file: &File, unit: &Unit, settings: &Settings) -> Option<Draft> {
    let n_groups = unit.lcom4.filter(|n_groups| *n_groups > settings.lcom4)?;
    Some(Draft {
        message: format!("its methods fall into {n_groups} groups with nothing in common"),
        confidence: Confidence::Medium,
        ..of_unit(file, unit, Family::Cohesion, Severity::Info, n_groups)
    })
}

/// Returns the findings about classes that name too many other classes: (unit, number of classes).
pub(crate) fn couplings<'a>(
    file: &'a File,
    classes: &'a [(u32, u32)],
    settings: &'a Settings,
) -> impl Iterator<Item = Draft> + 'a {
    let over = classes.iter().filter(|(_, n_named)| *n_named > settings.class_coupling);
    over.map(|&(class, n_named)| Draft {
        message: format!("it uses {n_named} other classes of the project"),
        confidence: Confidence::Medium,
        ..of_unit(file, &file.facts.units[class as usize], Family::Coupling, Severity::Info, n_named)
    })
}

fn branches(file: &File) -> impl Iterator<Item = Draft> + '_ {
    file.facts.twins.iter().map(|twin| {
        let unit = &file.facts.units[twin.unit as usize];
        let locations = vec![file.location(twin.second, &unit.name), file.location(twin.first, &unit.name)];
        Draft {
            message: format!("this branch does the same as the one at line {}", twin.first.start_line),
            content: twin.content,
            ..Draft::new(
                Family::DuplicatedBranches,
                Severity::Info,
                format!("{} {:016x}", unit.name, twin.content),
                locations,
            )
        }
    })
}

fn parse_error(file: &File) -> Option<Draft> {
    let first = *file.facts.errors.first()?;
    let is_strict = crate::language::spec(file.language).strict_grammar;
    let name = String::from_utf8_lossy(file.path.file_name()).into_owned();
    let symbol = around(file, first);
    Some(Draft {
        message: match file.facts.n_errors {
            1 => format!("line {} cannot be read", first.start_line),
            n => format!("{n} places cannot be read, the first at line {}", first.start_line),
        },
        // A grammar may lag behind its language.
        confidence: if is_strict { Confidence::Medium } else { Confidence::Low },
        content: hash::of_bytes(name.as_bytes()),
        value: Some(file.facts.n_errors),
        ..Draft::new(
            Family::ParseError,
            if is_strict { Severity::Critical } else { Severity::Info },
            name,
            vec![file.location(first, symbol)],
        )
    })
}

/// Returns the name of the innermost unit around a location.
fn around(file: &File, range: Range) -> &str {
    let inside = file.facts.units.iter().rfind(|unit| unit.range.contains(&range));
    inside.map_or("", |unit| &unit.name)
}

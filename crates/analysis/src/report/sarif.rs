//! A run as SARIF 2.1.0, for code-scanning services and editors.
//!
//! Finding ids are the fingerprints, so services match findings across edits as Probity does. Regions have only lines:
//! our columns count bytes, which SARIF does not support. Files that were not analyzed are notifications (law 6).

use super::labels;
use crate::compare::AnalysisComparison;
use crate::facts::{FileNote, count};
use crate::finding::{CloneType, CodeLocation, Confidence, Finding, FindingFamily, FindingId, Severity};
use crate::run::{AnalysisRun, RunFile};
use probity_paths::RepoPath;
use serde::Serialize;
use std::collections::BTreeMap;

const SARIF_SCHEMA_URL: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// What every path is relative to.
const SOURCE_ROOT: &str = "SRCROOT";
const MAX_NOTIFICATIONS: usize = 1_000;
const MAX_RELATED_LOCATIONS: usize = 20;

/// Renders the run. With a comparison that ends in this run, each finding says whether it is new, and
/// findings that are gone are listed as absent.
pub fn sarif(run: &AnalysisRun, against: Option<&AnalysisComparison>) -> String {
    let against = against.filter(|comparison| comparison.incomparable_because.is_empty());
    let gone: &[Finding] = against.map_or(&[], |comparison| &comparison.improvements);
    let rules = SarifRuleIndex::of(run.findings.iter().chain(gone));
    let new = super::new_ids(against);
    let state = |finding: &Finding| if new.contains(&finding.id) { "new" } else { "unchanged" };
    let kept = run.findings.iter().map(|finding| rules.result(finding, against.map(|_| state(finding))));
    let absent = gone.iter().map(|finding| rules.result(finding, Some("absent")));
    let log = SarifLog {
        schema: SARIF_SCHEMA_URL,
        runs: [SarifRun {
            automation_details: AutomationDetails { id: "probity/analyze/" },
            column_kind: "unicodeCodePoints",
            invocations: [SarifInvocation {
                execution_successful: true,
                tool_execution_notifications: notifications(run),
            }],
            original_uri_base_ids: BTreeMap::from([(
                SOURCE_ROOT,
                UriBase { description: text("The root of the analyzed tree.") },
            )]),
            properties: RunProperties {
                analyser: &run.analyser,
                grade: run.health.grade(),
                health: run.health.score(),
                run_id: run.id.0.to_hex(),
            },
            results: kept.chain(absent).collect(),
            tool: SarifTool {
                driver: SarifDriver {
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    name: "Probity",
                    rules: rules.descriptions(),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                },
            },
        }],
        version: "2.1.0",
    };
    let mut text = serde_json::to_string_pretty(&log).expect("strings and integers always serialise");
    text.push('\n');
    text
}

fn text(text: impl Into<String>) -> SarifMessage {
    SarifMessage { text: text.into() }
}

/// The rules of the findings, by name.
struct SarifRuleIndex<'a>(BTreeMap<&'a str, (usize, FindingFamily)>);

impl<'a> SarifRuleIndex<'a> {
    fn of(findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut rules: BTreeMap<&str, (usize, FindingFamily)> =
            findings.map(|finding| (name(finding), (0, finding.family))).collect();
        for (index, rule) in rules.values_mut().enumerate() {
            rule.0 = index;
        }
        Self(rules)
    }

    fn descriptions(&self) -> Vec<SarifRule<'a>> {
        let describe = |(id, (_, family)): (&&'a str, &(usize, FindingFamily))| SarifRule {
            default_configuration: SarifConfiguration { level: "warning" },
            full_description: text(labels::family_meaning(*family)),
            id,
            name: labels::family(*family),
            short_description: text(labels::family(*family)),
        };
        self.0.iter().map(describe).collect()
    }

    fn result<'f>(&self, finding: &'f Finding, state: Option<&'static str>) -> SarifResult<'f> {
        let name = name(finding);
        SarifResult {
            baseline_state: state,
            level: level(finding.severity),
            locations: finding.locations.first().map(SarifLocation::of).into_iter().collect(),
            message: text(message(finding)),
            partial_fingerprints: BTreeMap::from([("probity/v1", &finding.id)]),
            properties: ResultProperties {
                clone_type: finding.clone_type,
                confidence: match finding.confidence {
                    Confidence::High => "high",
                    Confidence::Medium => "medium",
                    Confidence::Low => "low",
                },
                family: finding.family.as_str(),
                value: finding.value,
            },
            related_locations: related(&finding.locations),
            rule_id: name,
            rule_index: self.0[name].0,
        }
    }
}

/// Returns the rule of a finding: its family, or the rule of the external tool.
fn name(finding: &Finding) -> &str {
    finding.rule.as_deref().unwrap_or(finding.family.as_str())
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn message(finding: &Finding) -> String {
    let symbol = finding.locations.first().map_or("", |place| place.symbol.as_str());
    if symbol.is_empty() || finding.message.contains(symbol) {
        return finding.message.clone();
    }
    format!("{symbol}: {}", finding.message)
}

fn related(places: &[CodeLocation]) -> Vec<SarifLocation<'_>> {
    let n_more = places.len().saturating_sub(1 + MAX_RELATED_LOCATIONS);
    let others = places.iter().skip(1).take(MAX_RELATED_LOCATIONS).zip(1..);
    let related = others.map(|(place, number)| {
        let mut words = labels::format_location(place);
        if number == MAX_RELATED_LOCATIONS && n_more > 0 {
            words = format!("{words}, and {n_more} more");
        }
        SarifLocation { id: Some(number), message: Some(text(words)), ..SarifLocation::of(place) }
    });
    related.collect()
}

impl<'a> SarifLocation<'a> {
    fn of(place: &'a CodeLocation) -> Self {
        let (first, last) = labels::lines(&place.range);
        let logical = Some(place.symbol.as_str()).filter(|symbol| !symbol.is_empty());
        Self {
            logical_locations: logical.map(|name| [LogicalLocation { fully_qualified_name: name }]),
            physical_location: PhysicalLocation {
                region: Some(SarifRegion { end_line: last.max(1), start_line: first.max(1) }),
                ..PhysicalLocation::of(&place.path)
            },
            ..Self::default()
        }
    }
}

impl PhysicalLocation {
    fn of(path: &RepoPath) -> Self {
        Self {
            artifact_location: ArtifactLocation { uri: uri(path), uri_base_id: SOURCE_ROOT },
            region: None,
        }
    }
}

/// Encodes a path as a relative URI: every byte outside the unreserved ones is escaped, so any file name works.
fn uri(path: &RepoPath) -> String {
    let encoded = |&byte: &u8| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            char::from(byte).to_string()
        } else {
            format!("%{byte:02X}")
        }
    };
    path.as_bytes().iter().map(encoded).collect()
}

/// The files that were not analyzed, or only in part.
fn notifications(run: &AnalysisRun) -> Vec<SarifNotification<'_>> {
    let noted = run.files.iter().flat_map(|file| file.notes.iter().map(move |note| (file, *note)));
    let mut all: Vec<(&RunFile, FileNote)> = noted.collect();
    // Failures come before intentional omissions.
    all.sort_by_key(|(_, note)| note.is_skip());
    let n_more = count(all.len().saturating_sub(MAX_NOTIFICATIONS));
    let mut told: Vec<SarifNotification<'_>> =
        all.into_iter().take(MAX_NOTIFICATIONS).map(|(file, note)| notification(file, note)).collect();
    if n_more > 0 {
        let message = text(format!("and {n_more} more file{}", if n_more == 1 { "" } else { "s" }));
        told.push(SarifNotification { descriptor: None, level: "note", locations: Vec::new(), message });
    }
    told
}

fn notification(file: &RunFile, note: FileNote) -> SarifNotification<'_> {
    let place = PhysicalLocation::of(&file.path);
    SarifNotification {
        descriptor: Some(SarifDescriptor { id: note.as_str() }),
        level: if note.is_skip() { "note" } else { "warning" },
        locations: vec![SarifLocation { physical_location: place, ..SarifLocation::default() }],
        message: text(format!("{}: {}", file.path, note.label())),
    }
}

// The part of SARIF that is written; members in the order of their names.

#[derive(Serialize)]
struct SarifLog<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    runs: [SarifRun<'a>; 1],
    version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<'a> {
    automation_details: AutomationDetails,
    column_kind: &'static str,
    invocations: [SarifInvocation<'a>; 1],
    original_uri_base_ids: BTreeMap<&'static str, UriBase>,
    properties: RunProperties<'a>,
    results: Vec<SarifResult<'a>>,
    tool: SarifTool<'a>,
}

#[derive(Serialize)]
struct AutomationDetails {
    id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifInvocation<'a> {
    execution_successful: bool,
    tool_execution_notifications: Vec<SarifNotification<'a>>,
}

#[derive(Serialize)]
struct UriBase {
    description: SarifMessage,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunProperties<'a> {
    analyser: &'a str,
    grade: Option<char>,
    health: Option<u32>,
    run_id: String,
}

#[derive(Serialize)]
struct SarifTool<'a> {
    driver: SarifDriver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifDriver<'a> {
    information_uri: &'static str,
    name: &'static str,
    rules: Vec<SarifRule<'a>>,
    semantic_version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule<'a> {
    default_configuration: SarifConfiguration,
    full_description: SarifMessage,
    id: &'a str,
    name: &'static str,
    short_description: SarifMessage,
}

#[derive(Serialize)]
struct SarifConfiguration {
    level: &'static str,
}

#[derive(Serialize)]
struct SarifMessage {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    baseline_state: Option<&'static str>,
    level: &'static str,
    locations: Vec<SarifLocation<'a>>,
    message: SarifMessage,
    partial_fingerprints: BTreeMap<&'static str, &'a FindingId>,
    properties: ResultProperties,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<SarifLocation<'a>>,
    rule_id: &'a str,
    rule_index: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultProperties {
    #[serde(skip_serializing_if = "Option::is_none")]
    clone_type: Option<CloneType>,
    confidence: &'static str,
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<u32>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logical_locations: Option<[LogicalLocation<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<SarifMessage>,
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation<'a> {
    fully_qualified_name: &'a str,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<SarifRegion>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactLocation {
    uri: String,
    uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    end_line: u32,
    start_line: u32,
}

#[derive(Serialize)]
struct SarifNotification<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    descriptor: Option<SarifDescriptor<'a>>,
    level: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<SarifLocation<'a>>,
    message: SarifMessage,
}

#[derive(Serialize)]
struct SarifDescriptor<'a> {
    id: &'a str,
}

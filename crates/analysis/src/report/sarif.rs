//! A run as SARIF 2.1.0, for code-scanning services and editors.
//!
//! Finding ids are the fingerprints, so services match findings across edits as Probity does. Regions have only lines:
//! our columns count bytes, which SARIF does not support. Files that were not analyzed are notifications (law 6).

use super::words;
use crate::compare::Comparison;
use crate::facts::{Note, count};
use crate::finding::{Confidence, Family, Finding, FindingId, Location, Severity};
use crate::run::{Run, RunFile};
use probity_paths::RepoPath;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const MAX_NOTIFICATIONS: usize = 1_000;
const MAX_RELATED: usize = 20;

/// Renders the run. With a comparison that ends in this run, each finding says whether it is new, and
/// findings that are gone are listed as absent.
pub fn sarif(run: &Run, against: Option<&Comparison>) -> String {
    let against = against.filter(|comparison| comparison.incomparable_because.is_empty());
    let gone: &[Finding] = against.map_or(&[], |comparison| &comparison.improvements);
    let rules = Rules::of(run.findings.iter().chain(gone));
    let new = super::new_ids(against);
    let mut results: Vec<Value> = Vec::with_capacity(run.findings.len() + gone.len());
    for finding in &run.findings {
        results.push(rules.result(finding, against.map(|_| state(finding, &new))));
    }
    results.extend(gone.iter().map(|finding| rules.result(finding, Some("absent"))));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Probity",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules.descriptions(),
            } },
            "automationDetails": { "id": "probity/analyze/" },
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { "SRCROOT": { "description": { "text": "The root of the analysed tree." } } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications(run),
            }],
            "results": results,
            "properties": {
                "runId": run.id.0.to_hex(),
                "analyser": run.analyser,
                "health": run.health.score(),
                "grade": run.health.grade().map(String::from),
            },
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).expect("strings and integers always serialise");
    text.push('\n');
    text
}

fn state(finding: &Finding, new: &BTreeSet<&FindingId>) -> &'static str {
    if new.contains(&finding.id) { "new" } else { "unchanged" }
}

/// The rules of the findings, by name.
struct Rules<'a>(BTreeMap<&'a str, (usize, Family)>);

impl<'a> Rules<'a> {
    fn of(findings: impl Iterator<Item = &'a Finding>) -> Self {
        let mut rules: BTreeMap<&str, (usize, Family)> =
            findings.map(|finding| (name(finding), (0, finding.family))).collect();
        for (index, rule) in rules.values_mut().enumerate() {
            rule.0 = index;
        }
        Self(rules)
    }

    fn descriptions(&self) -> Vec<Value> {
        let describe = |(name, (_, family)): (&&str, &(usize, Family))| {
            json!({
                "id": name,
                "name": words::family(*family),
                "shortDescription": { "text": words::family(*family) },
                "fullDescription": { "text": words::family_meaning(*family) },
                "defaultConfiguration": { "level": "warning" },
            })
        };
        self.0.iter().map(describe).collect()
    }

    fn result(&self, finding: &Finding, state: Option<&str>) -> Value {
        let name = name(finding);
        let mut result = json!({
            "ruleId": name,
            "ruleIndex": self.0[name].0,
            "level": level(finding.severity),
            "message": { "text": message(finding) },
            "locations": finding.locations.iter().take(1).map(location).collect::<Vec<_>>(),
            "partialFingerprints": { "probity/v1": finding.id },
            "properties": properties(finding),
        });
        let related: Vec<Value> = related(&finding.locations);
        if !related.is_empty() {
            result["relatedLocations"] = Value::Array(related);
        }
        if let Some(state) = state {
            result["baselineState"] = json!(state);
        }
        result
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

fn properties(finding: &Finding) -> Value {
    let confidence = match finding.confidence {
        Confidence::High => "high",
        Confidence::Medium => "medium",
        Confidence::Low => "low",
    };
    let mut properties = json!({ "confidence": confidence, "family": finding.family.as_str() });
    if let Some(value) = finding.value {
        properties["value"] = json!(value);
    }
    if let Some(clone_type) = finding.clone_type {
        properties["cloneType"] = json!(clone_type);
    }
    properties
}

fn location(place: &Location) -> Value {
    let (first, last) = words::lines(&place.range);
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": artifact(&place.path),
        "region": { "startLine": first.max(1), "endLine": last.max(1) },
    } });
    if !place.symbol.is_empty() {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": place.symbol }]);
    }
    location
}

fn related(places: &[Location]) -> Vec<Value> {
    let others = places.iter().skip(1).take(MAX_RELATED).enumerate();
    let mut related: Vec<Value> = others
        .map(|(index, place)| {
            let mut related = location(place);
            related["id"] = json!(index + 1);
            related["message"] = json!({ "text": words::place(place) });
            related
        })
        .collect();
    let n_more = places.len().saturating_sub(1 + MAX_RELATED);
    if let Some(last) = related.last_mut().filter(|_| n_more > 0) {
        let text = format!("{}, and {n_more} more", last["message"]["text"].as_str().unwrap_or_default());
        last["message"] = json!({ "text": text });
    }
    related
}

fn artifact(path: &RepoPath) -> Value {
    json!({ "uri": uri(path), "uriBaseId": "SRCROOT" })
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

/// Returns the files that were not analyzed, or only in part.
fn notifications(run: &Run) -> Vec<Value> {
    let noted = run.files.iter().flat_map(|file| file.notes.iter().map(move |note| (file, *note)));
    let mut all: Vec<(&RunFile, Note)> = noted.collect();
    // Failures come before intentional omissions.
    all.sort_by_key(|(_, note)| note.is_skip());
    let n_more = count(all.len().saturating_sub(MAX_NOTIFICATIONS));
    let mut told: Vec<Value> =
        all.into_iter().take(MAX_NOTIFICATIONS).map(|(file, note)| notification(file, note)).collect();
    if n_more > 0 {
        told.push(json!({ "level": "note", "message": { "text": format!("and {n_more} more files") } }));
    }
    told
}

fn notification(file: &RunFile, note: Note) -> Value {
    let level = if note.is_skip() { "note" } else { "warning" };
    json!({
        "level": level,
        "descriptor": { "id": note.as_str() },
        "message": { "text": format!("{}: {}", file.path, words::note(note)) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact(&file.path) } }],
    })
}

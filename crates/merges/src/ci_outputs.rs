//! Findings in the formats of other programs: a summary for a pull request, and SARIF. Text from the tree is untrusted, so
//! both formats escape it; lists are bounded and say what they leave out.

use crate::description::what_happened;
use probity_api::merge_audit::{AuditOutcome, FindingClass, MergeAuditAnswer, MergeFinding};
use probity_core::markup::{markdown_code as code, markdown_text as plain};
use probity_paths::RepoPath;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

const MAX_LISTED_FINDINGS: usize = 40;
const MAX_LISTED_LINES: usize = 8;

const SARIF_SCHEMA_URL: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Renders audits as Markdown, for `$GITHUB_STEP_SUMMARY` or a comment in a pull request.
pub fn merge_summary(audits: &[&MergeAuditAnswer]) -> String {
    let findings: Vec<(&MergeAuditAnswer, &MergeFinding)> =
        audits.iter().flat_map(|audit| audit.findings.iter().map(move |finding| (*audit, finding))).collect();
    let n_open = findings.iter().filter(|(_, finding)| finding.is_open()).count();
    let outcome = audits.iter().map(|audit| audit.outcome).max().unwrap_or(AuditOutcome::Clean);
    let heading = match outcome {
        AuditOutcome::Clean => "✅ Probity: every edit of both sides is in the merge".to_owned(),
        AuditOutcome::Contested => "⚠️ Probity: both sides edited the same places".to_owned(),
        AuditOutcome::Lost if n_open == 1 => "❌ Probity: the merge lost an edit".to_owned(),
        AuditOutcome::Lost => format!("❌ Probity: the merge lost {n_open} edits"),
    };
    let mut page = format!("## {heading}\n\n");
    let mut listed = findings.clone();
    listed.sort_by_key(|(_, finding)| !finding.is_open());
    for (audit, finding) in listed.iter().take(MAX_LISTED_FINDINGS) {
        write_finding(&mut page, audit, finding);
    }
    if let Some(n_more) = findings.len().checked_sub(MAX_LISTED_FINDINGS).filter(|number| *number > 0) {
        let _ = writeln!(page, "\nAnd {n_more} more.");
    }
    if let Some(audit) = audits.iter().find(|audit| audit.outcome == AuditOutcome::Lost) {
        let merge = audit.merge.as_deref().map_or("HEAD", |id| id.get(..10).unwrap_or(id));
        let _ = writeln!(
            page,
            "\nPut them back: `probity merge audit {merge} --restore lost --why …`. Keep the merge as it is: \
             `probity merge audit {merge} --accept ID --why …`."
        );
    }
    page
}

fn write_finding(page: &mut String, audit: &MergeAuditAnswer, finding: &MergeFinding) {
    let state = if finding.is_accepted() { " (accepted)" } else { "" };
    let side = finding.side.map_or_else(String::new, |side| format!(" {side}"));
    let line = finding.lines.map_or_else(String::new, |[first, _]| format!(":{first}"));
    let entity = finding.entity.as_ref().map_or_else(String::new, |name| format!(" in {}", code(name)));
    let _ = writeln!(
        page,
        "* **{}{state}**{side} {}{entity}: {} {}",
        finding.class,
        code(&format!("{}{line}", finding.path)),
        plain(&what_happened(finding)),
        code(&finding.id)
    );
    for commit in finding.commits.iter().take(3) {
        let id = commit.id.get(..10).unwrap_or(&commit.id);
        let _ =
            writeln!(page, "  * made by {}: {} {}", plain(&commit.author), plain(&commit.subject), code(id));
    }
    if let Some(by) = &audit.merged_by {
        let _ = writeln!(page, "  * merged by {}: {}", plain(&by.author), plain(&by.subject));
    }
    if let Some(decision) = &finding.decision {
        let _ = writeln!(
            page,
            "  * {} decided `{}`: {}",
            plain(&decision.by),
            decision.chosen,
            plain(&decision.why)
        );
    }
    for line in finding.lost.iter().take(MAX_LISTED_LINES) {
        let _ = writeln!(page, "  * {}", code(line.trim()));
    }
    if let Some(n_more) = finding.lost.len().checked_sub(MAX_LISTED_LINES).filter(|number| *number > 0) {
        let _ = writeln!(page, "  * and {n_more} more lines");
    }
}

/// Renders audits as SARIF 2.1.0, for code scanning services and editors. Findings keep their ids as fingerprints; what was
/// accepted is suppressed with its reason.
pub fn merge_sarif(audits: &[&MergeAuditAnswer]) -> String {
    let findings = || audits.iter().flat_map(|audit| &audit.findings);
    let mut rules: Vec<FindingClass> = findings().map(|finding| finding.class).collect();
    rules.sort();
    rules.dedup();
    let log = SarifLog {
        schema: SARIF_SCHEMA_URL,
        version: "2.1.0",
        runs: [SarifRun {
            tool: SarifTool {
                driver: SarifDriver {
                    name: "Probity",
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(|class| rule_of(*class)).collect(),
                },
            },
            automation_details: AutomationDetails { id: "probity/merge-audit/" },
            results: findings().map(result_of).collect(),
        }],
    };
    let mut text = serde_json::to_string_pretty(&log).expect("strings and integers always serialize");
    text.push('\n');
    text
}

fn rule_of(class: FindingClass) -> SarifRule {
    let meaning = match class {
        FindingClass::Lost => {
            "An edit of one side is not in the result, and nothing of the other side explains that."
        }
        FindingClass::Contested => "Both sides edited the same place, and the result has one of the edits.",
        FindingClass::Superseded => "The other side once had the edit and went on from there.",
        FindingClass::TwoWay => "The sides have no common ancestor: a hint.",
        FindingClass::Markers => "Conflict markers were committed.",
        FindingClass::DoesNotParse => "The result does not parse, although both sides do.",
        FindingClass::Duplicate => "The result defines something twice.",
        FindingClass::Dangling => "The result calls what the other side removed.",
        FindingClass::Signature => "The result calls with a number of arguments that no longer fits.",
    };
    SarifRule { id: format!("merge/{class}"), short_description: SarifMessage { text: meaning.to_owned() } }
}

fn result_of(finding: &MergeFinding) -> SarifResult {
    let region = finding.merged.as_ref().map(|version| version.lines).or(finding.lines);
    let author = finding.commits.first();
    let made_by =
        author.map_or_else(String::new, |commit| format!(", made by {}: {}", commit.author, commit.subject));
    let side = finding.side.map_or_else(String::new, |side| format!("{side}: "));
    SarifResult {
        rule_id: format!("merge/{}", finding.class),
        level: match (finding.is_open(), finding.class) {
            (true, _) => "error",
            (false, FindingClass::Superseded | FindingClass::TwoWay) => "note",
            _ => "warning",
        },
        message: SarifMessage { text: format!("{side}{}{made_by}", what_happened(finding)) },
        locations: [SarifLocation {
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: relative_uri(&finding.path) },
                region: region
                    .map(|[first, last]| SarifRegion { start_line: first.max(1), end_line: last.max(1) }),
            },
        }],
        partial_fingerprints: BTreeMap::from([
            ("probityFinding/v1", finding.id.clone()),
            ("probityConflict/v1", finding.conflict.clone()),
        ]),
        suppressions: finding
            .decision
            .as_ref()
            .filter(|_| finding.is_accepted())
            .map(|decision| SarifSuppression {
                kind: "external",
                justification: format!("{}: {}", decision.by, decision.why),
            })
            .into_iter()
            .collect(),
    }
}

/// Encodes a path as a relative URI: every byte outside the unreserved ones is escaped, so any file name works.
fn relative_uri(path: &RepoPath) -> String {
    let mut uri = String::new();
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[derive(Serialize)]
struct SarifLog {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun {
    tool: SarifTool,
    automation_details: AutomationDetails,
    results: Vec<SarifResult>,
}

#[derive(Serialize)]
struct SarifTool {
    driver: SarifDriver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifDriver {
    name: &'static str,
    information_uri: &'static str,
    semantic_version: &'static str,
    rules: Vec<SarifRule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: String,
    short_description: SarifMessage,
}

#[derive(Serialize)]
struct AutomationDetails {
    id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult {
    rule_id: String,
    level: &'static str,
    message: SarifMessage,
    locations: [SarifLocation; 1],
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<SarifSuppression>,
}

#[derive(Serialize)]
struct SarifMessage {
    text: String,
}

#[derive(Serialize)]
struct SarifSuppression {
    kind: &'static str,
    justification: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<SarifRegion>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: u32,
    end_line: u32,
}

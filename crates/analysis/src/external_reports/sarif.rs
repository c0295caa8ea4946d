//! Reads SARIF 2.1.0: findings of other tools.
//!
//! The id of such a finding is derived from tool, rule, file and what identifies it within the file: the tool's own
//! fingerprints, otherwise the text of the line without layout. Shifted lines therefore never make a finding new.

use super::{JoinError, JoinedReport, LeftOut, ReportFormat, ReportReader, line_number, truncate_chars};
use crate::facts::SourceRange;
use crate::finding::{CodeLocation, Confidence, FindingDraft, FindingFamily, Severity};
use crate::hash;
use serde::Deserialize;
use std::collections::BTreeMap;

const MAX_SARIF_BYTES: usize = 128 << 20;
const MAX_SARIF_RESULTS: usize = 200_000;
/// Maximum characters kept of each message and name.
const MAX_MESSAGE_CHARS: usize = 2_000;
const MAX_NAME_CHARS: usize = 200;
const MAX_RESULT_LOCATIONS: usize = 20;
/// An address may be relative to another, and so on, at most this often.
const MAX_BASE_URI_DEPTH: usize = 8;

#[derive(Deserialize)]
struct SarifLog {
    version: String,
    #[serde(default)]
    runs: Vec<ToolRun>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolRun {
    tool: SarifTool,
    results: Option<Vec<ToolResult>>,
    #[serde(default)]
    original_uri_base_ids: BTreeMap<String, SarifArtifactLocation>,
    #[serde(default)]
    artifacts: Vec<SarifArtifact>,
}

#[derive(Deserialize)]
struct SarifArtifact {
    location: Option<SarifArtifactLocation>,
}

#[derive(Deserialize)]
struct SarifTool {
    driver: SarifToolComponent,
    #[serde(default)]
    extensions: Vec<SarifToolComponent>,
}

#[derive(Deserialize)]
struct SarifToolComponent {
    name: String,
    #[serde(default)]
    rules: Vec<SarifRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifRule {
    id: String,
    default_configuration: Option<SarifConfiguration>,
    #[serde(default)]
    message_strings: BTreeMap<String, SarifMessage>,
}

#[derive(Deserialize)]
struct SarifConfiguration {
    level: Option<SarifLevel>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum SarifLevel {
    None,
    Note,
    Warning,
    Error,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    rule_id: Option<String>,
    rule_index: Option<i64>,
    rule: Option<RuleReference>,
    kind: Option<String>,
    level: Option<SarifLevel>,
    message: SarifMessage,
    #[serde(default)]
    locations: Vec<SarifLocation>,
    #[serde(default)]
    related_locations: Vec<SarifLocation>,
    #[serde(default)]
    fingerprints: BTreeMap<String, String>,
    #[serde(default)]
    partial_fingerprints: BTreeMap<String, String>,
    baseline_state: Option<String>,
    #[serde(default)]
    suppressions: Vec<SarifSuppression>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RuleReference {
    id: Option<String>,
    index: Option<i64>,
    tool_component: Option<ComponentReference>,
}

#[derive(Deserialize)]
struct ComponentReference {
    index: Option<i64>,
}

#[derive(Deserialize)]
struct SarifSuppression {
    status: Option<String>,
}

#[derive(Deserialize, Default)]
struct SarifMessage {
    text: Option<String>,
    markdown: Option<String>,
    id: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifLocation {
    physical_location: Option<SarifPhysicalLocation>,
    #[serde(default)]
    logical_locations: Vec<SarifLogicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifPhysicalLocation {
    artifact_location: Option<SarifArtifactLocation>,
    region: Option<SarifRegion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifLogicalLocation {
    fully_qualified_name: Option<String>,
    name: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifArtifactLocation {
    uri: Option<String>,
    uri_base_id: Option<String>,
    index: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SarifRegion {
    start_line: Option<u64>,
    end_line: Option<u64>,
}

impl ReportReader<'_> {
    /// Adds the findings of a SARIF report to `drafts`.
    pub(super) fn findings(&self, drafts: &mut Vec<FindingDraft>) -> Result<JoinedReport, JoinError> {
        self.limit_size(MAX_SARIF_BYTES)?;
        let bytes = self.report.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(self.report.bytes);
        let log: SarifLog = serde_json::from_slice(bytes).map_err(|error| {
            self.malformed(format!("line {}, column {}", error.line(), error.column()), words(&error))
        })?;
        if log.version != "2.1.0" {
            let why = format!("only 2.1.0 is read, this is {}", truncate_chars(&log.version, 20));
            return Err(self.malformed("version", why));
        }
        let n_results: usize = log.runs.iter().map(|run| run.results.as_ref().map_or(0, Vec::len)).sum();
        if n_results > MAX_SARIF_RESULTS {
            return Err(self.too_many("results", MAX_SARIF_RESULTS));
        }
        let mut joined = JoinedReport::new(ReportFormat::Sarif, self.report.bytes);
        for run in &log.runs {
            joined.tools.push(truncate_chars(&run.tool.driver.name, MAX_NAME_CHARS));
            self.results(run, drafts, &mut joined);
        }
        joined.tools.sort();
        joined.tools.dedup();
        Ok(joined)
    }

    fn results(&self, run: &ToolRun, drafts: &mut Vec<FindingDraft>, joined: &mut JoinedReport) {
        let mut texts = SourceLineCache { reader: self, lines: BTreeMap::new() };
        for result in run.results.iter().flatten() {
            match self.draft(run, result, &mut texts) {
                Ok(draft) => {
                    joined.n_taken += 1;
                    drafts.push(draft);
                }
                Err(why) => joined.leave_out(why),
            }
        }
    }

    fn draft(
        &self,
        run: &ToolRun,
        result: &ToolResult,
        texts: &mut SourceLineCache<'_>,
    ) -> Result<FindingDraft, LeftOut> {
        if !result.is_failure() {
            return Err(LeftOut::Suppressed);
        }
        let first = result.locations.first().ok_or(LeftOut::NoPlace)?;
        let mut locations = vec![self.location(run, first)?];
        let others = result.locations[1..].iter().chain(&result.related_locations);
        locations
            .extend(others.filter_map(|place| self.location(run, place).ok()).take(MAX_RESULT_LOCATIONS - 1));
        let rule = run.rule(result);
        let name = truncate_chars(&result.rule_name(rule), MAX_NAME_CHARS);
        let name = format!("{}/{name}", truncate_chars(&run.tool.driver.name, MAX_NAME_CHARS));
        let message = truncate_chars(&result.parser_message(rule), MAX_MESSAGE_CHARS);
        let mark = result
            .tool_fingerprint()
            .or_else(|| texts.line(&locations[0]))
            .unwrap_or_else(|| message.clone());
        Ok(FindingDraft {
            message,
            confidence: Confidence::Medium,
            content: hash::of_bytes(format!("{name}\n{mark}").as_bytes()),
            rule: Some(name.clone()),
            ..FindingDraft::new(
                FindingFamily::External,
                result.severity(rule),
                format!("{name}\n{}\n{mark}", locations[0].path),
                locations,
            )
        })
    }

    fn location(&self, run: &ToolRun, place: &SarifLocation) -> Result<CodeLocation, LeftOut> {
        let physical = place.physical_location.as_ref().ok_or(LeftOut::NoPlace)?;
        let address = physical.artifact_location.as_ref().ok_or(LeftOut::NoPlace)?;
        let listed = address.index.and_then(|index| run.artifacts.get(usize::try_from(index).ok()?));
        let listed = listed.and_then(|artifact| artifact.location.as_ref());
        let address = if address.uri.is_some() { address } else { listed.ok_or(LeftOut::NoPlace)? };
        let path = self.locator.uri(&run.full_address(address).ok_or(LeftOut::NoPlace)?)?;
        let start = line_number(physical.region.as_ref().and_then(|region| region.start_line).unwrap_or(1));
        let end =
            physical.region.as_ref().and_then(|region| region.end_line).map_or(start, line_number).max(start);
        let range = SourceRange {
            start_line: start,
            start_column: 1,
            end_line: end.saturating_add(1),
            end_column: 1,
        };
        let logical = place.logical_locations.first();
        let symbol =
            logical.and_then(|logical| logical.fully_qualified_name.as_ref().or(logical.name.as_ref()));
        Ok(CodeLocation {
            path,
            range,
            symbol: symbol.map_or(String::new(), |name| truncate_chars(name, MAX_NAME_CHARS)),
        })
    }
}

impl ToolRun {
    /// Prefixes an address with those that it is relative to.
    fn full_address(&self, address: &SarifArtifactLocation) -> Option<String> {
        let mut full = address.uri.clone()?;
        let mut base = address.uri_base_id.as_ref();
        for _ in 0..MAX_BASE_URI_DEPTH {
            let is_absolute = full.starts_with('/') || super::report_paths::scheme(&full).is_some();
            let Some(known) =
                base.filter(|_| !is_absolute).and_then(|name| self.original_uri_base_ids.get(name))
            else {
                return Some(full);
            };
            if let Some(uri) = &known.uri {
                full = format!("{}/{full}", uri.trim_end_matches('/'));
            }
            base = known.uri_base_id.as_ref();
        }
        None
    }

    fn rule(&self, result: &ToolResult) -> Option<&SarifRule> {
        let reference = result.rule.as_ref();
        let extension = reference.and_then(|rule| rule.tool_component.as_ref()).and_then(|part| part.index);
        let component = match extension.and_then(|index| usize::try_from(index).ok()) {
            Some(index) => self.tool.extensions.get(index)?,
            None => &self.tool.driver,
        };
        let index = result.rule_index.or(reference.and_then(|rule| rule.index));
        let at = index.and_then(|index| component.rules.get(usize::try_from(index).ok()?));
        at.or_else(|| {
            let id = result.rule_id.as_deref().or(reference.and_then(|rule| rule.id.as_deref()))?;
            component.rules.iter().find(|rule| rule.id == id)
        })
    }
}

impl ToolResult {
    /// Returns true if the tool reports a current problem that no one has accepted.
    fn is_failure(&self) -> bool {
        let is_fail = !matches!(self.kind.as_deref(), Some("pass" | "notApplicable"));
        let is_accepted = self
            .suppressions
            .iter()
            .any(|found| !matches!(found.status.as_deref(), Some("underReview" | "rejected")));
        is_fail && !is_accepted && self.baseline_state.as_deref() != Some("absent")
    }

    fn rule_name(&self, rule: Option<&SarifRule>) -> String {
        let named = self.rule_id.as_ref().or_else(|| self.rule.as_ref()?.id.as_ref());
        named.or(rule.map(|rule| &rule.id)).cloned().unwrap_or_else(|| "unnamed".to_owned())
    }

    fn severity(&self, rule: Option<&SarifRule>) -> Severity {
        let usual = rule.and_then(|rule| rule.default_configuration.as_ref()?.level);
        // The level of a result counts only if it is a failure.
        let is_fail = matches!(self.kind.as_deref(), None | Some("fail"));
        if !is_fail {
            return Severity::Info;
        }
        match self.level.or(usual) {
            Some(SarifLevel::Error) => Severity::Critical,
            Some(SarifLevel::None | SarifLevel::Note) => Severity::Info,
            Some(SarifLevel::Warning) | None => Severity::Warning,
        }
    }

    /// Returns the tool's own fingerprint of the result.
    fn tool_fingerprint(&self) -> Option<String> {
        let marks =
            if self.fingerprints.is_empty() { &self.partial_fingerprints } else { &self.fingerprints };
        (!marks.is_empty()).then(|| format!("{marks:?}"))
    }

    fn parser_message(&self, rule: Option<&SarifRule>) -> String {
        let by_id = || rule?.message_strings.get(self.message.id.as_ref()?);
        let told = self.message.text.as_ref().or(self.message.markdown.as_ref());
        let text = told.or_else(|| by_id()?.text.as_ref()).cloned().unwrap_or_default();
        let text = (0..).zip(self.message.arguments.iter().take(MAX_RESULT_LOCATIONS)).fold(
            text,
            |text, (index, argument)| {
                truncate_chars(&text.replace(&format!("{{{index}}}"), argument), MAX_MESSAGE_CHARS)
            },
        );
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The lines of files that results refer to. Reads each file once.
struct SourceLineCache<'a> {
    reader: &'a ReportReader<'a>,
    lines: BTreeMap<probity_paths::RepoPath, Vec<String>>,
}

impl SourceLineCache<'_> {
    /// Returns the first line of a location without layout, unless it is empty or missing.
    fn line(&mut self, place: &CodeLocation) -> Option<String> {
        let sources = self.reader.sources;
        let lines = self.lines.entry(place.path.clone()).or_insert_with(|| {
            let bytes = sources(&place.path).unwrap_or_default();
            String::from_utf8_lossy(&bytes).lines().map(|line| line.split_whitespace().collect()).collect()
        });
        lines.get(place.range.start_line as usize - 1).filter(|line| !line.is_empty()).cloned()
    }
}

/// Returns the parser's message without the position, which is reported separately.
fn words(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(words, _)| words.to_owned())
}

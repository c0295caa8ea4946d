//! Encodes an analysis as bytes: compact, quick to read, and identical for identical analyses.
//!
//! An analysis has a head and parts. A part contains the findings and measurements of one file and depends on no
//! other file; the head contains everything else and the digest of every part. So the head's digest identifies the
//! analysis, and two analyses can be compared part by part without reading the parts that are equal.
//!
//! Small data that does not matter for speed (settings, health, joined reports) is JSON, so that it can gain fields
//! with defaults; the rest is written field by field, and any change to it must change [`MAGIC`].

use super::{FindingCounts, count_findings};
use probity_analysis::{
    AccessLevel, AnalysisRun, AnalysisSettings, ApiItem, CallableParameter, CloneType, CodeLocation,
    Confidence, FileDependency, FileNote, FileReference, Finding, FindingFamily, FindingId, FindingOutline,
    Health, JoinedReport, Language, ReferenceKind, RunFile, RunId, SafeguardCounts, Severity, SourceRange,
    UnitKind, UnitMeasurements,
};
use probity_core::Digest;
use probity_paths::RepoPath;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Begins the head: the format and its version.
const MAGIC: &[u8; 8] = b"prbrun\x005";

/// The path of the part for findings without a location.
const UNLOCATED_PATH: &[u8] = b"";

pub(super) struct EncodedAnalysis {
    pub(super) head: Vec<u8>,
    /// In the order of the head.
    pub(super) parts: Vec<Vec<u8>>,
}

/// Everything except the parts.
#[derive(Serialize, Deserialize)]
pub(super) struct AnalysisHead<'a> {
    id: [u8; 32],
    analyser: &'a str,
    /// Settings, health and joined reports.
    small: &'a [u8],
    #[serde(borrow)]
    files: Vec<WireFile<'a>>,
    governance: Vec<(&'a str, [u8; 32])>,
    dependencies: Vec<FileDependency>,
    cycles: Vec<Vec<u32>>,
    siblings: Vec<(u32, u32)>,
    /// Sorted by path.
    #[serde(borrow)]
    pub(super) parts: Vec<PartRef<'a>>,
    /// The order of the findings as runs of (part, count); within a part the findings are already in order.
    order: Vec<(u32, u32)>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct PartRef<'a> {
    pub(super) path: &'a [u8],
    pub(super) digest: [u8; 32],
    pub(super) size: u32,
    pub(super) n_findings: u32,
}

#[derive(Serialize, Deserialize)]
struct HeadExtras {
    settings: AnalysisSettings,
    health: Health,
    joined: Vec<JoinedReport>,
    n_findings: FindingCounts,
    outline: FindingOutline,
}

#[derive(Serialize, Deserialize)]
struct WireFile<'a> {
    path: &'a [u8],
    content: [u8; 32],
    language: Option<Language>,
    n_lines: u32,
    n_tokens: u32,
    notes: Vec<FileNote>,
    health_milli: Option<u32>,
    /// Tests, skipped tests, handlers, silent handlers.
    safeguards: [u32; 4],
}

#[derive(Serialize, Deserialize)]
struct WirePart<'a> {
    /// Other files that the findings refer to.
    #[serde(borrow)]
    others: Vec<&'a [u8]>,
    #[serde(borrow)]
    findings: Vec<WireFinding<'a>>,
    #[serde(borrow)]
    units: Vec<WireUnit<'a>>,
    #[serde(borrow)]
    api: Vec<WireApi<'a>>,
    #[serde(borrow)]
    references: Vec<(ReferenceKind, &'a str, u32)>,
}

#[derive(Serialize, Deserialize)]
struct WireFinding<'a> {
    id: &'a str,
    family: FindingFamily,
    severity: Severity,
    confidence: Confidence,
    message: &'a str,
    /// File 0 is the part's own file, followed by `others`.
    #[serde(borrow)]
    locations: Vec<(u32, SourceRange, &'a str)>,
    content: [u8; 32],
    value: Option<u32>,
    clone_type: Option<CloneType>,
    rule: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct WireUnit<'a> {
    symbol: &'a str,
    kind: UnitKind,
    access: AccessLevel,
    measures: [u32; 6],
    lcom4: Option<u32>,
    coupling: Option<u32>,
    content: &'a str,
}

#[derive(Serialize, Deserialize)]
struct WireApi<'a> {
    symbol: &'a str,
    kind: UnitKind,
    parameters: Vec<CallableParameter>,
}

#[derive(Default)]
struct FileShare<'a> {
    findings: Vec<&'a [Finding]>,
    units: Vec<&'a [UnitMeasurements]>,
    api: Vec<&'a [ApiItem]>,
    references: &'a [FileReference],
}

/// Returns the file of a finding's first location.
fn finding_path(finding: &Finding) -> &[u8] {
    finding.locations.first().map_or(UNLOCATED_PATH, |place| place.path.as_bytes())
}

pub(super) fn write(run: &AnalysisRun) -> EncodedAnalysis {
    let mut shares: BTreeMap<&[u8], FileShare<'_>> = BTreeMap::new();
    let chunks: Vec<&[Finding]> =
        run.findings.chunk_by(|one, other| finding_path(one) == finding_path(other)).collect();
    for chunk in &chunks {
        shares.entry(finding_path(&chunk[0])).or_default().findings.push(chunk);
    }
    for chunk in run.units.chunk_by(|one, other| one.file == other.file) {
        let file = &run.files[chunk[0].file as usize];
        shares.entry(file.path.as_bytes()).or_default().units.push(chunk);
    }
    for chunk in run.api.chunk_by(|one, other| one.path == other.path) {
        shares.entry(chunk[0].path.as_bytes()).or_default().api.push(chunk);
    }
    for chunk in run.references.chunk_by(|one, other| one.file == other.file) {
        let file = &run.files[chunk[0].file as usize];
        shares.entry(file.path.as_bytes()).or_default().references = chunk;
    }
    let numbers: BTreeMap<&[u8], u32> = shares.keys().copied().zip(0..).collect();
    let order = chunks.iter().map(|chunk| (numbers[finding_path(&chunk[0])], to_u32(chunk.len()))).collect();
    let shares: Vec<(&[u8], FileShare<'_>)> = shares.into_iter().collect();
    let written = shares.par_iter().map(|(path, share)| write_part(path, share));
    let (refs, parts): (Vec<PartRef<'_>>, Vec<Vec<u8>>) = written.unzip();
    EncodedAnalysis { head: write_head(run, refs, order), parts }
}

fn write_part<'a>(path: &'a [u8], share: &FileShare<'_>) -> (PartRef<'a>, Vec<u8>) {
    let findings = || share.findings.iter().copied().flatten();
    let paths = findings().flat_map(|finding| &finding.locations).map(|place| place.path.as_bytes());
    let numbers: BTreeMap<&[u8], u32> = paths.filter(|other| *other != path).map(|path| (path, 0)).collect();
    let numbers: BTreeMap<&[u8], u32> = numbers.into_keys().zip(1..).collect();
    let part = WirePart {
        others: numbers.keys().copied().collect(),
        findings: findings().map(|finding| wire_finding(finding, &numbers)).collect(),
        units: share.units.iter().copied().flatten().map(wire_unit).collect(),
        api: share.api.iter().copied().flatten().map(wire_api).collect(),
        references: share.references.iter().map(|it| (it.kind, it.name.as_str(), it.line)).collect(),
    };
    let n_findings = to_u32(part.findings.len());
    let bytes = postcard::to_stdvec(&part).expect("a growing list of bytes takes everything");
    let digest = *Digest::of(&bytes).as_bytes();
    (PartRef { path, digest, size: to_u32(bytes.len()), n_findings }, bytes)
}

fn write_head(run: &AnalysisRun, parts: Vec<PartRef<'_>>, order: Vec<(u32, u32)>) -> Vec<u8> {
    let small = HeadExtras {
        settings: run.settings.clone(),
        health: run.health.clone(),
        joined: run.joined.clone(),
        n_findings: count_findings(run),
        outline: FindingOutline::of(run),
    };
    let small = serde_json::to_vec(&small).expect("they have text keys and whole numbers only");
    let head = AnalysisHead {
        id: *run.id.0.as_bytes(),
        analyser: &run.analyser,
        small: &small,
        files: run.files.iter().map(wire_file).collect(),
        governance: run.governance.iter().map(|(name, digest)| (name.as_str(), *digest.as_bytes())).collect(),
        dependencies: run.dependencies.clone(),
        cycles: run.cycles.clone(),
        siblings: run.siblings.clone(),
        parts,
        order,
    };
    postcard::to_extend(&head, MAGIC.to_vec()).expect("a growing list of bytes takes everything")
}

fn to_u32(n: usize) -> u32 {
    u32::try_from(n).expect("a run has fewer than 2³² of anything, and a file has no 4 GB of findings")
}

fn wire_file(file: &RunFile) -> WireFile<'_> {
    WireFile {
        path: file.path.as_bytes(),
        content: *file.content.as_bytes(),
        language: file.language,
        n_lines: file.n_lines,
        n_tokens: file.n_tokens,
        notes: file.notes.clone(),
        health_milli: file.health_milli,
        safeguards: [
            file.safeguards.tests,
            file.safeguards.skipped_tests,
            file.safeguards.handlers,
            file.safeguards.silent_handlers,
        ],
    }
}

fn wire_finding<'a>(finding: &'a Finding, numbers: &BTreeMap<&[u8], u32>) -> WireFinding<'a> {
    let number = |path: &RepoPath| numbers.get(path.as_bytes()).copied().unwrap_or(0);
    let place = |place: &'a CodeLocation| (number(&place.path), place.range, place.symbol.as_str());
    WireFinding {
        id: finding.id.as_str(),
        family: finding.family,
        severity: finding.severity,
        confidence: finding.confidence,
        message: &finding.message,
        locations: finding.locations.iter().map(place).collect(),
        content: *finding.content.as_bytes(),
        value: finding.value,
        clone_type: finding.clone_type,
        rule: finding.rule.as_deref(),
    }
}

fn wire_unit(unit: &UnitMeasurements) -> WireUnit<'_> {
    WireUnit {
        symbol: &unit.symbol,
        kind: unit.kind,
        access: unit.access,
        measures: [unit.cyclomatic, unit.cognitive, unit.nesting, unit.line, unit.lines, unit.parameters],
        lcom4: unit.lcom4,
        coupling: unit.coupling,
        content: &unit.content,
    }
}

fn wire_api(item: &ApiItem) -> WireApi<'_> {
    WireApi { symbol: &item.symbol, kind: item.kind, parameters: item.parameters.clone() }
}

pub(super) struct AnalysisPart {
    pub(super) findings: Vec<Finding>,
    units: Vec<UnitMeasurements>,
    api: Vec<ApiItem>,
    references: Vec<FileReference>,
}

impl AnalysisPart {
    /// Returns every file that the findings refer to.
    pub(super) fn paths(&self) -> impl Iterator<Item = &RepoPath> {
        self.findings.iter().flat_map(|finding| &finding.locations).map(|place| &place.path)
    }
}

impl<'a> AnalysisHead<'a> {
    /// Reads a head; `None` if the bytes are not one. Checks every number, so that no later step can fail on it.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let (head, rest): (Self, _) = postcard::take_from_bytes(bytes.strip_prefix(MAGIC)?).ok()?;
        let n_files = u32::try_from(head.files.len()).ok()?;
        let is_file = |number: &u32| *number < n_files;
        let files_exist = head.dependencies.iter().all(|edge| is_file(&edge.from) && is_file(&edge.to))
            && head.cycles.iter().flatten().all(is_file)
            && head.siblings.iter().all(|(one, other)| is_file(one) && is_file(other));
        let in_order = head.files.is_sorted_by(|one, other| one.path < other.path)
            && head.parts.is_sorted_by(|one, other| one.path < other.path);
        (rest.is_empty() && files_exist && in_order && head.order_fits()).then_some(head)
    }

    pub(super) const fn id(&self) -> RunId {
        RunId(Digest::from_bytes(self.id))
    }

    /// Returns whether the order lists every finding of every part exactly once.
    fn order_fits(&self) -> bool {
        let mut left: Vec<u32> = self.parts.iter().map(|part| part.n_findings).collect();
        let takes = |&(part, n): &(u32, u32)| {
            let rest = left.get_mut(part as usize).and_then(|left| Some((left.checked_sub(n)?, left)));
            rest.map(|(rest, left)| *left = rest).is_some()
        };
        self.order.iter().all(takes) && left.iter().all(|left| *left == 0)
    }

    /// Returns the outline of the findings, and where its most severe ones are: the part, and the place in it.
    pub(super) fn outline(&self) -> Option<(FindingOutline, Vec<(u32, u32)>)> {
        let HeadExtras { outline, .. } = serde_json::from_slice(self.small).ok()?;
        let mut n_before = vec![0; self.parts.len()];
        let mut places = Vec::new();
        for &(part, n) in &self.order {
            let before = &mut n_before[part as usize];
            places.extend((*before..*before + n).map(|place| (part, place)));
            *before += n;
        }
        let most_severe: Option<_> =
            outline.most_severe.iter().map(|&index| places.get(index as usize).copied()).collect();
        Some((outline, most_severe?))
    }

    /// Reads the part with this number. Its bytes must match the digest in the head.
    pub(super) fn read_part(&self, number: usize, bytes: &[u8]) -> Option<AnalysisPart> {
        let known = &self.parts[number];
        if *Digest::of(bytes).as_bytes() != known.digest {
            return None;
        }
        let (wire, rest): (WirePart<'_>, _) = postcard::take_from_bytes(bytes).ok()?;
        if !rest.is_empty() || wire.findings.len() != known.n_findings as usize {
            return None;
        }
        let own = RepoPath::parse(known.path).ok();
        let others = wire.others.iter().map(|path| RepoPath::parse(path).ok());
        let paths: Vec<Option<RepoPath>> = std::iter::once(own.clone()).chain(others).collect();
        let path = |number: u32| paths.get(number as usize)?.clone();
        let file = self.files.binary_search_by(|file| file.path.cmp(known.path)).ok();
        if file.is_none() && !(wire.units.is_empty() && wire.references.is_empty()) {
            return None;
        }
        let file = file.map_or(0, to_u32);
        Some(AnalysisPart {
            findings: wire.findings.into_iter().map(|it| read_finding(it, &path)).collect::<Option<_>>()?,
            units: wire.units.iter().map(|unit| read_unit(unit, file)).collect(),
            api: wire
                .api
                .into_iter()
                .map(|item| Some(read_api(item, own.clone()?)))
                .collect::<Option<_>>()?,
            references: wire
                .references
                .into_iter()
                .map(|(kind, name, line)| FileReference { file, kind, name: name.to_owned(), line })
                .collect(),
        })
    }

    /// Returns the analysis with the parts that were read, in the order of their numbers, without the content of the others.
    pub(super) fn run(self, parts: Vec<Option<AnalysisPart>>) -> Option<(AnalysisRun, FindingCounts)> {
        let small: HeadExtras = serde_json::from_slice(self.small).ok()?;
        let (mut units, mut api, mut findings, mut references) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut found: Vec<std::vec::IntoIter<Finding>> = Vec::with_capacity(parts.len());
        for part in parts {
            let (mut part_units, mut part_api, mut part_references, part_findings) = part
                .map_or_else(Default::default, |part| (part.units, part.api, part.references, part.findings));
            units.append(&mut part_units);
            api.append(&mut part_api);
            references.append(&mut part_references);
            found.push(part_findings.into_iter());
        }
        for (part, n) in self.order {
            findings.extend(found[part as usize].by_ref().take(n as usize));
        }
        let run = AnalysisRun {
            id: RunId(Digest::from_bytes(self.id)),
            analyser: self.analyser.to_owned(),
            settings: small.settings,
            files: self.files.into_iter().map(read_file).collect::<Option<_>>()?,
            governance: self
                .governance
                .into_iter()
                .map(|(name, digest)| (name.to_owned(), Digest::from_bytes(digest)))
                .collect(),
            health: small.health,
            findings,
            units,
            dependencies: self.dependencies,
            cycles: self.cycles,
            siblings: self.siblings,
            api,
            references,
            joined: small.joined,
        };
        Some((run, small.n_findings))
    }
}

fn read_file(file: WireFile<'_>) -> Option<RunFile> {
    let [tests, skipped_tests, handlers, silent_handlers] = file.safeguards;
    Some(RunFile {
        path: RepoPath::parse(file.path).ok()?,
        content: Digest::from_bytes(file.content),
        language: file.language,
        n_lines: file.n_lines,
        n_tokens: file.n_tokens,
        notes: file.notes,
        health_milli: file.health_milli,
        safeguards: SafeguardCounts { tests, skipped_tests, handlers, silent_handlers },
    })
}

fn read_finding(finding: WireFinding<'_>, path: &impl Fn(u32) -> Option<RepoPath>) -> Option<Finding> {
    let place = |(number, range, symbol): (u32, SourceRange, &str)| {
        Some(CodeLocation { path: path(number)?, range, symbol: symbol.to_owned() })
    };
    Some(Finding {
        id: FindingId::from(finding.id.to_owned()),
        family: finding.family,
        severity: finding.severity,
        confidence: finding.confidence,
        message: finding.message.to_owned(),
        locations: finding.locations.into_iter().map(place).collect::<Option<_>>()?,
        content: Digest::from_bytes(finding.content),
        value: finding.value,
        clone_type: finding.clone_type,
        rule: finding.rule.map(str::to_owned),
    })
}

fn read_unit(unit: &WireUnit<'_>, file: u32) -> UnitMeasurements {
    let [cyclomatic, cognitive, nesting, line, lines, parameters] = unit.measures;
    UnitMeasurements {
        file,
        symbol: unit.symbol.to_owned(),
        kind: unit.kind,
        access: unit.access,
        cyclomatic,
        cognitive,
        nesting,
        line,
        lines,
        parameters,
        lcom4: unit.lcom4,
        coupling: unit.coupling,
        content: unit.content.to_owned(),
    }
}

fn read_api(item: WireApi<'_>, path: RepoPath) -> ApiItem {
    ApiItem { path, symbol: item.symbol.to_owned(), kind: item.kind, parameters: item.parameters }
}

//! The bytes of a run: compact, quick to read, and the same for the same run.
//!
//! Paths are written once and named by their number. Small parts that seldom matter for speed (settings, health, joined
//! reports) are JSON, so that they may gain fields with defaults; the rest is written field by field, and any change of it
//! changes [`MAGIC`].

use analysis::{
    Access, ApiItem, CloneType, Confidence, Dependency, Family, Finding, FindingId, Health, Joined, Language,
    Location, Measured, Note, Parameter, Range, Run, RunFile, RunId, Settings, Severity, UnitKind,
};
use canon::Digest;
use paths::RepoPath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the bytes begin with: the form, and its version.
const MAGIC: &[u8; 8] = b"prbrun\x001";

#[derive(Serialize, Deserialize)]
struct WireRun<'a> {
    id: [u8; 32],
    analyser: &'a str,
    /// Settings, health and joined reports.
    small: &'a [u8],
    #[serde(borrow)]
    paths: Vec<&'a [u8]>,
    files: Vec<WireFile>,
    governance: Vec<(&'a str, [u8; 32])>,
    #[serde(borrow)]
    findings: Vec<WireFinding<'a>>,
    #[serde(borrow)]
    units: Vec<WireUnit<'a>>,
    dependencies: Vec<Dependency>,
    cycles: Vec<Vec<u32>>,
    siblings: Vec<(u32, u32)>,
    #[serde(borrow)]
    api: Vec<WireApi<'a>>,
}

#[derive(Serialize, Deserialize)]
struct Small {
    settings: Settings,
    health: Health,
    joined: Vec<Joined>,
}

#[derive(Serialize, Deserialize)]
struct WireFile {
    path: u32,
    content: [u8; 32],
    language: Option<Language>,
    n_lines: u32,
    n_tokens: u32,
    notes: Vec<Note>,
    health_milli: Option<u32>,
}

#[derive(Serialize, Deserialize)]
struct WireFinding<'a> {
    id: &'a str,
    family: Family,
    severity: Severity,
    confidence: Confidence,
    message: &'a str,
    #[serde(borrow)]
    locations: Vec<(u32, Range, &'a str)>,
    content: [u8; 32],
    value: Option<u32>,
    clone_type: Option<CloneType>,
    rule: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
struct WireUnit<'a> {
    file: u32,
    symbol: &'a str,
    kind: UnitKind,
    access: Access,
    measures: [u32; 6],
    lcom4: Option<u32>,
    coupling: Option<u32>,
    content: &'a str,
}

#[derive(Serialize, Deserialize)]
struct WireApi<'a> {
    path: u32,
    symbol: &'a str,
    kind: UnitKind,
    parameters: Vec<Parameter>,
}

/// The numbers of the paths of a run.
struct Numbers<'a>(BTreeMap<&'a RepoPath, u32>);

impl<'a> Numbers<'a> {
    fn of(run: &'a Run) -> Self {
        let files = run.files.iter().map(|file| &file.path);
        let places = run.findings.iter().flat_map(|finding| &finding.locations).map(|place| &place.path);
        let api = run.api.iter().map(|item| &item.path);
        let mut numbers: BTreeMap<&RepoPath, u32> =
            files.chain(places).chain(api).map(|path| (path, 0)).collect();
        for (at, number) in numbers.values_mut().enumerate() {
            *number = u32::try_from(at).expect("a run has fewer than 2³² paths");
        }
        Self(numbers)
    }

    fn get(&self, path: &RepoPath) -> u32 {
        self.0[path]
    }
}

/// Writes a run.
pub(super) fn write(run: &Run) -> Vec<u8> {
    let numbers = Numbers::of(run);
    let small =
        Small { settings: run.settings.clone(), health: run.health.clone(), joined: run.joined.clone() };
    let small = serde_json::to_vec(&small).expect("they have text keys and whole numbers only");
    let wire = WireRun {
        id: *run.id.0.as_bytes(),
        analyser: &run.analyser,
        small: &small,
        paths: numbers.0.keys().map(|path| path.as_bytes()).collect(),
        files: run.files.iter().map(|file| wire_file(file, &numbers)).collect(),
        governance: run.governance.iter().map(|(name, digest)| (name.as_str(), *digest.as_bytes())).collect(),
        findings: run.findings.iter().map(|finding| wire_finding(finding, &numbers)).collect(),
        units: run.units.iter().map(wire_unit).collect(),
        dependencies: run.dependencies.clone(),
        cycles: run.cycles.clone(),
        siblings: run.siblings.clone(),
        api: run.api.iter().map(|item| wire_api(item, &numbers)).collect(),
    };
    postcard::to_extend(&wire, MAGIC.to_vec()).expect("a growing list of bytes takes everything")
}

fn wire_file(file: &RunFile, numbers: &Numbers<'_>) -> WireFile {
    WireFile {
        path: numbers.get(&file.path),
        content: *file.content.as_bytes(),
        language: file.language,
        n_lines: file.n_lines,
        n_tokens: file.n_tokens,
        notes: file.notes.clone(),
        health_milli: file.health_milli,
    }
}

fn wire_finding<'a>(finding: &'a Finding, numbers: &Numbers<'_>) -> WireFinding<'a> {
    let place = |place: &'a Location| (numbers.get(&place.path), place.range, place.symbol.as_str());
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

fn wire_unit(unit: &Measured) -> WireUnit<'_> {
    WireUnit {
        file: unit.file,
        symbol: &unit.symbol,
        kind: unit.kind,
        access: unit.access,
        measures: [unit.cyclomatic, unit.cognitive, unit.nesting, unit.line, unit.lines, unit.parameters],
        lcom4: unit.lcom4,
        coupling: unit.coupling,
        content: &unit.content,
    }
}

fn wire_api<'a>(item: &'a ApiItem, numbers: &Numbers<'_>) -> WireApi<'a> {
    WireApi {
        path: numbers.get(&item.path),
        symbol: &item.symbol,
        kind: item.kind,
        parameters: item.parameters.clone(),
    }
}

/// Reads a run; `None` if the bytes are none. Nothing in them can make a later step fail: every number is checked.
pub(super) fn read(bytes: &[u8]) -> Option<Run> {
    let (wire, rest): (WireRun<'_>, _) = postcard::take_from_bytes(bytes.strip_prefix(MAGIC)?).ok()?;
    let small: Small = serde_json::from_slice(wire.small).ok().filter(|_| rest.is_empty())?;
    let paths: Vec<RepoPath> =
        wire.paths.iter().map(|path| RepoPath::parse(path).ok()).collect::<Option<_>>()?;
    let path = |number: u32| paths.get(number as usize).cloned();
    let n_files = u32::try_from(wire.files.len()).ok()?;
    let is_file = |number: &u32| *number < n_files;
    let files_exist = wire.units.iter().all(|unit| is_file(&unit.file))
        && wire.dependencies.iter().all(|edge| is_file(&edge.from) && is_file(&edge.to))
        && wire.cycles.iter().flatten().all(is_file)
        && wire.siblings.iter().all(|(one, other)| is_file(one) && is_file(other));
    let run = Run {
        id: RunId(Digest::from_bytes(wire.id)),
        analyser: wire.analyser.to_owned(),
        settings: small.settings,
        files: wire.files.into_iter().map(|file| read_file(file, &path)).collect::<Option<_>>()?,
        governance: wire
            .governance
            .into_iter()
            .map(|(name, digest)| (name.to_owned(), Digest::from_bytes(digest)))
            .collect(),
        health: small.health,
        findings: wire.findings.into_iter().map(|it| read_finding(it, &path)).collect::<Option<_>>()?,
        units: wire.units.iter().map(read_unit).collect(),
        dependencies: wire.dependencies,
        cycles: wire.cycles,
        siblings: wire.siblings,
        api: wire.api.into_iter().map(|it| read_api(it, &path)).collect::<Option<_>>()?,
        joined: small.joined,
    };
    files_exist.then_some(run)
}

fn read_file(file: WireFile, path: &impl Fn(u32) -> Option<RepoPath>) -> Option<RunFile> {
    Some(RunFile {
        path: path(file.path)?,
        content: Digest::from_bytes(file.content),
        language: file.language,
        n_lines: file.n_lines,
        n_tokens: file.n_tokens,
        notes: file.notes,
        health_milli: file.health_milli,
    })
}

fn read_finding(finding: WireFinding<'_>, path: &impl Fn(u32) -> Option<RepoPath>) -> Option<Finding> {
    let place = |(number, range, symbol): (u32, Range, &str)| {
        Some(Location { path: path(number)?, range, symbol: symbol.to_owned() })
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

fn read_unit(unit: &WireUnit<'_>) -> Measured {
    let [cyclomatic, cognitive, nesting, line, lines, parameters] = unit.measures;
    Measured {
        file: unit.file,
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

fn read_api(item: WireApi<'_>, path: &impl Fn(u32) -> Option<RepoPath>) -> Option<ApiItem> {
    Some(ApiItem {
        path: path(item.path)?,
        symbol: item.symbol.to_owned(),
        kind: item.kind,
        parameters: item.parameters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::{Input, Source, analyse};

    const TEXT: &str = "class A:\n    def f(self, x):\n        return self.x\n\n    def g(self):\n        return 1\n\n\n\
        def _dead(rows):\n    return [row for row in rows if row]\n\n\nfrom . import missing\n";

    /// A run with findings, units, an interface and names that are no text.
    fn run() -> Run {
        let path = |name: &[u8]| RepoPath::parse(name).expect("a path");
        let files = [path(b"pkg/a.py"), path(b"pkg/\xff.py"), path(b"pkg/__init__.py")];
        let sources = files.map(|path| (path, Source::Bytes(TEXT.as_bytes())));
        let input = Input { sources: sources.into(), ..Input::default() };
        analyse(&input, &Settings::default()).run
    }

    #[test]
    fn a_run_comes_back_as_it_was() {
        let run = run();
        assert!(!run.findings.is_empty() && !run.units.is_empty() && !run.api.is_empty());
        assert_eq!(read(&write(&run)), Some(run));
    }

    #[test]
    fn no_bytes_make_reading_fail_otherwise_than_by_saying_so() {
        let bytes = write(&run());
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x41;
            // Whatever comes back can be compared: no number in it leads nowhere.
            if let Some(run) = read(&changed) {
                analysis::compare(&run, &run);
            }
            assert_eq!(read(&bytes[..at]), None, "cut at {at}");
        }
    }
}

//! Reading coverage: which lines tests ran, from lcov tracefiles and Cobertura's XML.
//!
//! XML is read as a stream of tags. Only the five entities of XML itself and character numbers are replaced, no document
//! type is followed, nothing nests on the stack: a hostile document costs no more than its length.

use super::{JoinError, JoinedReport, LeftOut, ReportFormat, ReportReader, line_number};
use crate::facts::count;
use crate::run::AnalysisRun;
use probity_paths::RepoPath;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader as XmlReader, XmlVersion};
use std::collections::{BTreeMap, BTreeSet};

const MAX_COVERAGE_BYTES: usize = 256 << 20;
const MAX_COVERAGE_LINES: usize = 20_000_000;

/// For each file the executable lines, and whether a test ran them.
pub(super) type LineCoverage = BTreeMap<RepoPath, BTreeMap<u32, bool>>;

/// The contents of one report, with its own file names.
#[derive(Default)]
struct CoverageReport {
    tools: BTreeSet<String>,
    /// Directories that file names may be relative to.
    folders: Vec<String>,
    files: BTreeMap<String, BTreeMap<u32, bool>>,
    n_lines: usize,
}

impl CoverageReport {
    fn add(&mut self, file: &str, number: u32, is_run: bool) {
        self.n_lines += 1;
        let lines = match self.files.get_mut(file) {
            Some(lines) => lines,
            None => self.files.entry(file.to_owned()).or_default(),
        };
        *lines.entry(number).or_default() |= is_run;
    }
}

impl ReportReader<'_> {
    /// Adds the coverage of a report to `lines`.
    pub(super) fn coverage(
        &self,
        run: &AnalysisRun,
        lines: &mut LineCoverage,
    ) -> Result<JoinedReport, JoinError> {
        self.limit_size(MAX_COVERAGE_BYTES)?;
        let text = std::str::from_utf8(self.report.bytes)
            .map_err(|error| self.malformed(format!("byte {}", error.valid_up_to()), "it is no UTF-8"))?;
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let (format, told) = if text.starts_with('<') {
            (ReportFormat::Cobertura, self.cobertura(text)?)
        } else {
            (ReportFormat::Lcov, self.lcov(text)?)
        };
        let mut joined = JoinedReport::new(format, self.report.bytes);
        joined.tools = told.tools.iter().cloned().collect();
        let known: BTreeSet<&RepoPath> = run.files.iter().map(|file| &file.path).collect();
        for (name, covered) in &told.files {
            match self.file(&told, name, &known) {
                Ok(path) => {
                    joined.n_taken += 1;
                    let own = lines.entry(path).or_default();
                    for (&number, &is_run) in covered {
                        *own.entry(number).or_default() |= is_run;
                    }
                }
                Err(why) => joined.leave_out(why),
            }
        }
        Ok(joined)
    }

    /// Returns the file of the run that a name in the report refers to: as written, or below one of the
    /// report's directories.
    fn file(
        &self,
        told: &CoverageReport,
        name: &str,
        known: &BTreeSet<&RepoPath>,
    ) -> Result<RepoPath, LeftOut> {
        let below =
            told.folders.iter().map(|directory| format!("{}/{name}", directory.trim_end_matches('/')));
        let mut why = LeftOut::NoPlace;
        for name in std::iter::once(name.to_owned()).chain(below) {
            match self.locator.path(name.as_bytes()) {
                Ok(path) if known.contains(&path) => return Ok(path),
                Ok(_) => why = LeftOut::UnknownFile,
                Err(other) => why = other,
            }
        }
        Err(why)
    }

    fn lcov(&self, text: &str) -> Result<CoverageReport, JoinError> {
        let mut told = CoverageReport::default();
        let mut file = None;
        for (number, record) in (1..).zip(text.lines()) {
            let record = record.trim_end();
            let Some((word, value)) = record.split_once(':') else {
                if !matches!(record, "" | "end_of_record") && !record.starts_with('#') {
                    return Err(self.malformed(format!("line {number}"), "it is not an lcov record"));
                }
                continue;
            };
            match word {
                "SF" => file = Some(value),
                "DA" => {
                    let read = |file| Some((file, lcov_line(value)?));
                    let (file, (at, is_run)) = file.and_then(read).ok_or_else(|| {
                        self.malformed(
                            format!("line {number}"),
                            "`DA:<line>,<count>` after `SF:<file>` is expected",
                        )
                    })?;
                    told.add(file, at, is_run);
                }
                _ => {}
            }
            self.check_line_limit(&told)?;
        }
        if told.files.is_empty() {
            return Err(self.malformed("the end", "it is neither lcov nor Cobertura: no line of any file"));
        }
        Ok(told)
    }

    fn cobertura(&self, text: &str) -> Result<CoverageReport, JoinError> {
        let mut told = CoverageReport::default();
        let mut reader = XmlReader::from_str(text);
        let (mut file, mut directory, mut is_cobertura) = (None, None, false);
        let mut depth = 0_usize;
        loop {
            let at = reader.buffer_position();
            let malformed = |why: &str| self.malformed(format!("byte {at}"), why);
            let broken = |_| malformed("it is no well-formed XML");
            let event = reader.read_event().map_err(broken)?;
            match &event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                // A report that was cut off between two tags must not pass for a whole one.
                Event::Eof if depth > 0 => return Err(malformed("it is no well-formed XML")),
                _ => {}
            }
            match event {
                Event::Eof => break,
                Event::Start(tag) if tag.name().as_ref() == b"source" => directory = Some(String::new()),
                Event::End(tag) if tag.name().as_ref() == b"source" => {
                    told.folders
                        .extend(directory.take().map(|directory: String| directory.trim().to_owned()));
                }
                Event::Text(part) => {
                    if let Some(directory) = &mut directory {
                        directory.push_str(&part.decode().map_err(|error| broken(error.into()))?);
                    }
                }
                Event::GeneralRef(entity) => {
                    if let Some(directory) = &mut directory {
                        directory.push_str(&resolved(&entity).map_err(broken)?);
                    }
                }
                Event::Start(tag) | Event::Empty(tag) => match tag.name().as_ref() {
                    b"coverage" => is_cobertura = true,
                    b"class" => file = attribute(&tag, "filename").map_err(broken)?,
                    b"line" => {
                        let read = |name| attribute(&tag, name).map_err(broken);
                        let number = |text: Option<String>| text?.parse().ok();
                        let numbers = (number(read("number")?), number(read("hits")?));
                        let (Some(file), (Some(at), Some(hits))) = (&file, numbers) else {
                            let why = "a line needs `number` and `hits`, inside a class with `filename`";
                            return Err(malformed(why));
                        };
                        told.add(file, line_number(at), hits > 0);
                    }
                    _ => {}
                },
                _ => {}
            }
            self.check_line_limit(&told)?;
        }
        if !is_cobertura {
            return Err(self.malformed("the document", "it is XML, but no `<coverage>`"));
        }
        Ok(told)
    }

    fn check_line_limit(&self, told: &CoverageReport) -> Result<(), JoinError> {
        if told.n_lines > MAX_COVERAGE_LINES {
            Err(self.too_many("lines", MAX_COVERAGE_LINES))
        } else {
            Ok(())
        }
    }
}

/// Parses `<line>,<count>`, possibly followed by a checksum.
fn lcov_line(value: &str) -> Option<(u32, bool)> {
    let mut parts = value.split(',');
    let at: u64 = parts.next()?.trim().parse().ok()?;
    let hits = parts.next()?.trim();
    let is_number = !hits.is_empty() && hits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| (line_number(at), hits.bytes().any(|byte| byte != b'0')))
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Result<Option<String>, quick_xml::Error> {
    let found = tag.try_get_attribute(name)?;
    found.map(|found| Ok(found.normalized_value(XmlVersion::Implicit1_0)?.into_owned())).transpose()
}

/// The text that a reference stands for; one that a document type would have to explain stands for itself.
fn resolved(entity: &BytesRef<'_>) -> Result<String, quick_xml::Error> {
    if let Some(c) = entity.resolve_char_ref()? {
        return Ok(c.to_string());
    }
    let name = entity.decode()?;
    Ok(resolve_xml_entity(&name).map_or_else(|| format!("&{name};"), str::to_owned))
}

/// Returns how many lines from `first` to `last` are executable, and how many of them tests ran.
pub(super) fn coverage_between(lines: &BTreeMap<u32, bool>, first: u32, last: u32) -> (u32, u32) {
    let inside = || lines.range(first..=last.max(first));
    (count(inside().count()), count(inside().filter(|(_, is_run)| **is_run).count()))
}

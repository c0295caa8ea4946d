//! How severe each finding is: one table for all families.
//!
//! `critical` and `warning` are for what is certain and does harm, so that a change may be blocked because of it.
//! What is a matter of taste, or only likely, is `info`. Tests, examples and benchmarks repeat and enumerate on
//! purpose: what they repeat, and how long or branched they are, is `info` whatever its size. An import that leads
//! nowhere and a file that cannot be read are as harmful there as elsewhere.

use crate::corpus::{self, CorpusFile};
use crate::facts::{FileFacts, FileNote, SourceRange};
use crate::finding::{CloneType, CodeLocation, Confidence, FindingDraft, FindingFamily, Severity};
use crate::language::{self, Language};
use crate::settings::AnalysisSettings;

/// Copies of one fragment that together repeat at least this many tokens are critical.
pub(crate) const CRITICAL_CLONE_TOKENS: u32 = 1_000;

/// A copied block below this many tokens is a matter of taste.
const MIN_HARMFUL_BLOCK_TOKENS: u32 = 100;

/// Minimum similarity, in percent, of an edited copy that is rated above `info`.
const MIN_HARMFUL_SIMILARITY: u32 = 85;

/// Sets the severities of findings. Those of other tools keep theirs.
pub(crate) fn assign(drafts: &mut [FindingDraft], files: &[CorpusFile], settings: &AnalysisSettings) {
    for draft in drafts {
        draft.severity = SeverityContext { files, settings, draft }.severity();
    }
}

struct SeverityContext<'a> {
    files: &'a [CorpusFile],
    settings: &'a AnalysisSettings,
    draft: &'a FindingDraft,
}

impl SeverityContext<'_> {
    fn severity(&self) -> Severity {
        let is_supporting = || self.draft.locations.iter().any(|place| self.is_supporting(place));
        match self.draft.family {
            FindingFamily::External | FindingFamily::Untested => self.draft.severity,
            FindingFamily::DanglingImport if self.is_sample_data() => Severity::Info,
            FindingFamily::DanglingImport => Severity::Critical,
            FindingFamily::ParseError => self.parse_error(),
            FindingFamily::Length
            | FindingFamily::Nesting
            | FindingFamily::Coupling
            | FindingFamily::Cohesion
            | FindingFamily::DuplicatedBranches => Severity::Info,
            _ if is_supporting() => Severity::Info,
            FindingFamily::Clone | FindingFamily::CloneBlock => self.copy(),
            FindingFamily::Complexity => self.complexity(),
            FindingFamily::Parameters => self.above(self.settings.parameters, 3, 2),
            FindingFamily::Cycle => self.cycle(),
            FindingFamily::DeadCode => self.dead_code(),
        }
    }

    fn file(&self, place: &CodeLocation) -> Option<&CorpusFile> {
        // Files are sorted by path.
        let index = self.files.binary_search_by(|file| file.path.cmp(&place.path)).ok()?;
        self.files.get(index)
    }

    fn first_file(&self) -> Option<&CorpusFile> {
        self.file(self.draft.locations.first()?)
    }

    /// Returns true for code that supports the product: tests, examples, benchmarks, documentation.
    fn is_supporting(&self, place: &CodeLocation) -> bool {
        self.file(place).is_some_and(|file| {
            file.is_test || corpus::is_sample_path(&file.path) || is_in_test_unit(&file.facts, place.range)
        })
    }

    /// Returns true for files that tests read as data, which may be broken on purpose.
    fn is_sample_data(&self) -> bool {
        self.draft.locations.first().is_some_and(|place| corpus::is_test_data_path(&place.path))
    }

    fn copy(&self) -> Severity {
        let n_tokens = self.draft.value.unwrap_or(0);
        let is_block = self.draft.family == FindingFamily::CloneBlock;
        let least = if is_block { MIN_HARMFUL_BLOCK_TOKENS } else { 0 };
        let is_alike = self.draft.similarity.is_none_or(|percent| percent >= MIN_HARMFUL_SIMILARITY);
        if n_tokens < least || !is_alike {
            return Severity::Info;
        }
        let n_copies = self.draft.number.unwrap_or(2).saturating_sub(1);
        let is_large = n_copies.saturating_mul(n_tokens) >= CRITICAL_CLONE_TOKENS;
        if is_large && self.draft.clone_type != Some(CloneType::Near) {
            Severity::Critical
        } else {
            Severity::Warning
        }
    }

    fn complexity(&self) -> Severity {
        let place = self.draft.locations.first();
        let unit = place.zip(self.first_file()).and_then(|(place, file)| {
            file.facts.units.iter().find(|unit| unit.range == place.range && unit.name == place.symbol)
        });
        let Some(unit) = unit else { return Severity::Warning };
        // A long list of cases has many decisions and is easy to follow.
        let is_flat = unit.cognitive * 2 < unit.cyclomatic;
        let over = |quarters: u32| {
            unit.cyclomatic * 4 > self.settings.cyclomatic * quarters && !is_flat
                || unit.cognitive * 4 > self.settings.cognitive * quarters
        };
        // A little above the limit is a matter of taste.
        match (over(8), over(5)) {
            (true, _) => Severity::Critical,
            (false, true) => Severity::Warning,
            (false, false) => Severity::Info,
        }
    }

    /// Returns a warning for a value above `limit` × `numerator` ÷ `denominator`.
    fn above(&self, limit: u32, numerator: u32, denominator: u32) -> Severity {
        let value = self.draft.value.unwrap_or(0);
        if value * denominator > limit * numerator { Severity::Warning } else { Severity::Info }
    }

    fn cycle(&self) -> Severity {
        // Modules of one Rust crate may refer to each other freely: loading does not suffer.
        let is_rust = |place| self.file(place).is_some_and(|file| file.language == Language::Rust);
        if self.draft.locations.iter().all(is_rust) { Severity::Info } else { Severity::Warning }
    }

    fn dead_code(&self) -> Severity {
        // Only its own package may name a hidden Go function, and every file of the package was read.
        let is_go = self.first_file().is_some_and(|file| file.language == Language::Go);
        let is_certain = self.draft.confidence == Confidence::High || is_go;
        if is_certain { Severity::Warning } else { Severity::Info }
    }

    fn parse_error(&self) -> Severity {
        let Some(file) = self.first_file() else { return Severity::Info };
        match file.language {
            _ if self.is_sample_data() => Severity::Info,
            // A script is text that expands to commands; no grammar can parse all of it.
            Language::Bash => Severity::Info,
            // Macros of other files, or syntax newer than the grammar.
            _ if file.facts.notes.contains(&FileNote::UnknownSyntax) => Severity::Info,
            language if language::spec(language).strict_grammar => Severity::Critical,
            _ => Severity::Warning,
        }
    }
}

/// Returns true if a test contains the range.
fn is_in_test_unit(facts: &FileFacts, range: SourceRange) -> bool {
    facts.units.iter().any(|unit| unit.test && unit.range.contains(&range))
}

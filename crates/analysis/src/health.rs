//! Health: one score from 0 to 100 for a tree and for each file, kept in thousandths.
//!
//! Each dimension compares its *debt* (in tokens, or in the number of tokens a defect is worth) with the amount of
//! original code that something reaches: the tokens of reached units, minus the repeated ones. Neither copies nor unused
//! code therefore dilute other debt, and a copy can only lower the score. Tests have a score for each file and no part
//! in that of the tree, unless it has nothing else. A fixed size is added, so that one copy in a tiny tree does not ruin its score. The curve
//! `100 · k / (k + density)` flattens and never reaches 0, so the score of any tree still responds to each change.

use crate::corpus::CorpusFile;
use crate::facts::{CodeUnit, UnitKind, count};
use crate::language::Language;
use crate::settings::AnalysisSettings;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A dimension of health.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HealthDimension {
    /// Code that repeats other code.
    Duplication,
    /// Callables that are hard to follow.
    Complexity,
    /// Callables that are long, deeply nested or have many parameters; classes without cohesion.
    Structure,
    /// Cycles, missing files, files and classes that need too many others.
    Dependencies,
    /// Code that nothing uses.
    DeadCode,
    /// Code that cannot be parsed.
    Readability,
}

impl HealthDimension {
    /// Every dimension, in report order.
    pub const ALL: [Self; 6] = [
        Self::Duplication,
        Self::Complexity,
        Self::Structure,
        Self::Dependencies,
        Self::DeadCode,
        Self::Readability,
    ];

    pub const fn label(self) -> &'static str {
        match self {
            Self::Duplication => "duplication",
            Self::Complexity => "complexity",
            Self::Structure => "structure",
            Self::Dependencies => "dependencies",
            Self::DeadCode => "dead code",
            Self::Readability => "readability",
        }
    }

    /// Its share of the score, in percent.
    pub const fn weight(self) -> u64 {
        match self {
            Self::Duplication | Self::Complexity => 25,
            Self::Structure | Self::Dependencies => 15,
            Self::DeadCode | Self::Readability => 10,
        }
    }

    /// The debt per thousand tokens at which half the score is lost.
    const fn half_score_density(self) -> u64 {
        match self {
            Self::Duplication | Self::Complexity | Self::Structure => 200,
            Self::Dependencies | Self::DeadCode | Self::Readability => 100,
        }
    }
}

/// Tokens added to the size of every tree and every file.
const TREE_BASE_TOKENS: u64 = 4_000;
const FILE_BASE_TOKENS: u64 = 500;

/// Weights of single defects, in tokens.
const TOKENS_PER_DECISION: u64 = 10;
const TOKENS_PER_LINE: u64 = 5;
const TOKENS_PER_PARAMETER: u64 = 20;
const TOKENS_PER_NESTING_LEVEL: u64 = 30;
const TOKENS_PER_METHOD_GROUP: u64 = 40;
const TOKENS_PER_NEEDED_FILE: u64 = 20;
const TOKENS_IN_CYCLE: u64 = 100;
const TOKENS_PER_DANGLING_IMPORT: u64 = 400;
const TOKENS_PER_PARSE_ERROR: u64 = 200;

/// The debt of a file or a tree by dimension, in tokens, and its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HealthDebt {
    by_dimension: [u64; HealthDimension::ALL.len()],
    /// Tokens that are reached and do not repeat others.
    n_tokens: u64,
}

impl HealthDebt {
    /// Computes the debt from a file's own facts: `repeated` says which statements repeat others, `reached` which
    /// units something reaches.
    pub(crate) fn of(
        file: &CorpusFile,
        repeated: &[bool],
        reached: &[bool],
        settings: &AnalysisSettings,
    ) -> Self {
        let mut debt = Self::default();
        debt.add_size(file, repeated, reached);
        for unit in file.facts.units.iter().filter(|unit| is_weighed(file, unit)) {
            let over = |value: u32, limit: u32| u64::from(value.saturating_sub(limit));
            if unit.kind != UnitKind::Class {
                let decisions = over(unit.cyclomatic, settings.cyclomatic * 2 / 3)
                    + over(unit.cognitive, settings.cognitive * 2 / 3);
                debt.add(HealthDimension::Complexity, decisions * TOKENS_PER_DECISION);
                debt.add(
                    HealthDimension::Structure,
                    over(unit.nesting, settings.nesting) * TOKENS_PER_NESTING_LEVEL,
                );
            }
            if unit.kind.is_callable() {
                let lines = over(unit.range.n_lines(), settings.lines) * TOKENS_PER_LINE;
                let n_parameters = count(unit.parameters.len());
                let parameters = over(n_parameters, settings.parameters) * TOKENS_PER_PARAMETER;
                debt.add(HealthDimension::Structure, lines + parameters);
            }
            let groups = over(unit.lcom4.unwrap_or(0), settings.lcom4);
            debt.add(HealthDimension::Structure, groups * TOKENS_PER_METHOD_GROUP);
        }
        if crate::language::spec(file.language).strict_grammar {
            debt.add(HealthDimension::Readability, u64::from(file.facts.n_errors) * TOKENS_PER_PARSE_ERROR);
        }
        debt
    }

    /// Adds the tokens of the file, and those that repeat others.
    fn add_size(&mut self, file: &CorpusFile, repeated: &[bool], reached: &[bool]) {
        let units = &file.facts.units;
        let mut own_tokens: Vec<u64> = units.iter().map(|unit| u64::from(unit.n_tokens)).collect();
        let mut owners = vec![0; repeated.len()];
        for (index, unit) in units.iter().enumerate() {
            if let Some(parent) = unit.parent {
                own_tokens[parent as usize] =
                    own_tokens[parent as usize].saturating_sub(u64::from(unit.n_tokens));
            }
            owners[unit.statements.usize()].fill(index);
        }
        let counts = |unit: usize| reached[unit] && is_weighed(file, &units[unit]);
        self.n_tokens = (0..units.len()).filter(|&unit| counts(unit)).map(|unit| own_tokens[unit]).sum();
        let statements = file.facts.statements.iter().zip(owners).zip(repeated);
        for ((statement, unit), _) in statements.filter(|(_, repeated)| **repeated) {
            let n_tokens = u64::from(statement.n_tokens);
            if is_weighed(file, &units[unit]) {
                self.add(HealthDimension::Duplication, n_tokens);
            }
            if counts(unit) {
                self.n_tokens = self.n_tokens.saturating_sub(n_tokens);
            }
        }
    }

    fn add(&mut self, dimension: HealthDimension, tokens: u64) {
        self.by_dimension[dimension as usize] += tokens;
    }

    pub(crate) fn add_dead(&mut self, n_tokens: u32) {
        self.add(HealthDimension::DeadCode, u64::from(n_tokens));
    }

    pub(crate) fn add_dangling(&mut self) {
        self.add(HealthDimension::Dependencies, TOKENS_PER_DANGLING_IMPORT);
    }

    pub(crate) fn add_cycle(&mut self, language: Language) {
        if language != Language::Rust {
            self.add(HealthDimension::Dependencies, TOKENS_IN_CYCLE);
        }
    }

    /// Adds a file that needs, or a class that names, more others than `limit`.
    pub(crate) fn add_coupling(&mut self, n_needed: u32, limit: u32) {
        let over = u64::from(n_needed.saturating_sub(limit));
        self.add(HealthDimension::Dependencies, over * TOKENS_PER_NEEDED_FILE);
    }

    pub(crate) fn sum<'a>(debts: impl IntoIterator<Item = &'a Self>) -> Self {
        debts.into_iter().fold(Self::default(), |mut sum, debt| {
            for (total, tokens) in sum.by_dimension.iter_mut().zip(debt.by_dimension) {
                *total += tokens;
            }
            sum.n_tokens += debt.n_tokens;
            sum
        })
    }

    pub(crate) fn tree_health(&self) -> Health {
        self.health(TREE_BASE_TOKENS)
    }

    pub(crate) fn file_health(&self) -> u32 {
        self.health(FILE_BASE_TOKENS).score_milli
    }

    fn health(&self, spare: u64) -> Health {
        let size = self.n_tokens + spare;
        let dimensions = HealthDimension::ALL.map(|dimension| {
            // In millionths, so that one function in a million lines still shows.
            let density = self.by_dimension[dimension as usize] * 1_000_000 / size;
            let half = dimension.half_score_density() * 1_000;
            let score_milli = 100_000 * half / (half + density);
            DimensionScore { dimension, score_milli: u32::try_from(score_milli).unwrap_or(100_000) }
        });
        let weighted: u64 =
            dimensions.iter().map(|part| part.dimension.weight() * u64::from(part.score_milli)).sum();
        let score_milli = u32::try_from(weighted / 100).unwrap_or(100_000);
        Health { score_milli, dimensions: dimensions.to_vec() }
    }
}

/// Returns true if a unit has a part in the score of its file: in a file that also holds other code, tests have none.
const fn is_weighed(file: &CorpusFile, unit: &CodeUnit) -> bool {
    file.is_test || !unit.test
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// From 0 to 100,000; meaningless if nothing was analyzed: see [`Health::known_milli`].
    pub score_milli: u32,
    /// The parts, in the order of [`HealthDimension::ALL`]; empty if nothing was analyzed.
    pub dimensions: Vec<DimensionScore>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimensionScore {
    pub dimension: HealthDimension,
    /// From 0 to 100,000.
    pub score_milli: u32,
}

impl Health {
    /// The health of a tree without analyzed files: unknown, not perfect (law 6).
    pub(crate) const fn of_nothing() -> Self {
        Self { score_milli: 100_000, dimensions: Vec::new() }
    }

    /// From 0 to 100,000; `None` if nothing was analyzed.
    pub fn known_milli(&self) -> Option<u32> {
        (!self.dimensions.is_empty()).then_some(self.score_milli)
    }

    /// From 0 to 100, rounded down, so that 100 means no debt at all. `None` if nothing was analyzed.
    pub fn score(&self) -> Option<u32> {
        self.known_milli().map(|milli| milli / 1000)
    }

    /// `A` from 90, `B` from 75, `C` from 60, `D` from 40, otherwise `F`.
    pub fn grade(&self) -> Option<char> {
        self.score().map(|score| match score {
            90.. => 'A',
            75..90 => 'B',
            60..75 => 'C',
            40..60 => 'D',
            _ => 'F',
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn debt(n_tokens: u64, dimension: HealthDimension, tokens: u64) -> HealthDebt {
        let mut debt = HealthDebt { n_tokens, ..HealthDebt::default() };
        debt.add(dimension, tokens);
        debt
    }

    #[test]
    fn weights_are_shares_of_a_whole() {
        assert_eq!(HealthDimension::ALL.map(HealthDimension::weight).iter().sum::<u64>(), 100);
    }

    #[test]
    fn nothing_found_is_a_hundred_and_the_first_defect_is_less() {
        assert_eq!(debt(1000, HealthDimension::Complexity, 0).tree_health().score_milli, 100_000);
        assert_eq!(debt(1000, HealthDimension::Complexity, 10).tree_health().score(), Some(99));
    }

    #[test]
    fn nothing_analyzed_has_neither_score_nor_grade() {
        let nothing = Health::of_nothing();
        assert_eq!((nothing.score(), nothing.grade(), nothing.known_milli()), (None, None, None));
    }

    #[test]
    fn one_copy_is_neither_a_catastrophe_nor_nothing() {
        let tiny = debt(300, HealthDimension::Duplication, 100).tree_health();
        assert!(tiny.score() >= Some(90), "{tiny:?}");
        let huge = debt(10_000_000, HealthDimension::Duplication, 100).tree_health();
        assert!(huge.score_milli < 100_000);
    }

    #[test]
    fn the_worst_tree_still_answers_to_a_change() {
        let bad = debt(100_000, HealthDimension::Complexity, 500_000).tree_health();
        let worse = debt(100_000, HealthDimension::Complexity, 501_000).tree_health();
        assert!(worse.score_milli < bad.score_milli);
    }
}

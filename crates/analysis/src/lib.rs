//! Structural analysis of code in many languages: from the bytes of a tree to a run. Pure: it never touches a file.
//!
//! Owns: units, imports, clones, complexity, findings, health and baselines of code, and the reports about them.
//! May use: collections, core, languages, paths.
//! Must not know: a file system, a clock, an intent, a policy file.
//!
//! * [`analyze`]: turns an [`AnalysisInput`] and [`AnalysisSettings`] into a [`AnalysisRun`] and the facts of each file, for a cache.
//! * [`read_facts`]: the facts of one file, from one visit of its syntax tree.
//! * [`read_source_items`]: the logical lines of one file, for comparing versions of it.
//! * [`SourceSelection`]: which paths are analyzed, and why others are not.
//! * [`Language`]: the analyzed languages; `docs/adding-a-language.md` explains how to add one.
//! * [`Finding`]: what is wrong and where, under an id that survives moving and reformatting.
//! * `external_reports`: findings and coverage of other tools. [`report`]: a run as SARIF, Markdown and HTML.
//! * [`Baseline`]: the findings that a team accepts. [`check_gates`]: the limits that a run must keep.
//! * [`Health`]: one score and its parts. [`compare`]: two runs. [`blast_radius`]: the files a change would affect.
//!
//! The same tree gives the same run, byte for byte, whatever the number of threads and whichever facts were known.

mod analyze;
mod api;
mod baseline;
mod blast_radius;
mod brackets;
mod clones;
mod cohesion;
mod compare;
mod corpus;
mod coupling;
mod dead_code;
mod design;
mod external_reports;
mod facts;
mod finding;
mod finding_matcher;
mod finding_outline;
mod gates;
mod graph;
mod hash;
mod health;
mod imports;
mod language;
mod macro_lines;
mod newer_syntax;
mod parse;
mod preprocessor;
mod reach;
mod references;
mod regression_cause;
mod removed_references;
pub mod report;
mod run;
mod safeguards;
mod select;
mod settings;
mod severity;
mod source_items;
mod syntax_spans;
mod visit;

pub use analyze::{GivenUpCheck, analyze, analyze_unless};
pub use api::{ApiBreak, ApiChange, ApiItem};
pub use baseline::{
    BASELINE_SCHEMA, Baseline, BaselineComparison, BaselineEntry, BaselineError, BaselineHistoryEntry,
};
pub use blast_radius::{BlastRadius, blast_radius};
pub use compare::{
    AnalysisComparison, ComparisonVerdict, MetricRegression, RunMismatch, UnitMetric, compare,
};
pub use corpus::is_test_path;
pub use external_reports::{ExternalReport, JoinError, ReportKind, SourceReader, join_reports};
pub use facts::{
    AccessLevel, CallableParameter, CodeUnit, DuplicateBranch, FileFacts, FileNote, ImportKind,
    ImportStatement, IndexRange, NameRole, NameUse, SafeguardCounts, SafeguardFacts, SourceRange, Statement,
    UnitKind,
};
pub use finding::{CloneType, CodeLocation, Confidence, Finding, FindingFamily, FindingId, Severity};
pub use finding_outline::FindingOutline;
pub use gates::{GateBaseline, GateFailure, GateReport, GateRules, check_gates};
pub use health::{DimensionScore, Health, HealthDimension};
pub use language::Language;
pub use parse::read_facts;
pub use references::{FileReference, ReferenceKind};
pub use regression_cause::FindingRegression;
pub use run::{
    AnalysisInput, AnalysisOutput, AnalysisRun, FactsKey, FileDependency, JoinedReport, LeftOut,
    ReportFormat, RunFile, RunId, RunIdentity, SourceInput, UnitMeasurements,
};
pub use safeguards::{SafeguardLoss, SafeguardLossKind};
pub use select::{PathRole, SourceSelection};
pub use settings::{ANALYZER, AnalysisSettings};
pub use source_items::{
    BareCall, ItemKind, ItemUnit, SourceItem, SourceItems, SourceToken, read_source_items, words,
};
pub use syntax_spans::{SyntaxClass, SyntaxSpan, syntax_spans};

//! Structural analysis of code in many languages: from the bytes of a tree to a run. Pure: no file is ever touched here.
//!
//! Owns: units, imports, clones, complexity, findings, health and baselines of code, and the reports about them.
//! May use: core, paths.
//! Must not know: a file system, a clock, an intent, a policy file.
//!
//! * [`analyse`]: an [`Input`] and [`Settings`] give a [`Run`] and the facts of each file, for a cache.
//! * [`read`]: the facts of one file; all that is known of its bytes, from one visit of its syntax tree.
//! * [`Selection`]: which paths are analysed, and why others are not.
//! * [`Language`]: which files are read; `docs/adding-a-language.md` says how to add one.
//! * [`Finding`]: what is wrong and where, under an id that survives moving and reformatting.
//! * [`join`]: findings and coverage of other tools. [`report`]: a run as SARIF, Markdown and HTML.
//! * [`Baseline`]: the findings that a team knows. [`check_gates`]: what a run must not have.
//! * [`Health`]: one number and its parts. [`compare`]: two runs. [`blast_radius`]: who would notice a change.
//!
//! Whatever the number of threads and whichever facts were known, the same tree gives the same run, byte by byte.

mod analyse;
mod api;
mod baseline;
mod blast;
mod cause;
mod clones;
mod cohesion;
mod compare;
mod corpus;
mod coupling;
mod dead;
mod design;
mod facts;
mod finding;
mod gates;
mod graph;
mod hash;
mod health;
mod imports;
mod join;
mod language;
mod parse;
pub mod report;
mod run;
mod select;
mod settings;
mod visit;

pub use analyse::analyse;
pub use api::{ApiBreak, ApiChange, ApiItem};
pub use baseline::{BASELINE_SCHEMA, Baseline, BaselineError, Capture, Entry, Novelty};
pub use blast::{Blast, blast_radius};
pub use compare::{Comparison, Incomparable, Metric, Regression, Verdict, Worsened, compare};
pub use corpus::is_test_path;
pub use facts::{
    Access, FactsKey, FileFacts, Import, ImportKind, Name, Note, Parameter, Range, Span, Statement, Twin,
    Unit, UnitKind,
};
pub use finding::{CloneType, Confidence, Family, Finding, FindingId, Location, Severity};
pub use gates::{GateFailure, GateReport, GateRules, Known, check_gates};
pub use health::{Dimension, DimensionScore, Health};
pub use join::{JoinError, Joined, LeftOut, Report, ReportFormat, ReportKind, Sources, join};
pub use language::Language;
pub use parse::read;
pub use run::{Analysis, Dependency, Identity, Input, Measured, Run, RunFile, RunId, Source};
pub use select::{Part, Selection};
pub use settings::{ANALYSER, Settings};

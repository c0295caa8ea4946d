//! Paths of a tree, and the scopes that match them. Pure: no file is ever touched here.
//!
//! Owns: paths of a tree, patterns and their matching, scopes and their overlap.
//! May use: core.
//! Must not know: a file system, a policy, an intent.
//!
//! * [`RepoPath`]: a path relative to the sealed root, as bytes.
//! * [`MatchRule`]: the four matching rules; a [`PathMatcher`] is a list of patterns compiled under one of them.
//! * [`Scope`]: an ordered list of globs with exclusions: R.
//! * [`fnmatch`]: Python's `fnmatchcase`.
//! * [`reconcile`]: the check D ⊆ R; [`delta`]: D from two snapshots.
//! * [`overlap`]: decides exactly whether two [`ScopeClaim`]s share a path; [`outside`]: whether one contains another.
//! * [`declare_intent`], [`declare_plan`]: check a declared scope against the [`TreeNames`].
//! * [`suggest`]: a readable scope for given paths; [`escape_glob`]: a name as a pattern.
//! * [`WorkingDirectory`]: converts what people type inside a directory to paths and patterns from the root.
//! * [`vectors`]: the JSON form of this crate's functions, for `probity conformance`.

mod automaton;
mod char_class;
mod chars;
mod declare;
pub mod fnmatch;
mod glob;
mod overlap;
mod path_grammar;
mod prefix_index;
mod program;
mod reconcile;
mod repo_path;
mod representative_chars;
mod rule;
mod scope;
mod search;
mod suggest;
mod tree_names;
pub mod vectors;
mod working_directory;

pub use declare::{
    DeclarationField, DeclarationReport, IntentScope, ScopeDiagnostic, declare_intent, declare_plan,
};
pub use overlap::{ScopeClaim, outside, overlap};
pub use reconcile::{DeltaReconciliation, delta, reconcile};
pub use repo_path::{PathError, RepoPath};
pub use rule::{MatchRule, PathMatcher, UnknownRule};
pub use scope::{DecidingPattern, PathCoverage, PatternError, Scope, ScopePattern};
pub use search::TooComplex;
pub use suggest::{escape_glob, suggest};
pub use tree_names::TreeNames;
pub use working_directory::{TypedPathError, WorkingDirectory};

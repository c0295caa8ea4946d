//! Paths of a tree, and the scopes that match them. Pure: no file is ever touched here.
//!
//! Owns: paths of a tree, patterns and their matching, scopes, the check D ⊆ R.
//! May use: core.
//! Must not know: a file system, a policy, an intent.
//!
//! * [`RepoPath`]: a path relative to the sealed root, as bytes.
//! * [`MatchRule`]: the four matching rules; a [`PathMatcher`] is a list of patterns compiled under one of them.
//! * [`Scope`]: an ordered list of globs with exclusions: R.
//! * [`fnmatch`]: Python's `fnmatchcase`.
//! * [`reconcile`]: the check D ⊆ R; [`delta`]: D from two snapshots.
//! * [`escape_glob`]: a name as a pattern.
//! * [`compiled`]: the parts of a compiled pattern, for decisions about patterns instead of paths.

mod char_class;
mod chars;
pub mod fnmatch;
mod glob;
mod prefix_index;
mod program;
mod reconcile;
mod repo_path;
mod rule;
mod scope;

pub use glob::escape_glob;
pub use reconcile::{DeltaReconciliation, delta, reconcile};
pub use repo_path::{PathError, RepoPath, name_error};
pub use rule::{MatchRule, PathMatcher, UnknownRule};
pub use scope::{DecidingPattern, PathCoverage, PatternError, Scope, ScopePattern};

/// The parts of a compiled pattern.
pub mod compiled {
    pub use crate::char_class::CharClass;
    pub use crate::chars::{PathChar, decode, encode};
    pub use crate::glob::Glob;
    pub use crate::program::{CharSet, PatternStep};
}

//! Decisions about scopes as a whole: whether two meet, whether a declared one makes sense in a tree, which one to suggest.
//! Pure, and not needed to judge a run: whether a path is in a scope is decided by `paths` alone.
//!
//! Owns: the overlap of scopes, the check of declared scopes, suggested scopes, paths and patterns as people type them.
//! May use: core, paths.
//! Must not know: a file system, a policy, an intent.
//!
//! * [`overlap`]: decides exactly whether two [`ScopeClaim`]s share a path; [`outside`]: whether one contains another.
//! * [`declare_intent`], [`declare_plan`]: check a declared scope against the [`TreeNames`].
//! * [`suggest`]: a readable scope for given paths.
//! * [`WorkingDirectory`]: converts what people type inside a directory to paths and patterns from the root.
//! * [`vectors`]: the JSON form of the functions of `paths` and of this crate, for `probity conformance`.

mod automaton;
mod declare;
mod overlap;
mod path_grammar;
mod representative_chars;
mod search;
mod suggest;
mod tree_names;
pub mod vectors;
mod working_directory;

pub use declare::{
    DeclarationField, DeclarationReport, IntentScope, ScopeDiagnostic, declare_intent, declare_plan,
};
pub use overlap::{ScopeClaim, outside, overlap};
pub use search::TooComplex;
pub use suggest::suggest;
pub use tree_names::TreeNames;
pub use working_directory::{TypedPathError, WorkingDirectory};

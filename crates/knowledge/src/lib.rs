//! What agents know and decided, for every surface.
//!
//! Owns: the ledger of a repository as a service, and asking a language model within bounds.
//! May use: api, core, documents, ledger, paths, process, storage, workspace.
//! Must not know: governed runs, the registry of intents, how an answer is shown.
//!
//! * [`ledger`]: questions to the ledger and proposals for it. [`model`]: what a language model makes of a transcript.

pub mod ledger;
pub mod model;

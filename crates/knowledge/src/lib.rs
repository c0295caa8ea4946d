//! What agents know and have decided, as a service for every surface.
//!
//! Owns: the ledger of a repository as a service, and asking a language model within bounds.
//! May use: api, core, documents, ledger, process, scopes, storage, workspace.
//! Must not know: governed runs, the registry of intents, how an answer is shown.
//!
//! * [`ledger`]: queries on the ledger and proposals to it. [`model`]: transcripts read by a language model.

pub mod ledger;
pub mod model;

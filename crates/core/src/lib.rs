//! The foundation shared by every other crate: one canonical JSON, one digest, one list of reason codes (law 12).
//!
//! Owns: canonical JSON, digests, byte strings, reason codes.
//! May use: no other crate of ours.
//! Must not know: a file, a clock, any other crate of ours.
//!
//! * [`json`]: a strict parser and the RFC 8785 canonical form.
//! * [`digest`]: SHA-256, written `sha256:…`.
//! * [`chain`]: what follows what in a hash chain. [`merkle`]: the tree of the one append-only log, and its proofs.
//! * [`bytes`]: byte strings in JSON: text where they are text, hex where they are not.
//! * [`markup`]: untrusted text in Markdown, HTML and XML.
//! * [`reason`]: the reason codes, with what they mean and what to do next.
//! * [`severity`]: how much a finding matters.
//! * [`mod@write`]: the canonical form, piece by piece, for what is written often.
//! * [`vectors`]: the JSON form of this crate's functions, for `probity conformance`.

pub mod bytes;
pub mod chain;
mod change_kind;
pub mod codes;
pub mod digest;
pub mod json;
pub mod markup;
pub mod merkle;
pub mod reason;
pub mod schema;
pub mod severity;
pub mod text;
pub mod vectors;
pub mod write;

pub use change_kind::ChangeKind;
pub use digest::Digest;
pub use reason::ReasonCode;
pub use severity::Severity;

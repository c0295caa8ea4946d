//! The foundation shared by every other crate: one canonical JSON, one digest, one list of reason codes (law 12).
//!
//! Owns: canonical JSON, digests, byte strings, reason codes, the language table.
//! May use: no other crate of ours.
//! Must not know: a file, a clock, any other crate of ours.
//!
//! * [`index`]: a hash table without an iteration order, for deterministic code.
//! * [`language`]: the analyzed programming languages, by file extension.
//! * [`json`]: a strict parser and the RFC 8785 canonical form.
//! * [`digest`]: SHA-256, written `sha256:…`.
//! * [`bytes`]: byte strings in JSON, as text if they are UTF-8 and as hex otherwise; escaping for display.
//! * [`reason`]: the reason codes, each with its meaning and next step.
//! * [`severity`]: the severity scale of findings.
//! * [`mod@write`]: the writer of the canonical form, for code that builds it piece by piece.
//! * [`vectors`]: runs this crate's functions on conformance vectors, for `probity conformance`.

pub mod bytes;
pub mod codes;
pub mod digest;
pub mod index;
pub mod json;
pub mod language;
pub mod reason;
pub mod schema;
pub mod severity;
pub mod vectors;
pub mod words;
pub mod write;

pub use digest::Digest;
pub use index::Index;
pub use language::Language;
pub use reason::Reason;
pub use severity::Severity;

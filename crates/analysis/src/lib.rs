//! Structural analysis of code in many languages.

mod cohesion;
mod facts;
mod hash;
mod language;
mod parse;
mod visit;

pub use facts::{
    Access, FactsKey, FileFacts, Import, ImportKind, Name, Note, Parameter, Range, Span, Statement, Twin,
    Unit, UnitKind,
};
pub use language::Language;
pub use parse::read;

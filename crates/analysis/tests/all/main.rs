//! The tests of the whole crate, in one binary because each one links every grammar.

mod attribution;
mod bad_input;
mod clones;
mod common;
mod compare;
mod copies;
mod dead_code;
mod dead_seeds;
mod defects;
mod flow;
mod fresh_probes;
mod imports;
mod join;
mod languages;
mod laws;
mod references;
mod report;
mod rewrites;
mod safeguards;
mod severities;

//! The laws of evidence, bundles on a real file system, attestations, and the bundles of past versions.

mod attestations;
mod bundles;
mod common;
mod golden;
mod properties;
mod verifier;

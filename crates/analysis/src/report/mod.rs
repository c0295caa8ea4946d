//! A run as documents: SARIF 2.1.0 for tools, Markdown for pull requests, one HTML page for people.
//!
//! Each is a pure function of what it is given: no clock, no host, no order of threads. Lists are bounded, and a list
//! that was cut says how much is missing. Text from the tree is hostile: every writer escapes it for its format.

mod html;
mod markdown;
mod sarif;
mod words;

pub use html::html;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::compare::Comparison;
use crate::finding::FindingId;
use std::collections::BTreeSet;

/// The ids of findings that a comparison calls new.
fn new_ids(against: Option<&Comparison>) -> BTreeSet<&FindingId> {
    against.iter().flat_map(|comparison| &comparison.regressions).map(|new| &new.finding.id).collect()
}

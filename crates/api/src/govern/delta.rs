//! Files of a bundle beyond its manifest: both sides of every change, and the bundles that were removed.

use crate::document::Answer;
use probity_evidence::BundleDocument;

pub use probity_evidence::{DeltaFile, EntryKind, PrunedFile, PrunedRun, RecordedChange, RecordedSide};

impl Answer for DeltaFile {
    const SCHEMA: &'static str = <Self as BundleDocument>::SCHEMA;
}

impl Answer for PrunedFile {
    const SCHEMA: &'static str = <Self as BundleDocument>::SCHEMA;
}

//! The baseline that one side of a change carries, and what the structural gates say of that side with it.

use super::AnalysisSide;
use crate::analyze::{BASELINE_FILE, BaselineState, check_gates, hold_baseline};
use probity_analysis::{Baseline, GateReport, GateRules};
use probity_core::Digest;
use probity_workspace::{ServiceError, Workspace};

/// The baseline of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineFile {
    /// The digest of its bytes.
    pub digest: Digest,
    /// Its bytes; `None` if nobody kept them.
    pub bytes: Option<Vec<u8>>,
}

impl BaselineFile {
    /// A baseline by its bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { digest: Digest::of(&bytes), bytes: Some(bytes) }
    }

    /// The baseline that the tree has now, if it has one.
    pub fn of_tree(workspace: &Workspace) -> Result<Option<Self>, ServiceError> {
        Ok(probity_storage::durable::read(&workspace.root.join(BASELINE_FILE))?.map(Self::new))
    }
}

impl AnalysisSide {
    /// What structural gates say of this side; `None` if there are none.
    pub fn structural_gates(&self, limits: &GateRules) -> Option<GateReport> {
        if *limits == GateRules::default() {
            return None;
        }
        let state = match (&self.baseline, limits.new_findings) {
            // Only new findings are counted from a baseline.
            (_, None) | (None, _) => BaselineState::Missing,
            (Some(BaselineFile { bytes: Some(bytes), .. }), _) => hold_baseline(Some(bytes), &self.run),
            (Some(BaselineFile { bytes: None, .. }), _) => BaselineState::Untrusted {
                baseline: None,
                why: "the baseline that the tree had then was not kept".into(),
            },
        };
        Some(check_gates(&self.run, limits, &state))
    }

    /// The health that the baseline of this side was captured with. One that was changed by hand, or captured under other
    /// settings than `run` has, is not trusted.
    pub fn baseline_health(&self, run: &probity_analysis::AnalysisRun) -> Option<i64> {
        let bytes = self.baseline.as_ref()?.bytes.as_ref()?;
        let baseline = Baseline::parse(bytes).ok().filter(|baseline| baseline.fits(run))?;
        baseline.health().map(i64::from)
    }
}

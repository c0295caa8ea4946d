//! Handles the baseline of one side of a change and evaluates that side's structural gates with it.

use super::AnalysisSide;
use crate::analyze::{BASELINE_FILE, BaselineState, check_gates, hold_baseline};
use probity_analysis::{Baseline, GateReport, GateRules};
use probity_core::Digest;
use probity_workspace::{ServiceError, Workspace};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaselineFile {
    pub digest: Digest,
    /// `None` if they were not kept.
    pub bytes: Option<Vec<u8>>,
}

impl BaselineFile {
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { digest: Digest::of(&bytes), bytes: Some(bytes) }
    }

    /// Reads the current baseline of the tree.
    pub fn of_tree(workspace: &Workspace) -> Result<Option<Self>, ServiceError> {
        Ok(probity_storage::durable::read(&workspace.root.join(BASELINE_FILE))?.map(Self::new))
    }
}

impl AnalysisSide {
    /// Evaluates structural gates on this side; `None` if there are none.
    pub fn structural_gates(&self, limits: &GateRules) -> Option<GateReport> {
        if *limits == GateRules::default() {
            return None;
        }
        let state = match (&self.baseline, limits.new_findings) {
            // Only gates on new findings need a baseline.
            (_, None) | (None, _) => BaselineState::Missing,
            (Some(BaselineFile { bytes: Some(bytes), .. }), _) => hold_baseline(Some(bytes), &self.run),
            (Some(BaselineFile { bytes: None, .. }), _) => BaselineState::Untrusted {
                baseline: None,
                why: "the baseline that the tree had then was not kept".into(),
            },
        };
        Some(check_gates(&self.run, limits, &state))
    }

    /// Returns the health that this side's baseline was captured with. A baseline that was edited by hand or captured
    /// under other settings than those of `run` is not trusted.
    pub fn baseline_health(&self, run: &probity_analysis::AnalysisRun) -> Option<i64> {
        let bytes = self.baseline.as_ref()?.bytes.as_ref()?;
        let baseline = Baseline::parse(bytes).ok().filter(|baseline| baseline.fits(run))?;
        baseline.health().map(i64::from)
    }
}

//! Reads and captures the baseline of a tree: a file next to the code, so that reviewers see every change to it.

use probity_analysis::{AnalysisRun, Baseline, BaselineComparison};
pub use probity_contract::BASELINE_FILE;
use probity_workspace::{ServiceError, Workspace, clock};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineState {
    Missing,
    /// The baseline was compared with the analysis.
    Held {
        baseline: Box<Baseline>,
        novelty: BaselineComparison,
    },
    /// The baseline exists but cannot be trusted.
    Untrusted {
        /// Present if the file can be parsed.
        baseline: Option<Box<Baseline>>,
        why: String,
    },
}

impl BaselineState {
    /// Returns the baseline if it exists and can be parsed.
    pub fn baseline(&self) -> Option<&Baseline> {
        match self {
            Self::Missing => None,
            Self::Held { baseline, .. } => Some(baseline),
            Self::Untrusted { baseline, .. } => baseline.as_deref(),
        }
    }
}

/// Reads the tree's baseline and compares it with an analysis.
pub fn read_baseline(workspace: &Workspace, run: &AnalysisRun) -> Result<BaselineState, ServiceError> {
    let bytes = probity_storage::durable::read(&workspace.root.join(BASELINE_FILE))?;
    Ok(hold_baseline(bytes.as_deref(), run))
}

/// Compares the bytes of a baseline with an analysis.
pub fn hold_baseline(bytes: Option<&[u8]>, run: &AnalysisRun) -> BaselineState {
    let Some(bytes) = bytes else { return BaselineState::Missing };
    match Baseline::parse(bytes) {
        Ok(baseline) if baseline.fits(run) => {
            BaselineState::Held { novelty: baseline.compare_with(run), baseline: Box::new(baseline) }
        }
        Ok(baseline) => BaselineState::Untrusted {
            baseline: Some(Box::new(baseline)),
            why: "the baseline was captured by another analyzer or with other settings".into(),
        },
        Err(error) => BaselineState::Untrusted {
            baseline: None,
            why: format!("the baseline cannot be relied on: {error}"),
        },
    }
}

/// Captures the findings of an analysis as the tree's baseline and records who did it, why and when.
pub fn capture_baseline(
    workspace: &Workspace,
    run: &AnalysisRun,
    by: &str,
    why: &str,
) -> Result<Baseline, ServiceError> {
    if why.trim().is_empty() {
        return Err(ServiceError::BadInput("a baseline needs a reason: `--why TEXT`".into()));
    }
    let state = read_baseline(workspace, run)?;
    let baseline = Baseline::capture(run, state.baseline(), by, why, &clock::now());
    let path = workspace.root.join(BASELINE_FILE);
    // Written with ordinary permissions, unlike state files: it is part of the tree, which others build and review.
    std::fs::write(&path, baseline.to_bytes())
        .map_err(ServiceError::system(format!("cannot write {}", path.display())))?;
    Ok(baseline)
}

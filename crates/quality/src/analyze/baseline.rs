//! The baseline of a tree: a file beside the code, so that reviewers see every change of it.

use probity_analysis::{AnalysisRun, Baseline, BaselineComparison};
pub use probity_contract::BASELINE_FILE;
use probity_workspace::{ServiceError, Workspace, clock};

/// What the baseline of a tree says about a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaselineState {
    /// There is none.
    Missing,
    /// It was held against the run.
    Held {
        /// The baseline.
        baseline: Box<Baseline>,
        /// What it says.
        novelty: BaselineComparison,
    },
    /// There is one that cannot be relied on.
    Untrusted {
        /// The baseline, if it can be read at all.
        baseline: Option<Box<Baseline>>,
        /// Why.
        why: String,
    },
}

impl BaselineState {
    /// The baseline, if there is one that can be read.
    pub fn baseline(&self) -> Option<&Baseline> {
        match self {
            Self::Missing => None,
            Self::Held { baseline, .. } => Some(baseline),
            Self::Untrusted { baseline, .. } => baseline.as_deref(),
        }
    }
}

/// Reads the baseline of the tree and holds it against a run.
pub fn read_baseline(workspace: &Workspace, run: &AnalysisRun) -> Result<BaselineState, ServiceError> {
    let bytes = probity_storage::durable::read(&workspace.root.join(BASELINE_FILE))?;
    Ok(hold_baseline(bytes.as_deref(), run))
}

/// Holds the bytes of a baseline, if there is one, against a run.
pub fn hold_baseline(bytes: Option<&[u8]>, run: &AnalysisRun) -> BaselineState {
    let Some(bytes) = bytes else { return BaselineState::Missing };
    match Baseline::parse(bytes) {
        Ok(baseline) if baseline.fits(run) => {
            BaselineState::Held { novelty: baseline.compare_with(run), baseline: Box::new(baseline) }
        }
        Ok(baseline) => BaselineState::Untrusted {
            baseline: Some(Box::new(baseline)),
            why: "the baseline was captured by another analyser or with other settings".into(),
        },
        Err(error) => BaselineState::Untrusted {
            baseline: None,
            why: format!("the baseline cannot be relied on: {error}"),
        },
    }
}

/// Takes the findings of a run as the baseline of the tree, on the record: who, why, when.
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
    // It is a file of the tree like any other, so its owner alone is not enough: others build and review it.
    std::fs::write(&path, baseline.to_bytes())
        .map_err(ServiceError::system(format!("cannot write {}", path.display())))?;
    Ok(baseline)
}

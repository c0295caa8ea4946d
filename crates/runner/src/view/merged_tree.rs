//! The tree as a view shows it, for a judge outside of it.
//!
//! A process of ours stays in a view above the layer of the run, and its `root` in `/proc` leads there. Nothing that
//! belongs to the tree is started.

use super::RunView;
use probity_process::{BackgroundHelper, ProcessEnvironment};
use probity_sandbox::{HOLD_ROLE, NetworkAccess, OWN_PROGRAM, ScratchOverlays, ViewPlan};
use probity_workspace::ServiceError;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Time for a view to be built.
const VIEW_START_TIMEOUT: Duration = Duration::from_mins(1);

/// A view that is held open.
pub(crate) struct MergedTree {
    _holder: BackgroundHelper,
    root: PathBuf,
}

impl MergedTree {
    /// Opens a view of the tree with the layer of the run.
    pub(crate) fn open(view: &RunView<'_>) -> Result<Self, ServiceError> {
        let place = view.directory.join("look");
        super::remove_layer(&place)?;
        view.create_layers("look")?;
        let plan = ViewPlan {
            overlays: view.overlays("look", true),
            scratch: ScratchOverlays::default(),
            writable: Vec::new(),
            visible: Vec::new(),
            read_only: Vec::new(),
            hidden: Vec::new(),
            network: NetworkAccess::Off,
            outside: Vec::new(),
            working_directory: "/".into(),
            report: place.join("report").into(),
        };
        let argv = view.entrance(&plan, "look/plan", &[OWN_PROGRAM.into(), HOLD_ROLE.into()])?;
        let failed = |error: std::io::Error| {
            let failure = super::read_report(&plan).and_then(|report| report.failure);
            ServiceError::System {
                what: "cannot look into the view of the run".into(),
                source: failure.map_or(error, std::io::Error::other),
            }
        };
        let mut holder = BackgroundHelper::start(&argv, &ProcessEnvironment::empty(), VIEW_START_TIMEOUT)
            .map_err(failed)?;
        let init = first_child(holder.pid()).ok_or_else(|| ServiceError::System {
            what: "cannot look into the view of the run".into(),
            source: std::io::ErrorKind::NotFound.into(),
        })?;
        Ok(Self { _holder: holder, root: PathBuf::from(format!("/proc/{init}/root")) })
    }

    /// The root of the view's file system.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

/// Returns the process that the entrance of a view started: process 1 of the view.
///
/// The entrance itself cannot be looked into: it was started before it entered its namespaces.
fn first_child(process: u32) -> Option<u32> {
    tracing::trace!(target: "probity::work", process_reads = 1_u64);
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

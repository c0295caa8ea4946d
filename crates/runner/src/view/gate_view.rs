//! Gates in a view: they see the tree with a layer and write to a layer of their own, without network.

use super::{RunView, ViewRole};
use probity_policy::NetworkRule;
use probity_process::{Job, JobReport, Supervisor};
use probity_workspace::gates::GateConfinement;
use std::io;
use std::path::Path;

/// The gates of a run, in views above the layer of its command.
#[derive(Debug)]
pub(crate) struct GateView<'a> {
    pub(crate) view: &'a RunView<'a>,
    /// Leads to the root of the file system that the gates see.
    pub(crate) file_root: &'a Path,
}

impl GateConfinement for GateView<'_> {
    fn run(&self, supervisor: &mut Supervisor, job: Job) -> io::Result<JobReport> {
        let ended = self.view.run(supervisor, ViewRole::Gate, NetworkRule::Off, job);
        ended.map(|(report, _)| report).map_err(io::Error::other)
    }

    fn file_root(&self) -> &Path {
        self.file_root
    }
}

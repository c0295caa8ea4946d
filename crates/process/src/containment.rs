//! Detects what this machine offers to keep a job's processes together.

#[cfg(target_os = "linux")]
use crate::{cgroup::Cgroup, descendants::DescendantProcesses};
use crate::{process_group::ProcessGroup, process_tree::ProcessTree};

/// How firmly jobs are held on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Containment {
    /// True if processes that leave the job's process group are found, because orphans become children of this process.
    pub subreaper: bool,
    /// True if a control group kills all processes of a job at once, however fast they fork.
    pub cgroup: bool,
    /// Known weaknesses on this machine, in words.
    pub notes: Vec<String>,
}

/// The containment report together with its resources.
pub(crate) struct ContainmentMeans {
    containment: Containment,
    #[cfg(target_os = "linux")]
    cgroup: Option<Cgroup>,
}

#[cfg(target_os = "linux")]
impl ContainmentMeans {
    pub(crate) fn find() -> Self {
        if let Err(error) = adopt_orphans() {
            let why = format!("this process cannot become a subreaper ({error})");
            return Self { containment: group_only(&why), cgroup: None };
        }
        let (cgroup, notes) = match Cgroup::new() {
            Ok(cgroup) => (Some(cgroup), Vec::new()),
            Err(why) => (None, vec![without_cgroup(&why)]),
        };
        Self { containment: Containment { subreaper: true, cgroup: cgroup.is_some(), notes }, cgroup }
    }

    /// Reports how firmly jobs are held; whether a control group holds them is known once the first one has started.
    pub(crate) fn report(&self) -> Containment {
        let mut containment = self.containment.clone();
        if let Some(why) = self.cgroup.as_ref().and_then(Cgroup::refusal) {
            containment.cgroup = false;
            containment.notes.push(without_cgroup(why));
        }
        containment
    }

    /// Returns the process tree for a job about to start.
    pub(crate) fn tree(&self) -> Box<dyn ProcessTree + '_> {
        if self.containment.subreaper {
            Box::new(DescendantProcesses::before_start(self.cgroup.as_ref()))
        } else {
            Box::new(ProcessGroup::default())
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl ContainmentMeans {
    pub(crate) fn find() -> Self {
        Self { containment: group_only("this system has no subreapers") }
    }

    pub(crate) fn report(&self) -> Containment {
        self.containment.clone()
    }

    #[expect(clippy::unused_self, reason = "on Linux the means decide")]
    pub(crate) fn tree(&self) -> Box<dyn ProcessTree + '_> {
        Box::new(ProcessGroup::default())
    }
}

/// Makes this process the parent of all orphans below it, so that none of them can pass for a stranger. Call it before
/// the first process is started; does nothing where the system does not support it.
pub fn adopt_orphans() -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

#[cfg(target_os = "linux")]
fn without_cgroup(why: &str) -> String {
    format!("{why}: a job that forks without pause may be hard to end")
}

fn group_only(why: &str) -> Containment {
    let note = format!("{why}: processes that leave their job's process group are neither found nor ended");
    Containment { subreaper: false, cgroup: false, notes: vec![note] }
}

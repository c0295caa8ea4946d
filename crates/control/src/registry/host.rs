//! What the rules are told about the machine: the time, and whether a process is still the one that it was.
//!
//! A process is told by its number, its start time and the boot it belongs to, so a number that was given out again is
//! noticed. Processes of other hosts, and of other containers on this one, are never asked about: their numbers mean
//! nothing here.

use crate::clock;
use intent::{Owner, Probe, Timestamp};
use std::path::Path;
use std::sync::OnceLock;

/// The number of the first process namespace of every Linux.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// A machine as the registry sees it. Simulations have their own.
pub trait Host: Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// The name under which owners of this machine are recorded.
    fn name(&self) -> &str;

    /// Which start of the machine this is, where known.
    fn boot_id(&self) -> Option<&str>;

    /// What the machine says about one of its processes.
    fn probe(&self, pid: u32) -> Probe;
}

/// Whether an owner can be asked about here: it named a process, and the process is one of this host.
pub(super) fn can_probe(host: &dyn Host, owner: &Owner) -> bool {
    owner.pid != 0 && owner.host == host.name() && owner.boot_id.as_deref() == host.boot_id()
}

/// This machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Machine;

impl Host for Machine {
    fn now(&self) -> Timestamp {
        Timestamp(clock::seconds())
    }

    fn name(&self) -> &str {
        static NAME: OnceLock<String> = OnceLock::new();
        NAME.get_or_init(name)
    }

    fn boot_id(&self) -> Option<&str> {
        Some(store::boot::id()).filter(|id| !id.is_empty())
    }

    fn probe(&self, pid: u32) -> Probe {
        probe(pid)
    }
}

/// The name of the host; in a container with processes of its own also the name of that container's processes.
fn name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match namespace.to_str() {
        Some(own) if !own.is_empty() && own != FIRST_NAMESPACE => format!("{name}/{own}"),
        _ => name,
    }
}

fn probe(pid: u32) -> Probe {
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    match stat.ok().as_deref().and_then(parse_stat) {
        Some(Stat { state: 'Z' | 'X', .. }) => Probe { exists: false, pid_start: None },
        Some(stat) => Probe { exists: true, pid_start: Some(stat.start) },
        // Its entry may be hidden from us. Only if the system knows no such process is it gone.
        None => Probe { exists: can_be_signalled(pid), pid_start: None },
    }
}

fn can_be_signalled(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

/// What counts of a process's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    state: char,
    parent: u32,
    start: u64,
}

/// Reads `/proc/<pid>/stat`. The name of the program may hold anything, so fields are counted behind its last bracket.
fn parse_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// Whether `pid` is this process or one that started it, directly or not.
pub(super) fn is_self_or_ancestor(pid: u32) -> bool {
    let parent = |pid: u32| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(&text).map(|stat| stat.parent).filter(|&parent| parent != 0)
    };
    std::iter::successors(Some(std::process::id()), |&pid| parent(pid)).any(|ancestor| ancestor == pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_be_called_anything() {
        let rest = "S 7 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0";
        let stat = parse_stat(&format!("12 (a) Z 9 (b) {rest}")).expect("is read");
        assert_eq!(stat, Stat { state: 'S', parent: 7, start: 4711 });
        assert_eq!(parse_stat("12 (a"), None);
    }

    #[test]
    fn this_process_exists_and_one_that_is_gone_does_not() {
        let own = Machine.probe(std::process::id());
        assert!(own.exists && own.pid_start.is_some());
        // No system gives a process this id; that of an ended one could have come to mean another.
        assert!(!Machine.probe(i32::MAX.cast_unsigned()).exists);
    }

    #[test]
    fn one_that_has_ended_and_was_not_asked_for_is_gone() {
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        testkit::wait_until("it has ended", || !Machine.probe(child.id()).exists);
        child.wait().expect("ends");
    }

    #[test]
    fn processes_of_another_host_or_another_boot_are_not_asked_about() {
        let here = Owner {
            host: Machine.name().into(),
            boot_id: Machine.boot_id().map(Into::into),
            pid: 1,
            ..Owner::default()
        };
        assert!(can_probe(&Machine, &here));
        for other in [
            Owner { host: "elsewhere".into(), ..here.clone() },
            Owner { boot_id: Some("earlier".into()), ..here.clone() },
            Owner { pid: 0, ..here },
        ] {
            assert!(!can_probe(&Machine, &other), "{other:?}");
        }
    }

    #[test]
    fn knows_its_ancestors() {
        assert!(is_self_or_ancestor(std::process::id()));
        assert!(is_self_or_ancestor(std::os::unix::process::parent_id()));
        let mut child = std::process::Command::new("sleep").arg("3600").spawn().expect("starts");
        assert!(!is_self_or_ancestor(child.id()));
        child.kill().expect("ends");
        child.wait().expect("ends");
    }
}

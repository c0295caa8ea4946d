//! Observes the machine for the registry: the time, and whether a process is still the same one.
//!
//! A process is identified by its pid, its start time and the boot, so a reused pid is noticed. Processes of other
//! hosts, and of other containers on this one, are never probed: their pids mean nothing here.
//!
//! The kernel reports start times in the reader's time namespace. They are converted to the initial namespace, so
//! that a process has the same start time wherever it is probed. If that is impossible, there is no start time and
//! the process counts as alive (law 15).

use super::published_log;
use probity_intents::clone_logs::{CloneLogHead, CloneLogs};
use probity_intents::{IntentOwner, ProcessProbe, Timestamp};
use probity_workspace::clone_identity::CloneIdentity;
use probity_workspace::{ServiceError, StateDirectory, clock};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

/// The inode of the initial pid namespace, the same on every Linux.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// The machine as the registry sees it. Simulations implement their own.
pub trait RegistryHost: Send + Sync {
    fn now(&self) -> Timestamp;

    /// The name under which owners on this machine are recorded.
    fn host_name(&self) -> &str;

    fn boot_id(&self) -> Option<&str>;

    fn probe_process(&self, pid: u32) -> ProcessProbe;

    /// The session of this clone since the last boot, if it has a state directory.
    fn session(&self) -> Option<&str> {
        None
    }

    /// Sessions of this clone that ended with an earlier boot of this machine.
    fn ended_sessions(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    /// Returns the head of this clone's own log for the events of its team; `None` if nothing is new since the last one
    /// that was published.
    fn clone_log(&self, _published: &CloneLogs) -> Result<Option<CloneLogHead>, ServiceError> {
        Ok(None)
    }

    /// Waits before a command is tried again.
    fn pause(&self, pause: Duration) {
        std::thread::sleep(pause);
    }

    /// The time since boot, which nobody can set, with the boot that it counts from.
    fn uptime(&self) -> (String, Duration) {
        (probity_storage::boot::boot_id().to_owned(), probity_storage::boot::since_boot())
    }
}

/// Returns whether an owner can be probed here: it named a process, and the process belongs to this host, boot and
/// session. Host names and boots alone are copied with images of machines.
pub(super) fn can_probe(host: &dyn RegistryHost, owner: &IntentOwner) -> bool {
    owner.pid != 0
        && owner.host == host.host_name()
        && owner.boot_id.as_deref() == host.boot_id()
        && owner.session.as_deref() == host.session()
}

#[derive(Debug, Clone, Copy, Default)]
pub struct LocalHost;

impl RegistryHost for LocalHost {
    fn now(&self) -> Timestamp {
        Timestamp(clock::now_seconds())
    }

    fn host_name(&self) -> &str {
        local_host_name()
    }

    fn boot_id(&self) -> Option<&str> {
        Some(probity_storage::boot::boot_id()).filter(|id| !id.is_empty())
    }

    fn probe_process(&self, pid: u32) -> ProcessProbe {
        probe(pid)
    }
}

/// This machine, as one clone on it sees it.
#[derive(Debug, Clone)]
pub struct CloneHost {
    identity: CloneIdentity,
    state: StateDirectory,
}

impl CloneHost {
    pub fn new(identity: CloneIdentity, state: &StateDirectory) -> Self {
        Self { identity, state: state.clone() }
    }
}

impl RegistryHost for CloneHost {
    fn now(&self) -> Timestamp {
        LocalHost.now()
    }

    fn host_name(&self) -> &str {
        local_host_name()
    }

    fn boot_id(&self) -> Option<&str> {
        Some(probity_storage::boot::boot_id()).filter(|id| !id.is_empty())
    }

    fn probe_process(&self, pid: u32) -> ProcessProbe {
        probe(pid)
    }

    fn session(&self) -> Option<&str> {
        Some(&self.identity.session)
    }

    fn ended_sessions(&self) -> BTreeSet<String> {
        self.identity.ended_sessions()
    }

    fn clone_log(&self, published: &CloneLogs) -> Result<Option<CloneLogHead>, ServiceError> {
        published_log::head(&self.state, &self.identity.clone, published)
    }
}

fn local_host_name() -> &'static str {
    static HOST_NAME: OnceLock<String> = OnceLock::new();
    HOST_NAME.get_or_init(name)
}

/// Returns the host name; in a container with its own pid namespace, the namespace is appended.
fn name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    match namespace.to_str() {
        Some(own) if !own.is_empty() && own != FIRST_NAMESPACE => format!("{name}/{own}"),
        _ => name,
    }
}

fn probe(pid: u32) -> ProcessProbe {
    tracing::trace!(target: "probity::work", process_reads = 1_u64);
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    match stat.ok().as_deref().and_then(parse_stat) {
        Some(ProcessStat { state: 'Z' | 'X', .. }) => ProcessProbe { exists: false, pid_start: None },
        Some(stat) => ProcessProbe { exists: true, pid_start: in_first_time_namespace(stat.start) },
        // Its entry may be hidden from this user. The process is gone only if the kernel knows no such pid.
        None => ProcessProbe { exists: can_be_signaled(pid), pid_start: None },
    }
}

/// Nanoseconds per tick of a start time: Linux reports 100 ticks per second to every program.
const TICK_NANOSECONDS: i128 = 10_000_000;

/// No machine runs for this many ticks (300 years): a larger start time is negative in its namespace.
const MAX_START_TICKS: u64 = 1_000_000_000_000;

/// Converts a start time from this process's time namespace to the initial one.
fn in_first_time_namespace(start: u64) -> Option<u64> {
    let own = std::fs::read_link("/proc/self/ns/time");
    let of_children = std::fs::read_link("/proc/self/ns/time_for_children");
    match (own, of_children) {
        (Ok(own), Ok(of_children)) if own == of_children => {
            // The file has the offsets of the children's namespace, which is the same as this one here.
            let offsets = std::fs::read_to_string("/proc/self/timens_offsets").ok()?;
            without_offset(start, boot_time_offset(&offsets)?)
        }
        (Err(error), _) if error.kind() == std::io::ErrorKind::NotFound => Some(start),
        _ => None,
    }
}

/// Returns the nanoseconds by which a time namespace shifts the time since boot.
fn boot_time_offset(offsets: &str) -> Option<i128> {
    let mut lines = offsets.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    // Older kernels name clocks by number: 7 is the boot time.
    let line = lines.find(|words| matches!(words.first(), Some(&("boottime" | "7"))))?;
    let [_, seconds, nanoseconds] = line[..] else { return None };
    Some(seconds.parse::<i64>().map(i128::from).ok()? * 1_000_000_000 + nanoseconds.parse::<i128>().ok()?)
}

/// Subtracts an offset from a start time in ticks; `None` if ticks cannot represent the result exactly.
fn without_offset(start: u64, offset: i128) -> Option<u64> {
    if offset == 0 {
        return Some(start);
    }
    let is_exact = offset % TICK_NANOSECONDS == 0 && start < MAX_START_TICKS;
    is_exact.then(|| u64::try_from(i128::from(start) - offset / TICK_NANOSECONDS).ok()).flatten()
}

fn can_be_signaled(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ProcessStat {
    state: char,
    parent: u32,
    start: u64,
}

/// Parses `/proc/<pid>/stat`. The program name may contain anything, so fields are counted after its last parenthesis.
fn parse_stat(text: &str) -> Option<ProcessStat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(ProcessStat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// Returns whether `pid` is this process or one of its ancestors.
pub(super) fn is_self_or_ancestor(pid: u32) -> bool {
    let parent = |pid: u32| {
        tracing::trace!(target: "probity::work", process_reads = 1_u64);
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
        assert_eq!(stat, ProcessStat { state: 'S', parent: 7, start: 4711 });
        assert_eq!(parse_stat("12 (a"), None);
    }

    #[test]
    fn a_start_time_is_told_without_the_offset_of_its_namespace() {
        let offsets = "monotonic           0         0\nboottime        86400         0\n";
        assert_eq!(boot_time_offset(offsets), Some(86_400_000_000_000));
        assert_eq!(boot_time_offset("1 0 0\n7 -5 20\n"), Some(-4_999_999_980));
        assert_eq!((boot_time_offset(""), boot_time_offset("boottime x 0\n")), (None, None));
        assert_eq!(without_offset(8_640_700, 86_400_000_000_000), Some(700));
        assert_eq!(without_offset(200, -5_000_000_000), Some(700));
        assert_eq!(without_offset(700, 1), None, "an offset of a part of a tick");
        assert_eq!(without_offset(u64::MAX / 10_000_000, -5_000_000_000), None, "a start below zero");
        assert_eq!(without_offset(u64::MAX / 10_000_000, 0), Some(u64::MAX / 10_000_000));
        assert_eq!(without_offset(1, 86_400_000_000_000), None, "earlier than the boot");
    }

    /// Names the process to probe in the child of [`a_process_has_one_start_in_every_time_namespace`].
    const ASKED_PID: &str = "PROBITY_TEST_ASKED_PID";

    #[test]
    fn a_process_has_one_start_in_every_time_namespace() {
        if let Some(pid) = std::env::var(ASKED_PID).ok().and_then(|pid| pid.parse().ok()) {
            return println!("<{:?}>", LocalHost.probe_process(pid));
        }
        let own = LocalHost.probe_process(std::process::id());
        for offset in ["86400", "-1"] {
            let test = "registry::host::tests::a_process_has_one_start_in_every_time_namespace";
            let mut command = std::process::Command::new("unshare");
            command.args(["--time", "--fork", "--boottime", offset, "--"]);
            command.arg(std::env::current_exe().expect("this program"));
            command.args(["--exact", test, "--nocapture"]).env(ASKED_PID, std::process::id().to_string());
            let answer = match command.output() {
                Ok(output) if output.status.success() => output,
                _ => return probity_testkit::skip!("no time namespace can be made here"),
            };
            let words = String::from_utf8_lossy(&answer.stdout).into_owned();
            assert!(words.contains(&format!("<{own:?}>")), "{offset}: {own:?} is told as {words}");
        }
    }

    #[test]
    fn this_process_exists_and_one_that_is_gone_does_not() {
        let own = LocalHost.probe_process(std::process::id());
        assert!(own.exists && own.pid_start.is_some());
        // No system assigns this pid; that of an ended process could be reused.
        assert!(!LocalHost.probe_process(i32::MAX.cast_unsigned()).exists);
    }

    #[test]
    fn one_that_has_ended_and_was_not_asked_for_is_gone() {
        let mut child = std::process::Command::new("true").spawn().expect("starts");
        probity_testkit::wait_until("it has ended", || !LocalHost.probe_process(child.id()).exists);
        child.wait().expect("ends");
    }

    #[test]
    fn processes_of_another_host_or_another_boot_are_not_asked_about() {
        let here = IntentOwner {
            host: LocalHost.host_name().into(),
            boot_id: LocalHost.boot_id().map(Into::into),
            pid: 1,
            ..IntentOwner::default()
        };
        assert!(can_probe(&LocalHost, &here));
        for other in [
            IntentOwner { host: "elsewhere".into(), ..here.clone() },
            IntentOwner { boot_id: Some("earlier".into()), ..here.clone() },
            IntentOwner { session: Some("another".into()), ..here.clone() },
            IntentOwner { pid: 0, ..here },
        ] {
            assert!(!can_probe(&LocalHost, &other), "{other:?}");
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

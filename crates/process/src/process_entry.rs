//! Reads single processes from `/proc` and signals them safely.
//!
//! A process id alone can be reused at any time; together with the start time it is unique.

use crate::process_tree::ProcessIdentity;
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use std::fs::{self, File};
use std::io::Read;

const MAX_COMMAND_BYTES: u64 = 256;

/// A process and its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProcessEntry {
    pub(crate) member: ProcessIdentity,
    pub(crate) parent: i32,
    /// False for a process that has ended, which stays visible until its parent reaps it.
    pub(crate) runs: bool,
}

/// Returns all visible processes. Those that come and go during the scan may be missing.
pub(crate) fn all_processes() -> Vec<ProcessEntry> {
    process_ids().into_iter().filter_map(read).collect()
}

/// Returns the processes with the highest ids, highest first. Each is read lazily, after the previous one was handled.
pub(crate) fn newest_processes(count: usize) -> impl Iterator<Item = ProcessEntry> {
    process_ids().into_iter().rev().take(count).filter_map(read)
}

/// Lists process ids in ascending order, as the kernel does.
fn process_ids() -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| Pid::from_raw(name.to_str()?.parse().ok()?)).collect()
}

/// Returns the id of the process that started `pid`, or adopted it when its own parent ended: 0 if that is nobody here.
pub(crate) fn parent_id(pid: Pid) -> Option<i32> {
    Some(read(pid)?.parent)
}

fn read(pid: Pid) -> Option<ProcessEntry> {
    tracing::trace!(target: "probity::work", process_reads = 1_u64);
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &stat)
}

/// Parses `pid (name) state parent … threads … start …`. The name may contain anything, even closing parentheses.
fn parse(pid: Pid, stat: &[u8]) -> Option<ProcessEntry> {
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[after_name..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let parent = fields.get(1)?.parse().ok()?;
    let n_threads: u64 = fields.get(17)?.parse().ok()?;
    let started = fields.get(19)?.parse().ok()?;
    // A process whose first thread has ended also shows as a zombie; only the count of its other threads tells it
    // apart.
    let runs = !matches!(*fields.first()?, "Z" | "X") || n_threads > 1;
    Some(ProcessEntry { member: ProcessIdentity { pid, started }, parent, runs })
}

/// Sends a signal to this process and never to another that got its id.
pub(crate) fn signal(member: ProcessIdentity, signal: Signal) {
    match pidfd_open(member.pid, PidfdFlags::empty()) {
        // Checked after the handle was opened: from then on it refers to a single process.
        Ok(handle) if is_still_there(member) => drop(pidfd_send_signal(&handle, signal)),
        Err(Errno::NOSYS) if is_still_there(member) => drop(kill_process(member.pid, signal)),
        _ => {}
    }
}

fn is_still_there(member: ProcessIdentity) -> bool {
    read(member.pid).is_some_and(|process| process.member == member)
}

/// Returns the command line of a process on one line, or its name if it has none.
pub(crate) fn command(pid: Pid) -> String {
    let line = start_of(&format!("/proc/{pid}/cmdline"));
    let line = if line.is_empty() { start_of(&format!("/proc/{pid}/comm")) } else { line };
    let spaced: Vec<u8> = line.into_iter().map(|byte| if byte == 0 { b' ' } else { byte }).collect();
    probity_core::bytes::escape(spaced.trim_ascii())
}

fn start_of(path: &str) -> Vec<u8> {
    tracing::trace!(target: "probity::work", process_reads = 1_u64);
    let mut start = Vec::new();
    if let Ok(file) = File::open(path) {
        // A process that has just ended reads as empty.
        let _ = file.take(MAX_COMMAND_BYTES).read_to_end(&mut start);
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "42 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 9177 0 0";

    fn parsed(stat: &str) -> Option<ProcessEntry> {
        parse(Pid::INIT, stat.as_bytes())
    }

    #[test]
    fn a_name_cannot_disturb_the_fields() {
        let process = parsed(&format!("1 (a) R 1 (x)) S {REST}")).unwrap();
        assert_eq!((process.parent, process.member.started, process.runs), (42, 9177, true));
    }

    #[test]
    fn what_has_ended_does_not_run() {
        assert!(!parsed(&format!("1 (a) Z {REST}")).unwrap().runs);
    }

    #[test]
    fn a_process_that_lost_its_first_thread_still_runs() {
        let rest = REST.replacen(" 20 0 1 0 ", " 20 0 2 0 ", 1);
        assert!(parsed(&format!("1 (a) Z {rest}")).unwrap().runs);
    }

    #[test]
    fn nonsense_is_no_process() {
        for stat in ["", "1 (a", "1 (a) S", "1 (a) S x y"] {
            assert_eq!(parsed(stat), None);
        }
    }

    #[test]
    fn finds_itself() {
        let me = rustix::process::getpid();
        let found = all_processes().into_iter().find(|process| process.member.pid == me).unwrap();
        assert!(found.runs && is_still_there(found.member));
        assert!(command(me).contains("probity_process"));
    }
}

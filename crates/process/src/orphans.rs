//! Finds processes of a job whose supervisor was killed, by a variable that every process of the job inherits.

use std::fs;

/// A process that still runs without its supervisor.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrphanProcess {
    pub pid: i32,
    /// The program name as the kernel keeps it.
    pub program: String,
}

/// Returns the processes that have `name=value` in their environment, by id. This is only a hint: a process can drop
/// the variable, and other users' processes are not visible. Empty on systems without `/proc`.
pub fn processes_with_variable(name: &str, value: &str) -> Vec<OrphanProcess> {
    let wanted = format!("{name}={value}").into_bytes();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut found: Vec<OrphanProcess> = ids
        .filter(|pid: &i32| {
            tracing::trace!(target: "probity::work", process_reads = 1_u64);
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
        })
        .map(|pid| OrphanProcess { pid, program: program_of(pid) })
        .collect();
    found.sort();
    found
}

fn program_of(pid: i32) -> String {
    let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
    probity_core::bytes::escape(name.trim_ascii_end())
}

//! Places at which a test ends the process as a kill would, or has somebody else write to the tree. They do nothing
//! outside tests.

#[cfg(not(test))]
pub(super) const fn pass() {}

/// The number of places that a test process passes before it aborts.
#[cfg(test)]
pub(super) const ABORT_VARIABLE: &str = "PROBITY_TEST_ABORT_AFTER";

/// `N PATH`: after N places, a test process appends a line to the file at PATH.
#[cfg(test)]
pub(super) const WRITE_VARIABLE: &str = "PROBITY_TEST_WRITE_AFTER";

#[cfg(test)]
pub(super) fn pass() {
    use std::io::Write as _;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU64, Ordering};
    /// The step after which the process aborts, and the step after which it writes to a file.
    type CrashPlan = (Option<u64>, Option<(u64, String)>);
    static PLAN: OnceLock<CrashPlan> = OnceLock::new();
    static N_PASSED: AtomicU64 = AtomicU64::new(0);
    let (abort, write) = PLAN.get_or_init(|| {
        let write = std::env::var(WRITE_VARIABLE).ok();
        let write = write.as_deref().and_then(|text| text.split_once(' '));
        let abort = std::env::var(ABORT_VARIABLE).ok().and_then(|text| text.parse().ok());
        (abort, write.and_then(|(n, path)| Some((n.parse().ok()?, path.to_owned()))))
    });
    if abort.is_none() && write.is_none() {
        return;
    }
    let n = N_PASSED.fetch_add(1, Ordering::Relaxed);
    if let Some((_, path)) = write.as_ref().filter(|(after, _)| *after == n) {
        let mut file = std::fs::OpenOptions::new().append(true).open(path).expect("is there");
        file.write_all(b"somebody else\n").expect("writes");
    }
    if *abort == Some(n) {
        std::process::abort();
    }
}

//! Identity and age of the current boot of this machine.

use std::sync::OnceLock;
use std::time::Duration;

/// Returns an identifier of the current boot; empty where the system does not provide one.
pub fn boot_id() -> &'static str {
    static BOOT_ID: OnceLock<String> = OnceLock::new();
    BOOT_ID.get_or_init(|| {
        let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        text.trim().to_owned()
    })
}

/// Returns the time since boot. Setting the wall clock does not affect it; on Linux it includes time asleep.
pub fn since_boot() -> Duration {
    #[cfg(target_os = "linux")]
    let clock = rustix::time::ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let clock = rustix::time::ClockId::Monotonic;
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_the_start_stays() {
        let (first, name) = (since_boot(), boot_id());
        assert!(since_boot() >= first && !first.is_zero());
        assert_eq!(name, boot_id());
    }
}

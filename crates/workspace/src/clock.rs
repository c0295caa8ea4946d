//! The only clock and the only source of ids (law 12).

/// The current time in UTC, as RFC 3339 with milliseconds.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    // Milliseconds are precise enough and give every timestamp the same length.
    format!("{now:.3}")
}

/// The current time in seconds since 1970.
pub fn now_seconds() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0)
}

/// Formats seconds since 1970 as RFC 3339, capped at the last representable second.
pub fn format_rfc3339(seconds: u64) -> String {
    let named = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    named.unwrap_or(jiff::Timestamp::MAX).strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The time `age` ago, in the format of [`now`].
pub fn format_time_ago(age: std::time::Duration) -> String {
    let now = jiff::Timestamp::now();
    let then = jiff::SignedDuration::try_from(age).ok().and_then(|age| now.checked_sub(age).ok());
    format!("{:.3}", then.unwrap_or(jiff::Timestamp::UNIX_EPOCH))
}

/// The current time in milliseconds since 1970.
pub fn now_ms() -> i64 {
    jiff::Timestamp::now().as_millisecond()
}

/// Formats milliseconds since 1970 as RFC 3339, or as the plain number if out of range.
pub fn text_of_ms(time_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(time_ms)
        .map_or_else(|_| time_ms.to_string(), |time| format!("{time:.3}"))
}

/// Returns a new run id: globally unique and sortable by time.
pub fn run_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_a_name() {
        assert_eq!(format_rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(format_rfc3339(u64::MAX), format_rfc3339(u64::MAX - 1));
    }

    #[test]
    fn milliseconds_have_a_name() {
        assert_eq!(text_of_ms(1001), "1970-01-01T00:00:01.001Z");
        assert_eq!(text_of_ms(i64::MAX), i64::MAX.to_string());
    }

    #[test]
    fn time_stamps_and_ids_sort_by_time() {
        let (first, first_id) = (now(), run_id());
        probity_testkit::wait_until("the next millisecond", || now() > first);
        let (second, second_id) = (now(), run_id());
        assert!(first < second && first_id < second_id, "{first} {second}");
        assert_eq!(first.len(), "2026-01-02T03:04:05.678Z".len());
    }
}

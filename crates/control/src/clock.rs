//! The one clock and the one source of run ids (law 12).

/// The time now, in UTC, as RFC 3339 with milliseconds.
pub(crate) fn now() -> String {
    let now = jiff::Timestamp::now();
    // Milliseconds are enough to read and keep every time stamp equally long.
    format!("{now:.3}")
}

/// A time in milliseconds since 1970, in UTC, as RFC 3339.
pub(crate) fn shown(ms: i64) -> String {
    jiff::Timestamp::from_millisecond(ms).map_or_else(|_| String::new(), |time| format!("{time:.3}"))
}

/// A new run id: sortable by time, unique everywhere.
pub(crate) fn run_id() -> String {
    uuid::Uuid::now_v7().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_and_ids_sort_by_time() {
        let (first, first_id) = (now(), run_id());
        std::thread::sleep(std::time::Duration::from_millis(3));
        let (second, second_id) = (now(), run_id());
        assert!(first < second && first_id < second_id, "{first} {second}");
        assert_eq!(first.len(), "2026-01-02T03:04:05.678Z".len());
    }
}

//! Helper programs: complete output within limits, or none.

use probity_process::{CaptureError, CaptureLimits, CapturedOutput, JobOutcome, ProcessEnvironment, capture};
use probity_testkit::STUCK_TIMEOUT;
use std::path::Path;
use std::time::{Duration, Instant};

const LIMITS: CaptureLimits = CaptureLimits { time: STUCK_TIMEOUT, output_bytes: 100_000 };

fn run(argv: &[&str], limits: CaptureLimits) -> Result<CapturedOutput, CaptureError> {
    let environment = ProcessEnvironment::empty().with("PATH", "/usr/bin:/bin");
    capture(argv, &environment, Path::new("/"), limits)
}

#[test]
fn both_streams_are_read_whole() {
    let script = "head -c 99000 /dev/zero >&2; head -c 98000 /dev/zero; exit 4";
    let captured = run(&["sh", "-c", script], LIMITS).unwrap();
    assert_eq!((captured.stdout.len(), captured.stderr.len()), (98_000, 99_000));
    assert_eq!(captured.outcome, JobOutcome::Exited(4));
    assert!(!captured.succeeded());
}

#[test]
fn the_limit_itself_is_allowed_and_one_byte_more_is_refused() {
    let answer = |bytes: u32| run(&["head", "-c", &bytes.to_string(), "/dev/zero"], LIMITS);
    assert!(answer(100_000).unwrap().succeeded());
    assert!(matches!(answer(100_001), Err(CaptureError::TooMuchOutput { limit_bytes: 100_000, .. })));
}

#[test]
fn endless_output_is_refused() {
    assert!(matches!(run(&["yes"], LIMITS), Err(CaptureError::TooMuchOutput { .. })));
}

#[test]
fn a_slow_helper_is_ended_with_its_group() {
    let begun = Instant::now();
    let limits = CaptureLimits { time: Duration::from_millis(100), ..LIMITS };
    for script in
        ["sleep 3600 & sleep 3600", "exec >&- 2>&-; sleep 3600", "trap '' TERM; sleep 3600; sleep 3600"]
    {
        assert!(matches!(run(&["sh", "-c", script], limits), Err(CaptureError::TimedOut { .. })), "{script}");
    }
    assert!(begun.elapsed() < STUCK_TIMEOUT, "it was waited for");
}

#[test]
fn a_helper_sees_only_what_it_is_given() {
    let environment = ProcessEnvironment::empty().with("ONLY", "this");
    let captured = capture(&["/usr/bin/env"], &environment, Path::new("/"), LIMITS).unwrap();
    assert_eq!(captured.stdout, b"ONLY=this\n");
    assert_eq!(run(&["cat"], LIMITS).unwrap().stdout, b"", "nothing to read");
}

#[test]
fn a_signal_is_told_from_an_exit() {
    assert_eq!(run(&["sh", "-c", "kill -15 $$"], LIMITS).unwrap().outcome, JobOutcome::Signalled(15));
}

#[test]
fn a_missing_helper_is_an_error_with_its_name() {
    let error = run(&["no-such-helper"], LIMITS).unwrap_err();
    assert!(error.to_string().contains("no-such-helper"));
    assert!(matches!(run(&[], LIMITS), Err(CaptureError::NoCommand)));
}

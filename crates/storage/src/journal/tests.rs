use super::*;

struct Log {
    _dir: tempfile::TempDir,
    journal: Journal,
}

impl Log {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let journal = Journal::at(dir.path().join("deep/log"));
        Self { _dir: dir, journal }
    }

    fn with(payloads: &[&[u8]]) -> Self {
        let log = Self::new();
        for payload in payloads {
            log.append(payload);
        }
        log
    }

    fn append(&self, payload: &[u8]) -> Option<TornTail> {
        let mut writer = self.journal.lock().expect("locks");
        let (end, torn) = writer.catch_up(&JournalPosition::start(), 0, nothing).expect("reads");
        writer.append(&end, &[payload]).expect("appends");
        torn
    }

    fn payloads(&self) -> Result<Vec<Vec<u8>>, StoreError> {
        let mut payloads = Vec::new();
        self.journal.read_after(&JournalPosition::start(), |payload, _| {
            payloads.push(payload.to_vec());
            Ok::<_, StoreError>(())
        })?;
        Ok(payloads)
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.journal.path()).expect("is there")
    }

    fn overwrite(&self, bytes: &[u8]) {
        std::fs::write(self.journal.path(), bytes).expect("writes");
    }
}

#[expect(clippy::unnecessary_wraps, reason = "readers may refuse; this one does not")]
fn nothing(_: &[u8], _: &JournalPosition) -> Result<(), StoreError> {
    Ok(())
}

#[test]
fn gives_back_what_was_appended() {
    let log = Log::new();
    assert_eq!(log.payloads().expect("no log is an empty log"), Vec::<Vec<u8>>::new());
    let log = Log::with(&[b"one", b"", b"three"]);
    assert_eq!(log.payloads().expect("reads"), [&b"one"[..], b"", b"three"]);
}

#[test]
fn reads_on_from_a_position_and_refuses_a_log_that_shrank() {
    let log = Log::with(&[b"one"]);
    let end = log.journal.read_after(&JournalPosition::start(), nothing).expect("reads");
    log.append(b"two");
    let mut seen = Vec::new();
    let take = |payload: &[u8], _: &JournalPosition| {
        seen.push(payload.to_vec());
        Ok::<_, StoreError>(())
    };
    let after = log.journal.read_after(&end, take).expect("reads on");
    assert_eq!(seen, [b"two"]);
    log.overwrite(&log.bytes()[..60]);
    assert!(matches!(log.journal.read_after(&after, nothing), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_log_cut_anywhere_keeps_its_whole_frames_and_the_next_writer_says_what_was_torn() {
    let log = Log::with(&[b"first", b"second", b"third"]);
    let whole = log.bytes();
    let starts: Vec<usize> = [0, 5, 11].iter().zip(0..).map(|(sum, n)| 16 + n * HEADER_BYTES + sum).collect();
    for cut in 16..whole.len() {
        log.overwrite(&whole[..cut]);
        let n_whole = starts.iter().zip([5, 6, 5]).filter(|(at, n)| **at + HEADER_BYTES + n <= cut).count();
        assert_eq!(log.payloads().expect("reads").len(), n_whole, "cut at {cut}");
        let torn = log.append(b"next");
        let is_clean = starts.contains(&cut);
        assert_eq!(torn.is_none(), is_clean, "cut at {cut}");
        if let Some(torn) = torn {
            let kept = std::fs::read(&torn.kept).expect("is kept");
            assert_eq!(kept, whole[usize::try_from(torn.at).expect("small")..cut]);
        }
        assert_eq!(log.payloads().expect("reads").last().map(Vec::as_slice), Some(&b"next"[..]));
    }
}

#[test]
fn a_flipped_bit_is_found_wherever_it_is() {
    let log = Log::with(&[b"first", b"second", b"third"]);
    let whole = log.bytes();
    let last = whole.len() - 5 - HEADER_BYTES;
    for at in 0..whole.len() {
        for bit in [0x01, 0x80] {
            let mut damaged = whole.clone();
            damaged[at] ^= bit;
            log.overwrite(&damaged);
            match log.payloads() {
                // In the last frame, damage looks like a torn end; cutting it keeps the bytes in a separate file.
                Ok(payloads) => assert!(at >= last && payloads.len() == 2, "byte {at} passed"),
                Err(error) => assert!(matches!(error, StoreError::Damaged { .. }), "{error}"),
            }
        }
    }
}

#[test]
fn blank_space_after_a_crash_is_torn_and_blank_space_inside_is_damage() {
    let log = Log::with(&[b"first", b"second"]);
    let whole = log.bytes();
    let mut extended = whole.clone();
    extended.resize(whole.len() + 5000, 0);
    log.overwrite(&extended);
    assert_eq!(log.payloads().expect("reads").len(), 2);
    assert_eq!(log.append(b"third").map(|torn| torn.n_bytes), Some(5000));
    let mut holed = whole;
    holed[16..16 + HEADER_BYTES].fill(0);
    log.overwrite(&holed);
    assert!(log.payloads().is_err());
}

#[test]
fn something_else_in_its_place_is_damage() {
    let log = Log::with(&[b"one"]);
    log.overwrite(b"{}");
    assert!(log.payloads().is_err());
    log.overwrite(b"probity journal9 and more");
    assert!(log.journal.lock().is_err());
}

#[test]
fn a_writer_that_has_not_read_to_the_end_cannot_append() {
    let log = Log::with(&[b"one"]);
    let mut writer = log.journal.lock().expect("locks");
    assert!(writer.append(&JournalPosition::start(), &[b"two"]).is_err());
    assert_eq!(log.payloads().expect("reads").len(), 1);
}

#[test]
fn writers_take_turns() {
    let log = Log::with(&[]);
    std::thread::scope(|scope| {
        for name in [b"a", b"b", b"c", b"d"] {
            let log = &log;
            scope.spawn(move || {
                for _ in 0..25 {
                    log.append(name);
                }
            });
        }
    });
    let payloads = log.payloads().expect("reads");
    for name in [b"a", b"b", b"c", b"d"] {
        assert_eq!(payloads.iter().filter(|payload| payload.as_slice() == name).count(), 25);
    }
}

#[test]
fn several_frames_are_one_write() {
    let log = Log::with(&[b"one"]);
    let mut writer = log.journal.lock().expect("locks");
    let (end, _) = writer.catch_up(&JournalPosition::start(), 0, nothing).expect("reads");
    let new_end = writer.append(&end, &[&b"two"[..], b"three"]).expect("appends");
    assert_eq!(log.payloads().expect("reads"), [&b"one"[..], b"two", b"three"]);
    assert_eq!(log.journal.read_after(&JournalPosition::start(), nothing).expect("reads"), new_end);
}

#[test]
fn a_position_is_of_this_log_or_it_is_not() {
    let log = Log::with(&[b"one", b"two"]);
    let end = log.journal.read_after(&JournalPosition::start(), nothing).expect("reads");
    assert!(log.journal.has(&end).expect("reads"));
    assert!(log.journal.has(&JournalPosition::start()).expect("reads"));
    assert!(!Log::with(&[b"one", b"2wo"]).journal.has(&end).expect("reads"));
    assert!(!Log::with(&[b"one"]).journal.has(&end).expect("reads"));
    assert!(!Log::new().journal.has(&end).expect("reads"));
}

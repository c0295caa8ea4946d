//! The socket in a run's directory through which a running run takes amendments.
//!
//! A file would not do: the agent runs as the same user and could write it. With a socket, the kernel tells the
//! supervisor which process asks, and requests from inside the run are refused (law 2: the judged cannot widen their
//! own scope). Every decision is written to disk before it is answered (laws 3 and 10).

use probity_core::{ReasonCode, json};
use probity_evidence::{Amendment, GlobList};
use probity_workspace::amendment_journal::{AmendmentJournal, JOURNAL_FILE};
use probity_workspace::clock;
use probity_workspace::run_claims::comes_from_outside;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::Pid;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const SOCKET_FILE: &str = "amend.sock";
/// A request is a few patterns and a sentence; anything larger is not a request.
const MAX_REQUEST_BYTES: u64 = 64 * 1024;
/// Limit for reading a request. The supervisor serves nobody else meanwhile.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Limit for waiting for the answer, which is written to disk first; the machine may be busy.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(1);

/// The supervisor's end, open while the command runs.
#[derive(Debug)]
pub(crate) struct AmendmentChannel {
    socket: PathBuf,
    amendments: Arc<Mutex<AmendmentJournal>>,
    /// Dropping it stops the service, even if the socket was removed meanwhile.
    closing: UnixStream,
    thread: JoinHandle<()>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ChannelError {
    #[error("{reason}: {detail}")]
    Refused { reason: ReasonCode, detail: String },
    #[error("the run could not be reached at {path}: {source}")]
    Unreachable { path: PathBuf, source: io::Error },
}

/// Missing fields are empty, and refused as such.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct AmendmentRequest {
    add: GlobList,
    by: String,
    why: String,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum AmendmentReply {
    Granted { granted: Amendment },
    Refused { refused: ReasonCode, detail: String },
}

impl AmendmentChannel {
    /// Opens the channel of the run in `dir`.
    pub(crate) fn open(dir: &Path, allowed: bool) -> io::Result<Self> {
        let socket = dir.join(SOCKET_FILE);
        let listener = bind(dir)?;
        let asked = Arc::new(Mutex::new(AmendmentJournal::default()));
        let (closing, closed) = UnixStream::pair()?;
        let service =
            AmendmentService { journal: dir.join(JOURNAL_FILE), allowed, asked: Arc::clone(&asked) };
        let thread = std::thread::spawn(move || service.serve(&listener, &closed));
        Ok(Self { socket, amendments: asked, closing, thread })
    }

    /// Closes the channel and returns the journal of all requests.
    pub(crate) fn close(self) -> AmendmentJournal {
        drop(self.closing);
        let _ = self.thread.join();
        let _ = fs::remove_file(&self.socket);
        std::mem::take(&mut *self.amendments.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Requests an amendment from the run in `dir` and returns it as granted.
pub(crate) fn request_amendment(
    dir: &Path,
    add: &[Vec<u8>],
    by: &str,
    why: &str,
) -> Result<Amendment, ChannelError> {
    let unreachable = |source| ChannelError::Unreachable { path: dir.join(SOCKET_FILE), source };
    let mut stream = connect(dir).map_err(unreachable)?;
    stream.set_read_timeout(Some(ANSWER_TIMEOUT)).map_err(unreachable)?;
    let request =
        AmendmentRequest { add: GlobList::new(add.iter().cloned()), by: by.to_owned(), why: why.to_owned() };
    let mut line = json::canonical_of(&request);
    line.push(b'\n');
    stream.write_all(&line).map_err(unreachable)?;
    let mut answer = Vec::new();
    stream.take(MAX_REQUEST_BYTES).read_to_end(&mut answer).map_err(unreachable)?;
    read_answer(&answer).unwrap_or_else(|| Err(unreachable(io::Error::other("its answer could not be read"))))
}

struct AmendmentService {
    journal: PathBuf,
    allowed: bool,
    asked: Arc<Mutex<AmendmentJournal>>,
}

impl AmendmentService {
    /// Answers clients one after the other until the other end of `closed` is dropped.
    fn serve(&self, listener: &UnixListener, closed: &UnixStream) {
        loop {
            let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
            match poll(&mut ready, None) {
                Err(Errno::INTR) => continue,
                Err(_) => return,
                Ok(_) if !ready[1].revents().is_empty() => return,
                Ok(_) => {}
            }
            // One broken client must not end the service.
            if let Ok((stream, _)) = listener.accept() {
                let _ = self.answer(stream);
            }
        }
    }

    fn answer(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        let mut line = Vec::new();
        BufReader::new(stream.try_clone()?.take(MAX_REQUEST_BYTES)).read_until(b'\n', &mut line)?;
        let answer = match self.decide(&stream, &line) {
            Ok(granted) => AmendmentReply::Granted { granted },
            Err((reason, detail)) => {
                self.note_refusal(&line, reason, &detail);
                AmendmentReply::Refused { refused: reason, detail }
            }
        };
        stream.write_all(&json::canonical_of(&answer))
    }

    fn decide(&self, stream: &UnixStream, line: &[u8]) -> Result<Amendment, (ReasonCode, String)> {
        if !self.allowed {
            return Err((
                ReasonCode::AmendNotAllowed,
                "the sealed policy says `amend.during = \"deny\"`".into(),
            ));
        }
        match peer(stream) {
            Some(pid) if comes_from_outside(pid, rustix::process::getpid()) => {}
            Some(pid) => {
                let detail = format!("process {} belongs to the run, or is gone", pid.as_raw_nonzero());
                return Err((ReasonCode::AmendFromInside, detail));
            }
            // Fail closed: a process that cannot be identified cannot widen a scope.
            None => {
                return Err((
                    ReasonCode::AmendFromInside,
                    "the system did not say which process asks".into(),
                ));
            }
        }
        let amendment = read_request(line)?;
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let amendment = amendment.not_before(asked.granted.last());
        asked.granted.push(amendment.clone());
        match self.write_down(&asked) {
            Ok(()) => Ok(amendment),
            Err(error) => {
                asked.granted.pop();
                Err((ReasonCode::AmendNotAllowed, format!("it could not be written down: {error}")))
            }
        }
    }

    /// A refusal holds whether or not it can be written; the supervisor has it in memory.
    fn note_refusal(&self, request: &[u8], reason: ReasonCode, why: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.refuse(request, reason, why) {
            let _ = self.write_down(&asked);
        }
    }

    fn write_down(&self, asked: &AmendmentJournal) -> Result<(), probity_storage::StoreError> {
        probity_storage::durable::write(&self.journal, &json::canonical_of(&asked))
    }
}

fn read_request(line: &[u8]) -> Result<Amendment, (ReasonCode, String)> {
    let value = json::parse(line).map_err(|error| (error.reason, error.to_string()))?;
    let AmendmentRequest { add, by, why } =
        serde_json::from_value(value).map_err(|error| (ReasonCode::JsonSyntax, error.to_string()))?;
    Amendment::new(add, by.trim(), why.trim(), &clock::now())
        .map_err(|error| (error.reason(), error.to_string()))
}

fn read_answer(bytes: &[u8]) -> Option<Result<Amendment, ChannelError>> {
    match serde_json::from_value(json::parse(bytes).ok()?).ok()? {
        AmendmentReply::Granted { granted } => Some(Ok(granted)),
        AmendmentReply::Refused { refused: reason, detail } => {
            Some(Err(ChannelError::Refused { reason, detail }))
        }
    }
}

/// Binds and connects through a directory handle, because socket paths are limited to 108 bytes.
fn bind(dir: &Path) -> io::Result<UnixListener> {
    through_handle(dir, |path| UnixListener::bind(path))
}

fn connect(dir: &Path) -> io::Result<UnixStream> {
    through_handle(dir, |path| UnixStream::connect(path))
}

#[cfg(target_os = "linux")]
fn through_handle<T>(dir: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use std::os::fd::AsRawFd;
    let handle = fs::File::open(dir)?;
    act(Path::new(&format!("/proc/self/fd/{}/{SOCKET_FILE}", handle.as_raw_fd())))
}

#[cfg(not(target_os = "linux"))]
fn through_handle<T>(dir: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    act(&dir.join(SOCKET_FILE))
}

#[cfg(target_os = "linux")]
fn peer(stream: &UnixStream) -> Option<Pid> {
    Some(rustix::net::sockopt::socket_peercred(stream).ok()?.pid)
}

#[cfg(not(target_os = "linux"))]
fn peer(_stream: &UnixStream) -> Option<Pid> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_run_itself_asks_for_is_refused_and_the_refusal_written_down() {
        let dir = tempfile::tempdir().expect("a directory");
        let channel = AmendmentChannel::open(dir.path(), true).expect("opens");
        let refused = request_amendment(dir.path(), &[b"docs/**".to_vec()], "ann", "the docs belong to it");
        assert!(
            matches!(&refused, Err(ChannelError::Refused { reason: ReasonCode::AmendFromInside, .. })),
            "{refused:?}"
        );
        let written = AmendmentJournal::read(dir.path());
        assert_eq!(written, channel.close());
        assert_eq!(written.granted, []);
        let [(reason, detail)] = &written.refusals()[..] else { panic!("{written:?}") };
        assert_eq!(*reason, ReasonCode::AmendFromInside);
        assert!(detail.contains("docs/**") && detail.contains("ann"), "{detail}");
    }

    #[test]
    fn a_sealed_no_is_a_no() {
        let dir = tempfile::tempdir().expect("a directory");
        let channel = AmendmentChannel::open(dir.path(), false).expect("opens");
        let refused = request_amendment(dir.path(), &[b"docs/**".to_vec()], "ann", "the docs belong to it");
        assert!(matches!(refused, Err(ChannelError::Refused { reason: ReasonCode::AmendNotAllowed, .. })));
        assert_eq!(channel.close().refusals().len(), 1);
    }
}

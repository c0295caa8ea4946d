//! The socket in a run's directory through which a running run takes amendments.
//!
//! A file would not do: the agent runs as the same user and could write it. With a socket, the kernel tells the
//! supervisor which process asks, and requests from inside the run are refused (law 2: the judged cannot widen their
//! own scope). Every decision is written to disk before it is answered (laws 3 and 10).
//!
//! A process id alone proves nothing: a process of the run may connect, hand its end to another and end, until an
//! innocent process has its id. The process is therefore held by a handle and judged when the connection is accepted;
//! then it gets a challenge, and every byte of the answer must carry its id, stamped by the kernel, while the handle says
//! that it still lives. Only the process that was judged can send that.

mod peer_process;

use peer_process::{PeerProcess, ReceivedLine, receive_line};
use probity_core::{ReasonCode, json};
use probity_evidence::{Amendment, GlobList};
use probity_workspace::amendment_journal::{AmendmentJournal, JOURNAL_FILE};
use probity_workspace::clock;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const SOCKET_FILE: &str = "amend.sock";
/// A request is a few patterns and a sentence; anything larger is not a request.
const MAX_REQUEST_BYTES: u64 = 64 * 1024;
/// Limit for reading a whole request; others are served meanwhile.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// Clients served at once. Those from inside the run have places of their own: their requests are read only to record
/// them, so they can neither delay nor keep out anyone else.
const MAX_OUTSIDE_CLIENTS: usize = 64;
const MAX_INSIDE_CLIENTS: usize = 16;
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
    challenge: String,
}

/// The first line of the supervisor on every connection.
#[derive(Debug, Serialize, Deserialize)]
struct ChannelGreeting {
    challenge: String,
}

type Refusal = (ReasonCode, String);

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
    let mut answers = BufReader::new(stream.try_clone().map_err(unreachable)?.take(MAX_REQUEST_BYTES));
    let mut read_line = || -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        answers.read_until(b'\n', &mut line)?;
        Ok(line)
    };
    let first = read_line().map_err(unreachable)?;
    // A supervisor that turns this process away answers without a greeting.
    let greeting = json::parse(&first).ok().and_then(|value| serde_json::from_value(value).ok());
    let answer = match greeting {
        Some(ChannelGreeting { challenge }) => {
            let add = GlobList::new(add.iter().cloned());
            let request = AmendmentRequest { add, by: by.to_owned(), why: why.to_owned(), challenge };
            let mut line = json::canonical_of(&request);
            line.push(b'\n');
            stream.write_all(&line).map_err(unreachable)?;
            read_line().map_err(unreachable)?
        }
        None => first,
    };
    read_answer(&answer).unwrap_or_else(|| Err(unreachable(io::Error::other("its answer could not be read"))))
}

struct AmendmentService {
    journal: PathBuf,
    allowed: bool,
    asked: Arc<Mutex<AmendmentJournal>>,
}

/// A client whose process was judged when its connection was accepted.
struct JudgedClient {
    stream: UnixStream,
    sender: Result<PeerProcess, Refusal>,
    /// Only an answer to it is a request: it proves that the request was sent after the process was judged.
    challenge: String,
}

/// The clients that are being served, counted apart: those of the run must not keep others out.
#[derive(Default)]
struct ClientCounts {
    outside: AtomicUsize,
    inside: AtomicUsize,
}

impl ClientCounts {
    /// Takes a place, or returns `None` if there are too many clients of this kind.
    fn enter(&self, is_outside: bool) -> Option<ClientPlace<'_>> {
        let (count, limit) = if is_outside {
            (&self.outside, MAX_OUTSIDE_CLIENTS)
        } else {
            (&self.inside, MAX_INSIDE_CLIENTS)
        };
        let place = ClientPlace(count);
        (count.fetch_add(1, Ordering::Relaxed) < limit).then_some(place)
    }
}

struct ClientPlace<'a>(&'a AtomicUsize);

impl Drop for ClientPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl AmendmentService {
    /// Answers clients, each on a thread of its own, until the other end of `closed` is dropped.
    fn serve(&self, listener: &UnixListener, closed: &UnixStream) {
        let counts = ClientCounts::default();
        std::thread::scope(|threads| {
            loop {
                let mut ready = [PollFd::new(listener, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
                match poll(&mut ready, None) {
                    Err(Errno::INTR) => continue,
                    Err(_) => return,
                    Ok(_) if !ready[1].revents().is_empty() => return,
                    Ok(_) => {}
                }
                // One broken client must not end the service.
                let Ok((stream, _)) = listener.accept() else { continue };
                let client = self.judge(stream);
                let Some(place) = counts.enter(client.sender.is_ok()) else {
                    let _ = self.turn_away(client);
                    continue;
                };
                // Without a thread the connection is closed, which the client sees.
                let _ = std::thread::Builder::new().spawn_scoped(threads, move || {
                    let _ = self.answer(client, closed);
                    drop(place);
                });
            }
        });
    }

    /// Judges the process that connected, before anything it sent is read.
    fn judge(&self, stream: UnixStream) -> JudgedClient {
        let sender = if self.allowed {
            PeerProcess::from_outside(&stream).map_err(|detail| (ReasonCode::AmendFromInside, detail))
        } else {
            let detail = "the sealed policy says `amend.during = \"deny\"`".to_owned();
            Err((ReasonCode::AmendNotAllowed, detail))
        };
        JudgedClient { stream, sender, challenge: uuid::Uuid::new_v4().simple().to_string() }
    }

    fn answer(&self, mut client: JudgedClient, closed: &UnixStream) -> io::Result<()> {
        client.stream.set_nonblocking(true)?;
        let mut greeting = json::canonical_of(&ChannelGreeting { challenge: client.challenge.clone() });
        greeting.push(b'\n');
        client.stream.write_all(&greeting)?;
        let received = receive_line(&client.stream, closed, Instant::now() + REQUEST_TIMEOUT);
        let answer = match self.decide(&client, &received) {
            Ok(granted) => AmendmentReply::Granted { granted },
            Err(refusal) => self.refuse(&received.line, refusal),
        };
        write_reply(&mut client.stream, &answer)
    }

    /// Refuses a client without reading its request.
    fn turn_away(&self, client: JudgedClient) -> io::Result<()> {
        let (reason, detail) = client.sender.err().unwrap_or((ReasonCode::AmendNotAllowed, String::new()));
        let detail = format!("{detail}; too many ask at once, so the request was not read");
        let answer = self.refuse(b"", (reason, detail.trim_start_matches("; ").to_owned()));
        let mut stream = client.stream;
        stream.set_nonblocking(true)?;
        write_reply(&mut stream, &answer)
    }

    fn decide(&self, client: &JudgedClient, received: &ReceivedLine) -> Result<Amendment, Refusal> {
        let sender = client.sender.as_ref().map_err(Clone::clone)?;
        let request = read_request(&received.line)?;
        let from_inside = |detail: &str| Err((ReasonCode::AmendFromInside, detail.to_owned()));
        if request.challenge != client.challenge {
            return from_inside("the request does not answer the challenge of this connection");
        }
        if !sender.sent_all_of(received) {
            return from_inside(
                "another process than the one that connected sent the request, or it has ended",
            );
        }
        let amendment = request.into_amendment()?;
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
    fn refuse(&self, request: &[u8], (reason, detail): Refusal) -> AmendmentReply {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.refuse(request, reason, &detail) {
            let _ = self.write_down(&asked);
        }
        AmendmentReply::Refused { refused: reason, detail }
    }

    fn write_down(&self, asked: &AmendmentJournal) -> Result<(), probity_storage::StoreError> {
        probity_storage::durable::write(&self.journal, &json::canonical_of(&asked))
    }
}

fn write_reply(stream: &mut UnixStream, reply: &AmendmentReply) -> io::Result<()> {
    let mut line = json::canonical_of(reply);
    line.push(b'\n');
    stream.write_all(&line)
}

fn read_request(line: &[u8]) -> Result<AmendmentRequest, Refusal> {
    let value = json::parse(line).map_err(|error| (error.reason, error.to_string()))?;
    serde_json::from_value(value).map_err(|error| (ReasonCode::JsonSyntax, error.to_string()))
}

impl AmendmentRequest {
    fn into_amendment(self) -> Result<Amendment, Refusal> {
        Amendment::new(self.add, self.by.trim(), self.why.trim(), &clock::now())
            .map_err(|error| (error.reason(), error.to_string()))
    }
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

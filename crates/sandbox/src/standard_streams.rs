//! The standard streams of a command in a view: a file behind one of them leads around every mount.
//!
//! `/proc/self/fd` opens again what a descriptor refers to, for writing too, in the place where it was opened: outside.
//! So the command gets files, devices and named pipes through pipes, which the entrance fills and empties, and instead
//! of a directory nothing. Terminals and anonymous pipes are handed on as they are.
//!
//! One thread does all of it: a process that waits for its first child in a new process namespace cannot start threads.

use crate::ViewFailure;
use rustix::event::{PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{FileType, FsWord, OFlags, SeekFrom, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::process::{Command, Stdio};

/// Devices without a state of their own, by the path that they have in every view.
const STATELESS_DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Type of the file system of pipes without a name, in `statfs`.
const PIPE_FILE_SYSTEM: FsWord = 0x5049_5045;

/// Size of the buffer in which streams are copied.
const COPIED_BYTES: usize = 64 * 1024;

/// What becomes of an inherited stream.
#[derive(Debug, PartialEq, Eq)]
enum StreamHandling {
    Inherited,
    /// Opened again by its path in the view.
    Device(&'static str),
    /// Copied through a pipe.
    Relayed,
}

/// The streams that are copied while the command runs.
#[derive(Default)]
pub(crate) struct StreamRelays {
    input: Option<InputRelay>,
    outputs: Vec<OutputRelay>,
}

/// A file that is copied into the standard input of the command.
struct InputRelay {
    source: File,
    /// Where to read next; `None` if the source has no positions. The position in a file that others read, too, stays
    /// where it is: nobody knows how much the command will read.
    position: Option<u64>,
    writer: PipeWriter,
    /// What was read and not yet written.
    waiting: Vec<u8>,
}

/// A stream of the command that is copied into a file.
struct OutputRelay {
    reader: PipeReader,
    target: File,
}

/// Gives `command` the standard streams of this process, or ends of pipes instead. Runs in a complete view.
pub(crate) fn connect(command: &mut Command) -> Result<StreamRelays, ViewFailure> {
    let step = ViewFailure::step::<io::Error>;
    let mut relays = StreamRelays::default();
    let stdin = io::stdin();
    match handling(&stdin)? {
        StreamHandling::Inherited => {}
        StreamHandling::Device(path) => {
            command.stdin(open_device(path)?);
        }
        StreamHandling::Relayed => {
            let (relay, reader) = InputRelay::of(&stdin).map_err(step("copy the standard input"))?;
            relays.input = Some(relay);
            command.stdin(reader);
        }
    }
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let failed = "copy the output of the command";
    let mut relay = |stream: BorrowedFd<'_>| -> Result<PipeWriter, ViewFailure> {
        let (relay, writer) = OutputRelay::of(stream).map_err(step(failed))?;
        relays.outputs.push(relay);
        Ok(writer)
    };
    let mut shared = None;
    match handling(&stdout)? {
        StreamHandling::Inherited => {}
        StreamHandling::Device(path) => {
            command.stdout(open_device(path)?);
        }
        StreamHandling::Relayed => {
            let writer = relay(stdout.as_fd())?;
            if is_same_file(&stdout, &stderr) {
                // One pipe keeps the order of what is written to both.
                shared = Some(writer.try_clone().map_err(step(failed))?);
            }
            command.stdout(writer);
        }
    }
    match handling(&stderr)? {
        StreamHandling::Inherited => {}
        StreamHandling::Device(path) => {
            command.stderr(open_device(path)?);
        }
        StreamHandling::Relayed => {
            let writer = match shared {
                Some(writer) => writer,
                None => relay(stderr.as_fd())?,
            };
            command.stderr(writer);
        }
    }
    Ok(relays)
}

impl StreamRelays {
    /// Copies until `report` ends, and returns what it held.
    pub(crate) fn copy_beside(&mut self, report: &mut PipeReader) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        let mut buffer = vec![0; COPIED_BYTES];
        loop {
            let is_reported = self.wait(Some(report.as_fd()))?;
            self.copy_ready(&mut buffer);
            if is_reported {
                let n_read = report.read(&mut buffer)?;
                if n_read == 0 {
                    return Ok(answer);
                }
                answer.extend_from_slice(&buffer[..n_read]);
            }
        }
    }

    /// Copies what is left of the outputs. Nobody has them open any more.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.input = None;
        let mut buffer = vec![0; COPIED_BYTES];
        while !self.outputs.is_empty() {
            self.wait(None)?;
            self.copy_ready(&mut buffer);
        }
        Ok(())
    }

    /// Waits until something can be copied or `other` can be read; returns whether the latter.
    fn wait(&self, other: Option<BorrowedFd<'_>>) -> io::Result<bool> {
        let mut waited: Vec<PollFd<'_>> = Vec::new();
        waited.extend(other.iter().map(|other| PollFd::from_borrowed_fd(*other, PollFlags::IN)));
        waited.extend(self.outputs.iter().map(|output| PollFd::new(&output.reader, PollFlags::IN)));
        waited.extend(self.input.iter().map(InputRelay::wanted));
        match rustix::event::poll(&mut waited, None) {
            // A signal for the command.
            Err(Errno::INTR) => return Ok(false),
            polled => polled?,
        };
        Ok(other.is_some() && waited.first().is_some_and(|first| !first.revents().is_empty()))
    }

    /// Copies what can be copied without waiting. A stream that cannot be copied ends: who writes to it or reads from it
    /// is told by the end of the pipe.
    fn copy_ready(&mut self, buffer: &mut [u8]) {
        self.outputs.retain_mut(|output| {
            !is_ready(PollFd::new(&output.reader, PollFlags::IN)) || output.copy(buffer)
        });
        let is_over = |input: &mut InputRelay| is_ready(input.wanted()) && !input.copy(buffer);
        self.input.take_if(is_over);
    }
}

/// Returns whether a descriptor can be used, or has ended, now.
fn is_ready(wanted: PollFd<'_>) -> bool {
    let mut polled = [wanted];
    rustix::event::poll(&mut polled, Some(&rustix::event::Timespec::default()))
        .is_ok_and(|n_ready| n_ready > 0)
}

impl InputRelay {
    fn of(stream: impl AsFd) -> io::Result<(Self, Stdio)> {
        let source = File::from(stream.as_fd().try_clone_to_owned()?);
        let position = rustix::fs::seek(&source, SeekFrom::Current(0)).ok();
        let (reader, writer) = io::pipe()?;
        rustix::fs::fcntl_setfl(&writer, OFlags::NONBLOCK)?;
        Ok((Self { source, position, writer, waiting: Vec::new() }, Stdio::from(reader)))
    }

    fn wanted(&self) -> PollFd<'_> {
        if self.waiting.is_empty() {
            PollFd::new(&self.source, PollFlags::IN)
        } else {
            PollFd::new(&self.writer, PollFlags::OUT)
        }
    }

    /// Reads or writes once; returns false at the end.
    fn copy(&mut self, buffer: &mut [u8]) -> bool {
        if !self.waiting.is_empty() {
            return match self.writer.write(&self.waiting) {
                Ok(n_written) => {
                    self.waiting.drain(..n_written);
                    true
                }
                Err(error) => is_passing(&error),
            };
        }
        let read = match self.position {
            Some(position) => self.source.read_at(buffer, position),
            None => self.source.read(buffer),
        };
        match read {
            Ok(0) => false,
            Ok(n_read) => {
                self.waiting.extend_from_slice(&buffer[..n_read]);
                self.position = self.position.map(|position| position + n_read as u64);
                true
            }
            Err(error) => is_passing(&error),
        }
    }
}

impl OutputRelay {
    fn of(stream: BorrowedFd<'_>) -> io::Result<(Self, PipeWriter)> {
        let target = File::from(stream.try_clone_to_owned()?);
        let (reader, writer) = io::pipe()?;
        Ok((Self { reader, target }, writer))
    }

    /// Copies once; returns false at the end.
    fn copy(&mut self, buffer: &mut [u8]) -> bool {
        match self.reader.read(buffer) {
            Ok(0) => false,
            Ok(n_read) => self.write(&buffer[..n_read]).is_ok(),
            Err(error) => is_passing(&error),
        }
    }

    /// Writes all of `bytes`. A target that others made non-blocking is waited for, as a blocking one is.
    fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.target.write(bytes) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n_written) => bytes = &bytes[n_written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let wanted = PollFd::new(&self.target, PollFlags::OUT);
                    match rustix::event::poll(&mut [wanted], None) {
                        Err(Errno::INTR) => {}
                        polled => drop(polled?),
                    }
                }
                Err(error) if is_passing(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Returns whether the same can be tried again.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

fn handling(stream: impl AsFd) -> Result<StreamHandling, ViewFailure> {
    let step = "look at the standard streams";
    let status = rustix::fs::fstat(&stream).map_err(ViewFailure::step(step))?;
    let flags = rustix::fs::fcntl_getfl(&stream).map_err(ViewFailure::step(step))?;
    if flags.contains(OFlags::PATH) {
        return Ok(StreamHandling::Device("/dev/null"));
    }
    Ok(match FileType::from_raw_mode(status.st_mode) {
        FileType::Directory => StreamHandling::Device("/dev/null"),
        FileType::Socket => StreamHandling::Inherited,
        FileType::CharacterDevice if stream.as_fd().is_terminal() => StreamHandling::Inherited,
        FileType::CharacterDevice => {
            stateless_device(&status).map_or(StreamHandling::Relayed, StreamHandling::Device)
        }
        FileType::Fifo => {
            let system = rustix::fs::fstatfs(&stream).map_err(ViewFailure::step(step))?;
            if system.f_type == PIPE_FILE_SYSTEM {
                StreamHandling::Inherited
            } else {
                StreamHandling::Relayed
            }
        }
        _ => StreamHandling::Relayed,
    })
}

fn stateless_device(status: &Stat) -> Option<&'static str> {
    STATELESS_DEVICES
        .into_iter()
        .find(|path| rustix::fs::stat(*path).is_ok_and(|device| device.st_rdev == status.st_rdev))
}

fn open_device(path: &str) -> Result<Stdio, ViewFailure> {
    let opened = File::options().read(true).write(true).open(path);
    opened.map(Stdio::from).map_err(ViewFailure::at("open", path.as_ref()))
}

fn is_same_file(one: impl AsFd, other: impl AsFd) -> bool {
    match (rustix::fs::fstat(one), rustix::fs::fstat(other)) {
        (Ok(one), Ok(other)) => (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino),
        _ => false,
    }
}

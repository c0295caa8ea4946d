//! The process at the other end of the amendment socket, and the bytes that it sent.

#[cfg(target_os = "linux")]
use probity_process::{HeldProcess, ProcessAncestry};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// A process outside the run that connected, held since its connection was accepted.
#[cfg(target_os = "linux")]
pub(super) struct PeerProcess(HeldProcess);

/// Elsewhere no process can be identified, so none is outside.
#[cfg(not(target_os = "linux"))]
pub(super) enum PeerProcess {}

/// A line as it arrived, at most [`super::MAX_REQUEST_BYTES`].
#[derive(Debug, Default)]
pub(super) struct ReceivedLine {
    pub(super) line: Vec<u8>,
    /// The ids of the processes that sent parts of it; 0 for one that the kernel did not name.
    senders: BTreeSet<i32>,
}

#[cfg(target_os = "linux")]
impl PeerProcess {
    /// Holds the process that connected if it is outside this process's run, or says why it is not.
    pub(super) fn from_outside(stream: &UnixStream) -> Result<Self, String> {
        use rustix::net::sockopt::{set_socket_passcred, socket_peercred};
        // From now on the kernel stamps what arrives with the id of its sender.
        set_socket_passcred(stream, true)
            .map_err(|error| format!("the system does not say who sends ({error})"))?;
        let peer = socket_peercred(stream)
            .map_err(|error| format!("the system did not say which process asks ({error})"))?;
        let id = peer.pid.as_raw_pid();
        let held = rustix::process::Pid::from_raw(id).and_then(HeldProcess::open);
        let held = held.ok_or_else(|| format!("process {id} is gone"))?;
        match held.ancestry(rustix::process::getpid()) {
            ProcessAncestry::Outside => Ok(Self(held)),
            ProcessAncestry::Inside => Err(format!("process {id} belongs to the run")),
            ProcessAncestry::Unknown => Err(format!("process {id} is gone, or its ancestors cannot be seen")),
        }
    }

    /// Returns whether this process, and no other, sent what arrived. It must have been sent after this process was
    /// held: then its living handle says that its id named no other process meanwhile.
    pub(super) fn sent_all_of(&self, received: &ReceivedLine) -> bool {
        let own = self.0.pid().as_raw_pid();
        received.senders.iter().eq([&own]) && self.0.is_alive()
    }
}

#[cfg(not(target_os = "linux"))]
impl PeerProcess {
    pub(super) fn from_outside(_stream: &UnixStream) -> Result<Self, String> {
        Err("the system does not say which process asks".into())
    }

    pub(super) fn sent_all_of(&self, _received: &ReceivedLine) -> bool {
        match *self {}
    }
}

/// Reads up to the end of a line, the end of the stream, the size limit, `until`, or the closing of the channel.
pub(super) fn receive_line(stream: &UnixStream, closed: &UnixStream, until: Instant) -> ReceivedLine {
    let mut received = ReceivedLine::default();
    let limit = usize::try_from(super::MAX_REQUEST_BYTES).unwrap_or(usize::MAX);
    while received.line.len() < limit && !received.line.contains(&b'\n') {
        let left = until.saturating_duration_since(Instant::now());
        let mut ready = [PollFd::new(stream, PollFlags::IN), PollFd::new(closed, PollFlags::IN)];
        match poll(&mut ready, Timespec::try_from(left).ok().as_ref()) {
            Err(Errno::INTR) => continue,
            // What arrived before the channel closed is still read.
            Ok(1..) if !ready[0].revents().is_empty() => {}
            Ok(_) | Err(_) => break,
        }
        match receive_some(stream, &mut received) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock) => {}
            Err(_) => break,
        }
    }
    received
}

/// Reads the available bytes of one sender: the kernel does not join the bytes of two.
#[cfg(target_os = "linux")]
fn receive_some(stream: &UnixStream, received: &mut ReceivedLine) -> io::Result<usize> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, recvmsg};
    let mut bytes = [0; 4096];
    // No room for files that a client sends along: the kernel closes them.
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
    let mut stamps = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [io::IoSliceMut::new(&mut bytes)];
    let count = recvmsg(stream, &mut parts, &mut stamps, RecvFlags::DONTWAIT)?.bytes;
    if count > 0 {
        let sender = stamps.drain().find_map(|stamp| match stamp {
            RecvAncillaryMessage::ScmCredentials(sender) => Some(sender.pid.as_raw_pid()),
            _ => None,
        });
        received.senders.insert(sender.unwrap_or(0));
    }
    received.line.extend_from_slice(&bytes[..count]);
    Ok(count)
}

#[cfg(not(target_os = "linux"))]
fn receive_some(mut stream: &UnixStream, received: &mut ReceivedLine) -> io::Result<usize> {
    use std::io::Read;
    let mut bytes = [0; 4096];
    let count = stream.read(&mut bytes)?;
    received.line.extend_from_slice(&bytes[..count]);
    Ok(count)
}

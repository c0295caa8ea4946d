//! The loopback device of a network namespace, which is down at first.

use crate::ViewFailure;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

const MESSAGE_BYTES: usize = 32;
const NEW_LINK: u16 = 16;
const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
/// The kernel gives the loopback device of a namespace this number.
const LOOPBACK_INDEX: i32 = 1;
const UP_FLAG: u32 = 1;

/// Sets the loopback device up.
pub(crate) fn set_up() -> Result<(), ViewFailure> {
    let step = "set up the loopback device";
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // Protocol 0, `NETLINK_ROUTE`.
        None,
    )
    .map_err(ViewFailure::step(step))?;
    rustix::net::send(&socket, &request(), SendFlags::empty()).map_err(ViewFailure::step(step))?;
    let mut answer = [0; 256];
    let (length, _) =
        rustix::net::recv(&socket, &mut answer, RecvFlags::empty()).map_err(ViewFailure::step(step))?;
    match answered_error(&answer[..length]) {
        Some(0) => Ok(()),
        Some(error) => Err(ViewFailure::step(step)(std::io::Error::from_raw_os_error(-error))),
        None => Err(ViewFailure::step(step)(std::io::Error::other("the kernel's answer is too short"))),
    }
}

/// Builds a `RTM_NEWLINK` request that sets the flag `IFF_UP` of the loopback device.
fn request() -> [u8; MESSAGE_BYTES] {
    let mut message = [0; MESSAGE_BYTES];
    message[0..4].copy_from_slice(&32_u32.to_ne_bytes());
    message[4..6].copy_from_slice(&NEW_LINK.to_ne_bytes());
    message[6..8].copy_from_slice(&REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    message[20..24].copy_from_slice(&LOOPBACK_INDEX.to_ne_bytes());
    message[24..28].copy_from_slice(&UP_FLAG.to_ne_bytes());
    message[28..32].copy_from_slice(&UP_FLAG.to_ne_bytes());
    message
}

/// Returns the error number of a `NLMSG_ERROR` answer: zero for success, else negative.
fn answered_error(answer: &[u8]) -> Option<i32> {
    Some(i32::from_ne_bytes(answer.get(16..20)?.try_into().ok()?))
}

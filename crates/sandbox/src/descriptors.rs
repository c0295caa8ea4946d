//! The descriptors a command inherits: a directory held open outside leads around every mount.

use crate::ViewFailure;
use rustix::fs::{FileType, OFlags, fstat};
use std::fs::{File, read_dir};
use std::path::Path;

/// Closes every descriptor but the standard streams.
///
/// Only for a program that has opened nothing yet: descriptors that something still owns are closed as well.
pub(crate) fn close_inherited() -> Result<(), ViewFailure> {
    let step = "list the open descriptors in";
    let directory = Path::new("/proc/self/fd");
    let listed = read_dir(directory).map_err(ViewFailure::at(step, directory))?;
    let numbers: Vec<i32> =
        listed.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The descriptor of the listing itself is closed already.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// Opens standard input again for reading only if it is a file opened for writing: a file outside of the view must
/// not be written through it.
pub(crate) fn make_stdin_read_only() -> Result<(), ViewFailure> {
    let step = "open the standard input for reading only";
    let stdin = std::io::stdin();
    let status = fstat(&stdin).map_err(ViewFailure::step(step))?;
    let flags = rustix::fs::fcntl_getfl(&stdin).map_err(ViewFailure::step(step))?;
    let is_writable = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile || !is_writable {
        return Ok(());
    }
    let again = File::open("/proc/self/fd/0").map_err(ViewFailure::step(step))?;
    rustix::stdio::dup2_stdin(again).map_err(ViewFailure::step(step))
}

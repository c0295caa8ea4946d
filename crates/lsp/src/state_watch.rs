//! Waits for changes of claims, so that a mark disappears when another agent has finished.

use crossbeam_channel::{Receiver, bounded};
use std::collections::BTreeSet;
use std::io;

/// Watches the state directories of the open documents. Without inotify, marks are renewed when the editor speaks.
pub(crate) struct StateWatch {
    directories: BTreeSet<String>,
    #[cfg(target_os = "linux")]
    inotify: std::sync::Arc<rustix::fd::OwnedFd>,
}

impl StateWatch {
    /// Starts watching nothing; the receiver gets a message after every change.
    pub(crate) fn start() -> io::Result<(Self, Receiver<()>)> {
        let (sender, receiver) = bounded(1);
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::inotify;
            let inotify = std::sync::Arc::new(inotify::init(inotify::CreateFlags::CLOEXEC)?);
            let watched = std::sync::Arc::clone(&inotify);
            std::thread::Builder::new().name("claims".into()).spawn(move || {
                let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
                let mut events = inotify::Reader::new(&*watched, &mut buffer);
                while events.next().is_ok() {
                    // A full channel already announces a change.
                    if let Err(crossbeam_channel::TrySendError::Disconnected(())) = sender.try_send(()) {
                        return;
                    }
                }
            })?;
            Ok((Self { directories: BTreeSet::new(), inotify }, receiver))
        }
        #[cfg(not(target_os = "linux"))]
        {
            // Kept open: a closed channel would be ready all the time.
            std::mem::forget(sender);
            Ok((Self { directories: BTreeSet::new() }, receiver))
        }
    }

    /// Watches a state directory. One that is not there yet is tried again with the next document.
    pub(crate) fn add(&mut self, directory: &str) {
        if self.directories.contains(directory) {
            return;
        }
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::inotify::{WatchFlags, add_watch};
            // The snapshot of claims is replaced by a rename.
            if add_watch(&*self.inotify, directory, WatchFlags::MOVED_TO | WatchFlags::CREATE).is_err() {
                return;
            }
        }
        self.directories.insert(directory.to_owned());
    }
}

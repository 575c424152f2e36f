//! A device or pipe that rows are written to.
//!
//! - Opened without a wait, and written to without a wait: a pipe that nobody reads is waited for in short
//!   steps, between which the caller says whether to go on.

use super::destination::OutputFolder;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

/// How long a wait lasts until the caller is asked again.
const STEP_MS: i64 = 20;

/// Returns an error when the write is to end.
type GoOn = Box<dyn Fn() -> io::Result<()> + Send>;

/// A device or pipe, open for writing.
pub struct StreamFile {
    folder: OutputFolder,
    name: OsString,
    /// None as long as the pipe has no reader.
    descriptor: Option<OwnedFd>,
    go_on: GoOn,
}

impl StreamFile {
    pub(super) fn open(folder: &OutputFolder, name: &OsStr) -> io::Result<Self> {
        let go_on = Box::new(|| Ok(()));
        let (folder, name) = (folder.clone(), name.to_owned());
        let mut stream = Self { folder, name, descriptor: None, go_on };
        stream.try_open()?;
        Ok(stream)
    }

    /// Has a wait ask this whether to go on.
    #[must_use]
    pub fn asking(self, go_on: impl Fn() -> io::Result<()> + Send + 'static) -> Self {
        Self { go_on: Box::new(go_on), ..self }
    }

    /// Opens the pipe if it has a reader; a device has none to wait for.
    fn try_open(&mut self) -> io::Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        match fs::openat(self.folder.descriptor(), &self.name, flags, Mode::empty()) {
            Ok(descriptor) => self.descriptor = Some(descriptor),
            Err(Errno::NXIO | Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        Ok(())
    }

    fn wait(&self, for_room: bool) -> io::Result<()> {
        (self.go_on)()?;
        let step = Timespec { tv_sec: 0, tv_nsec: STEP_MS * 1_000_000 };
        let waited = match (&self.descriptor, for_room) {
            (Some(descriptor), true) => {
                poll(&mut [PollFd::new(descriptor, PollFlags::OUT)], Some(&step))
            }
            _ => poll(&mut [], Some(&step)),
        };
        match waited {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Write for StreamFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let Some(descriptor) = &self.descriptor else {
                self.wait(false)?;
                self.try_open()?;
                continue;
            };
            match rustix::io::write(descriptor, bytes) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(true)?,
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl fmt::Debug for StreamFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamFile").field("name", &self.name).finish_non_exhaustive()
    }
}

//! File systems mounted for one thread alone, and gone with it.
//!
//! - The thread has a table of mounts of its own, from which nothing reaches others. It ends with the last thread that
//!   has it, also where the process was killed: nobody has to clean up.

use super::last_error;
use crate::error::{KubError, Refused};
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

/// A mounted file system; unmounted when dropped, at the latest when its thread ends.
#[derive(Debug)]
pub(crate) struct Mount {
    at: CString,
}

/// A table of mounts that the calling thread has for itself, and those that it starts from then on.
#[derive(Debug)]
pub(crate) struct OwnMounts {
    /// It is that thread's: another's mounts would be everybody's.
    _thread: PhantomData<*const ()>,
}

impl OwnMounts {
    /// Takes the calling thread's table from that of all others.
    pub(crate) fn take() -> Result<Self, KubError> {
        const WHAT: &str = "mounts of its own";
        // SAFETY: passes numbers only; other threads keep theirs.
        if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
            return Err(last_error()).or_refused(WHAT);
        }
        // What is mounted here is not to appear where the table was copied from.
        mount(None, c"/", None, libc::MS_REC | libc::MS_PRIVATE).or_refused(WHAT)?;
        Ok(Self { _thread: PhantomData })
    }

    /// Mounts a device's file system in a folder.
    pub(crate) fn mount(&self, device: &Path, kind: &str, at: &Path) -> Result<Mount, KubError> {
        let name = |bytes: &[u8]| {
            CString::new(bytes).map_err(|_| KubError::unavailable("a name has a zero byte"))
        };
        let (device, kind_name) = (name(device.as_os_str().as_bytes())?, name(kind.as_bytes())?);
        let at = name(at.as_os_str().as_bytes())?;
        let flags = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
        mount(Some(&device), &at, Some(&kind_name), flags)
            .or_refused(&format!("{kind} cannot be mounted"))?;
        Ok(Mount { at })
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // SAFETY: the kernel reads a name. Who still has a file open keeps it until that is closed.
        unsafe { libc::umount2(self.at.as_ptr(), libc::MNT_DETACH) };
    }
}

fn mount(
    device: Option<&CStr>,
    at: &CStr,
    kind: Option<&CStr>,
    flags: libc::c_ulong,
) -> Result<(), rustix::io::Errno> {
    let pointer = |name: Option<&CStr>| name.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the kernel reads names, which are there for the call; there is no further data.
    let done =
        unsafe { libc::mount(pointer(device), at.as_ptr(), pointer(kind), flags, ptr::null()) };
    if done == 0 { Ok(()) } else { Err(last_error()) }
}

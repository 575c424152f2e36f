//! Waiting for the turn to open or leave a database, with a deadline.
//!
//! - The turn is a lock of the files, which the kernel frees with its holder's death. A holder that is stopped
//!   keeps it; so does a stranger who locks a file for reading, which needs no right to write.
//! - A wait that is short stays in this thread. A longer one is another thread's, so that this one can look
//!   after a while why it lasts: a process that recovers a large log is waited for, one that is stopped, or a
//!   stranger, is named in an error.

use crate::error::{ErrorKind, StorageError};
use gadus_base::{clock, spawn};
use gadus_block::{Device, Turn};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long a wait lasts until its cause is looked for, and again.
const LOOK: Duration = Duration::from_secs(2);

/// How long a process is waited for that works.
const PATIENCE: Duration = Duration::from_secs(60);

/// Processes that are named, and looked at.
const NAMED_MAX: usize = 3;
const PROCESSES_MAX: usize = 16_384;

const WAITS: u8 = 0;
const GIVEN_UP: u8 = 1;
const TAKEN: u8 = 2;

/// Takes the turn of a device. `opener` is the process that was recorded as being at work with it.
///
/// # Errors
/// `InUse`, naming the processes that have the file open, when the turn is not to be had.
pub(crate) fn take_turn(
    device: &Arc<dyn Device>,
    described: &str,
    opener: impl Fn() -> Option<u32>,
) -> Result<(), StorageError> {
    if device.try_turn()? == Turn::Taken {
        return Ok(());
    }
    let began = clock().now();
    let (taken, is_taken) = sync_channel(1);
    let state = Arc::new(AtomicU8::new(WAITS));
    let (waiting, waiter_state) = (device.clone(), state.clone());
    let waiter = spawn("gadus-turn", move || {
        let outcome = waiting.take_turn();
        let change =
            waiter_state.compare_exchange(WAITS, TAKEN, Ordering::SeqCst, Ordering::SeqCst);
        if change.is_err() && outcome.is_ok() {
            // Too late: nobody here wants it any more.
            let _ = waiting.end_turn();
        }
        let _ = taken.send(outcome);
    });
    waiter.map_err(|error| {
        let message = format!(
            "it is being opened or closed elsewhere, and there is no thread to wait: {error}"
        );
        StorageError::new(ErrorKind::InUse, described, message)
    })?;
    loop {
        match is_taken.recv_timeout(LOOK) {
            Ok(outcome) => return Ok(outcome?),
            Err(RecvTimeoutError::Disconnected) => {
                let message = "the thread that waits for the turn ended early";
                return Err(StorageError::new(ErrorKind::InUse, described, message));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let Some(cause) = cause(&**device, opener(), began.elapsed() >= PATIENCE)? else {
            continue;
        };
        let change = state.compare_exchange(WAITS, GIVEN_UP, Ordering::SeqCst, Ordering::SeqCst);
        if change.is_err() {
            // It was taken while the cause was looked for.
            return Ok(is_taken.recv().map_err(|_| in_use(device, described, "unknown"))??);
        }
        return Err(in_use(device, described, &cause));
    }
}

/// Returns why a wait is in vain; `None` if it is not.
fn cause(
    device: &dyn Device,
    opener: Option<u32>,
    is_over: bool,
) -> Result<Option<String>, StorageError> {
    let holders = || device.location().map_or_else(Vec::new, |path| holders_of(&path));
    if let Some(pid) = opener.into_iter().chain(holders()).find(|pid| is_stopped(*pid)) {
        return Ok(Some(format!(
            "process {pid} ({}) was stopped while it opened or closed the database; let it continue, or end it",
            name_of(pid)
        )));
    }
    match device.try_turn()? {
        // This open file has it by now, through the waiting thread or this call: both are one.
        Turn::Taken => Ok(None),
        Turn::LockedForReading => Ok(Some(
            "a process has locked the file for reading, though it takes no part in sharing it"
                .to_owned(),
        )),
        Turn::Held => Ok(is_over.then(|| {
            format!("another process has been opening or closing it for {} s", PATIENCE.as_secs())
        })),
    }
}

fn in_use(device: &Arc<dyn Device>, described: &str, cause: &str) -> StorageError {
    let mut message = format!("cannot be opened: {cause}");
    if let Some(holders) = described_holders(&**device) {
        let _ = write!(message, "; open in {holders}");
    }
    StorageError::new(ErrorKind::InUse, described, message)
}

/// Names the other processes that have a device open, as far as the system lets this one see them.
pub(crate) fn described_holders(device: &dyn Device) -> Option<String> {
    let holders = device.location().map_or_else(Vec::new, |path| holders_of(&path));
    let named = |pid: u32| format!("process {pid} ({})", name_of(pid));
    let holders = holders.into_iter().take(NAMED_MAX).map(named).collect::<Vec<_>>();
    (!holders.is_empty()).then(|| holders.join(", "))
}

fn is_stopped(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The name stands in parentheses, and may have some itself.
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next());
    matches!(state, Some('T' | 't'))
}

fn name_of(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    name.trim().chars().filter(|char| !char.is_control()).collect()
}

/// Returns other processes that have a file open, as far as the system lets this one see.
fn holders_of(path: &Path) -> Vec<u32> {
    let own = std::process::id();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten().take(PROCESSES_MAX);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_open = |pid: &u32| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        *pid != own
            && files
                .filter_map(|file| std::fs::read_link(file.path()).ok())
                .any(|file| file == path)
    };
    pids.filter(has_open).collect()
}

//! `x.gadus-lck`: who opened the database first, whether others may join, and through which memory.
//!
//! Version 2 is text: lines of a name and its value after a space. `pid`, `program` and `since`
//! describe the opener; `sharing` is `exclusive` or `shared`; when shared, `memory`, `device` and
//! `inode` say where the memory lies. Version 1 had the first three lines only.
//!
//! - Never needed to recover, and never trusted about ownership: that is the lock on the data and
//!   log files. Openers take turns by owning the file's slot 0.
//! - An opener that shares nothing writes it as best it can, one that shares must.
//! - Never removed: an opener could hold the removed file while another creates a new one.

use crate::error::StorageError;
use gadus_base::{clock, date_and_time};
use gadus_block::{Device, Folder, OpenMode};
use gadus_locks::{FileIdentity, Memory};
use std::io::IoSlice;
use std::path::PathBuf;
use std::sync::Arc;

const BYTES_MAX: u64 = 8192;

/// The turn to open or close, among all openers; given up when dropped.
#[derive(Debug)]
pub(crate) struct OpenersTurn {
    /// None where there is no file, and so nobody who shares.
    device: Option<Arc<dyn Device>>,
    described: String,
}

/// What the record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pid: String,
    program: String,
    since: String,
    /// Where the shared memory lies; none while others are excluded.
    pub(crate) memory: Option<SharedPlace>,
}

/// The file that shared memory lies in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SharedPlace {
    pub(crate) path: PathBuf,
    pub(crate) identity: FileIdentity,
}

impl OpenersTurn {
    /// Waits for the turn. Where the file is missing it is made only to share.
    pub(crate) fn take(
        folder: &dyn Folder,
        name: &str,
        shares: bool,
    ) -> Result<Self, StorageError> {
        let described = folder.describe(name);
        let device = match folder.open(name, OpenMode::ReadWrite) {
            Ok(device) => Some(device),
            Err(_) if !shares => None,
            Err(_) => Some(match folder.open(name, OpenMode::Create) {
                Ok(device) => device,
                // Another opener was faster.
                Err(_) => folder.open(name, OpenMode::ReadWrite)?,
            }),
        };
        if let Some(device) = &device {
            device.own_slot(0)?;
        }
        Ok(Self { device, described })
    }

    /// The record, when there is one that can be read.
    pub(crate) fn read(&self) -> Option<Record> {
        read(&**self.device.as_ref()?)
    }

    /// Records this process, in the file that the turn is about.
    pub(crate) fn record(&self, memory: Option<&Memory>) -> Result<(), StorageError> {
        let Some(device) = &self.device else { return Ok(()) };
        write(&**device, memory)
    }

    pub(crate) fn described(&self) -> &str {
        &self.described
    }
}

/// Records this process as one that shares nothing. A failure costs the next opener a detail of a
/// message, nothing else.
pub(crate) fn record_alone(folder: &dyn Folder, name: &str) {
    let device =
        folder.open(name, OpenMode::ReadWrite).or_else(|_| folder.open(name, OpenMode::Create));
    let _ = device.map(|device| write(&*device, None));
}

/// The recorded opener in words, when the record can be read.
pub(crate) fn describe(folder: &dyn Folder, name: &str) -> Option<String> {
    let device = folder.open(name, OpenMode::Read).ok()?;
    Some(read(&*device)?.describe())
}

impl Record {
    pub(crate) fn describe(&self) -> String {
        format!("process {} ({}), since {}", self.pid, self.program, self.since)
    }
}

fn write(device: &dyn Device, memory: Option<&Memory>) -> Result<(), StorageError> {
    let program = std::env::current_exe()
        .map_or_else(|_| "unknown".to_owned(), |path| path.display().to_string());
    let since = date_and_time(clock().wall_time().0.as_secs());
    let mut text = format!("pid {}\nprogram {program}\nsince {since}\n", std::process::id());
    match memory.and_then(Memory::file) {
        None => text.push_str("sharing exclusive\n"),
        Some((path, identity)) => {
            let FileIdentity { device, inode } = identity;
            let path = path.display();
            text.push_str(&format!(
                "sharing shared\nmemory {path}\ndevice {device}\ninode {inode}\n"
            ));
        }
    }
    // Shorter first: what a reader finds of an older, longer record is then not taken for this one's.
    device.set_length(0)?;
    device.write_at(0, &[IoSlice::new(text.as_bytes())])?;
    Ok(())
}

fn read(device: &dyn Device) -> Option<Record> {
    let length = device.length().ok().filter(|length| (1..=BYTES_MAX).contains(length))?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    device.read_at(0, &mut bytes).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let number = |key: &str| value(key)?.parse::<u64>().ok();
    let memory = || {
        Some(SharedPlace {
            path: PathBuf::from(value("memory")?),
            identity: FileIdentity { device: number("device")?, inode: number("inode")? },
        })
    };
    Some(Record {
        pid: printable(value("pid")?),
        program: printable(value("program")?),
        since: printable(value("since")?),
        memory: value("sharing").filter(|sharing| *sharing == "shared").and_then(|_| memory()),
    })
}

fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}

#[cfg(test)]
mod tests;

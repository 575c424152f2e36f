//! `x.gadus-lck`: who opened the database first, whether others may join, and through which memory.
//!
//! Version 2 is text: lines of a name and its value after a space. `pid`, `program` and `since`
//! describe the opener; `sharing` is `exclusive`, `opening`, `making` or `shared`; when shared, `memory`,
//! `device` and `inode` say where the memory lies, while opening where that of the dead before may still
//! lie; while making, `memory` alone says where it will lie. Version 1 had the first three lines only.
//!
//! - Never needed to recover, and never trusted: whoever may write the folder can forge it. Who owns the
//!   database is said by the lock on the data and log files. Of the path of a memory, the name alone is used,
//!   if it is one that this program gives, and only in the lock folder of this process ([`Recorded::memory_in`]).
//!   The file itself must not be a link, nor have a second name.
//! - Openers and leavers take turns, of this file first, then of the data and the log: what
//!   one of them has who dies in his turn is free when the next has his, though the kernel closes the
//!   files one after another.
//! - An opener that shares nothing writes it as best it can, one that shares must.
//! - Who finds `opening` or `making` in his turn knows that the opener has died: nobody else opens.
//! - Never removed: an opener could hold the removed file while another creates a new one.

use crate::error::{ErrorKind, StorageError};
use crate::openers_turn::take_turn;
use crate::peers::{is_memory_name, is_unfinished_or_of};
use gadus_base::{clock, date_and_time};
use gadus_block::{Device, ErrorKind as BlockErrorKind, Folder, Identity, OpenMode, Ownership};
use gadus_locks::{FileIdentity, Memory};
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const BYTES_MAX: u64 = 8192;

/// The turn to open or close, among all openers; given up when dropped.
#[derive(Debug)]
pub(crate) struct OpenersTurn {
    /// Whose turn it is, too. They come first: where nobody else has them, they are closed before the turn is over.
    covered: Vec<Arc<dyn Device>>,
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
    pub(crate) sharing: Recorded,
}

/// What a record says of sharing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Recorded {
    /// Others are excluded.
    Exclusive,
    /// The files are being opened; where the memory of the dead before may still lie.
    Opening(Option<SharedPlace>),
    /// Memory is being made in a file that nobody else uses, or has been and nobody has joined.
    Making(PathBuf),
    /// Others may join through this memory.
    Shared(SharedPlace),
}

impl Recorded {
    /// What the next opener records first, who has found that nobody has the files.
    pub(crate) fn opening(before: Option<Self>) -> Self {
        match before {
            None | Some(Self::Exclusive) => Self::Opening(None),
            Some(Self::Shared(place)) => Self::Opening(Some(place)),
            Some(unfinished) => unfinished,
        }
    }

    /// Returns the path of the recorded memory in a lock folder; `None` if it lies elsewhere, or has a name
    /// that no memory has.
    pub(crate) fn memory_in(&self, folder: &Path) -> Option<PathBuf> {
        let path = match self {
            Self::Exclusive | Self::Opening(None) => return None,
            Self::Opening(Some(place)) | Self::Shared(place) => &place.path,
            Self::Making(path) => path,
        };
        let name = path.file_name().filter(|name| is_memory_name(name))?;
        let same = |one: &Path| Some(one.canonicalize().ok()? == folder.canonicalize().ok()?);
        same(path.parent()?)?.then(|| folder.join(name))
    }

    /// Removes the memory of a database whose users have all died, if it lies in the lock folder and is that of
    /// this data file, or was never finished.
    pub(crate) fn remove_memory(&self, folder: &Path, data: Identity) {
        if let Some(path) = self.memory_in(folder) {
            Memory::remove_of_dead(&path, |front| {
                front.is_none_or(|front| is_unfinished_or_of(front, data))
            });
        }
    }
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
                // Another opener was faster, or nobody may write it.
                Err(error) if error.kind == BlockErrorKind::AlreadyExists => {
                    folder.open(name, OpenMode::ReadWrite)?
                }
                Err(error) => return Err(error.into()),
            }),
        };
        if let Some(device) = &device {
            if device.ownership().is_some_and(|file| file.names > 1) {
                let message = "the lock file has a second name, so it may be any file; remove it";
                return Err(StorageError::new(ErrorKind::Invalid, &described, message));
            }
            take_turn(device, &described, || opener_of(device))?;
        }
        Ok(Self { device, described, covered: Vec::new() })
    }

    /// Waits for the turn of one of the database's files, the data before the log.
    pub(crate) fn cover(&mut self, device: &Arc<dyn Device>) -> Result<(), StorageError> {
        take_turn(device, &self.described, || self.device.as_ref().and_then(opener_of))?;
        if let Some(data) = self.covered.first().unwrap_or(device).ownership() {
            share_with_users_of(&data, device);
            self.device.iter().for_each(|lock| share_with_users_of(&data, lock));
        }
        self.covered.push(device.clone());
        Ok(())
    }

    /// The record, when there is one that can be read.
    pub(crate) fn read(&self) -> Option<Record> {
        read(&**self.device.as_ref()?)
    }

    /// Records this process, in the file that the turn is about.
    pub(crate) fn record(&self, sharing: &Recorded) -> Result<(), StorageError> {
        let Some(device) = &self.device else { return Ok(()) };
        write(&**device, sharing)
    }

    pub(crate) fn described(&self) -> &str {
        &self.described
    }
}

impl Drop for OpenersTurn {
    fn drop(&mut self) {
        // The files stay open. A failure makes others wait until they are closed.
        self.covered.iter().for_each(|device| drop(device.end_turn()));
    }
}

/// Returns the process that the record names.
fn opener_of(device: &Arc<dyn Device>) -> Option<u32> {
    read(&**device)?.pid.parse().ok()
}

/// Gives a file that belongs to the database the group and mode of the data file: its users need all of them.
fn share_with_users_of(data: &Ownership, device: &Arc<dyn Device>) {
    let is_like = |file: Ownership| (file.group, file.mode) == (data.group, data.mode);
    if device.ownership().is_some_and(|file| file.names == 1 && !is_like(file)) {
        // Only the owner may; the others find it as it is.
        let _ = device.own_as(*data);
    }
}

/// Records this process as one that shares nothing. A failure costs the next opener a detail of a
/// message, nothing else.
pub(crate) fn record_alone(folder: &dyn Folder, name: &str) {
    let device =
        folder.open(name, OpenMode::ReadWrite).or_else(|_| folder.open(name, OpenMode::Create));
    let Ok(device) = device else { return };
    if device.ownership().is_none_or(|file| file.names == 1) {
        let _ = write(&*device, &Recorded::Exclusive);
    }
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

impl SharedPlace {
    /// Where a memory lies; none when in no file.
    pub(crate) fn of(memory: &Memory) -> Option<Self> {
        let (path, identity) = memory.file()?;
        Some(Self { path: path.to_owned(), identity })
    }
}

fn write(device: &dyn Device, sharing: &Recorded) -> Result<(), StorageError> {
    let program = std::env::current_exe()
        .map_or_else(|_| "unknown".to_owned(), |path| path.display().to_string());
    let since = date_and_time(clock().wall_time().0.as_secs());
    let mut text = format!("pid {}\nprogram {program}\nsince {since}\n", std::process::id());
    text.push_str(match sharing {
        Recorded::Exclusive => "sharing exclusive\n",
        Recorded::Opening(_) => "sharing opening\n",
        Recorded::Making(_) => "sharing making\n",
        Recorded::Shared(_) => "sharing shared\n",
    });
    match sharing {
        Recorded::Exclusive | Recorded::Opening(None) => {}
        Recorded::Opening(Some(place)) | Recorded::Shared(place) => {
            let FileIdentity { device, inode } = place.identity;
            let path = place.path.display();
            text.push_str(&format!("memory {path}\ndevice {device}\ninode {inode}\n"));
        }
        Recorded::Making(path) => text.push_str(&format!("memory {}\n", path.display())),
    }
    // In one write, which a death leaves whole or undone: what is left of a longer record is blank.
    let (length, before) = (text.len() as u64, device.length()?.min(BYTES_MAX));
    text.extend((length..before).map(|_| '\n'));
    device.write_at(0, &[IoSlice::new(text.as_bytes())])?;
    device.set_length(length)?;
    Ok(())
}

fn read(device: &dyn Device) -> Option<Record> {
    let length = device.length().ok().filter(|length| (1..=BYTES_MAX).contains(length))?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    device.read_at(0, &mut bytes).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
    let number = |key: &str| value(key)?.parse::<u64>().ok();
    let path = value("memory").map(PathBuf::from);
    let identity = || Some(FileIdentity { device: number("device")?, inode: number("inode")? });
    let place = path.clone().zip(identity()).map(|(path, identity)| SharedPlace { path, identity });
    let sharing = match (value("sharing"), path, place) {
        (Some("shared"), _, Some(place)) => Recorded::Shared(place),
        (Some("opening"), _, place) => Recorded::Opening(place),
        (Some("making"), Some(path), _) => Recorded::Making(path),
        _ => Recorded::Exclusive,
    };
    Some(Record {
        sharing,
        pid: printable(value("pid")?),
        program: printable(value("program")?),
        since: printable(value("since")?),
    })
}

fn printable(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).collect()
}

#[cfg(test)]
mod tests;

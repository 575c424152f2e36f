//! Memories of databases that are gone: found by whoever makes a memory beside them, and removed.
//!
//! A memory whose users were all killed is removed by the next who opens its database; who deletes the
//! database instead leaves a memory that nobody would ask for any more.
//!
//! - Only a memory goes that nobody uses, as the lock of its users proves ([`Memory::remove_unused`]), and
//!   that nobody will: the path of its data file leads to nothing, or to another file. Or its maker has
//!   died before anybody could join. Or it is of the opener's own database: the lock file names the last
//!   memory only, and another user, who has made one since, may not remove this user's in `/dev/shm`.
//! - What cannot be told stays: memories of other users, of data files behind folders that cannot be
//!   searched, without a path, and those under other names, which users of older versions have not locked.
//! - If a path leads to nothing here only, as in another container, no more is lost than time: nobody
//!   used the memory, and it is needed by nobody to recover.
//! - The work of one opening is limited, begins anywhere, and fails nothing.

use super::state::{Front, MAGIC, PAGE_BYTES, PATH_BYTES_MAX};
use gadus_base::{DatabaseId, Random, clock};
use gadus_block::{Device, FileFolder, Identity};
use gadus_locks::Memory;
use std::ffi::OsStr;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Who has a memory under such a name has it locked. In versions before, which lock nothing, the names
/// were `gadus-` and digits.
const PREFIX: &str = "gadus-memory-";

/// Digits of the database, a hyphen, and digits that make the name unique.
const DIGITS: [usize; 2] = [32, 16];

/// Names that are read of the folder: two milliseconds of work, and more than there are databases in use.
const NAMES_MAX: usize = 2048;

/// After this time no further memory is looked at. On two busy cores of a virtual machine, a look at one
/// whose data file is there takes 20 µs, and the removal of one of 4 MiB takes a millisecond: so more go with
/// each opening than it makes.
const TIME_MAX: Duration = Duration::from_millis(5);

/// The memories of a folder, of which some may be abandoned.
#[derive(Debug)]
pub(crate) struct Abandoned {
    candidates: Vec<PathBuf>,
}

/// The name of a new memory; no two have the same.
pub(crate) fn memory_name(database: DatabaseId, unique: u64) -> String {
    format!("{PREFIX}{database}-{unique:016x}")
}

/// Says in a memory where its data file is, if that is so.
pub(crate) fn tell_location(front: &Front, data: &dyn Device) {
    let there = |path: &PathBuf| FileFolder::identity_at(path).ok().flatten();
    let leads_there = |path: &PathBuf| there(path) == Some(data.identity());
    let Some(path) = data.location().filter(leads_there) else { return };
    let bytes = path.as_os_str().as_bytes();
    if bytes.len() > PATH_BYTES_MAX {
        return;
    }
    for (word, piece) in front.path.iter().zip(bytes.chunks(8)) {
        let mut filled = [0; 8];
        filled[..piece.len()].copy_from_slice(piece);
        word.store(u64::from_ne_bytes(filled), Ordering::Relaxed);
    }
    front.path_bytes.store(bytes.len() as u64, Ordering::Relaxed);
}

impl Abandoned {
    /// What lies in a folder, in the order of its names from anywhere: whatever comes first in it, all get
    /// their turn some time.
    pub(crate) fn in_folder(folder: &Path, random: &mut Random) -> Self {
        let names = std::fs::read_dir(folder).into_iter().flatten().take(NAMES_MAX).flatten();
        let memories = names.filter(|entry| is_memory_name(&entry.file_name()));
        let mut candidates = memories.map(|entry| entry.path()).collect::<Vec<_>>();
        if !candidates.is_empty() {
            let first = random.below(candidates.len() as u64);
            candidates.rotate_left(usize::try_from(first).expect("it is below a length"));
        }
        Self { candidates }
    }

    /// Removes those that are abandoned, as far as there is time; also those of a data file that the caller
    /// has alone, which others can have left whose memory the lock file does not name any more.
    pub(crate) fn remove(self, owned: Identity) {
        let end = clock().now().plus(TIME_MAX);
        for path in self.candidates {
            if clock().now() >= end {
                break;
            }
            Memory::remove_unused(&path, |front| {
                is_dead(front) || is_unfinished_or_of(front, owned)
            });
        }
    }
}

/// True for the names that this version gives to memories.
pub(crate) fn is_memory_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    digits.is_some_and(|(database, unique)| {
        [database, unique].map(str::len) == DIGITS
            && [database, unique]
                .iter()
                .all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
    })
}

/// True if a memory that begins so was never finished, or belongs to the database of this data file.
pub(crate) fn is_unfinished_or_of(front: &[u8; PAGE_BYTES], data: Identity) -> bool {
    match word(front, offset_of!(Front, magic)) {
        0 => true,
        MAGIC => {
            let files = offset_of!(Front, files);
            data == Identity([word(front, files), word(front, files + 8)])
        }
        _ => false,
    }
}

/// Whether nobody will join through a memory that begins so.
fn is_dead(front: &[u8; PAGE_BYTES]) -> bool {
    match word(front, offset_of!(Front, magic)) {
        MAGIC => {}
        // Nobody joins before that is there, and its maker is gone.
        0 => return true,
        _ => return false,
    }
    let files = offset_of!(Front, files);
    let identity = Identity([word(front, files), word(front, files + 8)]);
    let (start, length) = (offset_of!(Front, path), word(front, offset_of!(Front, path_bytes)));
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let Some(path) = front[start..start + PATH_BYTES_MAX].get(..length) else { return false };
    let path = Path::new(OsStr::from_bytes(path));
    path.is_absolute() && FileFolder::identity_at(path).is_ok_and(|there| there != Some(identity))
}

fn word(front: &[u8; PAGE_BYTES], offset: usize) -> u64 {
    u64::from_ne_bytes(front[offset..offset + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests;

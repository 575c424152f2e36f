//! Processes that share a memory file, and whose life shows by a byte that each keeps locked in a
//! file. A child is this program again, told by its environment what to do.

#![allow(unsafe_code)] // locks of open file descriptions are known to the C library only

use gadus_base::clock;
use gadus_locks::{
    EXTENT_BYTES, Fence, FileIdentity, InstanceTable, Instances, LockSettings, LockTable, Memory,
    MemoryError, Offset, Trust,
};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

pub(crate) const EXTENTS: usize = 64;

/// Where the words that a test shares begin: behind the instances.
const WORDS_AT: usize = EXTENT_BYTES / 2;
const _: () = assert!(size_of::<InstanceTable>() <= WORDS_AT);

/// A byte that openers lock in turn, behind those of the slots.
const OPENERS: u32 = gadus_locks::INSTANCES_MAX;

const ROLE: &str = "GADUS_LOCKS_TEST_ROLE";
const FOLDER: &str = "GADUS_LOCKS_TEST_FOLDER";

#[derive(Debug)]
struct ByteLocks(File);

impl ByteLocks {
    fn open(folder: &Path) -> Self {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        Self(options.open(folder.join("lives")).unwrap())
    }

    fn control(&self, command: i32, byte: u32, kind: i32) -> (i32, libc::flock) {
        let mut lock = libc::flock {
            l_type: kind.try_into().unwrap(),
            l_whence: libc::SEEK_SET.try_into().unwrap(),
            l_start: byte.into(),
            l_len: 1,
            l_pid: 0,
        };
        // SAFETY: the descriptor is open, and the structure lives and is the one that is asked for.
        let result = unsafe { libc::fcntl(self.0.as_raw_fd(), command, &raw mut lock) };
        (result, lock)
    }

    fn take(&self, byte: u32) -> bool {
        self.control(libc::F_OFD_SETLK, byte, libc::F_WRLCK).0 == 0
    }
}

impl Fence for ByteLocks {
    fn is_quiet(&self, slot: u32) -> bool {
        let (result, lock) = self.control(libc::F_OFD_GETLK, slot, libc::F_WRLCK);
        result == 0 && i32::from(lock.l_type) == libc::F_UNLCK
    }
}

/// The folder of a shared memory, and the words in it that a test uses as it likes.
pub(crate) struct Machine {
    folder: PathBuf,
    memory: Arc<Memory>,
}

impl Machine {
    pub(crate) fn create(folder: &Path) -> Self {
        let bytes = EXTENTS * EXTENT_BYTES;
        let memory = Memory::create(&folder.join("memory"), bytes, Trust::this_user()).unwrap();
        Self { folder: folder.to_owned(), memory: Arc::new(memory) }
    }

    /// What a child is to do, and where; nothing in the parent.
    pub(crate) fn of_child() -> Option<(String, Self)> {
        let role = std::env::var(ROLE).ok()?;
        Some((role, Self::join(&PathBuf::from(std::env::var(FOLDER).unwrap()))))
    }

    /// Maps the memory that another has created.
    pub(crate) fn join(folder: &Path) -> Self {
        let path = folder.join("memory");
        let facts = std::fs::metadata(&path).unwrap();
        let identity = FileIdentity { device: facts.dev(), inode: facts.ino() };
        let memory =
            Memory::open(&path, EXTENTS * EXTENT_BYTES, identity, Trust::this_user()).unwrap();
        Self { folder: folder.to_owned(), memory: Arc::new(memory) }
    }

    /// Opens the table, as one more instance.
    pub(crate) fn open(&self) -> Arc<LockTable> {
        let locks = Arc::new(ByteLocks::open(&self.folder));
        let opener = ByteLocks::open(&self.folder);
        let turn = opener.control(libc::F_OFD_SETLKW, OPENERS, libc::F_WRLCK);
        assert_eq!(turn.0, 0);
        let own = |slot| Ok::<_, MemoryError>(locks.take(slot));
        let table = Offset::new(0);
        let instances = Instances::claim(self.memory.clone(), table, locks.clone(), own).unwrap();
        LockTable::attach(Arc::new(instances), EXTENT_BYTES, LockSettings::default()).unwrap()
    }

    pub(crate) fn word(&self, index: usize) -> &AtomicU64 {
        self.memory.at(Offset::new(WORDS_AT + 8 * index)).unwrap()
    }

    pub(crate) fn spawn(&self, role: &str) -> Process {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::child", "--nocapture"]);
        command.env(ROLE, role).env(FOLDER, &self.folder).stdout(Stdio::null());
        Process(command.spawn().unwrap())
    }
}

/// A child, which does not outlive its test.
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn kill(&mut self) {
        Self::kill_at_once([self]);
    }

    /// Kills several, none of whom is known to be gone before the last one is hit.
    pub(crate) fn kill_at_once<const COUNT: usize>(mut processes: [&mut Self; COUNT]) {
        processes.iter_mut().for_each(|process| process.0.kill().unwrap());
        for process in processes {
            process.0.wait().unwrap();
        }
    }

    /// Stops it without ending it.
    pub(crate) fn stop(&self) {
        // SAFETY: a signal to a child that has not been waited for.
        let result = unsafe { libc::kill(self.0.id().cast_signed(), libc::SIGSTOP) };
        assert_eq!(result, 0);
    }

    pub(crate) fn ends_well(&mut self) -> bool {
        self.0.wait().unwrap().success()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until something is so; fails when it does not become so in reasonable time.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = clock().now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(30), "not in time: {what}");
        std::thread::yield_now();
    }
}

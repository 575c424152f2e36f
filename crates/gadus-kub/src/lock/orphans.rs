//! Locks whose holder is killed: how long until the next one has them, who came later or waited already.
//!
//! - A kernel's lock is given up when the dying process closes its files. Gadus's table learns of a death when somebody
//!   who waits looks, as it does at once and then every 15 ms.
//! - Who waits already is left so for as long as chance says, because where in that pause a death falls is chance.

use super::locks::file_in;
use super::sleeper::Sleeper;
use super::table_of_two::{TableOfTwo, live_by};
use crate::error::{KubError, Refused};
use crate::harness::{Budget, Contest, Harness, Repetitions, Stopwatch, Work};
use crate::report::{Benchmark, Origin};
use crate::run::{Deadline, Place, Task};
use crate::system::{Child, Mapping, RangeLock, RangeLockKind, RobustMutex, Semaphore};
use gadus_base::Random;
use parking_lot::Mutex;
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::ffi::CString;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A wait is left alone this long at most: longer than Gadus's table pauses between looks.
const LEFT_ALONE_US_MAX: u64 = 20_000;

/// Words of the memory that all share, each in a cache line of its own.
const HOLDER: usize = 0;
const WAITER: usize = 32;
const THREAD: usize = 64;

/// What the first two hold.
const LOCKED: u32 = 1;
const REFUSED: u32 = 2;

/// A lock that a child has when it is killed.
pub(super) trait Orphan: Sync {
    /// Makes ready what the next child needs.
    fn prepare(&mut self) -> Result<(), KubError> {
        Ok(())
    }

    /// The child locks, until it is killed. It makes system calls only.
    fn hold(&self) -> Result<(), KubError>;

    /// Locks for this process, waiting as long as it takes.
    fn lock(&self) -> Result<(), KubError>;

    fn unlock(&self) -> Result<(), KubError>;
}

/// When the next one comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    Later,
    Waits,
}

pub(super) fn tasks(budget: Budget) -> Vec<Task> {
    let task = |name: &str, next| {
        Task::new(Benchmark::Lock, name, move |harness, place| measure(harness, place, next))
    };
    let mut tasks = vec![task("locks of a holder that is killed", Next::Later)];
    if budget != Budget::Quick {
        tasks.push(task("locks of a holder that is killed while another waits", Next::Waits));
    }
    tasks
}

fn measure(harness: &mut Harness<'_>, place: &Place, next: Next) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.elsewhere.unwrap_or(place.here);
    let name = match next {
        Next::Later => "a lock whose holder is killed",
        Next::Waits => "a lock that one waits for whose holder is killed",
    };
    let folder = &place.folder;
    let contest = Contest::new(Benchmark::Lock, Origin::Modern, name)
        .repetitions(Repetitions::Calibrated(64))
        .user("robust mutex", orphaned(cpu, next, RobustMutex::create()))
        .user("Gadus's lock table", orphaned(cpu, next, Table::in_folder(folder)))
        .kernel(
            "file range, POSIX",
            orphaned(cpu, next, file_in(folder, "orphaned").map(OfProcess)),
        )
        .kernel("file range, description", {
            orphaned(cpu, next, OfFile::in_folder(folder, OfFile::RANGE))
        })
        .kernel("flock", orphaned(cpu, next, OfFile::in_folder(folder, OfFile::WHOLE)))
        .kernel("semaphore of System V", orphaned(cpu, next, Semaphore::create()));
    harness.measure(contest)
}

/// Has a child lock, kills it, and sees another lock. What the system does not have does not take part.
pub(super) fn orphaned<'a, T: Orphan + 'a>(
    cpu: u32,
    next: Next,
    orphan: Result<T, KubError>,
) -> Work<'a> {
    let mut orphan = match orphan {
        Ok(orphan) => orphan,
        Err(error) => return Box::new(move |_, _| Err(error.clone())),
    };
    let (mut memory, mut random) = (None, Random::from_system());
    Box::new(move |times, watch| {
        let memory: &Mapping = match &mut memory {
            Some(memory) => memory,
            none => none.insert(watch.untimed(|| Mapping::shared(4096))?),
        };
        (0..times).try_for_each(|_| {
            let child = watch.untimed(|| {
                orphan.prepare()?;
                start_holder(&orphan, memory, cpu)
            })?;
            match next {
                Next::Later => {
                    child.kill();
                    orphan.lock()?;
                    watch.untimed(|| orphan.unlock())
                }
                Next::Waits => waited_for(&orphan, memory, child, &mut random, watch),
            }
        })
    })
}

fn start_holder(orphan: &impl Orphan, memory: &Mapping, cpu: u32) -> Result<Child, KubError> {
    let state = memory.word(HOLDER);
    state.store(0, Ordering::Relaxed);
    let child = Child::start(Some(cpu), || {
        say(state, if orphan.hold().is_ok() { LOCKED } else { REFUSED });
        loop {
            rustix::event::pause();
        }
    })?;
    match heard(state) {
        LOCKED => Ok(child),
        _ => Err(KubError::unavailable("a child could not lock")),
    }
}

/// Kills the child while a thread waits for its lock, and waits until that has it.
fn waited_for(
    orphan: &impl Orphan,
    memory: &Mapping,
    child: Child,
    random: &mut Random,
    watch: &mut Stopwatch<'_>,
) -> Result<(), KubError> {
    let (state, thread) = (memory.word(WAITER), memory.word(THREAD));
    state.store(0, Ordering::Relaxed);
    thread.store(0, Ordering::Relaxed);
    let left_alone = Duration::from_micros(random.below(LEFT_ALONE_US_MAX));
    std::thread::scope(|scope| {
        let waiting = watch.untimed(|| {
            let waiting = scope.spawn(|| {
                say(thread, rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
                let locked = orphan.lock();
                say(state, if locked.is_ok() { LOCKED } else { REFUSED });
                locked.and_then(|()| orphan.unlock())
            });
            let sleeper = Sleeper::thread(heard(thread));
            sleeper.await_sleep(|| state.load(Ordering::Acquire) != 0)?;
            let end = Deadline::after(left_alone);
            while !end.is_over() {
                std::hint::spin_loop();
            }
            Ok(waiting)
        });
        // Whatever happened, the waiter gets its lock when the child is dead.
        child.strike();
        let waiting = waiting?;
        heard(state);
        watch.untimed(|| {
            drop(child);
            waiting.join().map_err(|_| KubError::broken("who waited broke off"))?
        })
    })
}

fn say(word: &AtomicU32, what: u32) {
    word.store(what, Ordering::Release);
    gadus_locks::wake(word, 1);
}

/// What is said with a word, as soon as it is.
fn heard(word: &AtomicU32) -> u32 {
    loop {
        match word.load(Ordering::Acquire) {
            0 => gadus_locks::wait_on(word, 0, None),
            said => return said,
        }
    }
}

impl Orphan for RobustMutex {
    fn hold(&self) -> Result<(), KubError> {
        self.lock().map(drop)
    }

    fn lock(&self) -> Result<(), KubError> {
        self.lock().map(drop)
    }

    fn unlock(&self) -> Result<(), KubError> {
        self.unlock()
    }
}

impl Orphan for Semaphore {
    fn hold(&self) -> Result<(), KubError> {
        self.acquire()
    }

    fn lock(&self) -> Result<(), KubError> {
        self.acquire()
    }

    fn unlock(&self) -> Result<(), KubError> {
        self.release()
    }
}

/// A range of a file, which belongs to the process.
struct OfProcess(File);

impl OfProcess {
    fn range(&self) -> RangeLock<'_> {
        RangeLock::new(self.0.as_fd(), RangeLockKind::Process)
    }
}

impl Orphan for OfProcess {
    fn hold(&self) -> Result<(), KubError> {
        self.lock()
    }

    fn lock(&self) -> Result<(), KubError> {
        self.range().lock(0, 1, true)
    }

    fn unlock(&self) -> Result<(), KubError> {
        self.range().unlock(0, 1)
    }
}

pub(super) type Locking = fn(&OwnedFd, bool) -> Result<(), KubError>;

/// What belongs to an open file. The child opens its own: what its parent has open, too, is not closed with it.
pub(super) struct OfFile {
    file: OwnedFd,
    name: CString,
    /// Locks and unlocks.
    set: Locking,
}

impl OfFile {
    pub(super) const RANGE: Locking = |file, lock| {
        let range = RangeLock::new(file.as_fd(), RangeLockKind::Description);
        if lock { range.lock(0, 1, true) } else { range.unlock(0, 1) }
    };

    pub(super) const WHOLE: Locking = |file, lock| {
        let operation = if lock { FlockOperation::LockExclusive } else { FlockOperation::Unlock };
        flock(file, operation).or_refused("flock")
    };

    pub(super) fn in_folder(folder: &Path, set: Locking) -> Result<Self, KubError> {
        let (file, name) = named_file(folder, "orphaned")?;
        Ok(Self { file: file.into(), name, set })
    }
}

impl Orphan for OfFile {
    fn hold(&self) -> Result<(), KubError> {
        let its = open(self.name.as_c_str(), OFlags::RDWR, Mode::empty());
        let its = its.or_refused("a file to lock")?;
        (self.set)(&its, true)?;
        // Until it is killed.
        std::mem::forget(its);
        Ok(())
    }

    fn lock(&self) -> Result<(), KubError> {
        (self.set)(&self.file, true)
    }

    fn unlock(&self) -> Result<(), KubError> {
        (self.set)(&self.file, false)
    }
}

/// A row of Gadus's table.
pub(super) struct Table {
    slots: Arc<File>,
    name: CString,
    table: Mutex<Option<TableOfTwo>>,
    /// The byte by which the child's instance lives.
    slot: i64,
}

impl Table {
    pub(super) fn in_folder(folder: &Path) -> Result<Self, KubError> {
        let (file, name) = named_file(folder, "instances")?;
        Ok(Self { slots: Arc::new(file), name, table: Mutex::default(), slot: 0 })
    }

    fn with<T>(
        &self,
        body: impl FnOnce(&mut TableOfTwo) -> Result<T, KubError>,
    ) -> Result<T, KubError> {
        let mut table = self.table.lock();
        body(table.as_mut().ok_or_else(|| KubError::broken("no table was made"))?)
    }
}

impl Orphan for Table {
    fn prepare(&mut self) -> Result<(), KubError> {
        let table = self.table.get_mut();
        // The one before goes first: there may be no room for two.
        *table = None;
        self.slot = table.insert(TableOfTwo::create(&self.slots)?).slot();
        Ok(())
    }

    fn hold(&self) -> Result<(), KubError> {
        live_by(&self.name, self.slot)
    }

    fn lock(&self) -> Result<(), KubError> {
        match self.with(|table| table.own().lock(0))? {
            true => Ok(()),
            false => Err(KubError::broken("a lock of the dead was called a deadlock")),
        }
    }

    fn unlock(&self) -> Result<(), KubError> {
        self.with(|table| table.own().release())
    }
}

/// A file, and what a child opens it by.
fn named_file(folder: &Path, name: &str) -> Result<(File, CString), KubError> {
    let file = file_in(folder, name)?;
    let name = CString::new(folder.join(name).as_os_str().as_bytes());
    Ok((file, name.map_err(|_| KubError::unavailable("the folder's name has a zero byte"))?))
}

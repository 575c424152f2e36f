//! Two who wait for each other: how long from the request that closes the circle to the error of the one who gives way.
//!
//! - The kernel looks before a process waits for a range that another process has, and at nothing else: descriptions'
//!   locks and `flock` wait for ever. That is tried, too, with an end to it.
//! - Gadus's table lets a wait last for a while before it suspects a deadlock, since most waits are none, and looks at
//!   the end of its next pause. How long that while is can be set: it is measured as it is, and with none.

use super::locks::file_in;
use super::sleeper::Sleeper;
use super::table_of_two::Connection;
use crate::error::{KubError, Refused};
use crate::harness::{Contest, Harness, Repetitions, Stopwatch};
use crate::report::{Benchmark, Origin};
use crate::run::{Place, Task};
use crate::system::{Child, Mapping, RangeLock, RangeLockKind};
use gadus_base::clock;
use gadus_locks::{LockSettings, wait_on, wake};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Who has not learnt of a deadlock by then will not.
const PATIENCE: Duration = Duration::from_millis(500);

/// Words of the memory that both share, each in a cache line of its own.
const ASKED: usize = 0;
const BEGUN: usize = 32;
const DONE: usize = 64;
const ANSWERED: usize = 96;

/// What the other is asked to do, in this order.
const TAKE_ITS_OWN: u32 = 1;
const WANT_THE_OTHER: u32 = 2;
const LET_GO: u32 = 3;
const REFUSED: u32 = 4;

/// The locks: who measures has the first, and then wants the other's.
const MINE: i64 = 0;
const ITS: i64 = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Range(RangeLockKind),
    Whole,
}

/// A lock of the kernel as either process has it.
struct Lock<'a> {
    kind: Kind,
    files: [BorrowedFd<'a>; 2],
}

/// Both processes.
struct Pair {
    memory: Arc<Mapping>,
    files: [OwnedFd; 2],
    child: Child,
}

pub(super) fn task() -> Task {
    Task::new(Benchmark::Lock, "a deadlock of two", measure)
}

fn measure(harness: &mut Harness<'_>, place: &Place) -> Result<(), KubError> {
    place.stay_here()?;
    let cpu = place.elsewhere.unwrap_or(place.here);
    let name = |which: &str| {
        let name = format!("deadlocked-{which}");
        drop(file_in(&place.folder, &name)?);
        CString::new(place.folder.join(name).as_os_str().as_bytes())
            .map_err(|_| KubError::unavailable("the folder's name has a zero byte"))
    };
    let names = [name("one")?, name("other")?];
    let by = |kind| by_kernel(kind, names.clone(), cpu);
    let contest = Contest::new(Benchmark::Lock, Origin::Modern, "a deadlock of two, to its error")
        .repetitions(Repetitions::Calibrated(256))
        .user("Gadus's lock table", by_table(LockSettings::default().deadlock_after))
        .user("Gadus's lock table, suspecting at once", by_table(Duration::ZERO))
        .kernel("file range, POSIX", by(Kind::Range(RangeLockKind::Process)))
        .kernel("file range, description", by(Kind::Range(RangeLockKind::Description)))
        .kernel("flock", by(Kind::Whole));
    harness.measure(contest)
}

pub(super) fn by_table(
    search_after: Duration,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut pair: Option<(Connection, Connection)> = None;
    move |times, watch| {
        let (mine, its) = match &mut pair {
            Some(pair) => pair,
            none => none.insert(watch.untimed(|| Connection::two(search_after))?),
        };
        (0..times).try_for_each(|_| table_once(mine, its, watch))
    }
}

fn table_once(
    mine: &mut Connection,
    its: &mut Connection,
    watch: &mut Stopwatch<'_>,
) -> Result<(), KubError> {
    let locked = |granted: Result<bool, KubError>| match granted? {
        true => Ok(()),
        false => Err(KubError::broken("the wrong one gave way")),
    };
    its.begin();
    mine.begin();
    locked(watch.untimed(|| its.lock(1)))?;
    locked(watch.untimed(|| mine.lock(0)))?;
    let thread = AtomicU32::new(0);
    std::thread::scope(|scope| {
        let other = watch.untimed(|| {
            let other = scope.spawn(|| {
                let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
                thread.store(own, Ordering::Release);
                wake(&thread, 1);
                locked(its.lock(0)).and_then(|()| its.release())
            });
            while thread.load(Ordering::Acquire) == 0 {
                wait_on(&thread, 0, None);
            }
            let sleeper = Sleeper::thread(thread.load(Ordering::Acquire));
            sleeper.await_sleep(|| other.is_finished()).map(|()| other)
        });
        let refused = mine.lock(1);
        watch.untimed(|| {
            mine.release()?;
            other?.join().map_err(|_| KubError::broken("the other broke off"))??;
            match refused? {
                false => Ok(()),
                true => Err(KubError::broken("no deadlock was found where one was made")),
            }
        })
    })
}

pub(super) fn by_kernel(
    kind: Kind,
    names: [CString; 2],
    cpu: u32,
) -> impl FnMut(u64, &mut Stopwatch<'_>) -> Result<(), KubError> {
    let mut pair: Option<Pair> = None;
    move |times, watch| {
        let pair = match &mut pair {
            Some(pair) => pair,
            none => none.insert(watch.untimed(|| Pair::start(kind, &names, cpu))?),
        };
        (0..times).try_for_each(|_| pair.once(kind, watch))
    }
}

impl Pair {
    fn start(kind: Kind, names: &[CString; 2], cpu: u32) -> Result<Self, KubError> {
        let memory = Arc::new(Mapping::shared(4096)?);
        let [one, other] = names;
        let files = [open_file(one)?, open_file(other)?];
        let its = memory.clone();
        let child = Child::start(Some(cpu), || {
            if let (Ok(one), Ok(other)) = (open_file(one), open_file(other)) {
                let lock = Lock { kind, files: [one.as_fd(), other.as_fd()] };
                while obey(&lock, &its).is_ok() {}
            }
            // Who waits for it would wait for ever.
            say(its.word(DONE), REFUSED);
        })?;
        Ok(Self { memory, files, child })
    }

    fn once(&self, kind: Kind, watch: &mut Stopwatch<'_>) -> Result<(), KubError> {
        let [one, other] = &self.files;
        let lock = Lock { kind, files: [one.as_fd(), other.as_fd()] };
        let answered = self.memory.word(ANSWERED);
        watch.untimed(|| {
            self.ask(TAKE_ITS_OWN);
            self.await_done(TAKE_ITS_OWN)?;
            lock.acquire(MINE)?;
            self.ask(WANT_THE_OTHER);
            let begun = self.memory.word(BEGUN);
            while begun.load(Ordering::Acquire) != WANT_THE_OTHER {
                wait_on(begun, begun.load(Ordering::Acquire), Some(PATIENCE));
                self.check()?;
            }
            answered.store(0, Ordering::Release);
            Sleeper::process(self.child.pid()).await_sleep(|| self.is_done(WANT_THE_OTHER))
        })?;
        let granted = std::thread::scope(|scope| {
            // Whoever waits for ever is helped by the other's end.
            let helper = watch.untimed(|| {
                scope.spawn(|| {
                    let end = clock().now().plus(PATIENCE);
                    while answered.load(Ordering::Acquire) == 0 {
                        let left = end.since(clock().now());
                        if left.is_zero() {
                            self.child.strike();
                            return;
                        }
                        wait_on(answered, 0, Some(left));
                    }
                })
            });
            let granted = lock.acquire(ITS);
            watch.untimed(|| {
                say(answered, 1);
                helper.join().map_err(|_| KubError::broken("a helper broke off"))?;
                granted
            })
        })?;
        if granted {
            let waited = PATIENCE.as_millis();
            let why = format!("it tells nobody of a deadlock: not in {waited} ms");
            return Err(KubError::unavailable(why));
        }
        watch.untimed(|| {
            lock.release(MINE)?;
            self.await_done(WANT_THE_OTHER)?;
            self.ask(LET_GO);
            self.await_done(LET_GO)
        })
    }

    fn ask(&self, what: u32) {
        say(self.memory.word(ASKED), what);
    }

    fn is_done(&self, what: u32) -> bool {
        self.memory.word(DONE).load(Ordering::Acquire) == what
    }

    fn await_done(&self, what: u32) -> Result<(), KubError> {
        let done = self.memory.word(DONE);
        while !self.is_done(what) {
            wait_on(done, done.load(Ordering::Acquire), Some(PATIENCE));
            self.check()?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), KubError> {
        match self.is_done(REFUSED) {
            false => Ok(()),
            true => Err(KubError::unavailable("another process cannot lock")),
        }
    }
}

/// Does what the child is asked for next.
fn obey(lock: &Lock<'_>, memory: &Mapping) -> Result<(), KubError> {
    let (asked, done) = (memory.word(ASKED), memory.word(DONE));
    let before = done.load(Ordering::Acquire);
    while asked.load(Ordering::Acquire) == before {
        wait_on(asked, before, None);
    }
    let what = asked.load(Ordering::Acquire);
    say(memory.word(BEGUN), what);
    match what {
        TAKE_ITS_OWN => lock.acquire(ITS).map(drop)?,
        WANT_THE_OTHER => lock.acquire(MINE).map(drop)?,
        _ => [MINE, ITS].into_iter().try_for_each(|which| lock.release(which))?,
    }
    say(done, what);
    Ok(())
}

impl Lock<'_> {
    /// Says whether it was granted, or refused because the two would wait for each other.
    fn acquire(&self, which: i64) -> Result<bool, KubError> {
        match self.kind {
            Kind::Range(kind) => RangeLock::new(self.files[0], kind).lock_unless_deadlocked(which),
            Kind::Whole => self.whole(which, FlockOperation::LockExclusive).map(|()| true),
        }
    }

    fn release(&self, which: i64) -> Result<(), KubError> {
        match self.kind {
            Kind::Range(kind) => RangeLock::new(self.files[0], kind).unlock(which, 1),
            Kind::Whole => self.whole(which, FlockOperation::Unlock),
        }
    }

    fn whole(&self, which: i64, operation: FlockOperation) -> Result<(), KubError> {
        flock(self.files[usize::from(which == ITS)], operation).or_refused("flock")
    }
}

fn open_file(name: &CString) -> Result<OwnedFd, KubError> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    open(name.as_c_str(), flags, Mode::empty()).or_refused("a file to lock")
}

fn say(word: &AtomicU32, what: u32) {
    word.store(what, Ordering::Release);
    wake(word, 1);
}

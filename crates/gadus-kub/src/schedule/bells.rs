//! Bells: one rings, and another who waits for that goes on.
//!
//! - A bell that is rung before anybody waits is heard by the next who does.

use crate::error::{KubError, Refused};
use crate::system::Mapping;
use parking_lot::{Condvar, Mutex};
use rustix::event::{EventfdFlags, eventfd};
use rustix::thread::futex::{self, Flags};
use std::hint::spin_loop;
use std::io::{PipeReader, PipeWriter, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Something that one rings and one waits for.
pub(super) trait Bell: Send + Sync + 'static {
    fn ring(&self);

    fn wait(&self);
}

/// By the kernel's futex, for threads.
#[derive(Debug, Default)]
pub(super) struct FutexBell(AtomicU32);

/// By the kernel's futex, for processes: in shared memory.
#[derive(Debug)]
pub(super) struct SharedBell {
    memory: Arc<Mapping>,
    place: usize,
}

/// By a byte in a pipe.
#[derive(Debug)]
pub(super) struct PipeBell(PipeReader, PipeWriter);

/// By an eventfd.
#[derive(Debug)]
pub(super) struct EventBell(OwnedFd);

/// By a condition variable.
#[derive(Debug, Default)]
pub(super) struct ConditionBell(Mutex<bool>, Condvar);

/// By giving the processor away until it has rung.
#[derive(Debug, Default)]
pub(super) struct YieldBell(AtomicU32);

/// By looking again and again.
#[derive(Debug, Default)]
pub(super) struct SpinBell(AtomicU32);

fn ring_word(word: &AtomicU32, flags: Flags) {
    word.store(1, Ordering::Release);
    // Waking fails only for addresses that are not mapped.
    let _ = futex::wake(word, flags, 1);
}

fn wait_for_word(word: &AtomicU32, flags: Flags) {
    while word.swap(0, Ordering::Acquire) == 0 {
        // Any return leads to another look.
        let _ = futex::wait(word, flags, 0, None);
    }
}

impl Bell for FutexBell {
    fn ring(&self) {
        ring_word(&self.0, Flags::PRIVATE);
    }

    fn wait(&self) {
        wait_for_word(&self.0, Flags::PRIVATE);
    }
}

impl SharedBell {
    /// Two bells in memory that children share.
    pub(super) fn pair() -> Result<(Self, Self), KubError> {
        let memory = Arc::new(Mapping::shared(4096)?);
        // Each in a cache line of its own.
        Ok((Self { memory: memory.clone(), place: 0 }, Self { memory, place: 32 }))
    }
}

impl Bell for SharedBell {
    fn ring(&self) {
        ring_word(self.memory.word(self.place), Flags::empty());
    }

    fn wait(&self) {
        wait_for_word(self.memory.word(self.place), Flags::empty());
    }
}

impl PipeBell {
    pub(super) fn create() -> Result<Self, KubError> {
        let (reader, writer) = std::io::pipe().or_refused("a pipe")?;
        Ok(Self(reader, writer))
    }
}

impl Bell for PipeBell {
    fn ring(&self) {
        (&self.1).write_all(&[1]).expect("the reading end is open");
    }

    fn wait(&self) {
        (&self.0).read_exact(&mut [0]).expect("the writing end is open");
    }
}

impl EventBell {
    pub(super) fn create() -> Result<Self, KubError> {
        eventfd(0, EventfdFlags::CLOEXEC).map(Self).or_refused("an eventfd")
    }
}

impl Bell for EventBell {
    fn ring(&self) {
        rustix::io::write(&self.0, &1_u64.to_ne_bytes()).expect("a count of one fits");
    }

    fn wait(&self) {
        let mut count = [0; 8];
        while rustix::io::read(&self.0, &mut count).is_err() {}
    }
}

impl Bell for ConditionBell {
    fn ring(&self) {
        *self.0.lock() = true;
        self.1.notify_one();
    }

    fn wait(&self) {
        let mut rung = self.0.lock();
        while !*rung {
            self.1.wait(&mut rung);
        }
        *rung = false;
    }
}

impl Bell for YieldBell {
    fn ring(&self) {
        self.0.store(1, Ordering::Release);
    }

    fn wait(&self) {
        while self.0.swap(0, Ordering::Acquire) == 0 {
            rustix::thread::sched_yield();
        }
    }
}

impl Bell for SpinBell {
    fn ring(&self) {
        self.0.store(1, Ordering::Release);
    }

    fn wait(&self) {
        while self.0.load(Ordering::Acquire) == 0 {
            spin_loop();
        }
        self.0.store(0, Ordering::Relaxed);
    }
}

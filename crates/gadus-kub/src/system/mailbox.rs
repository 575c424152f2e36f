//! A place in shared memory for one message at a time.
//!
//! | word | content |
//! |---|---|
//! | 0 | 0 free, 1 a message is there |
//! | 1 | who waits for word 0: 0 nobody, 1 somebody |
//! | 2 | the message's bytes, its length |
//! | 16.. | the message |
//!
//! - One end puts and one takes. Bytes are written while the place is free and read while it is not, so nobody
//!   ever does both.

use super::mapping::Mapping;
use crate::error::KubError;
use gadus_locks::{wait_on, wake};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::Duration;

const HEADER_BYTES: usize = 64;

/// What an end does until the other is ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Looks again and again.
    Spin,
    /// Looks this often, and then sleeps.
    SpinThenSleep(u32),
    /// Sleeps.
    Sleep,
}

/// Makes the ends of a mailbox.
#[derive(Debug)]
pub(crate) struct Mailbox;

/// The end that puts messages in.
#[derive(Debug)]
pub(crate) struct Outbox {
    memory: Arc<Mapping>,
    patience: Patience,
}

/// The end that takes them out.
#[derive(Debug)]
pub(crate) struct Inbox {
    memory: Arc<Mapping>,
    patience: Patience,
}

/// A lost wake-up costs as much: whoever was to give it was killed.
const LOOK: Duration = Duration::from_millis(50);

impl Mailbox {
    /// The two ends of a new mailbox, which children share.
    pub(crate) fn create(
        bytes_max: usize,
        patience: Patience,
    ) -> Result<(Outbox, Inbox), KubError> {
        let memory = Arc::new(Mapping::shared(HEADER_BYTES + bytes_max)?);
        Ok((Outbox { memory: memory.clone(), patience }, Inbox { memory, patience }))
    }
}

impl Outbox {
    /// Puts a message in as soon as there is room.
    pub(crate) fn put(&mut self, message: &[u8]) {
        assert!(HEADER_BYTES + message.len() <= self.memory.bytes(), "a message that fits");
        let state = self.memory.word(0);
        wait_until(state, self.memory.word(1), 0, self.patience);
        // SAFETY: the place is within the mapping, and while it is free nobody reads it: there is one taking end.
        unsafe {
            let place = self.memory.base().as_ptr().add(HEADER_BYTES);
            place.copy_from_nonoverlapping(message.as_ptr(), message.len());
        }
        let length = u32::try_from(message.len()).expect("messages of some megabytes");
        self.memory.word(2).store(length, Ordering::Relaxed);
        change(state, self.memory.word(1), 1);
    }
}

impl Inbox {
    /// Takes a message out if there is one, and gives its length.
    pub(crate) fn try_take(&mut self, buffer: &mut [u8]) -> Option<usize> {
        let is_there = self.memory.word(0).load(Ordering::Acquire) == 1;
        is_there.then(|| self.take(buffer))
    }

    /// Takes the next message out, and gives its length.
    pub(crate) fn take(&mut self, buffer: &mut [u8]) -> usize {
        let state = self.memory.word(0);
        wait_until(state, self.memory.word(1), 1, self.patience);
        let length = self.memory.word(2).load(Ordering::Relaxed) as usize;
        let length = length.min(buffer.len()).min(self.memory.bytes() - HEADER_BYTES);
        // SAFETY: the place is within the mapping, and while it is full nobody writes it: there is one putting end.
        unsafe {
            let place = self.memory.base().as_ptr().add(HEADER_BYTES);
            place.copy_to_nonoverlapping(buffer.as_mut_ptr(), length);
        }
        change(state, self.memory.word(1), 0);
        length
    }
}

fn wait_until(state: &AtomicU32, sleeper: &AtomicU32, wanted: u32, patience: Patience) {
    let spins = match patience {
        Patience::Spin => u32::MAX,
        Patience::SpinThenSleep(spins) => spins,
        Patience::Sleep => 0,
    };
    let is_there = || state.load(Ordering::Acquire) == wanted;
    let mut looks = 0;
    loop {
        if is_there() {
            return;
        }
        if looks < spins {
            looks += u32::from(patience != Patience::Spin);
            spin_loop();
            continue;
        }
        // Who changes the state afterwards sees that somebody sleeps, or it is seen here that it has changed.
        sleeper.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let seen = state.load(Ordering::Relaxed);
        if seen != wanted {
            wait_on(state, seen, Some(LOOK));
        }
    }
}

fn change(state: &AtomicU32, sleeper: &AtomicU32, to: u32) {
    state.store(to, Ordering::Release);
    fence(Ordering::SeqCst);
    if sleeper.load(Ordering::Relaxed) != 0 {
        sleeper.store(0, Ordering::Relaxed);
        wake(state, 1);
    }
}

//! A question that was asked, until it is answered: to be waited for by a thread, or as a future.
//!
//! - Who drops it is not interested any more; the pass leaves the question out. A modification is
//!   carried out all the same, unless it was withdrawn before it began.

use super::Answer;
use crate::error::{Error, Result};
use gadus_base::{Account, IoBytes};
use parking_lot::{Condvar, Mutex};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::task::{Context, Poll, Waker};

/// The asking side.
#[derive(Debug)]
pub struct Asked(Arc<Shared>);

/// The answering side; dropped without an answer, it says that the scan broke off.
#[derive(Debug)]
pub(super) struct Ticket(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    answered: Condvar,
    is_dropped: AtomicBool,
    /// Whose question it is.
    account: Option<Arc<Account>>,
    /// One of the stages below.
    stage: AtomicU8,
}

const WAITING: u8 = 0;
const WITHDRAWN: u8 = 1;
const TAKEN: u8 = 2;

#[derive(Debug, Default)]
struct State {
    is_answered: bool,
    /// Until it is taken.
    answer: Option<Result<Arc<Answer>>>,
    waker: Option<Waker>,
}

impl Asked {
    pub(super) fn new() -> (Self, Ticket) {
        let shared = Shared { account: Account::current(), ..Shared::default() };
        let shared = Arc::new(shared);
        (Self(shared.clone()), Ticket(shared))
    }

    /// Sees to it that a modification is not carried out; false where that has begun.
    #[must_use]
    pub fn withdraw(&self) -> bool {
        self.0.passes_to(WITHDRAWN)
    }

    /// Waits for the answer.
    pub fn wait(self) -> Result<Arc<Answer>> {
        let mut state = self.0.state.lock();
        loop {
            if let Some(answer) = state.answer.take() {
                return answer;
            }
            self.0.answered.wait(&mut state);
        }
    }
}

impl Future for Asked {
    type Output = Result<Arc<Answer>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.0.state.lock();
        match state.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                state.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// From waiting to another stage; whether it is there now.
    fn passes_to(&self, stage: u8) -> bool {
        let passed =
            self.stage.compare_exchange(WAITING, stage, Ordering::AcqRel, Ordering::Acquire);
        passed.is_ok() || passed == Err(stage)
    }
}

impl Ticket {
    /// Whether a modification is to be carried out: it then cannot be withdrawn any more.
    pub(super) fn take(&self) -> bool {
        self.0.passes_to(TAKEN)
    }

    /// Whether a modification was withdrawn.
    pub(super) fn is_withdrawn(&self) -> bool {
        self.0.stage.load(Ordering::Acquire) == WITHDRAWN
    }

    /// Notes what was read and written for the answer.
    pub(super) fn charge(&self, bytes: IoBytes) {
        if let Some(account) = &self.0.account {
            account.add(bytes);
        }
    }

    /// Whether nobody waits for the answer any more.
    pub(super) fn is_dropped(&self) -> bool {
        self.0.is_dropped.load(Ordering::Relaxed)
    }

    pub(super) fn answer(&self, answer: Result<Arc<Answer>>) {
        let waker = {
            let mut state = self.0.state.lock();
            if std::mem::replace(&mut state.is_answered, true) {
                return;
            }
            state.answer = Some(answer);
            state.waker.take()
        };
        self.0.answered.notify_one();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.0.state.lock().is_answered {
            self.answer(Err(Error::internal("a shared scan broke off")));
        }
    }
}

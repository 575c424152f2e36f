//! Transactions that are open, and moves of rows that keep out of their way.
//!
//! - A transaction names rows by their places. One that finds a row moved gets a conflict though
//!   nobody changed the row: so rows are moved while no transaction is open, if that can be.
//! - A transaction that begins during a move waits until the move is visible.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Counts open transactions.
#[derive(Debug, Default)]
pub(crate) struct OpenTransactions {
    count: AtomicUsize,
    moving: AtomicBool,
    moves: Mutex<()>,
}

/// One open transaction.
#[derive(Debug)]
pub(crate) struct Entered(Arc<OpenTransactions>);

impl OpenTransactions {
    /// Counts a transaction, which takes its snapshot afterwards.
    pub(crate) fn enter(self: &Arc<Self>) -> Entered {
        // Either the move sees the count, or this sees the move.
        self.count.fetch_add(1, Ordering::SeqCst);
        if self.moving.load(Ordering::SeqCst) {
            drop(self.moves.lock());
        }
        Entered(self.clone())
    }

    /// Whether no transaction is open.
    pub(super) fn none(&self) -> bool {
        self.count.load(Ordering::SeqCst) == 0
    }

    /// Moves rows while none is open; none otherwise, unless the move does not wait for that.
    pub(super) fn try_move<T>(&self, patient: bool, work: impl FnOnce() -> T) -> Option<T> {
        let _turn = self.moves.lock();
        self.moving.store(true, Ordering::SeqCst);
        let done = (!patient || self.none()).then(work);
        self.moving.store(false, Ordering::SeqCst);
        done
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::SeqCst);
    }
}

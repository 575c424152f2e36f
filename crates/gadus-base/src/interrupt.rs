//! Interrupts: a thread that works for a statement learns that the statement was cancelled or has timed out.
//!
//! - Loops over many rows check for it, because they have no other way to the session. Code that applies durable
//!   changes does not: those are applied whole.
//! - A thread without a statement, such as one that writes a checkpoint, is never interrupted.

use std::cell::RefCell;
use std::fmt::Debug;
use std::sync::Arc;

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Interrupt>>> = const { RefCell::new(None) };
}

/// Source of interrupts: the session of a statement.
pub trait Interrupt: Debug + Send + Sync {
    /// Returns true if the statement is to end.
    fn is_requested(&self) -> bool;
}

/// Restores the source that a thread had before.
struct Restore(Option<Arc<dyn Interrupt>>);

impl Drop for Restore {
    fn drop(&mut self) {
        let before = self.0.take();
        let _ = CURRENT.try_with(|current| *current.borrow_mut() = before);
    }
}

/// Runs `work`, which the source may interrupt.
pub fn interruptible<T>(source: Option<Arc<dyn Interrupt>>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.try_with(|current| current.replace(source));
    let _restore = Restore(before.unwrap_or_default());
    work()
}

/// Returns what may interrupt this thread, for threads that help it.
#[must_use]
pub fn current_interrupt() -> Option<Arc<dyn Interrupt>> {
    CURRENT.try_with(|current| current.borrow().clone()).unwrap_or_default()
}

/// Returns true if the statement that this thread works for is to end.
#[must_use]
pub fn is_interrupted() -> bool {
    let is_requested = |current: &RefCell<Option<Arc<dyn Interrupt>>>| match &*current.borrow() {
        Some(source) => source.is_requested(),
        None => false,
    };
    CURRENT.try_with(is_requested).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::{Interrupt, current_interrupt, interruptible, is_interrupted};
    use crate::spawn;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Debug, Default)]
    struct Switch(AtomicBool);

    impl Interrupt for Switch {
        fn is_requested(&self) -> bool {
            self.0.load(Ordering::Relaxed)
        }
    }

    #[test]
    fn a_thread_is_interrupted_by_the_source_that_it_works_for() {
        let switch = Arc::new(Switch::default());
        interruptible(Some(switch.clone()), || {
            assert!(!is_interrupted());
            switch.0.store(true, Ordering::Relaxed);
            assert!(is_interrupted());
            let helped = current_interrupt();
            let helper = spawn("helper", move || interruptible(helped, is_interrupted)).unwrap();
            assert!(helper.join().unwrap());
            interruptible(None, || assert!(!is_interrupted()));
        });
        assert!(!is_interrupted());
    }
}

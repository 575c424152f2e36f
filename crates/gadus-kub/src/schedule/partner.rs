//! A partner: a thread or a process that answers whenever it is rung.

use super::bells::{Bell, SharedBell};
use crate::error::{KubError, Refused};
use crate::run::stay_on;
use crate::system::{Child, become_real_time};
use gadus_base::spawn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// Of which class a partner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    Usual,
    RealTime,
}

/// A thread that answers; ended when dropped.
pub(super) struct Partner<B: Bell> {
    shared: Arc<Shared<B>>,
    thread: Option<JoinHandle<Result<(), KubError>>>,
}

/// What both have.
struct Shared<B> {
    there: B,
    back: B,
    is_over: AtomicBool,
}

/// A process that answers; killed when dropped.
pub(super) struct PartnerProcess {
    there: SharedBell,
    back: SharedBell,
    _child: Child,
}

impl<B: Bell> Partner<B> {
    /// Starts one on a processor; it has answered once when this returns.
    pub(super) fn start(there: B, back: B, cpu: u32, class: Class) -> Result<Self, KubError> {
        let shared = Arc::new(Shared { there, back, is_over: AtomicBool::new(false) });
        let its = shared.clone();
        let answer = move || {
            let ready = stay_on(cpu).and_then(|()| match class {
                Class::Usual => Ok(()),
                Class::RealTime => become_real_time(),
            });
            // Who cannot take part says so with its first answer, and answers no more.
            its.is_over.store(ready.is_err(), Ordering::Relaxed);
            its.there.wait();
            its.back.ring();
            ready?;
            loop {
                its.there.wait();
                if its.is_over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                its.back.ring();
            }
        };
        let thread = Some(spawn("kub partner", answer).or_refused("a thread")?);
        let mut partner = Self { shared, thread };
        partner.round_trip();
        match partner.shared.is_over.load(Ordering::Relaxed) {
            false => Ok(partner),
            true => Err(partner.join().err().unwrap_or_else(|| KubError::broken("a partner left"))),
        }
    }

    /// Rings, and waits for the answer.
    #[inline]
    pub(super) fn round_trip(&self) {
        self.shared.there.ring();
        self.shared.back.wait();
    }

    fn join(&mut self) -> Result<(), KubError> {
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(ended)) => ended,
            Some(Err(_)) => Err(KubError::broken("a partner broke off")),
        }
    }
}

impl<B: Bell> Drop for Partner<B> {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.shared.is_over.store(true, Ordering::Relaxed);
            self.shared.there.ring();
            // What it failed with has been told, or nobody wants to know any more.
            let _ = self.join();
        }
    }
}

impl PartnerProcess {
    /// Starts one on a processor.
    pub(super) fn start(cpu: u32) -> Result<Self, KubError> {
        let (there, back) = SharedBell::pair()?;
        let answer = || loop {
            there.wait();
            back.ring();
        };
        let child = Child::start(Some(cpu), answer)?;
        Ok(Self { there, back, _child: child })
    }

    /// Rings, and waits for the answer.
    #[inline]
    pub(super) fn round_trip(&self) {
        self.there.ring();
        self.back.wait();
    }
}

//! Tasks that are polled: by hand, and by tokio.

use crate::error::{KubError, Refused};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use tokio::runtime::{Builder, Runtime};

/// Two tasks that give way to each other each time they are polled.
pub(super) struct PolledTasks([Pin<Box<dyn Future<Output = u64> + Send>>; 2]);

/// A runtime of tokio on the calling thread.
pub(super) struct TokioTasks(Runtime);

/// Is ready when polled for the second time.
struct GiveWay(bool);

impl Future for GiveWay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let ready = std::mem::replace(&mut self.0, true);
        if ready { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl PolledTasks {
    pub(super) fn create() -> Self {
        let task = || {
            Box::pin(async {
                let mut passes = 0_u64;
                loop {
                    passes += 1;
                    GiveWay(false).await;
                    if passes == u64::MAX {
                        return passes;
                    }
                }
            })
        };
        Self([task(), task()])
    }

    /// Switches this often.
    pub(super) fn switch(&mut self, times: u64) -> Result<(), KubError> {
        let mut context = Context::from_waker(Waker::noop());
        for time in 0..times {
            let task = &mut self.0[usize::from(time % 2 == 1)];
            if task.as_mut().poll(&mut context).is_ready() {
                return Err(KubError::broken("a task that goes on for ever has ended"));
            }
        }
        Ok(())
    }
}

impl TokioTasks {
    pub(super) fn create() -> Result<Self, KubError> {
        Builder::new_current_thread().build().map(Self).or_refused("tokio")
    }

    /// Switches this often, between two tasks.
    pub(super) fn switch(&self, times: u64) -> Result<(), KubError> {
        let half = |times: u64| async move {
            for _ in 0..times {
                tokio::task::yield_now().await;
            }
        };
        self.0.block_on(async {
            let (one, other) =
                (tokio::spawn(half(times / 2)), tokio::spawn(half(times - times / 2)));
            let broken = |_| KubError::broken("a task of tokio broke off");
            one.await.map_err(broken)?;
            other.await.map_err(broken)
        })
    }
}

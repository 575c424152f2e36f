//! What a scan took, for who asks for it.
//!
//! - Time is that in which its threads worked for it: waiting for a shared scan is not.
//! - What it reads stands on an account of its own first, and is then its statement's.

use crate::statements::charged;
use arrow::array::RecordBatch;
use datafusion::error::Result;
use gadus_base::{Account, CacheUse, clock};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The figures of one scan, of all its partitions.
#[derive(Debug, Default)]
pub(crate) struct ScanFigures {
    rows: AtomicU64,
    nanoseconds: AtomicU64,
    segments: AtomicU64,
    shared: AtomicU64,
    account: Arc<Account>,
}

impl ScanFigures {
    /// Asks for the next batch on an account, and measures that.
    pub(super) async fn measure<T>(
        &self,
        outer: &Account,
        next: Pin<&mut impl Future<Output = Result<(Option<RecordBatch>, T)>>>,
    ) -> Result<(Option<RecordBatch>, T)> {
        let own = Arc::<Account>::default();
        let mut charged = std::pin::pin!(charged(&own, next));
        let polled = poll_fn(|context| {
            let began = clock().now();
            let polled = charged.as_mut().poll(context);
            let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            self.nanoseconds.fetch_add(took, Ordering::Relaxed);
            polled
        });
        let done = polled.await;
        outer.add_all(&own);
        self.account.add_all(&own);
        if let Ok((Some(batch), _)) = &done {
            self.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        }
        done
    }

    /// A segment was read.
    pub(super) fn segment(&self) {
        self.segments.fetch_add(1, Ordering::Relaxed);
    }

    /// A shared scan has found the rows.
    pub(super) fn shared(&self) {
        self.shared.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    pub(crate) fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }

    pub(crate) fn segments(&self) -> u64 {
        self.segments.load(Ordering::Relaxed)
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn read_bytes(&self) -> u64 {
        self.account.bytes().read
    }

    pub(crate) fn cache_use(&self) -> CacheUse {
        self.account.cache_use()
    }
}

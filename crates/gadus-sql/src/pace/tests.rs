//! How slices grow and shrink.

use super::stream::{Pace, PacedStream};
use arrow::array::{Int32Array, RecordBatch};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use gadus_base::clock;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Slices grow as long as they are quick, and come down at once to what fits.
#[test]
fn slices_follow_their_time() {
    let mut pace = Pace::new();
    assert_eq!(pace.rows, 1);
    pace.took(1, Duration::from_micros(10));
    pace.took(8, Duration::from_micros(80));
    assert_eq!(pace.rows, 64);
    pace.took(64, Duration::from_micros(640));
    assert_eq!(pace.rows, 64, "twice as much would take more than half a turn");
    pace.took(5, Duration::from_micros(1));
    assert_eq!(pace.rows, 64, "the last rows of a batch say nothing of a whole slice");
    pace.took(64, Duration::from_millis(8));
    assert_eq!(pace.rows, 8, "half a turn each");
    pace.took(8, Duration::from_micros(300));
    assert_eq!(pace.rows, 24, "back to half a turn");
    pace.took(8, Duration::from_secs(3600));
    assert_eq!(pace.rows, 1);
    for _ in 0..64 {
        pace.took(pace.rows, Duration::ZERO);
    }
    assert_eq!(pace.rows, 1 << 16);
}

/// However quick each slice is, who reads them gives the thread back.
#[test]
fn many_quick_slices_are_no_longer_a_turn_than_a_slow_one() {
    let column = Arc::new(Int32Array::from_iter_values(0..2_000_000));
    let batch = RecordBatch::try_from_iter([("n", column as _)]).unwrap();
    let input = stream::iter([Ok(batch.clone())]);
    let input = RecordBatchStreamAdapter::new(batch.schema(), input);
    let mut paced = PacedStream::new(Box::pin(input));
    let mut context = Context::from_waker(Waker::noop());
    let (mut rows, mut turns) = (0, 0_u32);
    loop {
        match paced.poll_next_unpin(&mut context) {
            Poll::Ready(None) => break,
            Poll::Pending => turns += 1,
            Poll::Ready(Some(slice)) => {
                let slice = slice.unwrap();
                assert_eq!(
                    slice.column(0).to_data(),
                    batch.slice(rows, slice.num_rows()).column(0).to_data()
                );
                rows += slice.num_rows();
                // A join that takes a tenth of a millisecond for whatever it is given.
                let began = clock().now();
                while began.elapsed() < Duration::from_micros(100) {}
            }
        }
    }
    assert_eq!(rows, 2_000_000);
    assert!(turns > 0);
}

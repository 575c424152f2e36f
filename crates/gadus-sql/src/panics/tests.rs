//! What panics is an error, and whoever asked goes on.

use super::{caught, caught_rows};
use futures::{StreamExt, TryStreamExt, future, stream};
use gadus_engine::{ErrorKind, Result};

fn too_large(row: u32) -> Result<u32> {
    assert!(row < 2, "row {row} is too large");
    Ok(row)
}

#[test]
fn a_panic_between_rows_is_the_last_thing_that_comes() {
    let mut rows = caught_rows(stream::iter(0..5).map(too_large)).boxed();
    let next = |rows: &mut stream::BoxStream<'static, Result<u32>>| {
        futures::executor::block_on(rows.try_next())
    };
    assert_eq!(next(&mut rows).unwrap(), Some(0));
    assert_eq!(next(&mut rows).unwrap(), Some(1));
    let error = next(&mut rows).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Internal);
    assert!(error.to_string().contains("row 2 is too large"), "{error}");
    assert_eq!(next(&mut rows).unwrap(), None);
}

#[test]
fn a_panic_of_a_statement_is_its_error() {
    let work = future::lazy(|_| too_large(7));
    let error = futures::executor::block_on(caught(work)).unwrap_err();
    assert!(error.to_string().contains("row 7 is too large"), "{error}");
    assert_eq!(futures::executor::block_on(caught(async { Ok(1) })).unwrap(), 1);
}

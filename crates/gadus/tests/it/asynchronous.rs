//! The asynchronous twins, on executors of several kinds.

use futures::TryStreamExt;
use gadus::{Database, ErrorKind, Options, params};

#[test]
fn futures_work_on_any_executor() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let rows = futures::executor::block_on(async {
        connection.execute_async("CREATE TABLE t (n BIGINT)", &[]).await?;
        let insert = "INSERT INTO t VALUES (?), (?)";
        assert_eq!(connection.execute_async(insert, params![1, 2]).await?, 2);
        let stream = connection.query_async("SELECT n FROM t ORDER BY n", &[]).await?;
        assert_eq!(stream.schema().field(0).name(), "n");
        stream.try_collect::<Vec<_>>().await
    });
    assert_eq!(rows.unwrap().iter().map(|batch| batch.num_rows()).sum::<usize>(), 2);
}

#[test]
fn many_asynchronous_writers_wait_for_the_disk_together() {
    let database = Database::open_in_memory(Options::new()).unwrap();
    let connection = database.connect();
    connection.execute("CREATE TABLE t (n BIGINT PRIMARY KEY)", &[]).unwrap();
    let writers =
        (0..50).map(|n| database.connect().execute_async("INSERT INTO t VALUES (?)", params![n]));
    let written = futures::executor::block_on(futures::future::try_join_all(writers)).unwrap();
    assert_eq!(written.iter().sum::<u64>(), 50);
    assert_eq!(connection.execute("SELECT * FROM t", &[]).unwrap(), 50);
}

#[test]
fn an_error_comes_with_the_future_or_the_stream() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let error = futures::executor::block_on(connection.query_async("SELECT * FROM no", &[]));
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Input | ErrorKind::NotFound));
    let divided = futures::executor::block_on(async {
        let sql = "SELECT 1 / (value - 5) FROM range(10)";
        connection.query_async(sql, &[]).await?.try_collect::<Vec<_>>().await
    });
    assert_eq!(divided.unwrap_err().kind(), ErrorKind::OutOfRange);
}

#[test]
fn synchronous_calls_step_aside_in_a_runtime_of_many_threads_and_are_refused_in_one_of_one() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let many = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    let rows = many.block_on(async { connection.execute("SELECT 1", &[]) });
    assert_eq!(rows.unwrap(), 1);
    let one = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let error = one.block_on(async { connection.execute("SELECT 1", &[]) }).unwrap_err();
    assert!(error.message().contains("asynchronous twin"), "{error}");
}

/// Rows that others have followed are the connection's again when they are read on.
#[test]
fn rows_that_are_read_on_are_what_is_cancelled() {
    let connection = Database::open_in_memory(Options::new()).unwrap().connect();
    let endless = "SELECT * FROM generate_series(1, 1000000000)";
    let mut rows = connection.query(endless, &[]).unwrap();
    assert!(rows.next_batch().unwrap().is_some());
    assert_eq!(connection.query("SELECT 1", &[]).unwrap().count(), 1);
    connection.cancel_handle().cancel();
    assert!(rows.next_batch().unwrap().is_some());
    futures::executor::block_on(connection.resume(&rows)).unwrap();
    assert!(rows.next_batch().unwrap().is_some());
    connection.cancel_handle().cancel();
    assert_eq!(rows.next_batch().unwrap_err().kind(), ErrorKind::Cancelled);
}

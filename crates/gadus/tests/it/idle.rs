//! A thousand connections that have begun something and do nothing.

use crate::files::Folder;
use crate::locks::{number, run};
use gadus::{ByteCount, Database, ErrorKind, Options, params};

const SESSIONS: i64 = 1000;

#[test]
fn a_thousand_idle_transactions_hinder_neither_writers_nor_checkpoints() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let open = || {
        let options = Options::new().threads(1).checkpoint_log(ByteCount(64 << 10));
        Database::open(&path, options).unwrap()
    };
    let instances = [open(), open()];
    let writer = open();
    let writing = writer.connect();
    run(&writing, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
    run(&writing, "INSERT INTO t SELECT value, 0 FROM generate_series(1, 2000)");
    let idle = (1..=SESSIONS).zip(instances.iter().cycle()).map(|(id, instance)| {
        let connection = instance.connect();
        run(&connection, "BEGIN");
        // Half of them keep a row, the others what they have seen.
        if id % 2 == 0 {
            connection.execute("UPDATE t SET n = -1 WHERE id = ?", params![id]).unwrap();
        } else {
            assert_eq!(number(&connection, "SELECT n FROM t WHERE id = 1"), 0);
        }
        connection
    });
    let idle = idle.collect::<Vec<_>>();
    let sessions = writer.sessions().unwrap();
    assert!(sessions.len() as i64 >= SESSIONS, "{} sessions", sessions.len());
    let write = |rounds| {
        for _ in 0..rounds {
            assert_eq!(
                writing.execute("UPDATE t SET n = n + 1 WHERE id > 1000", &[]).unwrap(),
                1000
            );
            writer.checkpoint().unwrap();
        }
    };
    let checkpoints = writer.statistics().store.checkpoints;
    write(10);
    assert!(writer.statistics().store.checkpoints >= checkpoints + 10);
    // Opening replays little, whatever is kept for those who read what was.
    assert!(writer.statistics().store.log_bytes < 200_000, "{:?}", writer.statistics().store);
    assert_eq!(number(&open().connect(), "SELECT sum(n) FROM t"), 10_000);
    assert_eq!(number(&idle[0], "SELECT sum(n) FROM t"), 0);
    run(&writing, "SET lock_timeout = 1");
    let kept = writing.execute("UPDATE t SET n = 0 WHERE id = 2", &[]).unwrap_err();
    assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
    idle.iter().for_each(|connection| run(connection, "COMMIT"));
    assert_eq!(number(&writing, "SELECT sum(n) FROM t"), 10_000 - SESSIONS / 2);
    drop(idle);
    // Nothing is kept any more: space is used again.
    write(5);
    let before = writer.statistics().store;
    write(20);
    let after = writer.statistics().store;
    assert_eq!(after.log_file_bytes, before.log_file_bytes);
    let grown = after.data_file_bytes.saturating_sub(before.data_file_bytes);
    assert!(grown <= before.data_file_bytes / 4, "{before:?}, then {after:?}");
    drop((instances, writing, writer));
    assert!(gadus::check(&path, |_, _| ()).unwrap().problems.is_empty());
}

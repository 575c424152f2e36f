//! The wall clock jumps, by a day back and by ten years: only what people read shows it.

#![allow(unsafe_code)] // the C library's clock is replaced

use crate::files::Folder;
use crate::locks::{number, run, while_it_waits};
use gadus::{Database, Durability, ErrorKind, Options};
use gadus_base::clock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// Seconds by which the wall clock of this process is wrong.
static JUMP: AtomicI64 = AtomicI64::new(0);

/// Takes the place of the C library's function in this program.
///
/// # Safety
/// As that: `time` is there to be written.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(
    which: libc::clockid_t,
    time: *mut libc::timespec,
) -> libc::c_int {
    // SAFETY: the caller's promise.
    let result = unsafe { libc::syscall(libc::SYS_clock_gettime, which, time) };
    if result == 0 && which == libc::CLOCK_REALTIME {
        // SAFETY: as above.
        unsafe { (*time).tv_sec += JUMP.load(Ordering::Relaxed) };
    }
    if result == 0 { 0 } else { -1 }
}

const DAY: i64 = 24 * 3600;

#[test]
fn a_clock_that_jumps_decides_nothing() {
    let folder = Folder::new();
    let path = folder.path("x.gadus");
    let open = |durability| Database::open(&path, Options::new().durability(durability)).unwrap();
    let (database, relaxed) = (open(Durability::Sync), open(Durability::Relaxed));
    let (one, two, old) = (database.connect(), relaxed.connect(), database.connect());
    run(&one, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)");
    run(&one, "INSERT INTO t VALUES (1, 0), (2, 0)");
    run(&old, "BEGIN");
    let sum = "SELECT sum(n) FROM t";
    assert_eq!(number(&old, sum), 0);
    let count = "UPDATE t SET n = n + 1 WHERE id = 1";
    for (round, jump) in (0_i64..).zip([-DAY, 3652 * DAY, 0, 3652 * DAY, -DAY]) {
        let before = clock().wall_time();
        JUMP.store(jump, Ordering::Relaxed);
        let jumped = clock().wall_time().0.abs_diff(before.0);
        assert!(jumped > Duration::from_secs(3600), "the clock does not jump");
        // What is committed is seen by others, and not by who began before.
        run(&one, count);
        assert_eq!(number(&two, sum), 3 * round + 1);
        run(&two, count);
        assert_eq!(number(&one, sum), 3 * round + 2);
        assert_eq!(number(&old, sum), 0);
        // Who waits goes on waiting while the clock jumps, until it gets what it waits for.
        run(&one, &format!("SET lock_timeout = '1h'; BEGIN; {count};"));
        let waited = while_it_waits(&database, &two, count, || {
            JUMP.store(-jump, Ordering::Relaxed);
            run(&one, "ROLLBACK");
        });
        assert_eq!(waited.unwrap(), 1);
        // Who waits in vain does so as long as it wants to.
        run(&one, &format!("BEGIN; {count};"));
        run(&two, "SET lock_timeout = '20ms'");
        let late = two.execute(count, &[]).unwrap_err();
        assert_eq!(late.kind(), ErrorKind::Locked, "{late}");
        run(&two, "SET lock_timeout = '1h'");
        run(&one, "ROLLBACK");
        database.checkpoint().unwrap();
    }
    JUMP.store(0, Ordering::Relaxed);
    drop((one, two, old, database, relaxed));
    let connection = open(Durability::Sync).connect();
    assert_eq!(number(&connection, sum), 15);
}

//! Rows and tables that transactions keep as they are: SELECT … FOR UPDATE and FOR SHARE, LOCK TABLE.

use crate::locks::{COUNT, VALUE, in_all, number, run, while_it_waits};
use gadus::{Connection, ErrorKind, params};

#[test]
fn for_update_refuses_what_it_would_get_wrong() {
    in_all(|_, connect| {
        let one = connect();
        run(&one, "BEGIN");
        for wrong in [
            "SELECT id FROM t ORDER BY 1 LIMIT 1 FOR UPDATE",
            "SELECT -n AS m FROM t ORDER BY m LIMIT 1 FOR UPDATE",
            "SELECT count(*) FROM t LIMIT 1 FOR UPDATE",
            "SELECT row_number() OVER (ORDER BY n) FROM t FOR UPDATE",
            "SELECT * FROM (SELECT id FROM t FOR UPDATE) AS s",
            "UPDATE t SET n = 1 WHERE id IN (SELECT id FROM t LIMIT 1 FOR UPDATE SKIP LOCKED)",
            "INSERT INTO t SELECT id + 5000, n FROM t FOR UPDATE",
            "CREATE TABLE u AS SELECT id FROM t FOR UPDATE",
        ] {
            let refused = one.execute(wrong, &[]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Unsupported, "{wrong}: {refused}");
        }
        let other = "SELECT id FROM t AS x FOR UPDATE OF t";
        assert_eq!(one.execute(other, &[]).unwrap_err().kind(), ErrorKind::Input);
        for right in ["SELECT id FROM t FOR UPDATE OF T", "SELECT id FROM t x FOR SHARE OF x"] {
            assert_eq!(one.execute(right, &[]).unwrap(), 100, "{right}");
        }
        run(&one, "ROLLBACK");
    });
}

#[test]
fn rows_selected_for_update_are_kept() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        run(&one, "BEGIN ISOLATION LEVEL READ COMMITTED");
        let chosen = "SELECT n FROM t WHERE id <= 2 ORDER BY id FOR UPDATE";
        assert_eq!(number(&one, chosen), 0);
        run(&two, "BEGIN");
        let kept = two.execute(&format!("{chosen} NOWAIT"), &[]).unwrap_err();
        assert_eq!(kept.kind(), ErrorKind::Locked, "{kept}");
        let free = "SELECT id FROM t ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED";
        let ids = two.query(free, &[]).unwrap().map(|row| row.unwrap().get::<i64>(0).unwrap());
        assert_eq!(ids.collect::<Vec<_>>(), [3, 4]);
        // What was changed since its snapshot is passed over as what is locked.
        run(&one, "DELETE FROM t WHERE id = 5");
        run(&one, "COMMIT; UPDATE t SET n = 0 WHERE id = 6;");
        let ids = two.query(free, &[]).unwrap().map(|row| row.unwrap().get::<i64>(0).unwrap());
        assert_eq!(ids.collect::<Vec<_>>(), [1, 2]);
        let late = "SELECT id FROM t WHERE id > 4 ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED";
        let ids = two.query(late, &[]).unwrap().map(|row| row.unwrap().get::<i64>(0).unwrap());
        assert_eq!(ids.collect::<Vec<_>>(), [7, 8]);
        run(&two, "ROLLBACK");
        run(&one, &format!("BEGIN; {COUNT};"));
        assert_eq!(while_it_waits(database, &two, COUNT, || run(&one, "ROLLBACK")).unwrap(), 1);
        let first = "SELECT * FROM t WHERE n > 0 ORDER BY id DESC LIMIT 1 FOR UPDATE";
        run(&two, "BEGIN");
        let row = two.query(first, &[]).unwrap().next().unwrap().unwrap();
        assert_eq!((row.get::<i64>(0).unwrap(), row.get::<i64>(1).unwrap()), (1, 1));
        run(&two, "ROLLBACK");
        // Outside transactions it waits as well, and keeps nothing.
        run(&one, &format!("BEGIN; {COUNT};"));
        let chosen = "SELECT id FROM t WHERE id = 1 FOR UPDATE";
        let refused = two.execute(&format!("{chosen} NOWAIT"), &[]).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Locked);
        assert_eq!(two.execute(&format!("{chosen} SKIP LOCKED"), &[]).unwrap(), 0);
        assert_eq!(while_it_waits(database, &two, chosen, || run(&one, "COMMIT")).unwrap(), 1);
        run(&one, COUNT);
        let join = "SELECT * FROM t JOIN t AS u ON t.id = u.id FOR UPDATE";
        assert_eq!(two.execute(join, &[]).unwrap(), 99, "what cannot be locked is read");
        run(&two, "BEGIN");
        assert_eq!(two.execute(join, &[]).unwrap_err().kind(), ErrorKind::Unsupported);
    });
}

#[test]
fn workers_take_each_job_once() {
    in_all(|_, connect| {
        let take = |worker: &Connection| -> usize {
            let mut taken = 0;
            loop {
                run(worker, "BEGIN ISOLATION LEVEL READ COMMITTED");
                let next = "SELECT id FROM t WHERE n = 0 ORDER BY id LIMIT 1 \
                            FOR UPDATE SKIP LOCKED";
                let job = worker.query(next, &[]).unwrap().next();
                let Some(job) = job else {
                    run(worker, "COMMIT");
                    return taken;
                };
                let id = job.unwrap().get::<i64>(0).unwrap();
                let done = worker.execute("UPDATE t SET n = n + 1 WHERE id = ?", params![id]);
                assert_eq!(done.unwrap(), 1);
                run(worker, "COMMIT");
                taken += 1;
            }
        };
        let workers = [connect(), connect(), connect()];
        let taken = std::thread::scope(|scope| {
            let taken = workers.each_ref().map(|worker| scope.spawn(|| take(worker)));
            taken.map(|thread| thread.join().unwrap())
        });
        // Rows that others have locked are skipped, and may be free again a moment later.
        let rest = take(&workers[0]);
        assert_eq!(taken.iter().sum::<usize>() + rest, 100);
        assert_eq!(number(&workers[0], "SELECT max(n) FROM t"), 1);
    });
}

#[test]
fn rows_that_are_shared_are_read_by_several_and_changed_by_none() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        let share = "SELECT n FROM t WHERE id = 1 FOR SHARE";
        for statement in [share, "SELECT n FROM t WHERE id = 1 FOR KEY SHARE NOWAIT"] {
            run(&one, &format!("BEGIN; {share};"));
            run(&two, "BEGIN ISOLATION LEVEL READ COMMITTED");
            assert_eq!(number(&two, statement), number(&two, VALUE));
            let skipping = "SELECT id FROM t WHERE id < 3 ORDER BY id FOR UPDATE SKIP LOCKED";
            assert_eq!(number(&two, skipping), 2);
            let refused = two.execute("SELECT n FROM t WHERE id = 1 FOR NO KEY UPDATE NOWAIT", &[]);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Locked);
            run(&two, "COMMIT");
            // Neither in a transaction nor outside.
            let before = number(&two, VALUE);
            let counted = while_it_waits(database, &two, COUNT, || run(&one, "COMMIT"));
            assert_eq!(counted.unwrap(), 1);
            assert_eq!(number(&two, VALUE), before + 1);
        }
        run(&one, &format!("BEGIN; {share}; {COUNT}; COMMIT"));
    });
}

#[test]
fn a_table_is_locked_in_modes() {
    in_all(|database, connect| {
        let (one, two) = (connect(), connect());
        let lock = |mode: &str| format!("LOCK TABLE t IN {mode} MODE");
        // What another may not have beside it, and what he may.
        for (mode, excluded, allowed) in [
            ("ACCESS SHARE", "ACCESS EXCLUSIVE", "EXCLUSIVE"),
            ("ROW SHARE", "EXCLUSIVE", "SHARE ROW EXCLUSIVE"),
            ("ROW EXCLUSIVE", "SHARE", "ROW EXCLUSIVE"),
            ("SHARE", "ROW EXCLUSIVE", "SHARE"),
            ("SHARE UPDATE EXCLUSIVE", "SHARE UPDATE EXCLUSIVE", "ROW SHARE"),
            ("SHARE ROW EXCLUSIVE", "SHARE", "ROW SHARE"),
            ("EXCLUSIVE", "ROW SHARE", "ACCESS SHARE"),
        ] {
            run(&one, &format!("BEGIN; {};", lock(mode)));
            run(&two, &format!("BEGIN; {}; COMMIT;", lock(allowed)));
            run(&two, "BEGIN");
            let refused = two.execute(&format!("{} NOWAIT", lock(excluded)), &[]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Locked, "{mode} beside {excluded}");
            while_it_waits(database, &two, &lock(excluded), || run(&one, "COMMIT")).unwrap();
            run(&two, "ROLLBACK");
        }
        // Others read, and do not change.
        run(&one, "BEGIN; LOCK t;");
        assert_eq!(number(&two, VALUE), 0);
        let counted = while_it_waits(database, &two, COUNT, || run(&one, "COMMIT"));
        assert_eq!(counted.unwrap(), 1);
    });
}

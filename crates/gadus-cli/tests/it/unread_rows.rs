//! Clients that ask for more rows than there is memory, and do not read them.

use crate::control_group::Group;
use crate::folder::Folder;
use crate::served::Served;

/// Memory of the control group in bytes, a hundredth of what the clients ask for.
const MEMORY: u64 = 1 << 30;

/// Clients that do not read.
const CLIENTS: usize = 8;

/// Queries whose results are not read: computed, joined, sorted and wide rows.
const UNREAD: [&str; 4] = [
    "SELECT repeat('unread', 2000 + i) FROM generate_series(1, 10000000) AS g(i)",
    "SELECT x.b || y.b FROM t x, t y",
    "SELECT repeat(b, 100) FROM t ORDER BY b",
    "SELECT b FROM w",
];

#[test]
fn rows_that_nobody_reads_wait_within_the_memory() {
    let group = match Group::make(MEMORY, None) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    let table = "CREATE TABLE t (a INT, b TEXT);
                 INSERT INTO t SELECT i, repeat('row', 100) || i FROM generate_series(1, 20000) AS g(i);
                 CREATE TABLE w (b TEXT);
                 INSERT INTO w SELECT i || repeat('wide', 250000) FROM generate_series(1, 300) AS g(i)";
    folder.printed(&["x.gadus", "-c", table]);
    let server = Served::start_in(&group, &folder, &[]);
    let mut unread = (0..CLIENTS).map(|_| server.client()).collect::<Vec<_>>();
    for (client, text) in unread.iter_mut().zip(UNREAD.iter().cycle()) {
        client.send(text);
    }
    for client in &mut unread {
        assert!(!client.first_row().is_empty());
    }
    // While the others' rows would come, another client's statements run, and take a while.
    let mut reader = server.client();
    for _ in 0..20 {
        let count = reader.query("SELECT count(*) FROM generate_series(1, 500000)").unwrap();
        assert_eq!(count, ["500000"]);
        let sum = reader.query("SELECT sum(a) FROM t").unwrap();
        assert_eq!(sum, ["200010000"]);
    }
    // Those who go without having read take nothing with them.
    drop(unread);
    assert_eq!(reader.query("SELECT count(*) FROM t").unwrap(), ["20000"]);
    server.stop();
}

//! How tables are kept, as the schema `gadus` tells it.

use crate::support::Shell;
use gadus_engine::ErrorKind;

/// A table of three whole segments and ten rows that came one by one, within the bounds of the others; and an empty one.
fn filled() -> Shell {
    let shell = Shell::new();
    shell.run(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, k INTEGER DEFAULT 7, s TEXT, same TEXT NOT NULL)",
    );
    shell.run("CREATE TABLE \"Empty one\" (a DATE)");
    shell.run(
        "INSERT INTO t SELECT i * 2, CASE WHEN i % 10 = 0 THEN NULL ELSE i % 100 END, 'text ' || i, 'x' \
         FROM range(196608) AS r(i)",
    );
    shell.run("CREATE INDEX t_k ON t (k)");
    for id in 0..10 {
        shell.run(&format!("INSERT INTO t VALUES ({}, 1, 'text 5', 'x')", id * 2 + 1));
    }
    shell
}

#[test]
fn tables_tell_their_rows_and_what_they_take() {
    let shell = filled();
    let text = "SELECT table_name, rows, deleted_rows, waiting_rows <= 10, columns, indexes FROM gadus.tables";
    assert_eq!(shell.run(text), "Empty one|0|0|true|1|0\nt|196618|0|true|4|1");
    assert_eq!(
        shell.run("SELECT segments >= 4, data_bytes > 0, index_bytes > 0 FROM gadus.tables WHERE table_name = 't'"),
        "true|true|true"
    );
    // Its own changes are a transaction's to see.
    shell.run("BEGIN");
    shell.run("DELETE FROM t WHERE id < 10 AND id % 2 = 0");
    shell.run("CREATE TABLE u AS SELECT 1 AS one");
    let count = "SELECT rows, deleted_rows FROM gadus.tables WHERE table_name = 't'";
    assert_eq!(shell.run(count), "196613|5");
    assert_eq!(shell.run("SELECT count(*) FROM gadus.tables"), "3");
    shell.run("ROLLBACK");
    assert_eq!(shell.run(count), "196618|0");
    assert_eq!(shell.run("SELECT count(*) FROM gadus.tables"), "2");
}

#[test]
fn columns_tell_types_and_bounds() {
    let shell = filled();
    let text = "SELECT column_name, position, data_type, nullable, column_default, in_primary_key, nulls, min, max \
                FROM gadus.columns WHERE table_name = 't' ORDER BY position";
    assert_eq!(
        shell.run(text),
        "id|1|BIGINT|false|NULL|true|0|0|393214\nk|2|INTEGER|true|7|false|19661|1|99\n\
         s|3|TEXT|true|NULL|false|0|text 0|text 99999\nsame|4|TEXT|false|NULL|false|0|x|x"
    );
    assert_eq!(
        shell.run(
            "SELECT column_name, data_bytes, min FROM gadus.columns WHERE table_name = 'Empty one'"
        ),
        "a|0|NULL"
    );
}

/// A segment that waits, one of NULLs alone, and one with values.
#[test]
fn bounds_are_those_of_segments_that_have_values() {
    let shell = Shell::new();
    shell.run("CREATE TABLE t (n BIGINT)");
    shell.run("INSERT INTO t VALUES (1000000)");
    shell.run("INSERT INTO t SELECT CASE WHEN i >= 65536 THEN i END FROM range(131072) AS r(i)");
    let waits = "SELECT waiting_rows FROM gadus.segments ORDER BY segment";
    assert!(shell.run(waits).ends_with("0\n0"), "{}", shell.run(waits));
    let text = "SELECT nulls, min, max FROM gadus.columns";
    assert_eq!(shell.run(text), "65536|65536|131071");
}

#[test]
fn segments_tell_encodings_where_these_are_asked_for() {
    let shell = filled();
    let sums = "SELECT (SELECT sum(data_bytes) FROM gadus.segments WHERE table_name = 't') = data_bytes, \
                (SELECT sum(data_bytes) FROM gadus.columns WHERE table_name = 't') = data_bytes \
                FROM gadus.tables WHERE table_name = 't'";
    assert_eq!(shell.run(sums), "true|true");
    let rows = "SELECT sum(rows) FROM (SELECT DISTINCT segment, rows FROM gadus.segments WHERE table_name = 't')";
    assert_eq!(shell.run(rows), "196618");
    let encodings = |column: &str| {
        shell.run(&format!(
            "SELECT DISTINCT encoding FROM gadus.segments WHERE column_name = '{column}'"
        ))
    };
    assert_eq!(encodings("same"), "dictionary");
    assert_eq!(encodings("k"), "plain");
    assert_eq!(encodings("id"), "plain");
    let all = shell.run("SELECT * FROM gadus.segments WHERE table_name = 't' ORDER BY segment");
    assert!(all.lines().next().unwrap().starts_with("t|"), "{all}");
    shell.run("ALTER TABLE t ADD COLUMN later BIGINT DEFAULT 3");
    assert_eq!(encodings("later"), "constant");
}

#[test]
fn storage_and_settings_are_told() {
    let shell = filled();
    assert_eq!(
        shell
            .run("SELECT count(*), min(data_file_bytes) > 0, min(commits) > 12 FROM gadus.storage"),
        "1|true|true"
    );
    shell.run("SET gadus.memory_limit = '123MiB'");
    let text = "SELECT value, scope FROM gadus.settings WHERE name = 'gadus.memory_limit'";
    assert_eq!(shell.run(text), "123 MiB|database");
    assert_eq!(
        shell.run("SELECT count(*) > 10 FROM gadus.gadus.settings WHERE description <> ''"),
        "true"
    );
    for table in ["tables", "columns", "segments", "storage", "settings"] {
        let (kind, message) = shell.fails(&format!("DELETE FROM gadus.{table}"));
        assert_ne!(kind, ErrorKind::Internal, "{message}");
    }
}

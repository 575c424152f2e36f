//! Plans that hold much together, beside readers that are away and questions that are small, and what they write
//! out.

use crate::files::Folder;
use gadus::{Connection, Database, ErrorKind, Options, Result, Row};
use gadus_base::clock;
use std::time::Duration;

/// Each holds megabytes: a table of groups, the side of a join, rows to be sorted.
const LARGE: [&str; 3] = [
    "SELECT count(*), sum(n) FROM (SELECT label, count(*) AS n FROM t GROUP BY label)",
    "SELECT count(*), sum(a.id) FROM t AS a JOIN t AS b ON a.other = b.id",
    "SELECT count(*), sum(place) FROM (SELECT id, row_number() OVER (ORDER BY label) AS place FROM t)",
];

/// Of one statement, and so many plans gather abreast beyond the limit.
const THREADS: usize = 2;

/// Far less than one of them holds.
const LIMIT: &str = "SET gadus.memory_limit = '1MiB'";

fn filled() -> Result<Database> {
    let database = Database::open_in_memory(Options::new().threads(THREADS))?;
    fill(&database, 60_000)?;
    Ok(database)
}

fn fill(database: &Database, rows: usize) -> Result<()> {
    let connection = database.connect();
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, other BIGINT, label TEXT)", &[])?;
    let insert = format!(
        "INSERT INTO t SELECT i, (i * 7919) % {rows}, 'label ' || i FROM range({rows}) AS r(i)"
    );
    connection.execute(&insert, &[])?;
    Ok(())
}

fn answers(connection: &Connection) -> Result<Vec<Vec<String>>> {
    LARGE.iter().map(|text| row(connection, text)).collect()
}

fn row(connection: &Connection, text: &str) -> Result<Vec<String>> {
    let mut rows = connection.query(text, &[])?;
    values(&rows.next().transpose()?.expect("one row"))
}

fn values(row: &Row) -> Result<Vec<String>> {
    (0..row.columns()).map(|column| Ok(format!("{:?}", row.value(column)?))).collect()
}

/// All wait for one another, and all are answered: in transactions, too, with what was changed there.
#[test]
fn many_large_plans_are_answered_within_a_small_limit() -> Result<()> {
    let database = filled()?;
    let expected = answers(&database.connect())?;
    database.connect().execute(LIMIT, &[])?;
    std::thread::scope(|scope| {
        let ask = |client: usize| {
            let connection = database.connect();
            scope.spawn(move || -> Result<_> {
                connection.execute("BEGIN", &[])?;
                let changed = "UPDATE t SET other = other WHERE id = $1";
                connection.execute(changed, &[i64::try_from(client).unwrap_or(0).into()])?;
                let answers = answers(&connection)?;
                connection.execute("COMMIT", &[])?;
                Ok(answers)
            })
        };
        let clients = (0..12).map(ask).collect::<Vec<_>>();
        for client in clients {
            assert_eq!(client.join().expect("a client")?, expected);
        }
        Ok(())
    })
}

/// A sort that was read in part holds its rows; a join whose client never reads on, too.
#[test]
fn readers_that_are_away_keep_nobody_waiting() -> Result<()> {
    let database = filled()?;
    let expected = answers(&database.connect())?;
    database.connect().execute(LIMIT, &[])?;
    let away = (0..4).map(|_| {
        let connection = database.connect();
        let mut rows = connection.query("SELECT id, label FROM t ORDER BY label", &[])?;
        assert!(rows.next().transpose()?.is_some());
        Ok((connection, rows))
    });
    let away = away.collect::<Result<Vec<_>>>()?;
    // Of the same connection, too.
    assert_eq!(answers(&away[0].0)?, expected);
    assert_eq!(answers(&database.connect())?, expected);
    for (_, mut rows) in away {
        let mut left = 0;
        while rows.next().transpose()?.is_some() {
            left += 1;
        }
        assert_eq!(left, 60_000 - 1);
    }
    Ok(())
}

/// Who waits for memory can be ended, and small questions do not wait.
#[test]
fn the_time_of_who_waits_for_memory_can_be_over() -> Result<()> {
    let database = filled()?;
    database.connect().execute(LIMIT, &[])?;
    // Each holds all labels, and goes through the pairs for days.
    let endless = "SELECT count(*) FROM (SELECT DISTINCT label FROM t) AS l, range(1000000000) AS b \
                   WHERE length(l.label) + b.value < 0";
    let first = (0..THREADS).map(|_| database.connect()).collect::<Vec<_>>();
    std::thread::scope(|scope| {
        for one in &first {
            scope.spawn(|| {
                let error = one.execute(endless, &[]).expect_err("nothing else ends it");
                assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
            });
        }
        let late = database.connect();
        late.execute("SET statement_timeout = '2s'", &[])?;
        // As soon as the others have gathered what they hold.
        let error = (0..1_000).find_map(|_| row(&late, LARGE[1]).err()).expect("it waits");
        assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
        let small = "SELECT b.label FROM t AS a JOIN t AS b ON a.other = b.id WHERE a.id = 3";
        assert_eq!(row(&database.connect(), small)?.len(), 1);
        first.iter().for_each(|one| one.cancel_handle().cancel());
        assert_eq!(row(&late, LARGE[1])?.len(), 2);
        Ok(())
    })
}

/// Of plans that write out what they hold: sorts, groups, and both.
const SPILLING: [&str; 6] = [
    "SELECT label, id, other FROM t ORDER BY label DESC, id",
    "SELECT label, id, other FROM t ORDER BY label DESC, id LIMIT 20000 OFFSET 120000",
    "SELECT label, count(*), min(other) FROM t GROUP BY label ORDER BY label",
    "SELECT sum(place * id) FROM (SELECT id, row_number() OVER (ORDER BY label, id) AS place FROM t)",
    "SELECT count(*), sum(n) FROM (SELECT DISTINCT other, label, id AS n FROM t)",
    "SELECT a.label, b.id FROM (SELECT * FROM t ORDER BY label OFFSET 100) AS a JOIN t AS b ON a.other = b.id \
     ORDER BY a.label, b.id",
];

fn all_rows(connection: &Connection, text: &str) -> Result<Vec<Vec<String>>> {
    connection.query(text, &[])?.map(|row| values(&row?)).collect()
}

/// In bytes: what is written out now, and what has been in all.
fn spilled(connection: &Connection) -> Result<Vec<String>> {
    row(connection, "SELECT spilled_bytes, spilled_bytes_total FROM gadus.memory")
}

#[test]
fn what_plans_hold_beyond_the_limit_is_written_out_and_read_again() -> Result<()> {
    let folder = Folder::new();
    let database = Database::open(folder.path("x.gadus"), Options::new().threads(THREADS))?;
    fill(&database, 150_000)?;
    let names = || {
        let files = folder.path("").read_dir().expect("the folder");
        files
            .map(|file| file.expect("a file").file_name())
            .collect::<std::collections::BTreeSet<_>>()
    };
    let (connection, before) = (database.connect(), names());
    for text in SPILLING {
        connection.execute("RESET gadus.memory_limit", &[])?;
        let (expected, known) = (all_rows(&connection, text)?, spilled(&connection)?);
        connection.execute(LIMIT, &[])?;
        // Somebody who reads no further keeps what he has sorted.
        let mut away = connection.query(text, &[])?;
        assert!(away.next().transpose()?.is_some());
        assert_eq!(all_rows(&connection, text)?, expected, "{text}");
        assert_eq!(names(), before, "files without names");
        drop(away);
        assert_ne!(spilled(&connection)?[1], known[1], "{text}");
        // A thread may be in the middle of reading what nobody wants any more.
        let began = clock().now();
        while spilled(&connection)?[0] != known[0] {
            assert!(began.elapsed() < Duration::from_secs(60), "{text}: it is kept for nobody");
        }
    }
    Ok(())
}

#[test]
fn first_rows_are_kept_where_they_are_few_and_else_all_are_sorted() -> Result<()> {
    let database = Database::open_in_memory(Options::new().threads(THREADS))?;
    fill(&database, 150_000)?;
    let connection = database.connect();
    for (first, is_kept) in [("10", true), ("10 OFFSET 8000", true), ("10 OFFSET 120000", false)] {
        let plan = all_rows(
            &connection,
            &format!("EXPLAIN SELECT * FROM t ORDER BY label LIMIT {first}"),
        )?;
        assert_eq!(format!("{plan:?}").contains("TopK"), is_kept, "{first}: {plan:?}");
    }
    Ok(())
}

#[test]
fn where_nothing_can_be_written_out_the_folder_is_named() -> Result<()> {
    let gone = Folder::new().path("gone");
    let database = Database::open_in_memory(Options::new().threads(THREADS).spill_folder(&gone))?;
    fill(&database, 150_000)?;
    let connection = database.connect();
    connection.execute(LIMIT, &[])?;
    let error = all_rows(&connection, SPILLING[0]).expect_err("it holds too much");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().contains("gone: "), "{error}");
    connection.execute("RESET gadus.memory_limit", &[])?;
    assert_eq!(all_rows(&connection, SPILLING[0])?.len(), 150_000);
    Ok(())
}

/// Of tables with NULLs and several rows to a key, on either side more than the limit.
const JOINS: [&str; 12] = [
    "SELECT a.id, b.id FROM l AS a JOIN r AS b ON a.k = b.k",
    "SELECT a.id, b.id FROM l AS a LEFT JOIN r AS b ON a.k = b.k",
    "SELECT a.id, b.id FROM l AS a RIGHT JOIN r AS b ON a.k = b.k",
    "SELECT a.id, b.id FROM l AS a FULL JOIN r AS b ON a.k = b.k AND a.id % 3 < b.id % 3",
    "SELECT a.id, b.id FROM l AS a LEFT JOIN r AS b ON a.k = b.k AND a.label > b.label",
    "SELECT a.id, a.k FROM l AS a WHERE EXISTS (SELECT 1 FROM r AS b WHERE b.k = a.k)",
    "SELECT a.id, a.k FROM l AS a WHERE NOT EXISTS (SELECT 1 FROM r AS b WHERE b.k = a.k)",
    "SELECT a.id, a.k FROM l AS a WHERE a.k NOT IN (SELECT b.k FROM r AS b WHERE b.k IS NOT NULL)",
    "SELECT a.id, b.id FROM l AS a JOIN r AS b ON a.k = b.k AND a.label = b.label",
    "SELECT a.id, b.id FROM l AS a FULL JOIN r AS b ON a.k % 3000 = b.k % 2000",
    "SELECT a.id, b.id FROM l AS a LEFT JOIN r AS b ON a.label = b.label AND a.k = b.k + 7",
    "SELECT a.id, b.id FROM l AS a JOIN r AS b ON a.k = b.k AND a.id % 3 < b.id % 3",
];

/// Of those, the ones that are merged: with no condition but equal values.
const MERGED: usize = 8;

#[test]
fn joins_of_more_than_the_limit_are_merged_and_answer_the_same() -> Result<()> {
    let database = Database::open_in_memory(Options::new().threads(THREADS))?;
    let connection = database.connect();
    connection.execute_script(
        "CREATE TABLE l AS SELECT i AS id, CASE WHEN i % 11 = 0 THEN NULL ELSE (i * 31) % 20000 END AS k,
             'label ' || (i % 7) AS label FROM range(30000) AS r(i);
         CREATE TABLE r AS SELECT i AS id, CASE WHEN i % 13 = 0 THEN NULL ELSE (i * 17) % 30000 END AS k,
             'label ' || (i % 5) AS label FROM range(40000) AS r(i);",
    )?;
    let mut merged = 0;
    for text in JOINS {
        let ordered = format!("{text} ORDER BY 1 NULLS FIRST, 2 NULLS FIRST");
        connection.execute("RESET gadus.memory_limit", &[])?;
        let plan = |text: &str| -> Result<String> {
            let lines = all_rows(&connection, &format!("EXPLAIN {text}"))?;
            Ok(lines.concat().concat())
        };
        assert!(!plan(text)?.contains("SortMergeJoin"), "{text}");
        let expected = all_rows(&connection, &ordered)?;
        connection.execute(LIMIT, &[])?;
        merged += usize::from(plan(text)?.contains("SortMergeJoin"));
        assert!(all_rows(&connection, &ordered)? == expected, "{text}");
    }
    assert_eq!(merged, MERGED);
    Ok(())
}

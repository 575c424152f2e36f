//! Intervals: as PostgreSQL reads, writes and computes them, in columns of tables and on their way through files.

use crate::files::Folder;
use crate::statement::{refused, rows, run};
use gadus::{Connection, Database, Error, ErrorKind, INTERVAL, Interval, Options, Reason, Value};

const LONG: &str = "1 year 2 mons -3 days +04:05:06.789";

fn connect() -> Connection {
    Database::open_in_memory(Options::new()).unwrap().connect()
}

fn fill(connection: &Connection) {
    run(connection, "CREATE TABLE t (n INTEGER PRIMARY KEY, i INTERVAL)");
    run(connection, &format!("INSERT INTO t VALUES (1, '1 day'), (2, NULL), (3, '{LONG}')"));
}

/// PostgreSQL's code of an error, where the tests know it.
fn state(error: &Error) -> &'static str {
    match (error.reason(), error.kind()) {
        (Some(Reason::InvalidDatetime), _) => "22007",
        (Some(Reason::DatetimeOverflow), _) => "22008",
        (Some(Reason::DivisionByZero), _) => "22012",
        (Some(Reason::IntervalOverflow), _) => "22015",
        (Some(Reason::InvalidParameter), _) => "22023",
        (Some(Reason::UnknownFunction), _) => "42883",
        (_, ErrorKind::Unsupported) => "0A000",
        _ => "another",
    }
}

#[test]
fn expressions_have_the_values_that_postgresql_gives() {
    let connection = connect();
    let mut wrong = Vec::new();
    for line in include_str!("intervals.txt").lines() {
        let (expression, expected) = line.rsplit_once(" => ").expect("an expression and its value");
        let answer = connection.query(&format!("SELECT ({expression})::text"), &[]);
        let answer = answer.and_then(|rows| rows.collect::<Result<Vec<_>, _>>());
        let answer = match &answer {
            Ok(rows) => match rows[0].value(0).unwrap() {
                // Points in time are written as ISO 8601 has them.
                Value::Text(text) => text.replace('T', " ").replace('Z', "+00"),
                Value::Null => "NULL".to_owned(),
                other => format!("{other:?}"),
            },
            Err(error) if state(error) == expected => continue,
            Err(error) => format!("{} {error}", state(error)),
        };
        if answer != expected {
            wrong.push(format!("{expression}\n  gives {answer}\n  not   {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn columns_of_them_take_what_postgresql_writes_and_are_changed_as_others() {
    let connection = connect();
    fill(&connection);
    assert_eq!(rows(&connection, "SELECT i FROM t ORDER BY n"), ["1 day", "NULL", LONG]);
    assert_eq!(rows(&connection, "SELECT i FROM t WHERE n = 3"), [LONG]);
    assert_eq!(rows(&connection, "SELECT n FROM t WHERE i IS NULL"), ["2"]);
    let result = connection.query("SELECT i FROM t", &[]).unwrap();
    assert_eq!(*result.schema().field(0).data_type(), INTERVAL);
    run(
        &connection,
        "INSERT INTO t VALUES (4, INTERVAL '1' MONTH), (5, make_interval(hours => 2))",
    );
    run(&connection, "UPDATE t SET i = i * 2 + '1 hour' WHERE n <> 3");
    run(&connection, "UPDATE t SET i = '00:00:01' WHERE n = 2");
    assert_eq!(
        rows(&connection, "SELECT i FROM t ORDER BY n"),
        ["2 days 01:00:00", "00:00:01", LONG, "2 mons 01:00:00", "05:00:00"]
    );
    run(
        &connection,
        "INSERT INTO t VALUES (1, '5 days') ON CONFLICT (n) DO UPDATE SET i = t.i + excluded.i",
    );
    run(&connection, "INSERT INTO t VALUES (2, '5 days') ON CONFLICT DO NOTHING");
    assert_eq!(
        rows(&connection, "SELECT i FROM t WHERE n < 3 ORDER BY n"),
        ["7 days 01:00:00", "00:00:01"]
    );
    run(&connection, "DELETE FROM t WHERE extract(month FROM i) = 2 AND i IS NOT NULL");
    assert_eq!(rows(&connection, "SELECT n FROM t ORDER BY n"), ["1", "2", "5"]);
    assert_eq!(
        rows(&connection, "SELECT sum(i), avg(i) FROM t"),
        ["7 days 06:00:01 2 days 10:00:00.333333"]
    );
    let moved = "SELECT sum(i) OVER (ORDER BY n ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t ORDER BY n";
    assert_eq!(rows(&connection, moved), ["7 days 01:00:00", "7 days 01:00:01", "05:00:01"]);
    let grouped = "SELECT n % 2, sum(i) FROM t GROUP BY 1 ORDER BY 1";
    assert_eq!(rows(&connection, grouped), ["0 00:00:01", "1 7 days 06:00:00"]);
    run(
        &connection,
        "CREATE TABLE copy AS SELECT n, i, -i AS back, timestamp '2024-01-01' + i AS at FROM t",
    );
    assert_eq!(
        rows(&connection, "SELECT back, at - timestamp '2024-01-01' FROM copy WHERE n = 5"),
        ["-05:00:00 05:00:00"]
    );
}

#[test]
fn defaults_checks_and_generated_columns_have_them() {
    let connection = connect();
    run(
        &connection,
        "CREATE TABLE d (n INTEGER, i INTERVAL NOT NULL DEFAULT '1 day 02:00' CHECK (extract(epoch FROM i) > 0), \
         j INTERVAL DEFAULT INTERVAL '2' HOUR, at TIMESTAMP, ends TIMESTAMP GENERATED ALWAYS AS (at + i) STORED, \
         half INTERVAL GENERATED ALWAYS AS (i / 2) STORED)",
    );
    run(&connection, "INSERT INTO d (n, at) VALUES (1, '2024-01-31')");
    run(&connection, "INSERT INTO d (n, i, at) VALUES (2, '1 mon', '2024-01-31')");
    assert_eq!(
        rows(
            &connection,
            "SELECT i, j, half, ends = timestamp '2024-02-01 02:00:00' FROM d ORDER BY n"
        ),
        ["1 day 02:00:00 02:00:00 13:00:00 true", "1 mon 02:00:00 15 days false"]
    );
    let error = refused(&connection, "INSERT INTO d (n, i) VALUES (3, '-1 day')");
    assert_eq!(error.kind(), ErrorKind::CheckViolation, "{error}");
    let error = refused(&connection, "INSERT INTO d (n, i) VALUES (3, '1 dog')");
    assert_eq!(state(&error), "22007", "{error}");
    let error = refused(&connection, "INSERT INTO d (n, i) VALUES (3, '300 years 2600000 hours')");
    assert_eq!(state(&error), "22008", "{error}");
    assert!(connection.execute("CREATE TABLE e (i INTERVAL DEFAULT 'tomorrow')", &[]).is_err());
    run(&connection, "ALTER TABLE d ADD COLUMN k INTERVAL DEFAULT '3 days'");
    assert_eq!(rows(&connection, "SELECT k FROM d WHERE n = 1"), ["3 days"]);
}

#[test]
fn names_of_their_type_are_those_of_postgresql() {
    let connection = connect();
    run(
        &connection,
        "CREATE TABLE n (a INTERVAL, b INTERVAL DAY TO SECOND, c INTERVAL(6), d INTERVAL SECOND)",
    );
    run(&connection, "INSERT INTO n VALUES ('1.5', '1.5', '1.5', '1.5')");
    assert_eq!(
        rows(&connection, "SELECT a, b, c, d FROM n"),
        ["00:00:01.5 00:00:01.5 00:00:01.5 00:00:01.5"]
    );
    for rounding in ["INTERVAL(3)", "INTERVAL YEAR", "INTERVAL DAY TO MINUTE"] {
        let error = refused(&connection, &format!("CREATE TABLE o (a {rounding})"));
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{rounding}: {error}");
    }
    let told = "SELECT data_type FROM information_schema.columns WHERE table_name = 'n' AND column_name = 'a'";
    assert!(!rows(&connection, told).is_empty());
    let of_catalog =
        "SELECT format_type(atttypid, atttypmod), atttypid FROM pg_attribute WHERE attname = 'a'";
    assert_eq!(rows(&connection, of_catalog), ["interval 1186"]);
}

#[test]
fn no_key_and_no_index_has_them() {
    let connection = connect();
    fill(&connection);
    for statement in [
        "CREATE TABLE k (i INTERVAL PRIMARY KEY)",
        "CREATE TABLE k (i INTERVAL UNIQUE)",
        "CREATE INDEX k ON t (i)",
        "ALTER TABLE t ADD UNIQUE (i)",
        "CREATE TABLE k (i INTERVAL REFERENCES t (i))",
    ] {
        let error = refused(&connection, statement);
        assert_eq!(error.kind(), ErrorKind::Input, "{statement}: {error}");
    }
}

#[test]
fn parameters_are_intervals_or_their_texts() {
    let connection = connect();
    fill(&connection);
    let interval = Interval { months: 1, days: -2, microseconds: 3 };
    let one = |sql: &str, parameters: &[Value]| {
        let mut rows =
            connection.query(sql, parameters).map_err(|e| format!("{sql}: {e}")).unwrap();
        rows.next().unwrap().unwrap().value(0).unwrap()
    };
    let given = [Value::Interval(interval)];
    assert_eq!(one("SELECT $1", &given), given[0]);
    assert_eq!(
        one("SELECT ($1::interval)::text", &given),
        Value::from("1 mon -2 days +00:00:00.000003")
    );
    assert_eq!(
        one("SELECT (timestamp '2024-01-31' + $1)::text", &given),
        Value::from("2024-02-27 00:00:00.000003")
    );
    assert_eq!(
        one("SELECT (timestamp '2024-01-31' + $1)::text", &["1 day".into()]),
        Value::from("2024-02-01 00:00:00")
    );
    assert_eq!(
        one("SELECT ($1::interval * $2)::text", &["1 day".into(), 2.into()]),
        Value::from("2 days")
    );
    connection.execute("INSERT INTO t VALUES ($1, $2)", &[7.into(), given[0].clone()]).unwrap();
    connection.execute("INSERT INTO t VALUES ($1, $2)", &[8.into(), "1 day".into()]).unwrap();
    connection.execute("UPDATE t SET i = $2 WHERE n = $1", &[1.into(), given[0].clone()]).unwrap();
    let mut found = connection.query("SELECT i FROM t WHERE n = $1", &[1.into()]).unwrap();
    assert_eq!(found.next().unwrap().unwrap().get::<Interval>(0).unwrap(), interval);
    assert_eq!(
        rows(&connection, "SELECT i FROM t WHERE n > 6 ORDER BY n"),
        [interval.to_string().as_str(), "1 day"]
    );
    let wrong = connection.query("SELECT $1::interval", &["1 dog".into()]);
    let wrong = wrong.and_then(|rows| rows.collect::<Result<Vec<_>, _>>()).unwrap_err();
    assert_eq!(state(&wrong), "22007", "{wrong}");
}

#[test]
fn dates_moved_by_whole_days_are_found_as_dates() {
    let connection = connect();
    run(&connection, "CREATE TABLE dates (d DATE, n INTEGER)");
    run(
        &connection,
        "INSERT INTO dates VALUES ('2024-01-31', 1), ('2024-02-29', 2), ('2024-03-01', 3)",
    );
    for (condition, expected) in [
        ("d < date '2024-03-01' - interval '1' day", "1"),
        ("d <= date '2024-01-31' + interval '1 month'", "1 2"),
        ("d = date '2024-01-31' + interval '1 month'", "2"),
        ("d BETWEEN date '2024-02-01' AND date '2024-02-01' + interval '28 days'", "2"),
        ("d + interval '1 month' = '2024-02-29'", "1"),
        ("d > date '2024-02-28' + interval '24 hours'", "3"),
        ("d >= date '2024-02-28' + interval '25 hours'", "3"),
        ("d + interval '1 hour' = timestamp '2024-02-29 01:00:00'", "2"),
        ("d IN (date '2024-02-28' + interval '1 day', date '2024-01-31')", "1 2"),
    ] {
        let found = rows(&connection, &format!("SELECT n FROM dates WHERE {condition} ORDER BY n"));
        assert_eq!(found.join(" "), expected, "{condition}");
    }
}

#[test]
fn frames_of_windows_and_series_are_as_long_as_they_say() {
    let connection = connect();
    run(&connection, "CREATE TABLE w (at TIMESTAMP, n INTEGER)");
    let series = "SELECT at, 1 FROM generate_series(timestamp '2024-01-01', timestamp '2024-01-04', '1 day 12:00') AS g (at)";
    run(
        &connection,
        &format!("INSERT INTO w {}", series.replace("'1 day 12:00'", "INTERVAL '1 day 12:00'")),
    );
    let sums = "SELECT sum(n) OVER (ORDER BY at RANGE BETWEEN INTERVAL '36' HOUR PRECEDING AND CURRENT ROW) FROM w ORDER BY at";
    assert_eq!(rows(&connection, sums), ["1", "2", "2"]);
    let sums = sums.replace("INTERVAL '36' HOUR", "INTERVAL 'P1DT11H'");
    assert_eq!(rows(&connection, &sums), ["1", "1", "1"]);
    for beyond in ["at + INTERVAL '200000000 mons'", "at - INTERVAL '2147483647 days'"] {
        assert!(
            connection
                .query(&format!("SELECT {beyond} FROM w"), &[])
                .and_then(|rows| rows.collect::<Result<Vec<_>, _>>())
                .is_err(),
            "{beyond}"
        );
    }
}

#[test]
fn files_of_all_formats_take_them_and_give_them_back() {
    let folder = Folder::new();
    let connection = connect();
    fill(&connection);
    for (name, options) in [("i.csv", ""), ("i.jsonl", ""), ("i.parquet", "")] {
        let file = folder.path(name);
        run(&connection, &format!("COPY t TO '{}'{options}", file.display()));
        run(&connection, "CREATE TABLE u (n INTEGER, i INTERVAL)");
        run(&connection, &format!("COPY u FROM '{}'{options}", file.display()));
        assert_eq!(
            rows(&connection, "SELECT i FROM u ORDER BY n"),
            ["1 day", "NULL", LONG],
            "{name}"
        );
        run(&connection, "DROP TABLE u");
    }
    let csv = std::fs::read_to_string(folder.path("i.csv")).unwrap();
    assert!(csv.contains(LONG), "{csv}");
    let json = std::fs::read_to_string(folder.path("i.jsonl")).unwrap();
    assert!(json.contains(r#""i":"1 day""#), "{json}");
    std::fs::write(folder.path("bad.csv"), "n,i\n1,1 day\n2,1 dog\n").unwrap();
    let bad = folder.path("bad.csv");
    let error = refused(&connection, &format!("COPY t FROM '{}'", bad.display()));
    assert_eq!(state(&error), "22007", "{error}");
}

#[test]
fn they_are_there_after_opening_again_and_in_backups() {
    let folder = Folder::new();
    let database = Database::open(folder.path("i.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    fill(&connection);
    let many = "INSERT INTO t SELECT g + 10, make_interval(days => g, secs => -g) FROM generate_series(1, 3000) AS s (g)";
    run(&connection, many);
    let schema = database.schema_statements().unwrap().join("\n");
    assert!(schema.contains("i INTERVAL"), "{schema}");
    run(&connection, "CHECKPOINT");
    run(&connection, "UPDATE t SET i = '1 year' WHERE n = 1");
    let checked = "SELECT count(*), sum(i), sum(extract(day FROM i)) FROM t WHERE n > 10";
    let expected = rows(&connection, checked);
    // As it is found after a crash: the log has what the checkpoint has not.
    let crashed = Folder::new();
    for file in std::fs::read_dir(folder.path("")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), crashed.path(file.file_name().to_str().unwrap())).unwrap();
    }
    let recovered = Database::open(crashed.path("i.gadus"), Options::new()).unwrap().connect();
    assert_eq!(rows(&recovered, checked), expected);
    assert_eq!(rows(&recovered, "SELECT i FROM t WHERE n = 1"), ["1 year"]);
    drop((connection, database));
    let database = Database::open(folder.path("i.gadus"), Options::new()).unwrap();
    let connection = database.connect();
    assert_eq!(rows(&connection, checked), expected);
    assert_eq!(
        rows(&connection, "SELECT i FROM t WHERE n < 4 ORDER BY n"),
        ["1 year", "NULL", LONG]
    );
    drop((connection, database));
    let report = gadus::check(folder.path("i.gadus"), |_, _| ()).unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
}

#[test]
fn lists_and_structures_have_them_and_types_become_them() {
    let connection = connect();
    run(&connection, "CREATE TABLE l (n INTEGER, l INTERVAL[], x TEXT)");
    run(
        &connection,
        "INSERT INTO l VALUES (1, '{1 day,02:00,NULL}', '1 hour'), (2, '{1 mon}', '-1 day')",
    );
    assert_eq!(rows(&connection, "SELECT l[2] FROM l WHERE n = 1"), ["02:00:00"]);
    assert_eq!(
        rows(&connection, "SELECT l FROM l ORDER BY n"),
        [r#"["1 day","02:00:00",null]"#, r#"["1 mon"]"#]
    );
    run(&connection, "ALTER TABLE l ALTER COLUMN x TYPE INTERVAL USING x::interval");
    assert_eq!(rows(&connection, "SELECT x FROM l ORDER BY n"), ["01:00:00", "-1 days"]);
    run(&connection, "ALTER TABLE l ALTER COLUMN x TYPE TEXT");
    assert_eq!(
        rows(&connection, "SELECT 'in ' || x FROM l ORDER BY n"),
        ["in 01:00:00", "in -1 days"]
    );
    assert_eq!(rows(&connection, "SELECT 'in ' || interval '1 day'"), ["in 1 day"]);
}

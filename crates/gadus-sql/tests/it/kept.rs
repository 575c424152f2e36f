//! Kept plans: a query that comes again gives what a fresh plan gives, whatever changed meanwhile.
//!
//! - Every query runs several times: the first is planned, the second makes the plan that is kept,
//!   the others are bound to it.

use crate::support::Shell;
use gadus_sql::Value;

const RUNS: usize = 5;

fn shell() -> Shell {
    let shell = Shell::new();
    shell.run("CREATE TABLE a (id BIGINT PRIMARY KEY, n SMALLINT, t TEXT, d DECIMAL(10, 2))");
    shell.run("CREATE TABLE b (id BIGINT PRIMARY KEY, a_id BIGINT, x DOUBLE)");
    for id in 0..40 {
        let (n, cents) = (id % 7, id * 3 + 1);
        shell.run(&format!("INSERT INTO a VALUES ({id}, {n}, 'name {n}', {id}.{cents:02})"));
        shell.run(&format!("INSERT INTO b VALUES ({id}, {}, {id}.5)", id % 11));
    }
    shell
}

/// Queries that DataFusion plans, with values for each run; the last two are of other types. What could
/// do without a plan names its table anew.
fn queries() -> Vec<(&'static str, Vec<Vec<Value>>)> {
    let integers = |values: [i64; 5]| values.map(|value| vec![Value::Integer(value)]).to_vec();
    let texts = |values: [&str; 5]| values.map(|text| vec![Value::Text(text.into())]).to_vec();
    vec![
        (
            "SELECT n, count(*) FROM a AS a WHERE n < ? GROUP BY n ORDER BY n",
            integers([3, 5, 0, 99, 7]),
        ),
        // Beyond what the column can hold.
        ("SELECT id FROM a AS a WHERE n < ? ORDER BY id", integers([2, 100_000, 3, -70_000, 4])),
        ("SELECT id + ? AS m FROM a WHERE id % 3 = 0 ORDER BY m", integers([1, 2, 3, 4, 5])),
        (
            "SELECT id FROM a AS a WHERE t = ? ORDER BY id",
            texts(["name 1", "name 2", "none", "", "name 6"]),
        ),
        (
            "SELECT id FROM a AS a WHERE t LIKE ? ORDER BY id",
            texts(["name 1%", "%2", "x", "%", "_ame 3"]),
        ),
        (
            "SELECT a.n, sum(b.x) AS s FROM a JOIN b ON b.a_id = a.id WHERE b.x > ? GROUP BY a.n \
             ORDER BY a.n",
            integers([1, 5, 20, 100, 0]),
        ),
        (
            "SELECT id FROM a WHERE d > (SELECT avg(d) FROM a WHERE id < ?) ORDER BY id",
            integers([5, 10, 20, 0, 40]),
        ),
        (
            "SELECT id FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.a_id = a.id AND b.x < ?) \
             ORDER BY id",
            integers([3, 6, 1, 50, 0]),
        ),
        ("SELECT id FROM a ORDER BY id LIMIT ?", integers([3, 1, 0, 7, 2])),
        ("SELECT ? AS v, count(*) FROM b", integers([1, 2, 3, 4, 5])),
        (
            "WITH c AS (SELECT n, max(id) AS m FROM a WHERE id <> ? GROUP BY n) \
             SELECT c.n, c.m, rank() OVER (ORDER BY c.m) AS r FROM c ORDER BY r",
            integers([39, 38, 37, 0, 1]),
        ),
        (
            "SELECT id FROM a AS a WHERE id IN (?, 5, 7, 9, 11) ORDER BY id",
            integers([1, 5, 100, 2, 3]),
        ),
        (
            "SELECT t, CASE WHEN n > ? THEN 'big' ELSE 'small' END AS c FROM a ORDER BY id LIMIT 9",
            {
                let mut values = integers([1, 2, 3, 4, 5]);
                values[3] = vec![Value::Null];
                values[4] = vec![Value::Float(2.5)];
                values
            },
        ),
    ]
}

#[test]
fn a_kept_plan_gives_what_a_fresh_one_gives() {
    let kept = shell();
    for (query, values) in queries() {
        for values in values {
            // A database of its own plans everything for the first time.
            let expected = shell().try_run(query, &values).unwrap();
            assert_eq!(kept.try_run(query, &values).unwrap(), expected, "{query} {values:?}");
        }
    }
    // Not kept: a LIMIT by parameter, values of a new type, and those that a column cannot hold.
    let bound = kept.instances[0].kept_plans_bound();
    assert!(bound >= 40, "{bound} runs by kept plans");
}

#[test]
fn a_kept_plan_reads_the_snapshot_of_its_run() {
    let (shell, mut counts) = (shell(), Vec::new());
    let other = shell.another();
    let query = "SELECT n, count(*) FROM a GROUP BY n HAVING count(*) > 0 ORDER BY n";
    for run in 0..RUNS {
        counts.push(shell.run(query));
        other.run(&format!("DELETE FROM a WHERE n = {run}"));
    }
    counts.dedup();
    assert_eq!(counts.len(), RUNS, "{counts:?}");
    // A transaction sees its own changes by the same plan, and others do not.
    let before = other.run(query);
    shell.run("BEGIN");
    shell.run("INSERT INTO a VALUES (1000, 77, 'new', 1.00)");
    assert!(shell.run(query).contains("77"));
    assert_eq!(other.run(query), before);
    shell.run("ROLLBACK");
    assert_eq!(shell.run(query), before);
}

#[test]
fn nothing_that_one_run_found_stays_for_the_next() {
    let shell = shell();
    let queries = [
        "SELECT id, (SELECT max(x) FROM b) AS m FROM a WHERE id % 20 = 1 ORDER BY id",
        "SELECT count(*) FROM a WHERE n > (SELECT min(x) FROM b)",
        "SELECT count(*) FROM a WHERE id NOT IN (SELECT id FROM b)",
        "SELECT count(*) FROM (SELECT id FROM a INTERSECT SELECT id FROM b)",
        "SELECT a.id FROM a JOIN b ON a.id = b.id ORDER BY b.x DESC LIMIT 2",
        "WITH RECURSIVE r AS (SELECT 0 AS v UNION ALL SELECT v + 1 FROM r \
         WHERE v < (SELECT max(x) FROM b)) SELECT count(*) FROM r",
    ];
    for run in 0..RUNS {
        for query in queries {
            // A text of its own is planned for the first time.
            let fresh = format!("{query} {}", " ".repeat(run));
            assert_eq!(shell.run(query), shell.run(&fresh), "{query}, run {run}");
        }
        shell.run(&format!("DELETE FROM b WHERE id >= {}", 35 - 5 * run));
        shell.run("UPDATE b SET x = x + 0.25");
    }
}

#[test]
fn a_kept_plan_ends_with_the_shape_of_its_table() {
    let shell = shell();
    let query = "SELECT * FROM b WHERE x > 30 ORDER BY id DESC LIMIT 1";
    for _ in 0..RUNS {
        shell.run(query);
    }
    shell.run("DROP TABLE b");
    let fresh = shell.fails("SELECT * FROM b WHERE x > 30 ORDER BY id DESC LIMIT 1 ;");
    assert_eq!(shell.fails(query), fresh);
    shell.run("CREATE TABLE b (x TEXT, id INTEGER)");
    shell.run("INSERT INTO b VALUES ('99', 1), ('100', 2)");
    for _ in 0..RUNS {
        let expected = "SELECT * FROM b WHERE x > 30 ORDER BY id DESC LIMIT 1 ";
        assert_eq!(shell.run(query), shell.run(expected));
    }
}

#[test]
fn what_the_time_of_day_decides_is_not_kept() {
    let shell = shell();
    let mut times = Vec::new();
    for _ in 0..RUNS {
        times.push(shell.run("SELECT now(), count(*) FROM (SELECT DISTINCT n FROM a)"));
    }
    times.dedup();
    assert_eq!(times.len(), RUNS, "{times:?}");
}

#[test]
fn names_of_tables_are_not_kept() {
    let shell = shell();
    let query = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'main'";
    let mut counts = Vec::new();
    for run in 0..RUNS {
        counts.push(shell.run(query));
        shell.run(&format!("CREATE TABLE more_{run} (id BIGINT)"));
    }
    counts.dedup();
    assert_eq!(counts.len(), RUNS, "{counts:?}");
}

#[test]
fn errors_come_from_a_kept_plan_as_from_a_fresh_one() {
    let shell = shell();
    let query = "SELECT sum(10 / (n - ?)) FROM a WHERE id < 20";
    for divisor in [100, 101, 3, 102, 3] {
        let result = shell.try_run(query, &[Value::Integer(divisor)]);
        assert_eq!(result.is_err(), divisor == 3, "{divisor}: {result:?}");
    }
    let error = shell.try_run(query, &[]).unwrap_err();
    assert!(error.message().contains("1 parameters"), "{error}");
}

#[test]
fn runs_at_once_have_plans_of_their_own() {
    let shell = shell();
    let query = "SELECT n, count(*) FROM a WHERE n <> ? GROUP BY n ORDER BY n";
    let expected: Vec<String> =
        (0..7).map(|n| shell.try_run(query, &[Value::Integer(n)]).unwrap()).collect();
    std::thread::scope(|scope| {
        for n in 0..7 {
            let (shell, expected) = (shell.another(), &expected);
            scope.spawn(move || {
                for _ in 0..50 {
                    let found = shell.try_run(query, &[Value::Integer(n)]).unwrap();
                    assert_eq!(found, expected[usize::try_from(n).unwrap()]);
                }
            });
        }
    });
}

//! Statements that ask for more memory than there is, drawn at random, in a control group.
//!
//! - What counts is that the kernel kills nobody: no judgement by our own accounts.
//! - Each run prints its seed; `GADUS_HOSTILE_SEED` sets another one, and `GADUS_HOSTILE_STATEMENTS` says how many
//!   statements are drawn.

use crate::control_group::Group;
use crate::folder::{Folder, error_of};
use gadus_base::{Random, spawn};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Of the group, in bytes; the statements may hold an eighth of it.
const MEMORY: u64 = 2 << 30;

/// Statements of a run, unless told otherwise: each takes up to its timeout.
const STATEMENTS: u64 = 40;

/// Of a run, unless told otherwise: the same statements each time.
const SEED: u64 = 7;

struct Generator {
    random: Random,
}

impl Generator {
    fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let place = self.random.below(choices.len() as u64);
        choices[usize::try_from(place).unwrap()]
    }

    fn count(&mut self) -> &'static str {
        self.one_of(&["10", "1000", "100000", "10000000", "2147483647", "a"])
    }

    /// A text whose size may be anything.
    fn text(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.one_of(&["b", "'x'", "CAST(a AS TEXT)", "'some longer text'"]).to_owned();
        }
        let (inner, count) = (self.text(depth - 1), self.count());
        match self.random.below(10) {
            0 | 1 => format!("repeat({inner}, {count})"),
            2 => format!("lpad({inner}, {count}, 'ab')"),
            3 => format!("rpad({inner}, {count})"),
            4 => format!("replace({inner}, 'w', {})", self.text(depth - 1)),
            5 => format!("{inner} || {}", self.text(depth - 1)),
            6 => format!("concat({inner}, {inner}, {})", self.text(depth - 1)),
            7 => format!("regexp_replace({inner}, 'o', repeat('y', {count}), 'g')"),
            8 => format!("array_to_string(array_repeat({inner}, {count}), ',')"),
            _ => format!("upper({inner})"),
        }
    }

    fn statement(&mut self) -> String {
        match self.random.below(8) {
            0 | 1 => self.statement_of_wide_rows(),
            2 => self.plain_statement_of_wide_rows(),
            _ => self.statement_of_grown_values(),
        }
    }

    /// Returns a statement that names columns alone, which a shared scan answers, over rows that are more than the
    /// group's memory.
    fn plain_statement_of_wide_rows(&mut self) -> String {
        let (column, count) = (self.one_of(&["a", "g", "b"]), self.count());
        let order = self.one_of(&["a", "b", "g, b", "b DESC", "g"]);
        match self.random.below(11) {
            0 => format!("SELECT {column}, count(*) FROM d GROUP BY {column} LIMIT 1"),
            1 => format!("SELECT {column}, max(b), min(b) FROM d GROUP BY {column} LIMIT 1"),
            2 => format!("SELECT b, g, max(a) FROM d WHERE a < {count} GROUP BY b, g LIMIT 1"),
            3 => format!("SELECT {column} FROM d ORDER BY {order} LIMIT 1"),
            4 => format!("SELECT a FROM d ORDER BY {order} OFFSET {count}"),
            5 => format!(
                "SELECT length(v) FROM (SELECT b AS v FROM d ORDER BY {order} LIMIT {count}) x LIMIT 1"
            ),
            6 => format!("SELECT max({column}), min(b) < 'a' FROM d"),
            7 => format!("SELECT a, b FROM d WHERE a < {count} OFFSET 2999"),
            8 => format!("UPDATE d SET a = a + {count}"),
            9 => "UPDATE d SET g = g + 1 WHERE b > 'a'".to_owned(),
            _ => format!("DELETE FROM d WHERE a = {count} RETURNING b"),
        }
    }

    /// Returns a statement over rows of a megabyte each, all of them different or all the same.
    fn statement_of_wide_rows(&mut self) -> String {
        let statement = self.statement_of_different_rows();
        match self.random.chance(0.4) {
            true => {
                let words = statement.split(' ').map(|word| match word {
                    "w" => "k",
                    "w)" => "k)",
                    word => word,
                });
                words.collect::<Vec<_>>().join(" ")
            }
            false => statement,
        }
    }

    fn statement_of_different_rows(&mut self) -> String {
        let count = self.one_of(&["1", "3", "100", "100000"]);
        let value =
            self.one_of(&["b", "b || 'x'", "upper(b)", "b || a", "reverse(b)", "repeat(b, 99)"]);
        let window = self.one_of(&[
            "lag(b, 3) OVER (ORDER BY a)",
            "first_value(b) OVER (PARTITION BY a % 3 ORDER BY a)",
            "max(b) OVER (ORDER BY a ROWS 9 PRECEDING)",
            "nth_value(b, 2) OVER ()",
        ]);
        match self.random.below(19) {
            0 => format!("SELECT {value}, count(*) FROM w GROUP BY 1 ORDER BY 2, 1 LIMIT 1 OFFSET {count}"),
            1 => format!("SELECT length({value}) FROM w ORDER BY {value} DESC LIMIT {count}"),
            2 => format!("SELECT sum(length(v)) FROM (SELECT {window} AS v FROM w) x"),
            3 => {
                let operation = self.one_of(&["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]);
                format!("SELECT count(*) FROM (SELECT b FROM w {operation} SELECT {value} FROM w) x")
            }
            4 => format!("SELECT cardinality(array_agg({value})), a % {count} FROM w GROUP BY 2 LIMIT 1"),
            5 => format!("SELECT length(string_agg({value}, ',')) FROM w"),
            6 => format!("SELECT count(DISTINCT {value}), max({value}) < 'a' FROM w"),
            7 => format!("SELECT count(*) FROM w x, w y WHERE x.b < y.b AND x.a < {count}"),
            8 => format!(
                "SELECT count(*) FROM w x JOIN w y ON x.a < y.a WHERE length(x.b || y.b) > {count}"
            ),
            9 => {
                let join = self.one_of(&["JOIN", "LEFT JOIN", "FULL JOIN"]);
                format!("SELECT count(*), sum(length(x.b || y.b)) FROM w x {join} w y ON x.a = y.a + {count}")
            }
            10 => format!("SELECT count(*) FROM w WHERE b IN (SELECT {value} FROM w WHERE a % 2 = 0)"),
            11 => "SELECT count(*) FROM w x WHERE NOT EXISTS (SELECT 1 FROM w y WHERE y.b = x.b AND y.a <> x.a)"
                .to_owned(),
            12 => format!("UPDATE w SET b = b || 'x' WHERE a <= {count}"),
            13 => format!("INSERT INTO s SELECT {value} FROM w WHERE a <= {count} RETURNING length(v)"),
            14 => format!("INSERT INTO w SELECT a, {value} FROM w ON CONFLICT (a) DO UPDATE SET b = excluded.b"),
            15 => format!("SELECT to_json({value}) FROM w ORDER BY 1 LIMIT 1 OFFSET {count}"),
            16 => format!(
                "WITH m AS (SELECT * FROM w) SELECT sum(length(m.b || n.b)) FROM m JOIN m n ON m.a % {count} = n.a"
            ),
            17 => format!(
                "SELECT sum(length(v)) FROM (SELECT {value} AS v, row_number() OVER (ORDER BY b) AS n FROM w) x \
                 WHERE n > {count}"
            ),
            _ => format!(
                "WITH RECURSIVE r AS (SELECT a, b FROM w UNION ALL SELECT a + 1, {value} FROM r WHERE a < {count}) \
                 SELECT count(*) FROM r"
            ),
        }
    }

    /// Returns a statement whose expressions make large values of small ones.
    fn statement_of_grown_values(&mut self) -> String {
        let depth = u32::try_from(1 + self.random.below(3)).unwrap();
        let (text, count) = (self.text(depth), self.count());
        match self.random.below(14) {
            0 => format!("SELECT max(length({text})) FROM t"),
            1 => format!("SELECT count(*) FROM (SELECT {text} AS v FROM t ORDER BY 1 OFFSET 3) x"),
            2 => format!("SELECT length(string_agg({text}, ',')) FROM t"),
            3 => format!("SELECT cardinality(array_agg({text})) FROM t"),
            4 => format!("SELECT count(DISTINCT {text}) FROM t"),
            5 => format!(
                "WITH RECURSIVE r AS (SELECT {text} AS n FROM t WHERE a < 9 UNION ALL SELECT n || n FROM r) \
                 SELECT count(*) FROM r"
            ),
            6 => format!("INSERT INTO s SELECT {text} FROM t"),
            7 => format!("INSERT INTO s SELECT {text} FROM t RETURNING length(v)"),
            8 => format!(
                "SELECT sum(n) FROM (SELECT {text} AS v, row_number() OVER (ORDER BY b) AS n FROM t) x \
                 WHERE length(v) > 5"
            ),
            9 => format!(
                "SELECT count(*) FROM (SELECT {text} AS v FROM t) x JOIN (SELECT {text} AS w FROM t) y ON v = w"
            ),
            10 => format!("SELECT cardinality(range(1, {count} * 1000)) FROM t"),
            11 => format!("SELECT cardinality(array_repeat(a, {count})) FROM t"),
            12 => format!("SELECT count(*) FROM t x, t y WHERE x.b || y.b || {count} = ''"),
            _ => format!("SELECT length(max({text})) FROM t GROUP BY a % 7 ORDER BY 1 LIMIT 1"),
        }
    }
}

/// The tables that the statements read and write.
const TABLES: &str = "CREATE TABLE t (a INT PRIMARY KEY, b TEXT);
                      CREATE TABLE s (v TEXT);
                      CREATE TABLE w (a INT PRIMARY KEY, b TEXT);
                      INSERT INTO w SELECT i, i || repeat('wide', 250000) FROM generate_series(1, 600) AS g(i);
                      CREATE TABLE d (a INT PRIMARY KEY, g INT, b TEXT);
                      INSERT INTO d SELECT i, i, i || repeat('wide', 250000) FROM generate_series(1, 3000) AS g(i);
                      CREATE TABLE k (a INT PRIMARY KEY, b TEXT);
                      INSERT INTO k SELECT i, repeat('k', 1000000) FROM generate_series(1, 3000) AS g(i);
                      INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 20000) AS g(i)";

const SETTINGS: &str = "SET gadus.memory_limit = '256MiB'; SET statement_timeout = '1s'";

/// The statements of a run, whose seed is printed.
fn statements() -> Vec<String> {
    let seed = number("GADUS_HOSTILE_SEED").unwrap_or(SEED);
    println!("GADUS_HOSTILE_SEED={seed}");
    let mut generator = Generator { random: Random::seeded(seed) };
    let count = number("GADUS_HOSTILE_STATEMENTS").unwrap_or(STATEMENTS);
    (0..count).map(|_| generator.statement()).collect()
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

#[test]
fn no_statement_has_the_program_killed_for_want_of_memory() {
    let group = match Group::make(MEMORY, None) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", TABLES]);
    for statement in statements() {
        let arguments = ["x.gadus", "-c", SETTINGS, "-c", &statement, "-c", "DELETE FROM s"];
        let output = group.start(&folder.gadus(&arguments)).output().unwrap();
        // It ends by itself, whether or not the statement has failed.
        assert!(output.status.code().is_some(), "{}: {statement}", output.status);
        let error = error_of(&output);
        let is_plain = !error.contains("panicked") && !error.contains("broke off");
        assert!(is_plain, "{statement}: {error}");
    }
}

/// The last lines of a text, which say what went on at the end.
fn last(text: &str) -> String {
    let lines = text.lines().collect::<Vec<_>>();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

/// Prints which statements took longest, of those that psql has echoed and timed: each should end within its timeout.
fn tell_longest(printed: &str) {
    let (mut statement, mut times) = ("", Vec::new());
    for line in printed.lines() {
        let time = line.strip_prefix("Time: ").and_then(|time| time.split(' ').next());
        match time.and_then(|time| time.parse::<f64>().ok()) {
            Some(time) => times.push((time, statement)),
            None if line.ends_with(';') => statement = line,
            None => {}
        }
    }
    times.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (time, statement) in times.iter().take(5) {
        println!("{time} ms of 1000: {statement}");
    }
}

/// One server runs all of them, one after the other, and serves others afterwards.
#[test]
fn no_statement_has_the_server_killed_for_want_of_memory() {
    let group = match Group::make(MEMORY, None) {
        Ok(group) => group,
        Err(error) => return println!("skipped: no control group can be made here: {error}"),
    };
    if let Err(error) = Command::new("psql").arg("--version").output() {
        return println!("skipped: psql cannot be started: {error}");
    }
    let folder = Folder::new();
    folder.printed(&["x.gadus", "-c", TABLES]);
    std::fs::create_dir(folder.path("s")).unwrap();
    let mut server = group.start(&folder.gadus(&["serve", "x.gadus", "--listen", "unix:s"]));
    let mut server = server.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("started")), "the server does not start");
    // Drained, so that the server never blocks on a full pipe.
    let said = spawn("said", move || lines.collect::<Vec<_>>()).unwrap();
    let mut script = format!("{SETTINGS};\n\\timing on\n");
    for statement in statements() {
        script += &format!("{statement};\nDELETE FROM s;\n");
    }
    script += "SELECT 'the end', count(*) FROM t;\n";
    std::fs::write(folder.path("script.sql"), script).unwrap();
    let mut psql = Command::new("psql");
    psql.args(["-X", "-q", "-A", "-t", "-e", "-U", "root", "-f", "script.sql", "-h"]);
    let output = psql.arg(folder.path("s")).current_dir(folder.path("")).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    tell_longest(&printed);
    assert!(printed.contains("the end|20000"), "{}\n{}", last(&printed), last(&error_of(&output)));
    let pid = server.id().to_string();
    assert!(Command::new("kill").arg(&pid).status().unwrap().success());
    let ended = server.wait().unwrap();
    let said = said.join().unwrap().join("\n");
    assert!(ended.success() && !said.contains("panicked"), "{ended}: {said}");
}

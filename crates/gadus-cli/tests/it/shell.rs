//! Statements from the command line, scripts and pipes.

use crate::folder::{Folder, error_of};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

const ROWS: &str = "SELECT * FROM (VALUES (1, 'one'), (2, NULL)) AS t(n, name)";

#[test]
fn each_format_is_written() {
    let folder = Folder::new();
    for (format, expected) in [
        (
            "table",
            "┌───┬──────┐\n│ n │ name │\n├───┼──────┤\n│ 1 │ one  │\n│ 2 │ NULL │\n└───┴──────┘\n(2 rows)\n",
        ),
        ("csv", "n,name\n1,one\n2,\n"),
        ("json", "[{\"n\":1,\"name\":\"one\"},{\"n\":2,\"name\":null}]\n"),
        ("jsonl", "{\"n\":1,\"name\":\"one\"}\n{\"n\":2,\"name\":null}\n"),
        ("markdown", "| n | name |\n|---:|---|\n| 1 | one |\n| 2 | NULL |\n"),
    ] {
        assert_eq!(folder.printed(&["--format", format, "-c", ROWS]), expected, "{format}");
    }
    let table = folder.printed(&["-c", ROWS]);
    assert!(table.starts_with('┌'), "the default, also into a pipe");
    let parquet = folder.run(&["--format", "parquet", "-c", ROWS]).stdout;
    assert_eq!((&parquet[..4], &parquet[parquet.len() - 4..]), (&b"PAR1"[..], &b"PAR1"[..]));
    std::fs::write(folder.path("rows.parquet"), parquet).unwrap();
    let counted = "SELECT count(*) AS n FROM 'rows.parquet'";
    assert_eq!(folder.printed(&["--format", "csv", "-c", counted]), "n\n2\n");
    assert!(folder.run(&["--format", "arrow", "-c", ROWS]).stdout.len() > 100);
}

#[test]
fn a_file_keeps_what_was_committed() {
    let folder = Folder::new();
    let create = "CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1), (2)";
    assert_eq!(folder.printed(&["x.gadus", "-c", create]), "", "silent without rows");
    let count = ["x.gadus", "--format", "csv", "-c", "SELECT sum(n) AS s FROM t"];
    assert_eq!(folder.printed(&count), "s\n3\n");
    let refused = folder.refused(&["x.gadus", "--read-only", "-c", "DELETE FROM t"]);
    assert!(refused.contains("reading only"), "{refused}");
    assert_eq!(folder.printed(&count), "s\n3\n");
}

#[test]
fn a_database_in_memory_leaves_no_file() {
    let folder = Folder::new();
    for file in [&[][..], &[":memory:"]] {
        let run =
            [file, &["--format", "csv", "-c", "CREATE TABLE t AS SELECT 1 AS n; SELECT * FROM t"]]
                .concat();
        assert_eq!(folder.printed(&run), "n\n1\n");
    }
    assert!(!folder.path(":memory:").exists());
}

#[test]
fn a_file_with_a_commands_name_is_given_with_its_folder() {
    let folder = Folder::new();
    folder.printed(&["./demo", "-c", "CREATE TABLE t (n BIGINT)"]);
    assert!(folder.path("demo").exists());
}

#[test]
fn a_script_names_the_line_of_its_error_and_stops_there() {
    let folder = Folder::new();
    let script = "-- a script\nCREATE TABLE t (n BIGINT);\n\nINSERT INTO t VALUES (1);\n\
                  /* here\n*/ SELECT *\n  FROM missing;\nINSERT INTO t VALUES (2);\n";
    std::fs::write(folder.path("script.sql"), script).unwrap();
    let error = folder.refused(&["x.gadus", "-f", "script.sql"]);
    assert!(error.starts_with("error: script.sql, line 6: "), "{error}");
    let count =
        folder.printed(&["x.gadus", "--format", "csv", "-c", "SELECT count(*) AS n FROM t"]);
    assert_eq!(count, "n\n1\n");
    let error = folder.refused(&["-c", "SELEKT 1"]);
    assert!(error.starts_with("error: syntax error"), "{error}");
    let output = folder.piped(&[], "SELECT 1;\n\nSELECT\n  1 1 1;\n");
    let error = error_of(&output);
    assert!(
        error.starts_with("error: line 3: syntax error at or near \"1\"\nLINE 2:   1 1 1"),
        "{error}"
    );
    assert!(folder.refused(&["-f", "nowhere.sql"]).contains("cannot read nowhere.sql"));
}

#[test]
fn a_script_is_piped_in_with_commands_between_its_statements() {
    let folder = Folder::new();
    std::fs::write(folder.path("in.csv"), "id,name\n1,Ada\n2,Grace\n").unwrap();
    std::fs::write(folder.path("more.sql"), "SELECT 'read' AS word;\n").unwrap();
    let script = ".mode csv\nCREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT);\n\
                  .import in.csv people\n.tables\n.schema people\n\
                  SELECT name FROM people\n  ORDER BY id;\n.read more.sql\n\
                  .output 'out file.csv'\nSELECT 7 AS seven;\n.output\n.quit\nSELECT 'never';\n";
    let output = folder.piped(&["x.gadus"], script);
    assert!(output.status.success(), "{}", error_of(&output));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "people\nCREATE TABLE people (\n    id BIGINT NOT NULL,\n    name TEXT,\n    \
         PRIMARY KEY (id)\n);\nname\nAda\nGrace\nword\nread\n"
    );
    assert_eq!(std::fs::read_to_string(folder.path("out file.csv")).unwrap(), "seven\n7\n");
}

#[test]
fn a_plan_keeps_its_lines() {
    let explained = |how: &str| {
        let text = format!("{how} SELECT count(*) FROM range(3)");
        let printed = Folder::new().printed(&["-c", &text]);
        assert!(!printed.contains("\\n") && !printed.contains('│'), "{printed}");
        printed
    };
    assert!(explained("EXPLAIN").starts_with("ProjectionExec: "));
    assert!(explained("EXPLAIN VERBOSE").contains("initial_logical_plan\n"));
    assert!(explained("EXPLAIN ANALYZE").trim_end().ends_with("written"));
    let page = explained("EXPLAIN (ANALYZE, FORMAT html)");
    assert!(page.starts_with("<!doctype html>\n"), "{page}");
}

#[test]
fn an_import_makes_a_missing_table() {
    let folder = Folder::new();
    std::fs::write(folder.path("in.csv"), "id,name\n1,Ada\n2,Grace\n").unwrap();
    let script = ".import in.csv people\n.mode csv\nSELECT count(*) AS n FROM people;\n";
    let output = folder.piped(&[], script);
    assert_eq!(
        String::from_utf8(output.stdout.clone()).unwrap(),
        "n\n2\n",
        "{}",
        error_of(&output)
    );
}

#[test]
fn wrong_commands_are_explained() {
    let folder = Folder::new();
    for (command, expected) in [
        (".table", "did you mean .tables?"),
        (".frobnicate", ".help lists them"),
        (".mode xml", "formats are table, csv"),
        (".timing perhaps", "use: .timing on|off"),
        (".read nowhere.sql", "cannot read nowhere.sql"),
        (".schema nowhere", "does not exist"),
    ] {
        let output = folder.piped(&[], command);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(error_of(&output).contains(expected), "{command}: {}", error_of(&output));
    }
    assert!(String::from_utf8(folder.piped(&[], ".help").stdout).unwrap().contains(".import"));
}

#[test]
fn a_timeout_is_an_error_of_the_statement() {
    let folder = Folder::new();
    let endless = "SELECT count(*) FROM range(10000000000) a, range(1000) b";
    let error = folder.refused(&["-c", "SET statement_timeout = '50ms'", "-c", endless]);
    assert!(error.contains("canceling statement due to statement timeout (50 ms)"), "{error}");
}

#[test]
fn what_cannot_be_opened_is_explained() {
    let folder = Folder::new();
    assert!(folder.refused(&["no/such/x.gadus", "-c", "SELECT 1"]).contains("no such folder"));
    assert!(folder.refused(&[".", "-c", "SELECT 1"]).contains("folder"));
    std::fs::write(folder.path("letter.txt"), "Dear Ada,".repeat(2000)).unwrap();
    assert!(folder.refused(&["letter.txt", "-c", "SELECT 1"]).contains("letter.txt"));
}

#[test]
fn help_and_version_are_given() {
    let folder = Folder::new();
    assert!(folder.printed(&["--version"]).starts_with("gadus "));
    assert!(folder.printed(&["--help"]).contains("gadus shop.gadus"));
    for command in ["bookings", "check", "demo", "tpch"] {
        assert!(folder.printed(&[command, "--help"]).contains("Example"), "{command}");
    }
}

#[test]
fn an_interrupt_ends_a_running_command_with_130() {
    let folder = Folder::new();
    let endless = "SELECT count(*) FROM range(10000000) AS a, range(10000000) AS b \
                   WHERE a.value * b.value = 7";
    // The statement that tells it has begun, then the one that does not end.
    let mut command = folder.gadus(&["--format", "csv"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Ended(command.spawn().unwrap());
    let mut input = child.0.stdin.take().unwrap();
    writeln!(input, "SELECT 'begun' AS word;\n{endless};").unwrap();
    drop(input);
    let mut output = BufReader::new(child.0.stdout.take().unwrap());
    let mut line = String::new();
    while line != "begun\n" {
        line.clear();
        assert!(output.read_line(&mut line).unwrap() > 0);
    }
    let pid = rustix::process::Pid::from_child(&child.0);
    // The first cancels the statement; the second ends the program, whatever it does.
    let status = loop {
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        if let Some(status) = child.0.try_wait().unwrap() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(130));
}

/// A process that does not outlive a test that fails.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It has ended by itself where the test passed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn tables_of_an_open_transaction_are_listed() {
    let folder = Folder::new();
    let script = "CREATE TABLE a (id BIGINT);\nBEGIN;\nCREATE TABLE b (id BIGINT);\n.tables\nROLLBACK;\n.tables\n";
    let output = folder.piped(&[], script);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a\nb\na\n");
}

#[test]
fn several_commands_run_in_order_up_to_the_first_error() {
    let folder = Folder::new();
    let words =
        ["--format", "csv", "-c", "SELECT 1 AS a", "-c", "SELECT nothing", "-c", "SELECT 2"];
    let output = folder.run(&words);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "a\n1\n");
}

#[test]
fn rows_that_a_copy_leaves_out_are_told_of() {
    let folder = Folder::new();
    std::fs::write(folder.path("t.csv"), "n\n1\nx\n2\n").unwrap();
    let words = ["-c", "CREATE TABLE t (n BIGINT); COPY t FROM 't.csv' (ON_ERROR ignore)"];
    let output = folder.run(&words);
    assert_eq!(error_of(&output), "notice: t.csv: 1 row was left out that cannot be read\n");
    let refused = folder.refused(&["-c", "CREATE TABLE t (n BIGINT); COPY t FROM 't.csv'"]);
    assert!(refused.contains("t.csv: line 3, column \"n\": 'x' is no BIGINT"), "{refused}");
}

//! INSERT, UPDATE, DELETE, COPY: what they change, and that they change nothing else.

use super::shell;
use crate::support::Shell;
use gadus_engine::ErrorKind;

fn numbers() -> Shell {
    let shell = shell();
    shell.run("CREATE TABLE t (id BIGINT PRIMARY KEY, v INTEGER, s TEXT DEFAULT 'none')");
    shell.run("INSERT INTO t SELECT value, value % 10, 's' || value FROM generate_series(1, 1000)");
    shell.run("CREATE TABLE u (id BIGINT)");
    shell.run("INSERT INTO u VALUES (5), (6), (2000)");
    shell
}

#[test]
fn delete_obeys_subqueries_and_false_filters() {
    let shell = numbers();
    assert_eq!(shell.run("DELETE FROM t WHERE 1 = 0"), "0");
    assert_eq!(shell.run("DELETE FROM t WHERE id IN (SELECT id FROM u)"), "2");
    assert_eq!(
        shell.run("DELETE FROM t WHERE v = 1 AND EXISTS (SELECT 1 FROM u WHERE u.id = t.id)"),
        "0"
    );
    assert_eq!(shell.run("DELETE FROM t WHERE id > (SELECT avg(id) FROM u) + 300"), "30");
    assert_eq!(
        shell.run("DELETE FROM t AS x WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id < x.id)"),
        "4"
    );
    assert_eq!(shell.run("SELECT count(*) FROM t"), "964");
    assert_eq!(shell.run("DELETE FROM t"), "964");
    assert_eq!(shell.run("SELECT count(*) FROM t"), "0");
}

#[test]
fn update_obeys_subqueries_and_false_filters() {
    let shell = numbers();
    assert_eq!(shell.run("UPDATE t SET v = -1 WHERE 1 = 0"), "0");
    assert_eq!(shell.run("UPDATE t SET v = -1 WHERE id IN (SELECT id FROM u)"), "2");
    assert_eq!(
        shell.run("UPDATE t SET v = (SELECT max(id) FROM u), s = DEFAULT WHERE id = 7"),
        "1"
    );
    assert_eq!(
        shell.run("SELECT id, v, s FROM t WHERE v = -1 OR v > 10 ORDER BY id"),
        "5|-1|s5\n6|-1|s6\n7|2000|none"
    );
    assert_eq!(shell.run("UPDATE t SET v = v + 1, s = s || '!' WHERE id <= 2"), "2");
    assert_eq!(shell.run("SELECT v, s FROM t WHERE id = 2"), "3|s2!");
    shell.engine().fold().unwrap();
    assert_eq!(shell.run("SELECT v, s FROM t WHERE id = 2"), "3|s2!");
    assert_eq!(shell.run("SELECT id FROM t WHERE s = 's2!'"), "2");
}

#[test]
fn keys_may_move_within_one_statement() {
    let shell = numbers();
    assert_eq!(shell.run("UPDATE t SET id = id + 1"), "1000");
    assert_eq!(shell.run("SELECT min(id), max(id), count(*) FROM t"), "2|1001|1000");
    assert_eq!(shell.run("SELECT s FROM t WHERE id = 1001"), "s1000");
    assert_eq!(shell.run("SELECT s FROM t WHERE id = 1"), "");
    let (kind, _) = shell.fails("UPDATE t SET id = 5 WHERE id = 6");
    assert_eq!(kind, ErrorKind::UniqueViolation);
    assert_eq!(shell.run("SELECT count(*) FROM t"), "1000");
}

#[test]
fn a_failed_insert_inserts_nothing() {
    let shell = numbers();
    let (kind, _) = shell.fails("INSERT INTO t (id, v) VALUES (5000, 1), (5001, 2), (5000, 3)");
    assert_eq!(kind, ErrorKind::UniqueViolation);
    let (kind, _) = shell.fails("INSERT INTO t (id, v) SELECT id + 7000, 1 / (id - 6) FROM u");
    assert_eq!(kind, ErrorKind::OutOfRange);
    let (kind, _) = shell.fails("INSERT INTO t (id, v) SELECT 8000 + id, 3000000000 FROM u");
    assert_eq!(kind, ErrorKind::OutOfRange);
    assert_eq!(shell.run("SELECT count(*) FROM t"), "1000");
    assert_eq!(shell.run("INSERT INTO t (id) VALUES (5000)"), "1");
    assert_eq!(shell.run("SELECT v, s FROM t WHERE id = 5000"), "NULL|none");
}

#[test]
fn bulk_loads_make_segments_that_answer_like_rows() {
    let shell = shell();
    let rows = shell.run(
        "CREATE TABLE big AS SELECT value AS id, value % 7 AS k, 'name' || (value % 1000) AS s, \
         CASE WHEN value % 3 = 0 THEN NULL ELSE value END AS n \
         FROM generate_series(1, 200000)",
    );
    assert_eq!(rows, "200000");
    let queries = [
        "SELECT count(*), sum(id), count(n), sum(n) FROM big",
        "SELECT count(*), sum(id) FROM big WHERE s = 'name77'",
        "SELECT count(*), min(id), max(id) FROM big WHERE k = 3 AND id > 100000",
        "SELECT count(*) FROM big WHERE n IS NULL",
    ];
    let before = queries.map(|query| shell.run(query));
    assert_eq!(before[0], "200000|20000100000|133334|13333466667");
    assert_eq!(before[3], "66666");
    assert_eq!(shell.run("UPDATE big SET k = 100 WHERE s = 'name77'"), "200");
    assert_eq!(shell.run("SELECT count(*) FROM big WHERE k = 100"), "200");
    assert_eq!(shell.run("SELECT count(*) FROM big WHERE k = 100 AND s = 'name77'"), "200");
    assert_eq!(
        shell.run("SELECT k, count(*) FROM big WHERE k > 5 GROUP BY k ORDER BY k"),
        "6|28542\n100|200"
    );
    assert_eq!(queries.map(|query| shell.run(query))[1], before[1]);
    shell.engine().fold().unwrap();
    assert_eq!(
        shell.run("SELECT k, count(*) FROM big WHERE k > 5 GROUP BY k ORDER BY k"),
        "6|28542\n100|200"
    );
}

#[test]
fn keys_of_a_bulk_load_are_unique() {
    let shell = shell();
    shell.run("CREATE TABLE k (id BIGINT PRIMARY KEY)");
    let (kind, message) =
        shell.fails("INSERT INTO k SELECT value % 99999 FROM generate_series(1, 100000)");
    assert_eq!(kind, ErrorKind::UniqueViolation, "{message}");
    assert_eq!(shell.run("SELECT count(*) FROM k"), "0");
    shell.run("INSERT INTO k SELECT value FROM generate_series(1, 100000)");
    let (kind, _) = shell.fails("INSERT INTO k SELECT value FROM generate_series(99990, 200000)");
    assert_eq!(kind, ErrorKind::UniqueViolation);
    let (kind, _) = shell.fails("INSERT INTO k VALUES (77777)");
    assert_eq!(kind, ErrorKind::UniqueViolation);
    assert_eq!(shell.run("SELECT count(*) FROM k"), "100000");
    assert_eq!(shell.run("SELECT id FROM k WHERE id = 65536"), "65536");
}

#[test]
fn copy_writes_and_reads_files() {
    let shell = numbers();
    // Of its own: the suite runs on several engines at the same time.
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["t.parquet", "t.csv"] {
        let file = path(name);
        assert_eq!(shell.run(&format!("COPY t TO '{file}'")), "1000");
        shell.run("CREATE TABLE c (id BIGINT PRIMARY KEY, v INTEGER, s TEXT)");
        assert_eq!(shell.run(&format!("COPY c FROM '{file}'")), "1000");
        assert_eq!(shell.run("SELECT count(*), sum(v), min(s) FROM c"), "1000|4500|s1");
        assert_eq!(shell.run(&format!("SELECT count(*) FROM '{file}' WHERE v = 3")), "100");
        shell.run("DROP TABLE c");
    }
    let glob = path("*.parquet");
    assert_eq!(shell.run(&format!("SELECT sum(id) FROM read_parquet('{glob}')")), "500500");
    std::fs::write(path("bad.csv"), "id,v,s\n1,2,x\n2,three,y\n").unwrap();
    let (kind, message) = shell.fails(&format!("COPY t FROM '{}'", path("bad.csv")));
    assert_eq!(kind, ErrorKind::Input);
    assert!(message.contains("bad.csv") && message.contains("three"), "{message}");
    let (kind, _) = shell.fails(&format!("COPY t FROM '{}'", path("none.csv")));
    assert_eq!(kind, ErrorKind::NotFound);
    assert_eq!(shell.run("SELECT count(*) FROM t"), "1000");
}

#[test]
fn bytes_are_written_as_hexadecimal_digits() {
    let shell = shell();
    shell.run("CREATE TABLE b (id BIGINT PRIMARY KEY, data BYTEA)");
    shell.run("INSERT INTO b VALUES (1, '\\x0102ff'), (3, 'plain'), (4, '\\x'), (5, NULL)");
    shell.run("INSERT INTO b VALUES (2, X'00')");
    shell.run("INSERT INTO b SELECT 6, '\\x' || '616A'");
    shell.run("INSERT INTO b VALUES (7, '\\xAB')");
    let all = "SELECT id, data FROM b ORDER BY id";
    assert_eq!(shell.run(all), "1|0102ff\n2|00\n3|706c61696e\n4|\n5|NULL\n6|616a\n7|ab");
    assert_eq!(shell.run("SELECT id FROM b WHERE data = '\\x0102FF'"), "1");
    assert_eq!(shell.run("SELECT id FROM b WHERE data IN ('\\x00', '\\xab') ORDER BY id"), "2\n7");
    assert_eq!(shell.run("SELECT '\\x6162'::BYTEA, CAST('ab' AS BYTEA)"), "6162|6162");
    assert_eq!(shell.run("UPDATE b SET data = '\\x09' WHERE id = 3"), "1");
    assert_eq!(shell.run("SELECT data FROM b WHERE id = 3"), "09");
    // As text they are the text.
    assert_eq!(shell.run("SELECT '\\x6162'"), "\\x6162");
    for wrong in ["'\\x012'", "'\\xzz'", "'\\x+1'"] {
        assert_eq!(shell.fails(&format!("INSERT INTO b VALUES (9, {wrong})")).0, ErrorKind::Input);
        assert_eq!(shell.fails(&format!("SELECT {wrong}::BYTEA")).0, ErrorKind::Input);
    }
}

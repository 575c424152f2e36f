"""psql and pgbench, as they come with PostgreSQL."""

import getpass
import subprocess
from pathlib import Path

import pytest
from conftest import PASSWORD, Server, gadus, program, run, start, tool


def psql(server: Server, *commands: str, fails: bool = False) -> str:
    arguments = [part for command in commands for part in ("-c", command)]
    return run("psql", *server.arguments, "-X", "-At", *arguments, "shop", fails=fails)


def test_statements_and_their_tags(server: Server):
    printed = psql(
        server,
        "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, price DECIMAL(8,2), at TIMESTAMP)",
        "INSERT INTO t VALUES (1, 'a', 1.5, '2024-01-02 03:04:05'), (2, NULL, NULL, NULL)",
        "SELECT * FROM t ORDER BY id",
        "UPDATE t SET name = 'b' WHERE id = 2",
        "DELETE FROM t WHERE id = 1",
        "CREATE TABLE u AS SELECT * FROM t",
        "DROP TABLE u",
        "SELECT 1; SELECT 2",
        "",
    )
    assert printed.splitlines() == [
        "CREATE TABLE",
        "INSERT 0 2",
        "1|a|1.50|2024-01-02 03:04:05",
        "2|||",
        "UPDATE 1",
        "DELETE 1",
        "SELECT 1",
        "DROP TABLE",
        "1",
        "2",
    ]


def test_statements_by_name(server: Server):
    printed = psql(
        server,
        "CREATE TABLE t (id INT, name TEXT)",
        """PREPARE add (int, text) AS INSERT INTO t VALUES ($1, $2) RETURNING id;
        EXECUTE add (1, 'one'); EXECUTE add (2, 'two')""",
        "PREPARE named AS SELECT count(*), max(name) FROM t WHERE id >= $1; EXECUTE named (2); DEALLOCATE named",
        "EXECUTE add (3, NULL)",
        "DEALLOCATE ALL",
    )
    assert printed.splitlines() == [
        *["CREATE TABLE", "PREPARE", "1", "INSERT 0 1", "2", "INSERT 0 1"],
        *["PREPARE", "1|two", "DEALLOCATE", "3", "INSERT 0 1", "DEALLOCATE ALL"],
    ]
    headed = run("psql", *server.arguments, "-X", "-c", "PREPARE q AS SELECT count(*) FROM t; EXECUTE q", "shop")
    assert "count" in headed and "(*)" not in headed
    unknown = run("psql", *server.arguments, "-X", "-v", "VERBOSITY=verbose", "-c", "EXECUTE q", "shop", fails=True)
    assert "26000" in unknown and 'prepared statement "q" does not exist' in unknown


def test_transactions_fail_whole(server: Server):
    psql(server, "CREATE TABLE t (id INT PRIMARY KEY)")
    # Of one text, all or nothing.
    psql(server, "INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)", fails=True)
    assert psql(server, "SELECT count(*) FROM t") == "0\n"
    script = """
        BEGIN;
        INSERT INTO t VALUES (1);
        SAVEPOINT a;
        INSERT INTO t VALUES (1);
        SELECT 1;
        ROLLBACK TO a;
        INSERT INTO t VALUES (2);
        COMMIT;
        BEGIN;
        SELECT 1/0;
        COMMIT;
        COMMIT;
    """
    printed = run("psql", *server.arguments, "-X", "-At", "shop", text=script)
    assert "ERROR:  current transaction is aborted" in printed
    assert "WARNING:  there is no transaction in progress" in printed
    assert printed.split().count("ROLLBACK") == 2
    assert psql(server, "SELECT id FROM t ORDER BY id") == "1\n2\n"


def test_errors_have_codes_and_places(server: Server):
    settings = ["-X", "-v", "VERBOSITY=verbose"]
    for statement, code in [
        ("SELECT * FROM nowhere", "42P01"),
        ("SELECT nothing FROM (SELECT 1 AS a) AS t", "42703"),
        ("SELECT nofunction(1)", "42883"),
        ("SELEC 1", "42601"),
        ("SELECT 1/0", "22012"),
        ("SELECT CAST('x' AS INT)", "22P02"),
        ("SELECT * FROM read_csv('/etc/passwd')", "42501"),
        ("COPY (SELECT 1) TO 'x.csv'", "42501"),
        ("SET nothing = 1", "42704"),
        ('SELECT * FROM "gadus.users"', "42P01"),
        ('DELETE FROM "gadus.users"', "42000"),
    ]:
        printed = run("psql", *server.arguments, *settings, "-c", statement, "shop", fails=True)
        assert f"ERROR:  {code}:" in printed, printed
    printed = psql(server, "SELECT 1 FORM x y", fails=True)
    assert "LINE 1: SELECT 1 FORM x y\n                      ^" in printed, printed


def test_copy_there_and_back(server: Server, tmp_path):
    psql(server, "CREATE TABLE t (id INT PRIMARY KEY, name TEXT, data BYTEA, ok BOOLEAN DEFAULT true)")
    psql(server, "INSERT INTO t SELECT id, name, data, ok FROM (VALUES "
         "(1, 'a' || chr(9) || 'b' || chr(92) || 'c' || chr(10), decode('00ff', 'hex'), false), "
         "(2, NULL, NULL, NULL), (3, '', decode('', 'hex'), true)) AS v (id, name, data, ok)")
    whole = psql(server, "SELECT id, name IS NULL, encode(data, 'hex'), ok FROM t ORDER BY id")
    for form in ["", "(FORMAT csv, HEADER)", "(FORMAT csv, DELIMITER ';', NULL 'nil', QUOTE '''')"]:
        path = tmp_path / "t.txt"
        copied = psql(server, f"\\copy (SELECT * FROM t ORDER BY id) TO '{path}' {form}")
        assert copied == "COPY 3\n"
        psql(server, "CREATE TABLE u AS SELECT * FROM t WHERE false")
        assert psql(server, f"\\copy u FROM '{path}' {form}") == "COPY 3\n"
        assert psql(server, "SELECT id, name IS NULL, encode(data, 'hex'), ok FROM u ORDER BY id") == whole
        assert psql(server, "SELECT count(*) FROM t JOIN u ON t.name = u.name") == "2\n"
        psql(server, "DROP TABLE u")
    wrong = tmp_path / "wrong.txt"
    wrong.write_text("7\n8\n9\tx\n")
    printed = psql(server, f"\\copy t (id) FROM '{wrong}'", fails=True)
    assert "extra data after last expected column, in line 3" in printed
    assert psql(server, "SELECT count(*) FROM t WHERE id > 3") == "0\n"
    wrong.write_text("7\n8\n")
    assert psql(server, f"\\copy t (id) FROM '{wrong}'") == "COPY 2\n"
    assert psql(server, "SELECT ok FROM t WHERE id = 7") == "t\n"


def test_passwords(server: Server, monkeypatch):
    over_tcp = ["-h", "127.0.0.1", "-p", str(server.port), "-X", "-At", "-c", "SELECT 1", "shop"]
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert run("psql", "-U", "ada", *over_tcp) == "1\n"
    monkeypatch.setenv("PGPASSWORD", "wrong")
    ada = run("psql", "-U", "ada", *over_tcp, fails=True)
    nobody = run("psql", "-U", "nobody", *over_tcp, fails=True)
    assert 'password authentication failed for user "ada"' in ada
    assert nobody == ada.replace("ada", "nobody")
    gadus(str(server.file), "-c", "ALTER USER ada PASSWORD 'wrong'")
    assert run("psql", "-U", "ada", *over_tcp) == "1\n"
    gadus(str(server.file), "-c", "DROP USER ada")
    assert "failed" in run("psql", "-U", "ada", *over_tcp, fails=True)
    # On the Unix socket nobody is somebody else.
    other = ["-h", str(server.folder), "-U", f"not{getpass.getuser()}", "-c", "SELECT 1", "shop"]
    assert "cannot be the user" in run("psql", *other, fails=True)


@pytest.mark.parametrize("mode", ["simple", "extended", "prepared"])
def test_pgbench(server: Server, mode: str):
    run("pgbench", *server.arguments, "-i", "-s", "1", "shop")
    printed = run("pgbench", *server.arguments, "-M", mode, "-c", "8", "-j", "2", "-t", "50", "shop")
    assert "number of transactions actually processed: 400/400" in printed
    assert "number of failed transactions: 0 " in printed
    sums = "SELECT (SELECT sum(abalance) FROM pgbench_accounts) = (SELECT sum(delta) FROM pgbench_history)"
    assert psql(server, sums) == "t\n"
    printed = run("pgbench", *server.arguments, "-S", "-M", mode, "-c", "8", "-t", "200", "shop")
    assert "number of failed transactions: 0 " in printed


def test_describing(server: Server):
    """The commands that show the schema, which ask the catalog."""
    psql(
        server,
        "CREATE TABLE people (id INT PRIMARY KEY, name TEXT NOT NULL DEFAULT 'x', price DECIMAL(8, 2))",
        "CREATE TABLE notes (text TEXT)",
        "CREATE FUNCTION more(n INT) RETURNS BIGINT LANGUAGE sql AS 'SELECT n + 1'",
    )
    listed = run("psql", *server.arguments, "-X", "-At", "-c", "\\dt", "shop")
    assert listed.splitlines() == ["main|notes|table|gadus", "main|people|table|gadus"]
    described = run("psql", *server.arguments, "-X", "-c", "\\d people", "shop")
    for line in [
        'Table "main.people"',
        " id     | integer      |           | not null |",
        " name   | text         |           | not null | 'x'",
        " price  | numeric(8,2) |           |          |",
        '    "people_pkey" PRIMARY KEY, btree (id)',
    ]:
        assert line in described, described
    nobody = run("psql", *server.arguments, "-X", "-c", "\\d nobody", "shop", fails=True)
    assert 'Did not find any relation named "nobody"' in nobody
    commands = """d d+ d+_people di di+ dn dn+ du df l l+ dv ds dT dT+ df+ sf_more dx dp dt+ db dC dD des dm dO dy dRp dg
        do dc dE dF dL ddp dA dP dX"""
    for command in commands.split():
        words = command.replace("_", " ")
        printed = run("psql", *server.arguments, "-X", "-c", f"\\{words}", "shop")
        assert "ERROR" not in printed, f"{words}: {printed}"


def test_enumerations(server: Server):
    """Types are told as PostgreSQL tells of them, and values travel as texts in every way."""
    script = """
        CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
        COMMENT ON TYPE mood IS 'how it is';
        CREATE TABLE t (id INT, m mood DEFAULT 'ok');
        INSERT INTO t (id) VALUES (1);
        COPY t FROM STDIN;
2\thappy
\\.
        COPY t FROM STDIN (FORMAT csv);
3,x
\\.
        SELECT id, m FROM t ORDER BY id \\gdesc
        SELECT id, m FROM t ORDER BY id;
        COPY (SELECT m FROM t ORDER BY id) TO STDOUT;
        PREPARE q AS SELECT id FROM t WHERE m = $1;
        EXECUTE q ('happy');
        EXECUTE q ('x');
        \\dT
        \\dT+
        \\d t
        DROP TYPE mood;
    """
    printed = run("psql", *server.arguments, "-X", "-At", "-v", "VERBOSITY=verbose", "shop", text=script)
    for line in [
        'invalid input value for enum mood: "x"',
        "22P02",
        "m|mood",
        "2|happy",
        "main|mood|how it is",
        "sad\nok\nhappy",
        "m|mood||",
        "2BP01",
    ]:
        assert line in printed, f"{line}: {printed}"


def test_savepoints_of_one_transaction_are_not_of_the_next(server: Server):
    """What a transaction that has failed has locked is free at once."""
    psql(server, "CREATE TABLE t (id INT PRIMARY KEY)")
    script = """
        BEGIN; SAVEPOINT a; COMMIT;
        BEGIN;
        INSERT INTO t VALUES (1);
        SELECT 1/0;
        \\! psql -X -h {folder} -U {user} -c "INSERT INTO t VALUES (1)" shop
        ROLLBACK TO a;
        ROLLBACK;
    """.format(folder=server.folder, user=getpass.getuser())
    printed = run("psql", *server.arguments, "-X", "-At", "shop", text=script)
    assert "INSERT 0 1\nINSERT 0 1\n" in printed and "no savepoint" in printed, printed
    assert psql(server, "SELECT count(*) FROM t") == "1\n"


def test_passwords_are_changed_by_psql(server: Server, monkeypatch):
    """It asks at the terminal; where there is none, it reads its input."""
    done = subprocess.run(
        [tool("psql"), *server.arguments, "-X", "-c", "\\password ada", "shop"],
        input="new\nnew\n", capture_output=True, text=True, timeout=60, start_new_session=True,
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.setenv("PGPASSWORD", "new")
    address = ["-h", "127.0.0.1", "-p", str(server.port), "-U", "ada", "-X", "-At"]
    assert run("psql", *address, "-c", "SELECT 1", "shop") == "1\n"


def test_names_of_columns(server: Server):
    query = """SELECT count(*), max(a) AS most, 1, a + 1, a::TEXT, 1::BIGINT, 'x', coalesce(a, 2), (SELECT min(b) FROM (SELECT 3 AS b) AS u),
        CASE WHEN a = 1 THEN 2 END, "A b" FROM (SELECT 1 AS a, 2 AS "A b") AS t GROUP BY a, "A b" """
    printed = run("psql", *server.arguments, "-X", "--csv", "-c", query, "shop")
    names = "count,most,?column?,?column?,a,int8,?column?,coalesce,min,case,A b"
    assert printed.splitlines()[0] == names


def test_files_are_reached_beneath_a_granted_folder(tmp_path: Path):
    exchange = tmp_path / "exchange"
    exchange.mkdir()
    (exchange / "new.csv").write_text("a,b\n1,x\n2,y\n")
    server = start(tmp_path, "--files", str(exchange))
    printed = psql(
        server,
        "CREATE TABLE t (a INT, b TEXT)",
        "COPY t FROM 'new.csv'",
        "COPY (SELECT * FROM t WHERE a > 1) TO 'out.parquet'",
        "SELECT a, b FROM 'out.parquet'",
    )
    assert printed.splitlines() == ["CREATE TABLE", "COPY 2", "COPY 1", "2|y"]
    for statement in ("COPY t FROM '../shop.gadus' (FORMAT csv)", "SELECT * FROM '/etc/x.csv'"):
        refused = psql(server, r"\set VERBOSITY verbose", statement, fails=True)
        assert "42501" in refused, refused
    assert server.stop() == 0


def test_rows_that_a_copy_leaves_out_are_a_notice(tmp_path: Path):
    (tmp_path / "new.csv").write_text("a\n1\nx\n")
    server = start(tmp_path, "--files", str(tmp_path))
    text = "CREATE TABLE t (a INT); COPY t FROM 'new.csv' (ON_ERROR ignore)"
    command = ["psql", *server.arguments, "-X", "-q", "-c", text, "shop"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    assert told == "NOTICE:  new.csv: 1 row was left out that cannot be read\n"
    assert server.stop() == 0


def test_a_folder_that_is_not_there_is_not_granted(tmp_path: Path):
    command = [program(), "serve", str(tmp_path / "x.gadus"), "--files", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "--files" in done.stderr

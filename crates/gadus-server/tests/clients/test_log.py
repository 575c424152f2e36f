"""What the server says of itself, and that nobody waits for who reads it."""

import json
import os
import signal
import subprocess
from pathlib import Path

import psycopg
import pytest
from conftest import PASSWORD, Server, program, start
from wire import Wire

ENDLESS = "SELECT count(*) FROM generate_series(1, 100000000) AS a (n), generate_series(1, 1000) AS b (m) WHERE n % 7 = m % 5"


def events(server: Server) -> list[dict]:
    """All that it has said, once it is gone."""
    assert server.process.poll() is not None
    server.reader.join(60)
    return [json.loads(line) for line in server.lines]


def saying(server: Server, message: str) -> list[dict]:
    return [event for event in events(server) if event["message"] == message]


def test_events_are_json(tmp_path: Path):
    server = start(tmp_path, "--log-format", "json", "--log-level", "debug", "--tls", "offered")
    with psycopg.connect(server.url, sslmode="require") as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT *\nFROM nowhere WHERE id = %s", ["no secret"])
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(server.url.replace("ada:", "bob%22%0A:"), sslmode="disable")
    assert server.stop() == 0
    for event in events(server):
        assert event["level"] in ("INFO", "WARN", "DEBUG"), event
        assert event["timestamp"].endswith("Z")
    assert saying(server, "started")[0]["pid"] == server.process.pid
    assert events(server)[-1]["message"] == "stopped"
    (opened,) = saying(server, "connection opened")
    assert (opened["user"], opened["database"], opened["encrypted"]) == ("ada", "shop", True)
    assert opened["peer"].startswith("127.0.0.1:")
    (closed,) = saying(server, "connection closed")
    assert closed["peer"] == opened["peer"] and closed["seconds"] > 0
    (failed,) = saying(server, "authentication failed")
    assert (failed["level"], failed["user"], failed["code"]) == ("WARN", 'bob"\n', "28P01")
    assert failed["encrypted"] is False
    (failed,) = saying(server, "statement failed")
    assert (failed["level"], failed["user"], failed["code"]) == ("DEBUG", "ada", "42P01")
    assert failed["statement"] == "SELECT *\nFROM nowhere WHERE id = $1"
    assert "no secret" not in "".join(server.lines)


def test_levels(tmp_path: Path):
    server = start(tmp_path)
    with psycopg.connect(server.url) as connection:
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nowhere")
    server.wait_for(r' INFO connection closed user="ada" peer=127\.0\.0\.1:\d+ seconds=')
    assert server.stop() == 0
    server.reader.join(60)
    said = "".join(server.lines)
    assert "connection opened" in said and "statement failed" not in said and PASSWORD not in said
    command = [program(), "serve", str(server.file), "--listen", f"unix:{tmp_path / 'other'}"]
    for arguments, environment, expected in [
        (["--log-level", "debug"], "error", "listens at"),
        ([], "warn", ""),
        ([], "Loud", "GADUS_LOG is 'Loud'"),
    ]:
        process = subprocess.Popen(
            [*command, *arguments], stderr=subprocess.PIPE, text=True, env={**os.environ, "GADUS_LOG": environment}
        )
        if expected:
            assert expected in process.stderr.readline()
        else:
            # It is there once its socket is, and says nothing.
            while not (tmp_path / "other").exists():
                assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=60)[1]
        assert expected or not said, said


def test_failures_are_events_too(tmp_path: Path):
    command = [program(), "serve", str(tmp_path / "no" / "shop.gadus"), "--log-format", "json"]
    failed = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert failed.returncode == 1
    (line,) = failed.stderr.splitlines()
    assert json.loads(line)["level"] == "ERROR"


def test_passwords_are_not_said(tmp_path: Path):
    server = start(tmp_path, "--log-format", "json", "--log-level", "debug")
    with psycopg.connect(server.url, autocommit=True) as connection:
        for statement in [
            "CREATE USER ada PASSWORD 'hidden1'",
            "CREATE USER bob PASSWORD 'hidden2' nonsense",
            "CREATE USER bob PASSWORD hidden3",
            "CREATE USER bob PASSWORD 'hidden4",
        ]:
            with pytest.raises(psycopg.Error):
                connection.execute(statement)
    assert server.stop() == 0
    failed = saying(server, "statement failed")
    assert len(failed) == 4
    assert failed[0]["statement"] == "CREATE USER ada PASSWORD '…'"
    said = "".join(server.lines)
    for number in (1, 2, 4):
        assert f"hidden{number}" not in said


def test_slow_statements(tmp_path: Path):
    server = start(tmp_path, "--log-format", "json", "--slow-statement", "0s")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
        connection.execute("INSERT INTO t VALUES (%s, %s), (2, 'shown')", [1, "unshown"])
        connection.execute("SELECT * FROM t")
        connection.execute("SELECT * FROM t; SELECT * FROM t WHERE id = 1")
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            copy.write("3\tunshown\n")
        connection.execute("ALTER USER ada PASSWORD 'unshown'")
        with pytest.raises(psycopg.errors.UndefinedColumn):
            connection.execute("SELECT unknown FROM t WHERE id = %s", [1])
        connection.execute(f"SELECT 1 -- {'ü' * 1000}")
    assert server.stop() == 0
    slow = saying(server, "slow statement")
    assert [(event["statement"], event.get("rows"), event.get("code")) for event in slow] == [
        ("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)", 0, None),
        ("INSERT INTO t VALUES ($1, $2), (2, 'shown')", 2, None),
        ("SELECT * FROM t", 2, None),
        ("SELECT * FROM t", 2, None),
        ("SELECT * FROM t WHERE id = 1", 1, None),
        ("COPY t FROM STDIN", 1, None),
        ("ALTER USER ada PASSWORD '…'", 0, None),
        ("SELECT unknown FROM t WHERE id = $1", None, "42703"),
        (f"SELECT 1 -- {'ü' * 988}…", 1, None),
    ]
    for event in slow:
        assert event["level"] == "WARN" and event["user"] == "ada" and event["peer"].startswith("127.0.0.1:")
        assert 0 < event["seconds"] < 60
    assert "unshown" not in "".join(server.lines)


def test_fast_statements_are_not_slow(tmp_path: Path):
    server = start(tmp_path, "--log-format", "json", "--slow-statement", "50ms", "--statement-timeout", "200ms")
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT 1")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ENDLESS)
    assert server.stop() == 0
    slow = [event for event in saying(server, "slow statement") if event["statement"] != "SELECT 1"]
    assert [(event["statement"], event["code"]) for event in slow] == [(ENDLESS, "57014")]
    assert slow[0]["seconds"] >= 0.05


def test_who_does_not_read_keeps_nobody_from_going_on(tmp_path: Path):
    """More is said than a pipe holds, and the log's queue."""
    file, place = tmp_path / "shop.gadus", tmp_path / "socket"
    command = [program(), "serve", str(file), "--trust", "--log-level", "debug", "--listen", "127.0.0.1:0"]
    process = subprocess.Popen([*command, "--listen", f"unix:{place}"], stderr=subprocess.PIPE, text=True)
    port = int(process.stderr.readline().rsplit(":", 1)[1])
    wire = Wire(port).startup()
    padding = "x" * 900
    for number in range(8_000):
        assert wire.query(f"SELECT nothing_{number} FROM nowhere -- {padding}")[0][0] == "E"
    assert wire.query("SELECT 1")[1][0] == "D"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    process.stderr.close()

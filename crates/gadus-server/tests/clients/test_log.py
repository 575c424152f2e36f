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

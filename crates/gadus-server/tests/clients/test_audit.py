"""The audit log: logins, refusals, and statements that change users or reach files."""

import json
import stat
from pathlib import Path

import psycopg
import pytest

from conftest import start


def test_logins_refusals_and_changes_of_users_are_recorded(tmp_path: Path):
    path = tmp_path / "audit.jsonl"
    server = start(tmp_path, "--audit-log", str(path))
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE USER grace PASSWORD 'hidden in the log'")
        connection.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(server.url.replace("ada:", "bob:"))
    assert server.stop() == 0
    text = path.read_text()
    assert "hidden" not in text
    events = [json.loads(line) for line in text.splitlines()]
    assert [event["event"] for event in events] == [
        "connection opened",
        "statement",
        "connection closed",
        "authentication failed",
    ]
    assert [event["user"] for event in events] == ["ada", "ada", "ada", "bob"]
    assert events[1]["statement"].startswith("CREATE USER grace")
    assert events[3]["code"] == "28P01"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_audit_log_that_is_a_link_is_refused(tmp_path: Path):
    target = tmp_path / "target"
    target.write_text("precious")
    path = tmp_path / "audit.jsonl"
    path.symlink_to(target)
    with pytest.raises(AssertionError):
        start(tmp_path, "--audit-log", str(path))
    assert target.read_text() == "precious"

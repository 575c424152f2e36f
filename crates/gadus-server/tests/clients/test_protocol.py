"""What no driver sends: malformed messages, and the protocol's corners."""

import resource
import signal
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
from conftest import Server, gadus, start
from wire import Wire, code, parse


def resident_bytes(server: Server) -> int:
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


@pytest.mark.parametrize("length", [0, 3, 7, 10_001, 2**31 - 1, -1, -(2**31)])
def test_startup_lengths(open_server: Server, length: int):
    wire = Wire(open_server.port)
    before = resident_bytes(open_server)
    wire.raw(struct.pack("!ii", length, 196608) + b"user\0")
    wire.socket.shutdown(socket.SHUT_WR)
    assert wire.is_closed()
    assert resident_bytes(open_server) - before < 16 << 20
    assert Wire(open_server.port).startup().query("SELECT 1")[1][0] == "D"


def test_encryption_is_asked_for_twice(open_server: Server):
    wire = Wire(open_server.port)
    request = struct.pack("!ii", 8, 80877103)
    wire.raw(request)
    assert wire.socket.recv(1) == b"N"
    wire.raw(request)
    assert code(wire.read()) == "08P01"
    assert wire.is_closed()


def test_an_error_does_not_wait_for_sync(open_server: Server):
    """Who sends Flush waits for what comes, and sends Sync afterwards."""
    wire = Wire(open_server.port).startup()
    wire.send("P", b"\0SELECT * FROM nowhere\0\0\0")
    wire.send("D", b"S\0")
    wire.send("H")
    assert code(wire.until("E")[-1]) == "42P01"
    wire.send("S")
    assert wire.until("Z")[-1][1] == b"I"


def test_wrong_cancel_keys_are_ignored(open_server: Server):
    wire = Wire(open_server.port).startup()
    for key in range(100):
        other = Wire(open_server.port)
        other.raw(struct.pack("!iiii", 16, 80877102, key, key))
        assert other.is_closed()
    assert wire.query("SELECT 1")[1][0] == "D"


def test_settings_of_a_first_message(open_server: Server):
    wire = Wire(open_server.port).startup(application_name="it's", options="-c lock_timeout=5s")
    assert wire.query("SHOW application_name")[1][1].endswith(b"it's")
    assert wire.query("SHOW lock_timeout")[1][1].endswith(b"5000ms")
    for name, expected in [("nothing", "42704"), ("lock_timeout = 1; DROP TABLE t --", "08P01")]:
        other = Wire(open_server.port)
        body = f"user\0ada\0{name}\0001\0\0".encode()
        other.raw(struct.pack("!ii", len(body) + 8, 196608) + body)
        assert code(other.read()) == expected
        assert other.is_closed()


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("B", b"\0\0\0\0\0\0\0\0", "08P01"),
        ("B", b"\0\0\0\0\0\x01\xff\xff\xff\xfe\0\0", "08P01"),
        ("B", b"\0\0\0\0\0\x01\x00\x00\x00\x7f\0\0", "08P01"),
        ("B", b"\0\0\0\x01\0\x09\0\x01\0\0\0\x011\0\0", "08P01"),
        ("B", b"\0\0\0\0\0\x01\0\0\0\x01x\0\0", "22P02"),
        ("B", b"\0nothing\0\0\0\0\0\0\0", "26000"),
        ("B", b"", "08P01"),
        ("E", b"nothing\0\0\0\0\0", "34000"),
        ("E", b"\0", "08P01"),
        ("D", b"Pnothing\0", "34000"),
        ("D", b"Q\0", "08P01"),
        ("P", b"\0SELECT 1", "08P01"),
        ("P", b"\0SELECT '\xff'\0\0\0", "22021"),
        ("P", b"\0SELECT 1; SELECT 2\0\0\0", "42601"),
        ("P", b"\0SELEC\0\0\0", "42601"),
        ("?", b"", "08P01"),
    ],
)
def test_wrong_messages(open_server: Server, kind: str, body: bytes, expected: str):
    """An error, what follows is skipped until Sync, and the session goes on."""
    wire = Wire(open_server.port).startup()
    wire.send("P", parse("SELECT $1::INT"))
    wire.send(kind, body)
    wire.send("P", parse("SELECT 2", "skipped"))
    wire.send("S")
    messages = wire.until("Z")
    assert [message[0] for message in messages] == ["1", "E", "Z"]
    assert code(messages[1]) == expected
    assert messages[-1][1] == b"I"
    assert wire.query("SELECT 1")[1][0] == "D"


def test_wrong_queries(open_server: Server):
    wire = Wire(open_server.port).startup()
    for body, expected in [(b"SELECT 1", "08P01"), (b"SELECT '\xff'\0", "22021"), (b"a\0b\0", "08P01")]:
        wire.send("Q", body)
        messages = wire.until("Z")
        assert code(messages[0]) == expected
    wire.send("F", b"\0\0\0\x01\0\0\0\0\0\0")
    assert code(wire.until("Z")[0]) == "0A000"
    deep = [("(" * 1_000_000 + "1", "54001"), (" AND ".join(["SELECT 1=1"] + ["1=1"] * 100_000), "54001")]
    for text, expected in deep:
        began = time.monotonic()
        messages = wire.query(text)
        assert code(messages[0]) == expected
        assert time.monotonic() - began < 30
    assert wire.query("SELECT 1")[1][0] == "D"


@pytest.mark.parametrize("length", [0, 3, -1, 2**31 - 1, (64 << 20) + 1])
def test_message_lengths(open_server: Server, length: int):
    wire = Wire(open_server.port).startup()
    before = resident_bytes(open_server)
    wire.raw(b"Q" + struct.pack("!i", length) + b"SELECT")
    assert code(wire.read()) in ("08P01", "54000")
    assert wire.is_closed()
    assert resident_bytes(open_server) - before < 16 << 20


def test_describing(open_server: Server):
    wire = Wire(open_server.port).startup()
    wire.query("CREATE TABLE t (id INT PRIMARY KEY, name TEXT, at TIMESTAMPTZ)")
    for text, types, columns in [
        ("SELECT name, at FROM t WHERE id = $1 AND name LIKE $2", [23, 25], 2),
        ("INSERT INTO t VALUES ($1, $2, $3)", [23, 25, 1184], None),
        ("UPDATE t SET name = $1 WHERE id = $2", [25, 23], None),
        ("DELETE FROM t WHERE at < $1", [1184], None),
        ("SELECT count(*) AS n FROM t", [], 1),
        ("SHOW server_version", [], 1),
        ("BEGIN", [], None),
        ("", [], None),
    ]:
        wire.send("P", parse(text))
        wire.send("D", b"S\0")
        wire.send("S")
        messages = dict(wire.until("Z"))
        count = struct.unpack("!h", messages["t"][:2])[0]
        assert list(struct.unpack(f"!{count}i", messages["t"][2:])) == types, text
        if columns is None:
            assert "n" in messages, text
        else:
            assert struct.unpack("!h", messages["T"][:2])[0] == columns, text


def test_what_follows_an_error_is_not_looked_at(open_server: Server):
    wire = Wire(open_server.port).startup()
    wire.send("P", parse("SELEC"))
    wire.send("P", b"\0SELECT '\xff'\0\0\0")
    wire.send("Q", b"SELECT '\xff'\0")
    wire.send("S")
    assert [message[0] for message in wire.until("Z")] == ["E", "Z"]
    assert wire.query("SELECT 1")[1][0] == "D"


def test_newer_protocols_are_answered_with_this_one(open_server: Server):
    wire = Wire(open_server.port)
    body = b"user\0ada\0_pq_.test\0on\0\0"
    wire.raw(struct.pack("!ii", len(body) + 8, 3 << 16 | 9999) + body)
    told = [body for kind, body in wire.until("Z") if kind == "v"]
    assert told == [struct.pack("!ii", 3 << 16, 1) + b"_pq_.test\0"]


def test_strangers_do_not_send_much(tmp_path: Path):
    server = start(tmp_path)
    wire = Wire(server.port)
    body = b"user\0ada\0\0"
    wire.raw(struct.pack("!ii", len(body) + 8, 3 << 16) + body)
    assert wire.until("R")[-1][1].startswith(struct.pack("!i", 10))
    wire.raw(b"p" + struct.pack("!i", 1 << 20))
    assert code(wire.until("E")[-1]) == "54000"
    assert wire.is_closed()
    assert server.stop() == 0


def salt(port: int, user: str) -> bytes:
    """What SCRAM asks a user to prove himself with."""
    wire = Wire(port)
    body = f"user\0{user}\0\0".encode()
    wire.raw(struct.pack("!ii", len(body) + 8, 3 << 16) + body)
    wire.until("R")
    first = b"n,,n=,r=abc"
    wire.send("p", b"SCRAM-SHA-256\0" + struct.pack("!i", len(first)) + first)
    return next(part for part in wire.read()[1].split(b",") if part.startswith(b"s="))


def test_who_does_not_exist_has_a_salt_that_stays(tmp_path: Path):
    """As who exists has: nobody learns from it who does."""
    salts = []
    for _ in range(2):
        server = start(tmp_path)
        salts.append([salt(server.port, user) for user in ("ada", "nobody", "other")])
        assert server.stop() == 0
    assert salts[0] == salts[1]
    assert len(set(salts[0])) == 3


def executed(wire: Wire) -> list[tuple[str, bytes]]:
    """Binds the prepared statement without a name to nothing, and runs it."""
    wire.send("B", b"\0\0\0\0\0\0\0\x01\0\x01")
    wire.send("E", b"\0\0\0\0\0")
    wire.send("S")
    return wire.until("Z")


def test_columns_that_have_changed_since_they_were_told(open_server: Server):
    wire = Wire(open_server.port).startup()
    wire.query("CREATE TABLE t (a INT, b INT)")
    wire.query("INSERT INTO t VALUES (1, 2)")
    wire.send("P", parse("SELECT * FROM t"))
    wire.send("D", b"S\0")
    wire.send("S")
    wire.until("Z")
    assert "D" in [message[0] for message in executed(wire)]
    wire.query("DROP TABLE t")
    wire.query("CREATE TABLE t (b INT, a INT)")
    assert code(executed(wire)[1]) == "0A000"
    wire.send("P", parse("SELECT * FROM t"))
    wire.send("S")
    wire.until("Z")
    assert "E" not in [message[0] for message in executed(wire)]


def test_clients_that_vanish(open_server: Server):
    """What they began is rolled back, and their places are free."""
    wire = Wire(open_server.port).startup()
    wire.query("CREATE TABLE t (id INT PRIMARY KEY)")
    for text in ["COPY t FROM STDIN", "BEGIN; INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1); SELECT * FROM generate_series(1, 100000000)"]:
        other = Wire(open_server.port).startup()
        other.send("Q", text.encode() + b"\0")
        other.read()
        if text.startswith("COPY"):
            other.send("d", b"1\n2\n")
        linger = struct.pack("ii", 1, 0)
        other.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        other.socket.close()
    # Waits for the locks of whoever is not yet gone.
    assert wire.query("INSERT INTO t VALUES (1)")[0] == ("C", b"INSERT 0 1\0")
    rows = wire.query("SELECT count(*) FROM t")
    assert rows[1][1].endswith(b"1")


def test_limits_of_connections(tmp_path: Path):
    server = start(tmp_path, "--trust", "--max-connections", "3", "--idle-timeout", "1s")
    wires = [Wire(server.port).startup() for _ in range(3)]
    late = Wire(server.port)
    late.raw(struct.pack("!ii", 16, 196608) + b"user\0a\0\0")
    assert code(late.read()) == "53300"
    for wire in wires:
        message = wire.read()
        assert code(message) == "57P05"
        assert wire.is_closed()
    assert Wire(server.port).startup().query("SELECT 1")[1][0] == "D"
    assert server.stop() == 0


def test_silence(open_server: Server):
    """Limits that the client sets itself; RESET goes back to what its first message said."""
    wire = Wire(open_server.port).startup(idle_session_timeout="60s")
    wire.query("SET idle_session_timeout = 0")
    wire.query("RESET idle_session_timeout")
    assert wire.query("SHOW idle_session_timeout")[1][1].endswith(b"60000ms")
    wire.query("BEGIN")
    wire.query("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
    assert code(wire.read()) == "25P03"
    assert wire.is_closed()
    wire = Wire(open_server.port).startup(idle_in_transaction_session_timeout="50ms")
    wire.query("BEGIN")
    assert code(wire.read()) == "25P03"
    wire = Wire(open_server.port).startup()
    wire.query("SET idle_session_timeout = '50ms'")
    assert code(wire.read()) == "57P05"
    assert Wire(open_server.port).startup().query("SELECT 1")[1][0] == "D"


def test_shutting_down(tmp_path: Path):
    """A statement that runs comes to its end; who is idle is told; the file is clean."""
    server = start(tmp_path, "--trust")
    idle, busy = Wire(server.port).startup(), Wire(server.port).startup()
    busy.query("CREATE TABLE t (id INT PRIMARY KEY)")
    busy.query("BEGIN")
    busy.query("INSERT INTO t VALUES (1)")
    other = Wire(server.port).startup()
    other.send("Q", b"INSERT INTO t VALUES (1)\0")
    stopping = threading.Timer(0.3, server.process.send_signal, (signal.SIGTERM,))
    stopping.start()
    assert code(idle.read()) == "57P01"
    assert code(busy.read()) == "57P01"
    # The lock of the one is free, so the other goes on to its end.
    assert other.read() == ("C", b"INSERT 0 1\0")
    assert server.process.wait(30) == 0
    assert gadus(str(server.file), "--format", "csv", "-c", "SELECT count(*) AS n FROM t") == "n\n1\n"
    gadus("check", str(server.file))


def test_other_processes_use_the_file_too(open_server: Server):
    wire = Wire(open_server.port).startup()
    gadus(str(open_server.file), "-c", "CREATE TABLE t (id INT PRIMARY KEY)")
    wire.query("INSERT INTO t VALUES (1)")
    gadus(str(open_server.file), "-c", "INSERT INTO t VALUES (2)")
    assert wire.query("SELECT count(*) FROM t")[1][1].endswith(b"2")


def test_many_idle_connections(open_server: Server):
    """Ten thousand are under 300 MB; fewer, where the system allows no more open files, as much less."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10_000, hard - 1_000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    before = resident_bytes(open_server)
    wires = [Wire(open_server.port).startup() for _ in range(count)]
    assert wires[-1].query("SELECT 1")[1][0] == "D"
    used = resident_bytes(open_server) - before
    print(f"{used / count / 1024:.1f} KiB for each of {count} idle connections")
    assert used < 30_000 * count
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

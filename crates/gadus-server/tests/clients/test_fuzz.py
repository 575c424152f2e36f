"""Messages that are nearly right, in orders that are nearly possible: no crash, no hang, no growth.

GADUS_FUZZ_SECONDS=600 for long; a failure prints its seed, which GADUS_FUZZ_SEED repeats.
"""

import os
import random
import socket
import struct
import time
from pathlib import Path

from conftest import gadus, start
from test_protocol import resident_bytes
from wire import Wire

SECONDS = float(os.environ.get("GADUS_FUZZ_SECONDS", "10"))
SEED = int(os.environ.get("GADUS_FUZZ_SEED", random.randrange(2**32)))
# What a busy machine takes for any of the statements below.
HANG_SECONDS = 60

STATEMENTS = [
    "SELECT 1", "SELECT * FROM t", "SELECT * FROM t WHERE id = $1", "SELECT $1::INT, $2::TEXT",
    "INSERT INTO t VALUES ($1, $2)", "INSERT INTO t VALUES (1, 'a')", "UPDATE t SET name = $1 WHERE id < $2",
    "DELETE FROM t WHERE id = 1", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT a", "ROLLBACK TO a", "RELEASE a",
    "COPY t FROM STDIN", "COPY t TO STDOUT", "COPY t FROM STDIN (FORMAT csv, HEADER)",
    "COPY (SELECT 1) TO STDOUT (FORMAT binary)", "COPY t FROM STDIN (FORMAT binary)", "SHOW ALL", "SHOW server_version", "SET application_name = 'x'",
    "RESET ALL", "DISCARD ALL", "DEALLOCATE ALL", "EXPLAIN SELECT * FROM t", "VACUUM", "", ";", ";;", "-- nothing",
    "SELECT * FROM generate_series(1, 1000)", "SELECT 1; SELECT 2", "SELECT 1/0", "SELEC", "SELECT 'x", "/*",
    "SELECT * FROM pg_class", "SELECT $65535", "SELECT $0", "SELECT repeat('x', 100000)", "KILL 0",
    "CREATE TABLE t (id INT PRIMARY KEY, name TEXT)", "DROP TABLE IF EXISTS u", "CREATE TABLE IF NOT EXISTS u (a INT)",
    "SELECT * FROM t FOR UPDATE NOWAIT", "SELECT CAST($1 AS NUMERIC(10,2))", "SELECT $1 IN (1, 2, $2)",
]
NAMES = ["", "a", "b", "\u00e9", "x" * 300]
TYPES = [0, 16, 17, 20, 21, 23, 25, 700, 701, 1082, 1083, 1114, 1184, 1700, 2950, 705, 600, 2**31]
NUMBERS = [-(2**15), -2, -1, 0, 1, 2, 3, 7, 255, 2**15 - 1]


class Fuzzer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def text(self, choices: list[str]) -> bytes:
        chosen = self.random.choice(choices).encode()
        return chosen + (b"" if self.random.random() < 0.01 else b"\0")

    def short(self) -> bytes:
        return struct.pack("!h", self.random.choice(NUMBERS))

    def count(self, things: list[bytes]) -> bytes:
        honest = struct.pack("!H", len(things))
        return (honest if self.random.random() < 0.97 else self.short()) + b"".join(things)

    def some(self, make, most: int = 3) -> list[bytes]:
        return [make() for _ in range(self.random.randrange(most))]

    def value(self) -> bytes:
        sized = [b"", b"1", b"-1", b"abc", b"\0\0", b"\0\0\0\1", b"\xff" * 8, b"\0" * 16, b"2024-01-01", b"\\x00", b"1e400",
                 b"NaN", b"9" * 50, b"\xff\xfe"]
        value = self.random.choice(sized)
        length = len(value) if self.random.random() < 0.95 else self.random.choice([-1, -2, 2**31 - 1, len(value) + 1])
        return struct.pack("!i", length) + (b"" if length == -1 else value)

    def body(self, kind: str) -> bytes:
        choose, name = self.random.choice, lambda: self.text(NAMES)
        match kind:
            case "Q":
                return self.text(STATEMENTS)
            case "P":
                return name() + self.text(STATEMENTS) + self.count(self.some(lambda: struct.pack("!I", choose(TYPES))))
            case "B":
                formats = lambda: self.count(self.some(lambda: struct.pack("!h", choose([0, 0, 1, 1, 2]))))
                return name() + name() + formats() + self.count(self.some(self.value)) + formats()
            case "D" | "C":
                return choose([b"S", b"P", b"S", b"P", b"?"]) + name()
            case "E":
                return name() + struct.pack("!i", choose([0, 0, 1, 3, -1, 2**31 - 1]))
            case "d":
                return choose([b"1\ta\n", b"2\t\\N\n3", b"\tb\n", b"x\ty\tz\n", b"\\.\n", b'4,"a\n', b"\xff\t\n", b"", b"id,name\n"])
            case "f":
                return self.text(["enough"])
            case _:
                return b""

    def message(self) -> bytes:
        kind = self.random.choice("QQPPPBBBBDDEEEEECHSSSSSdddcfF")
        body = self.body(kind)
        roll = self.random.random()
        if roll < 0.02:
            kind = chr(self.random.randrange(1, 127))
        elif roll < 0.04 and body:
            place = self.random.randrange(len(body))
            body = body[:place] + bytes([self.random.randrange(256)]) + body[place + 1 :]
        elif roll < 0.06:
            body = body[: self.random.randrange(len(body) + 1)]
        length = len(body) + 4
        if roll > 0.999:
            length = self.random.choice([0, 3, -1, 2**31 - 1, length + 1])
        return kind.encode() + struct.pack("!i", length) + body

    def connection(self, port: int) -> int:
        """What one client sends; returns how many messages."""
        try:
            wire = Wire(port).startup()
        except ConnectionError:
            return 0
        wire.socket.settimeout(HANG_SECONDS)
        count = self.random.randrange(1, 60)
        try:
            for _ in range(count):
                wire.raw(self.message())
            if self.random.random() < 0.2:
                # Gone without a word.
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                wire.socket.close()
                return count
            # Whatever has come before, then the session answers or is closed.
            for kind, body in [("c", b""), ("S", b""), ("Q", b"ROLLBACK\0"), ("X", b"")]:
                wire.send(kind, body)
            wire.socket.shutdown(socket.SHUT_WR)
            while wire.read():
                pass
        except TimeoutError:
            raise
        except OSError:
            # The server has closed the connection, as it may.
            pass
        wire.socket.close()
        return count


def test_fuzz(tmp_path: Path):
    print(f"seed {SEED}, {SECONDS} s")
    server = start(tmp_path, "--trust")
    Wire(server.port).startup().query("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
    fuzzer, messages, ends = Fuzzer(SEED), 0, time.monotonic() + SECONDS
    begun = resident_bytes(server)
    warm = None
    while time.monotonic() < ends:
        messages += fuzzer.connection(server.port)
        assert server.process.poll() is None, server.lines
        if warm is None and time.monotonic() > ends - SECONDS / 2:
            warm = resident_bytes(server)
    grown = resident_bytes(server) - (warm or begun)
    print(f"{messages} messages; {begun >> 20} MiB at first, {grown >> 20} MiB more in the second half")
    assert grown < 64 << 20
    assert Wire(server.port).startup().query("SELECT 1")[1][0] == "D"
    assert server.stop() == 0
    assert "panicked" not in "".join(server.lines)
    gadus("check", str(server.file))

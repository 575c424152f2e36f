"""Portals, and statements that are sent together: what drivers rarely do."""

import struct
import time

from conftest import Server
from wire import Wire, code, parse


def position(message: tuple[str, bytes]) -> int:
    """Where an error is in the text that was sent."""
    fields = message[1].split(b"\0")
    return next(int(field[1:]) for field in fields if field.startswith(b"P"))


def test_errors_have_places_in_the_whole_text(open_server: Server):
    wire = Wire(open_server.port).startup()
    text = "SELECT 'gr\u00fcn;';\n  SELECT E'\\';' /* /* */ ; */, 1 FORM x y; SELECT 2"
    failed = next(message for message in wire.query(text) if message[0] == "E")
    assert position(failed) == text.index("x y") + 1
    wire.send("P", parse("  \n SELECT 1 FORM x y"))
    wire.send("S")
    assert position(wire.until("Z")[0]) == "  \n SELECT 1 FORM x y".index("x y") + 1


def test_portals_in_parts(open_server: Server):
    wire = Wire(open_server.port).startup()
    wire.query("BEGIN")
    wire.send("P", parse("SELECT * FROM generate_series(1, 10)"))
    wire.send("B", b"cursor\0\0\0\0\0\0\0\0")
    for _ in range(4):
        wire.send("E", b"cursor\0" + struct.pack("!i", 4))
    wire.send("S")
    kinds = "".join(message[0] for message in wire.until("Z"))
    assert kinds == "12" + "DDDDs" * 2 + "DDC" + "C" + "Z"
    wire.query("COMMIT")
    wire.send("E", b"cursor\0" + struct.pack("!i", 0))
    wire.send("S")
    assert code(wire.until("Z")[0]) == "34000"


def test_portals_that_have_ended_have_columns(open_server: Server):
    """Describing one tells those that it had, and nothing else of its statement."""
    wire = Wire(open_server.port).startup()
    wire.query("BEGIN")
    wire.send("P", parse("SELECT 1 AS one"))
    for portal in (b"cursor", b"other"):
        wire.send("B", portal + b"\0\0\0\0\0\0\0\0")
        wire.send("E", portal + b"\0" + struct.pack("!i", 0))
        wire.send("D", b"P" + portal + b"\0")
    wire.send("S")
    messages = wire.until("Z")
    assert "".join(kind for kind, _ in messages) == "1" + "2DCT" * 2 + "Z"
    assert all(b"one\0" in body for kind, body in messages if kind == "T")


def fetched(wire: Wire, portal: bytes, count: int) -> list[tuple[str, bytes]]:
    """What Execute of a portal gives."""
    wire.send("E", portal + b"\0" + struct.pack("!i", count))
    wire.send("S")
    return wire.until("Z")


def test_portals_that_are_suspended(open_server: Server):
    """Each Execute has its own time; after an error there is nothing to fetch until the transaction ends."""
    wire = Wire(open_server.port).startup(statement_timeout="500ms")
    wire.query("BEGIN")
    wire.send("P", parse("SELECT * FROM generate_series(1, 10)"))
    for portal in (b"one", b"other"):
        wire.send("B", portal + b"\0\0\0\0\0\0\0\0")
    wire.send("S")
    wire.until("Z")
    assert "".join(kind for kind, _ in fetched(wire, b"one", 4)) == "DDDDsZ"
    assert "".join(kind for kind, _ in fetched(wire, b"other", 4)) == "DDDDsZ"
    over = time.monotonic() + 1
    while time.monotonic() < over:
        wire.query("SELECT 1")
    rest = fetched(wire, b"one", 0)
    assert "".join(kind for kind, _ in rest) == "DDDDDDCZ"
    assert rest[-2][1] == b"SELECT 6\0"
    assert code(wire.query("SELECT 1/0")[-2]) == "22012"
    for _ in range(2):
        failed = fetched(wire, b"other", 4)
        assert code(failed[0]) == "25P02"
        assert failed[-1] == ("Z", b"E")
    wire.query("ROLLBACK")
    assert code(fetched(wire, b"other", 4)[0]) == "34000"


def test_transactions_that_begin_in_the_middle(open_server: Server):
    """What BEGIN says holds for what was there already; portals end with their transaction."""
    wire = Wire(open_server.port).startup()
    wire.query("CREATE TABLE t (id INT PRIMARY KEY)")
    begun = wire.query("INSERT INTO t VALUES (1); BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    assert begun[-1] == ("Z", b"T")
    assert wire.query("SHOW transaction_isolation")[1][1].endswith(b"repeatable read")
    assert code(wire.query("INSERT INTO t VALUES (2)")[0]) == "25006"
    wire.query("ROLLBACK")
    assert wire.query("SELECT count(*) FROM t")[1][1].endswith(b"0")
    wire.query("BEGIN")
    wire.send("P", parse("SELECT * FROM generate_series(1, 10)"))
    wire.send("B", b"cursor\0\0\0\0\0\0\0\0")
    wire.send("S")
    wire.until("Z")
    assert wire.query("COMMIT; BEGIN")[-1] == ("Z", b"T")
    wire.send("E", b"cursor\0" + struct.pack("!i", 0))
    wire.send("S")
    assert code(wire.until("Z")[0]) == "34000"


def test_portals_from_before_a_savepoint(open_server: Server):
    """What fails behind it leaves them."""
    wire = Wire(open_server.port).startup()
    wire.query("BEGIN")
    wire.send("P", parse("SELECT * FROM generate_series(1, 10)"))
    wire.send("B", b"cursor\0\0\0\0\0\0\0\0")
    assert "".join(kind for kind, _ in fetched(wire, b"cursor", 4)) == "12DDDDsZ"
    wire.query("SAVEPOINT a")
    assert code(wire.query("SELECT 1/0")[-2]) == "22012"
    assert code(fetched(wire, b"cursor", 4)[0]) == "25P02"
    wire.query("ROLLBACK TO A")
    assert "".join(kind for kind, _ in fetched(wire, b"cursor", 0)) == "DDDDDDCZ"

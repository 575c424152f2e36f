"""Drivers of Python: psycopg, asyncpg, SQLAlchemy."""

import asyncio
import datetime as dt
import decimal
import threading
import uuid

import asyncpg
import psycopg
import pytest
import sqlalchemy
from conftest import PASSWORD, Server
from psycopg.types.enum import EnumInfo, register_enum
from psycopg.types.json import Json, Jsonb

VALUES = {
    "BOOLEAN": True,
    "SMALLINT": -7,
    "INT": 2**31 - 1,
    "BIGINT": -(2**63),
    "REAL": 0.5,
    "DOUBLE": 1e300,
    "DECIMAL(12,3)": decimal.Decimal("-12345.678"),
    "TEXT": "gr\u00fcn\n'\\",
    "BYTEA": b"\x00\xff\\",
    "DATE": dt.date(2024, 2, 29),
    "TIME": dt.time(23, 59, 59, 999999),
    "TIMESTAMP": dt.datetime(1969, 12, 31, 23, 59, 59, 1),
    "TIMESTAMPTZ": dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=dt.timezone.utc),
    "UUID": uuid.UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479"),
}


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_values(server: Server, binary: bool):
    with psycopg.connect(server.url) as connection:
        columns = [f"c{place} {name}" for place, name in enumerate(VALUES)]
        connection.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(columns)})")
        places = ", ".join(["%b" if binary else "%t"] * (len(VALUES) + 1))
        for key, values in enumerate([VALUES.values(), [None] * len(VALUES)]):
            connection.execute(f"INSERT INTO t VALUES ({places})", [key, *values])
        rows = connection.execute("SELECT * FROM t ORDER BY id", binary=binary).fetchall()
        assert rows[0][1:] == tuple(VALUES.values())
        assert set(rows[1][1:]) == {None}
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_lists(server: Server, binary: bool):
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, s TEXT, d DECIMAL(8, 2), at DATE)")
        connection.execute("INSERT INTO t SELECT n, 's' || n, n / 4.0, DATE '2024-01-01' FROM range(100) r(n)")
        place = "%b" if binary else "%t"
        for column, values, expected in [
            ("id", [1, 2, 500], 2),
            ("id", [], 0),
            ("id", [2**40], 0),
            ("s", ["s1", "s2", 'a"b,{}', None], 2),
            ("d", [decimal.Decimal("0.25"), decimal.Decimal("1.5")], 2),
            ("at", [dt.date(2024, 1, 1)], 100),
        ]:
            found = connection.execute(f"SELECT count(*) FROM t WHERE {column} = ANY({place})", [values])
            assert found.fetchone() == (expected,), (column, values)
        found = connection.execute(f"SELECT {place}::text[]", [["a", None, 'b",\\']], binary=binary)
        assert found.fetchone() == (["a", None, 'b",\\'],)


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_columns_of_lists(server: Server, binary: bool):
    place = "%b" if binary else "%t"
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT[], s TEXT[], u UUID[], d DECIMAL(8, 2)[], m MAP(TEXT, INT))")
        rows = [
            (1, [1, None, 3], ["a", 'b",{}', None], [uuid.UUID(int=7)], [decimal.Decimal("1.50")]),
            (2, [], [], [], []),
            (3, None, None, None, None),
        ]
        for row in rows:
            insert = f"INSERT INTO t (id, n, s, u, d) VALUES ({', '.join([place] * 5)})"
            connection.execute(insert, row)
        connection.execute("UPDATE t SET m = %s WHERE id = 1", ['{"k": 1}'])
        found = connection.execute("SELECT id, n, s, u, d FROM t ORDER BY id", binary=binary)
        assert [column.type_code for column in found.description] == [23, 1007, 1009, 2951, 1231]
        assert found.fetchall() == rows
        assert connection.execute("SELECT m FROM t WHERE id = 1").fetchone() == ({"k": 1},)
        found = connection.execute(f"SELECT id FROM t WHERE n = {place}", [[1, None, 3]])
        assert found.fetchall() == [(1,)]
        found = connection.execute(f"SELECT id FROM t WHERE {place} = ANY(s)", ["a"])
        assert found.fetchall() == [(1,)]
        types = """SELECT format_type(atttypid, atttypmod) FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
                   WHERE relname = 't' AND attnum > 0 ORDER BY attnum"""
        kinds = ["integer", "integer[]", "text[]", "uuid[]", "numeric(8,2)[]", "json"]
        assert [kind for (kind,) in connection.execute(types)] == kinds


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_identifiers_and_documents(server: Server, binary: bool):
    place = "%b" if binary else "%t"
    ids = [uuid.UUID(int=number << 100) for number in range(20)]
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id UUID PRIMARY KEY, d JSON, b JSONB)")
        insert = f"INSERT INTO t VALUES ({place}, {place}, {place})"
        for number, key in enumerate(ids):
            connection.execute(insert, [key, Json({"n": number}), Jsonb([number, {"k": "v"}])])
        found = connection.execute(f"SELECT * FROM t WHERE id = {place}", [ids[7]], binary=binary)
        assert [column.type_code for column in found.description] == [2950, 114, 3802]
        assert found.fetchall() == [(ids[7], {"n": 7}, [7, {"k": "v"}])]
        found = connection.execute(f"SELECT id FROM t WHERE id = ANY({place}) ORDER BY id", [ids[3:5]], binary=binary)
        assert [row[0] for row in found] == ids[3:5]
        found = connection.execute("SELECT id FROM t WHERE (d ->> 'n')::int > 17 ORDER BY id", binary=binary)
        assert [row[0] for row in found] == ids[18:]
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("SELECT 'no'::uuid")


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_enumerations(server: Server, binary: bool):
    place = "%b" if binary else "%t"
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, m mood)")
        connection.execute(f"INSERT INTO t VALUES (1, {place}), (2, NULL)", ["ok"])
        # The driver looks the type up, and gives members of a class by its labels.
        known = EnumInfo.fetch(connection, "mood")
        assert known.labels == ["sad", "ok"]
        register_enum(known, connection)
        found = connection.execute("SELECT m FROM t ORDER BY id", binary=binary).fetchall()
        assert [label and label.name for (label,) in found] == ["ok", None]
        found = connection.execute(f"SELECT id FROM t WHERE m = {place}", ["ok"])
        assert found.fetchone() == (1,)
        for statement in [f"INSERT INTO t VALUES (3, {place})", f"SELECT id FROM t WHERE m = {place}"]:
            with pytest.raises(psycopg.errors.InvalidTextRepresentation), connection.transaction():
                connection.execute(statement, ["x"])
        with connection.cursor() as cursor, cursor.copy("COPY t FROM STDIN") as copy:
            copy.write_row((3, "sad"))
        assert connection.execute("SELECT count(m) FROM t").fetchone() == (2,)
        oid = "SELECT 'mood'::regtype::oid"
        column = connection.execute("SELECT m FROM t").description[0]
        assert connection.execute(oid).fetchone() == (column.type_code,)


def test_asyncpg_enumerations(server: Server):
    """It looks each type up that it does not know."""

    async def use():
        connection = await asyncpg.connect(server.url)
        await connection.execute("CREATE TYPE mood AS ENUM ('sad', 'ok')")
        await connection.execute("CREATE TABLE t (id INT PRIMARY KEY, m mood)")
        await connection.execute("INSERT INTO t VALUES (1, $1)", "ok")
        assert await connection.fetchval("SELECT m FROM t") == "ok"
        assert await connection.fetchval("SELECT id FROM t WHERE m = $1", "ok") == 1
        with pytest.raises(asyncpg.InvalidTextRepresentationError):
            await connection.execute("INSERT INTO t VALUES (2, $1)", "x")
        await connection.close()

    asyncio.run(use())


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_cursors_of_the_server(server: Server, binary: bool):
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, s TEXT)")
        connection.execute("INSERT INTO t SELECT n, 's' || n FROM range(5000) r(n)")
        query = "SELECT id, s FROM t WHERE id >= %s ORDER BY id"
        with connection.cursor(name="forward", binary=binary) as cursor:
            cursor.itersize = 700
            cursor.execute(query, [1000])
            assert [column.name for column in cursor.description] == ["id", "s"]
            assert cursor.fetchmany(2) == [(1000, "s1000"), (1001, "s1001")]
            assert [row[0] for row in cursor] == list(range(1002, 5000))
        with connection.cursor(name="There \"and\" back", scrollable=True, binary=binary) as cursor:
            cursor.execute(query, [0])
            cursor.scroll(4998)
            assert cursor.fetchall() == [(4998, "s4998"), (4999, "s4999")]
            cursor.scroll(0, mode="absolute")
            assert cursor.fetchone() == (0, "s0")
        held = connection.cursor(name="held", withhold=True, binary=binary)
        held.execute(query, [4990])
        connection.commit()
        connection.execute("DELETE FROM t")
        connection.commit()
        assert [row[0] for row in held] == list(range(4990, 5000))
        held.close()
        with pytest.raises(psycopg.errors.InvalidCursorName):
            connection.execute("FETCH held")


def test_psycopg_transactions(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        with pytest.raises(ZeroDivisionError), connection.transaction():
            connection.execute("INSERT INTO t VALUES (1, 1)")
            raise ZeroDivisionError
        with connection.transaction():
            connection.execute("INSERT INTO t VALUES (1, 1)")
            with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
                connection.execute("INSERT INTO t VALUES (1, 2)")
        assert connection.execute("SELECT n FROM t").fetchall() == [(1,)]
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nowhere")
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_psycopg_pipelines(server: Server):
    """What is sent between two Syncs is one transaction."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        with pytest.raises(psycopg.errors.UniqueViolation), connection.pipeline():
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("INSERT INTO t VALUES (1)")
            connection.execute("INSERT INTO t VALUES (2)")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
        with connection.pipeline():
            cursors = [connection.execute("SELECT %s::INT", [number]) for number in range(50)]
        assert [cursor.fetchone() for cursor in cursors] == [(number,) for number in range(50)]


def test_psycopg_copy(server: Server):
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT)")
        cursor = connection.cursor()
        with cursor.copy("COPY t (id, name) FROM STDIN") as copy:
            for number in range(20_000):
                copy.write_row((number, None if number % 7 == 0 else f"n\t{number}"))
        assert cursor.rowcount == 20_000
        with cursor.copy("COPY (SELECT * FROM t ORDER BY id) TO STDOUT") as copy:
            rows = list(copy.rows())
        assert rows[7:9] == [("7", None), ("8", "n\t8")]
        with cursor.copy("COPY (SELECT * FROM t ORDER BY id) TO STDOUT (FORMAT binary)") as copy:
            copy.set_types(["int4", "text"])
            assert list(copy.rows())[8] == (8, "n\t8")
        with pytest.raises(ZeroDivisionError):
            with cursor.copy("COPY t FROM STDIN") as copy:
                copy.write_row((-1, "x"))
                raise ZeroDivisionError
        connection.rollback()


def test_binary_copy(server: Server):
    types = {"INT": "int4", "DOUBLE": "float8", "DECIMAL(12,3)": "numeric", "REAL": "float4", "SMALLINT": "int2"}
    with psycopg.connect(server.url) as connection:
        columns = [f"c{place} {name}" for place, name in enumerate(VALUES)]
        connection.execute(f"CREATE TABLE t (id INT PRIMARY KEY, {', '.join(columns)})")
        names = [types.get(name, {"BIGINT": "int8", "BOOLEAN": "bool"}.get(name, name.lower())) for name in VALUES]
        rows = [(number, *(VALUES.values() if number % 2 else [None] * len(VALUES))) for number in range(20_001)]
        cursor = connection.cursor()
        with cursor.copy("COPY t FROM STDIN (FORMAT binary)") as copy:
            copy.set_types(["int4", *names])
            for row in rows:
                copy.write_row(row)
        assert cursor.rowcount == len(rows)
        assert cursor.execute("SELECT * FROM t ORDER BY id").fetchall() == rows
        # What cannot be is refused with its place, and nothing of it stays.
        connection.commit()
        with pytest.raises(psycopg.errors.InvalidBinaryRepresentation, match='row 2, column "id"'):
            with cursor.copy("COPY t (id) FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(["int4"])
                copy.write_row((-1,))
                copy.set_types(["int8"])
                copy.write_row((-2,))
        connection.rollback()
        assert cursor.execute("SELECT count(*) FROM t").fetchone() == (len(rows),)


def test_cancelling(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        endless = "SELECT count(*) FROM generate_series(1, 100000000) AS a (n), generate_series(1, 1000) AS b (m) WHERE n % 7 = m % 5"
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(endless)
        connection.execute("SET statement_timeout = '200ms'")
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute(endless)
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_endless_statements_leave_room_for_others(server: Server):
    """Joins that find nothing for days keep nobody from the server's threads, and are reached by cancels."""
    endless = "SELECT max(a) FROM generate_series(1, 100000) a, generate_series(1, 1000000000) b WHERE a + b < 0"
    busy = [psycopg.connect(server.url, autocommit=True) for _ in range(6)]
    cancelled = []

    def run(connection: psycopg.Connection) -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(endless)
        cancelled.append(connection)

    threads = [threading.Thread(target=run, args=[connection]) for connection in busy]
    for thread in threads:
        thread.start()
    with psycopg.connect(server.url, autocommit=True) as other:
        # Seen since its first statement.
        begun = "SELECT count(*) FROM gadus.sessions WHERE connection > 0"
        while other.execute(begun).fetchone() != (len(busy) + 1,):
            pass
        other.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        for key in range(20):
            other.execute("INSERT INTO t VALUES (%s, 0)", [key])
            assert other.execute("SELECT n FROM t WHERE id = %s", [key]).fetchone() == (0,)
        assert other.execute("SELECT count(*) FROM t a JOIN t b ON a.n = b.n").fetchone() == (400,)
        assert not cancelled
    for connection in busy:
        connection.cancel()
    for thread in threads:
        thread.join()
    assert len(cancelled) == len(busy)
    for connection in busy:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        connection.close()


def test_locks_and_isolation(server: Server):
    """READ COMMITTED unless something else is said, and nobody is kept from going on."""
    with psycopg.connect(server.url) as one, psycopg.connect(server.url) as other:
        one.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        one.execute("INSERT INTO t VALUES (1, 0)")
        one.commit()
        assert other.execute("SHOW transaction_isolation").fetchone() == ("read committed",)
        one.execute("UPDATE t SET n = 1 WHERE id = 1")
        assert other.execute("SELECT n FROM t").fetchone() == (0,)
        waiting = threading.Thread(target=other.execute, args=("UPDATE t SET n = n + 10 WHERE id = 1",))
        waiting.start()
        one.commit()
        waiting.join(30)
        other.commit()
        assert one.execute("SELECT n FROM t").fetchone() == (11,)


def test_serializable(server: Server):
    """Of two that have read what the other writes, one is told to run again, in the ways that drivers say the level."""
    with psycopg.connect(server.url, autocommit=True) as one:
        one.execute("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
        one.execute("INSERT INTO t VALUES (1, 0), (2, 0)")
    url = server.url.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(url, isolation_level="SERIALIZABLE")
    text = sqlalchemy.text
    total = "SELECT sum(n) FROM t"
    with psycopg.connect(server.url) as one, engine.connect() as other:
        one.isolation_level = psycopg.IsolationLevel.SERIALIZABLE
        assert one.execute("SHOW transaction_isolation").fetchone() == ("serializable",)
        assert other.execute(text("SHOW transaction_isolation")).scalar() == "serializable"
        for _ in range(2):
            assert one.execute(total).fetchone() == (0,) and other.execute(text(total)).scalar() == 0
            one.execute("UPDATE t SET n = %s WHERE id = %s", (1, 1))
            other.execute(text("UPDATE t SET n = :n WHERE id = 2"), {"n": -1})
            other.commit()
            with pytest.raises(psycopg.errors.SerializationFailure):
                one.commit()
            one.rollback()
            assert one.execute(total).fetchone() == (-1,)
            one.execute("UPDATE t SET n = 1 WHERE id = 1")
            one.commit()
            other.execute(text("UPDATE t SET n = 0"))
            other.commit()
    engine.dispose()


def test_asyncpg(server: Server):
    async def go() -> None:
        settings = dict(host="127.0.0.1", port=server.port, user="ada", password=PASSWORD)
        connection = await asyncpg.connect(database="shop", **settings)
        await connection.execute("CREATE TABLE t (id INT PRIMARY KEY, name TEXT, at TIMESTAMPTZ)")
        now = dt.datetime(2024, 1, 2, 3, 4, 5, 6, tzinfo=dt.timezone.utc)
        rows = [(number, f"n{number}", now) for number in range(1000)]
        await connection.executemany("INSERT INTO t VALUES ($1, $2, $3)", rows)
        found = await connection.fetch("SELECT * FROM t WHERE id >= $1 ORDER BY id", 990)
        assert [tuple(row) for row in found] == rows[990:]
        await connection.copy_records_to_table("t", records=[(-5, "copied", now), (-4, None, None)])
        assert await connection.execute("DELETE FROM t WHERE id < 0") == "DELETE 2"
        assert (await connection.fetchval("SELECT count(*) FROM t")) == 1000
        async with connection.transaction():
            cursor = [row["id"] async for row in connection.cursor("SELECT id FROM t ORDER BY id", prefetch=7)]
        assert cursor == list(range(1000))
        with pytest.raises(asyncpg.UniqueViolationError):
            await connection.execute("INSERT INTO t VALUES (1, 'x', NULL)")
        statement = await connection.prepare("SELECT name FROM t WHERE id = $1")
        assert await statement.fetchval(5) == "n5"
        for column, values in [("id", [5, 7, -1]), ("name", ["n5", "n7", None]), ("id", [])]:
            found = await connection.fetch(f"SELECT id FROM t WHERE {column} = ANY($1) ORDER BY id", values)
            assert [row["id"] for row in found] == [5, 7][: len(values)]
        await connection.execute("CREATE TABLE u (id UUID PRIMARY KEY DEFAULT gen_random_uuid(), d JSON)")
        key = uuid.uuid4()
        await connection.execute("INSERT INTO u VALUES ($1, $2)", key, '{"a": [1]}')
        await connection.copy_records_to_table("u", records=[(uuid.uuid4(), "[]")])
        row = await connection.fetchrow("SELECT id, d, d -> 'a' AS a FROM u WHERE id = $1", key)
        assert tuple(row) == (key, '{"a": [1]}', "[1]")
        assert await connection.fetchval("SELECT count(*) FROM u WHERE id = ANY($1)", [key, uuid.uuid4()]) == 1
        await connection.close()

    asyncio.run(go())


def test_asyncpg_pool(server: Server):
    """A connection that goes back to its pool is reset."""

    async def go() -> None:
        settings = dict(host="127.0.0.1", port=server.port, user="ada", password=PASSWORD)
        async with asyncpg.create_pool(database="shop", min_size=1, max_size=1, **settings) as pool:
            for _ in range(3):
                async with pool.acquire() as connection:
                    assert await connection.fetchval("SELECT 1") == 1

    asyncio.run(go())


def test_types_of_what_is_made_of_parameters(server: Server):
    """Rows have the types that describing told, in binary: asyncpg reads them by these."""

    async def go() -> None:
        settings = dict(host="127.0.0.1", port=server.port, user="ada", password=PASSWORD)
        connection = await asyncpg.connect(database="shop", **settings)
        await connection.execute("CREATE TABLE t (id INT PRIMARY KEY, small SMALLINT, ratio REAL)")
        await connection.execute("INSERT INTO t VALUES (7, 3, 0.5)")
        assert await connection.fetchval("SELECT id + $1 FROM t", 5) == 12
        assert await connection.fetchval("SELECT small + $1 FROM t", 5) == 8
        assert await connection.fetchval("SELECT ratio * $1 FROM t", 3.0) == 1.5
        with pytest.raises(asyncpg.NumericValueOutOfRangeError):
            await connection.fetchval("SELECT id + $1 FROM t", 2**31 - 1)
        # The driver sends its least and greatest times as infinities, and reads these as such.
        for infinite in [dt.datetime.min, dt.datetime.max, dt.date.min, dt.date.max]:
            kind = "TIMESTAMP" if isinstance(infinite, dt.datetime) else "DATE"
            assert await connection.fetchval(f"SELECT $1::{kind}", infinite) == infinite
            assert not await connection.fetchval(f"SELECT isfinite($1::{kind})", infinite)
        await connection.close()

    asyncio.run(go())


def test_intervals_as_text(server: Server):
    with psycopg.connect(server.url) as connection:
        for text, expected in [
            ("INTERVAL '3 hours'", dt.timedelta(hours=3)),
            ("INTERVAL '-1 days -2 seconds'", dt.timedelta(days=-1, seconds=-2)),
            ("TIMESTAMP '2024-01-02 00:00:01.5' - TIMESTAMP '2024-01-01'", dt.timedelta(days=1, seconds=1.5)),
            ("TIMESTAMP '2024-01-01' - TIMESTAMP '2024-01-01'", dt.timedelta(0)),
        ]:
            assert connection.execute(f"SELECT {text}").fetchone() == (expected,), text
        shown = connection.pgconn.exec_(b"SELECT INTERVAL '14 months -3 days 4 hours'").get_value(0, 0)
        assert shown == b"1 year 2 mons -3 days +04:00:00"


@pytest.mark.parametrize("binary", [False, True])
def test_intervals_in_columns_and_as_parameters(server: Server, binary: bool):
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, i INTERVAL)")
        given = [dt.timedelta(days=-3, seconds=7, microseconds=5), dt.timedelta(0), None]
        place = "%b" if binary else "%t"
        for key, value in enumerate(given):
            connection.execute(f"INSERT INTO t VALUES (%s, {place})", [key, value])
        found = connection.cursor(binary=binary).execute("SELECT i FROM t ORDER BY id").fetchall()
        assert found == [(value,) for value in given]
        moved = f"SELECT TIMESTAMP '2024-01-01' + {place}::interval"
        assert connection.execute(moved, [given[0]]).fetchone() == (dt.datetime(2024, 1, 1) + given[0],)
        described = connection.execute("SELECT i FROM t").description
        assert described[0].type_code == 1186
        connection.commit()
        with pytest.raises(psycopg.errors.InvalidDatetimeFormat):
            connection.execute("INSERT INTO t VALUES (9, '1 dog')")
        connection.rollback()
        with pytest.raises(psycopg.errors.DatetimeFieldOverflow):
            connection.execute("SELECT INTERVAL '2147483647 days' + INTERVAL '1 day'").fetchall()


def test_intervals_of_asyncpg(server: Server):
    async def go() -> None:
        settings = dict(host="127.0.0.1", port=server.port, user="ada", password=PASSWORD)
        connection = await asyncpg.connect(database="shop", **settings)
        await connection.execute("CREATE TABLE t (i INTERVAL)")
        span = dt.timedelta(days=40, seconds=3)
        await connection.execute("INSERT INTO t VALUES ($1)", span)
        assert await connection.fetchval("SELECT i FROM t") == span
        assert await connection.fetchval("SELECT i * 2 FROM t") == span * 2
        await connection.close()

    asyncio.run(go())


def test_zones_of_what_has_none(server: Server):
    """As pgJDBC sends dates and times: with the zone that it runs in, and no type."""
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, at TIMESTAMP, day DATE, clock TIME)")
        texts = ["2024-01-01 12:00:00+05:30", "2024-01-01 +02", "23:59:59.5-03"]
        connection.execute("INSERT INTO t VALUES (1, %s, %s, %s)", texts)
        expected = (dt.datetime(2024, 1, 1, 12), dt.date(2024, 1, 1), dt.time(23, 59, 59, 500_000))
        assert connection.execute("SELECT at, day, clock FROM t").fetchone() == expected


def test_and_chain_begins_a_transaction(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        with pytest.raises(psycopg.errors.NoActiveSqlTransaction):
            connection.execute("COMMIT AND CHAIN")
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("COMMIT AND CHAIN")
        assert connection.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("ROLLBACK AND CHAIN")
        assert connection.execute("SHOW transaction_isolation").fetchone() == ("repeatable read",)
        connection.execute("INSERT INTO t VALUES (2)")
        connection.execute("COMMIT")
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (2,)


def test_character_types_have_postgresqls_numbers(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute('CREATE TABLE t (f CHAR(4), v VARCHAR(5), n NAME, b "char")')
        with connection.cursor().copy("COPY t FROM STDIN") as copy:
            copy.write("a\tb\tc\td\n")
        for prepare in (False, True):
            cursor = connection.execute("SELECT * FROM t", prepare=prepare)
            assert [column.type_code for column in cursor.description] == [1042, 1043, 19, 18]
            assert cursor.fetchone() == ("a   ", "b", "c", "d")
        with pytest.raises(psycopg.errors.StringDataRightTruncation):
            connection.execute("INSERT INTO t (v) VALUES ('abcdef')")
        shown = "SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 't'::regclass AND attnum > 0 ORDER BY attnum"
        expected = ["character(4)", "character varying(5)", "name", '"char"']
        assert [row[0] for row in connection.execute(shown)] == expected


def test_discard_all_forgets_prepared_statements(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("SELECT 1", prepare=True)
        for _ in range(2):
            connection.pgconn.prepare(b"mine", b"SELECT 1")
            connection.execute("DISCARD ALL", prepare=False)
        done = connection.pgconn.prepare(b"mine", b"SELECT 1")
        assert done.status == psycopg.pq.ExecStatus.COMMAND_OK


def test_sqlalchemy(server: Server):
    url = server.url.replace("postgresql://", "postgresql+psycopg://")
    engine = sqlalchemy.create_engine(url)
    metadata = sqlalchemy.MetaData()
    table = sqlalchemy.Table(
        "people",
        metadata,
        sqlalchemy.Column("id", sqlalchemy.Integer, primary_key=True, autoincrement=False),
        sqlalchemy.Column("name", sqlalchemy.String),
        sqlalchemy.Column("key", sqlalchemy.Uuid),
        sqlalchemy.Column("more", sqlalchemy.JSON),
        sqlalchemy.Column("tags", sqlalchemy.ARRAY(sqlalchemy.String)),
    )
    key = uuid.uuid4()
    with engine.begin() as connection:
        connection.execute(sqlalchemy.schema.CreateTable(table))
        connection.execute(table.insert(), [{"id": 1, "name": "Ada"}, {"id": 2, "name": "Bob"}])
        connection.execute(table.update().where(table.c.id == 1).values(key=key, more={"a": [1, None]}, tags=["x", None]))
    with engine.connect() as connection:
        query = sqlalchemy.select(table.c.name).where(table.c.id > 0).order_by(table.c.name.desc())
        assert connection.execute(query).scalars().all() == ["Bob", "Ada"]
        row = connection.execute(sqlalchemy.select(table.c.key, table.c.more).where(table.c.key == key)).one()
        assert tuple(row) == (key, {"a": [1, None]})
    kinds = {column["name"]: str(column["type"]) for column in sqlalchemy.inspect(engine).get_columns("people")}
    assert (kinds["key"], kinds["more"], kinds["tags"]) == ("UUID", "JSON", "ARRAY")
    engine.dispose()


def test_who_waits_for_whom(server: Server):
    with psycopg.connect(server.url) as one, psycopg.connect(server.url, autocommit=True) as two:
        one.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        one.commit()
        one.execute("LOCK TABLE t IN SHARE MODE")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            with two.transaction():
                two.execute("LOCK TABLE t IN ROW EXCLUSIVE MODE NOWAIT")
        inserting = threading.Thread(target=two.execute, args=["INSERT INTO t VALUES (1)"])
        inserting.start()
        blocking = "SELECT pg_blocking_pids(%s)"
        with psycopg.connect(server.url, autocommit=True) as third:
            while third.execute(blocking, [two.info.backend_pid]).fetchone() != ([one.info.backend_pid],):
                assert inserting.is_alive()
            waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            assert third.execute(waiting).fetchall() == [(two.info.backend_pid,)]
            held = (
                "SELECT l.pid, l.mode FROM pg_locks l JOIN pg_class c ON c.oid = l.relation "
                "WHERE c.relname = 't' AND l.granted"
            )
            assert third.execute(held).fetchall() == [(one.info.backend_pid, "ShareLock")]
        one.commit()
        inserting.join(60)
        assert two.execute("SELECT count(*) FROM t").fetchone() == (1,)
        two.execute(f"KILL {one.info.backend_pid}")
        with pytest.raises(psycopg.OperationalError):
            one.execute("SELECT 1")


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_returning(server: Server, binary: bool):
    with psycopg.connect(server.url) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n BIGINT, s TEXT DEFAULT 'none')")
        inserted = connection.execute(
            "INSERT INTO t (id, n) VALUES (%s, 10), (2, 20) RETURNING *", [1], binary=binary
        )
        assert inserted.statusmessage == "INSERT 0 2"
        assert inserted.rowcount == 2
        assert inserted.fetchall() == [(1, 10, "none"), (2, 20, "none")]
        updated = connection.execute(
            "UPDATE t SET n = n + %s WHERE id = %s RETURNING n AS sum", [5, 2], binary=binary
        )
        assert (updated.statusmessage, updated.description[0].name) == ("UPDATE 1", "sum")
        assert updated.fetchall() == [(25,)]
        deleted = connection.execute("DELETE FROM t WHERE n > 20 RETURNING id, s", binary=binary)
        assert (deleted.statusmessage, deleted.fetchall()) == ("DELETE 1", [(2, "none")])
        both = connection.execute("UPDATE t SET n = %s RETURNING *, n + 1, t.n", [11], binary=binary, prepare=True)
        assert both.fetchall() == [(1, 11, "none", 12, 11)]
        none = connection.execute("DELETE FROM t WHERE n > 20 RETURNING id", binary=binary)
        assert (none.statusmessage, none.fetchall()) == ("DELETE 0", [])
    with psycopg.connect(server.url) as connection:
        assert connection.execute("SELECT id FROM t").fetchall() == [(1,)]


def test_psycopg_upserts(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)")
        upsert = "INSERT INTO t VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET n = t.n + excluded.n RETURNING n"
        sums = [connection.execute(upsert, [1, n], prepare=True).fetchone() for n in (1, 2, 3)]
        assert sums == [(1,), (3,), (6,)]
        ignored = connection.execute("INSERT INTO t VALUES (%s, 0) ON CONFLICT DO NOTHING", [1])
        assert ignored.statusmessage == "INSERT 0 0"
        changed = connection.execute(
            "UPDATE t SET n = u.n FROM (SELECT %s::int AS id, %s::bigint AS n) AS u WHERE u.id = t.id", [1, 50]
        )
        assert changed.statusmessage == "UPDATE 1"
        assert connection.execute("DELETE FROM t USING t AS u WHERE u.id = t.id RETURNING *").fetchall() == [(1, 50, 1, 50)]


def test_texts_of_times_are_read_at_the_start_of_their_transaction(server: Server):
    with psycopg.connect(server.url, autocommit=True) as connection:
        for text, kind, known in [("today", "date", "CURRENT_DATE"), ("now", "timestamptz", "now()")]:
            with connection.transaction():
                query = f"SELECT %t::{kind} = {known}, isfinite(%t::{kind})"
                assert connection.execute(query, [text, text]).fetchone() == (True, True)

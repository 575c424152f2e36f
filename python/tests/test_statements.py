"""Statements, parameters, values, transactions, errors."""

import datetime as dt
import decimal
import threading
import uuid
from pathlib import Path

import pytest

import gadus

VALUES = [
    ("BOOLEAN", True),
    ("SMALLINT", -32768),
    ("INTEGER", 2**31 - 1),
    ("BIGINT", -(2**63)),
    ("UBIGINT", 2**63 - 1),
    ("DOUBLE", 0.1),
    ("DECIMAL(18, 3)", decimal.Decimal("-123456789012345.678")),
    ("DECIMAL(38, 0)", decimal.Decimal(10**37)),
    ("TEXT", "naïve 🐟 'quoted'"),
    ("BYTEA", b"\x00\xff'"),
    ("DATE", dt.date(1, 1, 1)),
    ("DATE", dt.date(9999, 12, 31)),
    ("TIME", dt.time(23, 59, 59, 999999)),
    ("TIMESTAMP", dt.datetime(1969, 12, 31, 23, 59, 59, 1)),
    ("TIMESTAMPTZ", dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)),
    ("UUID", uuid.UUID("f47ac10b-58cc-4372-a567-0e02b2c3d479")),
    ("JSON", '{"a": [1, 2]}'),
    ("INTEGER[]", [1, None, -(2**31)]),
    ("TEXT[]", ["a", "naïve, \"quoted\"", None]),
    ("DOUBLE[][]", [[0.1, 2.0], [], None]),
    ("DATE[]", []),
]


@pytest.mark.parametrize(("sql_type", "value"), VALUES)
def test_a_value_comes_back_as_it_went(connection, sql_type, value):
    connection.execute(f"CREATE TABLE t (v {sql_type}, w {sql_type})")
    connection.execute("INSERT INTO t VALUES (?, NULL)", [value])
    assert connection.execute("SELECT v, w FROM t").fetchall() == [(value, None)]
    # JSON is a text as it was given, and has no equality of its own.
    compared = "v::text" if sql_type == "JSON" else "v"
    assert connection.execute(f"SELECT count(*) FROM t WHERE {compared} = ?", (value,)).fetchone() == (1,)


def test_intervals_are_timedeltas(connection):
    connection.execute("CREATE TABLE t (n INTEGER, v INTERVAL)")
    spans = [dt.timedelta(days=-2, seconds=3, microseconds=4), dt.timedelta(0), None]
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(spans)))
    assert connection.execute("SELECT v FROM t ORDER BY n").fetchall() == [(span,) for span in spans]
    moved = connection.execute("SELECT TIMESTAMP '2024-01-31' + ?", [dt.timedelta(days=1)]).fetchone()
    assert moved == (dt.datetime(2024, 2, 1),)
    # A month has thirty days where days are counted.
    assert connection.execute("SELECT INTERVAL '1 mon'").fetchone() == (dt.timedelta(days=30),)


def test_other_objects_are_values_where_they_mean_one(connection):
    connection.execute("CREATE TABLE t (v TEXT, b BYTEA, z TIMESTAMPTZ, d DECIMAL(38, 2))")
    number = uuid.uuid4()
    berlin = dt.timezone(dt.timedelta(hours=1))
    at = dt.datetime(2024, 1, 1, 1, tzinfo=berlin)
    connection.execute(
        "INSERT INTO t VALUES (?, ?, ?, ?)",
        [number, memoryview(b"ab"), at, decimal.Decimal("1E+3")],
    )
    utc = dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)
    assert connection.execute("SELECT * FROM t").fetchone() == (
        str(number),
        b"ab",
        utc,
        decimal.Decimal("1000.00"),
    )
    for wrong in [object(), [object()], 1j, dt.time(1, tzinfo=berlin)]:
        with pytest.raises(gadus.InterfaceError, match="parameter|zone"):
            connection.execute("SELECT ?", [wrong])
    for wrong in [10**40, decimal.Decimal("NaN"), decimal.Decimal("1E+60"), [1, b"a"]]:
        with pytest.raises(gadus.DataError):
            connection.execute("SELECT ?", [wrong])


def test_nested_values_become_lists_and_dictionaries(connection):
    cursor = connection.execute("SELECT make_array(1, 2, NULL), named_struct('a', 1, 'b', 'x')")
    assert cursor.fetchone() == ([1, 2, None], {"a": 1, "b": "x"})
    connection.execute("CREATE TABLE t (s STRUCT(a INT, d DATE), m MAP(TEXT, INT), l STRUCT(k UUID)[], d JSON)")
    key, day = uuid.uuid4(), dt.date(2024, 2, 29)
    row = ({"a": 1, "d": day}, {"x": 1, "y": None}, [{"k": key}, None], '{"k": [1]}')
    connection.execute("INSERT INTO t VALUES (?, ?, ?, ?)", [*row[:3], {"k": [1]}])
    assert connection.execute("SELECT * FROM t").fetchall() == [row]
    assert connection.execute("SELECT ?, ?", [[1, 2.5], ("a", None)]).fetchone() == ([1.0, 2.5], ["a", None])


def test_parameters_have_places_numbers_or_names(connection):
    one = connection.execute
    assert one("SELECT ?, ?", (1, "a")).fetchone() == (1, "a")
    assert one("SELECT $2, $1", [1, "a"]).fetchone() == ("a", 1)
    assert one("SELECT :a, :b, :a", {"b": 2, "a": 1, "c": 3}).fetchone() == (1, 2, 1)
    assert one("SELECT $a + 1", {"a": 1}).fetchone() == (2,)
    with pytest.raises(gadus.ProgrammingError, match=":b was not given"):
        one("SELECT :a, :b", {"a": 1})
    with pytest.raises(gadus.ProgrammingError, match="no names"):
        one("SELECT ?", {"a": 1})
    with pytest.raises(gadus.ProgrammingError, match="either names or numbers"):
        one("SELECT ?, :a", {"a": 1})
    with pytest.raises(gadus.ProgrammingError, match="2 parameters"):
        one("SELECT ?, ?", [1])
    with pytest.raises(gadus.ProgrammingError, match="not a text"):
        one("SELECT ?", "a")


def test_rows_are_fetched_in_any_way(connection):
    def query():
        return connection.execute("SELECT value FROM generate_series(1, 1000) AS s(value)")

    rows = [(number,) for number in range(1, 1001)]
    assert query().fetchall() == rows
    assert list(query()) == rows
    cursor = query()
    assert cursor.fetchone() == (1,)
    assert cursor.fetchmany(3) == [(2,), (3,), (4,)]
    cursor.arraysize = 2
    assert cursor.fetchmany() == [(5,), (6,)]
    assert cursor.fetchall() == rows[6:]
    assert cursor.fetchone() is None
    assert cursor.fetchmany() == []
    assert cursor.fetchall() == []


def test_a_description_says_what_the_columns_are(connection):
    connection.execute("CREATE TABLE t (a BIGINT NOT NULL, b DECIMAL(10, 2), c TEXT, d DATE)")
    cursor = connection.cursor()
    assert cursor.description is None
    cursor.execute("SELECT * FROM t")
    assert [column[0] for column in cursor.description] == ["a", "b", "c", "d"]
    types = [column[1] for column in cursor.description]
    assert types == [gadus.NUMBER, gadus.NUMBER, gadus.STRING, gadus.DATETIME]
    assert types == ["BIGINT", "DECIMAL", "TEXT", "DATE"]
    assert cursor.description[0][4:] == (None, None, False)
    assert cursor.description[1][4:] == (10, 2, True)
    cursor.execute("INSERT INTO t VALUES (1, 2, 'c', DATE '2024-01-01')")
    assert cursor.description is None
    assert cursor.rowcount == 1


def test_changed_rows_are_returned(connection):
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
    cursor = connection.execute("INSERT INTO t VALUES (?, 10), (2, 20) RETURNING id, n + 1 AS more", [1])
    assert [column[0] for column in cursor.description] == ["id", "more"]
    assert cursor.rowcount == 2
    assert cursor.fetchall() == [(1, 11), (2, 21)]
    assert cursor.rowcount == 2
    cursor = connection.execute("UPDATE t SET n = 0 WHERE id > 5 RETURNING id")
    assert (cursor.rowcount, cursor.fetchall()) == (0, [])
    assert connection.execute("DELETE FROM t WHERE id = 2 RETURNING *").fetchone() == (2, 20)
    assert connection.execute("SELECT * FROM t").fetchall() == [(1, 10)]


def test_many_sets_of_parameters_are_all_or_none(connection):
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    cursor = connection.executemany("INSERT INTO t VALUES (?)", [[1], (2,), [3]])
    assert cursor.rowcount == 3
    with pytest.raises(gadus.IntegrityError) as error:
        connection.executemany("INSERT INTO t VALUES (:id)", ({"id": id} for id in [4, 5, 1]))
    assert error.value.kind == "UniqueViolation"
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (3,)
    assert not connection.in_transaction


def test_transactions_are_committed_or_taken_back(path: Path):
    connection = gadus.connect(path)
    other = gadus.connect(path)
    connection.execute("CREATE TABLE t (id BIGINT)")

    def count():
        return other.execute("SELECT count(*) FROM t").fetchone()[0]

    connection.begin()
    connection.execute("INSERT INTO t VALUES (1)")
    assert connection.in_transaction and count() == 0
    connection.commit()
    assert not connection.in_transaction and count() == 1
    connection.commit()
    connection.execute("BEGIN")
    connection.execute("INSERT INTO t VALUES (2)")
    connection.rollback()
    connection.rollback()
    assert count() == 1
    # As DB-API has it.
    connection.autocommit = False
    connection.execute("INSERT INTO t VALUES (2)")
    assert connection.in_transaction and count() == 1
    connection.commit()
    assert count() == 2
    connection.execute("INSERT INTO t VALUES (3)")
    connection.close()
    assert count() == 2
    with gadus.connect(path, autocommit=False) as connection:
        connection.execute("INSERT INTO t VALUES (3)")
    assert connection.closed and count() == 3
    with pytest.raises(ZeroDivisionError), gadus.connect(path, autocommit=False) as connection:
        connection.execute("INSERT INTO t VALUES (4)")
        raise ZeroDivisionError
    assert connection.closed and count() == 3


def test_errors_are_of_the_classes_of_dbapi(connection):
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n INTEGER NOT NULL)")
    for text, error, kind in [
        ("SELEC 1", gadus.ProgrammingError, "Input"),
        ("SELECT * FROM nowhere", gadus.ProgrammingError, None),
        ("CREATE TABLE t (a INT)", gadus.ProgrammingError, "AlreadyExists"),
        ("INSERT INTO t VALUES (1, NULL)", gadus.IntegrityError, "NotNullViolation"),
        ("SELECT 1 / 0", gadus.DataError, "OutOfRange"),
        ("GRANT SELECT ON t TO somebody", gadus.NotSupportedError, "Unsupported"),
    ]:
        with pytest.raises(error) as raised:
            connection.execute(text).fetchall()
        assert kind is None or raised.value.kind == kind
        assert isinstance(raised.value, gadus.DatabaseError)


def test_what_is_closed_says_so(connection):
    cursor = connection.execute("SELECT 1")
    cursor.close()
    for use in [cursor.fetchone, cursor.fetchall, lambda: cursor.execute("SELECT 1")]:
        with pytest.raises(gadus.InterfaceError, match="cursor is closed"):
            use()
    with pytest.raises(gadus.InterfaceError, match="no query"):
        connection.cursor().fetchone()
    cursor = connection.execute("SELECT 1")
    connection.close()
    connection.close()
    for use in [connection.cursor, connection.commit, lambda: connection.execute("SELECT 1")]:
        with pytest.raises(gadus.InterfaceError, match="connection is closed"):
            use()


def test_options_say_how_a_database_is_opened(path: Path):
    with pytest.raises(gadus.OperationalError, match="No such file"):
        gadus.connect(path, create=False)
    with pytest.raises(gadus.InterfaceError, match="durability is"):
        gadus.connect(path, durability="strong")
    connection = gadus.connect(str(path), durability="relaxed", threads=1, cache="16MiB")
    connection.execute("CREATE TABLE t (a INT)")
    connection.close()
    with gadus.connect(path, read_only=True) as connection:
        with pytest.raises(gadus.OperationalError) as error:
            connection.execute("INSERT INTO t VALUES (1)")
        assert error.value.kind == "ReadOnly"
    first, second = gadus.connect(":memory:"), gadus.connect()
    first.execute("CREATE TABLE t (a INT)")
    with pytest.raises(gadus.ProgrammingError):
        second.execute("SELECT * FROM t")


def test_a_script_runs_to_its_end(connection):
    script = "CREATE TABLE t (a INT); INSERT INTO t VALUES (1), (2); -- done\n"
    assert connection.executescript(script) == 2
    assert connection.execute("SELECT sum(a) FROM t").fetchone() == (3,)


def test_threads_share_connections_and_have_their_own(connection):
    connection.execute("CREATE TABLE t (thread INT, number INT)")
    errors = []

    def work(thread: int, own: gadus.Connection) -> None:
        try:
            for number in range(50):
                own.execute("INSERT INTO t VALUES (?, ?)", (thread, number))
                own.execute("SELECT count(*) FROM t").fetchall()
        except Exception as error:
            errors.append(error)

    threads = [
        threading.Thread(
            target=work, args=(number, connection if number % 2 else connection.duplicate())
        )
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (400,)


def test_sets_are_all_or_none(connection: gadus.Connection):
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    connection.begin()
    connection.execute("INSERT INTO t VALUES (7)")
    with pytest.raises(gadus.IntegrityError):
        connection.executemany("INSERT INTO t VALUES (?)", [[1], [2], [1]])
    connection.commit()
    assert connection.execute("SELECT id FROM t").fetchall() == [(7,)]


def test_sets_are_apart_from_other_threads(connection: gadus.Connection):
    """What another thread was told is committed stays, whatever becomes of the sets beside it."""
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY)")
    connection.execute("CREATE TABLE log (n INT)")

    def many() -> None:
        with pytest.raises(gadus.IntegrityError):
            connection.executemany("INSERT INTO t VALUES (?)", [[n] for n in range(20_000)] + [[0]])

    thread = threading.Thread(target=many)
    thread.start()
    count = 0
    while thread.is_alive():
        connection.execute("INSERT INTO log VALUES (1)")
        count += 1
    thread.join()
    assert connection.execute("SELECT count(*) FROM log").fetchone() == (count,)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)


def test_without_autocommit_everything_can_be_taken_back():
    connection = gadus.connect(autocommit=False)
    connection.execute("CREATE TABLE t (a INT)")
    connection.commit()
    for change in [
        lambda: connection.executescript("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)"),
        lambda: connection.executemany("INSERT INTO t VALUES (?)", [[1], [2]]),
        lambda: connection.execute_batch(["INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)"]),
        lambda: connection.execute("/* first */ INSERT INTO t VALUES (1)"),
        lambda: connection.submit("INSERT INTO t VALUES (1)").result(),
    ]:
        change()
        connection.rollback()
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
        connection.rollback()
    # What was submitted before has its turn before.
    future = connection.submit("INSERT INTO t VALUES (1)")
    connection.rollback()
    future.result()
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (0,)
    connection.rollback()
    connection.execute("/* no other */ BEGIN")
    connection.rollback()
    connection.execute("DISCARD ALL")
    connection.close()


def test_rows_that_were_broken_off_are_not_all(connection: gadus.Connection):
    cursor = connection.execute(
        "SELECT CAST(CASE WHEN value = 15000 THEN 'x' ELSE '1' END AS INT) FROM generate_series(1, 20000) s(value)"
    )
    with pytest.raises(gadus.Error):
        cursor.fetchall()
    with pytest.raises(gadus.OperationalError, match="broken off"):
        cursor.fetchall()
    with pytest.raises(gadus.OperationalError, match="broken off"):
        cursor.arrow()


def test_times_of_numpy(connection: gadus.Connection):
    numpy = pytest.importorskip("numpy")
    connection.execute("CREATE TABLE t (at TIMESTAMP)")
    for unit in ["ns", "us", "s"]:
        connection.execute("INSERT INTO t VALUES (?)", [numpy.datetime64("2024-01-02T03:04:05", unit)])
    assert connection.execute("SELECT DISTINCT at FROM t").fetchall() == [(dt.datetime(2024, 1, 2, 3, 4, 5),)]
    assert connection.execute("SELECT ?", [numpy.datetime64("NaT", "ns")]).fetchone() == (None,)
    with pytest.raises(gadus.InterfaceError):
        connection.execute("SELECT ?", [numpy.timedelta64(5, "ns")])


def test_missing_values_of_pandas(connection: gadus.Connection):
    pandas = pytest.importorskip("pandas")
    assert connection.execute("SELECT ?, ?", [pandas.NaT, pandas.NA]).fetchone() == (None, None)


def test_dates_beyond_python(connection: gadus.Connection):
    with pytest.raises(gadus.DataError, match="9999"):
        connection.execute("SELECT DATE '2000-01-01' + 5000000").fetchone()


def test_every_error_has_a_kind(connection: gadus.Connection):
    for statement, params in [("SELECT :a", {}), ("SELECT ?", [object()]), ("SELECT ?", b"x"), ("SELEC", None)]:
        with pytest.raises(gadus.Error) as caught:
            connection.execute(statement, params)
        assert isinstance(caught.value.kind, str)


def test_a_preview_knows_how_many_rows_there_are(connection: gadus.Connection):
    cursor = connection.execute("SELECT 1 AS a UNION ALL SELECT 2")
    assert "(2 rows)" in repr(cursor)
    assert sorted(cursor.fetchall()) == [(1,), (2,)]


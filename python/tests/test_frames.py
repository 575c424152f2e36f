"""Data of other packages, in and out."""

import concurrent.futures
import datetime as dt
import decimal
import uuid

import pytest

import gadus

np = pytest.importorskip("numpy")
pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

TABLE = pa.table(
    {
        "b": pa.array([True, None, False]),
        "i": pa.array([1, None, -3], pa.int64()),
        "s": pa.array([1, None, -3], pa.int16()),
        "u": pa.array([1, None, 2**63], pa.uint64()),
        "f": pa.array([0.5, None, -1e300]),
        "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("-9.99")]),
        "t": pa.array(["a", None, "naïve"]),
        "y": pa.array([b"a", None, b"\x00"]),
        "day": pa.array([dt.date(2024, 2, 29), None, dt.date(1, 1, 1)]),
        "at": pa.array([dt.datetime(2024, 1, 1, 1, 2, 3, 4), None, dt.datetime(1900, 1, 1)]),
        "z": pa.array([dt.datetime(2024, 1, 1), None, dt.datetime(1970, 1, 1)]).cast(
            pa.timestamp("us", "UTC")
        ),
        "time": pa.array([dt.time(1, 2, 3, 4), None, dt.time(0)]),
        "l": pa.array([[1, 2], None, []], pa.list_(pa.int64())),
        "st": pa.array([{"a": 1}, None, {"a": None}], pa.struct([("a", pa.int64())])),
    }
)


def test_arrow_data_comes_back_as_it_went(connection):
    connection.register("t", TABLE)
    result = connection.execute("SELECT * FROM t").arrow()
    assert result.to_pylist() == TABLE.to_pylist()
    rows = connection.execute("SELECT * FROM t").fetchall()
    assert [dict(zip(TABLE.column_names, row, strict=True)) for row in rows] == TABLE.to_pylist()
    connection.unregister("T")
    with pytest.raises(gadus.ProgrammingError, match="no data is registered"):
        connection.unregister("t")


def test_rows_leave_as_every_kind_of_frame(connection):
    query = "SELECT value AS n, value * 0.5 AS half, 'x' AS x FROM generate_series(1, 5) AS s(value)"
    run = connection.execute
    assert run(query).arrow().column("n").to_pylist() == [1, 2, 3, 4, 5]
    assert run(query).df()["n"].sum() == 15
    assert run(query).pl()["x"].to_list() == ["x"] * 5
    assert run(query).fetchnumpy()["n"].tolist() == [1, 2, 3, 4, 5]
    masked = run("SELECT nullif(value, 2) AS n FROM generate_series(1, 3) AS s(value)").fetchnumpy()
    assert masked["n"].mask.tolist() == [False, True, False]
    key = "f47ac10b-58cc-4372-a567-0e02b2c3d479"
    some = run(f"SELECT * FROM (VALUES ('{key}'::UUID, '[1]'::JSON), (NULL, NULL)) AS v(key, document)").fetchnumpy()
    assert (some["key"][0], some["document"][0]) == (uuid.UUID(key), "[1]")
    assert some["key"].mask.tolist() == some["document"].mask.tolist() == [False, True]
    assert run(f"SELECT '{key}'::UUID AS key").fetchnumpy()["key"].tolist() == [uuid.UUID(key)]
    reader = run(query).fetch_record_batch()
    assert sum(batch.num_rows for batch in reader) == 5
    # What was fetched as objects does not come again.
    cursor = run(query)
    assert cursor.fetchone()[0] == 1
    assert cursor.arrow().column("n").to_pylist() == [2, 3, 4, 5]
    with pytest.raises(gadus.InterfaceError):
        cursor.arrow()


def test_lists_are_arrays(connection):
    connection.execute("CREATE TABLE t (id INT, v FLOAT4[])")
    wanted = np.array([0.5, 1.0], dtype=np.float32)
    connection.execute("INSERT INTO t VALUES (1, ?), (2, ?)", [wanted, np.zeros(2)])
    nearest = "SELECT id, v FROM t ORDER BY array_distance(v, ?) LIMIT 1"
    assert connection.execute(nearest, [wanted]).fetchall() == [(1, [0.5, 1.0])]
    vectors = connection.execute("SELECT v FROM t ORDER BY id").arrow()
    assert vectors.column("v").type == pa.list_(pa.float32())
    connection.execute("CREATE TABLE u AS SELECT * FROM vectors")
    assert connection.execute("SELECT count(*) FROM u JOIN t ON u.v = t.v").fetchone() == (2,)


def test_variables_are_tables(connection):
    frame = pd.DataFrame({"id": [1, 2, 3], "name": ["a", "b", None]}, index=[7, 8, 9])
    polar = pl.DataFrame({"id": [2, 3], "fare": [1.5, 2.5]})
    Mixed = TABLE.select(["i"])  # noqa: N806
    found = connection.execute(
        "SELECT f.id, f.name, p.fare FROM frame f JOIN polar p ON p.id = f.id ORDER BY 1"
    )
    assert found.fetchall() == [(2, "b", 1.5), (3, None, 2.5)]
    assert connection.execute("SELECT count(i) FROM Mixed").fetchone() == (2,)
    assert connection.execute("SELECT count(b) FROM TABLE_OF_MODULE").fetchone() == (2,)
    # What it is now, not what it was.
    frame = frame.head(1)
    assert connection.execute("SELECT count(*) FROM frame").fetchone() == (1,)
    # Tables of the database come first.
    connection.execute("CREATE TABLE frame AS SELECT * FROM polar")
    assert connection.execute("SELECT count(*) FROM frame").fetchone() == (2,)
    neither = [1, 2]
    with pytest.raises(gadus.ProgrammingError, match="neither"):
        connection.execute("SELECT * FROM neither")
    with pytest.raises(gadus.ProgrammingError, match="a list"):
        connection.register("neither", neither)


def test_variables_are_those_of_the_thread_that_asks(connection):
    """Also where several share a connection, whose statements wait for each other."""

    def sums(number: int) -> set[int]:
        frame = pa.table({"n": [number] * 1000})
        found = set()
        for _ in range(50):
            found.update(connection.execute("SELECT sum(n) FROM frame").fetchone())
        assert len(frame) == 1000
        return found

    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert list(threads.map(sums, range(4))) == [{0}, {1000}, {2000}, {3000}]
    with pytest.raises(gadus.ProgrammingError, match="frame"):
        connection.execute("SELECT sum(n) FROM frame")


TABLE_OF_MODULE = TABLE


def test_frames_are_appended_and_inserted(connection):
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT)")
    frame = pd.DataFrame({"id": range(100_000), "name": "x"})
    assert connection.append("t", frame) == 100_000
    more = pl.DataFrame({"id": [100_000], "name": ["y"]})
    assert connection.execute("INSERT INTO t SELECT * FROM more").rowcount == 1
    with pytest.raises(gadus.IntegrityError):
        connection.append("t", more)
    with pytest.raises(gadus.InterfaceError):
        connection.append("t", [(1, "a")])
    assert connection.execute("SELECT count(*), max(name) FROM t").fetchone() == (100_001, "y")
    connection.begin()
    connection.append("t", pa.table({"id": [-1], "name": ["z"]}))
    # All or none, however many there are; what came before stays.
    many = pa.table({"id": [*range(200_000, 800_000), 0], "name": ["z"] * 600_001})
    with pytest.raises(gadus.IntegrityError):
        connection.append("t", many)
    assert connection.execute("SELECT count(*) FROM t").fetchone() == (100_002,)
    connection.rollback()
    assert connection.execute("SELECT min(id) FROM t").fetchone() == (0,)


def test_a_cursor_is_arrow_data(connection):
    rows = connection.execute("SELECT value FROM generate_series(1, 10) AS s(value)")
    assert connection.execute("SELECT sum(value) FROM rows").fetchone() == (55,)


def test_numpy_scalars_are_parameters(connection):
    values = [np.int32(1), np.float64(0.5), np.str_("a"), np.bool_(True)]
    assert connection.execute("SELECT ?, ?, ?, ?", values).fetchone() == (1, 0.5, "a", True)

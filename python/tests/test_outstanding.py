"""Statements that are outstanding together, and asyncio."""

import asyncio

import pytest

import gadus
import gadus.aio


def filled(connection: gadus.Connection) -> None:
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, kind INT, name TEXT)")
    connection.execute(
        "INSERT INTO t SELECT value, value % 100, 'n' || (value % 1000) "
        "FROM generate_series(1, 20000) AS s(value)"
    )


def test_a_batch_of_statements_is_answered_in_order(connection):
    filled(connection)
    statements = [("SELECT count(*) FROM t WHERE kind = ?", [kind]) for kind in range(100)]
    statements += [f"SELECT name FROM t WHERE id = {id}" for id in range(1, 101)]
    statements += [("UPDATE t SET name = 'x' WHERE kind = :k AND id < 500", {"k": 7})]
    before = connection.execute("SELECT questions FROM gadus.clock").fetchone()[0]
    results = connection.execute_batch(statements)
    assert [result.fetchone() for result in results[:100]] == [(200,)] * 100
    assert results[100].fetchall() == [("n1",)]
    assert results[-1].rowcount == 5
    assert connection.execute("SELECT questions FROM gadus.clock").fetchone()[0] > before


def test_an_error_of_a_batch_is_its_statements_own(connection):
    filled(connection)
    statements = ["SELECT 1", "SELECT * FROM nowhere", "SELECT count(*) FROM t WHERE kind = 1"]
    with pytest.raises(gadus.ProgrammingError, match="nowhere"):
        connection.execute_batch(statements)
    one, error, count = connection.execute_batch(statements, return_exceptions=True)
    assert one.fetchone() == (1,) and count.fetchone() == (200,)
    assert isinstance(error, gadus.ProgrammingError)
    with pytest.raises(gadus.ProgrammingError, match="a text, or a tuple"):
        connection.execute_batch([1])


def test_submitted_statements_are_futures(connection):
    filled(connection)
    futures = [
        connection.submit("SELECT count(*) FROM t WHERE kind = ?", [kind]) for kind in range(50)
    ]
    failed = connection.submit("SELECT * FROM nowhere")
    assert [future.result(60).fetchone() for future in futures] == [(200,)] * 50
    assert isinstance(failed.exception(60), gadus.ProgrammingError)


def test_what_is_submitted_without_autocommit_can_be_taken_back(path):
    connection = gadus.connect(path, autocommit=False)
    filled(connection)
    connection.commit()
    change = "UPDATE t SET name = 'x' WHERE kind = 7"
    for begin in [
        lambda: connection.submit(change).result(60),
        lambda: connection.execute_batch(["SET statement_timeout = 0", change]),
    ]:
        begin()
        assert connection.in_transaction
        connection.rollback()
        count = "SELECT count(*) FROM t WHERE name = 'x'"
        assert connection.execute(count).fetchone() == (0,)
        connection.rollback()
    connection.close()


def test_coroutines_run_statements(path):
    async def run() -> list:
        async with await gadus.aio.connect(path) as connection:
            await connection.execute("CREATE TABLE t (a INT)")
            await connection.executemany("INSERT INTO t VALUES (?)", [[1], [2], [3]])
            queries = [
                connection.execute("SELECT count(*) FROM t WHERE a > ?", [a]) for a in range(4)
            ]
            counts = [await cursor.fetchone() for cursor in await asyncio.gather(*queries)]
            assert counts == [(3,), (2,), (1,), (0,)]
            with pytest.raises(gadus.ProgrammingError):
                await connection.execute("SELECT * FROM nowhere")
            return [row async for row in await connection.execute("SELECT a FROM t ORDER BY a")]

    assert asyncio.run(run()) == [(1,), (2,), (3,)]


def test_coroutines_do_what_connections_do(path):
    async def run() -> None:
        async with await gadus.aio.connect(path) as connection:
            assert await connection.executescript("CREATE TABLE t (a INT); INSERT INTO t VALUES (1)") == 2
            queries = ["SELECT count(*) FROM t", ("SELECT ? + 1", [1])]
            batch = await connection.execute_batch(queries)
            assert [await cursor.fetchone() for cursor in batch] == [(1,), (2,)]
            other = await connection.duplicate()
            await connection.begin()
            await connection.execute("INSERT INTO t VALUES (2)")
            assert connection.in_transaction
            assert not other.in_transaction
            await connection.rollback()
            assert await (await other.execute("SELECT count(*) FROM t")).fetchone() == (1,)
            await other.close()
            slow = "SELECT count(*) FROM generate_series(1, 100000) a(x), generate_series(1, 100000) b(y) "
            cursor = await connection.execute(slow + "WHERE a.x * b.y % 7 = 3")
            fetching = asyncio.create_task(cursor.fetchall())
            while not fetching.done():
                connection.interrupt()
                await asyncio.sleep(0.05)
            with pytest.raises(gadus.OperationalError):
                await fetching
            await cursor.close()

    asyncio.run(run())


def test_coroutines_give_frames(path):
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")

    async def run() -> None:
        async with await gadus.aio.connect(path) as connection:
            await connection.execute("CREATE TABLE t (a BIGINT)")
            assert await connection.append("t", pa.table({"a": [1, 2]})) == 2
            connection.register("more", pa.table({"a": [3]}))
            query = "SELECT a FROM t UNION ALL SELECT a FROM more ORDER BY a"
            assert (await (await connection.execute(query)).df())["a"].sum() == 6
            assert (await (await connection.execute(query)).pl())["a"].to_list() == [1, 2, 3]
            assert (await (await connection.execute(query)).fetchnumpy())["a"].tolist() == [1, 2, 3]
            connection.unregister("more")

    asyncio.run(run())

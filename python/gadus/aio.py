"""Gadus for asyncio.

>>> import asyncio, gadus.aio
>>> async def people() -> list:
...     async with await gadus.aio.connect() as connection:
...         await connection.execute("CREATE TABLE people (name TEXT)")
...         await connection.execute("INSERT INTO people VALUES ('Ada')")
...         return await (await connection.execute("SELECT name FROM people")).fetchall()
>>> asyncio.run(people())
[('Ada',)]

Statements run on the database's threads; the event loop goes on meanwhile. Any number may be awaited at
once: those that scan a table are answered together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from types import TracebackType
from typing import Any

from . import _gadus


async def connect(path: Any = None, **options: Any) -> Connection:
    """Opens a database, or creates it; the options are those of :func:`gadus.connect`."""
    return Connection(await asyncio.to_thread(_gadus.connect, path, **options))


class Connection:
    """One line of statements to a database."""

    def __init__(self, connection: _gadus.Connection) -> None:
        self._connection = connection

    async def execute(self, sql: str, params: Any = None) -> Cursor:
        """Runs a statement; a cursor has what it gave."""
        return Cursor(await asyncio.wrap_future(self._connection.submit(sql, params)))

    async def executemany(self, sql: str, params: Iterable[Any]) -> Cursor:
        """Runs a statement once for each set of parameters, in one transaction."""
        return Cursor(await asyncio.to_thread(self._connection.executemany, sql, list(params)))

    async def executescript(self, script: str) -> int:
        """Runs statements that are separated by semicolons; returns how many."""
        return await asyncio.to_thread(self._connection.executescript, script)

    async def execute_batch(self, statements: Iterable[Any]) -> list[Cursor]:
        """Runs many statements at once; the first error is raised when all are through."""
        run = self._connection.execute_batch
        return [Cursor(cursor) for cursor in await asyncio.to_thread(run, list(statements))]

    async def append(self, table: str, data: Any) -> int:
        """Appends Arrow data or a data frame to a table; returns how many rows."""
        return await asyncio.to_thread(self._connection.append, table, data)

    def register(self, name: str, data: Any) -> None:
        """Lets statements read Arrow data or a data frame as a table."""
        self._connection.register(name, data)

    def unregister(self, name: str) -> None:
        """Takes such a name back."""
        self._connection.unregister(name)

    async def duplicate(self) -> Connection:
        """Another connection to the same database."""
        return Connection(await asyncio.to_thread(self._connection.duplicate))

    def interrupt(self) -> None:
        """Ends the statement that began last, with an ``OperationalError``."""
        self._connection.interrupt()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._connection.in_transaction

    async def begin(self) -> None:
        """Begins a transaction."""
        await asyncio.to_thread(self._connection.begin)

    async def commit(self) -> None:
        """Commits the open transaction; nothing where none is open."""
        await asyncio.to_thread(self._connection.commit)

    async def rollback(self) -> None:
        """Takes back what the open transaction has changed; nothing where none is open."""
        await asyncio.to_thread(self._connection.rollback)

    async def close(self) -> None:
        """Closes the connection; an open transaction is rolled back."""
        await asyncio.to_thread(self._connection.close)

    async def __aenter__(self) -> Connection:
        return self

    async def __aexit__(
        self,
        exception_class: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        leave = self._connection.__exit__
        await asyncio.to_thread(leave, exception_class, exception, traceback)


class Cursor:
    """What a statement gave."""

    def __init__(self, cursor: _gadus.Cursor) -> None:
        self._cursor = cursor

    @property
    def description(self) -> Any:
        """Name, type, and whether it may be NULL, of each column."""
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        """How many rows the statement changed; -1 for a query."""
        return self._cursor.rowcount

    async def fetchone(self) -> tuple[Any, ...] | None:
        """The next row; None behind the last."""
        return await asyncio.to_thread(self._cursor.fetchone)

    async def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows."""
        return await asyncio.to_thread(self._cursor.fetchmany, size)

    async def fetchall(self) -> list[tuple[Any, ...]]:
        """All rows that are left."""
        return await asyncio.to_thread(self._cursor.fetchall)

    async def arrow(self) -> Any:
        """The rows that are left, as a ``pyarrow.Table``."""
        return await asyncio.to_thread(self._cursor.arrow)

    async def df(self) -> Any:
        """The rows that are left, as a ``pandas.DataFrame``."""
        return await asyncio.to_thread(self._cursor.df)

    async def pl(self) -> Any:
        """The rows that are left, as a ``polars.DataFrame``."""
        return await asyncio.to_thread(self._cursor.pl)

    async def fetchnumpy(self) -> Any:
        """The rows that are left, as a dictionary of numpy arrays."""
        return await asyncio.to_thread(self._cursor.fetchnumpy)

    async def close(self) -> None:
        """Ends the query."""
        await asyncio.to_thread(self._cursor.close)

    async def __aiter__(self) -> AsyncIterator[tuple[Any, ...]]:
        while rows := await self.fetchmany(1024):
            for row in rows:
                yield row

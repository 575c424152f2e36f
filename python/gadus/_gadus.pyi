"""The native part."""

import builtins
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Literal, TypeAlias, final, overload

import numpy
import pandas
import polars
import pyarrow
from typing_extensions import CapsuleType, Self

__version__: str

_Params: TypeAlias = Sequence[Any] | Mapping[str, Any] | None
_Statement: TypeAlias = str | tuple[str] | tuple[str, _Params]
_Column: TypeAlias = tuple[str, str, None, None, int | None, int | None, bool]

class Warning(builtins.Warning):
    """Something a program should know."""

class Error(Exception):
    """Any error of Gadus."""

    #: What the caller must do about it: "Conflict", "Locked", "UniqueViolation" …
    kind: str

class InterfaceError(Error):
    """The package was used in a wrong way."""

class DatabaseError(Error):
    """An error of the database."""

class DataError(DatabaseError):
    """A value that its type cannot hold."""

class OperationalError(DatabaseError):
    """Nothing the statement could help."""

class IntegrityError(DatabaseError):
    """A key twice, or a NULL too many."""

class InternalError(DatabaseError):
    """A defect of Gadus: report it."""

class ProgrammingError(DatabaseError):
    """A wrong statement."""

class NotSupportedError(DatabaseError):
    """Not part of Gadus."""

# What a connection has under the same names.
_Warning: TypeAlias = Warning
_Error: TypeAlias = Error
_InterfaceError: TypeAlias = InterfaceError
_DatabaseError: TypeAlias = DatabaseError
_DataError: TypeAlias = DataError
_OperationalError: TypeAlias = OperationalError
_IntegrityError: TypeAlias = IntegrityError
_InternalError: TypeAlias = InternalError
_ProgrammingError: TypeAlias = ProgrammingError
_NotSupportedError: TypeAlias = NotSupportedError

def connect(
    path: str | os.PathLike[str] | None = None,
    *,
    read_only: bool = False,
    create: bool = True,
    exclusive: bool = False,
    autocommit: bool = True,
    durability: Literal["sync", "relaxed", "off"] | None = None,
    threads: int | None = None,
    cache: int | str | None = None,
    lock_folder: str | os.PathLike[str] | None = None,
    spill_folder: str | os.PathLike[str] | None = None,
) -> Connection: ...

@final
class Connection:
    """One line of statements to a database."""

    Warning: type[_Warning]
    Error: type[_Error]
    InterfaceError: type[_InterfaceError]
    DatabaseError: type[_DatabaseError]
    DataError: type[_DataError]
    OperationalError: type[_OperationalError]
    IntegrityError: type[_IntegrityError]
    InternalError: type[_InternalError]
    ProgrammingError: type[_ProgrammingError]
    NotSupportedError: type[_NotSupportedError]
    autocommit: bool
    progress_bar: bool
    @property
    def in_transaction(self) -> bool: ...
    @property
    def closed(self) -> bool: ...
    def execute(self, sql: str, params: _Params = None) -> Cursor: ...
    def executemany(self, sql: str, params: Iterable[_Params]) -> Cursor: ...
    def executescript(self, script: str) -> int: ...
    @overload
    def execute_batch(
        self, statements: Iterable[_Statement], *, return_exceptions: Literal[False] = False
    ) -> list[Cursor]: ...
    @overload
    def execute_batch(
        self, statements: Iterable[_Statement], *, return_exceptions: bool
    ) -> list[Cursor | _Error]: ...
    def submit(self, sql: str, params: _Params = None) -> Future[Cursor]: ...
    def cursor(self) -> Cursor: ...
    def duplicate(self) -> Connection: ...
    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...
    def interrupt(self) -> None: ...
    def register(self, name: str, data: Any) -> None: ...
    def unregister(self, name: str) -> None: ...
    def append(self, table: str, data: Any) -> int: ...
    def checkpoint(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        exception_class: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

@final
class Cursor:
    """Runs statements, and hands out their rows."""

    arraysize: int
    @property
    def description(self) -> list[_Column] | None: ...
    @property
    def rowcount(self) -> int: ...
    @property
    def connection(self) -> Connection: ...
    @property
    def lastrowid(self) -> None: ...
    def execute(self, sql: str, params: _Params = None) -> Self: ...
    def executemany(self, sql: str, params: Iterable[_Params]) -> Self: ...
    def fetchone(self) -> tuple[Any, ...] | None: ...
    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]: ...
    def fetchall(self) -> list[tuple[Any, ...]]: ...
    def _gather(self) -> Any: ...
    def _peek(self, rows: int) -> list[tuple[Any, ...]]: ...
    def _repr_html_(self) -> str | None: ...
    def __iter__(self) -> Iterator[tuple[Any, ...]]: ...
    def __next__(self) -> tuple[Any, ...]: ...
    def __arrow_c_stream__(self, requested_schema: CapsuleType | None = None) -> CapsuleType: ...
    def arrow(self) -> pyarrow.Table: ...
    def fetch_arrow_table(self) -> pyarrow.Table: ...
    def fetch_record_batch(self) -> pyarrow.RecordBatchReader: ...
    def df(self) -> pandas.DataFrame: ...
    def pl(self) -> polars.DataFrame: ...
    def fetchnumpy(self) -> dict[str, numpy.ndarray[Any, Any]]: ...
    def setinputsizes(self, sizes: Any) -> None: ...
    def setoutputsize(self, size: Any, column: Any = None) -> None: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

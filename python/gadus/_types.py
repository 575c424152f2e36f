"""Types and constructors of DB-API 2.0."""

import datetime as _datetime


class TypeGroup:
    """Equal to each SQL type of a group: ``column[1] == gadus.NUMBER``."""

    def __init__(self, *names: str) -> None:
        self._names = frozenset(names)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TypeGroup):
            return self._names == other._names
        if isinstance(other, str):
            return other.partition("(")[0] in self._names
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._names)

    def __repr__(self) -> str:
        return f"TypeGroup({', '.join(sorted(self._names))})"


STRING = TypeGroup("TEXT")
BINARY = TypeGroup("BYTEA")
NUMBER = TypeGroup(
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "REAL",
    "DOUBLE",
    "DECIMAL",
)
DATETIME = TypeGroup("DATE", "TIME", "TIMESTAMP", "TIMESTAMPTZ", "INTERVAL")
ROWID = TypeGroup()

Date = _datetime.date
Time = _datetime.time
Timestamp = _datetime.datetime
Binary = bytes


def DateFromTicks(ticks: float) -> _datetime.date:
    """The local date of a time in seconds since 1970."""
    return _datetime.date.fromtimestamp(ticks)


def TimeFromTicks(ticks: float) -> _datetime.time:
    """The local time of day of a time in seconds since 1970."""
    return _datetime.datetime.fromtimestamp(ticks).time()


def TimestampFromTicks(ticks: float) -> _datetime.datetime:
    """The local date and time of a time in seconds since 1970."""
    return _datetime.datetime.fromtimestamp(ticks)

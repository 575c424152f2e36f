"""Gadus: one database file that any number of processes share as equals.

>>> import gadus
>>> connection = gadus.connect()
>>> connection.execute("CREATE TABLE people (id BIGINT PRIMARY KEY, name TEXT)").rowcount
-1
>>> connection.execute("INSERT INTO people VALUES (?, ?), (?, ?)", [1, "Ada", 2, "Grace"]).rowcount
2
>>> connection.execute("SELECT name FROM people WHERE id = :id", {"id": 2}).fetchall()
[('Grace',)]

The module is DB-API 2.0 (PEP 249), with Arrow data on top: ``cursor.arrow()``, ``cursor.df()``,
``cursor.pl()``, and data frames that statements read as tables by the name of their variable.
"""

import sysconfig as _sysconfig

if _sysconfig.get_config_var("Py_GIL_DISABLED"):
    raise ImportError(
        "gadus does not run on free-threaded builds of Python yet: use one with the global "
        "interpreter lock"
    )

from . import _fork as _fork
from ._gadus import (
    Connection,
    Cursor,
    DatabaseError,
    DataError,
    Error,
    IntegrityError,
    InterfaceError,
    InternalError,
    NotSupportedError,
    OperationalError,
    ProgrammingError,
    Warning,
    __version__,
    connect,
)
from ._types import (
    BINARY,
    DATETIME,
    NUMBER,
    ROWID,
    STRING,
    Binary,
    Date,
    DateFromTicks,
    Time,
    TimeFromTicks,
    Timestamp,
    TimestampFromTicks,
)

#: The version of DB-API.
apilevel = "2.0"
#: Threads may share the module and its connections.
threadsafety = 2
#: Parameters are ``?``; ``:name`` and ``$1`` work as well.
paramstyle = "qmark"

__all__ = [
    "BINARY",
    "DATETIME",
    "NUMBER",
    "ROWID",
    "STRING",
    "Binary",
    "Connection",
    "Cursor",
    "DataError",
    "DatabaseError",
    "Date",
    "DateFromTicks",
    "Error",
    "IntegrityError",
    "InterfaceError",
    "InternalError",
    "NotSupportedError",
    "OperationalError",
    "ProgrammingError",
    "Time",
    "TimeFromTicks",
    "Timestamp",
    "TimestampFromTicks",
    "Warning",
    "__version__",
    "apilevel",
    "connect",
    "paramstyle",
    "threadsafety",
]

"""Results as other packages' data, and their data as tables.

Each function imports its package when it is called: none of them is needed otherwise.
"""

from __future__ import annotations

import sys
import uuid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy
    import pandas
    import polars
    import pyarrow

    from ._gadus import Cursor


def to_arrow(cursor: Cursor) -> pyarrow.Table:
    """The rows that are left; their memory is Gadus's own."""
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(cursor._gather()).read_all()


def to_record_batches(cursor: Cursor) -> pyarrow.RecordBatchReader:
    """The rows that are left, read as they are asked for."""
    import pyarrow

    return pyarrow.RecordBatchReader.from_stream(cursor)


def to_pandas(cursor: Cursor) -> pandas.DataFrame:
    """The rows that are left."""
    return to_arrow(cursor).to_pandas()


def to_polars(cursor: Cursor) -> polars.DataFrame:
    """The rows that are left."""
    import polars

    return polars.DataFrame(cursor._gather())


def to_numpy(cursor: Cursor) -> dict[str, numpy.ndarray[Any, Any]]:
    """The rows that are left: an array for each column, masked where it has NULLs."""
    import numpy

    arrays: dict[str, Any] = {}
    table = to_arrow(cursor)
    for name, column in zip(table.column_names, table.columns, strict=True):
        missing = column.is_null().to_numpy() if column.null_count else None
        values = _numpy_values(column)
        arrays[name] = values if missing is None else numpy.ma.array(values, mask=missing)
    return arrays


def _numpy_values(column: Any) -> numpy.ndarray[Any, Any]:
    """The values of a column; where it has none, any that keeps the type of the others."""
    import numpy
    import pyarrow

    if isinstance(column.type, pyarrow.BaseExtensionType):
        # Its functions do not know the type.
        chunks: list[Any] = [chunk.storage for chunk in column.chunks]
        storage: Any = column.type.storage_type
        column = pyarrow.chunked_array(chunks, type=storage)
    if column.type == pyarrow.binary(16):
        # Identifiers, and nothing else is.
        values: numpy.ndarray[Any, Any] = numpy.empty(len(column), dtype=object)
        values[:] = [None if key is None else uuid.UUID(bytes=key) for key in column.to_pylist()]
        return values
    # Others are objects, of which None is one.
    if 0 < column.null_count < len(column) and pyarrow.types.is_primitive(column.type):
        column = column.fill_null(column.drop_null()[0])
    found: numpy.ndarray[Any, Any] = column.to_numpy()
    return found


def stream_of(data: Any) -> Any:
    """Something with an Arrow stream of the rows of ``data``; None where it has no rows."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(data, pandas.DataFrame):
        import pyarrow

        return pyarrow.Table.from_pandas(data, preserve_index=False)
    if hasattr(data, "__arrow_c_stream__"):
        return data
    if hasattr(data, "__arrow_c_array__"):
        import pyarrow

        return pyarrow.Table.from_batches([pyarrow.record_batch(data)])
    if hasattr(data, "scanner") and hasattr(data, "schema"):
        # A dataset of pyarrow.
        return data.scanner().to_reader()
    return None

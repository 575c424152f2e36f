"""What the tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import gadus


@pytest.fixture
def connection() -> Iterator[gadus.Connection]:
    """A database in memory."""
    connection = gadus.connect()
    yield connection
    connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a database may be."""
    return tmp_path / "test.gadus"

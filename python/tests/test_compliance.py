"""DB-API 2.0 as others test it: the suite of the package dbapi-compliance."""

import pytest

import gadus

dbapi20 = pytest.importorskip("dbapi20")


class Compliance(dbapi20.DatabaseAPI20Test):
    """The suite, over Gadus."""

    driver = gadus
    connect_args = ()
    connect_kw_args: dict = {}

    def test_nextset(self):
        pytest.skip("a statement gives one set of rows")

    def test_setoutputsize(self):
        connection = self._connect()
        connection.cursor().setoutputsize(1000, 0)
        connection.close()

    def test_non_idempotent_close(self):
        # As sqlite3 and duckdb have it, against the suite's wish.
        connection = self._connect()
        connection.close()
        connection.close()

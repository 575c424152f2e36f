"""The same random changes of tables that refer to one another, to Gadus and SQLite: both refuse the same statements,
and have the same rows after each.

Of RESTRICT the standard leaves open when it looks, so it is not among them. `GADUS_SEED` says where they begin.
"""

import os
import random
import sqlite3
from collections.abc import Callable

import pytest

import gadus

SEED = int(os.environ.get("GADUS_SEED", "1"))
SEEDS = range(SEED, SEED + 24)
STATEMENTS = 120

COLUMNS = {
    "a": ["id", "u"],
    "b": ["id", "a", "u"],
    "c": ["id", "b", "a"],
    "d": ["id", "boss", "x", "y"],
    "e": ["x", "y", "n"],
}

Change = Callable[[str], object]


def definitions(chance: random.Random) -> list[str]:
    """A row of each table may refer to rows of those before it, of `d` also to its own."""

    def key(columns: str) -> str:
        actions = [chance.choice(["NO ACTION", "CASCADE", "SET NULL"]) for _ in range(2)]
        return f"REFERENCES {columns} ON DELETE {actions[0]} ON UPDATE {actions[1]}"

    return [
        "CREATE TABLE a (id INTEGER PRIMARY KEY, u INTEGER UNIQUE)",
        f"CREATE TABLE b (id INTEGER PRIMARY KEY, a INTEGER {key('a (id)')}, u INTEGER {key('a (u)')})",
        f"CREATE TABLE c (id INTEGER PRIMARY KEY, b INTEGER {key('b (id)')}, a INTEGER {key('a (id)')})",
        f"CREATE TABLE d (id INTEGER PRIMARY KEY, boss INTEGER {key('d (id)')}, x INTEGER, y INTEGER, UNIQUE (x, y))",
        f"CREATE TABLE e (x INTEGER, y INTEGER, n INTEGER, FOREIGN KEY (x, y) {key('d (x, y)')})",
    ]


def statement(chance: random.Random) -> str:
    def value(column: str) -> str:
        # Values are few, so that rows meet.
        return "NULL" if column != "id" and chance.random() < 0.15 else str(chance.randint(1, 6))

    table = chance.choice(list(COLUMNS))
    columns = COLUMNS[table]
    kind = chance.random()
    if kind < 0.5:
        rows = [", ".join(map(value, columns)) for _ in range(chance.choice([1, 1, 1, 2]))]
        return f"INSERT INTO {table} VALUES {', '.join(f'({row})' for row in rows)}"
    if kind < 0.7:
        test = chance.choice(["=", "=", ">"])
        return f"DELETE FROM {table} WHERE {chance.choice(columns)} {test} {chance.randint(1, 6)}"
    column = chance.choice(columns)
    return f"UPDATE {table} SET {column} = {value(column)} WHERE {columns[0]} = {chance.randint(1, 6)}"


def refusal(change: Change, sql: str, kind: type[Exception]) -> str | None:
    """Whether a foreign key, another constraint, or nothing refuses a statement."""
    try:
        change(sql)
    except kind as error:
        return "foreign key" if "foreign key" in str(error).lower() else "other"
    return None


@pytest.mark.parametrize("seed", SEEDS)
def test_foreign_keys_are_those_of_sqlite(connection: gadus.Connection, seed: int) -> None:
    chance = random.Random(seed)
    sqlite = sqlite3.connect(":memory:", isolation_level=None)
    sqlite.execute("PRAGMA foreign_keys = ON")
    said: list[str] = []

    def both(sql: str) -> None:
        said.append(sql)
        refused = refusal(sqlite.execute, sql, sqlite3.IntegrityError)
        found = refusal(connection.execute, sql, gadus.IntegrityError)
        assert found == refused, ";\n".join(said)

    for definition in definitions(chance):
        both(definition)
    is_open = False
    for _ in range(STATEMENTS):
        if not is_open and chance.random() < 0.1:
            both("BEGIN")
            is_open = True
        both(statement(chance))
        if is_open and chance.random() < 0.3:
            both(chance.choice(["COMMIT", "ROLLBACK"]))
            is_open = False
        for table in COLUMNS:
            rows = [
                sorted(map(repr, engine.execute(f"SELECT * FROM {table}").fetchall()))
                for engine in (sqlite, connection)
            ]
            assert rows[0] == rows[1], ";\n".join(said)
    sqlite.close()

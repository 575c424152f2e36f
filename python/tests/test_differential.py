"""The same random statements, to Gadus, DuckDB and SQLite: where those two agree, Gadus must.

Beside them, questions that Gadus answers in several ways must agree with themselves: a condition counted and
evaluated for each row (Rigger and Su, "Detecting Optimization Bugs in Database Engines via Non-Optimizing Reference
Engine Construction", 2020), and a query whose rows a condition divides into three parts (the same, "Finding Bugs in
Database Systems via Query Partitioning", 2020).

`GADUS_STATEMENTS` says how many statements there are, `GADUS_SEED` where they begin: what fails names its own.
"""

import os
import sqlite3
from collections import Counter
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest

import gadus
from random_statements import DEFINITION, TABLES, Query, Statements

STATEMENTS = int(os.environ.get("GADUS_STATEMENTS", "5000"))
SEED = int(os.environ.get("GADUS_SEED", "1"))

# Each with tables of its own.
PER_SEED = 250
SEEDS = range(SEED, SEED + (STATEMENTS + PER_SEED - 1) // PER_SEED)

# What Gadus refuses and should not. This list may only become shorter.
REFUSED = (
    # Keys of groups that are called the same: a cast is called as what is cast.
    "Projections require unique expression names",
    "Schema contains duplicate unqualified field name",
    # Columns of a UNION of which one may be NULL, and the other not.
    "Physical input schema should be the same as the one converted from logical input schema",
)

Row = tuple[Any, ...]


def plain(value: Any) -> Any:
    """The same for values that the three give in different types."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    rounded = float(f"{value:.9g}")
    return int(rounded) if rounded == int(rounded) else rounded


class Engines:
    """The same tables in each."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.gadus = gadus.connect()
        self.duckdb = duckdb.connect()
        self.sqlite = sqlite3.connect(":memory:", isolation_level=None)
        self.sqlite.execute("PRAGMA case_sensitive_like = ON")

    def close(self) -> None:
        for engine in (self.gadus, self.duckdb, self.sqlite):
            engine.close()

    def change(self, statement: str) -> None:
        self.said.append(statement)
        for engine in (self.gadus, self.duckdb, self.sqlite):
            engine.execute(statement)

    def ask(self, engine: Any, statement: str) -> list[Row]:
        rows = engine.execute(statement).fetchall()
        return [tuple(plain(value) for value in row) for row in rows]

    def told(self, query: str, **answers: Any) -> str:
        """What one needs to see it again."""
        shown = [f"-- {name}: {answer}" for name, answer in answers.items()]
        return "\n".join(["", *(f"{line};" for line in [*self.said, query]), *shown])


def same(one: list[Row], other: list[Row], query: Query) -> bool:
    return one == other if query.is_ordered else Counter(one) == Counter(other)


@pytest.fixture
def engines() -> Iterator[Engines]:
    engines = Engines()
    yield engines
    engines.close()


def begin(engines: Engines, statements: Statements) -> None:
    for table in TABLES:
        engines.change(f"CREATE TABLE {table} {DEFINITION}")
        count = statements.random.choice([0, 3, 12, 30])
        if count:
            engines.change(f"INSERT INTO {table} VALUES {statements.rows(count)}")


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_others(engines: Engines, seed: int) -> None:
    statements = Statements(seed)
    begin(engines, statements)
    for _ in range(PER_SEED):
        if statements.random.random() < 0.1:
            table, change = statements.change()
            engines.change(change)
            query = Query(f"SELECT * FROM {table} ORDER BY id", is_ordered=True)
        else:
            query = statements.query()
        check(engines, query)


def check(engines: Engines, query: Query) -> None:
    answers: dict[str, Any] = {}
    for name in ("duckdb", "sqlite"):
        try:
            answers[name] = engines.ask(getattr(engines, name), query.text)
        except (duckdb.Error, sqlite3.Error) as error:
            answers[name] = f"{type(error).__name__}: {error}"
    given = [answer for answer in answers.values() if isinstance(answer, list)]
    if not given:
        return
    try:
        answer = engines.ask(engines.gadus, query.text)
    except gadus.Error as error:
        if any(refused in str(error) for refused in REFUSED):
            return
        pytest.fail(engines.told(query.text, error=error))
    # Where the two differ, there are two opinions: it must be one of them.
    if not any(same(answer, other, query) for other in given):
        pytest.fail(engines.told(query.text, gadus=answer, **answers))


@pytest.mark.parametrize("seed", SEEDS[: max(1, len(SEEDS) // 5)])
def test_answers_agree_with_themselves(engines: Engines, seed: int) -> None:
    statements = Statements(-seed)
    begin(engines, statements)
    for _ in range(PER_SEED // 5):
        source, columns = statements.source(2)
        condition = statements.condition(columns, 2)
        kind = statements.random.choice(["int", "text"])
        value = statements.expression(columns, kind, 1)

        def rows(where: str) -> Counter[Row]:
            query = f"SELECT {value} FROM {source}{where}"
            try:
                return Counter(engines.ask(engines.gadus, query))
            except gadus.Error as error:
                pytest.fail(engines.told(query, error=error))

        parts = [f" WHERE {condition}", f" WHERE NOT {condition}", f" WHERE {condition} IS NULL"]
        passing, *others = [rows(part) for part in parts]
        whole = rows("")
        assert whole == sum(others, passing), engines.told(f"SELECT {value} FROM {source}", parts=parts)
        each = f"SELECT coalesce(sum(CASE WHEN {condition} THEN 1 ELSE 0 END), 0) FROM {source}"
        counted = engines.ask(engines.gadus, each)[0][0]
        assert counted == passing.total(), engines.told(each, counted=counted, passing=passing.total())

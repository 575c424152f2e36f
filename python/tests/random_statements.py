"""Random tables and statements that mean the same to Gadus, DuckDB and SQLite.

- Types are kept apart, numbers small, fractions quarters: nothing overflows, and sums do not depend on their order.
- A query that gives one value has one row by a limit, in the order of a key. LATERAL is nothing that SQLite knows.
- Whatever the three define differently does not occur: division, casts of fractions to integers, NULLs in an order
  without saying where, a zero with a sign. An order names all columns, so that rows that tie are the same.
"""

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

TABLES = ("t0", "t1", "t2")
COLUMNS = {"id": "int", "a": "int", "b": "int", "x": "double", "s": "text", "f": "bool"}
DEFINITION = (
    "(id INTEGER PRIMARY KEY, a INTEGER, b BIGINT, x DOUBLE PRECISION, s TEXT, f BOOLEAN)"
)
TEXTS = ("", "a", "b", "ab", "ba", "abc", "B", "aB", "zz", "b b")
PATTERNS = ("a%", "%b", "%b%", "_", "a_", "%", "", "_b%", "b b")
CONSTANT = re.compile(r"[(\- ]*(\d+(\.\d+)?|'[^']*'|TRUE|FALSE|NULL)[) ]*")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")


@dataclass
class Query:
    """A SELECT, and the types of what it gives."""

    text: str
    types: list[str] = field(default_factory=list)
    is_ordered: bool = False


class Statements:
    """Draws statements."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0
        self.next_id = 0
        # What one of the others takes for something else, and what another one does not know: not together.
        self.has_row_values = False
        self.has_lateral = False

    # Values and rows

    def literal(self, kind: str) -> str:
        draw = self.random
        if draw.random() < 0.08:
            return "NULL"
        if kind == "int":
            return str(draw.choice([-7, -2, -1, 0, 0, 1, 1, 2, 3, 5, 8, 100]))
        if kind == "double":
            return str(draw.randrange(-20, 21) / 4)
        if kind == "text":
            return f"'{draw.choice(TEXTS)}'"
        return draw.choice(["TRUE", "FALSE"])

    def row(self) -> str:
        """The values of a new row."""
        self.next_id += 1
        values = [self.literal(kind) for kind in list(COLUMNS.values())[1:]]
        return f"({self.next_id}, {', '.join(values)})"

    def rows(self, count: int) -> str:
        return ", ".join(self.row() for _ in range(count))

    # Expressions: over `columns`, pairs of a name and a type

    def column(self, columns: Sequence[tuple[str, str]], kind: str) -> str | None:
        fitting = [name for name, has in columns if has == kind]
        return self.random.choice(fitting) if fitting else None

    def expression(self, columns: Sequence[tuple[str, str]], kind: str, depth: int) -> str:
        draw = self.random
        if depth <= 0 or draw.random() < 0.35:
            column = self.column(columns, kind)
            return column if column and draw.random() < 0.8 else self.typed_literal(kind)
        if kind == "bool":
            return self.condition(columns, depth)

        def of(kind: str) -> str:
            return self.expression(columns, kind, depth - 1)

        general: list[Callable[[], str]] = [
            lambda: f"CASE WHEN {self.condition(columns, depth - 1)} THEN {of(kind)} ELSE {of(kind)} END",
            lambda: f"CASE WHEN {self.condition(columns, depth - 1)} THEN {of(kind)} END",
            lambda: f"coalesce({of(kind)}, {of(kind)})",
            lambda: f"nullif({of(kind)}, {of(kind)})",
        ]
        special: dict[str, list[Callable[[], str]]] = {
            "int": [
                lambda: f"({of('int')} + {of('int')})",
                lambda: f"({of('int')} - {of('int')})",
                lambda: f"({of('int')} * {draw.randrange(-2, 4)})",
                lambda: f"({of('int')} % {draw.randrange(2, 9)})",
                lambda: f"(- {of('int')})",
                lambda: f"abs({of('int')})",
                lambda: f"length({of('text')})",
                lambda: f"CAST({of('bool')} AS INTEGER)",
            ],
            "double": [
                lambda: f"({of('double')} + {of('double')})",
                lambda: f"({of('double')} - {of('int')})",
                lambda: f"({of('double')} * {draw.randrange(1, 4)})",
                lambda: f"abs({of('double')})",
            ],
            "text": [
                lambda: f"({of('text')} || {of('text')})",
                lambda: f"upper({of('text')})",
                lambda: f"lower({of('text')})",
                lambda: f"substr({of('text')}, {draw.randrange(1, 4)}, {draw.randrange(0, 4)})",
                lambda: f"replace({of('text')}, 'a', 'x')",
                lambda: f"trim({of('text')})",
            ],
        }
        return draw.choice(general + 2 * special[kind])()

    def typed_literal(self, kind: str) -> str:
        literal = self.literal(kind)
        if kind == "double":
            # Else it would be exact.
            return f"CAST({literal} AS DOUBLE PRECISION)"
        names = {"int": "INTEGER", "text": "TEXT", "bool": "BOOLEAN"}
        return f"CAST(NULL AS {names[kind]})" if literal == "NULL" else literal

    def condition(self, columns: Sequence[tuple[str, str]], depth: int) -> str:
        draw = self.random
        kind = draw.choice(["int", "int", "double", "text", "text"])

        def of(kind: str) -> str:
            return self.expression(columns, kind, depth - 1)

        def values() -> str:
            return ", ".join(self.typed_literal(kind) for _ in range(draw.randrange(1, 5)))

        def negated() -> str:
            return draw.choice(["", "", "NOT "])

        simple: list[Callable[[], str]] = [
            lambda: f"{of(kind)} {draw.choice(COMPARISONS)} {of(kind)}",
            lambda: f"{of(kind)} {draw.choice(COMPARISONS)} {self.typed_literal(kind)}",
            lambda: f"{of(kind)} IS {negated()}NULL",
            lambda: f"{of(kind)} {negated()}BETWEEN {of(kind)} AND {of(kind)}",
            lambda: f"{of(kind)} {negated()}IN ({values()})",
            lambda: f"{of(kind)} IS {negated()}DISTINCT FROM {of(kind)}",
            lambda: f"{of('text')} {negated()}LIKE '{draw.choice(PATTERNS)}'",
            lambda: f"{of('int')} {draw.choice(COMPARISONS)} {of('double')}",
        ]
        column = self.column(columns, "bool")
        if column:
            simple.append(lambda: column)
        if depth <= 0:
            return f"({draw.choice(simple)()})"
        nested: list[Callable[[], str]] = [
            lambda: f"{self.condition(columns, depth - 1)} AND {self.condition(columns, depth - 1)}",
            lambda: f"{self.condition(columns, depth - 1)} OR {self.condition(columns, depth - 1)}",
            lambda: f"NOT {self.condition(columns, depth - 1)}",
        ]
        return f"({draw.choice(simple + nested)()})"

    # What only stands in WHERE

    def filter(self, columns: Sequence[tuple[str, str]]) -> str:
        draw = self.random
        parts = [self.condition(columns, 2)]
        if draw.random() < 0.3:
            are_rows = draw.random() < 0.3 and not self.has_lateral
            parts.append(self.row_condition(columns) if are_rows else self.subquery_condition(columns))
            draw.shuffle(parts)
        return draw.choice([" AND ", " AND ", " OR "]).join(parts)

    def subquery_condition(self, columns: Sequence[tuple[str, str]]) -> str:
        draw, (source, inner, seen) = self.random, self.table_within(columns)
        kind = draw.choice(["int", "text"])
        outer = self.column(seen, kind) or self.typed_literal(kind)
        own = self.column(inner, kind)
        correlated = draw.random() < 0.6
        where = f"{own} = {outer}" if correlated else self.condition(inner, 1)
        if correlated and draw.random() < 0.5:
            where += f" AND {self.condition(inner, 1)}"
        negated = draw.choice(["", "NOT "])
        value = self.expression(columns, kind, 1)
        if draw.random() < 0.15 and not self.has_row_values:
            # Nor does SQLite know these.
            self.has_lateral = True
            quantifier = draw.choice(["ANY", "ALL"])
            return f"{value} {draw.choice(COMPARISONS)} {quantifier} (SELECT {own} FROM {source} WHERE {where})"
        return draw.choice(
            [
                f"{negated}EXISTS (SELECT 1 FROM {source} WHERE {where})",
                f"{value} {negated}IN (SELECT {own} FROM {source} WHERE {where})",
                f"{value} {draw.choice(COMPARISONS)} (SELECT max({own}) FROM {source} WHERE {where})",
                f"(SELECT count(*) FROM {source} WHERE {where}) {draw.choice(COMPARISONS)} {draw.randrange(4)}",
            ]
        )

    def subquery_value(self, columns: Sequence[tuple[str, str]], kind: str) -> str:
        """The same as a value."""
        if self.random.random() < 0.5:
            return self.one_value(columns, kind)
        condition = self.subquery_condition(columns)
        if self.random.random() < 0.4:
            condition = f"{self.condition(columns, 1)} {self.random.choice(['AND', 'OR'])} {condition}"
        if kind == "bool":
            return f"({condition})"
        return f"CASE WHEN {condition} THEN {self.expression(columns, kind, 1)} ELSE 0 END"

    def dependent(self, columns: Sequence[tuple[str, str]], kind: str) -> tuple[str, str, str]:
        """The value, the source with its filter, and the key of a query that may depend on rows around it."""
        draw, (source, inner, columns) = self.random, self.table_within(columns)
        columns = self.settled(columns)
        key, both = inner[0][0], [*inner, *columns]
        if draw.random() < 0.25:
            other, more = self.table()
            join = draw.choice(["JOIN", "LEFT JOIN"])
            source += f" {join} {other} ON {more[0][0]} = {draw.choice(inner[:3])[0]}"
            both += more
        where = self.condition(both, 1)
        column = self.column(columns, "int")
        if column and draw.random() < 0.5:
            where += f" AND {self.column(inner, 'int')} = {column}"
        return self.expression(both, kind, 1), f"{source} WHERE {where}", key

    @staticmethod
    def settled(columns: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """Those that are the same each time: sums of fractions depend on their order, here only because others' do."""
        return [(name, kind) for name, kind in columns if kind != "double" or name.endswith(".x")]

    def one_value(self, columns: Sequence[tuple[str, str]], kind: str) -> str:
        """The value of one row of a query."""
        draw = self.random
        value, rows, key = self.dependent(columns, kind)
        if draw.random() < 0.7 or kind == "bool":
            way, skipped = draw.choice(["", " DESC"]), draw.choice(["", "", " OFFSET 1"])
            return f"(SELECT {value} FROM {rows} ORDER BY {key}{way} LIMIT 1{skipped})"
        one = "sum(c0)" if kind == "int" and draw.random() < 0.7 else "max(c0)"
        distinct = draw.choice(["", "DISTINCT "])
        inner = f"SELECT {distinct}{value} AS c0 FROM {rows}"
        if draw.random() < 0.4:
            value, rows, _ = self.dependent(columns, kind)
            inner += f" {draw.choice(['UNION', 'UNION ALL', 'EXCEPT'])} SELECT {value} FROM {rows}"
        return f"(SELECT {one} FROM ({inner}) AS {self.name()})"

    def row_condition(self, columns: Sequence[tuple[str, str]]) -> str:
        """A condition on several values together."""
        draw, kinds = self.random, [self.random.choice(["int", "text"]) for _ in range(2)]
        self.has_row_values = True
        values = ", ".join(self.expression(columns, kind, 1) for kind in kinds)
        if draw.random() < 0.5:
            others = ", ".join(self.expression(columns, kind, 1) for kind in kinds)
            return f"({values}) {draw.choice(COMPARISONS)} ({others})"
        source, inner, columns = self.table_within(columns)
        own = ", ".join(self.expression(inner, kind, 1) for kind in kinds)
        columns = self.settled(columns)
        where = self.condition([*inner, *columns] if draw.random() < 0.5 else inner, 1)
        return f"({values}) {draw.choice(['', 'NOT '])}IN (SELECT {own} FROM {source} WHERE {where})"

    # Sources

    def name(self) -> str:
        self.names += 1
        return f"n{self.names}"

    def table(self) -> tuple[str, list[tuple[str, str]]]:
        """A table under a new name, and its columns."""
        name = self.name()
        columns = [(f"{name}.{column}", kind) for column, kind in COLUMNS.items()]
        return f"{self.random.choice(TABLES)} AS {name}", columns

    def table_within(
        self, columns: Sequence[tuple[str, str]]
    ) -> tuple[str, list[tuple[str, str]], Sequence[tuple[str, str]]]:
        """A table of a query within another, at times under a name that is taken around it, and what is seen of those."""
        draw = self.random
        if draw.random() < 0.7:
            return *self.table(), columns
        name = draw.choice(columns)[0].split(".")[0]
        seen = [column for column in columns if not column[0].startswith(f"{name}.")]
        own = [(f"{name}.{column}", kind) for column, kind in COLUMNS.items()]
        return f"{draw.choice(TABLES)} AS {name}", own, seen

    def derived(self) -> tuple[str, list[tuple[str, str]]]:
        name = self.name()
        query = self.plain(depth=1) if self.random.random() < 0.5 else self.grouped()
        if self.random.random() < 0.3:
            self.order(query)
            query.text += f" LIMIT {self.random.randrange(1, 9)}"
        columns = [(f"{name}.c{place}", kind) for place, kind in enumerate(query.types)]
        return f"({query.text}) AS {name}", columns

    def source(self, depth: int) -> tuple[str, list[tuple[str, str]]]:
        draw = self.random
        text, columns = self.derived() if depth > 1 and draw.random() < 0.2 else self.table()
        if draw.random() < 0.05 and not self.has_row_values:
            self.has_lateral = True
            kinds, name = [draw.choice(["int", "text"]) for _ in range(2)], self.name()
            value, rows, key = self.dependent(columns, kinds[0])
            more = self.column(columns, kinds[1]) or self.typed_literal(kinds[1])
            inner = f"SELECT {value} AS c0, {more} AS c1 FROM {rows} ORDER BY {key} LIMIT {draw.randrange(1, 3)}"
            text += f" {draw.choice(['JOIN', 'LEFT JOIN'])} LATERAL ({inner}) AS {name} ON TRUE"
            columns = [*columns, *((f"{name}.c{place}", kind) for place, kind in enumerate(kinds))]
        while draw.random() < 0.35:
            other, more = self.derived() if depth > 1 and draw.random() < 0.2 else self.table()
            join = draw.choice(["JOIN", "JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN"])
            both = columns + more
            on = ""
            if join != "CROSS JOIN":
                kind = draw.choice(["int", "text"])
                left, right = self.column(columns, kind), self.column(more, kind)
                pair = [side or self.typed_literal(kind) for side in (left, right)]
                on = f" ON {pair[0]} = {pair[1]}"
                # Not every engine has full joins by any condition.
                if join != "FULL JOIN" and draw.random() < 0.4:
                    on += f" AND {self.condition(both, 1)}"
            text, columns = f"{text} {join} {other}{on}", both
            if text.count("JOIN") > 2:
                break
        return text, columns

    # Queries

    def plain(self, depth: int = 2) -> Query:
        draw = self.random
        source, columns = self.source(depth)
        types = [draw.choice(["int", "int", "double", "text", "bool"]) for _ in range(draw.randrange(1, 4))]
        values = [self.expression(columns, kind, depth) for kind in types]
        if draw.random() < 0.25:
            types.append(draw.choice(["int", "bool"]))
            values.append(self.subquery_value(columns, types[-1]))
        selected = self.selected(values)
        distinct = draw.choice(["", "", "", "DISTINCT "])
        where = f" WHERE {self.filter(columns)}" if draw.random() < 0.8 else ""
        return Query(f"SELECT {distinct}{selected} FROM {source}{where}", types)

    def grouped(self) -> Query:
        draw = self.random
        source, columns = self.source(1)
        types = [draw.choice(["int", "text", "bool"]) for _ in range(draw.randrange(0, 3))]
        keys = [self.expression(columns, kind, 1) for kind in types]
        # A number alone would be a place, and no other constant may be a group.
        keys = [f"coalesce({key}, {key})" if CONSTANT.fullmatch(key) else key for key in keys]
        aggregates = []
        for _ in range(draw.randrange(1, 4)):
            kind = draw.choice(["int", "double", "text"])
            value = self.expression(columns, kind, 1)
            names = ["count", "min", "max", "count distinct"] + (["sum", "avg"] if kind != "text" else [])
            name = draw.choice(names)
            result = {"count": "int", "count distinct": "int", "avg": "double"}.get(name, kind)
            call = f"count(DISTINCT {value})" if name == "count distinct" else f"{name}({value})"
            if draw.random() < 0.15:
                call += f" FILTER (WHERE {self.condition(columns, 1)})"
            aggregates.append(call)
            types.append(result)
        where = f" WHERE {self.filter(columns)}" if draw.random() < 0.6 else ""
        group = f" GROUP BY {', '.join(keys)}" if keys else ""
        having = f" HAVING count(*) {draw.choice(COMPARISONS)} {draw.randrange(4)}" if keys and draw.random() < 0.3 else ""
        return Query(f"SELECT {self.selected(keys + aggregates)} FROM {source}{where}{group}{having}", types)

    def windowed(self) -> Query:
        draw, (source, columns) = self.random, self.table()
        key = columns[0][0]
        partition = self.column(columns, draw.choice(["int", "text"]))
        over = f"(PARTITION BY {partition} ORDER BY {key})" if draw.random() < 0.7 else f"(ORDER BY {key})"
        framed = f"{over[:-1]} ROWS BETWEEN {draw.randrange(3)} PRECEDING AND {draw.randrange(3)} FOLLOWING)"
        value = self.expression(columns, "int", 1)
        calls = ["row_number()", f"sum({value})", f"count({value})", f"lag({value})", f"min({value})", f"lead({value}, 2)"]
        call, within = draw.choice(calls), over
        if draw.random() < 0.5:
            aggregates = [f"{name}({value})" for name in ("sum", "min", "max", "count", "first_value")]
            call, within = draw.choice(aggregates), framed
        types = ["int", "int"]
        where = f" WHERE {self.condition(columns, 1)}" if draw.random() < 0.4 else ""
        return Query(f"SELECT {self.selected([key, f'{call} OVER {within}'])} FROM {source}{where}", types)

    def together(self) -> Query:
        """Two queries in a set operation."""
        draw = self.random
        types = [draw.choice(["int", "text"]) for _ in range(draw.randrange(1, 3))]

        def one() -> str:
            source, columns = self.table()
            selected = self.selected([self.expression(columns, kind, 1) for kind in types])
            return f"SELECT {selected} FROM {source} WHERE {self.filter(columns)}"

        operation = draw.choice(["UNION", "UNION ALL", "INTERSECT", "EXCEPT"])
        return Query(f"{one()} {operation} {one()}", types)

    def with_common(self) -> Query:
        name, inner = self.name(), self.draw_unordered()
        columns = [(f"{name}.c{place}", kind) for place, kind in enumerate(inner.types)]
        kind = self.random.choice(inner.types)
        value = self.expression(columns, kind, 1)
        where = self.condition(columns, 1)
        return Query(f"WITH {name} AS ({inner.text}) SELECT {value} AS c0 FROM {name} WHERE {where}", [kind])

    def draw_unordered(self) -> Query:
        shapes = [self.plain, self.plain, self.plain, self.grouped, self.grouped, self.windowed, self.together]
        return self.random.choice(shapes)()

    def query(self) -> Query:
        draw = self.random
        self.has_row_values = self.has_lateral = False
        query = self.with_common() if draw.random() < 0.1 else self.draw_unordered()
        if draw.random() < 0.4:
            self.order(query)
            if draw.random() < 0.6:
                query.text += f" LIMIT {draw.randrange(0, 12)}"
                query.text += f" OFFSET {draw.randrange(0, 5)}" if draw.random() < 0.3 else ""
        return query

    def order(self, query: Query) -> None:
        """Orders a query by all that it gives."""

        def way() -> str:
            ways = ["ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST"]
            return self.random.choice(ways)

        order = ", ".join(f"{place + 1} {way()}" for place in range(len(query.types)))
        query.text += f" ORDER BY {order}"
        query.is_ordered = True

    @staticmethod
    def selected(expressions: Sequence[str]) -> str:
        return ", ".join(f"{expression} AS c{place}" for place, expression in enumerate(expressions))

    # Changes

    def change(self) -> tuple[str, str]:
        """A statement that changes rows, and its table."""
        draw, table = self.random, self.random.choice(TABLES)
        columns = list(COLUMNS.items())
        if draw.random() < 0.45:
            return table, f"INSERT INTO {table} VALUES {self.rows(draw.randrange(1, 6))}"
        where = f" WHERE {self.condition(columns, 2)}" if draw.random() < 0.95 else ""
        named = ""
        if draw.random() < 0.3:
            named = f"WITH n AS (SELECT id FROM {draw.choice(TABLES)}{where}) "
            where = " WHERE id IN (SELECT id FROM n)"
        if draw.random() < 0.4:
            return table, f"{named}DELETE FROM {table}{where}"
        column, kind = draw.choice(columns[1:])
        value = self.expression(columns, kind, 1)
        # It must not grow from change to change.
        value = {"int": f"({value}) % 50", "text": f"substr({value}, 1, 4)"}.get(kind, value)
        value = self.literal("double") if kind == "double" else value
        return table, f"{named}UPDATE {table} SET {column} = {value}{where}"

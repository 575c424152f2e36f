"""Random queries: a generator for each clause that has rules of names or types.

- All rows of a result are in one order, or none is asked for: what may come in any order is not compared.
"""

from random import Random

from random_expressions import BOOL, INT, NAMES, NUMBERS, TEXT, TIME, DATE, FLOAT, NUMERIC, BIG, TYPES, Column, Expressions

# Columns of the tables by name: names that come in several tables have one type.
TABLES = {
    "t": {"a": INT, "b": TEXT, "c": NUMERIC, "d": FLOAT, "e": DATE},
    "u": {"a": INT, "b": TEXT, "f": BIG, "g": BOOL, "h": TIME},
    "v": {"a": INT, "c": NUMERIC, "k": INT, "h": TIME, "s": TEXT},
}

COLUMN_TYPES = NAMES | {NUMERIC: "numeric(12,2)"}


def definitions(random: Random):
    """Returns the statements that make the tables."""
    values = {
        INT: ["0", "1", "2", "3", "-5", "2147483647", "NULL"],
        BIG: ["0", "1", "-9", "9000000000", "NULL"],
        FLOAT: ["0", "-0.0", "0.5", "1.25", "'NaN'", "'Infinity'", "NULL"],
        NUMERIC: ["0", "1.50", "2.25", "-3", "99999.99", "NULL"],
        TEXT: ["'a'", "'b'", "''", "'ab'", "'A'", "'a b'", "NULL"],
        BOOL: ["true", "false", "NULL"],
        DATE: ["'2024-02-29'", "'2024-03-01'", "'1999-12-31'", "NULL"],
        TIME: ["'2024-02-29 12:00'", "'2024-03-01 00:00:00.5'", "'2001-01-01'", "NULL"],
    }
    for table, columns in TABLES.items():
        listed = ", ".join(f"{name} {COLUMN_TYPES[of]}" for name, of in columns.items())
        yield f"CREATE TABLE {table} ({listed})"
        rows = (", ".join(random.choice(values[of]) for of in columns.values()) for _ in range(9))
        yield f"INSERT INTO {table} VALUES {', '.join(f'({row})' for row in rows)}"


class Queries:
    """Makes queries."""

    def __init__(self, random: Random):
        self.random = random
        self.expressions = Expressions(random)
        self.expressions.queries = self
        self.aliases = 0

    def pick(self, choices):
        return self.random.choice(list(choices))

    def chance(self, part):
        return self.random.random() < part

    def alias(self):
        self.aliases += 1
        return f"r{self.aliases}"

    def value(self, wanted, columns, depth=2):
        return self.expressions.value(wanted, columns, depth)

    def statement(self):
        """Returns a query, and True if its rows are in a total order."""
        text, columns = self.query(depth=2)
        if self.chance(0.4):
            return text, False
        places = [str(place + 1) for place in range(len(columns))]
        self.random.shuffle(places)
        direction = lambda: self.pick(["", "", " DESC", " ASC NULLS FIRST", " DESC NULLS LAST"])
        order = ", ".join(place + direction() for place in places)
        limit = self.pick(["", "", " LIMIT 5", " LIMIT 3 OFFSET 2", " OFFSET 1", " FETCH FIRST 2 ROWS ONLY"])
        return f"{text} ORDER BY {order}{limit}", True

    def query(self, depth, types=None, outer=()):
        """Returns a query that may be followed by ORDER BY, and its columns' names and types."""
        kind = self.random.random()
        if depth > 0 and kind < 0.12:
            return self.set_operation(depth - 1, types, outer)
        if depth > 0 and kind < 0.24:
            return self.with_tables(depth - 1, types, outer)
        if kind < 0.5:
            return self.grouped(depth, types, outer)
        if kind < 0.65:
            return self.windowed(depth, types, outer)
        return self.plain(depth, types, outer)

    def types(self, types):
        return types or [self.pick(TYPES) for _ in range(self.random.randint(1, 4))]

    def set_operation(self, depth, types, outer):
        types = self.types(types)
        operator = self.pick(["UNION", "UNION ALL", "INTERSECT", "INTERSECT ALL", "EXCEPT", "EXCEPT ALL"])
        one, columns = self.plain(depth, types, outer)
        other, _ = self.query(0, types, outer)
        return f"({one}) {operator} ({other})", columns

    def with_tables(self, depth, types, outer):
        name = self.alias()
        inner, columns = self.query(depth)
        names = [f"w{place}" for place in range(len(columns))]
        kept = self.pick(["", "", " MATERIALIZED", " NOT MATERIALIZED"])
        one = self.alias()
        visible = [Column(f"{one}.{name}", of) for name, (_, of) in zip(names, columns)]
        source = f"{name} AS {one}"
        if self.chance(0.4):
            other = self.alias()
            visible += [Column(f"{other}.{name}", of) for name, (_, of) in zip(names, columns)]
            source += f" {self.pick(['JOIN', 'LEFT JOIN', 'FULL JOIN'])} {name} AS {other}"
            source += f" ON {one}.{names[0]} = {other}.{names[0]}"
        text, outputs = self.select(types, visible, source, outer, depth)
        return f"WITH {name} ({', '.join(names)}) AS{kept} ({inner}) {text}", outputs

    # FROM

    def source(self, depth, outer=()):
        """Returns a FROM item with the columns that it has, as they are named."""
        kind = self.random.random()
        if depth > 0 and kind < 0.2:
            text, columns = self.query(depth - 1)
            alias = self.alias()
            names = [f"n{place}" for place in range(len(columns))]
            visible = [Column(f"{alias}.{name}", of) for name, (_, of) in zip(names, columns)]
            return f"({text}) AS {alias} ({', '.join(names)})", visible
        if kind < 0.3:
            alias, types = self.alias(), self.types(None)
            rows = ", ".join(f"({', '.join(self.value(of, outer, 1) for of in types)})" for _ in range(3))
            visible = [Column(f"{alias}.v{place}", of) for place, of in enumerate(types)]
            names = ", ".join(f"v{place}" for place in range(len(types)))
            return f"(VALUES {rows}) AS {alias} ({names})", visible
        table, alias = self.pick(TABLES), self.alias()
        return f"{table} AS {alias}", [Column(f"{alias}.{name}", of) for name, of in TABLES[table].items()]

    def sources(self, depth, outer=()):
        """Returns FROM items that are joined."""
        kind = self.random.random()
        text, columns = self.source(depth, outer)
        if kind < 0.35:
            return text, columns
        if kind < 0.55:
            return self.merged()
        if kind < 0.65:
            visible = [*outer, *columns]
            inner, inside = self.plain(0, None, visible)
            alias = self.alias()
            names = [f"l{place}" for place in range(len(inside))]
            columns = columns + [Column(f"{alias}.{name}", of) for name, (_, of) in zip(names, inside)]
            joined = self.pick(["CROSS JOIN LATERAL", "LEFT JOIN LATERAL"])
            condition = " ON true" if joined.startswith("LEFT") else ""
            return f"{text} {joined} ({inner}) AS {alias} ({', '.join(names)}){condition}", columns
        other, others = self.source(depth, outer)
        join = self.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", ","])
        if join in ("CROSS JOIN", ","):
            return f"{text}{'' if join == ',' else ' '}{join} {other}", columns + others
        return f"{text} {join} {other} ON {self.join_condition(columns, others, join)}", columns + others

    def join_condition(self, columns, others, join):
        pairs = [(one, other) for one in columns for other in others if one.type == other.type]
        if not pairs:
            return "true" if join != "FULL JOIN" else "1 = 1"
        one, other = self.pick(pairs)
        condition = f"{one.text} = {other.text}"
        # PostgreSQL has no full join by other conditions.
        if join != "FULL JOIN" and self.chance(0.4):
            condition += f" {self.pick(['AND', 'OR'])} {self.value(BOOL, columns + others, 1)}"
        return condition

    def merged(self):
        """Returns two tables joined by names."""
        one, other = self.random.sample(sorted(TABLES), 2)
        common = [name for name in TABLES[one] if name in TABLES[other]]
        join = self.pick(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
        named = [Column(f"{one}.{name}", of) for name, of in TABLES[one].items()]
        named += [Column(f"{other}.{name}", of) for name, of in TABLES[other].items()]
        if self.chance(0.4):
            keys, text = common, f"{one} NATURAL {join} {other}"
        else:
            keys = self.random.sample(common, self.random.randint(1, len(common)))
            text = f"{one} {join} {other} USING ({', '.join(keys)})"
        return text, named + [Column(name, TABLES[one][name]) for name in keys]

    # SELECT

    def items(self, types, make):
        """Returns select items, and the names that their columns have."""
        texts, columns = [], []
        for place, of in enumerate(types):
            name = f"o{place}"
            texts.append(f"{make(of)} AS {name}")
            columns.append((name, of))
        return ", ".join(texts), columns

    def select(self, types, visible, source, outer, depth):
        types = self.types(types)
        visible = [*visible, *(column for column in outer if self.chance(0.5))]
        items, columns = self.items(types, lambda of: self.value(of, visible))
        where = f" WHERE {self.value(BOOL, visible)}" if self.chance(0.6) else ""
        distinct = "DISTINCT " if self.chance(0.15) else ""
        return f"SELECT {distinct}{items} FROM {source}{where}", columns

    def plain(self, depth, types=None, outer=()):
        source, visible = self.sources(depth, outer)
        return self.select(types, visible, source, outer, depth)

    def grouped(self, depth, types=None, outer=()):
        """Returns a query with GROUP BY or aggregates alone."""
        source, visible = self.sources(depth)
        types = self.types(types)
        groups = [Column(self.value(of, visible, 1), of) for of in self.types(None)[: self.random.randint(0, 3)]]
        # A constant is a number of a column, or no group at all.
        groups = [group for group in groups if "." in group.text]
        make = lambda of: self.aggregate(of, visible) if self.chance(0.7) else self.of_groups(of, groups)
        items, columns = self.items(types, make)
        if not groups:
            items = f"count(*) AS n, {items}"
            columns = [("n", BIG), *columns]
            if types and self.chance(1) and len(columns) != len(types):
                items, columns = self.items(types, lambda of: self.aggregate(of, visible))
        where = f" WHERE {self.value(BOOL, visible)}" if self.chance(0.4) else ""
        by = f" GROUP BY {self.group_by([group.text for group in groups])}" if groups else ""
        having = f" HAVING {self.pick(['count(*) > 0', 'count(*) <> 2', self.having(visible)])}" if self.chance(0.3) else ""
        return f"SELECT {items} FROM {source}{where}{by}{having}", columns

    def group_by(self, groups):
        kind = self.random.random()
        listed = ", ".join(groups)
        if kind < 0.7:
            return listed
        if kind < 0.8:
            return f"ROLLUP ({listed})"
        if kind < 0.9:
            return f"CUBE ({listed})"
        return f"GROUPING SETS (({listed}), ({groups[0]}), ())"

    def of_groups(self, wanted, groups):
        own = [group.text for group in groups if group.type == wanted]
        return self.pick(own) if own else self.pick_literal(wanted)

    def pick_literal(self, wanted):
        return self.expressions.value(wanted, [], 0)

    def having(self, visible):
        of = self.pick(NUMBERS)
        return f"{self.aggregate(of, visible)} {self.pick(['>', '<=', 'IS DISTINCT FROM'])} {self.pick_literal(of)}"

    def aggregate(self, wanted, visible, is_window=False):
        value = lambda of: self.value(of, visible, 1)
        if wanted == BIG:
            distinct = "DISTINCT " if self.chance(0.3) and not is_window else ""
            call = f"count({distinct}{value(self.pick(TYPES))})" if self.chance(0.6) else f"sum({value(INT)})"
        elif wanted == NUMERIC:
            name = self.pick(["sum", "avg", "min", "max", "var_samp", "stddev_pop"])
            call = f"{name}({value(self.pick([NUMERIC, INT]) if name == 'avg' else NUMERIC)})"
        elif wanted == BOOL:
            call = f"{self.pick(['bool_and', 'bool_or', 'every'])}({value(BOOL)})"
        elif wanted == TEXT and self.chance(0.5) and not is_window:
            text = value(TEXT)
            call = f"string_agg({text}, ',' ORDER BY {text} {self.pick(['', 'DESC'])})"
        elif wanted == INT and self.chance(0.3) and not is_window:
            call = f"percentile_disc(0.{self.pick('159')}) WITHIN GROUP (ORDER BY {value(INT)})"
        else:
            call = f"{self.pick(['min', 'max'])}({value(wanted)})"
        if wanted == BOOL and call.startswith(("min", "max")):
            call = f"bool_or({value(BOOL)})"
        if self.chance(0.2) and "WITHIN" not in call:
            call += f" FILTER (WHERE {value(BOOL)})"
        return call

    # Windows

    def windowed(self, depth, types=None, outer=()):
        source, visible = self.sources(depth)
        types = self.types(types)
        make = lambda of: self.window(of, visible) if self.chance(0.7) else self.value(of, visible)
        items, columns = self.items(types, make)
        where = f" WHERE {self.value(BOOL, visible)}" if self.chance(0.4) else ""
        return f"SELECT {items} FROM {source}{where}", columns

    def window(self, wanted, visible):
        partition = ", ".join(self.value(self.pick(TYPES), visible, 1) for _ in range(self.random.randint(0, 2)))
        by = f"PARTITION BY {partition} " if partition else ""
        # Rows that are peers may come in any order: all columns order them where that matters.
        all_columns = ", ".join(column.text for column in visible)
        if wanted == BIG and self.chance(0.5):
            call = self.pick(["rank()", "dense_rank()", "row_number()"])
            return f"{call} OVER ({by}ORDER BY {all_columns})"
        if self.chance(0.25):
            name = self.pick(["first_value", "last_value", "lag", "lead"])
            frame = "" if name in ("lag", "lead") else f" {self.frame('ROWS')}"
            return f"{name}({self.value(wanted, visible, 1)}) OVER ({by}ORDER BY {all_columns}{frame})"
        call = self.aggregate(wanted, visible, is_window=True)
        kind = self.random.random()
        if kind < 0.25:
            return f"{call} OVER ({by.strip()})"
        if kind < 0.5:
            return f"{call} OVER ({by}ORDER BY {all_columns} {self.frame('ROWS')})"
        of = self.pick([INT, NUMERIC, FLOAT, DATE, TIME])
        key = self.value(of, visible, 1)
        direction = self.pick(["", " DESC", " NULLS FIRST"])
        if kind < 0.7:
            return f"{call} OVER ({by}ORDER BY {key}{direction} {self.frame('GROUPS')})"
        distance = self.pick(["1", "2", "0"]) if of in NUMBERS else self.pick(["'1 day'", "'1 month'", "'36 hours'"])
        return f"{call} OVER ({by}ORDER BY {key}{direction} {self.frame('RANGE', distance)})"

    def frame(self, units, distance=None):
        distance = distance or self.pick("012")
        start = self.pick(["UNBOUNDED PRECEDING", f"{distance} PRECEDING", "CURRENT ROW"])
        end = self.pick(["UNBOUNDED FOLLOWING", f"{distance} FOLLOWING", "CURRENT ROW"])
        # Which peers are left out depends on the order of peers alone where the current row is.
        others = ["", "", " EXCLUDE GROUP", " EXCLUDE NO OTHERS"]
        if units == "ROWS":
            others += [" EXCLUDE CURRENT ROW", " EXCLUDE TIES"]
        return f"{units} BETWEEN {start} AND {end}{self.pick(others)}"

    # Subqueries in expressions

    def scalar(self, wanted, columns, depth):
        """Returns a subquery of one row."""
        source, visible = self.source(0)
        both = [*columns, *visible]
        where = f" WHERE {self.value(BOOL, both, 1)}" if self.chance(0.7) else ""
        return f"(SELECT {self.aggregate(wanted, visible)} FROM {source}{where})"

    def condition(self, columns, depth):
        """Returns a condition with a subquery."""
        source, visible = self.source(0)
        both = [*columns, *visible]
        where = f" WHERE {self.value(BOOL, both, 1)}" if self.chance(0.7) else ""
        kind, of = self.random.random(), self.pick(TYPES)
        if kind < 0.4:
            return f"({self.pick(['', 'NOT '])}EXISTS (SELECT 1 FROM {source}{where}))"
        left = self.value(of, columns, 1)
        inner = f"(SELECT {self.value(of, visible, 1)} FROM {source}{where})"
        if kind < 0.8:
            return f"({left} {self.pick(['', 'NOT '])}IN {inner})"
        return f"({left} {self.pick(['=', '<', '>=', '<>'])} {self.pick(['ANY', 'ALL'])} {inner})"

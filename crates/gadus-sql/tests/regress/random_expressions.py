"""Random expressions of a type, over the columns that a clause can see.

- Values are NULL, repeat, and lie at the ends of their types' ranges now and then; no expression fails by its values.
"""

from dataclasses import dataclass
from random import Random

INT, BIG, FLOAT, NUMERIC, TEXT, BOOL, DATE, TIME = "int big float numeric text bool date time".split()
NUMBERS = (INT, BIG, FLOAT, NUMERIC)
TYPES = (*NUMBERS, TEXT, BOOL, DATE, TIME)

NAMES = {
    INT: "int4",
    BIG: "int8",
    FLOAT: "float8",
    NUMERIC: "numeric",
    TEXT: "text",
    BOOL: "bool",
    DATE: "date",
    TIME: "timestamp",
}

LITERALS = {
    INT: ["0", "1", "2", "3", "-1", "7", "NULL::int"],
    BIG: ["0::int8", "5::bigint", "3000000000", "-4000000000", "NULL::int8"],
    FLOAT: ["0.5::float8", "1e3", "-2.25::float8", "'NaN'::float8", "'-0'::float8", "NULL::float8"],
    NUMERIC: ["1.5", "2.50", "0.1", "-3.75", "10::numeric", "NULL::numeric"],
    TEXT: ["'a'", "'B'", "''", "'ab'", "'a b'", "'10'", "NULL::text"],
    BOOL: ["true", "false", "NULL::bool"],
    DATE: ["date '2024-02-29'", "date '1999-12-31'", "NULL::date"],
    TIME: ["timestamp '2024-02-29 12:30:00'", "timestamp '1999-12-31 23:59:59.5'", "NULL::timestamp"],
}


@dataclass(frozen=True)
class Column:
    """Column that an expression can name."""

    text: str
    type: str


class Expressions:
    """Makes expressions."""

    def __init__(self, random: Random):
        self.random = random
        self.queries = None

    def pick(self, choices):
        return self.random.choice(list(choices))

    def chance(self, part):
        return self.random.random() < part

    def any_type(self):
        return self.pick(TYPES)

    def value(self, wanted, columns, depth=2):
        """Returns an expression of a type."""
        own = [column.text for column in columns if column.type == wanted]
        if depth <= 0 or self.chance(0.25):
            return self.pick(own) if own and self.chance(0.8) else self.pick(LITERALS[wanted])
        if self.chance(0.12):
            return self.any_form(wanted, columns, depth - 1)
        if self.queries and self.chance(0.05):
            return self.queries.scalar(wanted, columns, depth - 1)
        return getattr(self, f"of_{wanted}")(columns, depth - 1)

    def any_form(self, wanted, columns, depth):
        """Returns a form that there is for all types."""
        one = lambda: self.value(wanted, columns, depth)
        condition = lambda: self.value(BOOL, columns, depth)
        kind = self.random.randrange(6)
        if kind == 0:
            return f"coalesce({one()}, {one()})"
        if kind == 1:
            return f"CASE WHEN {condition()} THEN {one()} WHEN {condition()} THEN {one()} ELSE {one()} END"
        if kind == 2:
            of = self.any_type()
            value = lambda: self.value(of, columns, depth)
            return f"CASE {value()} WHEN {value()} THEN {one()} ELSE {one()} END"
        if kind == 3:
            return f"nullif({one()}, {one()})"
        if kind == 4 and wanted != BOOL:
            return f"{self.pick(['greatest', 'least'])}({one()}, {one()})"
        return f"CAST({one()} AS {NAMES[wanted]})"

    def small(self, columns, depth):
        """Returns a number between -9 and 9."""
        return f"({self.value(INT, columns, depth)} % 10)"

    def of_int(self, columns, depth):
        kind = self.random.randrange(9)
        if kind < 3:
            return f"({self.small(columns, depth)} {self.pick('+-*')} {self.small(columns, depth)})"
        if kind == 3:
            return f"({self.value(INT, columns, depth)} {self.pick('/%')} nullif({self.small(columns, depth)}, 0))"
        if kind == 4:
            return f"{self.pick(['length', 'ascii', 'octet_length'])}({self.value(TEXT, columns, depth)})"
        if kind == 5:
            return f"({self.value(DATE, columns, depth)} - {self.value(DATE, columns, depth)})"
        if kind == 6:
            return f"position({self.value(TEXT, columns, depth)} in {self.value(TEXT, columns, depth)})"
        if kind == 7:
            return f"({self.value(BOOL, columns, depth)})::int"
        return f"(- {self.small(columns, depth)})"

    def of_big(self, columns, depth):
        if self.chance(0.5):
            return f"({self.value(INT, columns, depth)} + {self.value(BIG, columns, depth)} / 1000)"
        return f"({self.value(self.pick([INT, BIG]), columns, depth)})::int8"

    def of_float(self, columns, depth):
        kind = self.random.randrange(4)
        if kind == 0:
            other = self.value(self.pick([INT, FLOAT]), columns, depth)
            return f"({self.value(FLOAT, columns, depth)} {self.pick('+-')} {other})"
        if kind == 1:
            return f"{self.pick(['abs', 'floor', 'ceil', 'sign', 'round'])}({self.value(FLOAT, columns, depth)})"
        return f"({self.value(self.pick([INT, NUMERIC]), columns, depth)})::float8"

    def of_numeric(self, columns, depth):
        kind = self.random.randrange(6)
        number = lambda: self.value(self.pick([INT, NUMERIC]), columns, depth)
        if kind < 2:
            return f"({self.value(NUMERIC, columns, depth)} {self.pick('+-*')} {number()})"
        if kind == 2:
            return f"({self.value(NUMERIC, columns, depth)} / nullif({number()}, 0))"
        if kind == 3:
            return f"round({self.value(NUMERIC, columns, depth)}, {self.pick('0123')})"
        if kind == 4:
            return f"({number()})::numeric(20,{self.pick('0236')})"
        return f"{self.pick(['abs', 'floor', 'ceil', 'trunc', '-'])}({self.value(NUMERIC, columns, depth)})"

    def of_text(self, columns, depth):
        kind = self.random.randrange(8)
        text = lambda: self.value(TEXT, columns, depth)
        if kind < 2:
            other = self.value(self.pick([TEXT, INT, NUMERIC, BOOL]), columns, depth)
            return f"({text()} || {other})"
        if kind == 2:
            return f"{self.pick(['upper', 'lower', 'trim', 'reverse', 'initcap'])}({text()})"
        if kind == 3:
            return f"substr({text()}, {self.pick('123')}, {self.pick('0123')})"
        if kind == 4:
            return f"replace({text()}, {self.pick(LITERALS[TEXT])}, {text()})"
        if kind == 5:
            return f"{self.pick(['left', 'right', 'repeat'])}({text()}, {self.pick('0123')})"
        return f"({self.value(self.any_type(), columns, depth)})::text"

    def of_bool(self, columns, depth):
        kind = self.random.randrange(12)
        condition = lambda: self.value(BOOL, columns, depth)
        of = self.any_type()
        value = lambda: self.value(of, columns, depth)
        if kind < 3:
            other = self.pick([INT, BIG, NUMERIC, FLOAT]) if of in NUMBERS else of
            operator = self.pick(["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"])
            return f"({value()} {operator} {self.value(other, columns, depth)})"
        if kind == 3:
            return f"({condition()} {self.pick(['AND', 'OR'])} {condition()})"
        if kind == 4:
            return f"(NOT {condition()})"
        if kind == 5:
            return f"({value()} IS {self.pick(['NULL', 'NOT NULL'])})"
        if kind == 6:
            return f"({condition()} IS {self.pick(['TRUE', 'NOT TRUE', 'FALSE', 'UNKNOWN', 'NOT UNKNOWN'])})"
        if kind == 7:
            return f"({value()} {self.pick(['', 'NOT '])}BETWEEN {self.pick(['', 'SYMMETRIC '])}{value()} AND {value()})"
        if kind == 8:
            return f"({value()} {self.pick(['', 'NOT '])}IN ({value()}, {value()}, {value()}))"
        if kind == 9:
            text = self.value(TEXT, columns, depth)
            return f"({text} {self.pick(['LIKE', 'NOT LIKE', 'ILIKE'])} {self.pick(['%a%', '_', 'a%', '%'])!r})"
        if kind == 10:
            return f"(({value()}, {condition()}) {self.pick(['=', '<', '>=', '<>'])} ({value()}, {condition()}))"
        if self.queries:
            return self.queries.condition(columns, depth)
        return condition()

    def of_date(self, columns, depth):
        if self.chance(0.5):
            return f"({self.value(DATE, columns, depth)} {self.pick('+-')} {self.small(columns, depth)})"
        return f"({self.value(TIME, columns, depth)})::date"

    def of_time(self, columns, depth):
        kind = self.random.randrange(3)
        if kind == 0:
            step = self.pick(["1 month", "1 day 02:00", "-3 hours", "1 year", "90 seconds"])
            return f"({self.value(self.pick([TIME, DATE]), columns, depth)} + interval '{step}')"
        if kind == 1:
            field = self.pick(["year", "quarter", "month", "week", "day", "hour", "minute"])
            return f"date_trunc('{field}', {self.value(TIME, columns, depth)})"
        return f"({self.value(DATE, columns, depth)})::timestamp"

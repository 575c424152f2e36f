"""Compares Gadus with PostgreSQL on random expressions over arrays.

    random_arrays.py [COUNT [SEED]]      [default: 2000 expressions, seed 1]

- $GADUS is the program.
- Two results are the same if both are the same text, or errors with the same SQLSTATE. What Gadus refuses with 0A000 is
  counted, not compared: arrays with other lower bounds, or of several dimensions in one column.
"""

import os
import random
import sys
import tempfile

from psycopg import pq

from servers import Gadus, Postgres

ELEMENTS = {
    "int": ["0", "1", "2", "-3", "NULL", "7"],
    "bigint": ["0", "5", "-5000000000", "NULL", "12"],
    "numeric": ["1.0", "1.00", "2.5", "-0.10", "NULL", "1e3"],
    "float8": ["0", "1.5", "NaN", "NULL", "1e30"],
    "text": ["a", '"b c"', '""', "NULL", '"NULL"', '"q\\"x"', "Ab"],
    "bool": ["t", "f", "NULL"],
    "date": ["2024-01-01", "1999-12-31", "NULL", "infinity"],
}
COMPARISONS = ["=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM"]


class Expressions:
    """Source of expressions, the same for the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, values):
        return self.random.choice(values)

    def literal(self, of, dimensions):
        """Returns the text of an array; its parts have the same length."""
        lengths = [self.random.randint(1, 3) for _ in range(dimensions)]
        if self.random.random() < 0.1:
            return "{}"

        def part(rest):
            if not rest:
                return self.pick(ELEMENTS[of])
            return "{" + ",".join(part(rest[1:]) for _ in range(rest[0])) + "}"

        return part(lengths)

    def value(self, of):
        text = self.pick(ELEMENTS[of]).strip('"').replace('\\"', '"')
        return f"NULL::{of}" if text == "NULL" else f"'{text}'::{of}"

    def array(self, of, dimensions=1, depth=2):
        """Returns an array of so many dimensions, or without elements."""
        kind = self.random.randrange(9 if depth else 3)
        again = lambda: self.array(of, dimensions, depth - 1)
        if kind == 0:
            parts = [self.array(of, dimensions - 1, 0) if dimensions > 1 else self.value(of) for _ in range(2)]
            return f"ARRAY[{', '.join(parts)}]" if parts else "NULL"
        if kind in (1, 2):
            return f"'{self.literal(of, dimensions)}'::{of}[]"
        if kind == 3:
            return f"({again()} || {again()})"
        if kind == 4 and dimensions == 1:
            return self.pick(
                [
                    f"array_append({again()}, {self.value(of)})",
                    f"array_prepend({self.value(of)}, {again()})",
                    f"array_remove({again()}, {self.value(of)})",
                ]
            )
        if kind == 5:
            return f"array_replace({again()}, {self.value(of)}, {self.value(of)})"
        if kind == 6:
            low, high = self.random.randint(-1, 3), self.random.randint(0, 4)
            return f"({again()})[{self.pick([f'{low}:{high}', f'{low}:', f':{high}'])}]"
        if kind == 7:
            return f"trim_array({again()}, {self.random.randint(0, 2)})"
        if kind == 8:
            return f"(({again()})::text)::{of}[]"
        return again()

    def scalar(self):
        of, dimensions = self.pick(list(ELEMENTS)), self.pick([1, 1, 1, 2])
        one = lambda: self.array(of, dimensions)
        number = self.random.randint(-1, 3)
        return self.pick(
            [
                lambda: f"({one()})::text",
                lambda: f"{one()} {self.pick(COMPARISONS)} {one()}",
                lambda: f"{one()} {self.pick(['@>', '<@', '&&'])} {one()}",
                lambda: f"{self.value(of)} {self.pick(COMPARISONS[:6])} {self.pick(['ANY', 'ALL'])} ({one()})",
                lambda: f"({one()})[{number}]::text",
                lambda: f"({one()})[{number}][{self.random.randint(1, 2)}]::text",
                lambda: f"array_length({one()}, {number})",
                lambda: f"array_dims({one()})",
                lambda: f"cardinality({one()})",
                lambda: f"array_position({one()}, {self.value(of)})",
                lambda: f"array_positions({one()}, {self.value(of)})::text",
                lambda: f"array_to_string({one()}, ',', '*')",
                lambda: f"(SELECT array_agg(x ORDER BY x DESC)::text FROM unnest({one()}) x)",
                lambda: f"(SELECT array_agg(DISTINCT x)::text FROM unnest({one()}) x)",
                lambda: f"(SELECT count(*) FROM unnest({one()}, {one()}) x)",
                lambda: f"ARRAY(SELECT x FROM unnest({one()}) x ORDER BY x)::text",
                lambda: f"(SELECT array_agg(v::text ORDER BY v)::text FROM (VALUES ({one()}), ({one()})) t(v))",
            ]
        )()


def answer(connection, query):
    result = connection.exec_(query.encode())
    if result.status == pq.ExecStatus.TUPLES_OK:
        return [result.get_value(row, 0) for row in range(result.ntuples)]
    return "error " + result.error_field(pq.DiagnosticField.SQLSTATE).decode()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    expressions, different, refused = Expressions(seed), [], 0
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        os.chmod(folder, 0o755)
        servers = [Postgres(f"{folder}/postgres"), Gadus(f"{folder}/gadus", os.environ["GADUS"], folder)]
        try:
            for server in servers:
                server.begin("random")
            connections = [server.connect() for server in servers]
            for _ in range(count):
                query = "SELECT " + expressions.scalar()
                expected, given = (answer(connection, query) for connection in connections)
                if given == "error 0A000" and expected != given:
                    refused += 1
                elif given != expected:
                    different.append(f"{query}\n  PostgreSQL {expected}\n  Gadus      {given}")
        finally:
            for server in servers:
                server.end()
    print("\n".join(different))
    print(f"{count} expressions: {len(different)} different, {refused} refused")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main())

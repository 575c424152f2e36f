"""Compares random queries on Gadus and PostgreSQL.

    random_compare.py [--verbose] [COUNT [SEED]]

- $GADUS is the program. Each hundred queries have tables of their own, made of the seed that is named.
- Two results are the same if both are the same rows, or errors with the same SQLSTATE; order counts where it is asked for.
"""

import os
import sys
import tempfile
from random import Random

from compare import are_same
from play import run
from random_queries import Queries, definitions
from servers import Gadus, Postgres

PER_SEED = 100


def compare(seed, servers, count, is_verbose):
    """Returns how many queries of a seed gave something else, and how many were refused as not supported."""
    random, connections = Random(seed), []
    tables = list(definitions(random))
    for server in servers:
        server.begin(f"seed{seed}")
        connections.append(server.connect())
        for statement in tables:
            made = run(connections[-1], statement, None)
            assert made.kind == "done", (statement, made)
    queries = Queries(random)
    different = refused = 0
    for _ in range(count):
        text, is_ordered = queries.statement()
        expected, found = (run(connection, text, None) for connection in connections)
        if are_same(expected, found, is_ordered):
            continue
        is_refused = found.kind == "error" and found.value == "0A000"
        refused += is_refused
        different += not is_refused
        if is_verbose:
            print(f"-- seed {seed}\n{text};\n-- PostgreSQL: {expected}\n-- Gadus: {found}")
    for connection in connections:
        connection.finish()
    return different, refused


def main():
    words = sys.argv[1:]
    is_verbose = "--verbose" in words
    numbers = [int(word) for word in words if word != "--verbose"]
    count = numbers[0] if numbers else 20_000
    seed = numbers[1] if len(numbers) > 1 else 1
    different = refused = 0
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        postgres = Postgres(f"{place}/postgres")
        gadus = Gadus(f"{place}/gadus", os.environ["GADUS"], place)
        try:
            for first in range(0, count, PER_SEED):
                of_seed = compare(seed, (postgres, gadus), min(PER_SEED, count - first), is_verbose)
                different, refused = different + of_seed[0], refused + of_seed[1]
                seed += 1
        finally:
            gadus.end()
            postgres.end()
    print(f"{count} queries: {different} different, {refused} not supported")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()

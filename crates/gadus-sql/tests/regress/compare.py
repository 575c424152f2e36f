"""Compares Gadus with PostgreSQL, statement by statement, on PostgreSQL's own regression files.

    compare.py [--verbose] [FILE...]      such as: compare.py boolean int4

- $GADUS is the program, $GADUS_KEPT the folder in which PostgreSQL's source package is kept.
- Two results are the same if both are the same rows, or errors with the same SQLSTATE. Order counts in statements with
  ORDER BY outside of parentheses: in a subquery or a window it does not order the result. Digits and NULLs always count.
- Not compared are EXPLAIN, ANALYZE and VACUUM, whose results are the planner's, and commands of psql.
- Each file has a database of its own, with the tables that PostgreSQL's test_setup makes.
"""

import os
import re
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections import Counter

import psql_script
from play import play
from servers import POSTGRES, Gadus, Postgres

FILES = """
    boolean char varchar text name int2 int4 int8 float4 float8 numeric numeric_big strings date time timestamp
    timestamptz interval horology enum uuid arrays json jsonb case union join subselect aggregates groupingsets window
    with select select_distinct select_distinct_on select_having select_implicit insert insert_conflict update delete
    merge returning create_view sequence identity generated constraints foreign_key transactions prepare portals limit
    random regex copyselect create_table alter_table create_index
""".split()

SOURCES = "https://deb.debian.org/debian/pool/main/p/postgresql-15/postgresql-15_{}.orig.tar.bz2"
NOT_COMPARED = re.compile(r"(explain|analyze|vacuum)\b", re.IGNORECASE)
ORDERED = re.compile(r"order\s+by", re.IGNORECASE)


def suite(kept):
    """Returns the folder of the regression suite, fetched unless it is there."""
    shown = subprocess.run([f"{POSTGRES}/postgres", "--version"], check=True, capture_output=True, text=True)
    version = re.search(r"\d+\.\d+", shown.stdout)[0]
    folder = f"{kept}/postgresql-{version}/src/test/regress"
    if os.path.isdir(folder):
        return folder
    with tempfile.NamedTemporaryFile(suffix=".tar.bz2") as archive:
        urllib.request.urlretrieve(SOURCES.format(version), archive.name)
        with tarfile.open(archive.name) as package:
            wanted = [entry for entry in package if "/src/test/regress/" in entry.name]
            package.extractall(kept, members=wanted, filter="data")
    return folder


def orders_its_result(text):
    """Returns True if a statement has ORDER BY outside of quotes, comments and parentheses, but for those around it all."""
    whole = text.strip()
    if re.fullmatch(r"\([^()]*(?:\([^()]*\)[^()]*)*\)", whole):
        return orders_its_result(whole[1:-1])
    outside, depth = [], 0
    for token in re.findall(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|[()]|[^'\"()-]+|.", text):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if depth == 0 and token not in "()":
            outside.append(token if token[0] not in "'\"" and not token.startswith("--") else "x")
    return bool(ORDERED.search("".join(outside)))


def are_same(one, other, is_ordered):
    if one.kind != other.kind:
        return False
    if one.kind == "rows" and not is_ordered:
        return Counter(one.value) == Counter(other.value)
    return one.value == other.value


def compare(file, folder, servers, is_verbose):
    """Returns how many statements of a file were compared, and how many gave the same."""
    items = psql_script.read(f"{folder}/sql/{file}.sql")
    setup = psql_script.read(f"{folder}/sql/test_setup.sql")
    environment = {"PG_ABS_SRCDIR": folder, "PG_LIBDIR": "", "PG_DLSUFFIX": ".so"}
    results = []
    for server in servers:
        server.begin(file)
        play(server, setup, environment)
        results.append(play(server, items, environment))
    expected, found = results
    compared = same = 0
    for index, item in enumerate(items):
        if item.is_command or NOT_COMPARED.match(item.text):
            continue
        compared += 1
        if are_same(expected[index], found[index], orders_its_result(item.text)):
            same += 1
        elif is_verbose:
            print(f"-- {file}\n{item.text};\n-- PostgreSQL: {expected[index]}\n-- Gadus: {found[index]}")
    return compared, same


def main():
    words = sys.argv[1:]
    is_verbose = "--verbose" in words
    files = [word for word in words if word != "--verbose"] or FILES
    folder = suite(os.environ["GADUS_KEPT"])
    total = [0, 0]
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        postgres = Postgres(f"{place}/postgres")
        gadus = Gadus(f"{place}/gadus", os.environ["GADUS"], f"{folder}/data")
        try:
            print(f"{'file':20} {'statements':>10} {'same':>6}")
            for file in files:
                compared, same = compare(file, folder, (postgres, gadus), is_verbose)
                total = [total[0] + compared, total[1] + same]
                print(f"{file:20} {compared:10} {same:6} {100 * same / compared:6.1f} %", flush=True)
            print(f"{'all':20} {total[0]:10} {total[1]:6} {100 * total[1] / total[0]:6.1f} %")
        finally:
            gadus.end()
            postgres.end()


if __name__ == "__main__":
    main()

import itertools
import math
import random
import re
import sqlite3
import time
from csv import reader

# Classes of latencies, as the benchmark adds them.
CLASS_WIDTH = 1.05

# Long enough for the last of many writers to have its turn.
BUSY_SECONDS = 600


def connect(path):
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def version():
    return {"version": sqlite3.sqlite_version}


def commit(path, create_table, insert, clients, seconds):
    connect(path).execute(create_table)

    def client(number):
        connection, ids = connect(path), itertools.count(number << 32)
        return lambda: connection.execute(insert, (next(ids), number, "a note of some length"))

    return commit_loop(client, clients, seconds)


def make_counters(path, create_table, rows):
    connection = connect(path)
    connection.execute(create_table)
    connection.execute("BEGIN")
    connection.executemany(
        "INSERT INTO counters VALUES (?, 0)", ((id,) for id in range(1, rows + 1))
    )
    connection.execute("COMMIT")
    return {}


def open_counters(path):
    global counters
    counters = connect(path)
    return {}


def play(read, update, reads_per_commit, rows, seconds):
    classes, reads, errors = {}, 0, 0

    def some_id():
        # Not randint, which takes a good part of the time of a read.
        return (1 + int(random.random() * rows),)

    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        try:
            for _ in range(reads_per_commit):
                if counters.execute(read, some_id()).fetchone() is None:
                    errors += 1
                else:
                    reads += 1
            id = some_id()
            begun = time.perf_counter()
            changed = counters.execute(update, id).rowcount
        except sqlite3.OperationalError:
            errors += 1
            continue
        if changed != 1:
            errors += 1
            continue
        microseconds = max((time.perf_counter() - begun) * 1e6, 1.0)
        latency_class = int(math.log(microseconds) / math.log(CLASS_WIDTH))
        classes[latency_class] = classes.get(latency_class, 0) + 1
    return {"reads": reads, "latencies": sorted(classes.items()), "errors": errors}


def load(path, create_table, table, csv, **_):
    connection = connect(path)
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute(create_table)
    with open(csv, newline="") as file:
        rows = reader(file)
        places = ", ".join("?" for _ in next(rows))
        connection.execute("BEGIN")
        # Columns of numbers make numbers of texts.
        connection.executemany(
            f"INSERT INTO {table} VALUES ({places})",
            ([value or None for value in row] for row in rows),
        )
        connection.execute("COMMIT")
    connection.execute("ANALYZE")
    connection.close()
    return {}


def open_for_queries(path, **_):
    global opened
    opened = connect(path)
    opened.execute("PRAGMA case_sensitive_like = ON")
    return {}


def run(sql):
    # Dates and times are texts here, and sort as such.
    cursor = opened.execute(re.sub(r"\b(DATE|TIMESTAMP) '", "'", sql))
    return [(cursor.rowcount,)] if cursor.description is None else cursor.fetchall()


serve(
    {
        "version": version,
        "load": load,
        "open": open_for_queries,
        "commit": commit,
        "make_counters": make_counters,
        "open_counters": open_counters,
        "play": play,
        **statement_actions(run),
    }
)

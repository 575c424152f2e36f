import itertools
import statistics

import duckdb

opened = {}


def connect(path, threads):
    connection = duckdb.connect(path, config={"threads": threads})
    # Standard output is for answers.
    connection.execute("SET enable_progress_bar = false")
    return connection


def version():
    return {"version": duckdb.__version__}


def load(path, create_table, table, parquet, threads):
    started = time.perf_counter()
    with connect(path, threads) as connection:
        connection.execute(create_table)
        connection.execute(f"INSERT INTO {table} SELECT * FROM read_parquet('{parquet}')")
    return {"seconds": time.perf_counter() - started, "peak_bytes": peak_bytes()}


def open_and_find(path, sql, threads):
    started = time.perf_counter()
    with connect(path, threads) as connection:
        rows = connection.execute(sql).fetchall()
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "rows": len(rows)}


def open_for_queries(path, threads):
    opened["connection"] = connect(path, threads)
    return {}


def query(sql, times):
    took = []
    for _ in range(times):
        started = time.perf_counter()
        rows = opened["connection"].execute(sql).fetchall()
        took.append(time.perf_counter() - started)
    return {"seconds": statistics.median(took), "rows": [list(map(text, row)) for row in rows]}


def text(value):
    return "NULL" if value is None else str(value)


def play(statements, together, seconds):
    """Runs the statements round and round; each answers `together` of what is asked."""
    started, count = time.perf_counter(), 0
    while True:
        for sql in statements:
            opened["connection"].execute(sql).fetchall()
            count += 1
            # A whole round where statements are of different sizes.
            if together == 1 and time.perf_counter() - started > seconds:
                break
        taken = time.perf_counter() - started
        if taken > seconds:
            return {"rate": count * together / taken}


def commit(path, create_table, insert, clients, seconds):
    with duckdb.connect(path) as database:
        database.execute(create_table)

        def client(number):
            cursor, ids = database.cursor(), itertools.count(number << 32)
            return lambda: cursor.execute(insert, (next(ids), number, "a note of some length"))

        return commit_loop(client, clients, seconds)


serve({
    "version": version,
    "load": load,
    "open_and_find": open_and_find,
    "open": open_for_queries,
    "query": query,
    "play": play,
    "commit": commit,
})

import itertools

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


def open_for_queries(path, threads, **_):
    opened["connection"] = connect(path, threads)
    return {}


def run(sql):
    return opened["connection"].execute(sql).fetchall()


def update_points(sql, keys):
    """The mean time of a prepared update of one row, of many in one transaction: there is no commit
    without a sync."""
    connection = opened["connection"]
    connection.execute(f"PREPARE point AS {sql}")
    started = time.perf_counter()
    connection.execute("BEGIN")
    for key in keys:
        connection.execute(f"EXECUTE point('{key}')")
    connection.execute("COMMIT")
    seconds = time.perf_counter() - started
    connection.execute("DEALLOCATE point")
    return {"seconds": seconds / len(keys)}


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
    "update_points": update_points,
    "commit": commit,
    **statement_actions(run),
})

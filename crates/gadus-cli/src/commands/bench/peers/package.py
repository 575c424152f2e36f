# What programs do with a package again and again; the module is gadus or duckdb.
import importlib
import resource

opened = {}


def open_package(module, path, keys):
    package = importlib.import_module(module)
    connection = package.connect(path)
    connection.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, kind BIGINT, name TEXT)")
    connection.execute(
        f"INSERT INTO t SELECT value, value % 1000, 'name ' || CAST(value AS TEXT) "
        f"FROM generate_series(0, {keys - 1}) AS s(value)"
    )
    opened.update(connection=connection, keys=keys)
    return {"version": package.__version__}


def rate(one, seconds):
    """How often something is done a second; looked at now and then, so that the clock costs nothing."""
    started, count = time.perf_counter(), 0
    while True:
        for _ in range(100):
            one(count)
            count += 1
        took = time.perf_counter() - started
        if took > seconds:
            return {"rate": count / took}


def select_one(seconds):
    execute = opened["connection"].execute

    def one(_):
        assert execute("SELECT 1").fetchone() == (1,)

    return rate(one, seconds)


def look_up(seconds):
    execute, keys = opened["connection"].execute, opened["keys"]

    def one(number):
        key = number * 7919 % keys
        row = execute("SELECT name FROM t WHERE id = ?", (key,)).fetchone()
        assert row == (f"name {key}",)

    return rate(one, seconds)


def resident_bytes():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()


def to_arrow(rows):
    connection = opened["connection"]
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS numbers AS "
        f"SELECT value AS a, value * 0.5 AS b FROM generate_series(1, {rows}) AS s(value)"
    )
    before, started = resident_bytes(), time.perf_counter()
    query = "SELECT a, b FROM numbers"
    if hasattr(connection, "sql"):
        # DuckDB's way that does not copy the rows.
        table = connection.sql(query).to_arrow_table()
    else:
        table = connection.execute(query).arrow()
    seconds = time.perf_counter() - started
    grown = resident_bytes() - before
    assert table.num_rows == rows
    return {"seconds": seconds, "resident_part": grown / table.nbytes}


def execute_batch(statements):
    text = "SELECT count(*) FROM t WHERE kind = ? AND id < ?"
    texts = [(text, (number % 1000, number)) for number in range(statements)]
    started = time.perf_counter()
    results = opened["connection"].execute_batch(texts)
    counts = sum(result.fetchone()[0] for result in results)
    return {"seconds": time.perf_counter() - started, "counts": counts}


serve({
    "open": open_package,
    "select_one": select_one,
    "look_up": look_up,
    "to_arrow": to_arrow,
    "execute_batch": execute_batch,
})

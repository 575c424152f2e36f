# A driver of PostgreSQL reads many rows, in binary.
import psycopg
import threading


def version():
    return {"version": psycopg.__version__}


def make(address, rows):
    with psycopg.connect(**address, autocommit=True) as connection:
        connection.execute("CREATE TABLE numbers (id BIGINT, price DOUBLE PRECISION, name TEXT)")
        connection.execute(
            "INSERT INTO numbers SELECT n, CAST(n AS DOUBLE PRECISION) / 8, 'name ' || CAST(n AS TEXT) "
            f"FROM generate_series(1, {rows}) AS s(n)"
        )
    return {}


def fetch(address, rows):
    with psycopg.connect(**address) as connection, connection.cursor(binary=True) as cursor:
        started = time.perf_counter()
        cursor.execute("SELECT id, price, name FROM numbers")
        received = time.perf_counter() - started
        fetched = cursor.fetchall()
        seconds = time.perf_counter() - started
    assert len(fetched) == rows, len(fetched)
    assert all(name == f"name {number}" for number, _, name in fetched[:1000])
    return {"received": received, "seconds": seconds}


def tables(address, rows):
    with psycopg.connect(**address, autocommit=True) as connection:
        connection.execute("CREATE TABLE small (id INT, v TEXT)")
        connection.execute(f"INSERT INTO small SELECT n, CAST(n AS TEXT) FROM generate_series(1, {rows}) AS s(n)")
        connection.execute("CREATE TABLE large (id INT, k INT, v TEXT)")
        connection.execute(
            "INSERT INTO large SELECT n, n % 1000, 'row ' || CAST(n AS TEXT) "
            f"FROM generate_series(1, {10 * rows}) AS s(n)"
        )
        connection.execute("CREATE TABLE long (v TEXT)")
        connection.execute(
            "INSERT INTO long SELECT repeat('long text ', 100000) || CAST(n AS TEXT) "
            "FROM generate_series(1, 1000) AS s(n)"
        )
        # Again and again: a scan of one gigabyte ends too soon.
        connection.execute("CREATE VIEW longer AS " + " UNION ALL ".join(["SELECT v FROM long"] * 20))
    return {}


def run_endless(connection, statement, outcome):
    try:
        if statement.startswith("COPY"):
            with connection.cursor().copy(statement) as rows:
                for _ in rows:
                    pass
        else:
            connection.execute(statement)
        outcome["ended"] = "by itself"
    except psycopg.Error as error:
        outcome["ended"] = error.sqlstate or str(error)
    outcome["at"] = time.perf_counter()


# Runs a statement without end; meanwhile new connections ask for one row; then it is cancelled.
def freeze(address, statement, before, seconds):
    outcome, waits = {}, []
    with psycopg.connect(**address, autocommit=True) as connection:
        thread = threading.Thread(target=run_endless, args=(connection, statement, outcome))
        thread.start()
        time.sleep(before)
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            started = time.perf_counter()
            with psycopg.connect(**address, autocommit=True) as second:
                second.execute("SELECT 1").fetchone()
            waits.append(time.perf_counter() - started)
        cancelled = time.perf_counter()
        connection.cancel()
        thread.join()
    waits.sort()
    return {
        "ended": outcome["ended"],
        "cancel_ms": 1e3 * (outcome["at"] - cancelled),
        "second_ms": 1e3 * waits[int(0.99 * (len(waits) - 1))],
    }


serve({"version": version, "make": make, "fetch": fetch, "tables": tables, "freeze": freeze})

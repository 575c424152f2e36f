# A driver of PostgreSQL reads many rows, in binary.
import psycopg


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


serve({"version": version, "make": make, "fetch": fetch})

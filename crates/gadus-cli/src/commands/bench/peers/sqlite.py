import itertools
import sqlite3

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


serve({"version": version, "commit": commit})

"""Signals, forks, and processes that die."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import gadus

SLOW = (
    "SELECT count(*) FROM generate_series(1, 100000) a(x), generate_series(1, 100000) b(y) "
    "WHERE a.x * b.y % 7 = 3"
)


# A shell has those of its background ignore Ctrl-C.
hears_ctrl_c = pytest.mark.skipif(
    signal.getsignal(signal.SIGINT) is not signal.default_int_handler,
    reason="this process was started with SIGINT ignored",
)


@hears_ctrl_c
def test_ctrl_c_ends_a_statement(connection):
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        connection.execute(SLOW).fetchall()
    timer.join()
    assert time.monotonic() - began < 60
    assert connection.execute("SELECT 1").fetchone() == (1,)


@hears_ctrl_c
def test_ctrl_c_ends_no_later_statement(connection):
    for _ in range(20):
        with pytest.raises(KeyboardInterrupt):
            while True:
                # Before, in or behind a statement.
                threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                connection.execute("SELECT count(*) FROM generate_series(1, 1000)").fetchall()
                time.sleep(1)  # until the signal comes, where it comes behind the statement
        for _ in range(20):
            assert connection.execute("SELECT 1").fetchone() == (1,)


@hears_ctrl_c
def test_ctrl_c_ends_the_rows_that_are_read(connection):
    """Not those of the statement that began last."""
    slow = connection.execute(SLOW)
    other = connection.execute("SELECT value FROM generate_series(1, 300000) AS s(value)")
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        slow.fetchall()
    timer.join()
    assert len(other.fetchall()) == 300_000


def test_another_thread_ends_a_statement(connection):
    failed = []

    def run() -> None:
        try:
            connection.execute(SLOW).fetchall()
        except gadus.OperationalError as error:
            failed.append(error.kind)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        connection.interrupt()
        thread.join(0.05)
    assert failed == ["Cancelled"]


def test_an_event_loop_still_hears_of_signals(connection):
    import asyncio

    async def run() -> str:
        heard = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_signal_handler(
            signal.SIGUSR1, lambda: heard.done() or heard.set_result("heard")
        )
        timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGUSR1))
        timer.start()
        # A statement of the event loop's own thread, while the signal comes.
        while timer.is_alive():
            connection.execute("SELECT count(*) FROM generate_series(1, 100000)").fetchall()
        return await asyncio.wait_for(heard, 10)

    assert asyncio.run(run()) == "heard"


def test_a_forked_child_opens_its_own(path: Path):
    connection = gadus.connect(path)
    connection.execute("CREATE TABLE t (a INT)")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            connection.execute("SELECT 1")
        except gadus.OperationalError as error:
            with gadus.connect(path) as own:
                own.execute("INSERT INTO t VALUES (1)")
            os.write(writer, f"{error.kind}: {error}".encode())
        os._exit(0)
    os.close(writer)
    message = os.read(reader, 1000).decode()
    assert os.waitpid(child, 0)[1] == 0
    assert message.startswith("Forked: ") and "child" in message
    assert connection.execute("SELECT * FROM t").fetchall() == [(1,)]


def insert(path: Path, process: int) -> int:
    with gadus.connect(path) as connection:
        for number in range(20):
            connection.execute("INSERT INTO t VALUES (?, ?)", [process, number])
    return process


@pytest.mark.parametrize("method", ["spawn", "fork", "forkserver"])
def test_processes_of_multiprocessing_share_a_file(path: Path, method: str):
    with gadus.connect(path) as connection:
        connection.execute("CREATE TABLE t (process INT, number INT)")
    with multiprocessing.get_context(method).Pool(4) as pool:
        assert pool.starmap(insert, [(path, process) for process in range(4)]) == [0, 1, 2, 3]
    with gadus.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM t").fetchone() == (80,)


WRITER = """
import gadus, sys
connection = gadus.connect(sys.argv[1])
connection.execute("CREATE TABLE IF NOT EXISTS t (a BIGINT)")
number = connection.execute("SELECT count(*) FROM t").fetchone()[0]
while True:
    connection.execute("INSERT INTO t VALUES (?)", [number])
    number += 1
    print(number, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_killed_writer_leaves_what_it_had_committed(path: Path, how: signal.Signals):
    acknowledged = 0
    for _ in range(3):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert writer.stdout is not None
        for _ in range(20):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(how)
        for line in writer.stdout:
            acknowledged = int(line)
        writer.wait(60)
        with gadus.connect(path) as connection:
            rows = connection.execute("SELECT a FROM t ORDER BY a").fetchall()
        assert len(rows) - acknowledged in (0, 1)
        assert rows == [(number,) for number in range(len(rows))]
        acknowledged = len(rows)

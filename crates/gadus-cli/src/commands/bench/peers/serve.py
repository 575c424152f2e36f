# One request a line on standard input, one answer a line on standard output, both JSON.
import json
import statistics
import sys
import threading
import time


def peak_bytes():
    # Not ru_maxrss, which keeps what the parent had before it started this program.
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024


def commit_loop(connect, clients, seconds):
    """Commits from `clients` threads for `seconds`; returns commits a second.

    `connect` is called in each thread, with its number, and returns what makes one commit.
    """
    counts = [0] * clients
    failures = []
    ready = threading.Barrier(clients + 1)
    stop = threading.Event()

    def run(client):
        try:
            commit = connect(client)
            ready.wait()
            while not stop.is_set():
                commit()
                counts[client] += 1
        except Exception as failure:
            failures.append(failure)
            ready.abort()

    threads = [threading.Thread(target=run, args=(client,)) for client in range(clients)]
    for thread in threads:
        thread.start()
    try:
        ready.wait()
    except threading.BrokenBarrierError:
        pass
    before, started = sum(counts), time.perf_counter()
    stop.wait(seconds)
    done, took = sum(counts) - before, time.perf_counter() - started
    stop.set()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return {"commits_per_second": done / took}


def text(value):
    return "NULL" if value is None else str(value)


def statement_actions(run):
    """What is done with single statements; `run` runs one and returns its rows, or a count of changes."""

    def query(sql, times):
        took = []
        for _ in range(times):
            started = time.perf_counter()
            rows = run(sql)
            took.append(time.perf_counter() - started)
        return {"seconds": statistics.median(took), "rows": [list(map(text, row)) for row in rows]}

    def play_statements(statements, together, seconds):
        """Runs the statements round and round; each answers `together` of what is asked."""
        started, count = time.perf_counter(), 0
        while True:
            for sql in statements:
                run(sql)
                count += 1
                # A whole round where statements are of different sizes.
                if together == 1 and time.perf_counter() - started > seconds:
                    break
            taken = time.perf_counter() - started
            if taken > seconds:
                return {"rate": count * together / taken}

    def time_statements(statements):
        took = []
        for sql in statements:
            started = time.perf_counter()
            run(sql)
            took.append((time.perf_counter() - started) * 1e3)
        return {"milliseconds": took}

    return {
        "query": query,
        "play_statements": play_statements,
        "time_statements": time_statements,
    }


def serve(actions):
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = actions[request.pop("do")](**request)
        except Exception as failure:
            answer = {"error": f"{type(failure).__name__}: {failure}"}
        print(json.dumps(answer), flush=True)

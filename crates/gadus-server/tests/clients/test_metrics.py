"""What is counted, as Prometheus's own client reads it, and the HTTP port that tells it."""

import http.client
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from conftest import Server, program, start
from prometheus_client.parser import text_string_to_metric_families
from wire import Wire

CALLERS_MAX = 32
ENDLESS = "SELECT count(*) FROM generate_series(1, 100000000) AS a (n), generate_series(1, 1000) AS b (m) WHERE n % 7 = m % 5"


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Server]:
    server = start(tmp_path, "--http", "127.0.0.1:0")
    yield server
    assert server.stop() == 0


def http_port(server: Server) -> int:
    return int(server.wait_for(r"health are at http://127\.0\.0\.1:(\d+)")[1])


def ask(port: int, path: str, method: str = "GET") -> tuple[http.client.HTTPResponse, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    response = connection.getresponse()
    return response, response.read().decode()


def scrape(server: Server) -> dict[tuple, float]:
    """Samples by their name and labels."""
    response, page = ask(http_port(server), "/metrics")
    assert response.status == 200
    assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    samples = {}
    for family in text_string_to_metric_families(page):
        assert family.name.startswith("gadus_") and family.type != "unknown", family
        assert family.documentation.endswith("."), family
        for sample in family.samples:
            key = (sample.name, *sorted(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
    return samples


def of(outcome: str, code: str) -> tuple:
    return ("gadus_statements_total", ("class", code), ("outcome", outcome))


def ended(outcome: str) -> tuple:
    return ("gadus_transactions_total", ("outcome", outcome))


def test_statements_are_counted(watched: Server):
    with psycopg.connect(watched.url, autocommit=True) as connection:
        before = scrape(watched)
        connection.execute("CREATE TABLE t (id INT PRIMARY KEY)")
        with connection.transaction():
            connection.execute("INSERT INTO t VALUES (%s), (%s)", [1, 2])
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute("INSERT INTO t VALUES (1)")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM nowhere WHERE id = %s", [1])
        with pytest.raises(psycopg.errors.SyntaxError):
            connection.execute("SELEKT 1")
        assert len(connection.execute("SELECT * FROM t").fetchall()) == 2
        cursor = connection.cursor()
        with cursor.copy("COPY t FROM STDIN") as copy:
            for number in range(10, 110):
                copy.write_row((number,))
        with cursor.copy("COPY t TO STDOUT") as copy:
            assert len(list(copy.rows())) == 102
        after = scrape(watched)
        grown = {key: value - before.get(key, 0) for key, value in after.items()}
    # CREATE, INSERT, SELECT, two of COPY, and what psycopg's transactions begin and end with.
    assert grown[of("ok", "00")] == 9, grown
    assert grown[of("error", "23")] == 1
    assert grown[of("error", "42")] == 2
    assert sum(value for key, value in grown.items() if key[0] == "gadus_statements_total") == 12
    assert grown["gadus_statement_seconds_count",] == 12
    assert grown["gadus_statement_seconds_bucket", ("le", "+Inf")] == 12
    assert 0 < grown["gadus_statement_seconds_sum",] < 60
    # CREATE, the transaction, SELECT, two of COPY; the transaction that failed, and two statements.
    assert grown[ended("committed")] == 5
    assert grown[ended("rolled_back")] in (2, 3), grown
    assert grown["gadus_rows_sent_total",] == 2
    assert grown["gadus_copy_rows_received_total",] == 100
    assert grown["gadus_copy_rows_sent_total",] == 102
    assert grown["gadus_received_bytes_total",] > 300
    assert grown["gadus_sent_bytes_total",] > 300
    assert grown["gadus_commits_total",] >= 3


def test_portals_in_parts_count_once(watched: Server):
    with psycopg.connect(watched.url) as connection:
        before = scrape(watched)
        with connection.cursor() as cursor:
            rows = list(cursor.stream("SELECT * FROM range(1000) r(n)"))
        assert len(rows) == 1000
        connection.commit()
        grown = {key: value - before[key] for key, value in scrape(watched).items() if key in before}
    assert grown[of("ok", "00")] == 3, "BEGIN, SELECT, COMMIT"
    assert grown["gadus_rows_sent_total",] == 1000
    assert grown[ended("committed")] == 1


def test_connections_are_counted(tmp_path: Path):
    server = start(tmp_path, "--http", "127.0.0.1:0", "--max-connections", "2")
    before = scrape(server)
    assert before["gadus_connections",] == 0
    with psycopg.connect(server.url), psycopg.connect(server.url):
        assert scrape(server)["gadus_connections",] == 2
        with pytest.raises(psycopg.OperationalError, match="too many clients already"):
            psycopg.connect(server.url)
    # They have left, and the server sees that soon.
    while scrape(server)["gadus_connections",]:
        pass
    stranger = server.url.replace("ada:", "bob:")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(stranger)
    after = scrape(server)
    assert after["gadus_connections_total",] == 4
    assert after["gadus_connections_refused_total",] == 2
    assert after["gadus_authentication_failures_total",] == 1
    assert after["gadus_connections_max",] == 2
    assert server.stop() == 0


def test_cancels_are_counted(watched: Server):
    with psycopg.connect(watched.url, autocommit=True) as connection:
        timer = threading.Timer(0.5, connection.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(ENDLESS)
    samples = scrape(watched)
    assert samples["gadus_cancels_total",] == 1
    assert samples[of("error", "57")] == 1


def test_the_process_and_its_database(watched: Server):
    samples = scrape(watched)
    status = Path(f"/proc/{watched.process.pid}/status").read_text()
    resident = int(status.split("VmRSS:")[1].split()[0]) * 1024
    assert abs(samples["gadus_process_resident_bytes",] - resident) < 64 << 20
    assert samples["gadus_process_open_files",] > 5
    assert samples["gadus_process_cpu_seconds_total",] >= 0
    # A moment before the test's own file was written, or after: clocks of the system and of files differ.
    assert abs(samples["gadus_process_start_time_seconds",] - watched.folder.stat().st_mtime) < 60
    assert samples["gadus_data_file_bytes",] > 0
    for name in ["gadus_cache_bytes", "gadus_clock_passes_total", "gadus_clock_questions_total"]:
        assert samples[name,] >= 0


def test_paths_and_methods(watched: Server):
    port = http_port(watched)
    response, body = ask(port, "/health")
    assert (response.status, body) == (200, "ok\n")
    assert response.headers["Connection"] == "close"
    response, body = ask(port, "/metrics", "HEAD")
    assert (response.status, body) == (200, "")
    assert int(response.headers["Content-Length"]) > 1000
    response, body = ask(port, "/metrics?name=x")
    assert response.status == 200
    assert ask(port, "/")[0].status == 404
    response, _ = ask(port, "/health", "POST")
    assert response.status == 405
    assert response.headers["Allow"] == "GET, HEAD"


def test_requests_are_bounded(watched: Server):
    for data, status in [
        (b"GET /health HTTP/1.1\r\nX: " + b"x" * 9000, b"431"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"\x16\x03\x01\x02\x00\r\n\r\n", b"400"),
        (b"GET /health HTTP/1.1\r\n", b"408"),
    ]:
        with socket.create_connection(("127.0.0.1", http_port(watched)), timeout=20) as caller:
            caller.sendall(data)
            assert caller.makefile("rb").read().startswith(b"HTTP/1.1 " + status)


def test_silent_callers_are_in_nobodys_way(watched: Server):
    port = http_port(watched)
    callers = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(3 * CALLERS_MAX)]
    callers[-1].sendall(b"GET /health HT")
    assert ask(port, "/health")[0].status == 200
    assert scrape(watched)["gadus_process_open_files",] < 2 * CALLERS_MAX + 30
    # Those who came first have made room; nobody is kept for ever.
    for caller in callers:
        try:
            assert caller.makefile("rb").read()[:12] in (b"", b"HTTP/1.1 408")
        except ConnectionResetError:
            pass
        caller.close()


def test_a_server_that_stops_is_not_healthy(tmp_path: Path):
    server = start(tmp_path, "--trust", "--http", "127.0.0.1:0")
    port = http_port(server)
    wire = Wire(server.port).startup()
    before = scrape(server)["gadus_received_bytes_total",]
    wire.send("Q", ENDLESS.encode() + b"\0")
    while scrape(server)["gadus_received_bytes_total",] == before:
        pass
    assert ask(port, "/health")[0].status == 200
    server.process.send_signal(signal.SIGTERM)
    # What runs may come to its end; meanwhile it says that nobody else should come.
    while (answer := ask(port, "/health"))[0].status == 200:
        pass
    assert answer[0].status == 503 and "stopping" in answer[1]
    wire.socket.close()
    assert server.process.wait(60) == 0


def test_other_machines_are_refused_unless_told(tmp_path: Path):
    command = [program(), "serve", str(tmp_path / "shop.gadus"), "--listen", "127.0.0.1:0", "--http", "0.0.0.0:0"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert refused.returncode == 1
    assert "--http-for-all" in refused.stderr
    server = start(tmp_path, "--http", "0.0.0.0:0", "--http-for-all")
    port = int(server.wait_for(r"health are at http://0\.0\.0\.0:(\d+)")[1])
    assert ask(port, "/health")[1] == "ok\n"
    assert server.stop() == 0

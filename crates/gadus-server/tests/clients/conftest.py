"""A server of the program, for clients that nobody here wrote.

GADUS names the program; tests skip nothing: a client that is missing is a failure.
"""

import getpass
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

PASSWORD = "gr\u00fcn & secret"


@dataclass
class Server:
    """A `gadus serve` of its own file."""

    process: subprocess.Popen
    file: Path
    port: int
    folder: Path
    lines: list[str] = field(default_factory=list)
    said: threading.Condition = field(default_factory=threading.Condition)
    reader: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"postgresql://ada:gr%C3%BCn%20%26%20secret@127.0.0.1:{self.port}/shop"

    @property
    def arguments(self) -> list[str]:
        """Of programs such as psql, over the Unix socket, as who runs the tests."""
        return ["-h", str(self.folder), "-U", getpass.getuser()]

    def listen_to(self) -> None:
        """Keeps what it says; nobody else reads it."""
        for line in self.process.stderr:
            with self.said:
                self.lines.append(line)
                self.said.notify_all()

    def wait_for(self, pattern: str) -> re.Match:
        """Waits until it has said so."""
        with self.said:
            found = self.said.wait_for(lambda: re.search(pattern, "".join(self.lines)), timeout=60)
            assert found, self.lines
            return found

    def stop(self, with_signal: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        return self.process.wait(60)


def gadus(*arguments: str) -> str:
    """Runs the program to its end; returns what it prints."""
    command = [program(), *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return done.stdout


def program() -> str:
    return os.environ["GADUS"]


def tool(name: str) -> str:
    """The path of one of PostgreSQL's programs."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    path = os.pathsep.join([os.environ["PATH"], *map(str, folders)])
    found = shutil.which(name, path=path)
    assert found, f"{name} is missing: install postgresql-15"
    return found


def run(
    name: str, *arguments: str, text: str | None = None, fails: bool = False, **environment: str
) -> str:
    """Runs one of PostgreSQL's programs to its end; returns all that it prints."""
    done = subprocess.run(
        [tool(name), *arguments], input=text, capture_output=True, text=True, timeout=300,
        env={**os.environ, **environment},
    )
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stdout + done.stderr


def start(folder: Path, *options: str) -> Server:
    file = folder / "shop.gadus"
    if not file.exists():
        gadus(str(file), "-c", f"CREATE USER ada PASSWORD '{PASSWORD}'")
    sockets = folder / "sockets"
    sockets.mkdir(exist_ok=True)
    places = ["--listen", "127.0.0.1:0", "--listen", f"unix:{sockets}"]
    process = subprocess.Popen(
        [program(), "serve", str(file), *places, *options], stderr=subprocess.PIPE, text=True
    )
    STARTED.append(process)
    server = Server(process, file, 0, sockets)
    # It says where it listens, in order; then the socket is there.
    for _ in places[::2]:
        line = process.stderr.readline()
        server.lines.append(line)
        if found := re.search(r"listens at 127\.0\.0\.1:(\d+)", line):
            server.port = int(found[1])
    assert server.port, server.lines
    server.reader = threading.Thread(target=server.listen_to, daemon=True)
    server.reader.start()
    return server


STARTED: list[subprocess.Popen] = []


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No server outlives a test that fails."""
    yield
    while STARTED:
        process = STARTED.pop()
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    server = start(tmp_path)
    yield server
    assert server.stop() == 0
    gadus("check", str(server.file))


@pytest.fixture
def open_server(tmp_path: Path) -> Iterator[Server]:
    """One that asks for no password."""
    server = start(tmp_path, "--trust")
    yield server
    assert server.stop() == 0

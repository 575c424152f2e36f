"""Drivers of other languages: node-postgres and pgJDBC."""

import hashlib
import os
import subprocess
import urllib.request
from pathlib import Path

import pytest
from conftest import PASSWORD, Server, start

HERE = Path(__file__).parent
# What is fetched stays beside the virtual environment.
KEPT = Path(os.environ["GADUS_KEPT"])
NODE_POSTGRES = "8.16.3"
JDBC = "42.7.7"
JDBC_SHA256 = "157963d60ae66d607e09466e8c0cdf8087e9cb20d0159899ffca96bca2528460"


@pytest.fixture(params=[False, True], ids=["plain", "encrypted"])
def server(request: pytest.FixtureRequest, tmp_path: Path):
    server = start(tmp_path, *(["--tls", "required"] if request.param else []))
    server.is_encrypted = request.param
    yield server
    assert server.stop() == 0


def run(*command: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=300, env={**os.environ, **(environment or {})}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_node_postgres(server: Server):
    folder = KEPT / f"node-postgres-{NODE_POSTGRES}"
    if not (folder / "node_modules" / "pg").exists():
        run("npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), f"pg@{NODE_POSTGRES}")
    address = server.url + ("?sslmode=no-verify" if server.is_encrypted else "")
    paths = {"NODE_PATH": str(folder / "node_modules")}
    run("node", str(HERE / "node_postgres.js"), address, environment=paths)


def test_jdbc(server: Server):
    jar = KEPT / f"postgresql-{JDBC}.jar"
    if not jar.exists():
        place = f"https://repo1.maven.org/maven2/org/postgresql/postgresql/{JDBC}/{jar.name}"
        with urllib.request.urlopen(place, timeout=120) as response:
            fetched = response.read()
        assert hashlib.sha256(fetched).hexdigest() == JDBC_SHA256
        jar.write_bytes(fetched)
    address = f"jdbc:postgresql://127.0.0.1:{server.port}/shop"
    if server.is_encrypted:
        address += "?sslmode=require"
    run("java", "-cp", str(jar), str(HERE / "Jdbc.java"), address, "ada", PASSWORD)

"""Encrypted connections: certificates given and made, clients that check them, and those in between."""

import asyncio
import hashlib
import os
import re
import signal
import socket
import ssl
import struct
import subprocess
import threading
from pathlib import Path

import asyncpg
import psycopg
import pytest
from conftest import PASSWORD, Server, program, run, start
from wire import Wire, code

SSL_REQUEST = struct.pack("!ii", 8, 80877103)


@pytest.fixture
def encrypted(tmp_path: Path):
    server = start(tmp_path, "--tls", "required")
    yield server
    assert server.stop() == 0


def certificate(server: Server) -> Path:
    return Path(f"{server.file}-tls.pem")


def psql(server: Server, statement: str, *, fails: bool = False, **settings: str) -> str:
    given = {"host": "localhost", "port": server.port, "user": "ada", "dbname": "shop"} | settings
    target = " ".join(f"{name}='{value}'" for name, value in given.items())
    return run("psql", "-X", "-A", "-t", target, "-c", statement, fails=fails, PGPASSWORD=PASSWORD)


def insecure() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def test_psql_checks_the_certificate_that_was_made(encrypted: Server, tmp_path: Path):
    file = certificate(encrypted)
    assert file.stat().st_mode & 0o777 == 0o600
    shown = psql(encrypted, r"\conninfo", sslmode="verify-full", sslrootcert=str(file))
    assert "TLSv1.3" in shown, shown
    # Another one, and another name.
    other = tmp_path / "other"
    other.mkdir()
    stranger = start(other, "--tls", "offered")
    refused = psql(
        encrypted, "SELECT 1", sslmode="verify-ca", sslrootcert=str(certificate(stranger)), fails=True
    )
    assert "certificate verify failed" in refused
    psql(
        encrypted, "SELECT 1", hostaddr="127.0.0.1", host="example.org", sslmode="verify-full",
        sslrootcert=str(file), fails=True,
    )
    assert stranger.stop() == 0


def test_the_certificate_stays(tmp_path: Path):
    server = start(tmp_path, "--tls", "offered")
    made = certificate(server).read_bytes()
    der = ssl.PEM_cert_to_DER_cert(re.search("-----BEGIN CERT.*END CERTIFICATE-----", made.decode(), re.S)[0])
    digest = hashlib.sha256(der).hexdigest().upper()
    server.wait_for("SHA-256 " + ":".join(re.findall("..", digest)))
    server.stop()
    server = start(tmp_path, "--tls", "offered")
    assert certificate(server).read_bytes() == made
    assert server.stop() == 0


def test_who_comes_without_is_refused(encrypted: Server):
    refused = psql(encrypted, "SELECT 1", sslmode="disable", fails=True)
    assert "connections are encrypted here" in refused and "HINT" in refused
    # The system keeps a Unix socket to this machine.
    assert run("psql", "-X", *encrypted.arguments, "-c", "SELECT 42").count("42") == 1
    # Nobody is asked for a password before.
    wire = Wire(encrypted.port)
    body = b"user\0ada\0\0"
    wire.raw(struct.pack("!ii", len(body) + 8, 196608) + body)
    assert code(wire.read()) == "28000"
    assert wire.is_closed()


def test_both_are_let_in_where_it_is_offered(tmp_path: Path):
    server = start(tmp_path, "--tls", "offered")
    assert psql(server, "SELECT 42", sslmode="disable") == "42\n"
    assert "TLSv1.3" in psql(server, r"\conninfo", sslmode="require")
    assert "TLSv1.2" in psql(server, r"\conninfo", sslmode="require", ssl_max_protocol_version="TLSv1.2")
    assert server.stop() == 0
    plain = start(tmp_path)
    assert "does not support SSL" in psql(plain, "SELECT 42", sslmode="require", fails=True)
    assert plain.stop() == 0


@pytest.mark.parametrize("kind", ["ec:prime256v1", "ec:secp384r1", "rsa:2048"])
def test_a_given_certificate_with_its_authority(tmp_path: Path, kind: str):
    make_authority(tmp_path)
    make_certificate(tmp_path, "server", kind)
    given = ["--tls-certificate", str(tmp_path / "server.pem"), "--tls-key", str(tmp_path / "server.key")]
    server = start(tmp_path, *given)
    root = {"sslmode": "verify-full", "sslrootcert": str(tmp_path / "authority.pem")}
    # Bound to a digest of the certificate's own kind.
    assert "TLSv1.3" in psql(server, r"\conninfo", channel_binding="require", **root)
    before = peer_certificate(server)
    make_certificate(tmp_path, "server", kind)
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("certificate read anew")
    assert peer_certificate(server) != before
    assert psql(server, "SELECT 42", **root) == "42\n"
    # What cannot be read changes nothing.
    (tmp_path / "server.pem").write_text("nothing")
    server.process.send_signal(signal.SIGHUP)
    server.wait_for("reload failed.*server.pem holds no certificate")
    assert psql(server, "SELECT 42", **root) == "42\n"
    assert server.stop() == 0


def test_keys_that_others_may_read_are_refused(tmp_path: Path):
    make_authority(tmp_path)
    make_certificate(tmp_path, "server", "ec:prime256v1")
    key = tmp_path / "server.key"
    key.chmod(0o644)
    given = ["--tls-certificate", str(tmp_path / "server.pem"), "--tls-key", str(key)]
    for mode, expected in [(0o644, "others may read"), (0o600, "holds no private key")]:
        key.chmod(mode)
        command = [program(), "serve", str(tmp_path / "shop.gadus"), "--listen", "127.0.0.1:0", *given]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0 and expected in done.stderr, done.stderr
        key.write_text("nothing")


def test_everybody_reached_needs_a_password(tmp_path: Path):
    command = [program(), "serve", str(tmp_path / "shop.gadus"), "--listen", "0.0.0.0:0", "--trust"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0 and "reached by other machines" in done.stderr


def test_drivers_encrypt(encrypted: Server):
    target = f"{encrypted.url}?sslmode=require&channel_binding=require"
    with psycopg.connect(target) as connection:
        assert connection.pgconn.ssl_in_use
        assert connection.execute("SELECT 42").fetchone() == (42,)
        rows = connection.execute("SELECT n, repeat('x', 100) FROM range(100000) AS r(n)").fetchall()
        assert len(rows) == 100_000

    async def by_asyncpg() -> int:
        connection = await asyncpg.connect(encrypted.url, ssl=insecure())
        try:
            return await connection.fetchval("SELECT $1::int + 1", 41)
        finally:
            await connection.close()

    assert asyncio.run(by_asyncpg()) == 42


def test_cancelling_goes_encrypted(encrypted: Server):
    with psycopg.connect(f"{encrypted.url}?sslmode=require") as connection:
        timer = threading.Timer(0.2, connection.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT count(*) FROM range(1000000000) a, range(1000000000) b")
        timer.join()


def test_encryption_at_once_names_the_protocol(encrypted: Server):
    def opened(protocols: list[str]) -> ssl.SSLSocket:
        context = insecure()
        if protocols:
            context.set_alpn_protocols(protocols)
        plain = socket.create_connection(("127.0.0.1", encrypted.port), timeout=20)
        return context.wrap_socket(plain)

    body = b"user\0nobody\0\0"
    startup = struct.pack("!ii", len(body) + 8, 196608) + body
    with opened(["postgresql"]) as connection:
        connection.sendall(startup)
        # It is asked for a password.
        assert connection.recv(1) == b"R"
    with opened([]) as connection:
        connection.sendall(startup)
        answer = connection.recv(1000)
        assert answer[:1] == b"E" and b"08P01" in answer
    with pytest.raises((ssl.SSLError, ConnectionError)):
        opened(["http/1.1"])


def test_bytes_put_before_the_handshake_are_refused(encrypted: Server):
    wire = Wire(encrypted.port)
    body = b"user\0ada\0\0"
    wire.raw(SSL_REQUEST + struct.pack("!ii", len(body) + 8, 196608) + body)
    assert code(wire.read()) == "08P01"
    assert wire.is_closed()


@pytest.mark.parametrize("junk", [b"\x16", b"\x16\x03\x01\xff\xff", b"\x16" * 70_000, os.urandom(1000)])
def test_malformed_handshakes_end_the_connection(encrypted: Server, junk: bytes):
    for is_asked in [True, False]:
        wire = Wire(encrypted.port)
        if is_asked:
            wire.raw(SSL_REQUEST)
            assert wire.socket.recv(1) == b"S"
        try:
            wire.raw(junk if is_asked else b"\x16" + junk)
            wire.socket.shutdown(socket.SHUT_WR)
            while wire.socket.recv(65536):
                pass
        except (ConnectionResetError, BrokenPipeError, OSError):
            pass
    assert psql(encrypted, "SELECT 42", sslmode="require") == "42\n"


def test_who_is_in_between_cannot_pass_a_password_on(encrypted: Server, tmp_path: Path):
    """One with a certificate of its own between psql and the server: the exchange is bound to the other."""
    between = Between(encrypted.port, tmp_path)
    target = {"port": str(between.port), "sslmode": "require"}
    refused = psql(encrypted, "SELECT 42", fails=True, **target)
    assert "malformed SCRAM message" in refused, refused
    # Without binding he sees everything: it is what refuses him.
    assert psql(encrypted, "SELECT 42", channel_binding="disable", **target) == "42\n"
    between.close()


class Between:
    """Passes on, decrypted and encrypted again, what goes between clients and a server."""

    def __init__(self, server_port: int, folder: Path) -> None:
        make_authority(folder)
        make_certificate(folder, "between", "ec:prime256v1")
        self.server_port = server_port
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / "between.pem", folder / "between.key")
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client: socket.socket) -> None:
        try:
            assert client.recv(8) == SSL_REQUEST
            client.sendall(b"S")
            server = socket.create_connection(("127.0.0.1", self.server_port))
            server.sendall(SSL_REQUEST)
            assert server.recv(1) == b"S"
            ends = [self.context.wrap_socket(client, server_side=True), insecure().wrap_socket(server)]
        except OSError:
            return
        for source, target in [ends, ends[::-1]]:
            threading.Thread(target=pass_on, args=(source, target), daemon=True).start()

    def close(self) -> None:
        self.listener.close()


def pass_on(source: ssl.SSLSocket, target: ssl.SSLSocket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def peer_certificate(server: Server) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as plain:
        plain.sendall(SSL_REQUEST)
        assert plain.recv(1) == b"S"
        with insecure().wrap_socket(plain) as connection:
            return connection.getpeercert(binary_form=True)


def openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


def make_authority(folder: Path) -> None:
    openssl(
        folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=authority",
        "-keyout", "authority.key", "-out", "authority.pem",
    )


def make_certificate(folder: Path, name: str, kind: str) -> None:
    """NAME.pem and NAME.key, signed by the authority with the digest that fits the key."""
    algorithm, _, parameter = kind.partition(":")
    key = ["-newkey", kind] if algorithm == "rsa" else [
        "-newkey", "ec", "-pkeyopt", f"ec_paramgen_curve:{parameter}"
    ]
    openssl(
        folder, "req", *key, "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
        "-keyout", f"{name}.key", "-out", f"{name}.request",
    )
    digest = "-sha384" if "384" in parameter else "-sha256"
    openssl(
        folder, "x509", "-req", "-in", f"{name}.request", "-CA", "authority.pem", "-CAkey", "authority.key",
        "-days", "2", digest, "-copy_extensions", "copyall", "-out", f"{name}.pem",
    )
    (folder / f"{name}.key").chmod(0o600)

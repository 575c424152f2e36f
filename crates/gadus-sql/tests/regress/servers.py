"""Starts PostgreSQL and Gadus on Unix sockets in a folder, each file of the suite with a database of its own."""

import os
import subprocess
import threading

from psycopg import pq

POSTGRES = "/usr/lib/postgresql/15/bin"

# Settings of pg_regress, and a limit for statements that the other server ends at once.
SETTINGS = (
    "SET statement_timeout = '20s'",
    "SET intervalstyle = 'postgres_verbose'",
    "SET datestyle = 'Postgres, MDY'",
    "SET timezone = 'PST8PDT'",
)


class Server:
    """A server with one database."""

    def __init__(self, folder):
        self.folder, self.address = folder, ""
        os.makedirs(folder)

    def connect(self):
        connection = pq.PGconn.connect(self.address.encode())
        if connection.status != pq.ConnStatus.OK:
            raise ConnectionError(connection.error_message.decode(errors="replace"))
        connection.notice_handler = lambda _: None
        for setting in SETTINGS:
            connection.exec_(setting.encode())
        return connection


class Postgres(Server):
    """PostgreSQL as Debian has it, run by the user postgres if this is root."""

    def __init__(self, folder):
        super().__init__(folder)
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.as_user:
            subprocess.run(["chown", "postgres", folder], check=True)
        self.data = f"{folder}/data"
        locale = ["--auth=trust", "--encoding=UTF8", "--locale=C"]
        self.program("initdb", "-D", self.data, "--username=postgres", *locale)
        listening = f"-c listen_addresses='' -k {folder}"
        self.program("pg_ctl", "-D", self.data, "-w", "-o", listening, "-l", f"{folder}/log", "start")

    def program(self, name, *arguments):
        command = [*self.as_user, f"{POSTGRES}/{name}", *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")

    def begin(self, _):
        self.address = f"host={self.folder} user=postgres dbname=postgres"
        connection = self.connect()
        connection.exec_(b"DROP DATABASE IF EXISTS regression")
        connection.exec_(b"CREATE DATABASE regression TEMPLATE template0")
        connection.finish()
        self.address = f"host={self.folder} user=postgres dbname=regression"

    def end(self):
        self.program("pg_ctl", "-D", self.data, "-m", "immediate", "stop")


class Gadus(Server):
    """A server of Gadus for each file of the suite."""

    def __init__(self, folder, program, files):
        super().__init__(folder)
        self.program, self.files, self.process = program, files, None

    def begin(self, name):
        self.end()
        folder = f"{self.folder}/{name}"
        os.makedirs(folder)
        command = [self.program, "serve", f"{folder}/regression.gadus", "--listen", f"unix:{folder}"]
        command += ["--files", self.files]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            if "started" in line:
                break
        else:
            raise ConnectionError("the server of Gadus has not started")
        # Drained, so that the server never finds the pipe full.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        self.address = f"host={folder} user=root dbname=regression"

    def end(self):
        if self.process:
            self.process.terminate()
            self.process.wait()
            self.process = None

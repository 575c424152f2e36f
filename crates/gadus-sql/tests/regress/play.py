"""Plays a script on a server, and returns what each statement gave: rows, a command's tag, or an SQLSTATE."""

import re
from dataclasses import dataclass

from psycopg import pq

import psql_script


@dataclass(frozen=True)
class Result:
    """Rows in text format, a command tag, or an error."""

    kind: str
    value: object
    names: tuple = ()
    message: str = ""


def play(server, items, environment):
    """Returns the results of all statements by their index in the script."""
    connection, variables, results = server.connect(), {}, {}
    for index, item in enumerate(items):
        if item.is_command:
            connection = obey(server, connection, item.text, variables, environment)
            continue
        text = psql_script.substituted(item.text, variables)
        result = run(connection, text, item.data)
        if connection.status != pq.ConnStatus.OK:
            result = Result("lost", "", message=result.message)
            connection = server.connect()
        if result.kind == "rows":
            use_rows(connection, item.ending, result, variables)
        results[index] = result
    connection.finish()
    return results


def obey(server, connection, line, variables, environment):
    """Obeys the commands of psql that change what later statements are."""
    words = line.split(maxsplit=1)
    command, rest = words[0], words[1] if len(words) > 1 else ""
    if command == "\\set":
        parts = re.findall(r"'[^']*'|\S+", psql_script.substituted(rest, variables))
        if parts:
            variables[parts[0]] = "".join(part.strip("'") for part in parts[1:])
    elif command == "\\getenv":
        name, _, variable = rest.partition(" ")
        variables[name] = environment.get(variable.strip(), "")
    elif command == "\\c":
        connection.finish()
        return server.connect()
    return connection


def use_rows(connection, ending, result, variables):
    """Does what \\gset and \\gexec do with rows."""
    if ending.startswith("\\gset") and result.value:
        prefix = ending[len("\\gset") :].strip()
        for name, value in zip(result.names, result.value[0]):
            variables[prefix + name] = (value or b"").decode()
    elif ending.startswith("\\gexec"):
        for statement in (value for row in result.value for value in row if value):
            connection.exec_(statement)


def run(connection, text, data):
    result = connection.exec_(text.encode())
    if result.status == pq.ExecStatus.COPY_IN:
        result = send(connection, data)
    if result.status == pq.ExecStatus.COPY_OUT:
        return Result("rows", tuple((row,) for row in receive(connection)))
    if result.status == pq.ExecStatus.TUPLES_OK:
        columns, rows = range(result.nfields), range(result.ntuples)
        values = tuple(tuple(result.get_value(row, column) for column in columns) for row in rows)
        names = tuple((result.fname(column) or b"").decode() for column in columns)
        return Result("rows", values, names)
    if result.status in (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.EMPTY_QUERY):
        return Result("done", "")
    state = result.error_field(pq.DiagnosticField.SQLSTATE) or b"?"
    message = result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or result.error_message
    return Result("error", state.decode(), message=(message or b"").decode(errors="replace"))


def send(connection, data):
    if data is None:
        connection.put_copy_end(b"there are no rows")
    else:
        if data:
            connection.put_copy_data(data.encode())
        connection.put_copy_end()
    return last_result(connection)


def receive(connection):
    rows = []
    while True:
        length, row = connection.get_copy_data(0)
        if length <= 0:
            last_result(connection)
            return rows
        rows.append(bytes(row))


def last_result(connection):
    last = None
    while result := connection.get_result():
        last = result
    return last

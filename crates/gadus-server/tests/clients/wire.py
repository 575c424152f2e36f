"""The protocol by hand, to send what no driver does."""

import socket
import struct


class Wire:
    """A connection; messages are a letter and a body."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.rest = b""

    def startup(self, user: str = "ada", **parameters: str) -> "Wire":
        settings = {"user": user, **parameters}
        body = b"".join(f"{name}\0{value}\0".encode() for name, value in settings.items())
        self.raw(struct.pack("!ii", len(body) + 9, 196608) + body + b"\0")
        assert self.until("Z")[0][0] == "R"
        return self

    def raw(self, data: bytes) -> None:
        self.socket.sendall(data)

    def send(self, kind: str, body: bytes = b"") -> None:
        self.raw(kind.encode() + struct.pack("!i", len(body) + 4) + body)

    def read(self) -> tuple[str, bytes] | None:
        """The next message; none at the end."""
        while len(self.rest) < 5 or len(self.rest) < 1 + struct.unpack("!i", self.rest[1:5])[0]:
            try:
                data = self.socket.recv(65536)
            except ConnectionResetError:
                return None
            if not data:
                return None
            self.rest += data
        length = struct.unpack("!i", self.rest[1:5])[0]
        message = chr(self.rest[0]), self.rest[5 : 1 + length]
        self.rest = self.rest[1 + length :]
        return message

    def until(self, kind: str) -> list[tuple[str, bytes]]:
        """Messages up to one of a kind."""
        messages = []
        while not messages or messages[-1][0] != kind:
            message = self.read()
            assert message, messages
            messages.append(message)
        return messages

    def query(self, text: str) -> list[tuple[str, bytes]]:
        self.send("Q", text.encode() + b"\0")
        return self.until("Z")

    def is_closed(self) -> bool:
        while message := self.read():
            assert message[0] in "EN", message
        return True


def code(message: tuple[str, bytes]) -> str:
    """The code of an error."""
    assert message[0] == "E", message
    fields = message[1].split(b"\0")
    return next(field[1:].decode() for field in fields if field.startswith(b"C"))


def parse(text: str, name: str = "") -> bytes:
    """The body of a Parse without types."""
    return f"{name}\0{text}\0".encode() + b"\0\0"

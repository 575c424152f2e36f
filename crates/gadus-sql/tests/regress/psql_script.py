"""Reads scripts of psql: statements, the data of COPY FROM STDIN, and psql's own commands.

Statements end at a semicolon outside of quotes, comments, parentheses and BEGIN ATOMIC bodies, or at \\gset and the like.
"""

import re
from dataclasses import dataclass

DOLLAR_TAG = re.compile(r"\$([A-Za-z_]\w*)?\$")
COPY_FROM_STDIN = re.compile(r"copy\b.*from\s+stdin", re.IGNORECASE | re.DOTALL)
BEGIN_ATOMIC = re.compile(r"begin\s+atomic", re.IGNORECASE)
END = re.compile(r"\bend\s*$", re.IGNORECASE)
VARIABLE = re.compile(r"(^|[^:\w'\[])" + r":(['\"]?)([A-Za-z_]\w*)\2")


@dataclass
class Item:
    """A statement, or a command of psql."""

    text: str
    is_command: bool = False
    # \gset and \gexec, which say what becomes of the rows.
    ending: str = ""
    # Rows of COPY FROM STDIN; none for other statements.
    data: str | None = None


class Reader:
    """Cursor over a script."""

    def __init__(self, text):
        self.text, self.at, self.start, self.open = text, 0, 0, 0
        self.items = []

    def read(self):
        while self.at < len(self.text):
            self.step()
        return self.items

    def step(self):
        text, at = self.text, self.at
        character = text[at]
        tag = DOLLAR_TAG.match(text, at) if character == "$" else None
        if text.startswith("--", at):
            end = self.line_end(at)
            if not text[self.start : at].strip():
                self.start = end
            self.at = end
        elif text.startswith("/*", at):
            self.skip_comment()
        elif character == "'":
            self.skip_quoted()
        elif character == '"':
            self.at = text.index('"', at + 1) + 1
        elif tag and not is_word(text[at - 1 : at]):
            self.at = text.index(tag[0], tag.end()) + len(tag[0])
        elif character == "\\":
            self.command()
        elif character == ";" and self.open <= 0:
            self.semicolon()
        else:
            self.open += (character == "(") - (character == ")")
            self.at += 1

    def line_end(self, at):
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end

    def skip_comment(self):
        depth, self.at = 1, self.at + 2
        while depth and self.at < len(self.text):
            opens = self.text.startswith("/*", self.at)
            closes = self.text.startswith("*/", self.at)
            depth += opens - closes
            self.at += 2 if opens or closes else 1

    def skip_quoted(self):
        before = self.text[max(self.at - 2, 0) : self.at]
        has_escapes = before[-1:] in ("e", "E") and not is_word(before[:-1])
        self.at += 1
        while self.at < len(self.text):
            if has_escapes and self.text[self.at] == "\\" or self.text.startswith("''", self.at):
                self.at += 2
            elif self.text[self.at] == "'":
                break
            else:
                self.at += 1
        self.at += 1

    def command(self):
        if self.text.startswith("\\;", self.at):
            self.at += 2
            return
        end = self.line_end(self.at)
        line = self.text[self.at : end].strip()
        statement = self.text[self.start : self.at].strip()
        if statement and line.startswith(("\\g", "\\crosstab")):
            self.items.append(Item(statement, ending=line))
        else:
            self.items.append(Item(line, is_command=True))
        self.start, self.at, self.open = end, end, 0

    def semicolon(self):
        statement = self.text[self.start : self.at].strip()
        self.at += 1
        if BEGIN_ATOMIC.search(statement) and not END.search(statement):
            return
        self.start, self.open = self.at, 0
        if not statement:
            return
        item = Item(statement)
        if COPY_FROM_STDIN.match(statement):
            item.data = self.copy_data()
        self.items.append(item)

    def copy_data(self):
        begin = self.line_end(self.at) + 1
        end = self.text.find("\n\\.", begin - 1)
        end = len(self.text) if end < 0 else end + 1
        self.at = self.line_end(end)
        self.start = self.at
        return self.text[begin:end]


def is_word(character):
    return character.isalnum() or character == "_"


def read(path):
    """Returns the items of a script."""
    with open(path, encoding="utf8") as file:
        return Reader(file.read()).read()


def substituted(text, variables):
    """Returns a text with the values of psql's variables: :name, :'name' and :\"name\"."""

    def value(match):
        before, quote, name = match.groups()
        if name not in variables:
            return match[0]
        value = variables[name]
        quoted = quote + value.replace(quote, quote * 2) + quote if quote else value
        return before + quoted

    return VARIABLE.sub(value, text)

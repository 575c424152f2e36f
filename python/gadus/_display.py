"""Results and progress for people: in an interactive interpreter, and in notebooks."""

from __future__ import annotations

import html
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._gadus import Cursor

#: Rows that a preview shows.
ROWS = 20
#: Characters of a value that it shows.
CHARACTERS = 60
#: Characters of a progress bar.
BAR = 40


def _cells(cursor: Cursor) -> tuple[list[str], list[str], list[list[str]], str]:
    """Names, types, the first rows as texts, and a line below them."""
    columns = cursor.description or []
    rows = cursor._peek(ROWS + 1)
    texts = [[_text(value) for value in row] for row in rows[:ROWS]]
    below = f"first {ROWS} rows" if len(rows) > ROWS else f"{len(rows)} rows"
    if len(rows) == 1:
        below = "1 row"
    return [column[0] for column in columns], [column[1] for column in columns], texts, below


def _text(value: object) -> str:
    text = "NULL" if value is None else str(value)
    return text if len(text) <= CHARACTERS else text[: CHARACTERS - 1] + "…"


def text(cursor: Cursor) -> str:
    """The first rows that are left, as a table; they stay to be fetched."""
    names, types, rows, below = _cells(cursor)
    lines = [names, types, *rows]
    widths = [max(len(line[place]) for line in lines) for place in range(len(names))]

    def line(cells: list[str], left: str = "│", between: str = "│", right: str = "│") -> str:
        padded = (f" {cell.ljust(width)} " for cell, width in zip(cells, widths, strict=True))
        return left + between.join(padded) + right

    def rule(left: str, between: str, right: str) -> str:
        return left + between.join("─" * (width + 2) for width in widths) + right

    head = [rule("┌", "┬", "┐"), line(names), line(types), rule("├", "┼", "┤")]
    return "\n".join([*head, *(line(row) for row in rows), rule("└", "┴", "┘"), f"({below})"])


def as_html(cursor: Cursor) -> str:
    """The same for a notebook."""
    names, types, rows, below = _cells(cursor)
    head = "".join(
        f"<th>{html.escape(name)}<br><small>{html.escape(kind)}</small></th>"
        for name, kind in zip(names, types, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f"{table}<p>{below}</p>"


def in_notebook() -> bool:
    """Whether a notebook's kernel runs this program."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def progress(fraction: float | None) -> None:
    """Shows how far a statement has come; None takes the bar away."""
    if fraction is None:
        line = "\r" + " " * (BAR + 8) + "\r"
    else:
        filled = int(fraction * BAR)
        line = f"\r{fraction:5.0%} ▕{'█' * filled}{' ' * (BAR - filled)}▏"
    sys.stderr.write(line)
    sys.stderr.flush()

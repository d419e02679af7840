"""A page of styled lines, and its rendering to plain or coloured text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import IO, cast

import attrs
from rich.console import Console
from rich.table import Table
from rich.text import Text

from msdcomp.records import Record
from msdcomp.safetext import safe

__all__ = ["Page", "Screen", "count"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Screen(Record):
    """What the reader's screen can do.

    `width` in characters bounds tables only: a sentence is never broken, so that a
    pipe gets one line for one thing.
    """

    colour: bool = False
    width: int = 240


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    >>> count(1, "gate"), count(0, "capability", "capabilities")
    ('1 gate', '0 capabilities')
    """
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


class _Sink:
    """What a console writes to: nothing but memory.

    Rich's own capturing still writes to stdout, if only the empty text.
    """

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, text: str) -> None:
        self.written.append(text)

    def flush(self) -> None:
        """Do nothing, as there is nowhere to flush to."""


class Page:
    """Lines on their way to a screen; made and rendered within one function."""

    def __init__(self, screen: Screen) -> None:
        """Start an empty page for a screen."""
        self._screen = screen
        self._parts: list[Text | Table] = []

    def line(self, *spans: str | tuple[str, str], indent: int = 0) -> None:
        """Add a line of spans, each plain text or `(text, style)`.

        The text must be safe already, or be words of our own.
        """
        text = Text("  " * indent)
        for span in spans:
            if isinstance(span, tuple):
                text.append(span[0], style=span[1])
            else:
                text.append(span)
        self._parts.append(text)

    def heading(self, title: str) -> None:
        """Add a heading, with a blank line before it unless it comes first."""
        if self._parts:
            self.line()
        self.line((title, "bold"))

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table of cells of any origin; only its last column is cut short."""
        cells = [[safe(cell, 120) for cell in row] for row in rows]
        table = Table(box=None, pad_edge=False, header_style="bold")
        for place, column in enumerate(columns):
            widest = max((len(row[place]) for row in cells), default=0)
            last = place == len(columns) - 1
            table.add_column(
                column,
                no_wrap=True,
                overflow="crop",
                min_width=None if last else max(widest, len(column)),
            )
        for row in cells:
            table.add_row(*(Text(cell) for cell in row))
        self._parts.append(table)

    def render(self) -> str:
        """Return the page as text ending in a newline; empty when nothing was added."""
        sink = _Sink()
        console = Console(
            file=cast("IO[str]", sink),
            force_terminal=self._screen.colour,
            no_color=not self._screen.colour,
            color_system="standard" if self._screen.colour else None,
            width=self._screen.width,
            highlight=False,
            markup=False,
            emoji=False,
            legacy_windows=False,
            # Nothing of the process's environment may change what a record looks like.
            _environ={},
        )
        for part in self._parts:
            console.print(part, soft_wrap=isinstance(part, Text))
        lines = "".join(sink.written).splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines)

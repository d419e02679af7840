"""One line on stderr that says how far long work is, and is gone when it is done.

It shows for a person only: nothing when stderr is no terminal, when the terminal is
`dumb`, or where `NO_COLOR` asks for plain output. It shows numbers only, so nothing
that was read can speak through it.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

    from msdcomp.edge.progress import OnProgress

__all__ = ["DELAY_S", "progress"]

#: Work that is done sooner shows nothing, in seconds.
DELAY_S = 0.5

#: Shortest time between two looks of the line, in seconds.
_PAUSE_S = 0.1


@contextlib.contextmanager
def progress(
    doing: str, *, delay_s: float | None = None
) -> Iterator[OnProgress | None]:
    """Show progress within the block; yield whom to tell, or None where none shows.

    Print nothing within the block: the line is taken away at its end.

    Args:
        doing: What is done, in words of our own, before the number.
        delay_s: How long the work must take before the line appears; by default
            `DELAY_S`.
    """
    if not _has_reader():
        yield None
        return
    line = _Line(doing, DELAY_S if delay_s is None else delay_s)
    try:
        yield line.tell
    finally:
        line.clear()


def _has_reader() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") in {None, "", "dumb"}:
        return False
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False


class _Line:
    """The line, drawn when somebody tells something, and by no thread of its own."""

    def __init__(self, doing: str, delay_s: float) -> None:
        self._doing = doing
        self._began = time.monotonic()
        self._next = self._began + delay_s
        self._shown: Progress | None = None

    def tell(self, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _PAUSE_S
        of = "" if total is None else f" of {total:,}"
        text = f"{self._doing}: {done:,}{of}, {now - self._began:.0f} s"
        # A terminal that is gone is no reason to stop the work.
        with contextlib.suppress(OSError, ValueError):
            if self._shown is None:
                self._shown = _started(text)
            self._shown.update(self._shown.task_ids[0], description=text, refresh=True)

    def clear(self) -> None:
        if self._shown is not None:
            with contextlib.suppress(OSError, ValueError):
                self._shown.stop()


def _started(text: str) -> Progress:
    # Imported here because most commands are done before anything is shown.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress, SpinnerColumn, TextColumn  # noqa: PLC0415

    shown = Progress(
        SpinnerColumn("line"),  # in ASCII, as a terminal may know nothing else
        TextColumn("{task.description}", markup=False),
        console=Console(file=sys.stderr),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    shown.add_task(text, total=None)
    shown.start()
    return shown

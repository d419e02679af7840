"""Somebody at a terminal, who has typed ahead what will be asked for."""

from __future__ import annotations

import contextlib
import os
import pty
import termios
from collections.abc import Iterator

import attrs
import pytest

__all__ = ["Person", "at_a_terminal"]


@attrs.define
class Person:
    """Who sits there, and what was written to stderr; known once it is over."""

    seen: str = ""


@contextlib.contextmanager
def at_a_terminal(typed: str) -> Iterator[Person]:
    """Make stdin and stderr a terminal at which something was typed.

    An empty text is the end of the input.
    """
    person = Person()
    master, slave = pty.openpty()
    # What is typed is not echoed, so all that is seen was written.
    mode = termios.tcgetattr(slave)
    mode[3] &= ~termios.ECHO
    termios.tcsetattr(slave, termios.TCSANOW, mode)
    with (
        os.fdopen(slave, "r", encoding="utf-8") as stdin,
        os.fdopen(os.dup(slave), "w", encoding="utf-8") as stderr,
        pytest.MonkeyPatch.context() as patch,
    ):
        # At the beginning of a line, Ctrl-D ends the input.
        os.write(master, typed.encode() or b"\x04")
        patch.setattr("sys.stdin", stdin)
        patch.setattr("sys.stderr", stderr)
        yield person
        # What is written arrives at its own time, so it is read up to a last mark.
        stderr.write("\0")
        stderr.flush()
        seen = b""
        while not seen.endswith(b"\0"):
            seen += os.read(master, 1 << 16)
        person.seen = seen[:-1].decode().replace("\r\n", "\n")
    os.close(master)

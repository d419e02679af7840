"""How every verb prints.

What cannot be told on stderr is dropped: a warning is never worth the result. What
cannot be told on stdout is an error, since it was the result.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import stat
import sys
from typing import Any, NoReturn, TextIO

from msdcomp.canonical import pretty
from msdcomp.edge.files import fault_of
from msdcomp.safetext import safe

__all__ = [
    "LostOutputError",
    "Parser",
    "add_contract",
    "add_json",
    "announce",
    "complain",
    "folder_fault",
    "screen_options",
    "settle",
    "show",
    "show_json",
    "tell",
]


class LostOutputError(Exception):
    """The result could not be printed; the text says why."""


class _Help(argparse.HelpFormatter):
    """Help as wide as the terminal; `shutil`, which argparse would ask, costs more."""

    def __init__(self, prog: str, **options: Any) -> None:  # noqa: ANN401 - its own
        super().__init__(prog, **{"width": _columns() - 2, **options})


def _columns() -> int:
    with contextlib.suppress(KeyError, ValueError):
        if (given := int(os.environ["COLUMNS"])) > 0:
            return given
    try:
        columns = os.get_terminal_size(sys.__stdout__.fileno()).columns  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):  # none, closed, no terminal
        columns = 0
    return columns or 80


class Parser(argparse.ArgumentParser):
    """A parser that repeats arguments in safe text only; so do its sub-parsers."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - whatever it takes
        """Take what `argparse.ArgumentParser` takes."""
        super().__init__(**{"formatter_class": _Help, **options})

    def print_help(self, file: object = None) -> None:  # noqa: ARG002 - the signature
        """Print the help on stdout."""
        show(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Print the usage and what is wrong with the arguments, and stop."""
        tell(f"{self.format_usage()}{self.prog}: error: {safe(message, 1000)}")
        raise SystemExit(2)


def add_contract(parser: argparse.ArgumentParser) -> None:
    """Add `--host-contract`."""
    parser.add_argument(
        "--host-contract",
        metavar="FILE",
        help="the roles, artefacts and hook kinds of the host's loop, as `msd loop "
        "points --json` prints them (default: those of MSD)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def complain(message: str) -> None:
    """Print one line about a wrong use or a hostile environment."""
    tell(f"msd: error: {message}")


def tell(line: str) -> None:
    """Print a line on stderr, or nothing when it is closed, full or gone."""
    # Without a descriptor 2, Python sets stderr to None.
    with contextlib.suppress(AttributeError, OSError, ValueError):
        sys.stderr.write(f"{line}\n")


def folder_fault(path: str) -> str | None:
    """Return what is wrong with a folder that was named, after its name, or None."""
    try:
        held = os.stat(path)  # noqa: PTH116 - a plain question needs no object
    except (OSError, ValueError) as error:
        fault = fault_of(error)
        missing = fault.code == "missing"
        return (
            f"{safe(path)} is no folder" if missing else f"{safe(path)}: {fault.reason}"
        )
    return None if stat.S_ISDIR(held.st_mode) else f"{safe(path)} is no folder"


def screen_options() -> dict[str, Any]:
    """Return what the terminal on stdout can do, for `msdcomp.present.page.Screen`.

    Colours only on a terminal, and never where `NO_COLOR` is set to anything.
    """
    terminal = os.environ.get("TERM") != "dumb" and _is_terminal()
    colour = terminal and not os.environ.get("NO_COLOR")
    found: dict[str, Any] = {"colour": colour}
    if terminal and (width := os.get_terminal_size(sys.stdout.fileno()).columns):
        found["width"] = width
    return found


def _is_terminal() -> bool:
    try:
        return sys.stdout.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False


def show(text: str) -> None:
    """Print text that is safe already.

    Raises:
        BrokenPipeError: The reader has seen enough.
        LostOutputError: There is no stdout, or it takes no more.
    """
    try:
        sys.stdout.write(text)
        # What is wrong with a pipe or a disk shows only here.
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "unknown error")
        raise LostOutputError(f"stdout cannot be written ({name})") from error
    except (AttributeError, ValueError) as error:
        raise LostOutputError("stdout is closed") from error


def announce(text: str) -> None:
    """Show what is about to be done: nothing is, unless somebody could see it.

    Raises:
        LostOutputError: There is no stdout, it takes no more, or nobody reads it.
    """
    try:
        show(text)
    except BrokenPipeError as error:
        reason = "nobody reads stdout any more, so nothing more is done"
        raise LostOutputError(reason) from error


def show_json(value: object) -> None:
    """Print JSON for a program; ASCII only, so no terminal can be spoken to."""
    show(pretty(value))


def settle(stream: TextIO | None) -> None:
    """Let go of what a stream still holds and cannot write.

    The interpreter would try once more when it exits, and complain.
    """
    if stream is None:
        return
    try:
        stream.flush()
    except ValueError:  # closed already
        return
    except OSError:
        with contextlib.suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)

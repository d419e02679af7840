"""How every verb prints."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any

__all__ = ["add_json", "complain", "screen_options", "show", "show_json"]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def complain(message: str) -> None:
    """Print one line about a wrong use or a hostile environment."""
    sys.stderr.write(f"msd: error: {message}\n")


def screen_options() -> dict[str, Any]:
    """Return what the terminal on stdout can do, for `msdcomp.present.page.Screen`.

    Colours only on a terminal, and never where `NO_COLOR` is set to anything.
    """
    terminal = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    colour = terminal and not os.environ.get("NO_COLOR")
    found: dict[str, Any] = {"colour": colour}
    if terminal and (width := os.get_terminal_size(sys.stdout.fileno()).columns):
        found["width"] = width
    return found


def show(text: str) -> None:
    """Print text that is safe already."""
    sys.stdout.write(text)


def show_json(value: object) -> None:
    """Print JSON for a program; ASCII only, so no terminal can be spoken to."""
    sys.stdout.write(json.dumps(value, indent=2, sort_keys=True) + "\n")

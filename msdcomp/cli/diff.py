"""`msd diff A B`: what differs between two compositions that were saved."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.diffing import compare
from msdcomp.edge.files import FileFault
from msdcomp.edge.jsonfiles import read_object
from msdcomp.present.difference import change_wire, render_changes
from msdcomp.present.page import Screen
from msdcomp.safetext import safe
from msdcomp.wireform import WIRE_VERSION

__all__ = ["configure", "run"]

#: Longest saved composition that is read, in bytes: ten thousand overlays and more.
MAX_BYTES = 512 * 1024 * 1024


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("before", metavar="A", help="saved by `msd compose --json`")
    parser.add_argument("after", metavar="B", help="the same, later")
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compare two saved compositions; 1 when they differ."""
    read = []
    for path in (options.before, options.after):
        wire = read_object(path, strict=True, limit=MAX_BYTES)
        if isinstance(wire, FileFault):
            complain(f"{safe(path)}: {wire.reason}")
            return 2
        if wire.get("version") != WIRE_VERSION:
            complain(
                f"{safe(path)}: no composition of wire version {WIRE_VERSION}; save it "
                "with `msd compose --json`"
            )
            return 2
        read.append(wire)
    changes = compare(*read)
    if options.json:
        show_json([change_wire(change) for change in changes])
    else:
        show(render_changes(changes, Screen(**screen_options())))
    return 1 if changes else 0

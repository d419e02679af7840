"""`msd build`: make the snapshot of the shipped capabilities, or check it."""

from __future__ import annotations

import argparse
import os

from msdcomp.cli.common import complain, screen_options, show
from msdcomp.edge.files import FileFault
from msdcomp.edge.freeze import check_snapshot, write_snapshot
from msdcomp.edge.snapshot import snapshot_path
from msdcomp.present.page import Screen
from msdcomp.present.problems import render_problems
from msdcomp.safetext import safe

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "--check",
        action="store_true",
        help="change nothing; fail when the snapshot is not what the manifests say",
    )
    parser.add_argument(
        "--capabilities",
        metavar="DIR",
        default="capabilities",
        help="folder with one folder per shipped capability (default: %(default)s)",
    )


def run(options: argparse.Namespace) -> int:
    """Make or check the snapshot; 1 when it is stale or must not be made."""
    folder = options.capabilities
    if not os.path.isdir(folder):  # noqa: PTH112 - a plain question needs no object
        complain(f"--capabilities: {safe(folder)} is no folder")
        return 2
    if options.check:
        checked = check_snapshot(folder)
        problems = checked.problems
        verdict = (
            "the snapshot is stale: run `msd build` and commit the result"
            if checked.stale
            else "the snapshot is what the manifests say"
        )
        failed = checked.stale
    else:
        made = write_snapshot(folder)
        if isinstance(made, FileFault):
            complain(f"{snapshot_path()}: {made.reason}")
            return 2
        problems = made.problems
        verdict = f"wrote {snapshot_path()}"
        failed = False
    if problems:
        screen = Screen(**screen_options())
        show(render_problems(problems, 0, screen))
        verdict = "the snapshot was not made: the manifests have faults"
    show(f"{verdict}\n")
    return 1 if failed or problems else 0

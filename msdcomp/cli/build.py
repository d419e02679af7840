"""`msd build`: make the snapshot of the shipped capabilities, or check it."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_json,
    complain,
    folder_fault,
    screen_options,
    show,
    show_json,
)
from msdcomp.edge.files import FileFault
from msdcomp.edge.freeze import SnapshotCheck, check_snapshot, write_snapshot
from msdcomp.edge.snapshot import snapshot_path
from msdcomp.present.page import Screen
from msdcomp.present.problems import render_problems
from msdcomp.safetext import safe
from msdcomp.wireform import problem_wire

__all__ = ["configure", "run"]

#: Where the manifests are in a checkout, from its top.
FOLDER = "capabilities"


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
        help=f"folder with one folder per shipped capability (default: {FOLDER})",
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Make or check the snapshot; 1 when it is stale or must not be made."""
    given = options.capabilities
    folder = FOLDER if given is None else given
    fault = folder_fault(folder)
    if fault:
        complain(
            f"--capabilities: {fault}"
            if given is not None
            else "msd build needs a checkout of the library, with the manifests in its "
            f"folder {FOLDER}, and found none here: run it at the top of a checkout, "
            "or name that folder with --capabilities DIR"
        )
        return 2
    written = None
    if options.check:
        checked = check_snapshot(folder)
    else:
        made = write_snapshot(folder)
        if isinstance(made, FileFault):
            complain(f"{snapshot_path()}: {made.reason}")
            return 2
        if made.problems:
            checked = check_snapshot(folder)
        else:
            checked = SnapshotCheck(stale=False)
            written = snapshot_path()
    if options.json:
        show_json(
            {
                "stale": checked.stale,
                "written": written,
                "problems": [problem_wire(problem) for problem in checked.problems],
            }
        )
    else:
        show(_text(checked, written))
    return 1 if checked.stale or checked.problems else 0


def _text(checked: SnapshotCheck, written: str | None) -> str:
    if checked.problems:
        told = render_problems(checked.problems, 0, Screen(**screen_options()))
        return f"{told}the snapshot was not made: the manifests have faults\n"
    if written is not None:
        return f"wrote {safe(written)}\n"
    if checked.stale:
        return "the snapshot is stale: run `msd build` and commit the result\n"
    return "the snapshot is what the manifests say\n"

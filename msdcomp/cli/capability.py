"""`msd capability`: list what there is, and agree to what a project brings."""

from __future__ import annotations

import argparse

from msdcomp.cli import trust
from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.here import add_places, here
from msdcomp.inventory import inventory
from msdcomp.present.inventory import render_inventory, row_wire
from msdcomp.present.page import Screen

__all__ = ["configure", "run"]

_RELEASE = "this release only reads overlays; until the next one"

#: Verbs of a later release, and what to do until then.
LATER = {
    "remove": f"{_RELEASE}, delete the folder that `msd explain ID` names",
    "reconcile": f"{_RELEASE}, finish or undo the install that was begun",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    listing = verbs.add_parser(
        "list",
        help="list every capability, composed or left out",
        description="List every capability, composed or left out.",
        allow_abbrev=False,
    )
    add_places(listing)
    add_json(listing)
    trust.configure(
        verbs.add_parser(
            "trust",
            help="agree to an overlay of this project",
            description="Show what an overlay of this project would run, send or tell "
            "an agent, and agree to it as it is now.",
            allow_abbrev=False,
        )
    )
    for verb in LATER:
        # Warnings name these commands, so whoever types one deserves an answer.
        later = verbs.add_parser(verb, add_help=False, allow_abbrev=False)
        later.add_argument("rest", nargs=argparse.REMAINDER)


def run(options: argparse.Namespace) -> int:
    """List what there is; 1 when an overlay was left out."""
    if options.verb == "trust":
        return trust.run(options)
    if options.verb in LATER:
        complain(f"msd capability {options.verb}: {LATER[options.verb]}")
        return 2
    found = here(options)
    if found is None:
        return 2
    rows = inventory(found.composition, found.layers())
    if options.json:
        show_json([row_wire(row) for row in rows])
    else:
        show(render_inventory(rows, Screen(**screen_options())))
    return 1 if found.composition.warnings else 0

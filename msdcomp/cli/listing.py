"""`msd capability list`: every capability, composed or left out."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_contract,
    add_json,
    screen_options,
    show,
    show_json,
)
from msdcomp.cli.here import add_config, add_places, add_surface, here_on_surface
from msdcomp.inventory import inventory
from msdcomp.present.inventory import render_inventory, row_wire
from msdcomp.present.page import Screen

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_config(parser)
    add_surface(parser)
    add_places(parser)
    add_contract(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List what there is; 1 when an overlay was left out."""
    looked = here_on_surface(options)
    if looked is None:
        return 2
    found, surface = looked
    rows = inventory(found.composition, found.layers(options.config), surface)
    if options.json:
        show_json([row_wire(row) for row in rows])
    else:
        show(render_inventory(rows, Screen(**screen_options())))
    return 1 if found.composition.warnings else 0

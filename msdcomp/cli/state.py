"""`msd capability state`: how far each capability gets, and what stops it."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_contract,
    add_json,
    complain,
    screen_options,
    show,
    show_json,
)
from msdcomp.cli.here import add_config, add_places, add_surface, here_on_surface
from msdcomp.cli.meant import meant
from msdcomp.present.page import Screen
from msdcomp.present.state import render_states, state_wire
from msdcomp.safetext import safe
from msdcomp.state import State, states

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("id", nargs="?", metavar="ID", help="only this capability")
    add_config(parser)
    add_surface(parser)
    add_places(parser)
    add_contract(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Tell the state; of one capability, 0 only when it is active."""
    looked = here_on_surface(options)
    if looked is None:
        return 2
    found, surface = looked
    told = states(found.composition, found.layers(options.config), surface)
    if options.id is not None:
        wanted = tuple(state for state in told if state.capability_id == options.id)
        if not wanted:
            _unknown(options.id, told)
            if options.json:
                show_json([])
            return 1
        told = wanted
    if options.json:
        show_json([state_wire(state) for state in told])
    else:
        show(render_states(told, Screen(**screen_options()), surface))
    return 0 if options.id is None or any(state.active for state in told) else 1


def _unknown(given: str, told: tuple[State, ...]) -> None:
    close = meant(given, (state.capability_id for state in told))
    complain(f"no capability and no overlay folder is named {safe(given)}{close}")

"""`msd compose`: what is in the registry here, what was left out, and why."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_contract,
    add_json,
    screen_options,
    show,
    show_json,
)
from msdcomp.cli.here import add_places, here

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_places(parser)
    add_contract(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compose and show it; 1 when an overlay was left out."""
    found = here(options)
    if found is None:
        return 2
    composition = found.composition
    if options.json:
        show_json(composition.to_wire())
    else:
        from msdcomp.present.composition import render_composition  # noqa: PLC0415
        from msdcomp.present.page import Screen  # noqa: PLC0415

        screen = Screen(**screen_options())
        show(render_composition(composition, found.host_version, screen, found.roots))
    return 1 if composition.warnings else 0

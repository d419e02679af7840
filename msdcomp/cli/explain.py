"""`msd explain ID`: one verdict, and the chain of gates that led to it."""

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
from msdcomp.explanation import Verdict, explain
from msdcomp.present.explanation import explanation_wire, render_explanation
from msdcomp.present.page import Screen

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("id", metavar="ID", help="the id of a capability")
    add_config(parser)
    add_surface(parser)
    add_places(parser)
    add_contract(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Explain one capability; 0 only when it is active."""
    looked = here_on_surface(options)
    if looked is None:
        return 2
    found, surface = looked
    layers = found.layers(options.config)
    explained = explain(found.composition, options.id, layers, surface)
    if options.json:
        show_json(explanation_wire(explained))
    else:
        show(render_explanation(explained, Screen(**screen_options()), found.roots))
    return 0 if explained.verdict is Verdict.ACTIVE else 1

"""`msd capability outdated`: what is installed, beside what its source offers."""

from __future__ import annotations

import argparse

from msdcomp.cli.changing import add_scope, find_home_here
from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.fetching import add_asking, fetch_options
from msdcomp.cli.here import add_roots
from msdcomp.edge.config import read_layers
from msdcomp.edge.lifecycle.outdated import outdated
from msdcomp.edge.lifecycle.site import sites
from msdcomp.present.outdated import render_standings, standing_wire
from msdcomp.present.page import Screen

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_scope(parser, "both")
    add_asking(parser)
    add_roots(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Compare everything that is installed; 1 when a ledger cannot be read."""
    places = find_home_here(options)
    if places is None:
        return 2
    where = sites(places, scope=options.scope)
    if not where:
        complain("there is no project; name one with --project")
        return 2
    found = outdated(where, fetch_options(read_layers(places.project), options))
    if options.json:
        show_json([standing_wire(one) for one in found])
    else:
        show(render_standings(found, Screen(**screen_options())))
    return 1 if any(one.status == "unreadable" for one in found) else 0

"""`msd capability doctor`: looks for what is wrong, and says what to do about it."""

from __future__ import annotations

import argparse

from msdcomp.cli.changing import add_scope, find_here
from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.here import add_places
from msdcomp.edge.lifecycle.doctor import examine
from msdcomp.health import is_sound
from msdcomp.present.health import finding_wire, render_findings
from msdcomp.present.page import Screen

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_scope(parser, "both")
    add_places(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Look at everything; 1 when there is an error or a warning."""
    places = find_here(options)
    if places is None:
        return 2
    if options.scope == "project" and places.project is None:
        complain("there is no project; name one with --project")
        return 2
    found = examine(
        places,
        options.host_version,
        scope=options.scope,
        on_set_failure="isolate" if options.isolate else "fallback",
    )
    if options.json:
        show_json([finding_wire(one) for one in found])
    else:
        show(render_findings(found, Screen(**screen_options())))
    return 0 if is_sound(found) else 1

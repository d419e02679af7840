"""`msd loop points` and `msd loop order`: what the loop offers, and why this order."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import complain, screen_options, show, show_json
from msdcomp.cli.contract import asked_contract
from msdcomp.cli.here import here
from msdcomp.host import HostContract
from msdcomp.loop import unknown_point
from msdcomp.present.hostloop import order_wire, render_order, render_points
from msdcomp.present.page import Screen
from msdcomp.views import PointHooks
from msdcomp.vocabulary import POINTS

__all__ = ["order", "points"]


def points(options: argparse.Namespace) -> int:
    """Show the host contract."""
    file = options.host_contract
    contract = HostContract() if file is None else asked_contract(file)
    if contract is None:
        return 2
    if options.json:
        show_json(contract.to_wire())
    else:
        show(render_points(contract, Screen(**screen_options())))
    return 0


def order(options: argparse.Namespace) -> int:
    """Show the hooks of a point in order, and what puts each after the one before."""
    point = options.point
    if point not in POINTS:
        problem = unknown_point(point)
        complain(f"{problem.message}. {problem.hint}")
        return 2
    found = here(options)
    if found is None:
        return 2
    hooks = found.composition.registry.by_loop_point.get(point, PointHooks())
    contract = found.contract or HostContract()
    if options.json:
        show_json(order_wire(point, hooks, contract))
    else:
        show(render_order(point, hooks, contract, Screen(**screen_options())))
    return 0

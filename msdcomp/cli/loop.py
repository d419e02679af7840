"""`msd loop`: what a workflow dispatches at a point of the loop, and what it could.

Gates that are missing there are named on stderr in every output mode, at every pass,
until somebody deals with them.
"""

from __future__ import annotations

import argparse

from msdcomp.activation import capability_states, state_problems
from msdcomp.cli.common import (
    add_contract,
    add_json,
    complain,
    show,
    show_json,
    tell,
)
from msdcomp.cli.here import add_config, add_places, add_surface, here_on_surface
from msdcomp.gatewarning import PREFIX
from msdcomp.loop import LoopResolution, render_markdown, resolve
from msdcomp.safetext import safe
from msdcomp.views import PointHooks
from msdcomp.vocabulary import POINT_KINDS

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="VERB", prog=parser.prog
    )
    hooks = verbs.add_parser(
        "render-hooks",
        help="print the active hooks of a point",
        description="Print the active hooks of a point of the loop.",
        allow_abbrev=False,
    )
    hooks.add_argument("point", metavar="POINT", help="for example plan:pre")
    hooks.add_argument(
        "--active-cap",
        metavar="ID",
        help="print only true or false: whether that capability has an active hook "
        "there",
    )
    add_config(hooks)
    add_surface(hooks)
    add_places(hooks)
    add_contract(hooks)
    add_json(hooks)
    order = verbs.add_parser(
        "order",
        help="tell why the hooks of a point come in the order they come in",
        description="Tell why the hooks of a point come in the order they come in, "
        "whether the configuration has them active or not.",
        allow_abbrev=False,
    )
    order.add_argument("point", metavar="POINT", help="for example plan:pre")
    add_places(order)
    add_contract(order)
    add_json(order)
    points = verbs.add_parser(
        "points",
        help="show the points of the loop, and what each offers",
        description="Show the points of the loop, and what each offers.",
        allow_abbrev=False,
    )
    add_contract(points)
    add_json(points)


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    if options.verb == "render-hooks":
        return _render_hooks(options)
    # Imported here because a workflow only ever renders, and that at every point.
    from msdcomp.cli import looporder  # noqa: PLC0415

    return (looporder.order if options.verb == "order" else looporder.points)(options)


def _render_hooks(options: argparse.Namespace) -> int:
    """Resolve the point and print it; a missing gate is a warning, never a failure."""
    looked = here_on_surface(options)
    if looked is None:
        return 2
    found, surface = looked
    composition = found.composition
    layers = found.layers(options.config)
    resolution = resolve(
        composition.registry,
        options.point,
        layers,
        blocked_gates=composition.blocked_gates,
        states=capability_states(composition.registry, layers, surface),
        kinds=POINT_KINDS if found.contract is None else found.contract.kinds,
    )
    if resolution.problems:
        problem = resolution.problems[0]
        complain(f"{problem.message}. {problem.hint}")
        return 2
    hooks = composition.registry.by_loop_point.get(options.point, PointHooks())
    concerned = {hook.capability_id for hook in hooks.all()}
    doubts = state_problems(composition.registry, layers, concerned)
    if surface is not None and surface.unreadable:
        tell(
            f"{PREFIX}nobody knows what is on the surface, because "
            f"{safe(surface.file)} cannot be read ({surface.unreadable}); steps and "
            "contributions are left out, gates are kept"
        )
    for line in (
        *resolution.stderr_lines(),
        *(PREFIX + safe(doubt.message, 1000) for doubt in doubts),
    ):
        tell(line)
    if options.active_cap is not None:
        active = any(
            hook.capability_id == options.active_cap for hook in resolution.active_hooks
        )
        show("true\n" if active else "false\n")
    elif options.json:
        show_json(resolution.to_wire())
    else:
        show(_text(resolution))
    return 0


def _text(resolution: LoopResolution) -> str:
    """Return the markdown line by line, each without what a terminal would obey."""
    lines = render_markdown(resolution).split("\n")
    return "".join(f"{_printable(line)}\n" for line in lines)


def _printable(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(
        char if char.isprintable() or char == "\t" else "\N{REPLACEMENT CHARACTER}"
        for char in line
    )

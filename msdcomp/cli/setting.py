"""`msd capability set`: the switches of a capability, and whether it is shown."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.here import Here, add_places, add_surface, add_workstream, here
from msdcomp.cli.switching import (
    Effect,
    change_surface,
    effect_of,
    folder_of,
    is_known,
    look,
    switched,
)
from msdcomp.configwriting import ConfigChange, check_gates
from msdcomp.diagnostics import Problem
from msdcomp.edge.configfile import schema_of, set_gates
from msdcomp.edge.surfacefile import read_choice
from msdcomp.present.config import change_wire, render_change
from msdcomp.present.page import Screen
from msdcomp.safetext import safe

__all__ = ["configure", "run"]

_GATE = re.compile(r"(?P<key>[^=]+)=(?P<value>true|false)")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("id", metavar="ID", help="a capability that is composed here")
    parser.add_argument(
        "--gate",
        metavar="KEY=BOOL",
        action="append",
        default=[],
        help="set a switch of it to true or false in the project's configuration; "
        "may be given again",
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument(
        "--on",
        "--enable",
        dest="on",
        action="store_const",
        const=True,
        help="put it on the surface",
    )
    shown.add_argument(
        "--off",
        "--disable",
        dest="on",
        action="store_const",
        const=False,
        help="hold it back",
    )
    add_workstream(parser, "whose configuration to change (default: the project's own)")
    add_surface(parser)
    add_places(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Change all that was asked for, or nothing, and tell what has come of it."""
    gates = _gates(options.gate)
    if gates is None:
        return 2
    if not gates and options.on is None:
        complain("nothing to set; say --gate KEY=BOOL, --on or --off")
        return 2
    found = here(options)
    if found is None or not _may(found, options, gates):
        return 2
    before = look(found, options)
    if before is None:
        return 2
    change = None
    if gates:
        change = set_gates(
            found.places,
            found.composition.registry,
            options.id,
            gates,
            workstream=options.workstream,
        )
        if not change.done:
            return _refuse(change, as_json=options.json)
    if options.on is not None:
        wish = switched(found, options.id, on=options.on)
        if change_surface(found, options, wish) is None:
            if change is not None:
                complain(f"{change.file} has been changed all the same")
            return 2
    effect = effect_of(found, options, before, options.id, wanted=options.on)
    return 2 if effect is None else _report(effect, change, options)


def _gates(given: list[str]) -> Mapping[str, bool] | None:
    """Return the switches that were named, or complain."""
    gates: dict[str, bool] = {}
    for text in given:
        match = _GATE.fullmatch(text)
        if match is None:
            complain(f"--gate: expected KEY=true or KEY=false, got {safe(text)}")
            return None
        if match["key"] in gates:
            complain(f"--gate: {safe(match['key'])} is given twice")
            return None
        gates[match["key"]] = match["value"] == "true"
    return gates


def _may(found: Here, options: argparse.Namespace, gates: Mapping[str, bool]) -> bool:
    """Tell whether all of it can be done, or complain, before any of it is."""
    if not is_known(found, options, options.id):
        return False
    registry = found.composition.registry
    refused: tuple[Problem, ...] = ()
    if gates:
        refused = check_gates(registry, schema_of(registry), options.id, tuple(gates))
    if refused:
        _refuse(ConfigChange(problems=refused), as_json=options.json)
        return False
    if options.on is None:
        return True
    folder = folder_of(found, options)
    if folder is None:
        return False
    kept = read_choice(folder)
    if kept.fault is not None:
        complain(f"the surface: {safe(kept.file, 400)}: {kept.fault.reason}")
    return kept.fault is None


def _refuse(change: ConfigChange, *, as_json: bool) -> int:
    for problem in change.problems:
        hint = f"; {problem.hint}" if problem.hint else ""
        complain(f"{problem.message}{hint}")
    if as_json:
        show_json(change_wire(change))
    return 2


def _report(
    effect: Effect, change: ConfigChange | None, options: argparse.Namespace
) -> int:
    effect.warn()
    if options.json:
        config = None if change is None else change_wire(change)
        show_json({**effect.wire(), "config": config})
    else:
        if change is not None:
            show(render_change(change, Screen(**screen_options())))
        show(effect.text())
    took = change is None or all(one.took for one in change.effects)
    return 0 if took and not effect.missed else 1

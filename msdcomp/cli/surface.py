"""`msd surface`: which capabilities a host shows, and the user's choices about it."""

from __future__ import annotations

import argparse

import attrs

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.here import Here, add_places, add_surface, here
from msdcomp.cli.switching import Effect, change_surface, folder_of, look, switch
from msdcomp.edge.files import FileFault
from msdcomp.edge.surfacefile import read_marker
from msdcomp.present.page import Screen
from msdcomp.present.surface import render_surface, surface_wire
from msdcomp.safetext import safe
from msdcomp.surface import PROFILES, Choice, Surface, surface

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="ACTION",
        help="`list`; `profile NAME`, one of core, standard, full or several with "
        "commas; `enable ID`; `disable ID`; `reset`",
    )
    add_surface(parser)
    add_places(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """List the surface, or change it and tell what it is then."""
    found = here(options)
    if found is None:
        return 2
    match options.words:
        case ["list"]:
            return _list(found, options)
        case ["profile", names]:
            wanted = _profiles(names)
            if wanted is None:
                return 2
            effect = change_surface(
                found, options, lambda choice: attrs.evolve(choice, profiles=wanted)
            )
        case ["enable" | "disable" as action, capability_id]:
            effect = switch(found, options, capability_id, on=action == "enable")
        case ["reset"]:
            effect = _reset(found, options)
        case _:
            complain(
                "expected `list`, `profile NAME`, `enable ID`, `disable ID` or `reset`"
            )
            return 2
    return 2 if effect is None else effect.report(as_json=options.json)


def _list(found: Here, options: argparse.Namespace) -> int:
    held = found.surface(options)
    if isinstance(held, FileFault):
        complain(held.reason)
        return 2
    registry = found.composition.registry
    shown = held or Surface(standings=surface(registry))
    if options.json:
        show_json(surface_wire(shown, registry))
    else:
        show(render_surface(shown, registry, Screen(**screen_options())))
    return 1 if shown.unreadable else 0


def _reset(found: Here, options: argparse.Namespace) -> Effect | None:
    """Take all choices back, to what was chosen when the host was installed."""
    if look(found, options) is None:
        return None
    folder = folder_of(found, options)
    if folder is None:
        return None
    kept = read_marker(folder)
    if kept.fault is not None:
        # What it says is not known, and everything is no guess to take its place.
        complain(
            "the surface was not changed: "
            f"{safe(kept.file, 400)}: {kept.fault.reason}; repair it, or move it away"
        )
        return None
    start = kept.choice or Choice()
    return change_surface(found, options, lambda _: start)


def _profiles(names: str) -> tuple[str, ...] | None:
    """Return the profiles that are named, or complain."""
    wanted = tuple(name.strip().lower() for name in names.split(","))
    unknown = [name for name in wanted if name not in PROFILES]
    if unknown:
        complain(f"{safe(unknown[0])} is no profile (profiles: {', '.join(PROFILES)})")
        return None
    return wanted

"""`msd surface`: which capabilities a host shows, and the user's choices about it."""

from __future__ import annotations

import argparse

import attrs

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json
from msdcomp.cli.here import Here, add_places, add_surface, here
from msdcomp.cli.switching import Effect, switch
from msdcomp.edge.files import FileFault
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
            return _profile(found, options, names)
        case ["enable" | "disable" as action, capability_id]:
            effect = switch(found, options, capability_id, on=action == "enable")
            return effect.report(as_json=options.json)
        case ["reset"]:
            effect = Effect.of(found, options, lambda _: Choice())
            return effect.report(as_json=options.json)
        case _:
            complain("expected `list`, `profile NAME`, `enable ID`, `disable ID`")
            return 2


def _list(found: Here, options: argparse.Namespace) -> int:
    held = found.surface(options)
    if isinstance(held, FileFault):
        complain(f"--runtime: {held.reason}")
        return 2
    registry = found.composition.registry
    shown = held or Surface(standings=surface(registry))
    if options.json:
        show_json(surface_wire(shown, registry))
    else:
        show(render_surface(shown, registry, Screen(**screen_options())))
    return 1 if shown.unreadable else 0


def _profile(found: Here, options: argparse.Namespace, names: str) -> int:
    wanted = tuple(name.strip().lower() for name in names.split(","))
    unknown = [name for name in wanted if name not in PROFILES]
    if unknown:
        complain(f"{safe(unknown[0])} is no profile (profiles: {', '.join(PROFILES)})")
        return 2

    def change(choice: Choice) -> Choice:
        return attrs.evolve(choice, profiles=wanted)

    return Effect.of(found, options, change).report(as_json=options.json)

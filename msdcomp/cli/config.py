"""`msd config`: what a key is here and why, what there is, and every change of it."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_json,
    complain,
    screen_options,
    show,
    show_json,
    tell,
)
from msdcomp.cli.here import Here, add_config, add_places, add_workstream, here
from msdcomp.configlayers import Origin, freeze_json
from msdcomp.configreading import Reading, list_keys, read
from msdcomp.configschema import ConfigSchema
from msdcomp.configwriting import ConfigChange
from msdcomp.edge.configfile import schema_of, set_key, unset_key
from msdcomp.gatewarning import PREFIX
from msdcomp.jsontext import parse
from msdcomp.manifest.names import Json
from msdcomp.present.config import (
    change_wire,
    listing_wire,
    reading_wire,
    render_change,
    render_listing,
    render_origin,
    value_text,
)
from msdcomp.present.page import Screen
from msdcomp.safetext import safe

__all__ = ["configure", "run"]

_LINES = {
    "get": "print the value of a key as JSON",
    "origin": "tell where the value of a key comes from, and what it overrides",
    "list": "list every key that has a value here, and what is wrong",
    "set": "set a key in a configuration file, or take it out",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="VERB", prog=parser.prog
    )
    for verb, line in _LINES.items():
        own = verbs.add_parser(
            verb,
            help=line,
            description=f"{line[0].upper()}{line[1:]}.",
            allow_abbrev=False,
        )
        if verb != "list":
            own.add_argument("key", metavar="KEY", help="for example workflow.tdd_mode")
        if verb == "set":
            _add_value(own)
            add_workstream(own, "whose file to change (default: the project's own)")
        else:
            add_config(own)
        if verb == "list":
            own.add_argument(
                "--all", action="store_true", help="list keys without a value as well"
            )
        add_places(own)
        add_json(own)


def _add_value(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "value", metavar="VALUE", nargs="?", help="JSON; what is none is a text"
    )
    parser.add_argument(
        "--unset", action="store_true", help="take the key out instead of setting it"
    )
    parser.add_argument(
        "--force", action="store_true", help="set a key that nobody declares, too"
    )


def run(options: argparse.Namespace) -> int:
    """Do what the verb says."""
    if options.verb == "set" and (options.value is None) != options.unset:
        complain("expected either VALUE or --unset")
        return 2
    found = here(options)
    if found is None:
        return 2
    schema = schema_of(found.composition.registry)
    if options.verb == "set":
        return _set(found, schema, options)
    layers = found.layers(options.config)
    if options.verb == "list":
        listing = list_keys(layers, schema, absent=options.all)
        if options.json:
            show_json(listing_wire(listing))
        else:
            show(render_listing(listing, Screen(**screen_options())))
        return 0 if listing.readable else 1
    reading = read(options.key, layers, schema)
    if options.json:
        show_json(reading_wire(reading))
    elif options.verb == "origin":
        show(render_origin(reading, Screen(**screen_options())))
    else:
        _get(reading)
    return 0 if reading.effective.found else 1


def _get(reading: Reading) -> None:
    """Print a value on stdout, and on stderr what is to be said about it."""
    if reading.effective.found:
        show(f"{value_text(reading.effective.value)}\n")
    elif reading.effective.origin is Origin.ABSENT and reading.known is not None:
        tell(f"{PREFIX}{safe(reading.key)} is not set, and has no default")
    if reading.known is None:
        meant = reading.suggestion
        hint = "" if meant is None else f"; did you mean {safe(meant)}?"
        tell(f"{PREFIX}nobody declares {safe(reading.key)}{hint}")
    for problem in reading.problems():
        tell(f"{PREFIX}{safe(problem.message, 1000)}")


def _set(found: Here, schema: ConfigSchema, options: argparse.Namespace) -> int:
    project, name = found.places.project, options.workstream
    if options.unset:
        change = unset_key(project, schema, options.key, workstream=name)
    else:
        change = set_key(
            project,
            schema,
            options.key,
            _value(options.value),
            workstream=name,
            force=options.force,
        )
    if options.json:
        show_json(change_wire(change))
    elif change.done:
        show(render_change(change, Screen(**screen_options())))
    else:
        _refuse(change)
    return 0 if change.done and all(one.took for one in change.effects) else 1


def _value(text: str) -> Json:
    """Return what an argument means: the JSON that it is, else its own text."""
    parsed = parse(text)
    return text if parsed.problems else freeze_json(parsed.value)


def _refuse(change: ConfigChange) -> None:
    for problem in change.problems:
        hint = f". {problem.hint}" if problem.hint else ""
        complain(f"{safe(problem.message, 1000)}{safe(hint, 1000)}")

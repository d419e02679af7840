"""Configuration values and changes, for a person and as JSON data."""

from __future__ import annotations

import json
from typing import Any

from pyrsistent import thaw

from msdcomp.configlayers import Effective, Origin
from msdcomp.configreading import Listing, Reading
from msdcomp.configschema import takes
from msdcomp.configwriting import ConfigChange, Effect
from msdcomp.manifest.names import Json
from msdcomp.present.page import Page, Screen, count
from msdcomp.present.problems import add_problem
from msdcomp.safetext import safe
from msdcomp.wireform import problem_wire

__all__ = [
    "change_wire",
    "listing_wire",
    "reading_wire",
    "render_change",
    "render_listing",
    "render_origin",
    "value_text",
]

#: Longest value in a line for a person, in characters.
_LONGEST = 60


def value_text(value: Json) -> str:
    """Return a value as one line of JSON; ASCII only, so no terminal is spoken to."""
    return json.dumps(thaw(value), sort_keys=True)


def _short(value: Json) -> str:
    text = value_text(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _where(found: Effective) -> str:
    if found.origin is Origin.DEFAULT:
        return "the default"
    if found.layer is Origin.EXPLICIT:
        return "the configuration given"
    return safe(found.file) if found.file else f"the {found.layer} configuration"


def _said(found: Effective) -> str:
    """Return what one layer, and all below it, say."""
    if found.origin is Origin.UNREADABLE:
        return f"could not check: {_where(found)} cannot be read ({safe(found.reason)})"
    if found.origin is Origin.ABSENT:
        return "not set, and there is no default"
    return f"{_short(found.value)}, from {_where(found)}"


# One key.


def render_origin(reading: Reading, screen: Screen) -> str:
    """Return where a value comes from, what it overrides, and whose key it is."""
    page = Page(screen)
    page.line((safe(reading.key), "bold"), f": {_said(reading.effective)}")
    for below in reading.overrides:
        page.line(f"over {_said(below)}", indent=1)
    known = reading.known
    if known is None:
        meant = reading.suggestion
        hint = f"; did you mean {safe(meant)}?" if meant is not None else ""
        page.line(f"nobody declares it{hint}", indent=1)
    else:
        owner = "the host's own" if known.central else f"of {safe(known.owner)}"
        page.line(f"{owner}, takes {takes(known)}", indent=1)
        if known.description:
            page.line(safe(known.description), indent=1)
    if known is not None and known.type == "boolean":
        on = reading.effective.on
        counts = "neither on nor off" if on is None else ("on" if on else "off")
        page.line(f"counts as {counts}", indent=1)
    for problem in reading.problems():
        add_problem(page, problem, indent=1)
    return page.render()


def reading_wire(reading: Reading) -> dict[str, Any]:
    """Return a value with all that led to it as fresh JSON data."""
    known = reading.known
    return {
        "key": reading.key,
        **_layer_wire(reading.effective),
        "on": reading.effective.on,
        "fits": reading.fits,
        "overrides": [_layer_wire(below) for below in reading.overrides],
        "owner": known.owner if known else None,
        "central": known.central if known else False,
        "type": known.type if known else None,
        "default": known.default if known else None,
        "values": list(known.values) if known and known.type == "enum" else None,
        "suggestion": reading.suggestion,
        "problems": [problem_wire(problem) for problem in reading.problems()],
    }


def _layer_wire(found: Effective) -> dict[str, Any]:
    return {
        "value": thaw(found.value),
        "origin": found.origin.value,
        "layer": found.layer.value if found.layer else None,
        "file": found.file,
        "reason": found.reason,
    }


# All keys.


def render_listing(listing: Listing, screen: Screen) -> str:
    """Return a table of keys, and below it what is to be reported."""
    page = Page(screen)
    page.table(
        ("key", "origin", "owner", "value"),
        [
            (
                one.key,
                one.effective.origin.value,
                one.known.owner if one.known else "",
                _short(one.effective.value) if one.effective.found else "",
            )
            for one in listing.readings
        ],
    )
    if listing.problems:
        page.line()
    for problem in listing.problems:
        add_problem(page, problem)
    page.line()
    keys, problems = len(listing.readings), len(listing.problems)
    page.line(f"{count(keys, 'key')}, {count(problems, 'problem')}")
    return page.render()


def listing_wire(listing: Listing) -> dict[str, Any]:
    """Return a listing as fresh JSON data."""
    return {
        "keys": [reading_wire(one) for one in listing.readings],
        "problems": [problem_wire(problem) for problem in listing.problems],
    }


# Changes.


def render_change(change: ConfigChange, screen: Screen) -> str:
    """Return what a change came to, one line for each key."""
    page = Page(screen)
    for one in change.effects:
        found = one.reading.effective
        page.line((safe(one.reading.key), "bold"), f" is now {_said(found)}")
        if not one.took:
            page.line((_overruled(one, change.file), "bold yellow"), indent=1)
        known, on = one.reading.known, found.on
        if known and known.type == "boolean" and on is not None:
            page.line(f"counts as {'on' if on else 'off'}", indent=1)
    if not change.written:
        page.line(f"{safe(change.file)} held that already")
    return page.render()


def _overruled(effect: Effect, file: str | None) -> str:
    found = effect.reading.effective
    if found.origin is Origin.UNREADABLE:
        return "nobody can know whether it counts"
    return f"{_where(found)} decides before {safe(file)}"


def change_wire(change: ConfigChange) -> dict[str, Any]:
    """Return a change as fresh JSON data."""
    return {
        "file": change.file,
        "written": change.written,
        "problems": [problem_wire(problem) for problem in change.problems],
        "effects": [
            {**reading_wire(one.reading), "took": one.took} for one in change.effects
        ],
    }

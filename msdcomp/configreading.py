"""What a configuration says: the value of a key, or of every key, and why.

A read is typed by the composed schema and tells the whole chain: which layer decided,
what it decided over, to whom the key belongs. What a value switches is never judged
here: that is the answer of `msdcomp.configlayers.lookup`, the same for every command.
Source: docs/reference/configuration.md, "Reading".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs
from pyrsistent import PMap

from msdcomp.activation import mismatch, unreadable
from msdcomp.configlayers import (
    CONFIGURED,
    ConfigLayers,
    Effective,
    Origin,
    Unreadable,
    lookup,
)
from msdcomp.configschema import (
    ConfigSchema,
    KnownKey,
    shown,
    takes,
    unknown_hint,
)
from msdcomp.diagnostics import Problem, Severity, pointer
from msdcomp.manifest.names import Json
from msdcomp.records import Record
from msdcomp.safetext import safe

__all__ = ["MAX_UNKNOWN", "Listing", "Reading", "list_keys", "read"]

#: Most unknown keys of one file that are told of; the rest is counted.
MAX_UNKNOWN = 100

#: Longest path of an unknown key that is repeated whole, in characters.
_LONGEST_PATH = 300


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Reading(Record):
    """The value of one key, where it comes from, and what it was taken before.

    Attributes:
        effective: What `msdcomp.configlayers.lookup` says.
        known: What is declared about the key; None when nobody declares it.
        overrides: What the key would be without the layer that decided, without the
            next one as well, and so on down to the default.
        suggestion: The declared key that was probably meant; only of an unknown one.
    """

    effective: Effective
    known: KnownKey | None = None
    overrides: tuple[Effective, ...] = ()
    suggestion: str | None = None

    @property
    def key(self) -> str:
        """The dotted key."""
        return self.effective.key

    @property
    def fits(self) -> bool | None:
        """Whether the value is of the declared type; None as in the effective value."""
        return self.effective.fits

    def problems(self) -> tuple[Problem, ...]:
        """Return what is to be reported of the value."""
        if self.effective.origin is Origin.UNREADABLE:
            said = "nothing is decided by it"
            return (unreadable(self.effective, f"{safe(self.key)}", said),)
        found = mismatch(self.effective)
        if found is None and self.fits is False and self.known is not None:
            found = _misfit(self.effective, self.known)
        return () if found is None else (found,)


def _misfit(effective: Effective, known: KnownKey) -> Problem:
    layer = effective.file or "the configuration given"
    return Problem(
        code="config-type-mismatch",
        severity=Severity.WARNING,
        path=pointer(*effective.key.split(".")),
        message=(
            f"{safe(effective.key)} takes {takes(known)}, but {safe(layer)} sets it to"
            f" {shown(effective.value)}"
        ),
        hint="Set it to a value of that type.",
        file=effective.file,
    )


def _peeled(layers: ConfigLayers) -> tuple[ConfigLayers, ...]:
    """Return layers, and what is left of them without the first, the second, all."""
    found = [layers]
    for name in ("explicit", "workstream", "project"):
        if getattr(layers, name) is not None:
            found.append(attrs.evolve(found[-1], **{name: None}))
    return tuple(found)


def read(key: str, layers: ConfigLayers, schema: ConfigSchema) -> Reading:
    """Return the value of a key and all that led to it.

    Args:
        key: The dotted key; one that nobody declares is looked up like any other.
        layers: The configuration.
        schema: The composed schema.
    """
    return _read(key, _peeled(layers), schema)


def _read(key: str, peeled: Sequence[ConfigLayers], schema: ConfigSchema) -> Reading:
    effective = lookup(key, peeled[0], schema.slices)
    known = schema.known(key)
    overrides: list[Effective] = []
    decided = effective
    for rest in peeled[1:]:
        if decided.layer is None:
            break
        if getattr(rest, decided.layer.value) is not None:
            continue
        decided = lookup(key, rest, schema.slices)
        if decided.origin is not Origin.ABSENT:
            overrides.append(decided)
    return Reading(
        effective=effective,
        known=known,
        overrides=tuple(overrides),
        suggestion=schema.suggest(key) if known is None else None,
    )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Listing(Record):
    """Every key of a schema and of a configuration, and what is wrong there.

    Attributes:
        readings: By key: those with a value, or all of them.
        problems: Files that cannot be read, values that do not fit, unknown keys.
    """

    readings: tuple[Reading, ...]
    problems: tuple[Problem, ...]

    @property
    def readable(self) -> bool:
        """Whether every layer could be read."""
        return all(p.code != "config-unreadable" for p in self.problems)


def list_keys(
    layers: ConfigLayers, schema: ConfigSchema, *, absent: bool = False
) -> Listing:
    """Return every key that has a value here, and what is to be reported.

    Args:
        layers: The configuration.
        schema: The composed schema.
        absent: Include declared keys that have none.
    """
    peeled = _peeled(layers)
    known = set(schema.keys)
    strange: list[Problem] = []
    for origin, layer in layers.in_order():
        file = layers.file(origin)
        if isinstance(layer, Unreadable):
            strange.append(_damaged(origin, file, layer))
        elif isinstance(layer, PMap):
            found, unknown = _walk(layer, schema)
            known.update(found)
            strange += _unknown(unknown, origin, file, schema)
    readings = [_read(key, peeled, schema) for key in sorted(known)]
    return Listing(
        readings=tuple(
            one
            for one in readings
            if absent or one.effective.origin is not Origin.ABSENT
        ),
        problems=(
            *strange,
            *(
                problem
                for one in readings
                if one.effective.origin in CONFIGURED
                for problem in one.problems()
            ),
        ),
    )


def _damaged(origin: Origin, file: str | None, layer: Unreadable) -> Problem:
    name = safe(file) if file else f"the {origin} configuration"
    return Problem(
        code="config-unreadable",
        severity=Severity.ERROR,
        message=f"{name} cannot be read ({safe(layer.reason)}), so nothing that it, or"
        " a layer below it, might decide is known",
        hint="Correct the configuration file; defaults are not used instead.",
        file=file,
    )


#: Where a key stands, as the names of objects, and what stands there.
_Place = tuple[tuple[str, ...], Json]


def _walk(
    layer: PMap[str, Json], schema: ConfigSchema
) -> tuple[list[str], list[_Place]]:
    """Return the declared keys that a layer sets, and whatever else is in it."""
    found: list[str] = []
    unknown: list[_Place] = []
    frontier: list[tuple[_Place, bool]] = [
        (((name,), layer[name]), False) for name in layer
    ]
    while frontier:
        (path, value), covered = frontier.pop()
        key = ".".join(path)
        # A name with a dot in it is no part of any key.
        plain = all(name and "." not in name for name in path)
        known = plain and schema.known(key) is not None
        # No key is that long, and the names in a path are put together again and again.
        short = len(key) <= _LONGEST_PATH
        inside = plain and short and isinstance(value, PMap)
        if known:
            found.append(key)
            # What else lies in a key of the host's is a part of its value.
            inside, covered = inside and schema.holds_keys(key), True
        elif not (inside and schema.may_hold_keys(key)):
            if not covered:
                unknown.append((path, value))
            continue
        if inside and isinstance(value, PMap):
            frontier += [(((*path, name), value[name]), covered) for name in value]
    return found, sorted(unknown, key=lambda place: place[0])


def _unknown(
    places: Sequence[_Place], origin: Origin, file: str | None, schema: ConfigSchema
) -> Iterator[Problem]:
    where = safe(file) if file else f"the {origin} configuration"
    for path, value in places[:MAX_UNKNOWN]:
        message, hint = _strange(path, value, schema)
        yield Problem(
            code="unknown-config-key",
            severity=Severity.WARNING,
            path=pointer(*path) if sum(map(len, path)) <= _LONGEST_PATH else "",
            message=f"{message}, in {where}",
            hint=hint,
            file=file,
        )
    more = len(places) - MAX_UNKNOWN
    if more > 0:
        yield Problem(
            code="unknown-config-key",
            severity=Severity.WARNING,
            message=f"{more} more keys that nobody declares, in {where}",
            file=file,
        )


def _strange(
    path: tuple[str, ...], value: Json, schema: ConfigSchema
) -> tuple[str, str]:
    key = ".".join(path)
    if any("." in name for name in path):
        return (
            f'the name "{safe(path[-1], 80)}" holds a dot, so no key reaches it',
            "Write one object for each part of a key.",
        )
    if schema.holds_keys(key):
        message = (
            f"{safe(key, 120)} must be an object, since it has keys in it, and is"
            f" {shown(value)}"
        )
        return message, "Put an object there, or take it out."
    return f"nobody declares {safe(key, 120)}", unknown_hint(key, schema)

"""Whether a value may be set, and what came of setting it.

A key has to be declared, and a value to be what it takes.

Everything is decided before anything is written, and every refusal is told.
Source: docs/reference/configuration.md, "Writing".
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from pyrsistent import PMap, pmap

from msdcomp.configlayers import INHERITED, MAX_LEVELS, ConfigLayers, Origin, lookup
from msdcomp.configreading import Reading
from msdcomp.configschema import (
    ConfigSchema,
    KnownKey,
    fits,
    shown,
    takes,
    unknown_hint,
)
from msdcomp.diagnostics import Problem, pointer
from msdcomp.frozenjson import equal
from msdcomp.manifest.names import Json
from msdcomp.records import Record
from msdcomp.registry import Registry
from msdcomp.safetext import safe
from msdcomp.spelling import closest

__all__ = [
    "ConfigChange",
    "ConfigEdit",
    "Effect",
    "check_gates",
    "check_key",
    "check_set",
    "effect",
]

#: Most switches of a capability that a refusal repeats.
_MOST_SHOWN = 10


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigEdit(Record):
    """One key of a file, and what becomes of it.

    Attributes:
        key: The dotted key.
        value: What it is to be.
        unset: It is to be taken out instead.
    """

    key: str
    value: Json = None
    unset: bool = False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Effect(Record):
    """What a change of one key came to, read anew.

    Attributes:
        edit: What was asked for.
        reading: The key as everybody finds it now.
        took: Whether the layer that was written decides, or after an unset no longer
            has the key.
    """

    edit: ConfigEdit
    reading: Reading
    took: bool


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigChange(Record):
    """What came of a wish to change a configuration.

    Attributes:
        file: The file, relative to the project; None when its name is no good.
        problems: Why nothing was done.
        written: Whether the file is another one now.
        effects: What every key came to; empty where something was refused.
    """

    file: str | None = None
    problems: tuple[Problem, ...] = ()
    written: bool = False
    effects: tuple[Effect, ...] = ()

    @property
    def done(self) -> bool:
        """Whether the file holds what was asked for."""
        return not self.problems


def effect(edit: ConfigEdit, reading: Reading, own: Origin) -> Effect:
    """Return what an edit came to.

    Args:
        edit: What was asked for.
        reading: The key, read anew.
        own: The layer that was written.
    """
    found = reading.effective
    if edit.unset:
        took = found.layer is not own
    else:
        took = found.origin is own and equal(found.value, edit.value)
    return Effect(edit=edit, reading=reading, took=took)


# What may be set.


def _refused(code: str, key: str, message: str, hint: str | None = None) -> Problem:
    return Problem(code=code, path=pointer(*key.split(".")), message=message, hint=hint)


def check_key(key: str) -> Problem | None:
    """Return why no value can be set under a key, whoever declares it, or None."""
    parts = key.split(".")
    if not all(parts):
        message = f'"{safe(key, 80)}" is no dotted key: a part of it is empty'
    elif not INHERITED.isdisjoint(parts):
        message = f'"{safe(key, 80)}" has a part that no host would find'
    elif len(parts) >= MAX_LEVELS:
        message = f"a key has less than {MAX_LEVELS} parts, got {len(parts)}"
    else:
        return None
    return _refused("bad-config-key", key, message)


def check_set(
    key: str, value: Json, schema: ConfigSchema, *, force: bool = False
) -> tuple[Problem, ...]:
    """Return why a value may not be set, as far as the schema tells.

    Args:
        key: The dotted key.
        value: What it is to be.
        schema: The composed schema.
        force: Let a key pass that nobody declares.
    """
    if (bad := check_key(key)) is not None:
        return (bad,)
    above = schema.typed_above(key)
    if above is not None:
        message = (
            f"{safe(key, 80)} lies below {safe(above.key, 80)}, a key of {above.owner}"
            f" that takes {takes(above)}"
        )
        return (_refused("config-key-overlap", key, message),)
    known = schema.known(key)
    below = schema.below(key)
    if below and not isinstance(value, PMap):
        message = (
            f"{safe(key, 80)} has keys below it, such as {safe(below[0], 80)}, so it"
            f" must be an object, got {shown(value)}"
        )
        return (_refused("config-key-overlap", key, message),)
    if known is None and not (force and not schema.holds_keys(key)):
        if schema.holds_keys(key):
            message = f"{safe(key, 80)} is no key, but an object with keys in it"
            return (_refused("unknown-config-key", key, message, "Set one of those."),)
        message = f"nobody declares {safe(key, 80)}"
        return (
            _refused("unknown-config-key", key, message, unknown_hint(key, schema)),
        )
    found = [] if known is None or fits(known, value) else [_unfit(known, value)]
    inner = ConfigLayers.of(_nested(key, value))
    for name in below:
        held = lookup(name, inner, {})
        own = schema.known(name)
        if held.found and own is not None and not fits(own, held.value):
            found.append(_unfit(own, held.value))
    return tuple(found)


def _unfit(known: KnownKey, value: Json) -> Problem:
    quote = " Quote a text as JSON to keep it one." if known.type == "string" else ""
    return _refused(
        "config-type-mismatch",
        known.key,
        f"{safe(known.key, 80)} takes {takes(known)}, got {shown(value)}",
        f"Give it a value of that type.{quote}",
    )


def _nested(key: str, value: Json) -> Json:
    nested = value
    for name in reversed(key.split(".")):
        nested = pmap({name: nested})
    return nested


def check_gates(
    registry: Registry, schema: ConfigSchema, capability_id: str, keys: Sequence[str]
) -> tuple[Problem, ...]:
    """Return why keys are not boolean slices of a capability, all of them.

    Args:
        registry: The composed registry.
        schema: Its composed schema.
        capability_id: Whose keys they are meant to be.
        keys: The dotted keys.
    """
    if capability_id not in registry.capabilities:
        message = f"no capability {safe(capability_id, 80)} is composed here"
        meant = _meant(capability_id, list(map(str, registry.capabilities)))
        return (Problem(code="unknown-capability", message=message, hint=meant),)
    switches = sorted(
        key
        for key, slice_ in schema.slices.items()
        if slice_.owner == capability_id and slice_.type == "boolean"
    )
    return tuple(
        _no_switch(key, capability_id, schema, switches)
        for key in dict.fromkeys(keys)
        if key not in switches
    )


def _no_switch(
    key: str, capability_id: str, schema: ConfigSchema, switches: Sequence[str]
) -> Problem:
    """Return what a key is, that is no switch of a capability."""
    known = schema.known(key)
    name, whose = safe(key, 80), safe(capability_id, 80)
    listed = ", ".join(safe(switch, 80) for switch in switches[:_MOST_SHOWN])
    hint = _meant(key, switches) or (
        f"The switches of {whose}: {listed}." if listed else f"{whose} has no switch."
    )
    if known is None:
        return _refused("unknown-config-key", key, f"nobody declares {name}", hint)
    if known.central or known.owner != capability_id:
        owner = "the host" if known.central else safe(known.owner, 80)
        message = f"{name} is no key of {whose}; it belongs to {owner}"
        return _refused("foreign-config-key", key, message, hint)
    message = f"{name} is no switch: it takes {takes(known)}"
    hint = f"Use `msd config set {name} VALUE`."
    return _refused("config-type-mismatch", key, message, hint)


def _meant(text: str, options: Sequence[str]) -> str | None:
    meant = closest(text, options)
    return None if meant is None else f"Did you mean {safe(meant, 80)}?"

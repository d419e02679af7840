"""The configuration at hand, and the value a key has in it.

A key is looked up in layers: what the caller gives explicitly, the file of the active
workstream, the file of the project, and last the default of the key's slice in the
registry. The first layer that has the key decides, even when it holds null.

A layer that exists but cannot be read stops the search: it might have held the key,
so anything below it would be a guess. The value is then `unreadable`, whatever depends
on it counts as "could not check", and nothing falls back to a default.
Source: docs/reference/activation.md.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import attrs
from pyrsistent import PMap, PVector, pmap

from msdcomp.manifest.names import Json
from msdcomp.records import Record

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

__all__ = [
    "CONFIGURED",
    "INHERITED",
    "MAX_LEVELS",
    "ConfigLayers",
    "Effective",
    "Layer",
    "Origin",
    "Schema",
    "Slice",
    "Unreadable",
    "digits",
    "freeze_json",
    "is_of_type",
    "lookup",
    "truthy",
]

#: Deepest nesting of a configuration value, the limit of manifests too.
MAX_LEVELS = 200

#: Segments that are inherited by every JavaScript object, so no host would find a
#: user's own value there.
INHERITED = frozenset({"__proto__", "constructor", "prototype"})

#: Texts that people write into a boolean key when they mean false.
_OFF = frozenset({"", "0", "false", "no", "off"})


class Origin(enum.StrEnum):
    """Where the value of a key came from."""

    EXPLICIT = "explicit"
    WORKSTREAM = "workstream"
    PROJECT = "project"
    #: The slice that a capability of the registry declares for the key.
    DEFAULT = "default"
    #: No layer has the key and nothing declares it.
    ABSENT = "absent"
    #: A layer that might have the key cannot be read.
    UNREADABLE = "unreadable"


#: Where somebody has said something, and nothing was derived.
CONFIGURED = frozenset({Origin.EXPLICIT, Origin.WORKSTREAM, Origin.PROJECT})


@attrs.frozen(eq=False, repr=False)
class Unreadable(Record):
    """A layer that exists but tells nothing, and why, in one sentence."""

    reason: str


#: A layer in immutable form; None when there is no such layer.
Layer: TypeAlias = "Json | Unreadable"


class Slice(Protocol):
    """What activation needs of a configuration slice."""

    @property
    def type(self) -> str | None:
        """`boolean`, `number`, `string` or `enum`; None when unknown."""

    @property
    def default(self) -> Json:
        """The value of a key that is configured nowhere."""


#: Key -> slice. The key type is open because a mapping is invariant in it, and a
#: registry's own keys are of a narrower type than text.
Schema: TypeAlias = Mapping[Any, Slice]


def freeze_json(value: object, levels: int = MAX_LEVELS) -> Json:
    """Return a JSON value in immutable form.

    Raises:
        ValueError: The value nests deeper than `levels` or is not JSON; its text says
            which, and repeats nothing of the value.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if levels <= 0:
        raise ValueError(f"is nested deeper than {MAX_LEVELS} levels")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("has a key that is not a string")
        return pmap({key: freeze_json(item, levels - 1) for key, item in value.items()})
    if isinstance(value, list | tuple | PVector):
        return tuple(freeze_json(item, levels - 1) for item in value)
    raise ValueError("holds a value that is not JSON")


def _explicit_layer(value: object) -> Layer:
    if isinstance(value, Unreadable):
        return value
    try:
        return freeze_json(value)
    except ValueError as error:
        return Unreadable(f"it {error}")


def _file_layer(value: object) -> Layer:
    # A caller's own value may be any JSON; a file that holds no object is damaged.
    if value is None or isinstance(value, Mapping | Unreadable):
        return _explicit_layer(value)
    return Unreadable("it holds JSON, but not one object")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigLayers(Record):
    """The configuration at hand, one layer over the other.

    Each layer is given as a JSON mapping (frozen on the way in), as `Unreadable`, or
    as None when it does not exist. A file layer that is JSON but no object, and any
    layer that is not JSON or too deep, becomes `Unreadable`.

    Attributes:
        explicit: Values given with the call; first in precedence.
        workstream: The configuration file of the active workstream.
        project: The configuration file of the project.
        workstream_file: Where the workstream's file lies, relative to the project.
        project_file: The same for the project's own.

    >>> layers = ConfigLayers.of({"ui": {"on": False}})
    >>> lookup("ui.on", layers, {}).origin
    <Origin.EXPLICIT: 'explicit'>
    """

    explicit: Layer = attrs.field(default=None, converter=_explicit_layer)
    workstream: Layer = attrs.field(default=None, converter=_file_layer)
    project: Layer = attrs.field(default=None, converter=_file_layer)
    workstream_file: str | None = None
    project_file: str | None = ".planning/config.json"

    @classmethod
    def of(cls, config: object) -> ConfigLayers:
        """Return layers of explicit values alone; layers are returned as they are."""
        return config if isinstance(config, ConfigLayers) else cls(explicit=config)

    def in_order(self) -> Iterator[tuple[Origin, Layer]]:
        """Yield the layers that exist, in the order of precedence."""
        for origin, layer in (
            (Origin.EXPLICIT, self.explicit),
            (Origin.WORKSTREAM, self.workstream),
            (Origin.PROJECT, self.project),
        ):
            if layer is not None:
                yield origin, layer

    def file(self, origin: Origin) -> str | None:
        """Return the file behind a layer, or None for what is no file."""
        if origin is Origin.WORKSTREAM:
            return self.workstream_file
        return self.project_file if origin is Origin.PROJECT else None


def is_of_type(value: Json, kind: str | None, values: Collection[str] = ()) -> bool:
    """Tell whether a value is of the type of a slice.

    Null is of every type: it is how a value is taken back without taking the key out.

    Args:
        value: Any JSON.
        kind: `boolean`, `number`, `string` or `enum`; everything is of any other type.
        values: All that an enum takes; nothing where that is unknown.

    >>> is_of_type(True, "number"), is_of_type("b", "enum", ("a",))
    (False, False)
    """
    if value is None:
        return True
    if kind == "boolean":
        return isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind == "enum":
        return isinstance(value, str) and (not values or value in values)
    return kind != "string" or isinstance(value, str)


def digits(value: float) -> str:
    """Return a number in at most 40 characters.

    Python refuses to write the digits of a huge integer, which only a caller in Python
    can hand over; then its size is told.

    >>> digits(0.5), digits(10**5000)
    ('0.5', 'of 16610 bits')
    """
    if isinstance(value, int) and value.bit_length() > 128:
        return f"of {value.bit_length()} bits"
    return f"{value!r:.40}"


def truthy(value: Json) -> bool:
    """Tell whether JavaScript takes a value for true.

    Unlike in Python an empty list or object is true, and NaN is false.

    >>> truthy(()), truthy("no"), truthy(0), truthy("")
    (True, True, False, False)
    """
    if isinstance(value, float):
        return value == value and value != 0  # noqa: PLR0124 - NaN differs from itself
    if value is None or isinstance(value, str | int):
        return bool(value)
    return True


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Effective(Record):
    """The value a key has, and why.

    Attributes:
        key: The dotted key.
        origin: The layer that decided.
        value: Its value; None when `origin` is `absent` or `unreadable`.
        type: Type of the key's slice; None when nothing declares the key.
        fits: Whether the value is of that type; None where there is neither a value
            nor a type to hold it against.
        layer: The layer that holds the value or could not be read; None otherwise.
        reason: Why that layer could not be read.
        file: File of that layer, if it is one.
    """

    key: str
    origin: Origin
    value: Json = None
    type: str | None = None
    fits: bool | None = None
    layer: Origin | None = None
    reason: str | None = None
    file: str | None = None

    @property
    def found(self) -> bool:
        """Whether some layer, or a default, holds a value."""
        return self.origin not in (Origin.ABSENT, Origin.UNREADABLE)

    @property
    def on(self) -> bool | None:
        """Whether the key switches on what depends on it; None if it is unreadable.

        Truth is JavaScript's, with one exception: in a boolean slice the texts false,
        off, no, 0 and the empty text are off, in any letter case and with any space
        around them, since nobody who writes them means true.
        """
        if self.origin is Origin.UNREADABLE:
            return None
        if self.type == "boolean" and isinstance(self.value, str):
            return self.value.strip().lower() not in _OFF
        return truthy(self.value)


def _own(value: Json, path: list[str]) -> tuple[Json] | None:
    """Follow a path through own properties; a 1-tuple, so that null can be found."""
    for segment in path:
        if isinstance(value, PMap):
            if segment not in value:
                return None
            value = value[segment]
        elif isinstance(value, tuple):
            # At most nine digits: a longer index has no list to point into.
            if not (segment.isascii() and segment.isdigit() and len(segment) < 10):
                return None
            index = int(segment)
            if str(index) != segment or index >= len(value):
                return None
            value = value[index]
        else:
            return None
    return (value,)


def lookup(key: str, layers: ConfigLayers, schema: Schema) -> Effective:
    """Return the value of a dotted key, and which layer decided.

    Each segment names an own property of an object or, in a list, an index without
    leading zeros. A literal key with dots in it is never matched, nor is any key with
    a segment `__proto__`, `constructor` or `prototype`.

    Args:
        key: Dotted key, `workflow.ui_review`.
        layers: The configuration.
        schema: Key -> slice, for the type and the default.

    Cost: grows with the segments of the key.
    """
    path = key.split(".")
    if not INHERITED.isdisjoint(path):
        return Effective(key=key, origin=Origin.ABSENT)
    declared = schema.get(key)
    kind = declared.type if declared is not None else None
    for origin, layer in layers.in_order():
        if isinstance(layer, Unreadable):
            return Effective(
                key=key,
                origin=Origin.UNREADABLE,
                type=kind,
                layer=origin,
                reason=layer.reason,
                file=layers.file(origin),
            )
        held = _own(layer, path)
        if held is not None:
            return Effective(
                key=key,
                origin=origin,
                value=held[0],
                type=kind,
                fits=_fits(held[0], declared),
                layer=origin,
                file=layers.file(origin),
            )
    if declared is None:
        return Effective(key=key, origin=Origin.ABSENT)
    return Effective(
        key=key,
        origin=Origin.DEFAULT,
        value=declared.default,
        type=kind,
        fits=_fits(declared.default, declared),
    )


def _fits(value: Json, declared: Slice | None) -> bool | None:
    if declared is None or declared.type is None:
        return None
    # Only the slices of a registry say what an enum takes.
    values = getattr(declared, "values", None) or ()
    return is_of_type(value, declared.type, values)

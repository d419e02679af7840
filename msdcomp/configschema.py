"""The configuration keys that count in a project, and what each of them takes.

The host's own keys and the slices of every composed capability make one schema.
Source: docs/reference/configuration.md, "The schema".
"""

from __future__ import annotations

import attrs
from pyrsistent import PMap, pmap

from msdcomp.configlayers import digits, is_of_type
from msdcomp.host import CentralConfig, enclosing
from msdcomp.manifest.names import ConfigKey, Json, Scalar
from msdcomp.records import Record
from msdcomp.registry import OwnedSlice, Registry
from msdcomp.safetext import safe
from msdcomp.spelling import MAX_TEXT, closest, is_slip

__all__ = [
    "HOST",
    "ConfigSchema",
    "KnownKey",
    "fits",
    "shown",
    "takes",
    "unknown_hint",
]

#: How the owner of the host's own keys is called.
HOST = "host"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class KnownKey(Record):
    """A configuration key that somebody declares.

    Attributes:
        key: The dotted key.
        owner: Id of the capability, or `host`.
        central: Whether it is the host's own; a capability may be called `host`, too.
        type: `boolean`, `number`, `string` or `enum`; None for the host's own, whose
            schema names keys and no types.
        default: What it is where nobody sets it; None for the host's own.
        values: All that an enum takes.
        description: What it is for; empty for the host's own.
    """

    key: str
    owner: str
    central: bool = False
    type: str | None = None
    default: Scalar = None
    values: tuple[str, ...] = ()
    description: str = ""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigSchema(Record):
    """One schema: the host's own keys and the slices of the composed capabilities.

    Attributes:
        slices: Key -> slice and owner, as in a registry.
        central: The host's own keys and patterns of keys.
    """

    slices: PMap[ConfigKey, OwnedSlice] = attrs.field(factory=pmap)
    central: CentralConfig = attrs.field(factory=CentralConfig)
    #: Every key that is declared by name, sorted.
    keys: tuple[str, ...] = attrs.field(init=False, eq=False, repr=False)
    _parents: frozenset[str] = attrs.field(init=False, eq=False, repr=False)

    @keys.default
    def _sort_keys(self) -> tuple[str, ...]:
        return tuple(sorted({*self.slices, *self.central.keys}))

    @_parents.default
    def _find_parents(self) -> frozenset[str]:
        return frozenset(above for key in self.keys for above in enclosing(key))

    @classmethod
    def of(cls, registry: Registry, central: CentralConfig) -> ConfigSchema:
        """Return the schema of a composed registry under a host's own keys."""
        return cls(slices=registry.config_schema, central=central)

    def __repr__(self) -> str:
        """Show the size only."""
        return f"<ConfigSchema of {len(self.keys)} keys>"

    def known(self, key: str) -> KnownKey | None:
        """Return what is declared about a key, or None when nobody declares it."""
        found = self.slices.get(ConfigKey(key))
        if found is not None:
            return KnownKey(
                key=key,
                owner=found.owner,
                type=found.type,
                default=found.default,
                values=tuple(found.values or ()),
                description=found.description,
            )
        if self.central.owns(key):
            return KnownKey(key=key, owner=HOST, central=True)
        return None

    def holds_keys(self, path: str) -> bool:
        """Tell whether a path is an object, because keys of the schema lie in it."""
        return path in self._parents or self.central.holds_keys(path)

    def may_hold_keys(self, path: str) -> bool:
        """Tell whether keys may lie in a path, as some pattern of the host's has it."""
        return self.holds_keys(path) or any(
            path.startswith(f"{head}.") for head in self.central.heads
        )

    def below(self, path: str) -> tuple[str, ...]:
        """Return the keys declared by name that lie below a path, sorted."""
        if path not in self._parents:
            return ()
        return tuple(key for key in self.keys if key.startswith(f"{path}."))

    def typed_above(self, key: str) -> KnownKey | None:
        """Return the key of some capability that a key lies below, if there is one.

        A slice holds a single value, so nothing can be put below it.
        """
        found = next((above for above in enclosing(key) if above in self.slices), None)
        return None if found is None else self.known(found)

    def suggest(self, key: str) -> str | None:
        """Return the declared key that somebody may have meant, if there is one."""
        if len(key) > MAX_TEXT:
            return None
        lowered = key.lower()
        near = [
            option
            for option in self.keys
            if abs(len(option) - len(key)) <= 1
            and (option.lower() == lowered or is_slip(lowered, option.lower()))
        ]
        return closest(key, near)


def fits(known: KnownKey, value: Json) -> bool:
    """Tell whether a value is of the type that a key declares.

    Null fits everywhere: it is how a value is taken back without taking the key out.
    Without a type everything fits.
    """
    return is_of_type(value, known.type, known.values)


def takes(known: KnownKey) -> str:
    """Return in words what a key takes."""
    if known.type == "boolean":
        return "true or false"
    if known.type == "number":
        return "a number"
    if known.type == "enum":
        return "one of " + ", ".join(f'"{safe(value, 40)}"' for value in known.values)
    return "a text" if known.type == "string" else "any JSON"


def shown(value: Json) -> str:
    """Return a value in a few safe words."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the text "{safe(value, 40)}"'
    if isinstance(value, int | float):
        return f"the number {digits(value)}"
    return "a list" if isinstance(value, tuple) else "an object"


def unknown_hint(key: str, schema: ConfigSchema) -> str:
    """Return what to do about a key that nobody declares."""
    meant = schema.suggest(key)
    if meant is not None:
        return f"Did you mean {safe(meant, 80)}?"
    return "It may belong to a capability that is not composed here."

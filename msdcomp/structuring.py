"""Plain JSON of a checked manifest to frozen records; the only user of cattrs.

Field names are derived: `on_error` is `onError` in the document. Nothing is converted
and nothing is checked twice: after a clean check every value has its type, so a hook
that meets another one has found a defect of this library and raises.
Source: docs/reference/wire-format.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Any, TypeAlias, Union, cast, get_args, get_origin

import attrs
from cattrs import Converter
from cattrs.gen import make_dict_structure_fn, override
from pyrsistent import PMap, pmap

from msdcomp.manifest import (
    ArtifactKind,
    ConfigHome,
    ConfigSlice,
    Contribution,
    GateCheck,
    HttpInvoke,
    Json,
    Manifest,
    Runtime,
    Scalar,
    SpawnInvoke,
)
from msdcomp.vocabulary import (
    HOST_PHASES,
    ON_ERROR,
    POINTS,
    RESERVED_NAMES,
    ROLES,
    SLICE_TYPES,
    TIERS,
)

__all__ = ["structure", "wire_name"]

_Hook: TypeAlias = Callable[[Any, Any], Any]


def _strict(*types: type) -> _Hook:
    """Return a hook that takes values of exactly these types, and converts nothing."""
    # The types have names in errors; `in` on a small tuple is the fastest test.
    allowed = types

    def read(value: object, _: object) -> object:
        if type(value) in allowed:
            return value
        message = f"expected {sorted(t.__name__ for t in allowed)}, got {value!r:.80}"
        raise TypeError(message)

    return read


def _whole(value: object, _: object) -> int:
    # Beyond 2^53 an integral JSON number is a float; `type`, since True is an int.
    if isinstance(value, int | float) and type(value) is not bool and value % 1 == 0:
        return int(value)
    message = f"expected a whole number, got {value!r:.80}"
    raise TypeError(message)


def _whole_or(other: type) -> _Hook:
    def read(value: object, _: object) -> object:
        return value if type(value) is other else _whole(value, None)

    return read


def _as_it_is(value: object, _: object) -> object:
    return value


def _text_if_text(value: object, _: object) -> str | None:
    """Read a field that no rule looks at: text, or nothing usable."""
    return value if isinstance(value, str) else None


def _aliases(value: object, _: object) -> PMap[str, str]:
    """Read the aliases of a contribution, leaving out what names no key."""
    pairs = value.items() if isinstance(value, dict) else ()
    return pmap({name: key for name, key in pairs if isinstance(key, str)})


def _texts_only(value: object, _: object) -> tuple[str, ...]:
    """Read the values of a slice, which no rule looks at unless it is an enum."""
    return tuple(_texts(value))


def freeze(value: object) -> Json:
    """Return plain JSON in immutable form: persistent maps and tuples."""
    if isinstance(value, dict):
        return pmap({key: freeze(entry) for key, entry in value.items()})
    if isinstance(value, list):
        return tuple(freeze(entry) for entry in value)
    return cast(Json, value)


def _frozen(value: object, _: object) -> Json:
    return freeze(value)


def _switches(value: object, _: object) -> Json:
    return freeze(value) if isinstance(value, dict) else pmap()


#: Fields whose value is read in a way their type does not tell.
_SPECIAL: dict[tuple[type, str], _Hook] = {
    (ArtifactKind, "home"): _text_if_text,
    (ConfigSlice, "values"): _texts_only,
    (ConfigHome, "parent"): _text_if_text,
    (Contribution, "config_values"): _aliases,
    (GateCheck, "agent_verdict"): _frozen,
    (GateCheck, "predicate"): _frozen,
    (HttpInvoke, "default_host"): _text_if_text,
    (HttpInvoke, "fallback_model"): _text_if_text,
    (Runtime, "host_behaviors"): _switches,
}


def wire_name(attribute: attrs.Attribute[object]) -> str:
    """Return what a field is called in a document."""
    named = attribute.metadata.get("wire")
    if named is not None:
        return str(named)
    first, *rest = str(attribute.alias).split("_")
    return first + "".join(part.capitalize() for part in rest)


def _record_hook(cls: type) -> _Hook:
    """Return the function that reads one record, generated when it is first used.

    Generating takes a millisecond, and few hosts have a record of every kind.
    """
    made: list[_Hook] = []

    def read(value: object, type_: object) -> object:
        if not made:
            made.append(_generated(cls))
        return made[0](value, type_)

    return read


def _generated(cls: type) -> _Hook:
    """Generate the function that reads one record by its wire names."""
    # `Json` refers to itself, which cannot be resolved; its fields are special anyway.
    attrs.resolve_types(cls, localns={"Json": Any})
    overrides = {}
    for attribute in attrs.fields(cls):
        name, hook = wire_name(attribute), _SPECIAL.get((cls, attribute.name))
        # Only where needed: a field may be called like a parameter of the generator.
        if name != attribute.name or hook is not None:
            overrides[attribute.name] = override(rename=name, struct_hook=hook)
    return make_dict_structure_fn(cls, _CONVERTER, **overrides)  # type: ignore[arg-type]


_TEXT = {str}

#: Words that many manifests say. Each is kept once: a set of ten thousand manifests is
#: smaller by a quarter, and what is smaller is also gone through faster.
_WORDS: dict[str, str] = {
    word: word
    for words in (
        POINTS,
        ROLES,
        TIERS,
        ON_ERROR,
        SLICE_TYPES,
        *((*roles, *gives, *takes) for _, _, roles, gives, takes in HOST_PHASES),
    )
    for word in words
}


def _word(value: object, _: object) -> str:
    if type(value) is str:
        return _WORDS.get(value, value)
    raise TypeError(f"expected text, got {value!r:.80}")


def _word_or_none(value: object, _: object) -> str | None:
    return None if value is None else _word(value, None)


def _texts_of(value: Sequence[str]) -> tuple[str, ...]:
    return tuple([_WORDS.get(text, text) for text in value])


def _tuple_hook(type_: object) -> _Hook:
    item = get_args(type_)[0]
    hook = _CONVERTER.get_structure_hook(item)
    # A NewType names the type it was made of.
    item_is_text = getattr(item, "__supertype__", item) is str

    def read(value: object, _: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            message = f"expected a list, got {value!r:.80}"
            raise TypeError(message)
        if item_is_text and set(map(type, value)) <= _TEXT:
            return _texts_of(value) if value else ()
        return tuple([hook(entry, item) for entry in value])

    return read


def _map_hook(type_: object) -> _Hook:
    item = get_args(type_)[1]
    hook = _CONVERTER.get_structure_hook(item)

    def read(value: object, _: object) -> PMap[str, object]:
        pairs = cast(dict[str, object], value).items()
        return pmap({key: hook(entry, item) for key, entry in pairs})

    return read


def _optional_hook(type_: object) -> _Hook:
    cls = get_args(type_)[0]
    hook = _CONVERTER.get_structure_hook(cls)

    def read(value: object, _: object) -> object:
        return None if value is None else hook(value, cls)

    return read


def _is(type_: object, generic: object) -> bool:
    origin: object = get_origin(type_)
    return origin is generic


def _is_optional_record(type_: object) -> bool:
    arguments = get_args(type_)
    return (
        get_origin(type_) in {UnionType, Union}
        and len(arguments) == 2
        and attrs.has(arguments[0])
        and arguments[1] is NoneType
    )


def _invoke_hook(value: object, _: object) -> SpawnInvoke | HttpInvoke:
    # The rules keep the fields of the two transports apart.
    if "hostConfigKey" in cast(dict[str, object], value):
        return _CONVERTER.structure(value, HttpInvoke)
    return _CONVERTER.structure(value, SpawnInvoke)


_CONVERTER = Converter(detailed_validation=False)
_CONVERTER.register_structure_hook(str, _word)
_CONVERTER.register_structure_hook(bool, _strict(bool))
_CONVERTER.register_structure_hook(int, _whole)
for _union, _hook in (
    (str | None, _word_or_none),
    (bool | None, _strict(bool, NoneType)),
    (bool | str, _strict(bool, str)),
    (int | str, _whole_or(str)),
    (int | str | None, _whole_or(str)),
    (Scalar, _strict(str, int, float, bool, NoneType)),
    (SpawnInvoke | HttpInvoke, _invoke_hook),
):
    _CONVERTER.register_structure_hook(_union, _hook)
_CONVERTER.register_structure_hook_factory(attrs.has, _record_hook)
_CONVERTER.register_structure_hook_factory(lambda type_: _is(type_, tuple), _tuple_hook)
_CONVERTER.register_structure_hook_factory(lambda type_: _is(type_, PMap), _map_hook)
_CONVERTER.register_structure_hook_factory(_is_optional_record, _optional_hook)


def _slices(value: dict[str, object], role: object) -> dict[str, object]:
    config = value.get("config")
    if not isinstance(config, dict):
        return {}
    if role == "feature":
        return config
    # The rules pass reserved keys over where they do not refuse them.
    return {key: entry for key, entry in config.items() if key not in RESERVED_NAMES}


def _families(value: dict[str, object]) -> list[dict[str, object]]:
    """Return command families in a shape that can be structured.

    Only features are held to the full shape; elsewhere a family is still claimed.
    """
    commands = value.get("commands")
    if not isinstance(commands, list):
        return []
    return [
        {
            "family": entry["family"],
            "module": _text_if_text(entry.get("module"), None),
            "router": _text_if_text(entry.get("router"), None),
            "subcommands": _texts(entry.get("subcommands")),
        }
        for entry in commands
        if isinstance(entry, dict)
        and isinstance(entry.get("family"), str)
        and entry["family"]
    ]


def _texts(value: object) -> list[str]:
    entries = value if isinstance(value, list) else []
    return [entry for entry in entries if isinstance(entry, str)]


def structure(value: dict[str, Any], document: bytes | Callable[[], bytes]) -> Manifest:
    """Return the records of a manifest that has no fault.

    Args:
        value: The manifest as plain JSON; not changed.
        document: The same as canonical bytes, or what makes them when asked.

    Raises:
        Exception: `value` was not checked, or the check missed something.
    """
    role = value["role"]
    fields = dict(value)
    fields["document"] = document
    fields["config"] = _slices(value, role)
    fields["commands"] = _families(value)
    # The body of a feature lies beside the envelope; the others have a field.
    fields["feature"] = value if role == "feature" else None
    if role != "runtime":
        fields["runtime"] = None
    return cast(Manifest, _MANIFEST(fields, Manifest))


_CONVERTER.register_structure_hook(bytes | Callable[[], bytes], _as_it_is)
_MANIFEST = _CONVERTER.get_structure_hook(Manifest)

"""A registry read back from its wire form, as far as `resolve` needs it.

A JavaScript host keeps a composed registry as JSON, and what it hands over may have
been cut, merged or edited. Nothing here raises: a list with junk in it loses the junk,
a field of the wrong type is as good as missing, and a hook whose `when` or `pointFrom`
is no key can never be active.
Source: docs/reference/loop.md, "Reading a stored registry".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import attrs
from pyrsistent import PMap, PVector, pmap

from msdcomp.activation import freeze_json
from msdcomp.activehook import ActiveHook, DeclaredHook, JsonText
from msdcomp.gates import BlockedGate, GateCondition
from msdcomp.manifest import Fragment
from msdcomp.manifest.names import Json
from msdcomp.records import Record
from msdcomp.vocabulary import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["LoopView", "ViewHooks", "ViewSlice", "read_blocked_gates", "read_registry"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

_GROUPS = (("steps", "step"), ("contributions", "contribution"), ("gates", "gate"))


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ViewSlice(Record):
    """A slice of a stored schema; `type` is None when it has no readable type."""

    type: str | None
    default: Json
    values: tuple[str, ...] = ()


@attrs.frozen(eq=False, repr=False)
class ViewHooks(Record):
    """The hooks of one point, in the order stored."""

    hooks: tuple[DeclaredHook, ...] = ()

    def all(self) -> tuple[DeclaredHook, ...]:
        """Return steps, then contributions, then gates."""
        return self.hooks


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LoopView(Record):
    """What is left of a stored registry after everything malformed was dropped.

    Attributes:
        by_loop_point: Point -> hooks.
        config_schema: Key -> slice, for slices that have a default.
        blocked_gates: Point -> gates of skipped capabilities, from `_overlay`.
    """

    by_loop_point: PMap[str, ViewHooks] = attrs.field(factory=pmap)
    config_schema: PMap[str, ViewSlice] = attrs.field(factory=pmap)
    blocked_gates: PMap[str, tuple[BlockedGate, ...]] = attrs.field(factory=pmap)


def read_registry(value: object) -> LoopView:
    """Return a view of a registry in wire JSON that `msdcomp.loop.resolve` accepts.

    Args:
        value: The parsed JSON, of any shape.

    Cost: grows with the hooks at the twelve points, the schema and the blocked gates.
    """
    registry = _object(value)
    points = _object(registry.get("byLoopPoint"))
    schema = _object(registry.get("configSchema"))
    return LoopView(
        by_loop_point=pmap(
            {
                point: ViewHooks(tuple(_hooks(_object(points[point]))))
                for point in POINTS
                if point in points
            }
        ),
        config_schema=pmap(dict(_slices(schema))),
        blocked_gates=read_blocked_gates(
            _object(registry.get("_overlay")).get("blockedGates")
        ),
    )


def read_blocked_gates(value: object) -> PMap[str, tuple[BlockedGate, ...]]:
    """Return the blocked gates of a stored list, by point, in the order stored.

    An entry whose point is one of the twelve is never dropped, whatever else is wrong
    with it: a warning too many is better than a gate that is silently missing.
    """
    found: dict[str, list[BlockedGate]] = {}
    for entry in _list(value):
        gate = _object(entry)
        point = gate.get("point")
        if not isinstance(point, str) or point not in POINTS:
            continue
        blocking = gate.get("blocking")
        found.setdefault(point, []).append(
            BlockedGate(
                point=point,
                capability_id=_text(gate.get("capId")) or "",
                scope=_text(gate.get("scope")) or "",
                path=_text(gate.get("path")) or "",
                code=_text(gate.get("code")) or "",
                reason=_shown(gate.get("reason")),
                remedy=_text(gate.get("remedy")) or "",
                blocking=blocking if isinstance(blocking, bool) else None,
                conditions=_conditions(gate.get("conditions")),
            )
        )
    return pmap({point: tuple(gates) for point, gates in found.items()})


def _conditions(value: object) -> tuple[GateCondition, ...]:
    conditions: list[GateCondition] = []
    for entry in _list(value):
        condition = _object(entry)
        key = _text(condition.get("key"))
        if key is None:
            # What switches the gate is unknown, so it counts as always on.
            return ()
        default = condition.get("default")
        scalar = default is None or isinstance(default, str | int | float)
        conditions.append(
            GateCondition(
                key=key,
                type=_text(condition.get("type")) if scalar else None,
                default=default if scalar else None,  # type: ignore[arg-type]
            )
        )
    return tuple(conditions)


def _slices(schema: Mapping[object, object]) -> Iterator[tuple[str, ViewSlice]]:
    for key, value in schema.items():
        if not isinstance(key, str) or not isinstance(value, Mapping):
            continue
        if "default" not in value:
            continue
        try:
            default = freeze_json(value["default"])
        except ValueError:
            continue
        yield (
            key,
            ViewSlice(
                type=_text(value.get("type")),
                default=default,
                values=_texts(value.get("values")),
            ),
        )


def _hooks(point: Mapping[object, object]) -> Iterator[DeclaredHook]:
    for group, kind in _GROUPS:
        for entry in _list(point.get(group)):
            if isinstance(entry, Mapping):
                yield _hook(kind, entry)


def _hook(kind: str, entry: Mapping[object, object]) -> DeclaredHook:
    when, when_never = _key(entry.get("when"))
    point_from, point_never = _key(entry.get("pointFrom"))
    blocking = entry.get("blocking")
    step, gate = kind == "step", kind == "gate"
    return DeclaredHook(
        hook=ActiveHook(
            capability_id=_text(entry.get("capId")) or "",
            kind=kind,
            ref=_json_object(entry.get("ref")) if step else None,
            into=_text(entry.get("into")) if kind == "contribution" else None,
            fragment=None if gate else _fragment(entry.get("fragment")),
            when=when,
            check=_json_object(entry.get("check")) if gate else None,
            blocking=blocking if gate and isinstance(blocking, bool) else None,
            produces=() if gate else _texts(entry.get("produces")),
            consumes=() if gate else _texts(entry.get("consumes")),
            on_error=_text(entry.get("onError")),
            supports_reviewer_lanes=(
                step and entry.get("supportsReviewerLanes") is True
            ),
        ),
        never=when_never or point_never,
        point_from=point_from,
        config_keys=(
            _aliases(entry.get("configValues")) if kind == "contribution" else pmap()
        ),
    )


def _key(value: object) -> tuple[str | None, bool]:
    """Return a configuration key, and whether the value is something else instead."""
    if value is None:
        return None, False
    key = _text(value)
    return (key, False) if key else (None, True)


def _fragment(value: object) -> Fragment | None:
    fragment = _object(value)
    inline, path = _text(fragment.get("inline")), _text(fragment.get("path"))
    return (
        None if inline is None and path is None else Fragment(inline=inline, path=path)
    )


def _aliases(value: object) -> PMap[str, str]:
    return pmap(
        {
            _clean(alias): _clean(key)
            for alias, key in _object(value).items()
            if isinstance(alias, str) and isinstance(key, str)
        }
    )


def _json_object(value: object) -> JsonText | None:
    return JsonText.of(value) if isinstance(value, Mapping) else None


def _object(value: object) -> Mapping[object, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple | PVector) else []


def _texts(value: object) -> tuple[str, ...]:
    return tuple(_clean(item) for item in _list(value) if isinstance(item, str))


def _text(value: object) -> str | None:
    return _clean(value) if isinstance(value, str) else None


def _clean(text: str) -> str:
    # Half a surrogate pair cannot be written as UTF-8 by anybody.
    return _LONE_SURROGATE.sub("\ufffd", text)


def _shown(value: object) -> str:
    if value is None or isinstance(value, str):
        return _clean(value or "")
    text = JsonText.of(value)
    return text.text if text else ""

"""The gates a document declares, read as loosely as can be.

A document may be too broken to validate and still say clearly that it has a gate. That
control must not vanish without a word, so everything that can be read counts.
Source: docs/explanation/composition.md, "The one place where a skip must be loud".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msdcomp._jsonread import Repeated
from msdcomp.gates import DeclaredGate, GateCondition
from msdcomp.jsontext import canonical
from msdcomp.vocabulary import POINTS, SLICE_TYPES

if TYPE_CHECKING:
    from msdcomp.manifest.names import Scalar

__all__ = ["declared_gates"]

_POINTS = frozenset(POINTS)


def _every(value: dict[str, object], key: str) -> list[object]:
    """Return all values of a key; a text may have given it more than once."""
    if isinstance(value, Repeated):
        return [entry for name, entry in value.pairs if name == key]
    return [value[key]] if key in value else []


def _single(value: object, key: str) -> object:
    """Return the value of a key, or None when there is not exactly one."""
    entries = _every(value, key) if isinstance(value, dict) else []
    return entries[0] if len(entries) == 1 else None


def declared_gates(value: object) -> tuple[DeclaredGate, ...]:
    """Return every gate at one of the twelve points, in the order declared.

    Args:
        value: The document, strict or loose. Where it names a key twice, every `gates`
            and every `point` counts, and of other fields nothing is taken as known.
    """
    if not isinstance(value, dict) or "gates" not in value:
        return ()
    slices = _singles(_single(value, "config"))
    return tuple(
        gate
        for gates in _every(value, "gates")
        if isinstance(gates, list)
        for entry in gates
        if isinstance(entry, dict)
        for gate in _gates_of(entry, slices)
    )


def _singles(value: object) -> dict[str, object]:
    """Return the entries of an object whose key is given exactly once."""
    if not isinstance(value, Repeated):
        return value if isinstance(value, dict) else {}
    counts = Counter(name for name, _ in value.pairs)
    return {name: entry for name, entry in value.items() if counts[name] == 1}


def _gates_of(
    entry: dict[str, object], slices: dict[str, object]
) -> list[DeclaredGate]:
    points = [
        point
        for point in _every(entry, "point")
        if isinstance(point, str) and point in _POINTS
    ]
    if not points:
        return []
    blocking = [flag for flag in _every(entry, "blocking") if isinstance(flag, bool)]
    # Of two answers the stricter one counts.
    blocks = any(blocking) if blocking else None
    condition = _condition(_single(entry, "when"), slices)
    check = _single(entry, "check")
    text = canonical(check).decode() if isinstance(check, dict) else None
    return [
        DeclaredGate(point=point, blocking=blocks, condition=condition, check=text)
        for point in points
    ]


def _condition(when: object, slices: dict[str, object]) -> GateCondition | None:
    if not isinstance(when, str):
        return None
    slice_ = slices.get(when)
    type_ = _single(slice_, "type")
    if not isinstance(type_, str) or type_ not in SLICE_TYPES:
        return GateCondition(key=when)
    return GateCondition(key=when, type=type_, default=_scalar(slice_))


def _scalar(slice_: object) -> Scalar:
    default = _single(slice_, "default")
    return default if isinstance(default, str | int | float | bool) else None

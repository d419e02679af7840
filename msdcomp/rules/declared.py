"""The gates a document declares, read as loosely as can be.

A document may be too broken to validate and still say clearly that it has a gate. That
control must not vanish without a word, so everything that can be read counts.
Source: docs/explanation/composition.md, "The one place where a skip must be loud".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp._jsonscan import Repeated
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
    return tuple(
        gate
        for gates in _every(value, "gates")
        if isinstance(gates, list)
        for entry in gates
        if isinstance(entry, dict)
        for gate in _gates_of(entry, value)
    )


def _gates_of(
    entry: dict[str, object], document: dict[str, object]
) -> list[DeclaredGate]:
    points = [
        point
        for point in _every(entry, "point")
        if isinstance(point, str) and point in _POINTS
    ]
    if not points:
        return []
    blocking = [flag for flag in _every(entry, "blocking") if isinstance(flag, bool)]
    check = _single(entry, "check")
    return [
        DeclaredGate(
            point=point,
            # Of two answers the stricter one counts.
            blocking=any(blocking) if blocking else None,
            condition=_condition(_single(entry, "when"), document),
            check=canonical(check).decode() if isinstance(check, dict) else None,
        )
        for point in points
    ]


def _condition(when: object, document: dict[str, object]) -> GateCondition | None:
    if not isinstance(when, str):
        return None
    slice_ = _single(_single(document, "config"), when)
    type_ = _single(slice_, "type")
    if not isinstance(type_, str) or type_ not in SLICE_TYPES:
        return GateCondition(key=when)
    return GateCondition(key=when, type=type_, default=_scalar(slice_))


def _scalar(slice_: object) -> Scalar:
    default = _single(slice_, "default")
    return default if isinstance(default, str | int | float | bool) else None

"""What differs between two compositions, in the words of a composition.

Compares two wire forms, as `msd compose --json` saves them, and names what appeared,
vanished, changed, moved to another owner or scope, or changed its order. The documents
come from files somebody kept, so anything in them may be missing or malformed; what
cannot be read counts as absent.
Source: docs/reference/command-line.md, "msd diff".
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from msdcomp.records import Record
from msdcomp.vocabulary import POINTS

__all__ = ["Change", "Difference", "compare"]


class Difference(enum.StrEnum):
    """How a thing differs."""

    APPEARED = "appeared"
    VANISHED = "vanished"
    CHANGED = "changed"
    #: It is the same thing, with another owner or in another scope.
    MOVED = "moved"
    #: The same hooks, dispatched in another order.
    REORDERED = "reordered"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Change(Record):
    """One difference.

    Attributes:
        subject: What kind of thing it is: `capability`, `overlay`, `skill`, `agent`,
            `configuration key`, `command family`, `step`, `contribution`, `gate`,
            `left out`, `gate not enforced`.
        name: Which one.
        difference: How it differs.
        before: What it was, in a few words; empty when it was not there.
        after: What it is; empty when it is not there.
    """

    subject: str
    name: str
    difference: Difference
    before: str = ""
    after: str = ""


_Wire: TypeAlias = Mapping[str, Any]
_Told: TypeAlias = Mapping[str, str]


def compare(before: object, after: object) -> tuple[Change, ...]:
    """Return every difference between two wire forms.

    Args:
        before: JSON data, of any shape.
        after: The same.

    Returns:
        Changes of capabilities and overlays first, then of what they own, then of the
        loop in its order, then of what is left out; empty when nothing differs.
    """
    old, new = _object(before), _object(after)
    return tuple(
        change
        for section in (_capabilities, _overlays, _owned, _hooks, _skips, _gates)
        for change in section(old, new)
    )


def _object(value: object) -> _Wire:
    return value if isinstance(value, dict) else {}


def _objects(value: object) -> list[_Wire]:
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _overlay(wire: _Wire) -> _Wire:
    return _object(wire.get("_overlay"))


def _differences(
    subject: str,
    before: _Told,
    after: _Told,
    difference: Difference = Difference.CHANGED,
) -> Iterator[Change]:
    """Yield a change for every name that two readings tell differently."""
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        how = difference
        if old is None:
            how = Difference.APPEARED
        elif new is None:
            how = Difference.VANISHED
        yield Change(
            subject=subject,
            name=name,
            difference=how,
            before=old or "",
            after=new or "",
        )


def _capabilities(old: _Wire, new: _Wire) -> Iterator[Change]:
    def told(wire: _Wire) -> _Told:
        return {
            name: f"version {manifest.get('version')}"
            for name, manifest in _object(wire.get("capabilities")).items()
            if isinstance(manifest, dict)
        }

    yield from _differences("capability", told(old), told(new))
    before, after = _object(old.get("capabilities")), _object(new.get("capabilities"))
    for name in sorted({*before} & {*after}):
        was, now = _object(before[name]), _object(after[name])
        if was != now and was.get("version") == now.get("version"):
            fields = sorted(
                field for field in {*was, *now} if was.get(field) != now.get(field)
            )
            yield Change(
                subject="capability",
                name=name,
                difference=Difference.CHANGED,
                before="",
                after=f"{', '.join(fields)}, under the same version",
            )


def _overlays(old: _Wire, new: _Wire) -> Iterator[Change]:
    def told(wire: _Wire) -> _Told:
        return {
            name: f"{place.get('scope')} {place.get('path')}"
            for name, place in _object(_overlay(wire).get("paths")).items()
            if isinstance(place, dict)
        }

    for change in _differences("overlay", told(old), told(new), Difference.MOVED):
        # That it came or went is told of the capability.
        if change.difference is Difference.MOVED:
            yield change


def _owned(old: _Wire, new: _Wire) -> Iterator[Change]:
    for subject, view, owner in _OWNERS:
        before, after = (
            {name: owner(entry) for name, entry in _object(wire.get(view)).items()}
            for wire in (old, new)
        )
        yield from _differences(subject, before, after, Difference.MOVED)
    for key, was, now in _both(old.get("configSchema"), new.get("configSchema")):
        for field in ("type", "default", "values"):
            if was.get(field) != now.get(field):
                yield Change(
                    subject="configuration key",
                    name=key,
                    difference=Difference.CHANGED,
                    before=f"{field} {was.get(field)}",
                    after=f"{field} {now.get(field)}",
                )


def _both(old: object, new: object) -> Iterator[tuple[str, _Wire, _Wire]]:
    before, after = _object(old), _object(new)
    for name in sorted({*before} & {*after}):
        yield name, _object(before[name]), _object(after[name])


def _plain(owner: object) -> str:
    return f"of {owner}"


def _family(entry: object) -> str:
    return f"of {_object(entry).get('capId')}"


_OWNERS: tuple[tuple[str, str, Callable[[object], str]], ...] = (
    ("skill", "bySkill", _plain),
    ("agent", "byAgent", _plain),
    ("configuration key", "configKeys", _plain),
    ("command family", "commandFamilies", _family),
)

_GROUPS = (("step", "steps"), ("contribution", "contributions"), ("gate", "gates"))


def _hooks(old: _Wire, new: _Wire) -> Iterator[Change]:
    before, after = _object(old.get("byLoopPoint")), _object(new.get("byLoopPoint"))
    for point in (*POINTS, *sorted({*before, *after} - {*POINTS})):
        for subject, group in _GROUPS:
            was = _labels(_object(before.get(point)).get(group))
            now = _labels(_object(after.get(point)).get(group))
            yield from _differences(
                subject,
                {f"{label} at {point}": "" for label in was if label not in now},
                {f"{label} at {point}": "" for label in now if label not in was},
            )
            stayed = [label for label in was if label in now]
            order = [label for label in now if label in was]
            if stayed != order:
                yield Change(
                    subject=subject,
                    name=point,
                    difference=Difference.REORDERED,
                    before=", ".join(stayed),
                    after=", ".join(order),
                )


def _labels(hooks: object) -> Sequence[str]:
    """Name hooks by owner and content, the second of two alike as such."""
    seen: dict[str, int] = {}
    labels = []
    for hook in _objects(hooks):
        what = next(
            (
                f"{key} {value}"
                for key in ("ref", "into", "check")
                if (value := _short(hook.get(key)))
            ),
            "",
        )
        label = f"{hook.get('capId')} ({what})"
        seen[label] = seen.get(label, 0) + 1
        labels.append(label if seen[label] == 1 else f"{label} #{seen[label]}")
    return labels


def _short(value: object) -> str:
    if isinstance(value, dict):
        return " ".join(f"{key} {_short(value[key])}" for key in sorted(value))
    return "" if value is None else str(value)


def _skips(old: _Wire, new: _Wire) -> Iterator[Change]:
    def told(wire: _Wire) -> _Told:
        return {
            f"{w.get('capId')} ({w.get('scope')})": str(w.get("code"))
            for w in _objects(_overlay(wire).get("warnings"))
        }

    yield from _differences("left out", told(old), told(new))


def _gates(old: _Wire, new: _Wire) -> Iterator[Change]:
    def told(wire: _Wire) -> _Told:
        return {
            f"{g.get('capId')} ({g.get('scope')}) at {g.get('point')}": str(
                g.get("code")
            )
            for g in _objects(_overlay(wire).get("blockedGates"))
        }

    yield from _differences("gate not enforced", told(old), told(new))

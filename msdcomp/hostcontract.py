"""Judges the JSON form of a host contract: every fault, with its place.

The points of the loop are fixed, and with them the phases that they belong to and the
family of roles that each phase publishes. A contract is free in which of these roles
its agents take, in the artefacts, and in the kinds that each point dispatches.
Source: docs/reference/host-contract.md, "A contract of your own".
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msdcomp._jsonread import short_key
from msdcomp.codes import CODES
from msdcomp.diagnostics import MAX_PROBLEMS, Problem, pointer
from msdcomp.safetext import safe
from msdcomp.spelling import closest
from msdcomp.vocabulary import HOOK_KINDS, HOST_PHASES, POINTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["FAMILIES", "contract_faults"]

#: Family -> its agent roles; every role is in exactly one.
#: Source: docs/reference/host-contract.md, "Role families".
FAMILIES: dict[str, tuple[str, ...]] = {
    "orchestration": ("orchestrator",),
    "planning": ("researcher", "planner", "checker"),
    "execution": ("executor", "verifier"),
}

_FAMILY_OF = {role: family for family, roles in FAMILIES.items() for role in roles}
_POINTS_OF = {name: points for name, points, *_ in HOST_PHASES}
_PHASE_OF = {point: name for name, points in _POINTS_OF.items() for point in points}
#: Phase -> the family that it publishes.
_PUBLISHED = {name: _FAMILY_OF[roles[0]] for name, _, roles, *_ in HOST_PHASES}

_TOP = ("phases", "kinds")
_PHASE = ("name", "points", "roles", "produces", "consumes")
_SHOWN = 60

_Path = tuple[str | int, ...]


def contract_faults(document: object) -> tuple[Problem, ...]:
    """Return why a document is no host contract; nothing when it is one.

    Args:
        document: Plain JSON.

    Returns:
        At most `MAX_PROBLEMS` and a closing one; phase by phase, then the kinds.
    """
    found = _faults(document)
    kept = tuple(islice(found, MAX_PROBLEMS))
    if next(found, None) is None:
        return kept
    message = f"the host contract has more than {MAX_PROBLEMS} faults"
    return (*kept, _problem("too-many-problems", (), message))


def _faults(document: object) -> Iterator[Problem]:
    if not isinstance(document, dict):
        yield _wrong(document, (), "an object")
        return
    yield from _fields(document, (), _TOP, required=_TOP)
    if "phases" in document:
        yield from _phases(document["phases"])
    if "kinds" in document:
        yield from _kinds(document["kinds"])


def _phases(value: object) -> Iterator[Problem]:
    path: _Path = ("phases",)
    if not isinstance(value, list):
        yield _wrong(value, path, "an array")
        return
    named: dict[str, None] = {}
    left: dict[str, str] = {}
    for index, phase in enumerate(value):
        place = (*path, index)
        if not isinstance(phase, dict):
            yield _wrong(phase, place, "an object")
            continue
        yield from _fields(phase, place, _PHASE, required=_PHASE[:3])
        name = phase.get("name")
        if "name" in phase:
            known = tuple(_POINTS_OF)
            yield from _member(name, (*place, "name"), "a phase", known, named)
        if not isinstance(name, str) or name not in _POINTS_OF:
            name = None
        else:
            named[name] = None
        if "points" in phase:
            yield from _points(phase["points"], (*place, "points"), name)
        if "roles" in phase:
            yield from _roles(phase["roles"], (*place, "roles"), name)
        yield from _exchange(phase, place, name or "another phase", left)
    yield from _complete(named, tuple(_POINTS_OF), path, "phase")


def _points(value: object, path: _Path, phase: str | None) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _wrong(value, path, "an array")
        return
    own: dict[str, None] = {}
    for index, point in enumerate(value):
        place = (*path, index)
        yield from _member(point, place, "a loop point", POINTS, own)
        if not isinstance(point, str) or point not in _PHASE_OF:
            continue
        if phase is not None and _PHASE_OF[point] != phase:
            yield _problem(
                "point-of-other-phase",
                place,
                f"{_label(place)} must be a point of {phase}, got {_shown(point)}, "
                f"which belongs to {_PHASE_OF[point]}",
            )
        else:
            own[point] = None
    if phase is not None:
        yield from _complete(own, _POINTS_OF[phase], path, "point")


def _roles(value: object, path: _Path, phase: str | None) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _wrong(value, path, "an array")
        return
    if not value:
        message = "roles must have at least one role, got an empty array"
        yield _problem("empty-array", path, message)
    seen: dict[str, None] = {}
    for index, role in enumerate(value):
        place = (*path, index)
        yield from _member(role, place, "an agent role", tuple(_FAMILY_OF), seen)
        if not isinstance(role, str) or role not in _FAMILY_OF:
            continue
        seen[role] = None
        if phase is not None and _FAMILY_OF[role] != _PUBLISHED[phase]:
            family = _PUBLISHED[phase]
            yield _problem(
                "role-of-other-family",
                place,
                f"{phase} publishes the family {family} ({_either(FAMILIES[family])}),"
                f" got {_shown(role)} of the family {_FAMILY_OF[role]}",
            )


def _exchange(
    phase: dict[str, object], place: _Path, name: str, left: dict[str, str]
) -> Iterator[Problem]:
    """Yield the faults of what a phase leaves and reads.

    Args:
        phase: The phase.
        place: Where it stands.
        name: What it is called.
        left: Artefact -> the earlier phase that leaves it; what this one leaves is
            added at the end, since it cannot read that itself.
    """
    own: list[str] = []
    for path, artefact in _artefacts(phase, place, "produces"):
        if isinstance(artefact, Problem):
            yield artefact
        elif artefact in left:
            yield _problem(
                "artefact-left-twice",
                path,
                f"{_label(path)} must be left by no other phase, got "
                f"{_shown(artefact)}, which {left[artefact]} leaves",
            )
        else:
            own.append(artefact)
    for path, artefact in _artefacts(phase, place, "consumes"):
        if isinstance(artefact, Problem):
            yield artefact
        elif artefact not in left:
            yield _problem(
                "artefact-not-left",
                path,
                f"{_label(path)} must be left by an earlier phase, got "
                f"{_shown(artefact)}",
                _meant(artefact, left),
            )
    left.update(dict.fromkeys(own, name))


def _artefacts(
    phase: dict[str, object], place: _Path, field: str
) -> Iterator[tuple[_Path, str | Problem]]:
    """Yield place and name of each artefact of a list, or what is wrong there."""
    value, path = phase.get(field, []), (*place, field)
    if not isinstance(value, list):
        yield path, _wrong(value, path, "an array")
        return
    seen: set[str] = set()
    for index, artefact in enumerate(value):
        at = (*path, index)
        if not isinstance(artefact, str):
            yield at, _wrong(artefact, at, "a string")
        elif not artefact:
            message = f"{_label(at)} must be a non-empty string, got an empty one"
            yield at, _problem("empty-string", at, message)
        elif artefact in seen:
            yield at, _twice(artefact, at)
        else:
            seen.add(artefact)
            yield at, artefact


def _kinds(value: object) -> Iterator[Problem]:
    if not isinstance(value, dict):
        yield _wrong(value, ("kinds",), "an object")
        return
    for point, kinds in value.items():
        path = ("kinds", short_key(point))
        if point not in _PHASE_OF:
            yield _unknown(point, path, "a loop point", POINTS)
        if not isinstance(kinds, list):
            yield _wrong(kinds, path, "an array")
            continue
        seen: dict[str, None] = {}
        for index, kind in enumerate(kinds):
            yield from _member(kind, (*path, index), "a hook kind", HOOK_KINDS, seen)
            if isinstance(kind, str) and kind in HOOK_KINDS:
                seen[kind] = None
    yield from _lacking(value, POINTS, ("kinds",), "point")


def _complete(
    named: Collection[str], wanted: Sequence[str], path: _Path, noun: str
) -> Iterator[Problem]:
    """Yield what is not there, and whether the order is not that of the loop."""
    yield from _lacking(named, wanted, path, noun)
    ordered = [name for name in wanted if name in named]
    if list(named) != ordered:
        yield _problem(
            "contract-order",
            path,
            f"{_label(path)} must be in loop order ({', '.join(ordered)}), got "
            f"{', '.join(named)}",
        )


def _lacking(
    given: Collection[str], wanted: Sequence[str], path: _Path, noun: str
) -> Iterator[Problem]:
    for name in wanted:
        if name not in given:
            message = f"{_label(path)} must have every {noun}, got none called {name}"
            yield _problem("contract-incomplete", path, message)


def _fields(
    value: dict[str, object],
    path: _Path,
    known: Sequence[str],
    *,
    required: Sequence[str],
) -> Iterator[Problem]:
    for name in required:
        if name not in value:
            message = f"{_label(path)} must have the field {name}, got none"
            yield _problem("missing-field", path, message, f"Add the field {name}.")
    for key in value:
        if key not in known:
            yield _problem(
                "unknown-field",
                (*path, short_key(key)),
                f"{_label(path)} takes {', '.join(known)}, got {_shown(key)}",
                _meant(key, known) or "Delete the field.",
            )


def _member(
    value: object, path: _Path, noun: str, known: Sequence[str], seen: Collection[str]
) -> Iterator[Problem]:
    """Yield what is wrong with a value that must be one of a closed set, and new."""
    if not isinstance(value, str):
        yield _wrong(value, path, noun)
    elif value not in known:
        yield _unknown(value, path, noun, known)
    elif value in seen:
        yield _twice(value, path)


def _unknown(value: str, path: _Path, noun: str, known: Sequence[str]) -> Problem:
    return _problem(
        "unknown-point" if known is POINTS else "not-in-vocabulary",
        path,
        f"{_label(path)} must be {noun} ({_either(known)}), got {_shown(value)}",
        _meant(value, known) or f"Use {_either(known)}.",
    )


def _twice(value: str, path: _Path) -> Problem:
    message = f"{_label(path)} must be another one, got {_shown(value)} again"
    return _problem("duplicate-entry", path, message)


def _wrong(value: object, path: _Path, expected: str) -> Problem:
    message = f"{_label(path)} must be {expected}, got {_shown(value)}"
    return _problem("wrong-type", path, message, f"Give {expected}.")


def _problem(code: str, path: _Path, message: str, hint: str | None = None) -> Problem:
    return Problem(
        code=code, path=pointer(*path), message=message, hint=hint or CODES[code].remedy
    )


def _label(path: _Path) -> str:
    if not path:
        return "the host contract"
    last = path[-1]
    if isinstance(last, int):
        return f"{safe(path[-2], _SHOWN)}[{last}]"
    return safe(last, _SHOWN) or '""'


def _either(names: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _meant(text: str, known: Collection[str]) -> str | None:
    near = closest(text, known)
    return None if near is None else f"Did you mean {_shown(near)}?"


def _shown(value: object) -> str:
    if isinstance(value, str):
        cut = "..." if len(value) > _SHOWN else ""
        return f'"{safe(value, _SHOWN)}{cut}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return f"{value!r:.40}"
    return "an array" if isinstance(value, list) else "an object"

"""The host a registry is composed for: its version, its loop, its own config keys.

`HostContract` says what the loop publishes: the points of each phase in order, the
agent roles a contribution may address there, the artefacts a phase leaves behind and
the kinds of hook each point dispatches.
Source: docs/reference/host-contract.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs
from pyrsistent import PMap, pmap

from msdcomp._version import DEFAULT_HOST_VERSION
from msdcomp.records import Record
from msdcomp.vocabulary import HOOK_KINDS, HOST_PHASES, POINT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from msdcomp.diagnostics import Problem

__all__ = [
    "DEFAULT_HOST_VERSION",
    "CentralConfig",
    "Host",
    "HostContract",
    "Phase",
    "enclosing",
]


#: Most objects around a key that are looked at, from the outermost on, and the longest
#: of their paths in characters. A manifest has room for a key of millions of parts, and
#: the objects around that would fill any memory.
_MOST_OBJECTS, _LONGEST_OBJECT = 16, 300


def enclosing(key: str) -> Iterator[str]:
    """Yield the objects that a dotted key lies in, the nearest first.

    Only the sixteen outermost ones, as far as their paths have 300 characters.

    >>> list(enclosing("a.b.c"))
    ['a.b', 'a']
    """
    ends: list[int] = []
    end = key.find(".")
    while 0 <= end <= _LONGEST_OBJECT and len(ends) < _MOST_OBJECTS:
        ends.append(end)
        end = key.find(".", end + 1)
    return (key[:end] for end in reversed(ends) if end)


def _head(pattern: str) -> str:
    r"""Return the object that every key of a pattern lies in; empty for none.

    >>> _head(r"^models\.(planning|research)$")
    'models'
    """
    plain: list[str] = []
    for segment in pattern.removeprefix("^").split(r"\."):
        if not segment.replace("_", "").replace("-", "").isalnum():
            return ".".join(plain)
        plain.append(segment)
    return ".".join(plain[:-1])


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Phase(Record):
    """One phase of the loop: its points, in the order they are reached."""

    name: str
    points: tuple[str, ...]
    roles: frozenset[str]
    produces: frozenset[str] = frozenset()
    consumes: frozenset[str] = frozenset()


def _standard_phases() -> tuple[Phase, ...]:
    return tuple(
        Phase(
            name=name,
            points=points,
            roles=frozenset(roles),
            produces=frozenset(produces),
            consumes=frozenset(consumes),
        )
        for name, points, roles, produces, consumes in HOST_PHASES
    )


def _kinds(value: Mapping[str, frozenset[str]]) -> PMap[str, frozenset[str]]:
    return pmap(value)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HostContract(Record):
    """What the loop of a host offers to capabilities.

    Attributes:
        phases: In loop order; together they hold every point once.
        kinds: Point -> hook kinds (`step`, `contribution`, `gate`) dispatched there.
    """

    phases: tuple[Phase, ...] = attrs.field(factory=_standard_phases)
    kinds: PMap[str, frozenset[str]] = attrs.field(
        default=POINT_KINDS, converter=_kinds
    )
    #: Every point of the loop, in order.
    points: tuple[str, ...] = attrs.field(init=False, repr=False, eq=False)
    #: Point -> its place in the loop, from 0.
    order: PMap[str, int] = attrs.field(init=False, repr=False, eq=False)
    # Asked several times for every step of every overlay; they never leave the record.
    _places: dict[str, int] = attrs.field(init=False, repr=False, eq=False)
    _kinds_of: dict[str, frozenset[str]] = attrs.field(init=False, repr=False, eq=False)
    _phase_of: dict[str, Phase] = attrs.field(init=False, repr=False, eq=False)
    _host_artefacts: dict[str, int] = attrs.field(init=False, repr=False, eq=False)

    @points.default
    def _list_points(self) -> tuple[str, ...]:
        return tuple(point for phase in self.phases for point in phase.points)

    @order.default
    def _number_points(self) -> PMap[str, int]:
        return pmap({point: place for place, point in enumerate(self.points)})

    @_places.default
    def _copy_places(self) -> dict[str, int]:
        return dict(self.order)

    @_kinds_of.default
    def _copy_kinds(self) -> dict[str, frozenset[str]]:
        return dict(self.kinds)

    @_phase_of.default
    def _index_phases(self) -> dict[str, Phase]:
        return {point: phase for phase in self.phases for point in phase.points}

    @_host_artefacts.default
    def _index_artefacts(self) -> dict[str, int]:
        # A phase leaves its artefacts when its last point is reached.
        return {
            artefact: self._places[phase.points[-1]]
            for phase in reversed(self.phases)
            for artefact in phase.produces
        }

    @classmethod
    def from_wire(cls, document: object) -> HostContract | tuple[Problem, ...]:
        """Read the JSON form of a contract, or return everything that is wrong with it.

        Args:
            document: Any value; mappings and sequences are taken as JSON has them.

        Source: docs/reference/host-contract.md, "A contract of your own".
        """
        # Imported here because hardly any host has a contract of its own.
        from msdcomp.hostcontract import contract_faults  # noqa: PLC0415
        from msdcomp.jsonvalue import adopt  # noqa: PLC0415

        adopted = adopt(document)
        found = adopted.problems or contract_faults(adopted.value)
        if found:
            return found
        wire: Any = adopted.value
        return cls(
            phases=tuple(
                Phase(
                    name=phase["name"],
                    points=tuple(phase["points"]),
                    roles=frozenset(phase["roles"]),
                    produces=frozenset(phase.get("produces", ())),
                    consumes=frozenset(phase.get("consumes", ())),
                )
                for phase in wire["phases"]
            ),
            kinds={point: frozenset(kinds) for point, kinds in wire["kinds"].items()},
        )

    def to_wire(self) -> dict[str, Any]:
        """Return the contract as fresh JSON data, which `from_wire` reads back."""
        return {
            "phases": [
                {
                    "name": phase.name,
                    "points": list(phase.points),
                    "roles": sorted(phase.roles),
                    "produces": sorted(phase.produces),
                    "consumes": sorted(phase.consumes),
                }
                for phase in self.phases
            ],
            "kinds": {
                point: [kind for kind in HOOK_KINDS if kind in self.kinds_at(point)]
                for point in self.points
            },
        }

    def place(self, point: str) -> int:
        """Return the place of a point in the loop; an unknown one comes after all."""
        return self._places.get(point, len(self._places))

    def roles_at(self, point: str) -> frozenset[str]:
        """Return the agent roles published at a point; none at an unknown one."""
        phase = self._phase_of.get(point)
        return phase.roles if phase else frozenset()

    def kinds_at(self, point: str) -> frozenset[str]:
        """Return the hook kinds dispatched at a point; none at an unknown one."""
        return self._kinds_of.get(point, frozenset())

    def gives(self, artefact: str, point: str) -> bool:
        """Tell whether the host itself has left `artefact` when `point` is reached."""
        since = self._host_artefacts.get(artefact)
        return since is not None and since <= self._places.get(point, -1)

    def artefacts(self) -> frozenset[str]:
        """Return every artefact the host leaves at some point."""
        return frozenset(self._host_artefacts)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CentralConfig(Record):
    """The host's own configuration keys, which no capability may claim."""

    keys: frozenset[str] = frozenset()
    #: Expressions that a whole key must match.
    patterns: tuple[str, ...] = ()
    #: All patterns as one expression; every key of every overlay is held against it.
    _pattern: re.Pattern[str] = attrs.field(init=False, repr=False, eq=False)
    #: Objects that every key of some pattern lies in.
    heads: tuple[str, ...] = attrs.field(init=False, repr=False, eq=False)
    _objects: frozenset[str] = attrs.field(init=False, repr=False, eq=False)

    @heads.default
    def _read_heads(self) -> tuple[str, ...]:
        return tuple(filter(None, map(_head, self.patterns)))

    @_objects.default
    def _list_objects(self) -> frozenset[str]:
        inner = (above for key in (*self.keys, *self.heads) for above in enclosing(key))
        return frozenset((*inner, *self.heads))

    @_pattern.default
    def _join(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{p})" for p in self.patterns), re.ASCII)

    @classmethod
    def of(cls, keys: Iterable[str], patterns: Iterable[str] = ()) -> CentralConfig:
        """Return a central schema of these keys and key patterns."""
        return cls(keys=frozenset(keys), patterns=tuple(patterns))

    @classmethod
    def from_wire(cls, schema: Mapping[str, object]) -> CentralConfig:
        """Read `validKeys` and `dynamicKeyPatterns`; anything else is left out."""
        keys = schema.get("validKeys")
        patterns = schema.get("dynamicKeyPatterns")
        sources = (
            [p.get("source") for p in patterns if isinstance(p, dict)]
            if isinstance(patterns, list | tuple)
            else []
        )
        return cls(
            keys=frozenset(k for k in keys if isinstance(k, str))
            if isinstance(keys, list | tuple)
            else frozenset(),
            patterns=tuple(s for s in sources if isinstance(s, str)),
        )

    def owns(self, key: str) -> bool:
        """Tell whether the host itself claims a key, by name or by pattern."""
        # `fullmatch` because `$` would also match before a final newline; without
        # patterns the expression is empty and matches the empty key alone.
        return key in self.keys or bool(self.patterns and self._pattern.fullmatch(key))

    def holds_keys(self, path: str) -> bool:
        """Tell whether a path is an object, because keys of the host's lie in it."""
        return path in self._objects


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Host(Record):
    """Everything about the running host that composition depends on."""

    version: str = DEFAULT_HOST_VERSION
    contract: HostContract = attrs.field(factory=HostContract)
    central: CentralConfig = attrs.field(factory=CentralConfig)

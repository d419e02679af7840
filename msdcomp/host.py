"""The host a registry is composed for: its version, its loop, its own config keys.

`HostContract` says what the loop publishes: the points of each phase in order, the
agent roles a contribution may address there, the artefacts a phase leaves behind and
the kinds of hook each point dispatches.
Source: docs/reference/host-contract.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import attrs
from pyrsistent import PMap, pmap

from msdcomp.records import Record
from msdcomp.vocabulary import HOST_PHASES, POINT_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["DEFAULT_HOST_VERSION", "CentralConfig", "Host", "HostContract", "Phase"]

#: Version of the host that the shipped capabilities belong to.
DEFAULT_HOST_VERSION = "1.11.0"


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
    #: Point -> its place in the loop, from 0.
    order: PMap[str, int] = attrs.field(init=False, repr=False, eq=False)
    _phase_of: PMap[str, Phase] = attrs.field(init=False, repr=False, eq=False)
    _host_artefacts: PMap[str, int] = attrs.field(init=False, repr=False, eq=False)

    @order.default
    def _number_points(self) -> PMap[str, int]:
        points = [point for phase in self.phases for point in phase.points]
        return pmap({point: place for place, point in enumerate(points)})

    @_phase_of.default
    def _index_phases(self) -> PMap[str, Phase]:
        return pmap({point: phase for phase in self.phases for point in phase.points})

    @_host_artefacts.default
    def _index_artefacts(self) -> PMap[str, int]:
        # A phase leaves its artefacts when its last point is reached.
        return pmap(
            {
                artefact: self.order[phase.points[-1]]
                for phase in reversed(self.phases)
                for artefact in phase.produces
            }
        )

    @property
    def points(self) -> tuple[str, ...]:
        """Every point of the loop, in order."""
        return tuple(point for phase in self.phases for point in phase.points)

    def roles_at(self, point: str) -> frozenset[str]:
        """Return the agent roles published at a point; none at an unknown one."""
        phase = self._phase_of.get(point)
        return phase.roles if phase else frozenset()

    def kinds_at(self, point: str) -> frozenset[str]:
        """Return the hook kinds dispatched at a point; none at an unknown one."""
        return self.kinds.get(point, frozenset())

    def gives(self, artefact: str, point: str) -> bool:
        """Tell whether the host itself has left `artefact` when `point` is reached."""
        since = self._host_artefacts.get(artefact)
        return since is not None and since <= self.order.get(point, -1)

    def artefacts(self) -> frozenset[str]:
        """Return every artefact the host leaves at some point."""
        return frozenset(self._host_artefacts)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CentralConfig(Record):
    """The host's own configuration keys, which no capability may claim."""

    keys: frozenset[str] = frozenset()
    #: Expressions that a whole key must match.
    patterns: tuple[str, ...] = ()
    _compiled: tuple[re.Pattern[str], ...] = attrs.field(
        init=False, repr=False, eq=False
    )

    @_compiled.default
    def _compile(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(pattern, re.ASCII) for pattern in self.patterns)

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
        return key in self.keys or any(
            # `fullmatch` because `$` would also match before a final newline.
            pattern.fullmatch(key)
            for pattern in self._compiled
        )


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Host(Record):
    """Everything about the running host that composition depends on."""

    version: str = DEFAULT_HOST_VERSION
    contract: HostContract = attrs.field(factory=HostContract)
    central: CentralConfig = attrs.field(factory=CentralConfig)

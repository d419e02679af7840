"""What became of the other candidates: the causes a skip can name.

Grows along one fold. A dependency that is installed is never called nonexistent, and
where it was skipped itself, the root of the chain is named.
Source: docs/explanation/composition.md, "When a single overlay fails".
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msdcomp.dataflow import Task, cycles
from msdcomp.invariants import quoted
from msdcomp.scope import Scope

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate
    from msdcomp.contender import Contender
    from msdcomp.verdict import Skipped, SkipWarning

__all__ = ["FoldOutlook"]


_ALONE = {scope.value: (scope.value,) for scope in Scope}


class FoldOutlook:
    """What became of the other candidates; grows along the passes of one fold."""

    def __init__(self, contenders: Iterable[Contender]) -> None:
        """Take note of what candidates past the first five gates declare."""
        self._contenders = tuple(contenders)
        #: Scope of the candidate that is being judged.
        self.deciding = ""
        #: Folder -> scopes in which it is not decided yet.
        self._waiting: dict[str, tuple[str, ...]] = {}
        self._members: dict[str, Candidate] = {}
        self._skipped: dict[str, list[SkipWarning]] = {}
        self._roots: dict[tuple[str, str], SkipWarning] = {}

    # Each of these is found once for all, and only when somebody does not fit.

    @functools.cached_property
    def _requires(self) -> Mapping[str, tuple[str, ...]]:
        return {
            candidate.folder: outline.manifest.requires
            for candidate, outline in self._contenders
            if outline is not None
        }

    @functools.cached_property
    def _runtimes(self) -> frozenset[str]:
        return frozenset(
            candidate.folder
            for candidate, outline in self._contenders
            if outline is not None and outline.manifest.runtime is not None
        )

    @functools.cached_property
    def _makers(self) -> Mapping[str, Mapping[str, int]]:
        """Artefact -> folder -> first place in the loop where it would be made."""
        found: dict[str, dict[str, int]] = {}
        for candidate, outline in self._contenders:
            for one in outline.made if outline else ():
                places = found.setdefault(one.artefact, {})
                folder = candidate.folder
                places[folder] = min(one.place, places.get(folder, one.place))
        return found

    @functools.cached_property
    def _rings(self) -> Mapping[str, tuple[str, ...]]:
        return _rings(self._requires)

    def judging(self, candidates: Iterable[Candidate]) -> None:
        """Take note of candidates that are to be decided, in this pass, from now on."""
        for candidate in candidates:
            folder, alone = candidate.folder, _ALONE[candidate.scope.value]
            # A folder is mostly in one scope; then no tuple is made for it.
            other = self._waiting.get(folder)
            self._waiting[folder] = (*other, *alone) if other else alone

    def decided(self, candidate: Candidate) -> None:
        """Take note that a candidate is decided, whatever the verdict."""
        folder, scope = candidate.folder, candidate.scope.value
        waiting = self._waiting.pop(folder)
        if len(waiting) > 1:
            place = waiting.index(scope)
            self._waiting[folder] = (*waiting[:place], *waiting[place + 1 :])

    def skipped(self, skipped: Skipped) -> None:
        """Take note of a skip; its root is that of its first cause."""
        warning = skipped.warning
        self._skipped.setdefault(warning.capability_id, []).append(warning)
        causes = (self._roots[key] for key in warning.because if key in self._roots)
        self._roots[warning.key] = next(causes, warning)

    def fate(self, capability_id: str) -> str | None:
        """Say why an installed capability is not a member, with the root cause."""
        waiting = self._waiting.get(capability_id, ())
        if self.deciding in waiting:
            # Dependencies come first inside a scope; this one could not.
            return "is not decided yet: the two, or what they need, wait for each other"
        if warnings := self._skipped.get(capability_id):
            root = self._roots[warnings[-1].key]
            if root is warnings[-1]:
                return f"was skipped ({root.code}: {root.reason})"
            return (
                f"was skipped, because of {quoted(root.capability_id)} "
                f"({root.code}: {root.reason})"
            )
        if waiting:
            return f"belongs to {waiting[0]} scope, which is decided later"
        return None

    def may_be_runtime(self, capability_id: str) -> bool:
        """Tell whether an installed capability describes a runtime, for all we know."""
        return capability_id in self._runtimes or capability_id not in self._requires

    def ring(self, one: str, other: str) -> tuple[str, ...]:
        """Return the ids along a `requires` cycle when two lie on the same knot."""
        ring = self._rings.get(one, ())
        return ring if ring and self._rings.get(other) is ring else ()

    def makers(self, artefact: str) -> Mapping[str, int]:
        """Return who declares a step producing an artefact, and its first place."""
        return self._makers.get(artefact, {})

    def file(self, capability_id: str) -> str | None:
        """Return the manifest of an accepted overlay; None for the first party's."""
        member = self._members.get(capability_id)
        return None if member is None else f"{member.path}/capability.json"

    def accepted(self, candidate: Candidate) -> None:
        """Take note of a member."""
        self._members[candidate.folder] = candidate

    def keys(self, capability_id: str) -> tuple[tuple[str, str], ...]:
        """Return the keys of the skipped candidates of an id."""
        return tuple(w.key for w in self._skipped.get(capability_id, ()))


def _rings(requires: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """Return, for every id on a `requires` cycle, the ids along one."""
    names = sorted(requires)
    tasks = [Task(frozenset({name}), frozenset(requires[name])) for name in names]
    rings: dict[str, tuple[str, ...]] = {}
    for knot in cycles(tasks):
        # A hop leads from what is required to whoever requires it.
        first, *rest = (names[index] for index, _ in knot.hops)
        ring = (first, *reversed(rest))
        rings.update(dict.fromkeys((names[index] for index in knot.members), ring))
    return rings

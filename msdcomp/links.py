"""Which candidates can have a say in each other's verdict.

Two candidates matter to each other when one gives a name that the other gives or asks
for: an id, anything a capability may own, an artefact. Whatever else lies between them
belongs to the host or the first party, which no candidate changes. So a set falls into
groups, and the verdicts of a group follow from the group alone.
Source: docs/explanation/composition.md, "Composing again".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

import attrs

from msdcomp.candidate import Candidate
from msdcomp.invariants import names
from msdcomp.manifest import Contribution, Step
from msdcomp.ordering import offered
from msdcomp.records import Record

__all__ = ["Links"]

_Name: TypeAlias = tuple[str, str]
_Reader: TypeAlias = Callable[[Candidate], list[_Name]]
_Hooks: TypeAlias = tuple[Step | Contribution, ...]


def _given(candidate: Candidate) -> list[_Name]:
    """Return the names under which others may find a candidate, or run into it."""
    given: list[_Name] = [("id", candidate.folder)]
    manifest = offered(candidate)
    if manifest is None:
        return given
    given += names(manifest)
    if feature := manifest.feature:
        # Other spellings of an artefact are looked for as well.
        hooks: _Hooks = (*feature.steps, *feature.contributions)
        given += [("artefact", a.lower()) for hook in hooks for a in hook.produces]
    return given


def _asked(candidate: Candidate) -> list[_Name]:
    """Return the names that a candidate looks up."""
    manifest = offered(candidate)
    if manifest is None:
        return []
    asked: list[_Name] = [("id", needed) for needed in manifest.requires]
    if feature := manifest.feature:
        asked += [("id", runtime) for runtime in feature.runtime_compat.named]
        hooks: _Hooks = (*feature.steps, *feature.contributions)
        asked += [("artefact", a.lower()) for hook in hooks for a in hook.consumes]
    return asked


@attrs.frozen(kw_only=True, eq=False, repr=False)
class _Index(Record):
    """Candidates by name; nobody changes one after it was made.

    As most names have one candidate, lists are kept for the others only. What has
    changed since is laid over the rest, which is large, until there is much of it.
    """

    _first: Mapping[_Name, Candidate]
    _several: Mapping[_Name, Sequence[Candidate]]
    _since: Mapping[_Name, Sequence[Candidate]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, candidates: Iterable[Candidate], read: _Reader) -> _Index:
        """Return the index of candidates by the names that `read` finds in them."""
        only: dict[_Name, Candidate] = {}
        several: dict[_Name, list[Candidate]] = {}
        for candidate in candidates:
            for name in read(candidate):
                first = only.setdefault(name, candidate)
                if first is not candidate:
                    several.setdefault(name, [first]).append(candidate)
        return cls(first=only, several=several)

    def at(self, name: _Name) -> Sequence[Candidate]:
        """Return the candidates of a name."""
        found = self._since.get(name)
        if found is None:
            found = self._several.get(name)
        if found is None:
            first = self._first.get(name)
            found = () if first is None else (first,)
        return found

    def replaced(
        self,
        gone: Mapping[_Name, Sequence[Candidate]],
        come: Mapping[_Name, Sequence[Candidate]],
    ) -> _Index:
        """Return the index with some candidates in place of others."""
        since = dict(self._since)
        for name in dict.fromkeys((*gone, *come)):
            out = set(map(id, gone.get(name, ())))
            stay = [one for one in self.at(name) if id(one) not in out]
            since[name] = (*stay, *come.get(name, ()))
        if len(since) * _SHARE <= len(self._first):
            return attrs.evolve(self, since=since)
        first = {**self._first, **{n: found[0] for n, found in since.items() if found}}
        several = {**self._several, **since}
        empty = [name for name, found in since.items() if not found]
        for name in empty:
            first.pop(name, None)
        return _Index(
            first=first,
            several={n: found for n, found in several.items() if len(found) > 1},
        )


#: How many times larger the index must be than what is laid over it.
_SHARE = 8


def _by_name(
    candidates: Iterable[Candidate], read: _Reader
) -> dict[_Name, list[Candidate]]:
    found: dict[_Name, list[Candidate]] = {}
    for candidate in candidates:
        for name in dict.fromkeys(read(candidate)):
            found.setdefault(name, []).append(candidate)
    return found


@attrs.frozen(eq=False, repr=False)
class Links(Record):
    """Who gives and who asks for each name in a set of candidates."""

    _givers: _Index
    _askers: _Index

    @classmethod
    def of(cls, candidates: Iterable[Candidate]) -> Links:
        """Return the links among candidates."""
        found = tuple(candidates)
        return cls(_Index.of(found, _given), _Index.of(found, _asked))

    def replaced(self, gone: Sequence[Candidate], come: Sequence[Candidate]) -> Links:
        """Return the links with some candidates in place of others.

        Cost: what these candidates name, and who else names the same.
        """
        return Links(
            self._givers.replaced(_by_name(gone, _given), _by_name(come, _given)),
            self._askers.replaced(_by_name(gone, _asked), _by_name(come, _asked)),
        )

    def around(self, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """Return these and everyone linked to them, directly or through others.

        These themselves need not be among those that are linked.
        """
        found = {id(one): one for one in candidates}
        frontier = list(found.values())
        # Each name is followed once, however many candidates share it.
        followed: set[_Name] = set()
        while frontier:
            one = frontier.pop()
            # What nobody gives ties nobody together.
            asked = [name for name in _asked(one) if self._givers.at(name)]
            for name in (*_given(one), *asked):
                if name in followed:
                    continue
                followed.add(name)
                for other in (*self._givers.at(name), *self._askers.at(name)):
                    if id(other) not in found:
                        found[id(other)] = other
                        frontier.append(other)
        return tuple(found.values())

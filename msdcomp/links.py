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

from msdcomp.contender import Contender, Name
from msdcomp.records import Record

__all__ = ["Links"]

_Reader: TypeAlias = Callable[[Contender], Sequence[Name]]


def _given(contender: Contender) -> Sequence[Name]:
    """Return the names under which others may find a candidate, or run into it."""
    own = f"id {contender.candidate.folder}"
    outline = contender.outline
    return (own, *outline.names, *outline.artefacts) if outline else (own,)


def _asked(contender: Contender) -> Sequence[Name]:
    """Return the names that a candidate looks up."""
    return contender.outline.asked if contender.outline else ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class _Index(Record):
    """Contenders by name; nobody changes one after it was made.

    As most names have one candidate, lists are kept for the others only. What has
    changed since is laid over the rest, which is large, until there is much of it.
    """

    _first: Mapping[Name, Contender]
    _several: Mapping[Name, Sequence[Contender]]
    _since: Mapping[Name, Sequence[Contender]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, contenders: Iterable[Contender], read: _Reader) -> _Index:
        """Return the index of candidates by the names that `read` finds in them."""
        only: dict[Name, Contender] = {}
        several: dict[Name, list[Contender]] = {}
        for contender in contenders:
            for name in read(contender):
                first = only.setdefault(name, contender)
                if first is not contender:
                    several.setdefault(name, [first]).append(contender)
        return cls(first=only, several=several)

    def at(self, name: Name) -> Sequence[Contender]:
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
        gone: Mapping[Name, Sequence[Contender]],
        come: Mapping[Name, Sequence[Contender]],
    ) -> _Index:
        """Return the index with some candidates in place of others."""
        since = dict(self._since)
        for name in dict.fromkeys((*gone, *come)):
            out = {id(one.candidate) for one in gone.get(name, ())}
            stay = [one for one in self.at(name) if id(one.candidate) not in out]
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
    contenders: Iterable[Contender], read: _Reader
) -> dict[Name, list[Contender]]:
    found: dict[Name, list[Contender]] = {}
    for contender in contenders:
        for name in dict.fromkeys(read(contender)):
            found.setdefault(name, []).append(contender)
    return found


@attrs.frozen(eq=False, repr=False)
class Links(Record):
    """Who gives and who asks for each name in a set of candidates."""

    _givers: _Index
    _askers: _Index

    @classmethod
    def of(cls, contenders: Iterable[Contender]) -> Links:
        """Return the links among candidates."""
        found = tuple(contenders)
        return cls(_Index.of(found, _given), _Index.of(found, _asked))

    def replaced(self, gone: Sequence[Contender], come: Sequence[Contender]) -> Links:
        """Return the links with some candidates in place of others.

        Cost: what these candidates name, and who else names the same.
        """
        return Links(
            self._givers.replaced(_by_name(gone, _given), _by_name(come, _given)),
            self._askers.replaced(_by_name(gone, _asked), _by_name(come, _asked)),
        )

    def around(self, contenders: Iterable[Contender]) -> tuple[Contender, ...]:
        """Return these and everyone linked to them, directly or through others.

        These themselves need not be among those that are linked.
        """
        found = {id(one.candidate): one for one in contenders}
        frontier = list(found.values())
        # Each name is followed once, however many candidates share it.
        followed: set[Name] = set()
        while frontier:
            one = frontier.pop()
            # What nobody gives ties nobody together.
            asked = [name for name in _asked(one) if self._givers.at(name)]
            for name in (*_given(one), *asked):
                if name in followed:
                    continue
                followed.add(name)
                for other in (*self._givers.at(name), *self._askers.at(name)):
                    if id(other.candidate) not in found:
                        found[id(other.candidate)] = other
                        frontier.append(other)
        return tuple(found.values())

"""Building: accepted capabilities -> a registry and all of its views."""

from __future__ import annotations

from kit import Timed, candidates_of

from msdcomp import Registry, build, compose
from msdcomp.edge.snapshot import read_snapshot


def test_build(timed: Timed, count: int) -> None:
    registry = compose(read_snapshot(), candidates_of(count)).registry
    entries = registry.entries()
    built = timed(lambda: build(entries))
    assert isinstance(built, Registry)
    assert len(built.capabilities) == len(entries)
    assert built == registry

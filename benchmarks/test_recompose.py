"""Recomposing: an earlier composition and a set with one change -> the new one."""

from __future__ import annotations

from kit import Timed, candidates_of
from ratios import changed

from msdcomp import compose, recompose
from msdcomp.edge.snapshot import read_snapshot


def test_recompose_one_change(timed: Timed, count: int, dirty: bool) -> None:
    base, given = read_snapshot(), candidates_of(count, dirty=dirty)
    before, new = compose(base, given), changed(given)
    again = timed(lambda: recompose(before, new))
    assert again == compose(base, new)
    assert dirty or again != before


def test_recompose_nothing_changed(timed: Timed, count: int) -> None:
    given = candidates_of(count)
    before = compose(read_snapshot(), given)
    assert timed(lambda: recompose(before, given)) == before


def test_recompose_one_taken_away(timed: Timed, count: int) -> None:
    base, given = read_snapshot(), candidates_of(count)
    before, fewer = compose(base, given), given[:-1]
    assert timed(lambda: recompose(before, fewer)) == compose(base, fewer)

"""What the suites share: sets that are made once, and typed ways to be timed."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Protocol, TypeVar

from overlays import Overlay, candidates, overlays

from msdcomp import Candidate

__all__ = ["SHAPE_SIZES", "SIZES", "HomeOf", "Timed", "candidates_of", "overlays_of"]

#: Number of overlays, clean and dirty.
SIZES = (0, 10, 100, 1_000, 10_000)

#: Number of overlays in the worst shapes.
SHAPE_SIZES = (1_000, 10_000)

_T = TypeVar("_T")


class Timed(Protocol):
    """Times a piece of work, and gives what it returned."""

    def __call__(self, work: Callable[[], _T]) -> _T:
        """Do the work as often as its size allows."""


class HomeOf(Protocol):
    """Installs a set below a home, once."""

    def __call__(self, count: int, *, dirty: bool) -> str:
        """Return the home."""


@functools.cache
def overlays_of(count: int, *, dirty: bool = False) -> tuple[Overlay, ...]:
    """Return a set of overlays."""
    return tuple(overlays(count, dirty=dirty))


@functools.cache
def candidates_of(count: int, *, dirty: bool = False) -> tuple[Candidate, ...]:
    """Return a set of candidates."""
    return tuple(candidates(count, dirty=dirty))

"""Helpers of the cache tests: a clock that can be set, and loads that must agree."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from msdcomp.canonical import canonical
from msdcomp.composition import Composition
from msdcomp.edge import cacheindex, cachemiss
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.load import load_registry

__all__ = [
    "LATER_NS",
    "agrees",
    "cached",
    "files",
    "later",
    "missed",
    "plain",
    "tick",
]

#: How far ahead the clock is set for files that were just written to have settled.
LATER_NS = 60_000_000_000


def later(monkeypatch: pytest.MonkeyPatch, ahead: int = LATER_NS) -> None:
    """Set the clock ahead, so that what was written before a tick counts as old."""
    monkeypatch.setattr(cacheindex, "now_ns", lambda: time.time_ns() + ahead)


def tick(folder: Path) -> None:
    """Wait until the clock of a file system has moved on: some milliseconds."""
    probe = folder / "tick"
    probe.write_bytes(b"")
    before = probe.stat().st_ctime_ns
    while probe.stat().st_ctime_ns == before:
        os.utime(probe)
    probe.unlink()


def plain(home: Path, project: Path, **more: Any) -> Composition:
    """Load without the cache."""
    return load_registry(cwd=project, home=home, cache=False, **more)


def cached(home: Path, project: Path, **more: Any) -> Composition:
    """Load with the cache."""
    return load_registry(cwd=project, home=home, **more)


def agrees(
    home: Path, project: Path, *, quick: bool = False, **more: Any
) -> Composition:
    """Load both ways, and return what both gave; `quick` compares values alone."""
    with_it, without = cached(home, project, **more), plain(home, project, **more)
    assert with_it == without
    if quick:
        return with_it
    assert canonical(with_it.to_wire()) == canonical(without.to_wire())
    assert with_it.digest() == without.digest()
    if not without.accepted:
        assert with_it.registry is first_party()
    return with_it


@contextmanager
def missed(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Count the compositions that the cache did not have."""
    seen: list[int] = []
    real = cachemiss.compose_view

    def counting(*given: Any, **more: Any) -> Composition:
        seen.append(1)
        return real(*given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(cachemiss, "compose_view", counting)
        yield seen


def files(home: Path, kind: str = "") -> list[Path]:
    """Return the files of the cache of a home."""
    return sorted((home / ".msd" / "cache").glob(f"{kind}*"))

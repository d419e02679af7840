"""Whatever is done to a home and a project, the cache makes no difference."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.consent import record_consent
from tests.edge.caches import agrees, files, later, tick
from tests.edge.scans import GATE, text
from tests.layouts import feature, put, write

NAMES = ("a", "b")

#: Kinds of manifest; most of what can go wrong has to do with fragments.
KINDS = ("plain", "gated", "needs", "clash", "newer", "wrong", "tells", *["reads"] * 3)

#: What is spoilt: the overlay itself, its manifest, a folder, fragments, anything else.
PLACES = ("", "", "/capability.json", "/in", "/in/a.md", "/b.md", "/x")

Edit: TypeAlias = Callable[[Path, Path, Path], None]

#: Titles of one length, so that a change of one for another keeps the size.
titles = st.sampled_from(["One", "Two", "Six"])


def _manifest(name: str, title: str, kind: str) -> str:
    fields: dict[str, dict[str, Any]] = {
        "plain": {},
        "gated": {"gates": [GATE]},
        "needs": {"requires": ["a"], "skills": [f"{name}-skill"]},
        "clash": {"skills": ["the-only-skill"]},
        "newer": {"engines": {"msd": ">=2.0.0"}},
        "wrong": {"tier": "none", "gates": [GATE]},
        "tells": {"contributions": [text("in/a.md"), text("in/../b.md")]},
        "reads": {"contributions": [text("in/a.md"), text("b.md")]},
    }
    return json.dumps(feature(name, title=title, **fields[kind]))


def _gone(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _root(root: Path) -> Path:
    return root / ".msd" / "capabilities"


@st.composite
def _write(draw: st.DrawFn) -> Edit:
    """Write a manifest; sometimes with the time of the one before."""
    name, title = draw(st.sampled_from(NAMES)), draw(titles)
    kind = draw(st.sampled_from(KINDS))
    own, forged = draw(st.booleans()), draw(st.booleans())

    def edit(home: Path, project: Path, _: Path) -> None:
        folder = _root(project if own else home) / name
        if folder.is_symlink() or not folder.is_dir():
            _gone(folder)
        path = folder / "capability.json"
        held = path.lstat() if os.path.lexists(path) else None
        _gone(path)
        write(path, _manifest(name, title, kind))
        if forged and held:
            os.utime(path, ns=(held.st_atime_ns, held.st_mtime_ns))

    return edit


@st.composite
def _spoil(draw: st.DrawFn) -> Edit:
    """Put something else where a manifest, a folder or a fragment is."""
    name = draw(st.sampled_from(NAMES))
    place = draw(st.sampled_from(PLACES))
    spec = draw(
        st.sampled_from(
            [
                None,
                None,
                None,
                "text",
                "TEXT",
                "",
                {"dir": True},
                {"fifo": True},
                {"symlink": "nowhere"},
                {"symlink": "../b"},
                {"symlink": "b.md"},
                {"symlink": "/etc/passwd"},
                {"elsewhere": True},
                {"base64": "/w=="},
            ]
        )
    )
    own = draw(st.booleans())

    def edit(home: Path, project: Path, aside: Path) -> None:
        path = Path(f"{_root(project if own else home) / name}{place}")
        if not path.parent.is_dir() or path.parent.is_relative_to(Path("/etc")):
            return
        _gone(path)
        if spec == {"elsewhere": True}:
            write(aside / "capability.json", _manifest(name, "One", "plain"))
            write(aside / "a.md", "aside")
            path.symlink_to(aside)
        elif spec is not None:
            put(path, spec)

    return edit


@st.composite
def _move(draw: st.DrawFn) -> Edit:
    """Let two folders of one root change places."""
    one, two = draw(st.permutations(NAMES))[:2]

    def edit(home: Path, _: Path, aside: Path) -> None:
        first, second = _root(home) / one, _root(home) / two
        if os.path.lexists(first) and os.path.lexists(second):
            first.rename(aside.parent / "moving")
            second.rename(first)
            (aside.parent / "moving").rename(second)

    return edit


@st.composite
def _tell(draw: st.DrawFn) -> Edit:
    """Write a ledger, or damage it."""
    name, own = draw(st.sampled_from(NAMES)), draw(st.booleans())
    ledger: Any = draw(
        st.sampled_from(
            [
                None,
                "{",
                {"entries": {name: {"_pending": {}}}},
                {"entries": {name: {"gatePoints": ["ship:pre"]}}},
            ]
        )
    )

    def edit(home: Path, project: Path, _: Path) -> None:
        path = (project if own else home) / ".msd-capabilities.json"
        _gone(path)
        if ledger is not None:
            write(path, ledger if isinstance(ledger, str) else json.dumps(ledger))

    return edit


@st.composite
def _consent(draw: st.DrawFn) -> Edit:
    """Agree to what a project holds, or damage the store."""
    name, damaged = draw(st.sampled_from(NAMES)), draw(st.integers(0, 5)) == 0

    def edit(home: Path, project: Path, _: Path) -> None:
        store = home / ".msd" / "consent.json"
        if damaged or (store.exists() and store.read_bytes() == b"{"):
            write(store, "{") if damaged else store.unlink()
        else:
            record_consent(
                str(home), str(project), str(_root(project) / name), name, ("ship:pre",)
            )

    return edit


@st.composite
def _damage(draw: st.DrawFn) -> Edit:
    """Cut a file of the cache short, or change a byte of it."""
    which, where, cut = draw(
        st.tuples(st.integers(0, 3), st.floats(0, 1), st.booleans())
    )

    def edit(home: Path, _: Path, __: Path) -> None:
        held = files(home)
        if held:
            path = held[which % len(held)]
            data = bytearray(path.read_bytes())
            at = min(int(where * len(data)), len(data) - 1)
            data[at] ^= 1
            path.write_bytes(data[:at] if cut else data)

    return edit


edits = st.lists(
    st.one_of(
        _write(), _write(), _spoil(), _spoil(), _move(), _tell(), _consent(), _damage()
    ),
    min_size=4,
    max_size=12,
)


@given(edits=edits, settled=st.lists(st.booleans(), min_size=12, max_size=12))
def test_no_edit_makes_a_difference(edits: list[Edit], settled: list[bool]) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        pytest.MonkeyPatch.context() as patch,
    ):
        top = Path(folder)
        home, project, aside = top / "home", top / "project", top / "aside"
        for made in (_root(home), _root(project), project / ".git", aside):
            made.mkdir(parents=True)
        for edit, old in zip(edits, settled, strict=False):
            edit(home, project, aside)
            tick(top)
            later(patch, 60_000_000_000 if old else 0)
            agrees(home, project, quick=True)
            agrees(home, project, quick=True)
        agrees(home, project)
        agrees(home, project, host_version="2.0.0", on_set_failure="isolate")

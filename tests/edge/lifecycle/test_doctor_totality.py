"""`doctor` over anything: it never raises, changes nothing, and its text is safe."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.consentstore import store_path
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.lifecycle.doctor import examine
from msdcomp.edge.roots import Places, find_places
from msdcomp.edge.settings import MARKER
from msdcomp.health import CHECKS, Finding, ranked
from msdcomp.safetext import unsafe_characters
from msdcomp.testing import feature
from tests.edge.lifecycle.shops import HOST, listing

NAMES = ("tides", "reef", "A b", "x" * 120)
SETTINGS = ".claude/settings.json"
SIGNATURE = {"version": "msd-disclosure-1", "surfaces": "a", "files": "b", "text": "c"}

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(
        [*NAMES, SETTINGS, "../up", "/etc/hostname", "\ud800", "\x1b[31m"]
    ),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def _spoiled(draw: st.DrawFn, value: dict[str, Any]) -> Any:
    """Return an object, in which some fields are anything."""
    # Most of it stays whole: what lies behind a fault is not looked at.
    match draw(st.integers(0, 30)):
        case 17:
            return draw(_JSON)
        case 18 | 19 | 20:
            fields = st.sampled_from(sorted(value))
            return value | draw(st.dictionaries(fields, _JSON, max_size=2))
        case _:
            return value


def _bytes(draw: st.DrawFn, value: Any) -> bytes | None:
    """Return a file of JSON: whole, cut, anything, or not there."""
    data = json.dumps(value).encode()
    match draw(st.integers(0, 30)):
        case 17:
            return None
        case 18:
            return draw(st.binary())
        case 19:
            return data[: draw(st.integers(0, len(data)))]
        case _:
            return data


_TEXT = st.sampled_from(["", "sha512-x", json.dumps(SIGNATURE), "\x1b[31m", "\ud800"])


@st.composite
def _entry(draw: st.DrawFn, name: str) -> Any:
    edits = [{"file": SETTINGS, "marker": draw(st.sampled_from(NAMES))}]
    value: dict[str, Any] = {
        "id": name,
        "version": draw(_TEXT) or "1.0.0",
        "source": draw(st.sampled_from(["/nowhere", "npm:ui", "ui", "\x1b[31m"])),
        "integrity": "",
        "files": draw(st.lists(st.sampled_from(["a", f".msd/capabilities/{name}"]))),
        "sharedEdits": edits,
        "contentHash": draw(_TEXT),
        "disclosureSignature": draw(_TEXT),
    }
    if draw(st.integers(0, 4)) == 3:
        pending = {"kind": "upgrade", "backupName": None, "sharedFiles": [SETTINGS]}
        value["_pending"] = _spoiled(draw, pending)
    return _spoiled(draw, value)


@st.composite
def _ledger(draw: st.DrawFn) -> bytes | None:
    names = draw(st.sets(st.sampled_from(NAMES)))
    entries = {name: draw(_entry(name)) for name in sorted(names)}
    return _bytes(draw, _spoiled(draw, {"version": "1", "entries": entries}))


@st.composite
def _store(draw: st.DrawFn, home: str, project: str) -> bytes | None:
    records = {}
    for number in range(draw(st.integers(0, 3))):
        scope = draw(st.sampled_from(["global", "project"]))
        record = {
            "projectRoot": home if scope == "global" else project,
            "id": draw(st.sampled_from(NAMES)),
            "scope": scope,
            "contentHash": draw(_TEXT) or "sha512-y",
            "integrity": "",
            "disclosureSignature": draw(_TEXT),
            "consentedAt": "",
        }
        records[f"{number}\x1b"] = _spoiled(draw, record)
    return _bytes(draw, _spoiled(draw, {"version": "1", "records": records}))


@st.composite
def _settings(draw: st.DrawFn) -> bytes | None:
    entries = [
        _spoiled(draw, {MARKER: draw(st.sampled_from(NAMES)), "hooks": []})
        for _ in range(draw(st.integers(0, 2)))
    ]
    hooks = _spoiled(draw, {"Stop": entries, "\x1b[31m": entries})
    return _bytes(draw, {"hooks": hooks})


@st.composite
def _manifest(draw: st.DrawFn, name: str) -> bytes | None:
    script = draw(st.sampled_from(["run.sh", "run.sh", "gone.sh", "../up.sh"]))
    gate = {
        "point": "ship:pre",
        "check": {"query": "a.b"},
        "blocking": draw(st.booleans()),
        "onError": "halt",
    }
    value = feature(
        name,
        hooks=[{"event": "Stop", "script": script}],
        gates=[gate],
        engines={"msd": draw(st.sampled_from([">=1.0.0", ">=99.0.0"]))},
    )
    return _bytes(draw, _spoiled(draw, dict(value)))


@st.composite
def _config(draw: st.DrawFn) -> bytes | None:
    hosts = draw(st.sampled_from([None, [], ["a.example"], ["https://x", "\x1b"], 5]))
    return _bytes(draw, {"capabilities": {"strict_known_registries": hosts}})


def _write(path: Path, data: bytes | None) -> None:
    if data is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextmanager
def _places(data: st.DataObject) -> Iterator[Places]:
    """Yield a home and a project in which anything may be damaged."""
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder).resolve()
        home, project = top / "home", top / "project"
        (project / ".git").mkdir(parents=True)
        home.mkdir()
        for scope in (home, project):
            _write(scope / LEDGER_NAME, data.draw(_ledger()))
            _write(scope / SETTINGS, data.draw(_settings()))
            for name in data.draw(st.sets(st.sampled_from(NAMES))):
                bundle = scope / ".msd" / "capabilities" / name
                kind = data.draw(st.integers(0, 15))
                if kind == 7:
                    _write(bundle, b"")
                    continue
                if kind == 8:
                    bundle.parent.mkdir(parents=True, exist_ok=True)
                    bundle.symlink_to(top)
                    continue
                bundle.mkdir(parents=True)
                _write(bundle / "capability.json", data.draw(_manifest(name)))
                _write(bundle / "run.sh", b"#!/bin/sh\n")
                if kind == 9:
                    (bundle / "link").symlink_to(top)
        _write(project / ".planning" / "config.json", data.draw(_config()))
        store = data.draw(_store(str(home), str(project)))
        _write(Path(store_path(str(home))), store)
        yield find_places(project, home, project)


def _is_safe(text: str) -> bool:
    bare = text.replace(" ", "")
    return bare == unsafe_characters(bare, lambda _: "")


def _holds(found: tuple[Finding, ...]) -> None:
    assert found == ranked(found)
    assert len(set(found)) == len(found)
    for one in found:
        assert one.code in CHECKS
        assert one.scope in {"", "global", "project"}
        assert one.reason
        assert "`" not in one.subject
        for text in (one.subject, one.reason, one.remedy, one.cause):
            assert _is_safe(text)


@given(st.data())
def test_nothing_that_lies_there_makes_it_raise(data: st.DataObject) -> None:
    with _places(data) as places:
        assert places.home is not None
        assert places.project is not None
        tops = (Path(places.home), Path(places.project))
        before = listing(*tops)

        found = examine(places, HOST)

        _holds(found)
        assert examine(places, HOST) == found
        assert listing(*tops) == before


@given(st.data())
def test_each_scope_tells_its_part_of_the_whole(data: st.DataObject) -> None:
    with _places(data) as places:
        both = examine(places, HOST)

        parts = [examine(places, HOST, scope=scope) for scope in ("global", "project")]

        for scope, part in zip(("global", "project"), parts, strict=True):
            own = [one for one in both if one.scope == scope]
            assert [one for one in part if one.scope == scope] == own

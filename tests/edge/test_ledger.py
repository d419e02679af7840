"""The ledger: read entry by entry, and silent where it is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.ledger import LEDGER_NAME, Ledger, LedgerEntry, read_ledger
from tests.layouts import put, write

SILENT = LedgerEntry()


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "id": "anchor",
        "version": "1.0.0",
        "source": "./anchor",
        "integrity": "",
        "files": [".msd/capabilities/anchor"],
        "sharedEdits": [],
        **changes,
    }


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in entry().items() if key != name}


def read(root: Path, value: Any, folder: str = "anchor") -> LedgerEntry:
    write(root / LEDGER_NAME, json.dumps({"version": "1", "entries": {folder: value}}))
    return read_ledger(str(root)).of(folder)


def test_a_complete_entry_is_committed(tmp_path: Path) -> None:
    assert read(tmp_path, entry()) == LedgerEntry(committed=True)


def test_nothing_is_known_of_others(tmp_path: Path) -> None:
    read(tmp_path, entry())
    assert read_ledger(str(tmp_path)).of("other") == SILENT


@pytest.mark.parametrize(
    "marker", [{"kind": "install"}, {}, [], "x", 1, True, -1.5, "0"]
)
def test_any_marker_javascript_takes_for_true_is_pending(
    tmp_path: Path, marker: Any
) -> None:
    assert read(tmp_path, entry(_pending=marker)) == LedgerEntry(pending=True)
    assert read(tmp_path, {"_pending": marker}) == LedgerEntry(pending=True)


@pytest.mark.parametrize("marker", [None, False, 0, -0.0, ""])
def test_a_marker_javascript_takes_for_false(tmp_path: Path, marker: Any) -> None:
    assert read(tmp_path, entry(_pending=marker)) == SILENT


@pytest.mark.parametrize("folder", ["a", "a-", "a1", "constructor", "prototype"])
def test_every_id_can_be_committed(tmp_path: Path, folder: str) -> None:
    assert read(tmp_path, entry(id=folder), folder).committed


@pytest.mark.parametrize("folder", ["A", "9a", "a_b", "", "__proto__", "a\n"])
def test_what_is_no_id_is_not_committed(tmp_path: Path, folder: str) -> None:
    assert not read(tmp_path, entry(id=folder), folder).committed


@pytest.mark.parametrize(
    "value",
    [
        entry(id="other"),
        entry(version=1),
        entry(source=None),
        entry(integrity=[]),
        entry(files={}),
        entry(files=["a", 5]),
        entry(files=["a"] * 10_001),
        entry(sharedEdits={}),
        entry(sharedEdits=[5]),
        entry(sharedEdits=[{"file": "a"}]),
        entry(sharedEdits=[{"file": "a", "marker": ""}]),
        entry(sharedEdits=[{"file": 5, "marker": "m"}]),
        entry(sharedEdits=[{"file": "a", "marker": "m"}] * 257),
        *map(without, entry()),
    ],
)
def test_an_incomplete_entry_is_not_committed(tmp_path: Path, value: Any) -> None:
    assert read(tmp_path, value) == SILENT


@pytest.mark.parametrize(
    "value",
    [
        entry(files=["a"] * 10_000),
        entry(sharedEdits=[{"file": "a", "marker": "m"}] * 256),
        entry(sharedEdits=[{"file": "a", "marker": "m", "more": 1}]),
        entry(extra={"x": 1}),
    ],
)
def test_what_a_complete_entry_may_hold(tmp_path: Path, value: Any) -> None:
    assert read(tmp_path, value).committed


@pytest.mark.parametrize("value", ["x", 5, None, [], True])
def test_an_entry_that_is_no_object_says_nothing(tmp_path: Path, value: Any) -> None:
    assert read(tmp_path, value) == SILENT


def test_gate_points_survive_an_incomplete_entry(tmp_path: Path) -> None:
    points = ["ship:pre", "nowhere", 5, None, "plan:pre", "ship:pre", []]
    found = read(tmp_path, {"gatePoints": points})
    assert found == LedgerEntry(gate_points=("plan:pre", "ship:pre"))


def test_a_bad_entry_costs_only_itself(tmp_path: Path) -> None:
    entries = {"anchor": entry(), "bad": 5, "worse": {"_pending": 1}}
    write(tmp_path / LEDGER_NAME, json.dumps({"entries": entries}))
    ledger = read_ledger(str(tmp_path))
    assert ledger.of("anchor").committed
    assert ledger.of("bad") == SILENT
    assert ledger.of("worse").pending


def test_the_last_of_repeated_keys_wins(tmp_path: Path) -> None:
    """As for the JavaScript host, which reads the same file."""
    text = '{"entries": {"a": {"_pending": 1}, "a": {"gatePoints": ["ship:pre"]}}}'
    write(tmp_path / LEDGER_NAME, text)
    found = read_ledger(str(tmp_path)).of("a")
    assert found == LedgerEntry(gate_points=("ship:pre",))


def test_a_missing_ledger_says_nothing(tmp_path: Path) -> None:
    assert read_ledger(str(tmp_path)) == Ledger()


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "{",
        "null",
        "[]",
        "{}",
        '{"entries": []}',
        '{"entries": 5}',
        '{"entries": {"anchor": {"_pending": NaN}}}',
        {"base64": "/w=="},
        "[" * 100_000,
        {"dir": True},
        {"fifo": True},
        {"symlink": "/dev/zero"},
        " " * (9 * 1024 * 1024),
    ],
)
def test_a_damaged_ledger_says_nothing_of_anybody(tmp_path: Path, spec: Any) -> None:
    put(tmp_path / LEDGER_NAME, spec)
    ledger = read_ledger(str(tmp_path))
    assert ledger.fault is not None
    assert ledger.of("anchor") == SILENT

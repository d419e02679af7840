"""What killing commands at every step has brought to light, each by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.composition import Composition
from msdcomp.edge.load import load_registry
from tests.layouts import overlay, write

LEDGER = ".msd-capabilities.json"


def entry(**pending: Any) -> dict[str, Any]:
    return {
        "id": "tide",
        "version": "1.0.0",
        "source": "/tide",
        "integrity": "",
        "files": [],
        "sharedEdits": [],
        "gatePoints": ["ship:pre"],
        "_pending": {"backupName": None, "sharedFiles": [], **pending},
    }


def load(home: Path, project: Path, *, cached: bool) -> Composition:
    return load_registry(home=home, project=project, cache=cached)


@pytest.mark.parametrize("cached", [True, False])
@pytest.mark.parametrize("scope", ["home", "project"])
def test_the_gates_of_what_an_upgrade_has_set_aside_are_missed(
    home: Path, project: Path, scope: str, cached: bool
) -> None:
    """Killed between two renames, it stands nowhere, and did take part before."""
    top = home if scope == "home" else project
    overlay(top, "other")
    marked = entry(kind="upgrade", backupName="tide.before-0123456789abcdef")
    write(top / LEDGER, json.dumps({"version": "1", "entries": {"tide": marked}}))
    for _ in range(2):
        found = load(home, project, cached=cached)
        (key,) = (key for key in found.warnings if key[1] == "tide")
        assert [warning.code for warning in found.warnings[key]] == ["pending"]
        (gate,) = found.blocked_gates["ship:pre"]
        assert (gate.scope, gate.capability_id) == key
    overlay(top, "tide")
    found = load(home, project, cached=cached)
    assert [warning.code for warning in found.warnings[key]] == ["pending"]


@pytest.mark.parametrize(
    "pending",
    [
        {"kind": "install"},
        {"kind": "install", "backupName": "tide.before-0123456789abcdef"},
        {"kind": "remove"},
        {"kind": "upgrade"},
    ],
)
def test_what_was_not_set_aside_is_not_missed(
    home: Path, project: Path, pending: dict[str, Any]
) -> None:
    """It was not there yet, or is not to be there any more."""
    overlay(home, "other")
    ledger = {"version": "1", "entries": {"tide": entry(**pending)}}
    write(home / LEDGER, json.dumps(ledger))
    found = load(home, project, cached=False)
    assert not found.warnings
    assert not found.blocked_gates

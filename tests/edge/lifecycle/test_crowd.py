"""Many processes install, update and remove at once: each one's last word counts.

They share two ledgers, the consent store and two settings files, and one capability.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.consent import list_consents
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.ledgerfile import read_entries
from msdcomp.edge.lifecycle.applying import Done, apply
from msdcomp.edge.lifecycle.planning import plan_install
from msdcomp.edge.lifecycle.reconciling import traces
from msdcomp.edge.load import load_registry
from msdcomp.plan import Plan
from msdcomp.registry import Registry
from tests.edge.lifecycle.crowd import EVENTS, SETTINGS, SHARED, Member, site_of
from tests.layouts import write

ROOT = Path(__file__).parents[3]
LEDGER = ".msd-capabilities.json"
MINE = {"matcher": "Edit", "hooks": [{"type": "command", "command": "mine"}]}
FAR = {"id": "far", "projectRoot": "/far", "scope": "project", "theirs": 1}


def lay_out(top: Path) -> None:
    """Make a home and a project in which others have something of their own."""
    (top / "project" / ".git").mkdir(parents=True)
    for scope in ("home", "project"):
        settings = {"model": "own", "hooks": {"Stop": [MINE]}, "more": {"a": [1]}}
        write(top / scope / SETTINGS, json.dumps(settings))
        ledger = {"version": "1", "theirs": [1], "entries": {"odd": {"x": 7}}}
        write(top / scope / LEDGER, json.dumps(ledger))
    consent = {"version": "1", "theirs": [1], "records": {"far": FAR}}
    write(top / "home" / ".msd" / "consent.json", json.dumps(consent))


def crowd(top: Path, number: int, rounds: int, how: str) -> dict[str, list[str]]:
    """Let them all begin at once; return what they left, by id: scope and version."""
    started = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.edge.lifecycle.crowd"),
                *(str(top), f"n{name}", str(rounds), how),
            ],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in range(number)
    ]
    ready = [process.stdout.readline() for process in started if process.stdout]
    assert ready == ["ready\n"] * number
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate() for process in started]
    assert [errors for _, errors in told] == [""] * number
    found = [json.loads(text) for text, _ in told]
    assert [one for each in found for one in each["failed"]] == []
    return {name: place for each in found for name, place in each["left"].items()}


def check(top: Path, left: dict[str, list[str]]) -> None:
    """Hold everything that is there against what was left."""
    real = os.path.realpath(top)
    agreed = list_consents(f"{real}/home")
    assert isinstance(agreed, tuple)
    assert not any(record.provisional for record in agreed)
    accepted: dict[str, str] = {}
    for scope, folder in (("global", "home"), ("project", "project")):
        site = site_of(real, scope)
        assert traces(site) == ()
        entries = read_entries(site.root.ledger_root).entries
        versions = {name: entry.version for name, entry in entries.items()}
        own = {
            name: version for name, (where, version) in left.items() if where == scope
        }
        shared = versions.get(SHARED) if scope == "project" else None
        assert versions == own | ({SHARED: shared} if shared else {})
        accepted |= versions
        root = top / folder / ".msd" / "capabilities"
        assert {path.name for path in root.iterdir()} - {".lock"} == versions.keys()
        hashes = {}
        for name in versions:
            bundle = read_bundle(str(root / name))
            assert isinstance(bundle, Bundle)
            hashes[name] = bundle.digest
        assert hashes == {name: entry.content_hash for name, entry in entries.items()}
        mine = [record for record in agreed if record.scope.value == scope]
        assert {record.id: record.content_hash for record in mine} == hashes
        check_settings(top / folder / SETTINGS, versions)
        ledger = json.loads((top / folder / LEDGER).read_text())
        assert (ledger["theirs"], ledger["entries"]["odd"]) == ([1], {"x": 7})
    consent = json.loads((top / "home" / ".msd" / "consent.json").read_text())
    assert (consent["theirs"], consent["records"]["far"]) == ([1], FAR)
    found = load_registry(
        home=f"{real}/home", project=f"{real}/project", base=Registry(), cache=False
    )
    assert {*found.accepted} == accepted.keys()
    names = [path.name for path in top.rglob("*") if "sources" not in path.parts]
    assert not [name for name in names if ".tmp." in name or name == ".staging"]


def check_settings(file: Path, versions: dict[str, str]) -> None:
    settings = json.loads(file.read_text())
    entries: list[Any] = [
        (event, entry)
        for event, entries in settings["hooks"].items()
        for entry in entries
    ]
    hooks = {
        entry["_msdCapability"]: event for event, entry in entries if entry != MINE
    }
    assert hooks == {name: EVENTS[version] for name, version in versions.items()}
    assert len(entries) == len(hooks) + 1
    assert settings["hooks"]["Stop"][0] == MINE
    assert settings.keys() - {"hooks"} == {"model", "more"}


@pytest.mark.parametrize(("how", "number", "rounds"), [("api", 8, 100), ("cli", 4, 8)])
def test_nothing_of_a_crowd_is_lost_or_torn(
    tmp_path: Path, how: str, number: int, rounds: int
) -> None:
    lay_out(tmp_path)
    left = crowd(tmp_path, number, rounds, how)
    check(tmp_path, left)
    assert left


def test_a_plan_that_another_command_was_in_the_way_of_is_made_again(
    tmp_path: Path,
) -> None:
    """Who plans takes no lock, and may see what somebody else is in the middle of."""
    lay_out(tmp_path)
    member = Member(os.path.realpath(tmp_path), "n", "api")
    assert member.install("project", SHARED, "1.0.0") == []
    ledger = tmp_path / "project" / LEDGER
    settled = ledger.read_text()
    document = json.loads(settled)
    marker: dict[str, Any] = {"kind": "upgrade", "backupName": None, "sharedFiles": []}
    document["entries"][SHARED]["_pending"] = marker
    ledger.write_text(json.dumps(document))
    prepared = plan_install(site_of(member.top, "project"), member.parcel("2.0.0"))
    assert [block.code for block in prepared.plan.blocks] == ["pending"]
    asked: list[Plan] = []

    def accepts(plan: Plan) -> bool:
        asked.append(plan)
        return True

    assert apply(prepared, accepts=accepts) == prepared.plan.blocks
    ledger.write_text(settled)
    assert apply(prepared) == prepared.plan.blocks
    assert asked == []
    assert isinstance(apply(prepared, accepts=accepts), Done)
    assert [plan.action for plan in asked] == ["upgrade"]
    found = read_entries(f"{member.top}/project").entries[SHARED]
    assert (found.version, found.pending) == ("2.0.0", None)

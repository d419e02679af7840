"""What killing commands at every step has brought to light, each by itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.composition import Composition
from msdcomp.edge.consent import ConsentRecord, record_consent
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import (
    InstalledEntry,
    Pending,
    PendingKind,
    parse_entries,
    read_entries,
    undone,
    with_entry,
    with_pending,
)
from msdcomp.edge.lifecycle.reconciling import Settled, Trace, reconcile, traces
from msdcomp.edge.lifecycle.recovery import recover
from msdcomp.edge.lifecycle.settled import standing, stood
from msdcomp.edge.lifecycle.site import Site, find_site
from msdcomp.edge.lifecycle.temporaries import cleared, temporaries
from msdcomp.edge.lifecycle.yard import Yard, open_yard
from msdcomp.edge.load import load_registry
from msdcomp.edge.locks import lifecycle_lock
from msdcomp.edge.roots import find_places
from msdcomp.edge.settings import HookEntry, SettingsEdit, apply_edit, plan_edit
from msdcomp.hookcommand import HookCommand
from tests.layouts import feature, overlay, write

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


def site_of(home: Path, project: Path, scope: str) -> Site:
    found = find_site(find_places(None, home, project), scope)
    assert isinstance(found, Site)
    return found


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


# Temporary files

ENDING = ".tmp.12-0123abcd"


def test_temporary_files_are_found_where_they_were_written(tmp_path: Path) -> None:
    """Also beside what a link leads to, and never outside of the root."""
    top = tmp_path / "top"
    for path in (
        f"a.json{ENDING}",
        f"in/b.json{ENDING}",
        f"aim/real.json{ENDING}",
        "aim/real.json",
        f"in/linked.json{ENDING}",
        f"in/other.json{ENDING}",
        "in/b.json.tmp.12-0123ABCD",
        "in/b.json.tmp.x-0123abcd",
        f"../out/c.json{ENDING}",
        "../out/c.json",
    ):
        write(top / path, "")
    (top / "in" / "linked.json").symlink_to("../aim/real.json")
    (top / "in" / "out.json").symlink_to(tmp_path / "out" / "c.json")
    (top / "away").symlink_to(tmp_path / "out")
    (top / "in/b.json.tmp.13-0123abcd").mkdir()
    files = [
        "a.json",
        "in/b.json",
        "in/linked.json",
        "in/out.json",
        "away/c.json",
        "../out/c.json",
        "nowhere/d.json",
        "nul\0",
    ]
    found = [
        f"a.json{ENDING}",
        f"aim/real.json{ENDING}",
        f"in/b.json{ENDING}",
        "in/b.json.tmp.13-0123abcd",
        f"in/linked.json{ENDING}",
    ]
    assert temporaries(str(top), files) == tuple(sorted(found))
    gone = cleared(str(top), [*found, "a.json.tmp.1-00000000"])
    assert gone == tuple(name for name in found if ".13-" not in name)
    assert temporaries(str(top), files) == ("in/b.json.tmp.13-0123abcd",)


def test_a_removal_forgets_no_temporary_file_with_its_entry(
    home: Path, project: Path
) -> None:
    """Only the entry says which settings file it may be beside."""
    edit = {"file": "own/settings.json", "marker": "tide"}
    marked = entry(kind="remove") | {"sharedEdits": [edit]}
    ledger = {"version": "1", "entries": {"tide": marked}}
    write(home / LEDGER, json.dumps(ledger))
    left = home / "own" / f"settings.json{ENDING}"
    write(left, "a secret")
    site = site_of(home, project, "global")
    with lifecycle_lock(site.root.ledger_root) as busy, open_yard(site) as yard:
        assert busy is None
        assert isinstance(yard, Yard)
        found = read_entries(site.root.ledger_root).entries["tide"]
        assert recover(site, yard, found) == "its removal was finished"
    assert not left.exists()


def test_what_a_killed_agreement_has_left_is_a_trace(home: Path, project: Path) -> None:
    write(home / ".msd" / f"consent.json{ENDING}", "{")
    site = site_of(home, project, "project")
    assert traces(site) == (Trace("temporary", f"consent.json{ENDING}"),)
    found = reconcile(site)
    assert isinstance(found, Settled)
    assert found.done == ((f"consent.json{ENDING}", "deleted"),)
    assert traces(site) == ()


# Entries that an intent writes over


NOW = "2026-01-02T03:04:05Z"


def ledger_of(**entries: Any) -> bytes:
    ledger = {"version": "1", "updatedAt": NOW, "theirs": [1], "entries": entries}
    return f"{json.dumps(ledger, indent=2)}\n".encode()


def begun(kind: PendingKind) -> InstalledEntry:
    return InstalledEntry(
        id="tide", version="2.0.0", source="/new", pending=Pending(kind=kind)
    )


def ok(found: bytes | FileFault) -> bytes:
    assert isinstance(found, bytes), found
    return found


@pytest.mark.parametrize("kind", ["install", "upgrade"])
@pytest.mark.parametrize(
    "before",
    [7, None, {}, {"id": "tide", "x": 1}, {"_pending": 7}, {"theirs": "kept"}],
)
def test_an_intent_that_is_undone_gives_back_what_it_wrote_over(
    kind: PendingKind, before: Any
) -> None:
    """To the byte, whether or not it made sense."""
    old = ledger_of(other=7, tide=before)
    marked = ok(with_entry(old, begun(kind), NOW))
    assert parse_entries(marked).entries["tide"].pending == Pending(kind=kind)
    assert ok(undone(marked, "tide", NOW)) == old


def test_an_entry_that_was_only_marked_loses_the_marker() -> None:
    whole = entry(kind="upgrade")
    del whole["_pending"]
    old = ledger_of(tide=whole)
    pending = Pending(kind="upgrade", backup_name="b")
    assert ok(undone(ok(with_pending(old, "tide", pending, NOW)), "tide", NOW)) == old


def test_an_install_where_nothing_was_leaves_nothing() -> None:
    old = ledger_of(other=7)
    assert ok(undone(ok(with_entry(old, begun("install"), NOW)), "tide", NOW)) == old


@pytest.mark.parametrize("before", [7, {"id": "tide", "x": 1}])
def test_what_was_written_over_goes_once_the_change_counts(before: Any) -> None:
    old = ledger_of(tide=before)
    marked = ok(with_entry(old, begun("install"), NOW))
    done = InstalledEntry(id="tide", version="2.0.0", source="/new")
    assert b"replaces" in marked
    assert b"replaces" not in ok(with_entry(marked, done, NOW))
    # A removal is finished and never undone, so there is nothing to keep.
    assert b"replaces" not in ok(with_entry(marked, begun("remove"), NOW))


@pytest.mark.parametrize(
    ("old", "code"),
    [
        (ledger_of(), "missing"),
        (ledger_of(tide=7), "bad-entry"),
        (ledger_of(tide={"_pending": True}), "bad-entry"),
        (ledger_of(tide={"id": "tide"}), "bad-entry"),
        (b"[", "damaged"),
    ],
)
def test_only_an_intent_can_be_undone(old: bytes, code: str) -> None:
    found = undone(old, "tide", NOW)
    assert isinstance(found, FileFault)
    assert found.code == code


# Hooks of an upgrade that is undone

HOOK = {"event": "Stop", "script": "hook.sh"}
ASIDE = "tide.before-0123456789abcdef"


def planted(project: Path, **pending: Any) -> Path:
    """Plant an upgrade that was interrupted; return the settings file it names."""
    staging = project / ".msd" / "capabilities" / ".staging" / ASIDE
    write(staging / "capability.json", json.dumps(feature("tide", hooks=[HOOK])))
    write(staging / "hook.sh", "#!/bin/sh\n")
    marked = entry(kind="upgrade", backupName=ASIDE, **pending)
    marked["sharedEdits"] = [{"file": "settings.json", "marker": "tide"}]
    ledger = {"version": "1", "entries": {"tide": marked}}
    write(project / LEDGER, json.dumps(ledger))
    return project / "settings.json"


def test_undoing_writes_no_hook_that_nobody_agreed_to(
    home: Path, project: Path
) -> None:
    """A repository may come with a ledger that says something is to be undone."""
    settings = planted(project)
    found = reconcile(site_of(home, project, "project"))
    assert isinstance(found, Settled)
    assert ("tide", "its upgrade was undone") in found.done
    assert not settings.exists()


def test_undoing_writes_the_hooks_that_were_agreed_to(
    home: Path, project: Path
) -> None:
    settings = planted(project)
    staging = project / ".msd" / "capabilities" / ".staging" / ASIDE
    record = record_consent(str(home), str(project), str(staging), "tide")
    assert isinstance(record, ConsentRecord)
    assert isinstance(reconcile(site_of(home, project, "project")), Settled)
    (hook,) = json.loads(settings.read_text())["hooks"]["Stop"]
    assert hook["_msdCapability"] == "tide"


def test_undoing_writes_no_hook_that_was_not_there(home: Path, project: Path) -> None:
    """The user had taken it out of the settings."""
    settings = planted(project, hooks=[])
    staging = project / ".msd" / "capabilities" / ".staging" / ASIDE
    record = record_consent(str(home), str(project), str(staging), "tide")
    assert isinstance(record, ConsentRecord)
    assert isinstance(reconcile(site_of(home, project, "project")), Settled)
    assert not settings.exists()


def test_only_entries_that_stood_in_a_file_are_put_back(
    home: Path, project: Path
) -> None:
    site = site_of(home, project, "global")
    one, other = (
        HookEntry(event=event, command=HookCommand("'/x/hook.sh'"), matcher=matcher)
        for event, matcher in (("Stop", None), ("PostToolUse", "Write"))
    )
    for file, entries in (("a.json", (one, other)), ("b.json", (other,))):
        edit = plan_edit(str(home), file, "tide", entries)
        assert isinstance(edit, SettingsEdit)
        assert apply_edit(edit) is None
    files = ["a.json", "b.json", "c.json"]
    marks = standing(site, "tide", files)
    assert len(marks) == 3
    found = {file: stood(file, "tide", (one, other), marks) for file in files}
    assert found == {"a.json": (one, other), "b.json": (other,), "c.json": ()}
    assert standing(site, "other", files) == ()
    assert stood("a.json", "other", (one, other), marks) == ()


@pytest.mark.parametrize("hooks", [None, (), ("a", "b")])
def test_what_stands_for_hooks_is_read_as_it_was_written(
    hooks: tuple[str, ...] | None,
) -> None:
    pending = Pending(kind="upgrade", backup_name=ASIDE, hooks=hooks)
    made = InstalledEntry(id="tide", version="", source="", pending=pending)
    written = ok(with_entry(None, made, NOW))
    assert parse_entries(written).entries["tide"].pending == pending


def test_what_cannot_stand_for_hooks_makes_an_entry_unclear() -> None:
    old = ledger_of(tide=entry(kind="upgrade", hooks=[7]))
    assert parse_entries(old).unclear == ("tide",)

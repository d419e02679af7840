"""W-4: a ledger that came with a repository leads nowhere but to its own folders."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.roots import CAPABILITIES
from tests.hostile.ground import Ground, bundle, entry, ledger, picture

VERBS = {
    "reconcile": ("reconcile",),
    "doctor": ("doctor",),
    "remove": ("remove", "tide", "--scope", "project"),
    "update": ("update", "--all", "--scope", "project", "--yes"),
}

#: What a repository would like to have deleted, read or written.
PATHS = (
    "important.txt",
    "./important.txt",
    "src",
    "..",
    "../outside/important.txt",
    ".msd/capabilities/../../important.txt",
    ".msd/capabilities/other",
    ".msd/capabilities",
    ".msd",
    ".git",
    "",
    ".",
    "/",
    "nul\0byte",
    "\ud800",
)

BACKUPS = (
    "../../important.txt",
    "../../../src",
    "../other",
    "..",
    ".",
    "",
    "other",
    "tide",
    "other.before-0123456789abcdef",
    "tide.before-0123456789abcdeg",
    "tide.before-0123456789abcdef/../../other",
    "tide.upgrading-1-2-0123abcd",
    "/",
    "nul\0byte",
    "tide.before-0123456789abcdef\0",
    "\ud800",
)

#: Settings files; those that can be edited hold entries of other capabilities only.
SHARED = (
    "../outside/settings.json",
    "link.json",
    "folder/../../outside/settings.json",
    "out/settings.json",
    ".git/config",
    "important.txt",
    "src",
    "pipe",
    ".msd/capabilities/other/capability.json",
    ".msd/capabilities/./other//capability.json",
    "manifest.json",
    "",
    "nul\0byte",
    "\ud800",
    "settings.json",
)


@pytest.fixture
def planted(ground: Ground) -> Ground:
    """A repository with the user's own work in it, and another overlay."""
    project = ground.project
    (project / "important.txt").write_bytes(b"work")
    (project / "src").mkdir()
    (project / "src" / "main.c").write_bytes(b"int main;")
    (project / ".git").mkdir()
    (project / ".git" / "config").write_bytes(b"[core]\n")
    # Its manifest holds what would be taken for an entry of `tide`.
    theirs = {"Stop": [{"_msdCapability": "tide", "hooks": []}]}
    bundle(ground.folder("other"), "other", {"own.md": b"text"}, hooks=theirs)
    marked = {"_msdCapability": "other", "hooks": []}
    held = json.dumps({"hooks": {"Stop": [marked, {"hooks": []}]}})
    (project / "settings.json").write_text(held, "utf-8")
    (ground.outside / "settings.json").write_text(
        held.replace("other", "tide"), "utf-8"
    )
    (project / "link.json").symlink_to(ground.outside / "settings.json")
    (project / "out").symlink_to(ground.outside)
    (project / "manifest.json").symlink_to(".msd/capabilities/other/capability.json")
    os.mkfifo(project / "pipe")
    return ground


def _untouched(ground: Ground) -> dict[str, object]:
    """Return all that no verb may touch."""
    seen = picture(ground.top)
    own = {str(ground.project / LEDGER_NAME), str(ground.folder("tide"))}
    made = {
        str(ground.project / CAPABILITIES / name) for name in (".lock", ".staging")
    } | {str(ground.home / ".msd")}
    return {
        path: what
        for path, what in seen.items()
        if not any(path == one or path.startswith(f"{one}/") for one in own | made)
    }


def _attack(ground: Ground, verb: str, **fields: Any) -> None:
    """Plant an entry, run a verb, and see that the user's files are as they were."""
    bundle(ground.folder("tide"))
    source = bundle(ground.top / "vendor", version="2.0.0")
    ledger(ground.project, entry("tide", source=str(source), **fields))
    before = _untouched(ground)

    done = ground.capability(*VERBS[verb])

    assert done.code in {0, 1, 2}
    assert _untouched(ground) == before


@pytest.mark.parametrize("verb", VERBS)
def test_w4_files_of_an_entry_are_not_deleted(planted: Ground, verb: str) -> None:
    absolute = [str(planted.outside), str(planted.project / "src")]

    _attack(planted, verb, files=[*PATHS, *absolute])


@pytest.mark.parametrize("kind", ["install", "upgrade", "remove"])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("backup", [*BACKUPS, "{outside}"])
def test_w4_a_backup_of_another_name_is_neither_moved_nor_deleted(
    planted: Ground, verb: str, kind: str, backup: str
) -> None:
    named = backup.format(outside=planted.outside)
    pending = {"kind": kind, "backupName": named, "sharedFiles": []}

    _attack(planted, verb, files=[named], _pending=pending)


@pytest.mark.parametrize("kind", ["install", "upgrade", "remove", None])
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("file", [*SHARED, "{outside}/settings.json"])
def test_w4_files_that_others_own_are_not_edited(
    planted: Ground, verb: str, kind: str | None, file: str
) -> None:
    named = file.format(outside=planted.outside)
    pending = {"kind": kind, "backupName": None, "sharedFiles": [named]}

    _attack(
        planted,
        verb,
        sharedEdits=[{"file": named, "marker": "tide"}],
        **({"_pending": pending} if kind else {}),
    )


@pytest.mark.parametrize("verb", ["reconcile", "remove"])
def test_w4_an_entry_marked_as_of_another_capability_is_not_its_own(
    planted: Ground, verb: str
) -> None:
    edits = [{"file": "settings.json", "marker": "other"}]

    _attack(planted, verb, sharedEdits=edits)


_LOOSE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([*PATHS, *BACKUPS, *SHARED, "install", "upgrade", "remove"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["kind", "backupName", "sharedFiles", "file", "marker"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    verb=st.sampled_from(sorted(VERBS)),
    fields=st.dictionaries(
        st.sampled_from(
            ["files", "sharedEdits", "_pending", "source", "id", "gatePoints"]
        ),
        _LOOSE,
        max_size=4,
    ),
)
def test_w4_whatever_an_entry_says_nothing_else_is_touched(
    planted: Ground, verb: str, fields: dict[str, Any]
) -> None:
    bundle(planted.folder("tide"))
    entries = {"tide": {**entry("tide"), **fields}}
    text = json.dumps({"version": "1", "entries": entries})
    (planted.project / LEDGER_NAME).write_text(text, "utf-8")
    before = _untouched(planted)

    assert planted.capability(*VERBS[verb]).code in {0, 1, 2}
    assert _untouched(planted) == before


def _crowded() -> bytes:
    entries = {f"a{n}": entry(f"a{n}") for n in range(4097)}
    return json.dumps({"version": "1", "entries": entries}).encode()


DAMAGED: dict[str, Callable[[], bytes]] = {
    "4097 entries": _crowded,
    "more than 8 MiB": lambda: b'{"version":"1","entries":{}}'.ljust(
        8 * 1024 * 1024 + 1
    ),
    "not JSON": lambda: b"{",
    "no object": lambda: b"[]",
    "no entries": lambda: b'{"version":"1"}',
    "another format": lambda: b'{"version":"2","entries":{}}',
    "deep": lambda: b'{"version":"1","entries":' + b"[" * 200_000,
    "not UTF-8": lambda: b'{"version":"1","entries":{"\xff":{}}}',
    "NaN": lambda: b'{"version":"1","entries":{"tide":{"a":NaN}}',
}


@pytest.mark.parametrize("what", DAMAGED)
@pytest.mark.parametrize("verb", [*VERBS, "install"])
def test_w4_a_ledger_that_cannot_be_read_stops_every_change(
    planted: Ground, tmp_path: Path, what: str, verb: str
) -> None:
    source = bundle(tmp_path / "source")
    bundle(planted.folder("tide"))
    (planted.project / LEDGER_NAME).write_bytes(DAMAGED[what]())
    before = picture(planted.top)
    line = ("install", str(source), "--scope", "project", "--yes")

    done = planted.capability(*VERBS.get(verb, line))

    assert done.code != 0
    assert picture(planted.top) == before


def test_w4_the_last_of_4096_entries_can_still_be_removed(planted: Ground) -> None:
    bundle(planted.folder("tide"))
    ledger(planted.project, entry("tide"), *(entry(f"a{n}") for n in range(4095)))

    assert planted.capability("remove", "tide", "--scope", "project").code == 0
    assert not planted.folder("tide").exists()
    assert len(json.loads((planted.project / LEDGER_NAME).read_bytes())["entries"]) == (
        4095
    )


def test_w4_a_removal_takes_what_is_its_own_and_nothing_beside_it(
    planted: Ground,
) -> None:
    folder = bundle(planted.folder("tide"), files={"a/b.md": b"text"})
    (folder / "link").symlink_to(planted.outside)
    (folder / "a" / "up").symlink_to("../../other")
    os.mkfifo(folder / "pipe")
    os.link(planted.outside / "important.txt", folder / "hard")
    ledger(planted.project, entry("tide"))
    before = picture(planted.top)

    done = planted.capability("remove", "tide", "--scope", "project")

    assert done.code == 0, done
    after = picture(planted.top)
    own = str(folder)
    assert {path for path in before if path not in after} == {
        path for path in before if path == own or path.startswith(f"{own}/")
    }
    changed = {path for path in after if before.get(path) != after[path]}
    assert changed == {str(planted.project / LEDGER_NAME)}

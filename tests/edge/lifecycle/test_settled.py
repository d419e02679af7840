"""Which entries a capability has in which settings file of a host."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.ledgerfile import InstalledEntry, SharedEdit
from msdcomp.edge.lifecycle import Site
from msdcomp.edge.lifecycle.settled import (
    apply_edits,
    hook_edits,
    hook_entries,
    plan_edits,
    recorded,
    shared_edits,
)
from msdcomp.plan import HookEdit
from msdcomp.wire import decode
from tests.documents import reviewer
from tests.edge.lifecycle.shops import hooked, parcel_of, site_of

SETTINGS = "host/settings.json"


def _settings(site: Site, file: str = SETTINGS) -> Any:
    return json.loads(Path(site.root.ledger_root, file).read_text("utf-8"))


@pytest.fixture
def odd(tmp_path: Path) -> Site:
    """A site whose path means something to a shell."""
    home = tmp_path / "ada's $HOME `x`"
    home.mkdir()
    return site_of(home, tmp_path / "project", "global")


def test_a_command_is_the_physical_path_as_one_word_of_a_shell(
    odd: Site, tmp_path: Path
) -> None:
    Path(odd.home, ".msd").symlink_to(tmp_path / "real")
    manifest = parcel_of(
        hooked(tmp_path / "new", {"script": "./run.sh", "matcher": "Write"})
    ).manifest

    (entry,) = hook_entries(odd, "tides", manifest)

    path = f"{tmp_path}/real/capabilities/tides/run.sh"
    assert shlex.split(entry.command) == [path]
    assert entry.command == f"'{path}'"
    assert (entry.event, entry.matcher) == ("Stop", "Write")


def test_a_quote_in_a_path_is_kept(odd: Site, tmp_path: Path) -> None:
    (entry,) = hook_entries(odd, "tides", parcel_of(hooked(tmp_path / "new")).manifest)

    path = f"{odd.home}/.msd/capabilities/tides/run.sh"
    assert shlex.split(entry.command) == [path]
    assert "'\\''" in entry.command


def test_a_path_that_is_not_text_has_no_command(tmp_path: Path) -> None:
    home = tmp_path / "caf\udce9"
    home.mkdir()
    site = site_of(home, None, "global")
    assert (
        hook_entries(site, "tides", parcel_of(hooked(tmp_path / "new")).manifest) == ()
    )


def test_who_has_no_hooks_has_no_entries(at_home: Site) -> None:
    lane = decode(reviewer()).manifest
    assert lane is not None

    assert hook_entries(at_home, "gull", lane) == ()
    assert hook_entries(at_home, "gull", None) == ()


@given(st.lists(st.sampled_from(["a.json", "b.json", "c/d.json"])))
def test_what_is_recorded_is_read_back_each_file_once(files: list[str]) -> None:
    entry = InstalledEntry(
        id="tides",
        version="1.0.0",
        source="/x",
        shared_edits=(
            SharedEdit(file="z.json", marker="other"),
            *shared_edits("tides", files),
        ),
    )

    assert recorded(entry) == tuple(dict.fromkeys(files))
    assert recorded(None) == ()


def test_files_that_are_kept_get_the_entries_and_the_others_lose_them(
    site: Site, tmp_path: Path
) -> None:
    wanted = hook_entries(site, "tides", parcel_of(hooked(tmp_path / "new")).manifest)
    first = plan_edits(site, "tides", ["a.json", "b.json"], wanted, ["a.json"])
    assert apply_edits(first) is None
    assert not Path(site.root.ledger_root, "b.json").exists()

    second = plan_edits(
        site, "tides", ["a.json", "b.json", "a.json"], wanted, ["b.json"]
    )

    (line,) = [edit.entry for edit in hook_edits(first)]
    assert hook_edits(first) == (HookEdit("a.json", "added", "Stop", line),)
    assert hook_edits(second) == (
        HookEdit("a.json", "removed", "Stop", line),
        HookEdit("b.json", "added", "Stop", line),
    )
    assert apply_edits(second) is None
    assert _settings(site, "a.json") == {}
    (entry,) = _settings(site, "b.json")["hooks"]["Stop"]
    assert entry["_msdCapability"] == "tides"


@pytest.mark.parametrize("file", ["../out.json", "/etc/out.json", "bad.json", "dir"])
def test_a_file_that_cannot_be_edited_is_a_fault_of_its_own(
    site: Site, tmp_path: Path, file: str
) -> None:
    top = Path(site.root.ledger_root)
    (top / "bad.json").write_text("// mine\n{}", "utf-8")
    (top / "dir").mkdir()
    wanted = hook_entries(site, "tides", parcel_of(hooked(tmp_path / "new")).manifest)

    edits = plan_edits(site, "tides", [file, "good.json"], wanted, [file, "good.json"])

    assert [name for name, _ in edits.faults] == [file]
    assert [name for name, _ in edits.edits] == ["good.json"]
    assert (top / "bad.json").read_text("utf-8") == "// mine\n{}"


def test_a_file_that_changed_meanwhile_is_not_written(
    site: Site, tmp_path: Path
) -> None:
    wanted = hook_entries(site, "tides", parcel_of(hooked(tmp_path / "new")).manifest)
    edits = plan_edits(site, "tides", ["a.json"], wanted, ["a.json"])
    Path(site.root.ledger_root, "a.json").write_text('{"mine": 1}', "utf-8")

    fault = apply_edits(edits)

    assert fault is not None
    assert fault.code == "changed"
    assert fault.reason.startswith("a.json: ")
    assert _settings(site, "a.json") == {"mine": 1}

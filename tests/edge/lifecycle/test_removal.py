"""Removing whatever a warning may name, and nothing beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge import consent
from msdcomp.edge.consentstore import list_consents, store_path
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import (
    Site,
    applying,
    find_site,
    plan_install,
    plan_removal,
    reconcile,
    recovery,
    traces,
)
from msdcomp.edge.lifecycle.yard import Yard
from msdcomp.edge.roots import find_places
from msdcomp.scope import Scope
from tests.edge.lifecycle.shops import (
    agree_by_hand,
    blocks,
    change_entry,
    composed,
    done,
    entry_of,
    folder_of,
    hooked,
    installed,
    listing,
    parcel_of,
    put,
    record_of,
    removed,
    source,
)


def _gone(site: Site, name: str = "tides") -> bool:
    return (
        not os.path.lexists(folder_of(site, name))
        and entry_of(site, name) is None
        and record_of(site, name) is None
        and traces(site) == ()
    )


def _settings(site: Site) -> Any:
    return json.loads(Path(site.root.ledger_root, "host.json").read_text("utf-8"))


def test_what_was_installed_is_gone_without_a_trace(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "b", "buoy"))
    before = listing(folder_of(site, "buoy"))
    done(plan_install(site, parcel_of(hooked(tmp_path / "a")), ["host.json"]))

    found = removed(site, "tides")

    assert found.notes == ()
    assert _gone(site)
    assert listing(folder_of(site, "buoy")) == before
    assert composed(site).accepted == ("buoy",)
    assert _settings(site) == {}


def test_only_its_own_hooks_go(site: Site, tmp_path: Path) -> None:
    host = Path(site.root.ledger_root, "host.json")
    host.write_text('{"theme": "dark", "hooks": {"Stop": [{"hooks": []}]}}', "utf-8")
    before = json.loads(host.read_text("utf-8"))
    other = hooked(tmp_path / "b")
    source(other, "buoy", hooks=[{"event": "Stop", "script": "run.sh"}])
    done(plan_install(site, parcel_of(other), ["host.json"]))
    kept = json.loads(host.read_text("utf-8"))
    done(plan_install(site, parcel_of(hooked(tmp_path / "a")), ["host.json"]))

    removed(site, "tides")

    assert json.loads(host.read_text("utf-8")) == kept
    removed(site, "buoy")
    assert json.loads(host.read_text("utf-8")) == before


def test_a_folder_that_nobody_recorded_goes_with_its_agreement(site: Site) -> None:
    put(site, "tides")
    if site.scope is Scope.PROJECT:
        agree_by_hand(site, "tides")
        assert composed(site).accepted == ("tides",)

    removed(site, "tides")

    assert _gone(site)


@pytest.mark.parametrize(
    "name", ["Odd_Id", "-rf x", "msd-own", "caf\u00e9", "a" * 120, "x;y", "caf\udce9"]
)
def test_a_folder_of_any_name_goes(site: Site, name: str) -> None:
    put(site, name)
    put(site, "tides")

    removed(site, name)

    assert not os.path.lexists(folder_of(site, name))
    assert traces(site) == ()
    assert folder_of(site).exists()


@pytest.mark.parametrize("length", [100, 101, 255])
def test_an_id_too_long_to_be_typed_goes_whole(
    site: Site, tmp_path: Path, length: int
) -> None:
    name = "a" * length
    installed(site, source(tmp_path / "new", name))
    installed(site, source(tmp_path / "new", name, version="2.0.0"))

    removed(site, name)

    assert _gone(site, name)


@pytest.mark.parametrize("target", ["there", "nowhere"])
def test_a_link_goes_and_what_it_leads_to_stays(
    site: Site, tmp_path: Path, target: str
) -> None:
    kept = source(tmp_path / "there")
    before = listing(kept)
    folder_of(site).parent.mkdir(parents=True)
    folder_of(site).symlink_to(tmp_path / target)

    plan = removed(site, "tides").plan

    assert [(edit.path, edit.how) for edit in plan.files] == [("", "removed")]
    assert _gone(site)
    assert listing(kept) == before


@pytest.mark.parametrize("mode", [0, 0o500])
def test_a_folder_that_may_not_be_read_goes(site: Site, mode: int) -> None:
    top = put(site, "tides", files={"a/b.md": "b"})
    (top / "a").chmod(mode)
    top.chmod(mode)

    removed(site, "tides")

    assert _gone(site)


def test_a_folder_deeper_than_any_path_goes(site: Site) -> None:
    fd = os.open(put(site, "tides"), os.O_RDONLY)
    for _ in range(2000):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)

    removed(site, "tides")

    assert _gone(site)


def test_a_folder_with_links_inside_goes_and_they_are_not_followed(
    site: Site, tmp_path: Path
) -> None:
    kept = source(tmp_path / "kept")
    top = put(site, "tides", files={"a/b.md": "b"})
    (top / "a" / "link").symlink_to(kept)
    os.mkfifo(top / "pipe")

    removed(site, "tides")

    assert _gone(site)
    assert (kept / "capability.json").exists()


@pytest.mark.parametrize("entry", [{"version": 7}, {"files": ["../../important"]}])
def test_a_damaged_entry_goes_with_its_folder(
    site: Site, tmp_path: Path, entry: dict[str, Any]
) -> None:
    installed(site, source(tmp_path / "new"))
    change_entry(site, **entry)

    removed(site, "tides")

    assert _gone(site)


def test_an_entry_without_a_folder_goes(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "new"))
    folder_of(site).rename(tmp_path / "elsewhere")

    plan = removed(site, "tides").plan

    assert plan.files == ()
    assert _gone(site)


def test_files_that_the_ledger_names_elsewhere_stay(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "new"))
    important = Path(site.root.ledger_root, "important.txt")
    important.write_text("mine", "utf-8")
    change_entry(site, files=["important.txt", ".msd/capabilities/tides"])

    removed(site, "tides")

    assert _gone(site)
    assert important.read_text("utf-8") == "mine"


@pytest.mark.parametrize("gone", ["Odd_Id", "tides"])
def test_what_an_upgrade_of_another_has_set_aside_stays(
    site: Site, tmp_path: Path, gone: str
) -> None:
    where = source(tmp_path / "new", "unnamed")
    installed(site, where)
    upgrade = plan_install(site, parcel_of(source(where, "unnamed", version="2.0.0")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Yard, "promote", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            done(upgrade)
    put(site, gone)

    removed(site, gone)

    assert not isinstance(reconcile(site), FileFault)
    entry = entry_of(site, "unnamed")
    assert entry is not None
    assert (entry.version, entry.pending) == ("1.0.0", None)
    assert composed(site).accepted == ("unnamed",)


def _interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_damaged_settings_file_is_kept_and_named(site: Site, tmp_path: Path) -> None:
    done(plan_install(site, parcel_of(hooked(tmp_path / "new")), ["host.json"]))
    host = Path(site.root.ledger_root, "host.json")
    host.write_text("// mine\n{}", "utf-8")

    found = removed(site, "tides")

    (note,) = found.notes
    assert note.startswith("host.json is left as it is")
    assert host.read_text("utf-8") == "// mine\n{}"
    assert _gone(site)


def test_a_damaged_consent_store_is_kept_and_named(site: Site, tmp_path: Path) -> None:
    installed(site, source(tmp_path / "new"))
    store = Path(store_path(site.home))
    store.write_text("{", "utf-8")

    found = removed(site, "tides")

    (note,) = found.notes
    assert note.startswith("the agreement to it could not be taken back: ")
    assert store.read_text("utf-8") == "{"
    assert not os.path.lexists(folder_of(site))
    assert entry_of(site) is None


def test_what_is_in_flight_can_be_removed(site: Site, tmp_path: Path) -> None:
    done(plan_install(site, parcel_of(hooked(tmp_path / "new")), ["host.json"]))
    change_entry(
        site,
        sharedEdits=[],
        _pending={"kind": "upgrade", "backupName": None, "sharedFiles": ["host.json"]},
    )

    removed(site, "tides")

    assert _gone(site)
    assert _settings(site) == {}


def _faulty(*_: object, **__: object) -> FileFault:
    return FileFault("full", "no space left")


def _failing(*_: object, **__: object) -> None:
    raise OSError(28, "no space left")


@pytest.mark.parametrize(
    ("target", "name", "play"),
    [
        (Yard, "set_aside", _failing),
        (recovery, "apply_edits", _faulty),
        (recovery, "write_ledger", _faulty),
    ],
)
def test_a_removal_that_failed_halfway_is_finished_by_reconcile(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: Any,
    name: str,
    play: Callable[..., Any],
) -> None:
    done(plan_install(site, parcel_of(hooked(tmp_path / "new")), ["host.json"]))
    with monkeypatch.context() as patch:
        patch.setattr(target, name, play)
        (block,) = blocks(plan_removal(site, "tides"))

    assert block.code.startswith("write-")
    assert "reconcile" in block.remedy
    assert composed(site).accepted == ()
    settled = reconcile(site)
    assert not isinstance(settled, FileFault)
    assert settled.left == ()
    assert _gone(site)


def test_a_removal_whose_intent_cannot_be_written_changes_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(site, source(tmp_path / "new"))
    before = composed(site).accepted
    monkeypatch.setattr(applying, "write_ledger", _faulty)

    (block,) = blocks(plan_removal(site, "tides"))
    assert block.code == "write-full"
    # There is nothing that `reconcile` would find.
    assert block.remedy == "nothing is in flight; mend that, and remove it again"
    assert traces(site) == ()
    assert composed(site).accepted == before == ("tides",)


def test_what_cannot_be_deleted_is_out_of_the_way_all_the_same(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(site, source(tmp_path / "new"))
    with monkeypatch.context() as patch:
        patch.setattr(Yard, "delete", _failing)
        removed(site, "tides")

    assert composed(site).accepted == ()
    assert entry_of(site) is None
    assert not isinstance(reconcile(site), FileFault)
    assert _gone(site)


def test_what_is_put_there_after_a_removal_has_to_ask(
    in_project: Site, tmp_path: Path
) -> None:
    where = source(tmp_path / "new")
    installed(in_project, where)
    removed(in_project, "tides")

    put(in_project, "tides")

    assert composed(in_project).accepted == ()
    assert not consent.read_consent(in_project.home).records


def test_an_agreement_under_either_name_of_a_home_goes(
    home: Path, tmp_path: Path
) -> None:
    """Run from inside, a home is a project as well."""
    (home / ".git").mkdir()
    (tmp_path / "elsewhere").mkdir()
    outside = find_site(find_places(tmp_path / "elsewhere", home), "global")
    inside = find_site(find_places(home, home), "global")
    assert isinstance(outside, Site)
    assert isinstance(inside, Site)
    assert (outside.scope, inside.scope) == (Scope.GLOBAL, Scope.PROJECT)
    bundle = source(tmp_path / "tides")
    installed(outside, bundle)

    done(plan_removal(inside, "tides"))

    assert list_consents(str(home)) == ()
    assert plan_install(outside, parcel_of(bundle)).plan.asks

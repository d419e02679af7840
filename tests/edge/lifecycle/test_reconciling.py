"""What killed commands leave is seen, settled once, and never anybody else's."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge import locks
from msdcomp.edge.consent import write_consent
from msdcomp.edge.consentstore import store_path
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import (
    Settled,
    Site,
    Trace,
    plan_install,
    reconcile,
    reconciling,
    traces,
)
from msdcomp.edge.lifecycle.composing import record_of as record_to
from msdcomp.edge.lifecycle.yard import Yard
from msdcomp.edge.locks import consent_lock, lifecycle_lock
from tests.edge.lifecycle.shops import (
    change_entry,
    composed,
    done,
    entry_of,
    folder_of,
    hooked,
    installed,
    listing,
    parcel_of,
    record_of,
    source,
)

SUFFIX = ".tmp.12-0123abcd"


def _in_flight(site: Site, name: str = "tides", **fields: Any) -> None:
    marker = {"kind": "remove", "backupName": None, "sharedFiles": [], **fields}
    change_entry(site, name, _pending=marker)


def _staged(site: Site, name: str) -> Path:
    return source(folder_of(site, ".staging") / name)


def _names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def _settled(site: Site, **options: Any) -> Settled:
    found = reconcile(site, **options)
    assert isinstance(found, Settled), found
    return found


def test_where_nothing_was_left_nothing_is_done(
    site: Site, tmp_path: Path, home: Path, project: Path
) -> None:
    installed(site, source(tmp_path / "new"))
    before = listing(home, project)

    assert traces(site) == ()
    assert _settled(site) == Settled()

    assert listing(home, project) == before


def test_everything_that_was_left_is_seen_and_settled_once(
    site: Site, tmp_path: Path, home: Path
) -> None:
    done(plan_install(site, parcel_of(hooked(tmp_path / "new")), ["a/host.json"]))
    other = parcel_of(source(tmp_path / "other", "buoy"))
    done(plan_install(site, other))
    write_consent(str(home), record_to(site, other), provisional=True)
    _in_flight(site)
    _staged(site, "new-0123")
    root = Path(site.root.ledger_root)
    left = [
        root / f".msd-capabilities.json{SUFFIX}",
        root / "a" / f"host.json{SUFFIX}",
        Path(f"{store_path(site.home)}{SUFFIX}"),
    ]
    for path in left:
        path.write_text("x", "utf-8")

    found = traces(site)

    assert not isinstance(found, FileFault)
    kinds = [trace.what for trace in found]
    assert kinds[:2] == ["pending", "staging"]
    assert kinds[2:] == ["temporary"] * (len(kinds) - 3) + ["provisional"]
    assert found[0] == Trace("pending", "tides")
    assert found[-1] == Trace("provisional", "buoy")
    settled = _settled(site)
    assert settled.left == ()
    assert settled.done[0] == ("tides", "its removal was finished")
    assert not any(path.exists() for path in left)
    record = record_of(site, "buoy")
    assert record is not None
    assert not record.provisional
    assert composed(site).accepted == ("buoy",)
    assert traces(site) == ()
    assert _settled(site) == Settled()


def test_what_only_looks_like_a_temporary_file_stays(
    site: Site, tmp_path: Path
) -> None:
    done(plan_install(site, parcel_of(hooked(tmp_path / "new")), ["host.json"]))
    root = Path(site.root.ledger_root)
    (root / f"other.json{SUFFIX}").write_text("mine", "utf-8")
    (root / "host.json.tmp.12-0123ABCD").write_text("mine", "utf-8")
    (root / f"host.json{SUFFIX}.bak").write_text("mine", "utf-8")
    (root / f"host.json{SUFFIX}").mkdir()
    before = _names(root)

    assert _settled(site).left == ()

    assert _names(root) == before


def test_one_that_cannot_be_settled_keeps_no_other_from_it(
    site: Site, tmp_path: Path
) -> None:
    installed(site, source(tmp_path / "a"))
    installed(site, source(tmp_path / "b", "buoy"))
    _in_flight(site, kind="upgrade", backupName="theirs")
    _in_flight(site, "buoy")
    _staged(site, "theirs")
    _staged(site, "ours")

    found = _settled(site)

    assert [name for name, _ in found.left] == ["tides"]
    assert ("buoy", "its removal was finished") in found.done
    assert _names(folder_of(site, ".staging")) == {"theirs"}
    assert entry_of(site, "buoy") is None


def test_an_agreement_to_what_is_still_in_flight_stays_provisional(
    site: Site, tmp_path: Path
) -> None:
    parcel = parcel_of(source(tmp_path / "a"))
    done(plan_install(site, parcel))
    write_consent(site.home, record_to(site, parcel), provisional=True)
    _in_flight(site, kind="upgrade", backupName="theirs")

    assert [name for name, _ in _settled(site).left] == ["tides"]

    record = record_of(site)
    assert record is not None
    assert record.provisional


def test_what_cannot_be_deleted_is_said(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    _staged(site, "a")
    _staged(site, "b")
    real = Yard.delete

    def some(yard: Yard, name: str) -> None:
        if name == "a":
            raise OSError(13, "no")
        real(yard, name)

    monkeypatch.setattr(Yard, "delete", some)

    found = _settled(site)

    (told,) = found.left
    assert told[0].endswith("/.staging")
    assert len(found.done) == 1
    assert _names(folder_of(site, ".staging")) == {"a"}


def test_a_damaged_ledger_is_left_alone(site: Site, home: Path, project: Path) -> None:
    Path(site.root.ledger_root, ".msd-capabilities.json").write_text("{", "utf-8")
    _staged(site, "new-0123")
    before = listing(home, project)

    assert isinstance(traces(site), FileFault)
    assert isinstance(reconcile(site), FileFault)

    assert listing(home, project) == before


def test_a_ledger_that_is_damaged_meanwhile_is_left_alone(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged = _staged(site, "new-0123")
    monkeypatch.setattr(reconciling, "traces", lambda _: (Trace("staging", "x"),))
    Path(site.root.ledger_root, ".msd-capabilities.json").write_text("{", "utf-8")

    assert isinstance(reconcile(site), FileFault)

    assert staged.exists()


def test_a_damaged_consent_store_holds_nothing_provisional(site: Site) -> None:
    store = Path(store_path(site.home))
    store.parent.mkdir(exist_ok=True)
    store.write_text("{", "utf-8")

    assert traces(site) == ()


def test_a_scope_that_is_in_use_is_left_to_who_uses_it(site: Site) -> None:
    staged = _staged(site, "new-0123")

    with lifecycle_lock(site.root.ledger_root, own=site.is_own) as busy:
        assert busy is None
        found = reconcile(site, wait_s=0)

    assert isinstance(found, FileFault)
    assert found.code == "busy"
    assert staged.exists()


def test_a_lock_that_a_kill_has_left_is_cleared_away(site: Site) -> None:
    """A command killed right after it locked has left nothing but that file."""
    lock = folder_of(site, ".lock")
    lock.parent.mkdir(parents=True)
    lock.touch()

    assert reconcile(site) == Settled()

    assert not lock.exists()


def test_a_lock_that_is_held_stays_and_nobody_waits_for_it(site: Site) -> None:
    with lifecycle_lock(site.root.ledger_root, own=site.is_own) as busy:
        assert busy is None
        assert reconcile(site) == Settled()
        assert folder_of(site, ".lock").exists()


def test_what_is_planted_in_place_of_the_lock_stays(site: Site, tmp_path: Path) -> None:
    lock = folder_of(site, ".lock")
    lock.parent.mkdir(parents=True)
    lock.symlink_to(tmp_path / "elsewhere")

    assert reconcile(site) == Settled()

    assert lock.is_symlink()
    assert not (tmp_path / "elsewhere").exists()


def test_temporary_files_of_a_store_that_is_in_use_stay(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Path(store_path(site.home))
    store.parent.mkdir(exist_ok=True)
    temporary = store.with_name(f"{store.name}{SUFFIX}")
    temporary.write_text("x", "utf-8")
    _staged(site, "new-0123")
    real = locks.consent_lock
    monkeypatch.setattr(reconciling, "consent_lock", lambda home: real(home, 0))

    with consent_lock(site.home) as busy:
        assert busy is None
        _settled(site)
    assert temporary.exists()

    _settled(site)
    assert not temporary.exists()


def test_a_staging_folder_that_is_somebodys_file_is_a_fault(site: Site) -> None:
    staging = folder_of(site, ".staging")
    staging.parent.mkdir(parents=True)
    staging.write_text("mine", "utf-8")

    assert isinstance(reconcile(site), FileFault)

    assert staging.read_text("utf-8") == "mine"


def test_files_that_a_planted_ledger_names_elsewhere_are_not_touched(
    site: Site, tmp_path: Path
) -> None:
    installed(site, source(tmp_path / "new"))
    outside = tmp_path / f"out.json{SUFFIX}"
    outside.write_text("mine", "utf-8")
    up = os.path.relpath(tmp_path / "out.json", site.root.ledger_root)
    names = [up, str(tmp_path / "out.json")]
    change_entry(
        site, sharedEdits=[{"file": name, "marker": "tides"} for name in names]
    )
    _in_flight(site, sharedFiles=names)

    reconcile(site)

    assert outside.read_text("utf-8") == "mine"


def test_a_scope_does_not_settle_the_other(
    at_home: Site, in_project: Site, tmp_path: Path
) -> None:
    for site in (at_home, in_project):
        parcel = parcel_of(
            source(tmp_path / site.scope.value, f"tides-{site.scope.value}")
        )
        done(plan_install(site, parcel))
        _in_flight(site, parcel.manifest.id)
        write_consent(site.home, record_to(site, parcel), provisional=True)

    _settled(at_home)

    entry = entry_of(in_project, "tides-project")
    assert entry is not None
    assert entry.pending is not None
    record = record_of(in_project, "tides-project")
    assert record is not None
    assert record.provisional
    assert entry_of(at_home, "tides-global") is None
    assert json.loads(Path(store_path(at_home.home)).read_text("utf-8"))["records"]

"""Undoing and finishing what an entry says is in flight, step by step."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.consentstore import store_path
from msdcomp.edge.content_hash import read_bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import (
    Prepared,
    Site,
    apply,
    applying,
    plan_install,
    plan_removal,
    recovery,
)
from msdcomp.edge.lifecycle.recovery import recover
from msdcomp.edge.lifecycle.yard import Yard, open_yard
from tests.edge.lifecycle.shops import (
    change_entry,
    composed,
    done,
    entry_of,
    folder_of,
    hooked,
    parcel_of,
    put,
    record_of,
)


def _killed(prepared: Prepared, target: Any, name: str, call: int = 1) -> None:
    """Carry a plan out up to a call of a function, and no further."""
    real, calls = getattr(target, name), []

    def dying(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(target, name, dying)
        with pytest.raises(KeyboardInterrupt):
            apply(prepared)


def _recovered(site: Site, *, told: str = "") -> str | FileFault:
    entry = entry_of(site)
    assert entry is not None
    with open_yard(site) as yard:
        assert isinstance(yard, Yard)
        found = recover(site, yard, entry)
    if told:
        assert found == told
    return found


def _world(site: Site) -> list[object]:
    host = Path(site.root.ledger_root, "host.json")
    bundle = read_bundle(str(folder_of(site)))
    return [
        None if isinstance(bundle, FileFault) else bundle.digest,
        entry_of(site),
        record_of(site),
        json.loads(host.read_text("utf-8")) if host.exists() else {},
    ]


NOTHING: list[object] = [None, None, None, {}]


@pytest.fixture
def where(tmp_path: Path) -> Path:
    return hooked(tmp_path / "new")


@pytest.fixture
def installing(site: Site, where: Path) -> Prepared:
    return plan_install(site, parcel_of(where), ["host.json"])


@pytest.fixture
def upgrading(site: Site, where: Path, installing: Prepared) -> Prepared:
    done(installing)
    hooked(where, {"event": "Start"}, files={"more.md": "m"})
    return plan_install(site, parcel_of(where))


def test_what_is_not_in_flight_is_left_as_it_is(
    site: Site, installing: Prepared
) -> None:
    done(installing)
    before = _world(site)

    _recovered(site, told="nothing was in flight")

    assert _world(site) == before


_STEPS = [
    (Yard, "promote", 1),
    (applying, "apply_edits", 1),
    (applying, "write_consent", 1),
    (applying, "write_ledger", 2),
]


@pytest.mark.parametrize(("target", "name", "call"), _STEPS)
def test_an_install_is_undone(
    site: Site, installing: Prepared, target: Any, name: str, call: int
) -> None:
    _killed(installing, target, name, call)
    assert composed(site).accepted == ()

    _recovered(site, told="its install was undone")

    assert _world(site) == NOTHING


@pytest.mark.parametrize(("target", "name", "call"), [*_STEPS, (Yard, "set_aside", 1)])
def test_an_upgrade_is_undone(
    site: Site, upgrading: Prepared, target: Any, name: str, call: int
) -> None:
    before = _world(site)
    _killed(upgrading, target, name, call)
    assert composed(site).accepted == ()

    _recovered(site, told="its upgrade was undone")

    assert _world(site) == before
    assert composed(site).accepted == ("tides",)


def test_an_upgrade_that_counts_is_not_undone(site: Site, upgrading: Prepared) -> None:
    _killed(upgrading, applying, "settle_consent", 2)

    _recovered(site, told="nothing was in flight")

    entry, record = entry_of(site), record_of(site)
    assert entry is not None
    assert record is not None
    assert upgrading.parcel is not None
    assert entry.content_hash == upgrading.parcel.bundle.digest == record.content_hash
    assert record.provisional


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (recovery, "finish_removal"),
        (recovery, "apply_edits"),
        (Yard, "set_aside"),
        (recovery, "revoke_consent"),
        (recovery, "write_ledger"),
    ],
)
def test_a_removal_is_finished(
    site: Site, installing: Prepared, target: Any, name: str
) -> None:
    done(installing)
    removal = plan_removal(site, "tides")
    if name == "finish_removal":
        target = applying
    _killed(removal, target, name)
    assert composed(site).accepted == ()

    _recovered(site, told="its removal was finished")

    assert _world(site) == NOTHING


def test_a_folder_that_the_install_did_not_put_there_is_left(
    site: Site, installing: Prepared
) -> None:
    _killed(installing, Yard, "promote")
    put(site, "tides", files={"mine.md": "mine"})

    told = _recovered(site)

    assert isinstance(told, str)
    assert told.endswith("; the folder of its name is left as it is")
    assert (folder_of(site) / "mine.md").exists()
    assert entry_of(site) is None


def test_an_upgrade_of_which_nothing_is_left_takes_the_entry_along(
    site: Site, upgrading: Prepared
) -> None:
    _killed(upgrading, Yard, "promote")
    with open_yard(site) as yard:
        assert isinstance(yard, Yard)
        for name in yard.names():
            yard.delete(name)

    _recovered(site, told="nothing was left of it")

    assert entry_of(site) is None
    assert _world(site)[3] == {}


@pytest.mark.parametrize("kind", ["upgrade"])
@pytest.mark.parametrize(
    "backup", ["tides", "../../x", "other.before-0123456789abcdef", "tides.before-x"]
)
def test_a_backup_of_another_name_is_not_touched(
    site: Site, installing: Prepared, kind: str, backup: str
) -> None:
    done(installing)
    marker = {"kind": kind, "backupName": backup, "sharedFiles": []}
    change_entry(site, _pending=marker)
    before = _world(site)

    found = _recovered(site)

    assert isinstance(found, FileFault)
    assert found.code == "foreign"
    assert _world(site) == before


def test_an_upgrade_without_a_backup_stays_as_it_is_found(
    site: Site, installing: Prepared
) -> None:
    done(installing)
    before = _world(site)
    marker: dict[str, Any] = {"kind": "upgrade", "backupName": None, "sharedFiles": []}
    change_entry(site, _pending=marker)

    _recovered(site, told="its upgrade was undone")

    assert _world(site) == before


def _failing(*_: object, **__: object) -> None:
    raise OSError(28, "no space left")


def _faulty(*_: object, **__: object) -> FileFault:
    return FileFault("full", "no space left")


@pytest.mark.parametrize(
    ("target", "name", "play"),
    [
        (Yard, "set_aside", _failing),
        (recovery, "apply_edits", _faulty),
        (recovery, "restore_consent", _faulty),
        (recovery, "write_ledger", _faulty),
    ],
)
@pytest.mark.parametrize("scene", ["installing", "upgrading"])
def test_what_fails_stays_in_flight_and_is_done_the_next_time(
    site: Site,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    scene: str,
    target: Any,
    name: str,
    play: Callable[..., Any],
) -> None:
    prepared = request.getfixturevalue(scene)
    before = _world(site)
    _killed(prepared, applying, "write_ledger", 2)
    with monkeypatch.context() as patch:
        patch.setattr(target, name, play)
        assert isinstance(_recovered(site), FileFault)
    entry = entry_of(site)
    assert entry is not None
    assert entry.pending is not None

    assert isinstance(_recovered(site), str)

    assert _world(site) == before


def test_a_removal_says_what_it_could_not_take_back(
    site: Site, installing: Prepared
) -> None:
    done(installing)
    _killed(plan_removal(site, "tides"), Yard, "set_aside")
    Path(store_path(site.home)).write_text("{", "utf-8")

    told = _recovered(site)

    assert isinstance(told, str)
    assert told.startswith("its removal was finished; the agreement to it could not")
    assert not folder_of(site).exists()


def test_a_removal_that_fails_is_said(
    site: Site, installing: Prepared, monkeypatch: pytest.MonkeyPatch
) -> None:
    done(installing)
    _killed(plan_removal(site, "tides"), Yard, "set_aside")
    monkeypatch.setattr(recovery, "write_ledger", _faulty)

    assert _recovered(site) == FileFault("full", "no space left")


def test_settings_that_cannot_be_edited_do_not_keep_it_from_being_settled(
    site: Site, upgrading: Prepared
) -> None:
    _killed(upgrading, applying, "write_consent")
    Path(site.root.ledger_root, "host.json").write_text("// mine", "utf-8")

    _recovered(site, told="its upgrade was undone")

    entry = entry_of(site)
    assert entry is not None
    assert entry.pending is None
    assert Path(site.root.ledger_root, "host.json").read_text("utf-8") == "// mine"

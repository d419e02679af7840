"""What is there once a plan was carried out, to the byte, and what refuses it."""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from msdcomp.edge import consent
from msdcomp.edge.content_hash import Bundle, read_bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import InstalledEntry, SharedEdit
from msdcomp.edge.lifecycle import (
    Done,
    Site,
    apply,
    applying,
    plan_install,
    plan_removal,
    traces,
    yard,
)
from msdcomp.edge.lifecycle.ledgering import write_ledger
from msdcomp.edge.lifecycle.yard import Yard
from msdcomp.edge.locks import consent_lock, lifecycle_lock
from msdcomp.manifest import CapabilityId
from msdcomp.plan import Block, Plan
from msdcomp.scope import Scope
from msdcomp.testing import gate
from tests.edge.lifecycle.shops import (
    blocks,
    codes,
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
    site_of,
    source,
)

TIDES = CapabilityId("tides")


@pytest.fixture
def where(tmp_path: Path) -> Path:
    """A source with a bit of everything that files can be."""
    top = source(
        tmp_path / "new",
        files={
            "run.sh": "#!/bin/sh\n",
            "bin/tool": "#!/bin/sh\n",
            "a/b/c.md": "c",
            "lib/__pycache__/m.cpython-312.pyc": "x",
        },
        hooks=[{"event": "Stop", "script": "./run.sh"}],
        gates=[gate("ship:pre"), gate("plan:post")],
    )
    (top / "bin" / "tool").chmod(0o700)
    (top / "empty").mkdir()
    return top


def _modes(top: Path) -> dict[str, int]:
    return {
        str(path.relative_to(top)): stat.S_IMODE(path.lstat().st_mode)
        for path in sorted(top.rglob("*"))
    }


def test_the_folder_is_what_was_shown(site: Site, where: Path) -> None:
    plan = installed(site, where).plan

    assert _modes(folder_of(site)) == {
        "a": 0o755,
        "a/b": 0o755,
        "a/b/c.md": 0o644,
        "bin": 0o755,
        "bin/tool": 0o755,
        "capability.json": 0o644,
        "empty": 0o755,
        "lib": 0o755,
        "run.sh": 0o755,
    }
    bundle = read_bundle(str(folder_of(site)))
    assert isinstance(bundle, Bundle)
    assert bundle.digest == plan.content_hash
    assert composed(site).accepted == ("tides",)


def test_the_ledgers_entry_is_exact(site: Site, where: Path) -> None:
    parcel = parcel_of(where)

    done(plan_install(site, parcel, ["host.json"]))

    entry = entry_of(site)
    assert entry is not None
    assert attrs.evolve(entry, installed_at="") == InstalledEntry(
        id="tides",
        version="1.0.0",
        source=str(where),
        files=(".msd/capabilities/tides",),
        shared_edits=(SharedEdit(file="host.json", marker="tides"),),
        gate_points=("plan:post", "ship:pre"),
        content_hash=parcel.bundle.digest,
        disclosure_signature=parcel.signature,
    )
    assert entry.installed_at.endswith("Z")


def test_the_agreement_is_exact_in_both_scopes(site: Site, where: Path) -> None:
    parcel = parcel_of(where)

    done(plan_install(site, parcel))

    record = record_of(site)
    assert record is not None
    assert attrs.evolve(record, consented_at="") == consent.ConsentRecord(
        project_root=site.consent_root,
        id="tides",
        scope=site.scope,
        content_hash=parcel.bundle.digest,
        gate_points=("plan:post", "ship:pre"),
        disclosure_signature=parcel.signature,
    )
    assert record.consented_at.endswith("Z")


def test_a_home_that_is_not_there_yet_is_made_with_its_settings(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    site = site_of(tmp_path / "new" / "home", project, "global")

    done(plan_install(site, parcel_of(hooked(tmp_path / "shop")), ["host.json"]))

    assert entry_of(site) is not None
    assert '"tides"' in (tmp_path / "new" / "home" / "host.json").read_text("utf-8")


def test_nothing_is_left_beside_it(site: Site, where: Path) -> None:
    installed(site, where)
    installed(site, source(where, version="2.0.0"))

    assert traces(site) == ()
    names = {path.name for path in folder_of(site).parent.iterdir()}
    assert names - {".lock"} == {"tides"}


def test_installing_the_same_again_does_nothing(
    site: Site, where: Path, home: Path, project: Path
) -> None:
    done(plan_install(site, parcel_of(where), ["host.json"]))
    before = listing(home, project)

    prepared = plan_install(site, parcel_of(where))

    assert prepared.plan.action == "none"
    assert (prepared.plan.asks, prepared.plan.hooks) == ("", ())
    assert done(prepared) == Done(plan=prepared.plan)
    assert listing(home, project) == before


def test_an_upgrade_leaves_nothing_of_the_version_before(
    site: Site, where: Path
) -> None:
    installed(site, where)
    (where / "a" / "b" / "c.md").unlink()
    source(where, version="2.0.0", files={"more.md": "m"})

    plan = installed(site, where).plan

    assert plan.action == "upgrade"
    assert not (folder_of(site) / "a" / "b" / "c.md").exists()
    assert (folder_of(site) / "more.md").exists()
    entry, record = entry_of(site), record_of(site)
    assert entry is not None
    assert record is not None
    assert (entry.version, entry.content_hash) == ("2.0.0", plan.content_hash)
    assert (record.content_hash, record.provisional) == (plan.content_hash, False)
    assert composed(site).registry.capabilities[TIDES].version == "2.0.0"


def test_what_the_user_deleted_is_installed_again(site: Site, where: Path) -> None:
    installed(site, where)
    folder_of(site).rename(folder_of(site, "elsewhere"))

    plan = installed(site, where).plan

    assert plan.action == "upgrade"
    assert composed(site).accepted == ("tides",)


def test_what_others_wrote_into_the_stores_is_kept(site: Site, where: Path) -> None:
    ledger = Path(site.root.ledger_root, ".msd-capabilities.json")
    ledger.write_text('{"version": "1", "mine": 1, "entries": {"x": 7}}', "utf-8")

    installed(site, where)

    document = json.loads(ledger.read_text("utf-8"))
    assert (document["mine"], document["entries"]["x"]) == (1, 7)


# Settings of hosts


def _hooks(site: Site, file: str = "host.json") -> Any:
    host = Path(site.root.ledger_root, file)
    return json.loads(host.read_text("utf-8")).get("hooks", {}) if host.exists() else {}


def test_a_hosts_settings_run_the_installed_script(site: Site, where: Path) -> None:
    host = Path(site.root.ledger_root, "host.json")
    host.write_text('{\n  "theme": "dark",\n  "hooks": {"Stop": [7]}\n}\n', "utf-8")

    done(plan_install(site, parcel_of(where), ["host.json"]))

    assert host.read_text("utf-8").startswith('{\n  "theme": "dark",\n')
    mine, entry = _hooks(site)["Stop"]
    assert mine == 7
    assert entry["_msdCapability"] == "tides"
    ((command,),) = [shlex.split(hook["command"]) for hook in entry["hooks"]]
    assert command == str(folder_of(site).resolve() / "run.sh")
    assert os.access(command, os.X_OK)


def test_an_update_keeps_the_hooks_where_they_are(site: Site, tmp_path: Path) -> None:
    where = hooked(tmp_path / "new")
    done(plan_install(site, parcel_of(where), ["host.json"]))
    hooked(where, {"event": "Start"}, {"matcher": "Write"})

    installed(site, where)

    assert sorted(_hooks(site)) == ["Start", "Stop"]
    entry = entry_of(site)
    assert entry is not None
    assert [edit.file for edit in entry.shared_edits] == ["host.json"]


def test_naming_other_settings_moves_the_hooks(site: Site, tmp_path: Path) -> None:
    where = hooked(tmp_path / "new")
    done(plan_install(site, parcel_of(where), ["a.json", "b.json"]))

    done(plan_install(site, parcel_of(where), ["b.json", "c.json"]))

    assert _hooks(site, "a.json") == {}
    assert list(_hooks(site, "b.json")) == list(_hooks(site, "c.json")) == ["Stop"]
    entry = entry_of(site)
    assert entry is not None
    assert [edit.file for edit in entry.shared_edits] == ["b.json", "c.json"]
    done(plan_install(site, parcel_of(where), []))
    assert _hooks(site, "b.json") == _hooks(site, "c.json") == {}


def test_a_version_without_hooks_takes_them_away(site: Site, tmp_path: Path) -> None:
    where = hooked(tmp_path / "new")
    done(plan_install(site, parcel_of(where), ["host.json"]))

    installed(site, source(where, hooks=[]))

    assert _hooks(site) == {}
    entry = entry_of(site)
    assert entry is not None
    assert entry.shared_edits == ()


def test_hooks_that_somebody_took_out_are_put_back(site: Site, tmp_path: Path) -> None:
    where = hooked(tmp_path / "new")
    done(plan_install(site, parcel_of(where), ["host.json"]))
    Path(site.root.ledger_root, "host.json").write_text("{}", "utf-8")

    plan = installed(site, where).plan

    assert plan.action == "upgrade"
    assert list(_hooks(site)) == ["Stop"]


# The world moves


def _another(site: Site) -> None:
    put(site, "other")


def _ledger(site: Site) -> None:
    Path(site.root.ledger_root, ".msd-capabilities.json").write_text(
        '{"version": "1", "entries": {}}', "utf-8"
    )


def _settings(site: Site) -> None:
    Path(site.root.ledger_root, "host.json").write_text('{"mine": 1}', "utf-8")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_another, "an overlay here"),
        (_ledger, "the ledger"),
        (_settings, "a settings file"),
    ],
)
def test_a_plan_from_another_world_is_refused(
    site: Site, where: Path, change: Callable[[Site], None], what: str
) -> None:
    prepared = plan_install(site, parcel_of(where), ["host.json"])
    change(site)

    (block,) = blocks(prepared)

    assert block.code == "moved"
    assert block.reason == f"{what} changed since the plan was made"
    assert not folder_of(site).exists()
    assert entry_of(site) is None
    assert record_of(site) is None


def test_whoever_answers_is_shown_the_plan_as_it_is_now(
    site: Site, where: Path
) -> None:
    prepared = plan_install(site, parcel_of(where))
    put(
        site,
        "other",
        config={"other.on": {"type": "boolean", "default": True, "description": "x"}},
    )
    asked: list[Plan] = []

    def refuses(plan: Plan) -> bool:
        asked.append(plan)
        return False

    assert codes(blocks(prepared, accepts=refuses)) == ["moved"]
    found = done(prepared, accepts=lambda plan: plan == asked[0])

    assert found.plan == asked[0]
    assert TIDES in composed(site).accepted


def test_what_now_stands_in_the_way_is_said_whatever_anybody_answers(
    site: Site, where: Path
) -> None:
    prepared = plan_install(site, parcel_of(where))
    put(site, "tides")

    assert codes(blocks(prepared, accepts=lambda _: True)) == ["occupied"]


def test_what_another_command_has_done_meanwhile_is_not_done_twice(
    site: Site, where: Path
) -> None:
    prepared = plan_install(site, parcel_of(where))
    done(plan_install(site, parcel_of(where)))

    assert codes(blocks(prepared)) == ["moved"]
    assert done(prepared, accepts=lambda _: True).plan.action == "none"


def test_a_scope_that_is_in_use_is_left_alone(site: Site, where: Path) -> None:
    prepared = plan_install(site, parcel_of(where))

    with lifecycle_lock(site.root.ledger_root, own=site.is_own) as busy:
        assert busy is None
        (block,) = blocks(prepared, wait_s=0)

    assert (block.code, block.reason) == (
        "busy",
        "the scope: in use by another command",
    )
    assert not folder_of(site).exists()


def test_a_plan_to_install_without_an_entry_is_a_defect(
    site: Site, where: Path
) -> None:
    prepared = attrs.evolve(plan_install(site, parcel_of(where)), entry=None)

    with pytest.raises(ValueError, match="entry"):
        applying._entry(prepared)


# The disk will not have it


def _faulty(*_: object, **__: object) -> FileFault:
    return FileFault("full", "no space left")


def _failing(*_: object, **__: object) -> None:
    raise OSError(28, "no space left")


def _world(site: Site) -> list[object]:
    bundle = read_bundle(str(folder_of(site)))
    return [
        bundle if isinstance(bundle, FileFault) else bundle.digest,
        entry_of(site),
        record_of(site),
        composed(site).accepted,
        _hooks(site),
    ]


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(
    ("target", "name", "play"),
    [
        (Yard, "stage", _failing),
        (yard, "_write", _failing),
        (yard, "_settle", _failing),
        (applying, "write_ledger", _faulty),
        (Yard, "promote", None),
        (applying, "apply_edits", _faulty),
        (applying, "write_consent", _faulty),
    ],
)
def test_what_fails_on_the_way_is_put_back(
    site: Site,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    target: Any,
    name: str,
    play: Callable[..., Any] | None,
    live: bool,
) -> None:
    where = hooked(tmp_path / "new")
    if live:
        done(plan_install(site, parcel_of(where), ["host.json"]))
        hooked(where, {"event": "Start"})
    before = _world(site)
    prepared = plan_install(site, parcel_of(where), ["host.json"])
    if play is None:
        play = _once(Yard.promote)
    with monkeypatch.context() as patch:
        patch.setattr(target, name, play)
        (block,) = blocks(prepared)

    assert block.code.startswith("write-")
    assert block.remedy == "nothing was changed"
    assert _world(site) == before
    assert traces(site) == ()


def _once(real: Callable[..., None]) -> Callable[..., None]:
    """Fail the first time, and do it afterwards: putting back needs it, too."""
    calls: list[object] = []

    def play(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 1:
            raise OSError(28, "no space left")
        real(*arguments)

    return play


def test_what_cannot_be_put_back_is_left_to_reconcile(
    site: Site, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = plan_install(site, parcel_of(where))
    monkeypatch.setattr(applying, "write_consent", _faulty)
    monkeypatch.setattr(applying, "recover", _faulty)

    (block,) = blocks(prepared)

    assert block.remedy == "run `msd capability reconcile`: no space left"
    entry = entry_of(site)
    assert entry is not None
    assert entry.pending is not None


def test_the_last_write_decides(
    site: Site, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All is in place but the ledger's last word: it is as if nothing had begun."""
    calls = []

    def second(*arguments: Any) -> FileFault | None:
        calls.append(arguments)
        if len(calls) == 2:
            return FileFault("full", "no space left")
        return write_ledger(*arguments)

    before = _world(site)
    prepared = plan_install(site, parcel_of(where))
    monkeypatch.setattr(applying, "write_ledger", second)

    assert codes(blocks(prepared)) == ["write-full"]
    assert _world(site) == before


def test_what_cannot_be_cleared_away_does_not_undo_what_counts(
    site: Site, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(site, where)
    prepared = plan_install(site, parcel_of(source(where, version="2.0.0")))
    monkeypatch.setattr(Yard, "delete", _failing)

    done(prepared)

    entry = entry_of(site)
    assert entry is not None
    assert (entry.version, entry.pending) == ("2.0.0", None)
    left = traces(site)
    assert not isinstance(left, FileFault)
    assert [trace.what for trace in left] == ["staging"]


def test_a_yard_that_cannot_be_opened_changes_nothing(site: Site, where: Path) -> None:
    prepared = plan_install(site, parcel_of(where))
    staging = folder_of(site, ".staging")
    staging.parent.mkdir(parents=True)
    staging.write_text("mine", "utf-8")

    found = apply(prepared)

    assert isinstance(found, tuple)
    assert codes(found) == ["place"]
    assert not folder_of(site).exists()


def test_a_consent_store_in_use_undoes_the_install(
    site: Site, where: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared = plan_install(site, parcel_of(where))
    real = consent.write_consent

    def impatient(home: str, record: consent.ConsentRecord, **options: Any) -> Any:
        with consent_lock(home):
            return real(home, record, **options, wait_s=0)

    monkeypatch.setattr(applying, "write_consent", impatient)

    assert codes(blocks(prepared)) == ["write-busy"]
    assert not folder_of(site).exists()
    assert entry_of(site) is None


def test_blocks_are_what_refuses(site: Site, where: Path) -> None:
    put(site, "tides")
    prepared = plan_install(site, parcel_of(where))

    assert apply(prepared) == prepared.plan.blocks
    assert all(isinstance(block, Block) for block in prepared.plan.blocks)


def test_the_two_scopes_do_not_know_of_each_other(
    at_home: Site, in_project: Site, where: Path
) -> None:
    installed(at_home, where)

    assert entry_of(in_project) is None
    assert record_of(in_project) is None
    removed(at_home, "tides")
    installed(in_project, where)
    assert composed(in_project).paths[TIDES].scope == Scope.PROJECT.value
    assert codes(plan_removal(at_home, "tides").plan.blocks) == ["not-installed"]

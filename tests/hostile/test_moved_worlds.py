"""A plan that was agreed to is not carried out in a world that has moved since."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp.edge.consent import revoke_consent
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.lifecycle import (
    Done,
    Parcel,
    Prepared,
    Site,
    apply,
    find_site,
    plan_install,
    plan_removal,
    procure,
)
from msdcomp.plan import Block
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.hostile.ground import (
    HOOK,
    RUN,
    Ground,
    bundle,
    entry,
    ledger,
    picture,
)
from tests.layouts import write

SCOPES = ("global", "project")

#: What a lock leaves, and the folder that bundles are made ready in.
OWN = frozenset({".lock", ".staging", ".consent.lock"})


def _site(ground: Ground, scope: str) -> Site:
    site = find_site(ground.places(), scope)
    assert isinstance(site, Site)
    return site


def _parcel(folder: Path) -> Parcel:
    spec = parse_source(str(folder), "/")
    assert isinstance(spec, SourceSpec)
    parcel = procure(spec, "1.11.0")
    assert isinstance(parcel, Parcel)
    return parcel


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])


@pytest.fixture(params=SCOPES)
def scope(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def installed(ground: Ground, source: Path, scope: str) -> Ground:
    line = ("install", source, "--scope", scope, "--settings", "settings.json")
    assert ground.capability(*line, "--yes").code == 0
    return ground


Move = Callable[[Ground, str], object]


def _overlay(ground: Ground, _: str) -> object:
    return bundle(ground.folder("other", "global"), "other")


def _overlay_of_the_project(ground: Ground, _: str) -> object:
    return bundle(ground.folder("other"), "other")


def _ledger(ground: Ground, scope: str) -> object:
    path = ground.root(scope) / LEDGER_NAME
    text = path.read_text("utf-8")
    return path.write_text(text.replace("1.0.0", "1.0.9"), "utf-8")


def _no_ledger(ground: Ground, scope: str) -> None:
    (ground.root(scope) / LEDGER_NAME).unlink()


def _script(ground: Ground, scope: str) -> object:
    return (ground.folder("tide", scope) / "run.sh").write_bytes(b"evil")


def _more(ground: Ground, scope: str) -> object:
    return (ground.folder("tide", scope) / "mine.md").write_bytes(b"mine")


def _link(ground: Ground, scope: str) -> None:
    folder = ground.folder("tide", scope)
    folder.rename(ground.outside / "tide")
    folder.symlink_to(ground.outside / "tide")


def _pipe(ground: Ground, scope: str) -> None:
    os.mkfifo(ground.folder("tide", scope) / "pipe")


def _consent(ground: Ground, scope: str) -> object:
    site = _site(ground, scope)
    return revoke_consent(site.home, site.consent_root, "tide", scope=site.scope)


def _settings(ground: Ground, scope: str) -> object:
    path = ground.root(scope) / "settings.json"
    return path.write_text('{"model": "x"}', "utf-8")


def _broken_settings(ground: Ground, scope: str) -> object:
    path = ground.root(scope) / "settings.json"
    return path.write_text('{"model": // mine', "utf-8")


MOVES: dict[str, Move] = {
    "overlay added": _overlay,
    "overlay added to the project": _overlay_of_the_project,
    "ledger changed": _ledger,
    "ledger gone": _no_ledger,
    "script edited": _script,
    "file added": _more,
    "folder is a link": _link,
    "FIFO added": _pipe,
    "consent revoked": _consent,
    "settings edited": _settings,
    "settings broken": _broken_settings,
}


def _upgrade(ground: Ground, source: Path, scope: str) -> Prepared:
    bundle(source, version="2.0.0", hooks=[HOOK, {**HOOK, "event": "Stop"}])
    return plan_install(_site(ground, scope), _parcel(source))


@pytest.mark.parametrize("what", MOVES)
def test_an_upgrade_is_refused_when_the_world_has_moved(
    installed: Ground, source: Path, scope: str, what: str
) -> None:
    prepared = _upgrade(installed, source, scope)
    assert not prepared.plan.blocks
    MOVES[what](installed, scope)
    before = picture(installed.top, without=OWN)

    done = apply(prepared)

    assert isinstance(done, tuple), done
    assert all(isinstance(block, Block) for block in done)
    assert picture(installed.top, without=OWN) == before


@pytest.mark.parametrize("what", [what for what in MOVES if what != "settings broken"])
def test_a_removal_is_refused_when_the_world_has_moved(
    installed: Ground, scope: str, what: str
) -> None:
    prepared = plan_removal(_site(installed, scope), "tide")
    MOVES[what](installed, scope)
    before = picture(installed.top, without=OWN)

    done = apply(prepared)

    assert isinstance(done, tuple), done
    assert picture(installed.top, without=OWN) == before


def test_what_was_not_moved_is_carried_out(
    installed: Ground, source: Path, scope: str
) -> None:
    assert isinstance(apply(_upgrade(installed, source, scope)), Done)
    assert installed.row("tide", scope)["version"] == "2.0.0"
    assert isinstance(apply(plan_removal(_site(installed, scope), "tide")), Done)
    assert not installed.folder("tide", scope).exists()


def test_a_plan_is_carried_out_once(
    installed: Ground, source: Path, scope: str
) -> None:
    prepared = _upgrade(installed, source, scope)
    assert isinstance(apply(prepared), Done)
    before = picture(installed.top, without=OWN)

    assert isinstance(apply(prepared), tuple)
    assert picture(installed.top, without=OWN) == before


def test_an_install_is_refused_where_something_came_into_its_place(
    ground: Ground, source: Path, scope: str
) -> None:
    prepared = plan_install(_site(ground, scope), _parcel(source))
    bundle(ground.folder("tide", scope), files={"mine.md": b"mine"})
    before = picture(ground.top, without=OWN)

    done = apply(prepared, accepts=lambda _: True)

    assert isinstance(done, tuple)
    assert picture(ground.top, without=OWN) == before


@pytest.mark.parametrize("answer", [True, False])
def test_whoever_agrees_is_shown_the_plan_as_it_is_now(
    installed: Ground, source: Path, scope: str, *, answer: bool
) -> None:
    prepared = _upgrade(installed, source, scope)
    _more(installed, scope)
    asked = []

    def accepts(now: object) -> bool:
        asked.append(now)
        return answer

    done = apply(prepared, accepts=accepts)

    assert isinstance(done, Done) is answer
    (plan,) = asked
    assert plan != prepared.plan
    assert (installed.folder("tide", scope) / "mine.md").exists() is not answer


def test_a_dependency_that_left_meanwhile_is_missed(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    needed = bundle(tmp_path / "zzz", "zzz")
    where = ("--scope", scope, "--yes")
    assert ground.capability("install", needed, *where).code == 0
    dependent = bundle(tmp_path / "aaa", "aaa", requires=["zzz"])
    prepared = plan_install(_site(ground, scope), _parcel(dependent))
    assert not prepared.plan.blocks
    assert ground.capability("remove", "zzz").code == 0
    before = picture(ground.top, without=OWN)

    done = apply(prepared, accepts=lambda _: True)

    assert isinstance(done, tuple)
    assert picture(ground.top, without=OWN) == before


def test_a_dependent_that_came_meanwhile_is_not_orphaned(
    ground: Ground, tmp_path: Path, scope: str
) -> None:
    where = ("--scope", scope, "--yes")
    needed = bundle(tmp_path / "zzz", "zzz")
    assert ground.capability("install", needed, *where).code == 0
    prepared = plan_removal(_site(ground, scope), "zzz")
    dependent = bundle(tmp_path / "aaa", "aaa", requires=["zzz"])
    assert ground.capability("install", dependent, *where).code == 0

    done = apply(prepared, accepts=lambda _: True)

    assert isinstance(done, tuple)
    assert done[0].code == "dependents"
    assert ground.active() == {"aaa", "zzz"}


def test_an_entry_planted_while_somebody_reads_is_not_trusted(
    ground: Ground, source: Path
) -> None:
    prepared = plan_install(_site(ground, "project"), _parcel(source))
    ledger(ground.project, entry("tide"))
    write(ground.folder("tide") / "mine.md", b"mine")

    assert isinstance(apply(prepared), tuple)
    assert (ground.folder("tide") / "mine.md").read_bytes() == b"mine"

"""`msd capability doctor`: exit codes, and remedies that do what they say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import GATE, Msd, feature, install

COMMAND = re.compile(r"`msd ([^`]*)`")
SETTINGS = ".claude/settings.json"
PENDING: dict[str, Any] = {"kind": "upgrade", "backupName": None, "sharedFiles": []}


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    (project / ".git").mkdir()
    return ("--home", str(home), "--project", str(project))


@pytest.fixture(params=["global", "project"])
def scope(request: pytest.FixtureRequest) -> str:
    """Return a scope: a test that takes it runs for both."""
    return str(request.param)


@pytest.fixture
def root(scope: str, home: Path, project: Path) -> Path:
    """Return the root of the scope, in which `tides` is going to be."""
    return home if scope == "global" else project


@pytest.fixture
def tides(
    msd: Msd, here: tuple[str, ...], scope: str, root: Path, tmp_path: Path
) -> Path:
    """An installed capability with a hook that the host runs; its folder."""
    shop = tmp_path / "shop"
    shop.mkdir()
    hooks = [{"event": "Stop", "script": "run.sh"}]
    manifest = feature("tides", hooks=hooks)
    (shop / "capability.json").write_text(json.dumps(manifest), "utf-8")
    (shop / "run.sh").write_text("#!/bin/sh\n", "utf-8")
    where = ("--scope", scope, "--settings", SETTINGS)
    done = msd("capability", "install", shop, "--yes", *where, *here)
    assert done.code == 0, done
    return root / ".msd" / "capabilities" / "tides"


def _found(msd: Msd, here: tuple[str, ...]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msd("capability", "doctor", "--json", *here).json
    return found


def test_where_all_is_well_it_says_so(msd: Msd, here: tuple[str, ...]) -> None:
    done = msd("capability", "doctor", *here)

    assert (done.code, done.out, done.err) == (0, "everything is as it should be\n", "")
    assert _found(msd, here) == []


@pytest.mark.usefixtures("tides")
def test_an_install_is_sound(msd: Msd, here: tuple[str, ...]) -> None:
    assert msd("capability", "doctor", *here).code == 0
    assert _found(msd, here) == []


def _ledger(root: Path, **fields: Any) -> None:
    path = root / ".msd-capabilities.json"
    ledger = json.loads(path.read_text("utf-8"))
    ledger["entries"]["tides"] |= fields
    path.write_text(json.dumps(ledger), "utf-8")


def _edit(folder: Path, _root: Path) -> None:
    (folder / "run.sh").write_text("#!/bin/sh\nharm\n", "utf-8")


def _delete(folder: Path, _root: Path) -> None:
    shutil.rmtree(folder)


def _delete_script(folder: Path, _root: Path) -> None:
    (folder / "run.sh").unlink()


def _put_link(folder: Path, _root: Path) -> None:
    (folder / "link").symlink_to("run.sh")


def _take_hook(_folder: Path, root: Path) -> None:
    (root / SETTINGS).write_text("{}", "utf-8")


def _turn_hook(_folder: Path, root: Path) -> None:
    path = root / SETTINGS
    path.write_text(path.read_text("utf-8").replace("run.sh", "old.sh"), "utf-8")


def _kill(_folder: Path, root: Path) -> None:
    _ledger(root, _pending=PENDING)


def _stage(folder: Path, _root: Path) -> None:
    (folder.parent / ".staging" / "new-1").mkdir(parents=True)


def _spoil(_folder: Path, root: Path) -> None:
    _ledger(root, files=5)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_edit, "differs-from-agreed"),
        (_delete, "folder-missing"),
        (_delete_script, "script-missing"),
        (_take_hook, "hook-missing"),
        (_turn_hook, "hook-stale"),
        (_kill, "interrupted"),
        (_stage, "staging-left"),
    ],
)
def test_the_first_command_of_a_remedy_sets_it_right(
    msd: Msd,
    here: tuple[str, ...],
    root: Path,
    tides: Path,
    damage: Callable[[Path, Path], None],
    code: str,
) -> None:
    damage(tides, root)
    assert msd("capability", "doctor", *here).code == 1
    one = next(one for one in _found(msd, here) if one["code"] == code)
    command = COMMAND.findall(one["remedy"])[0].split()
    agreed = ["--yes"] if "update" in command else []

    done = msd(*command, *agreed, *here)

    assert done.code == 0, done
    assert _found(msd, here) == []
    assert msd("capability", "doctor", *here).code == 0


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_edit, "differs-from-agreed"),
        (_delete, "folder-missing"),
        (_put_link, "folder-unreadable"),
        (_spoil, "ledger-entry-unclear"),
    ],
)
def test_the_last_command_of_a_remedy_takes_it_away(
    msd: Msd,
    here: tuple[str, ...],
    root: Path,
    tides: Path,
    damage: Callable[[Path, Path], None],
    code: str,
) -> None:
    damage(tides, root)
    one = next(one for one in _found(msd, here) if one["code"] == code)
    command = COMMAND.findall(one["remedy"])[-1].split()
    assert command[:2] == ["capability", "remove"]

    done = msd(*command, *here)

    assert done.code == 0, done
    assert not tides.exists()
    assert [one["severity"] for one in _found(msd, here)] == []


def test_an_edit_in_a_project_may_be_agreed_to(
    msd: Msd, here: tuple[str, ...], root: Path, scope: str, tides: Path
) -> None:
    _edit(tides, root)
    one = next(o for o in _found(msd, here) if o["code"] == "differs-from-agreed")
    commands = [c for c in COMMAND.findall(one["remedy"]) if " trust " in c]
    assert len(commands) == (scope == "project")

    for command in commands:
        assert msd(*command.split(), "--yes", *here).code == 0
        codes = [one["code"] for one in _found(msd, here)]
        # It still is not what its source holds.
        assert codes == ["differs-from-installed"]


def test_what_is_only_to_know_is_no_failure(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    install(home, feature("tides"))

    done = msd("capability", "doctor", *here)

    assert done.code == 0
    assert done.out.startswith("To know\n  tides (global): ")
    assert done.out.endswith("\n\n0 errors, 0 warnings, 1 note\n")


def test_the_version_of_the_host_decides_about_what_takes_part(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    install(home, feature("tides", engines={"msd": ">=9.0.0"}, gates=[GATE]))

    assert msd("capability", "doctor", *here).code == 1
    newer = msd("capability", "doctor", "--host-version", "9.1.0", *here)
    assert newer.code == 0


def test_the_scope_narrows_it(msd: Msd, here: tuple[str, ...], home: Path) -> None:
    (home / ".msd-capabilities.json").write_text("{", "utf-8")

    assert msd("capability", "doctor", *here).code == 1
    assert msd("capability", "doctor", "--scope", "global", *here).code == 1
    assert msd("capability", "doctor", "--scope", "project", *here).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--home", "none"),
        ("--host-version", "latest"),
        ("--scope", "project"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    msd: Msd, home: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(home)

    done = msd("capability", "doctor", "--home", home, *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("msd: error: ")

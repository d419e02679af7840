"""`msd capability remove`: the remedy that warnings print, and never a question."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from msdcomp.cli import changing, remove
from msdcomp.edge.consent import read_consent
from msdcomp.edge.ledgerfile import read_entries
from tests.cli.terminal import at_a_terminal

from .conftest import GATE, Msd, feature, install


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    (project / ".git").mkdir()
    return ("--home", str(home), "--project", str(project))


def _source(folder: Path, capability_id: str, **fields: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.sh").write_text("#!/bin/sh\n", "utf-8")
    text = json.dumps(feature(capability_id, **fields))
    (folder / "capability.json").write_text(text, "utf-8")
    return folder


@pytest.fixture
def chain(msd: Msd, here: tuple[str, ...], tmp_path: Path) -> None:
    """Three of which each depends on the one before, the last in the project."""
    for name, requires, scope in (
        ("tide", [], "global"),
        ("reef", ["tide"], "global"),
        ("wreck", ["reef"], "project"),
    ):
        where = _source(tmp_path / name, name, requires=requires)
        words = ("install", where, "--yes", "--scope", scope)
        assert msd("capability", *words, *here).code == 0


def _folder(root: Path, name: str = "tide") -> Path:
    return root / ".msd" / "capabilities" / name


def test_what_was_installed_is_gone(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    hooks = [{"event": "Stop", "script": "run.sh"}]
    where = _source(tmp_path / "tide", "tide", hooks=hooks, gates=[GATE])
    options = ("--yes", "--settings", "host.json")
    msd("capability", "install", where, *options, *here)

    done = msd("capability", "remove", "tide", *here)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Remove tide from the global scope\n")
    assert "  - host.json, Stop\n" in done.out
    assert done.out.endswith("\ntide removed (global)\n")
    assert not _folder(home).exists()
    assert read_entries(str(home)).entries == {}
    assert read_consent(str(home)).records == {}
    assert json.loads((home / "host.json").read_text("utf-8")) == {}


def test_nobody_is_asked(msd: Msd, here: tuple[str, ...], home: Path) -> None:
    install(home, feature("tide"))

    with at_a_terminal("n\n") as person:
        done = msd("capability", "remove", "tide", *here)

    assert (done.code, person.seen) == (0, "")
    assert not _folder(home).exists()


@pytest.mark.parametrize(
    "manifest",
    [
        b"{",
        feature("tide", engines={"msd": ">=9.0.0"}, gates=[GATE]),
        feature("tide", skills=["ui-review"]),
        feature("other"),
    ],
)
@pytest.mark.parametrize("scope", ["global", "project"])
def test_the_command_of_a_warning_ends_it(
    msd: Msd,
    here: tuple[str, ...],
    home: Path,
    project: Path,
    manifest: Any,
    scope: str,
) -> None:
    install(home if scope == "global" else project, manifest, "tide")
    (warning,) = msd("compose", "--json", *here).json["_overlay"]["warnings"]
    (command,) = re.findall("`msd (capability remove [^`]+)`", warning["remedy"])

    assert msd(*command.split(), *here).code == 0

    assert "_overlay" not in msd("compose", "--json", *here).json


def test_the_scope_decides_which_of_two_goes(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    install(home, feature("tide"))
    install(project, feature("tide"))
    words = ("capability", "remove", "tide")

    assert msd(*words, "--scope", "project", *here).code == 0
    assert _folder(home).exists()
    assert not _folder(project).exists()
    assert msd(*words, *here).code == 0
    assert not _folder(home).exists()
    assert msd(*words, *here).code == 1


@pytest.mark.usefixtures("chain")
def test_who_depends_on_it_is_listed_and_nothing_is_done(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    done = msd("capability", "remove", "tide", *here)
    told = msd("capability", "remove", "tide", "--json", *here)

    assert done.code == told.code == 1
    assert "wreck (project) depends on it: " in done.out
    assert "reef (global) depends on it: " in done.out
    assert "say --cascade" in done.out
    assert told.json["status"] == "blocked"
    assert [b["code"] for b in told.json["plan"]["blocks"]] == ["dependents"] * 2
    leaves = told.json["plan"]["leaves"]
    assert [(one["scope"], one["id"]) for one in leaves] == [
        ("project", "wreck"),
        ("global", "reef"),
    ]
    assert _folder(home).exists()


@pytest.mark.usefixtures("chain")
def test_a_cascade_goes_from_the_last_to_the_first(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    done = msd("capability", "remove", "tide", "--cascade", "--json", *here)

    assert done.code == 0
    assert done.json["status"] == "removed"
    assert done.json["plan"]["id"] == "tide"
    assert [(one["plan"]["id"], one["status"]) for one in done.json["removed"]] == [
        ("wreck", "removed"),
        ("reef", "removed"),
        ("tide", "removed"),
    ]
    for root, name in ((home, "tide"), (home, "reef"), (project, "wreck")):
        assert not _folder(root, name).exists()
    assert read_consent(str(home)).records == {}


@pytest.mark.usefixtures("chain")
def test_a_cascade_says_each(msd: Msd, here: tuple[str, ...]) -> None:
    done = msd("capability", "remove", "reef", "--cascade", *here)

    assert done.code == 0
    assert done.out.endswith(
        "wreck 1.0.0 removed (project)\nreef 1.0.0 removed (global)\n"
    ) or (done.out.endswith("wreck removed (project)\nreef removed (global)\n"))
    accepted = msd("compose", "--json", *here).json["_overlay"]["accepted"]
    assert accepted == ["tide"]


@pytest.mark.usefixtures("chain")
def test_a_cascade_that_fails_leaves_what_others_depend_on(
    msd: Msd,
    here: tuple[str, ...],
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = changing.finish
    calls: list[str] = []

    def finishing(prepared: Any, *arguments: Any) -> Any:
        calls.append(prepared.folder)
        if len(calls) == 2:
            return 1, {"status": "blocked", "blocks": []}
        return real(prepared, *arguments)

    monkeypatch.setattr(remove, "finish", finishing)

    done = msd("capability", "remove", "tide", "--cascade", "--json", *here)

    assert done.code == 1
    assert calls == ["wreck", "reef"]
    assert [one["status"] for one in done.json["removed"]] == ["removed", "blocked"]
    assert _folder(home).exists()
    assert _folder(home, "reef").exists()


def test_a_cascade_without_anybody_is_a_removal(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    install(home, feature("tide"))

    done = msd("capability", "remove", "tide", "--cascade", "--json", *here)

    assert (done.code, done.json["status"]) == (0, "removed")
    assert "removed" not in set(done.json) - {"status"}


@pytest.mark.parametrize("cascade", [True, False])
def test_a_dry_run_changes_nothing(
    msd: Msd, here: tuple[str, ...], chain: None, home: Path, cascade: bool
) -> None:
    assert chain is None
    words = ("wreck",) if not cascade else ("tide", "--cascade")

    done = msd("capability", "remove", *words, "--dry-run", *here)

    assert done.code == 0
    assert "removed (" not in done.out
    assert sorted(read_entries(str(home)).entries) == ["reef", "tide"]
    accepted = msd("compose", "--json", *here).json["_overlay"]["accepted"]
    assert sorted(accepted) == ["reef", "tide", "wreck"]


def test_json_says_what_was_removed(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    install(home, feature("tide"))

    wire = msd("capability", "remove", "tide", "--json", *here).json

    assert (wire["status"], wire["notes"]) == ("removed", [])
    plan = wire["plan"]
    assert (plan["action"], plan["id"], plan["scope"]) == ("remove", "tide", "global")
    assert plan["files"] == [{"path": "capability.json", "how": "removed"}]
    assert plan["disclosure"] is None


def test_what_stays_is_noted(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    hooks = [{"event": "Stop", "script": "run.sh"}]
    where = _source(tmp_path / "tide", "tide", hooks=hooks)
    msd("capability", "install", where, "--yes", "--settings", "host.json", *here)
    (home / "host.json").write_text("// mine", "utf-8")
    (home / ".msd" / "consent.json").write_text("{", "utf-8")

    done = msd("capability", "remove", "tide", *here)

    assert done.code == 0
    assert "msd: host.json is left as it is" in done.err
    assert "msd: the agreement to it could not be taken back: " in done.err
    assert (home / "host.json").read_text("utf-8") == "// mine"
    assert (home / ".msd" / "consent.json").read_text("utf-8") == "{"


def test_a_damaged_ledger_is_kept(msd: Msd, here: tuple[str, ...], home: Path) -> None:
    install(home, feature("tide"))
    ledger = home / ".msd-capabilities.json"
    ledger.write_text("{", "utf-8")

    done = msd("capability", "remove", "tide", *here)

    assert done.code == 1
    assert "cannot be done [ledger-unreadable]" in done.out
    assert ledger.read_text("utf-8") == "{"
    assert _folder(home).exists()


@pytest.mark.parametrize("name", ["Odd_Id", "-rf x", "caf\u00e9", "a;b"])
def test_a_folder_of_any_name_goes(
    msd: Msd, here: tuple[str, ...], home: Path, name: str
) -> None:
    install(home, feature("tide"), name)

    done = msd("capability", "remove", *here, "--", name)

    assert done.code == 0
    assert not _folder(home, name).exists()


def test_what_was_in_flight_is_settled_first(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    msd("capability", "install", _source(tmp_path / "t", "tide"), "--yes", *here)
    ledger = home / ".msd-capabilities.json"
    document = json.loads(ledger.read_text("utf-8"))
    marker: Any = {"kind": "upgrade", "backupName": None, "sharedFiles": []}
    document["entries"]["tide"]["_pending"] = marker
    ledger.write_text(json.dumps(document), "utf-8")

    done = msd("capability", "remove", "tide", *here)

    assert (done.code, done.err) == (0, "msd: tide: its upgrade was undone\n")
    assert not _folder(home).exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        ([""], 2),
        (["."], 2),
        ([".."], 2),
        ([".staging"], 2),
        (["../tide"], 2),
        (["a\0b"], 2),
        (["tide", "reef"], 2),
        (["tide", "--home", "/nowhere/at/all"], 2),
        (["tide", "--host-version", "x"], 2),
        (["nobody"], 1),
        (["tide", "--scope", "project"], 1),
    ],
)
def test_what_cannot_be_meant_is_refused(
    msd: Msd, here: tuple[str, ...], home: Path, words: list[str], code: int
) -> None:
    install(home, feature("tide"))

    done = msd("capability", "remove", *here, *words)

    assert done.code == code
    assert "error: " in done.err
    assert _folder(home).exists()


def test_a_name_that_begins_with_a_dash_comes_after_two(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    """A folder of such a name is left out and warned of, so it can be removed, too."""
    install(home, feature("tide"), "--json")

    done = msd("capability", "remove", *here, "--", "--json")

    assert (done.code, _folder(home, "--json").exists()) == (0, False)
    assert "--json removed (global)" in done.out

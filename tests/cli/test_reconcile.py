"""`msd capability reconcile`: what a killed command has left, seen and settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.ledgerfile import read_entries

from .conftest import Msd, feature


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    (project / ".git").mkdir()
    return ("--home", str(home), "--project", str(project))


@pytest.fixture
def killed(msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path) -> None:
    """An install that got all but the last word into the ledger."""
    where = tmp_path / "tide"
    where.mkdir()
    (where / "capability.json").write_text(json.dumps(feature("tide")), "utf-8")
    assert msd("capability", "install", where, "--yes", *here).code == 0
    _mark(home, kind="install")


def _mark(root: Path, **fields: Any) -> None:
    ledger = root / ".msd-capabilities.json"
    document = json.loads(ledger.read_text("utf-8"))
    marker = {"kind": "install", "backupName": None, "sharedFiles": [], **fields}
    document["entries"]["tide"]["_pending"] = marker
    ledger.write_text(json.dumps(document), "utf-8")


def test_where_nothing_was_left_it_says_so(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    done = msd("capability", "reconcile", *here)

    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "global: nothing was left behind\nproject: nothing was left behind\n"
    )
    assert list(home.iterdir()) == []


@pytest.mark.usefixtures("killed")
def test_the_command_of_a_warning_ends_it(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    (warning,) = msd("compose", "--json", *here).json["_overlay"]["warnings"]
    assert warning["code"] == "pending"
    assert "msd capability reconcile" in warning["remedy"]

    done = msd("capability", "reconcile", *here)

    assert done.code == 0
    assert "global: tide: its install was undone\n" in done.out
    assert "_overlay" not in msd("compose", "--json", *here).json
    assert read_entries(str(home)).entries == {}
    again = msd("capability", "reconcile", "--scope", "global", *here)
    assert again.out == "global: nothing was left behind\n"


@pytest.mark.usefixtures("killed")
def test_a_dry_run_shows_and_does_nothing(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    before = (home / ".msd-capabilities.json").read_bytes()

    done = msd("capability", "reconcile", "--dry-run", *here)
    told = msd("capability", "reconcile", "--dry-run", "--json", *here)

    assert done.code == told.code == 1
    assert done.out == "global: tide (pending)\nproject: nothing was left behind\n"
    assert told.json == [
        {
            "scope": "global",
            "status": "planned",
            "found": [{"what": "pending", "name": "tide"}],
        },
        {"scope": "project", "status": "planned", "found": []},
    ]
    assert (home / ".msd-capabilities.json").read_bytes() == before


@pytest.mark.usefixtures("killed")
def test_json_says_what_was_done(msd: Msd, here: tuple[str, ...]) -> None:
    wire = msd("capability", "reconcile", "--json", "--scope", "global", *here).json

    assert wire == [
        {
            "scope": "global",
            "status": "settled",
            "done": [{"name": "tide", "what": "its install was undone"}],
            "left": [],
        }
    ]


@pytest.mark.usefixtures("killed")
def test_what_cannot_be_settled_is_said(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    _mark(home, kind="upgrade", backupName="theirs")

    done = msd("capability", "reconcile", *here)
    told = msd("capability", "reconcile", "--json", *here)

    assert done.code == told.code == 1
    assert "global: tide: not settled: another program began it" in done.out
    assert [one["name"] for one in told.json[0]["left"]] == ["tide"]


@pytest.mark.parametrize("dry", [True, False])
def test_a_damaged_ledger_is_kept_and_the_other_scope_is_settled(
    msd: Msd, here: tuple[str, ...], killed: None, project: Path, dry: bool
) -> None:
    assert killed is None
    ledger = project / ".msd-capabilities.json"
    ledger.write_text("{", "utf-8")
    flags = ("--dry-run",) if dry else ()

    done = msd("capability", "reconcile", "--json", *flags, *here)

    assert done.code == 2
    assert "the project scope: " in done.err
    assert "repair it by hand" in done.err
    mended, refused = done.json
    assert mended["status"] == ("planned" if dry else "settled")
    assert (refused["scope"], refused["status"]) == ("project", "refused")
    assert refused["code"]
    assert ledger.read_text("utf-8") == "{"


@pytest.mark.parametrize(
    "words", [["tide"], ["--scope", "x"], ["--home", "/nowhere/at/all"], ["--what"]]
)
def test_what_cannot_be_meant_is_refused(
    msd: Msd, here: tuple[str, ...], words: list[str]
) -> None:
    done = msd("capability", "reconcile", *here, *words)

    assert done.code == 2
    assert "error: " in done.err

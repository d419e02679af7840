"""`msd capability update`: what is installed, fetched once more."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge.consent import revoke_consent
from msdcomp.edge.ledgerfile import read_entries
from msdcomp.scope import Scope
from tests.cli.terminal import at_a_terminal
from tests.edge.sources.packing import tar

from .conftest import Msd, feature

HOOKS = [{"event": "Stop", "script": "run.sh"}]


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    return ("--home", str(home), "--project", str(project))


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody can be asked, unless a test says so."""
    with Path(os.devnull).open(encoding="ascii") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        yield


def _bundle(folder: Path, capability_id: str = "tide", **fields: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.sh").write_text(fields.pop("script", "#!/bin/sh\n"), "utf-8")
    text = json.dumps(feature(capability_id, **{"hooks": HOOKS, **fields}))
    (folder / "capability.json").write_text(text, "utf-8")
    return folder


@pytest.fixture
def tide(msd: Msd, here: tuple[str, ...], tmp_path: Path) -> Path:
    """A source that was installed from, globally."""
    where = _bundle(tmp_path / "tide")
    options = ("--settings", "host.json", "--yes")
    assert msd("capability", "install", where, *options, *here).code == 0
    return where


def _version(root: Path, name: str = "tide") -> str:
    return read_entries(str(root)).entries[name].version


def test_a_new_version_of_the_same_needs_no_answer(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    _bundle(tide, version="1.1.0", description="Said better.")

    done = msd("capability", "update", "tide", *here)

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("Upgrade tide 1.0.0 -> 1.1.0 in the global scope\n")
    assert done.out.endswith("tide 1.1.0 upgraded (global)\n")
    assert _version(home) == "1.1.0"
    assert "Stop" in json.loads((home / "host.json").read_text("utf-8"))["hooks"]


@pytest.mark.usefixtures("tide")
def test_what_is_the_same_is_left_alone(msd: Msd, here: tuple[str, ...]) -> None:
    done = msd("capability", "update", "tide", *here)
    told = msd("capability", "update", "tide", "--json", *here)

    assert done.code == told.code == 0
    assert done.out.endswith("tide 1.0.0 is installed already, exactly so\n")
    assert told.json["status"] == "unchanged"
    assert (told.json["id"], told.json["scope"]) == ("tide", "global")


@pytest.mark.parametrize("agreed", [True, False])
def test_what_runs_something_else_is_asked_about(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, agreed: bool
) -> None:
    _bundle(tide, version="1.1.0", script="#!/bin/sh\nharm\n")

    done = msd("capability", "update", "tide", *(["--yes"] if agreed else []), *here)

    assert done.code == (0 if agreed else 1)
    assert "files that may run changed since it was agreed to" in done.out
    assert _version(home) == ("1.1.0" if agreed else "1.0.0")


def test_somebody_at_a_terminal_is_asked(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    _bundle(tide, version="1.1.0", script="#!/bin/sh\nmore\n")

    with at_a_terminal("y\n") as person:
        done = msd("capability", "update", "tide", *here)

    assert done.code == 0
    assert person.seen == (
        "Agree to tide 1.1.0 as shown, and upgrade it (global)? [y/N] "
    )
    assert _version(home) == "1.1.0"


def test_who_took_the_agreement_back_is_asked(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    revoke_consent(str(home), str(home), "tide", scope=Scope.GLOBAL)
    _bundle(tide, version="1.1.0")

    done = msd("capability", "update", "tide", *here)

    assert done.code == 1
    assert "nobody has agreed to it here yet" in done.out
    assert _version(home) == "1.0.0"


def test_all_are_updated_and_one_that_fails_keeps_no_other_from_it(
    msd: Msd,
    here: tuple[str, ...],
    tide: Path,
    tmp_path: Path,
    home: Path,
    project: Path,
) -> None:
    gone = _bundle(tmp_path / "gone", "gone")
    reef = _bundle(tmp_path / "reef", "reef")
    assert msd("capability", "install", gone, "--yes", *here).code == 0
    scope = ("--scope", "project")
    assert msd("capability", "install", reef, "--yes", *scope, *here).code == 0
    (gone / "capability.json").unlink()
    for where, name in ((tide, "tide"), (reef, "reef")):
        _bundle(where, name, version="1.1.0")

    done = msd("capability", "update", "--all", "--json", *here)

    assert done.code == 1
    told = [(one["scope"], one["id"], one["status"]) for one in done.json]
    assert told == [
        ("global", "gone", "blocked"),
        ("global", "tide", "upgraded"),
        ("project", "reef", "upgraded"),
    ]
    assert done.json[0]["blocks"]
    assert _version(home) == _version(project, "reef") == "1.1.0"
    only = msd("capability", "update", "--all", "--json", *scope, *here)
    assert [one["id"] for one in only.json] == ["reef"]


def test_where_nothing_is_installed_all_is_nothing(
    msd: Msd, here: tuple[str, ...]
) -> None:
    done = msd("capability", "update", "--all", *here)

    assert (done.code, done.out) == (0, "nothing is installed here\n")
    assert msd("capability", "update", "--all", "--json", *here).json == []


def test_a_damaged_ledger_is_said_and_the_other_scope_is_updated(
    msd: Msd, here: tuple[str, ...], tide: Path, project: Path, home: Path
) -> None:
    (project / ".msd-capabilities.json").write_text("{", "utf-8")
    _bundle(tide, version="1.1.0")

    done = msd("capability", "update", "--all", *here)
    told = msd("capability", "update", "--all", "--json", *here)

    assert done.code == told.code == 1
    assert "cannot be done [ledger-unreadable]" in done.out
    assert [one["status"] for one in told.json] == ["unchanged", "blocked"]
    assert _version(home) == "1.1.0"


def test_an_id_whose_scope_has_a_damaged_ledger_is_not_said_to_be_missing(
    msd: Msd, here: tuple[str, ...], home: Path
) -> None:
    (home / ".msd-capabilities.json").write_text("{", "utf-8")

    done = msd("capability", "update", "tide", *here)

    assert done.code == 1
    assert "cannot be done [ledger-unreadable]" in done.out


def test_a_source_that_holds_another_one_now_is_refused(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    _bundle(tide, "reef")

    done = msd("capability", "update", "tide", "--yes", *here)

    assert done.code == 1
    assert (
        "cannot be done [another-id]: the source holds reef now, not tide" in done.out
    )
    assert list(read_entries(str(home)).entries) == ["tide"]


def test_an_archive_must_be_what_it_was_until_somebody_says_otherwise(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    archive = tmp_path / "reef.tgz"
    for version in ("1.0.0", "2.0.0"):
        text = json.dumps(feature("reef", version=version)).encode()
        archive.write_bytes(tar({"capability.json": text}))
        if version == "1.0.0":
            assert msd("capability", "install", archive, "--yes", *here).code == 0

    refused = msd("capability", "update", "reef", "--yes", *here)

    assert refused.code == 1
    assert "cannot be done [integrity-mismatch]" in refused.out
    assert "say --integrity with the new value" in refused.out
    assert _version(home, "reef") == "1.0.0"
    new = _integrity(msd, here, archive, tmp_path)
    done = msd("capability", "update", "reef", "--yes", "--integrity", new, *here)
    assert done.code == 0
    assert _version(home, "reef") == "2.0.0"


def _integrity(msd: Msd, here: tuple[str, ...], archive: Path, tmp_path: Path) -> str:
    (tmp_path / "elsewhere").mkdir()
    words = ("install", archive, "--dry-run", "--json", *here)
    elsewhere = ("--home", tmp_path / "elsewhere")
    plan = msd("capability", *words, *elsewhere).json["plan"]
    value = plan["disclosure"]["pin"]["value"]
    assert isinstance(value, str)
    return value


@pytest.mark.parametrize("source", ["./tide", "ftp://a.example/x", ""])
def test_a_recorded_source_that_leads_nowhere_is_refused(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, source: str
) -> None:
    ledger = home / ".msd-capabilities.json"
    document = json.loads(ledger.read_text("utf-8"))
    document["entries"]["tide"]["source"] = source
    ledger.write_text(json.dumps(document), "utf-8")

    done = msd("capability", "update", "tide", "--yes", "--json", *here)

    assert done.code == 1
    (block,) = done.json["blocks"]
    assert (block["code"], block["remedy"]) == ("source", "install it again")
    assert tide.exists()


def test_what_was_left_in_flight_is_settled_first(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    ledger = home / ".msd-capabilities.json"
    document = json.loads(ledger.read_text("utf-8"))
    marker: Any = {"kind": "upgrade", "backupName": None, "sharedFiles": []}
    document["entries"]["tide"]["_pending"] = marker
    ledger.write_text(json.dumps(document), "utf-8")
    _bundle(tide, version="1.1.0")
    dry = msd("capability", "update", "tide", "--dry-run", *here)
    assert "cannot be done [pending]" in dry.out

    done = msd("capability", "update", "tide", *here)

    assert (done.code, done.err) == (0, "msd: tide: its upgrade was undone\n")
    assert _version(home) == "1.1.0"


def test_a_dry_run_changes_nothing(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    _bundle(tide, version="1.1.0")

    done = msd("capability", "update", "--all", "--dry-run", "--json", *here)

    assert done.code == 0
    assert [one["status"] for one in done.json] == ["planned"]
    assert _version(home) == "1.0.0"


def test_naming_settings_moves_the_hooks(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    assert tide.exists()
    options = ("--settings", "other.json")

    assert msd("capability", "update", "tide", *options, *here).code == 0

    assert json.loads((home / "host.json").read_text("utf-8")) == {}
    assert "Stop" in json.loads((home / "other.json").read_text("utf-8"))["hooks"]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ([], 2),
        (["tide", "--all"], 2),
        (["Tide"], 2),
        (["../tide"], 2),
        (["--all", "--integrity", "x"], 2),
        (["tide", "--host-version", "x"], 2),
        (["tide", "--home", "/nowhere/at/all"], 2),
        (["tide", "reef"], 2),
        (["nobody"], 1),
        (["tide", "--scope", "project"], 1),
    ],
)
@pytest.mark.usefixtures("tide")
def test_what_cannot_be_meant_is_refused(
    msd: Msd, here: tuple[str, ...], words: list[str], code: int
) -> None:
    done = msd("capability", "update", *here, *words)

    assert done.code == code
    assert "error: " in done.err


def test_all_asks_no_server_that_only_a_repository_names(
    msd: Msd, here: tuple[str, ...], project: Path
) -> None:
    """Whoever clones a repository has not agreed to speak to whom it names."""
    fields = {"source": "git+https://forge.invalid/tide.git", "version": "1.0.0"}
    entry = {"id": "tide", "integrity": "", "files": [], "sharedEdits": [], **fields}
    document = {"version": "1", "updatedAt": "x", "entries": {"tide": entry}}
    (project / ".msd-capabilities.json").write_text(json.dumps(document), "utf-8")

    done = msd("capability", "update", "--all", "--yes", "--json", *here)

    assert done.code == 1
    (report,) = json.loads(done.out)
    assert [block["code"] for block in report["blocks"]] == ["unconsented"]
    assert "msd capability trust tide" in report["blocks"][0]["remedy"]


@pytest.mark.usefixtures("tide")
def test_a_damaged_ledger_is_in_nobodys_way_where_another_has_the_entry(
    msd: Msd, here: tuple[str, ...], home: Path, tmp_path: Path
) -> None:
    where = _bundle(tmp_path / "tide2", "ebb")
    options = ("--scope", "project", "--yes")
    assert msd("capability", "install", where, *options, *here).code == 0
    (home / ".msd-capabilities.json").write_text("{", "utf-8")

    assert msd("capability", "update", "ebb", *here).code == 0
    blocked = msd("capability", "update", "tide", "--json", *here)
    assert [block["code"] for block in blocked.json["blocks"]] == ["ledger-unreadable"]

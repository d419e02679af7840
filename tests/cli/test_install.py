"""`msd capability install`: shown, asked about, put in place, or refused."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msdcomp.cli import changing
from msdcomp.edge.consent import read_consent
from msdcomp.edge.files import FileFault
from msdcomp.edge.ledgerfile import (
    InstalledEntry,
    LedgerFile,
    Pending,
    change_ledger,
    read_entries,
    with_entry,
    with_pending,
)
from msdcomp.edge.lifecycle import Site, applying, find_site, reconcile
from msdcomp.edge.roots import find_places
from tests.cli.terminal import at_a_terminal

from .conftest import GATE, Msd, feature

HOOKS = [{"event": "Stop", "script": "run.sh"}]


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    return ("--home", str(home), "--project", str(project))


@pytest.fixture
def tide(tmp_path: Path) -> Path:
    return _bundle(tmp_path / "tide src", gates=[GATE], hooks=HOOKS)


def _bundle(folder: Path, capability_id: str = "tide", **fields: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.sh").write_text("#!/bin/sh\n", "utf-8")
    text = json.dumps(feature(capability_id, **fields))
    (folder / "capability.json").write_text(text, "utf-8")
    return folder


def _folder(root: Path) -> Path:
    return root / ".msd" / "capabilities" / "tide"


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody can be asked: what is read is no terminal."""
    with Path(os.devnull).open(encoding="ascii") as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        yield


@pytest.mark.parametrize("scope", ["global", "project", None])
def test_it_is_shown_installed_and_composed(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, project: Path, scope: str
) -> None:
    where = ("--scope", scope) if scope else ()

    done = msd("capability", "install", tide, "--yes", *where, *here)

    scope = scope or "global"
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Install tide 1.0.0 in the {scope} scope\n")
    assert 'runs "run.sh"' in done.out
    assert "Your agreement is needed: nobody has agreed to it here yet" in done.out
    assert done.out.endswith(f"\ntide 1.0.0 installed ({scope})\n")
    root = home if scope == "global" else project
    assert os.access(_folder(root) / "run.sh", os.X_OK)
    assert msd("compose", "--json", *here).json["_overlay"]["accepted"] == ["tide"]
    (record,) = read_consent(str(home)).records.values()
    assert record is not None
    assert (record.id, record.scope) == ("tide", scope)
    rows = msd("capability", "trust", "list", "--json", *here).json
    assert [(row["id"], row["scope"]) for row in rows] == [("tide", scope)]
    listed = msd("capability", "list", "--json", *here).json
    assert [r["status"] for r in listed if r["id"] == "tide"] == ["active"]


def test_a_dry_run_shows_and_does_nothing(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, project: Path
) -> None:
    done = msd("capability", "install", tide, "--dry-run", *here)

    assert done.code == 0
    assert done.out.startswith("Install tide 1.0.0")
    assert "installed (" not in done.out
    assert sorted(path.name for path in home.iterdir()) == []
    assert sorted(path.name for path in project.iterdir()) == [".planning"]


@pytest.mark.parametrize("typed", ["y\n", "YES\n", " y \n"])
def test_somebody_at_a_terminal_agrees(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, typed: str
) -> None:
    with at_a_terminal(typed) as person:
        done = msd("capability", "install", tide, *here)

    assert done.code == 0
    assert 'runs "run.sh"' in done.out
    question = "Agree to tide 1.0.0 as shown, and install it (global)? [y/N] "
    assert person.seen == question
    assert _folder(home).is_dir()


@pytest.mark.parametrize("typed", ["n\n", "\n", "yep\n", ""])
def test_whatever_is_not_yes_is_no(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, typed: str
) -> None:
    with at_a_terminal(typed) as person:
        done = msd("capability", "install", tide, *here)

    assert done.code == 1
    assert "tide: not agreed to" in person.seen
    assert sorted(path.name for path in home.iterdir()) == []


@pytest.mark.usefixtures("nobody")
def test_where_nobody_is_asked_nothing_is_agreed_to(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    done = msd("capability", "install", tide, *here)

    assert done.code == 1
    assert done.err == (
        "msd: error: tide: not agreed to; say --yes to agree where nobody is asked\n"
    )
    assert 'runs "run.sh"' in done.out
    assert sorted(path.name for path in home.iterdir()) == []


def test_a_program_is_not_asked_about_what_it_was_not_shown(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    with at_a_terminal("y\n") as person:
        done = msd("capability", "install", tide, "--json", *here)

    assert done.code == 1
    assert "[y/N]" not in person.seen
    assert done.json["status"] == "declined"
    assert done.json["plan"]["disclosure"]
    assert sorted(path.name for path in home.iterdir()) == []


def test_json_says_what_was_planned_and_done(
    msd: Msd, here: tuple[str, ...], tide: Path
) -> None:
    args = ("capability", "install", tide, "--json", *here)

    planned = msd(*args, "--dry-run").json
    done = msd(*args, "--yes").json
    again = msd(*args).json

    assert (planned["status"], done["status"], again["status"]) == (
        "planned",
        "installed",
        "unchanged",
    )
    assert planned["plan"] == done["plan"]
    assert sorted(done) == ["notes", "plan", "status"]
    plan = done["plan"]
    assert (plan["action"], plan["id"], plan["scope"]) == ("install", "tide", "global")
    assert plan["source"] == str(tide)
    assert plan["contentHash"].startswith("sha512-")
    assert plan["asks"]
    assert again["plan"]["action"] == "none"
    assert again["plan"]["asks"] == ""


def test_the_same_again_is_nothing_to_do(
    msd: Msd, here: tuple[str, ...], tide: Path
) -> None:
    msd("capability", "install", tide, "--yes", *here)

    done = msd("capability", "install", tide, *here)

    assert done.code == 0
    assert done.out.endswith("tide 1.0.0 is installed already, exactly so\n")


def test_hooks_go_into_the_settings_that_are_named(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    files = ("--settings", "a.json", "--settings", "b/c.json")

    done = msd("capability", "install", tide, "--yes", *files, *here)

    assert done.code == 0
    for name in ("a.json", "b/c.json"):
        hooks = json.loads((home / name).read_text("utf-8"))["hooks"]
        command = hooks["Stop"][0]["hooks"][0]["command"]
        assert shlex.split(command) == [str(_folder(home.resolve()) / "run.sh")]
    noted = msd("capability", "install", tide, "--scope", "project", "--dry-run", *here)
    assert "note: no host runs its hooks yet" in noted.out


def test_what_a_load_would_leave_out_is_refused(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, home: Path
) -> None:
    taken = _bundle(tmp_path / "taken", skills=["ui-review"])

    done = msd("capability", "install", taken, "--yes", *here)
    told = msd("capability", "install", taken, "--yes", "--json", *here)

    assert done.code == told.code == 1
    assert "cannot be done [collision]: it would be left out: " in done.out
    assert told.json["status"] == "blocked"
    assert [block["code"] for block in told.json["blocks"]] == ["collision"]
    assert not _folder(home).exists()


@pytest.mark.parametrize("as_json", [False, True])
def test_what_is_no_capability_is_refused(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, as_json: bool
) -> None:
    broken = _bundle(tmp_path / "broken", tier="high")
    flags = ("--json",) if as_json else ()

    done = msd("capability", "install", broken, "--yes", *flags, *here)

    assert done.code == 1
    if as_json:
        (block,) = done.json["blocks"]
        assert block["code"] == "invalid-manifest"
        assert block["problems"][0]["path"] == "/tier"
    else:
        assert "cannot be done [invalid-manifest]: " in done.out
        assert "(/tier)" in done.out


def test_a_host_that_it_does_not_fit_is_named(
    msd: Msd, here: tuple[str, ...], tmp_path: Path
) -> None:
    needy = _bundle(tmp_path / "needy", engines={"msd": ">=9.0.0"})
    args = ("capability", "install", needy, "--yes", "--dry-run", *here)

    assert "[incompatible-engine]" in msd(*args).out
    assert msd(*args, "--host-version", "9.1.0").code == 0


def test_what_was_left_in_flight_is_settled_first(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    entry = InstalledEntry(
        id="tide", version="0.1.0", source="/x", pending=Pending(kind="install")
    )
    found = change_ledger(str(home), lambda old, now: with_entry(old, entry, now))
    assert not isinstance(found, FileFault)
    dry = msd("capability", "install", tide, "--yes", "--dry-run", *here)
    assert "[pending]" in dry.out

    done = msd("capability", "install", tide, "--yes", *here)

    assert done.code == 0
    assert done.err == "msd: tide: its install was undone\n"


def test_a_damaged_ledger_is_kept(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path
) -> None:
    ledger = home / ".msd-capabilities.json"
    ledger.write_text("{", "utf-8")

    done = msd("capability", "install", tide, "--yes", *here)

    assert done.code == 1
    assert "[ledger-unreadable]" in done.out
    assert "repair the ledger by hand" in done.out
    assert ledger.read_text("utf-8") == "{"


def test_what_fails_on_the_way_is_said(
    msd: Msd,
    here: tuple[str, ...],
    tide: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fault = FileFault("full", "no space left")
    monkeypatch.setattr(
        "msdcomp.edge.lifecycle.applying.write_consent", lambda *_, **__: fault
    )

    done = msd("capability", "install", tide, "--yes", *here)
    told = msd("capability", "install", tide, "--yes", "--json", *here)

    assert done.code == told.code == 1
    assert "cannot be done [write-full]: no space left" in done.err
    assert [block["code"] for block in told.json["blocks"]] == ["write-full"]
    assert not _folder(home).exists()


def test_who_agreed_beforehand_agreed_to_the_content(
    msd: Msd,
    here: tuple[str, ...],
    tide: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another overlay comes between the plan and the deed."""
    _meddle(monkeypatch, lambda: _bundle(home / ".msd/capabilities/other", "other"))

    assert msd("capability", "install", tide, "--yes", *here).code == 0


def test_who_was_asked_agreed_to_the_plan(
    msd: Msd,
    here: tuple[str, ...],
    tide: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who joins was not shown, so the question has to be asked again."""
    needs = home / ".msd" / "capabilities" / "other"
    _bundle(needs, "other")

    _meddle(monkeypatch, lambda: _bundle(needs, "other", requires=["tide"]))
    with at_a_terminal("y\n") as person:
        done = msd("capability", "install", tide, *here)

    assert done.code == 1
    assert "cannot be done [moved]: " in person.seen
    assert not _folder(home).exists()


def _meddle(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change the world between the answer and the deed."""
    real = applying.apply

    def meddled(*arguments: Any, **options: Any) -> Any:
        change()
        return real(*arguments, **options)

    monkeypatch.setattr(changing, "apply", meddled)


def test_a_relative_folder_is_recorded_absolutely(
    msd: Msd, here: tuple[str, ...], tide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tide.parent)

    done = msd("capability", "install", f"./{tide.name}", "--yes", "--json", *here)

    assert done.json["plan"]["source"] == str(tide)


def test_a_working_directory_that_is_gone_holds_no_source(
    msd: Msd, here: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    assert msd("capability", "install", "./tide", "--yes", *here).code == 1


def test_an_integrity_is_checked(msd: Msd, here: tuple[str, ...], tide: Path) -> None:
    digest = "sha512-" + "A" * 86 + "=="

    done = msd("capability", "install", tide, "--yes", "--integrity", digest, *here)

    assert done.code == 1
    assert "[integrity-unsupported]" in done.out


@pytest.mark.parametrize("scope", ["global", "project"])
def test_a_projects_policy_counts_in_both_scopes(
    msd: Msd, here: tuple[str, ...], project: Path, scope: str
) -> None:
    policy: Any = {"capabilities": {"strict_known_registries": []}}
    (project / ".planning" / "config.json").write_text(json.dumps(policy), "utf-8")

    words = ("https://a.example/x.tgz", "--scope", scope)
    done = msd("capability", "install", *words, "--yes", *here)

    assert done.code == 1
    assert "cannot be done [policy]: " in done.out


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["a", "b"],
        [""],
        ["http://a.example/x.tgz"],
        ["{tide}", "--scope", "nowhere"],
        ["{tide}", "--host-version", "new"],
        ["{tide}", "--home", "/nowhere/at/all"],
        ["{tide}", "--integrity"],
        ["{tide}", "--what"],
    ],
)
def test_what_cannot_be_meant_is_refused(
    msd: Msd, here: tuple[str, ...], tide: Path, home: Path, words: list[str]
) -> None:
    said = [word.replace("{tide}", str(tide)) for word in words]

    done = msd("capability", "install", "--yes", *here, *said)

    assert done.code == 2
    assert "error: " in done.err
    assert sorted(path.name for path in home.iterdir()) == []


def test_a_project_is_needed_to_install_into_one(
    msd: Msd, home: Path, tide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)

    done = msd(
        "capability", "install", tide, "--scope", "project", "--home", home, "--yes"
    )

    assert done.code == 2
    assert "name one with --project" in done.err


def test_a_home_is_needed(
    msd: Msd, tide: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("msdcomp.edge.roots.find_home", lambda *_: None)

    for words in (["install", str(tide)], ["reconcile"]):
        done = msd("capability", *words)
        assert done.code == 2
        assert "there is no home; name one with --home" in done.err


def _said(msd: Msd, here: tuple[str, ...]) -> tuple[list[str], list[str], list[str]]:
    """Return what list, load and trust say: how it stands, who is in, which scopes."""
    listed = msd("capability", "list", "--json", *here).json
    composed = msd("compose", "--json", *here).json
    agreed = msd("capability", "trust", "list", "--json", *here).json
    return (
        [row["status"] for row in listed if row["id"] == "tide"],
        composed.get("_overlay", {}).get("accepted", []),
        [row["scope"] for row in agreed],
    )


@pytest.mark.parametrize("place", ["vendor/home", "."])
@pytest.mark.parametrize("scope", ["global", "project"])
def test_a_home_in_a_repository_is_the_repositorys_for_every_verb(
    msd: Msd, project: Path, tide: Path, place: str, scope: str
) -> None:
    (project / ".git").mkdir()
    home = project / place
    home.mkdir(parents=True, exist_ok=True)
    here = ("--home", str(home), "--project", str(project))
    words = ("--scope", scope)

    done = msd("capability", "install", tide, "--yes", "--json", *words, *here)

    assert done.json["plan"]["scope"] == "project"
    assert _said(msd, here) == (["active"], ["tide"], ["project"])
    msd("capability", "trust", "revoke", "tide", *here)
    assert _said(msd, here) == (["skipped"], [], [])
    again = msd("capability", "install", tide, "--yes", *words, *here)
    assert again.code == 0
    assert _said(msd, here) == (["active"], ["tide"], ["project"])
    assert msd("capability", "remove", "tide", *words, *here).code == 0
    assert _said(msd, here) == ([], [], [])


def test_another_command_on_the_same_is_waited_for(
    msd: Msd,
    here: tuple[str, ...],
    tide: Path,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It looks interrupted until the lock says that somebody was at work."""
    assert msd("capability", "install", tide, "--yes", *here).code == 0
    site = find_site(find_places(home, home, None), "global")
    assert isinstance(site, Site)
    begun = Pending(kind="upgrade")
    asked = []

    def marked(old: bytes | None, now: str) -> bytes | FileFault:
        return with_pending(old, "tide", begun, now)

    def settling(where: Site) -> None:
        asked.append(where.scope)
        if len(asked) == 1:  # and only then does the other command begin
            assert isinstance(change_ledger(str(home), marked), LedgerFile)
        else:
            reconcile(where)

    monkeypatch.setattr("msdcomp.cli.fetching.settle_first", settling)
    done = msd("capability", "install", tide, "--yes", *here)

    assert done.code == 0
    assert len(asked) == 2
    assert read_entries(str(home)).entries["tide"].pending is None

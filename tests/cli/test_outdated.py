"""`msd capability outdated`: exit codes, JSON, and a real repository."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from .conftest import Msd, feature


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    (project / ".git").mkdir()
    return ("--home", str(home), "--project", str(project))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, which holds a capability."""
    folder = tmp_path / "tides"
    folder.mkdir()
    (folder / "capability.json").write_text(json.dumps(feature("tides")), "utf-8")
    _git(folder, "init", "-q", "-b", "main")
    _commit(folder)
    return folder


def _git(folder: Path, *argv: str) -> None:
    names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME")
    mails = ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    env = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        **dict.fromkeys(names, "a"),
        **dict.fromkeys(mails, "a@h"),
    }
    subprocess.run(["git", *argv], cwd=folder, check=True, env=env)


def _commit(folder: Path) -> None:
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "--allow-empty", "-m", "x")


def test_a_branch_that_moved_is_outdated_until_it_is_updated(
    msd: Msd, here: tuple[str, ...], repository: Path
) -> None:
    source = f"git+file://{repository}"
    assert msd("capability", "install", source, "--yes", *here).code == 0
    assert msd("capability", "outdated", *here).out.endswith(
        "\n\n0 capabilities outdated\n"
    )
    _commit(repository)

    done = msd("capability", "outdated", *here)
    (row,) = msd("capability", "outdated", "--json", *here).json

    assert done.code == 0
    assert done.out.endswith("\n\n1 capability outdated\n")
    assert (row["id"], row["scope"], row["source"]) == ("tides", "global", "git")
    assert row["status"] == "outdated"
    assert row["commit"] != row["latestCommit"]
    assert row["latestCommit"][:12] in done.out
    assert msd("capability", "update", "tides", "--yes", *here).code == 0
    (row,) = msd("capability", "outdated", "--json", *here).json
    assert row["status"] == "current"


def test_tags_are_told_as_versions(
    msd: Msd, here: tuple[str, ...], repository: Path
) -> None:
    msd("capability", "install", f"git+file://{repository}", "--yes", *here)
    _commit(repository)
    _git(repository, "tag", "v1.4.0")

    (row,) = msd("capability", "outdated", "--json", *here).json

    assert (row["status"], row["current"], row["latest"]) == (
        "outdated",
        "1.0.0",
        "1.4.0",
    )


def test_a_source_that_is_gone_is_a_row_and_no_failure(
    msd: Msd, here: tuple[str, ...], repository: Path, tmp_path: Path
) -> None:
    msd("capability", "install", f"git+file://{repository}", "--yes", *here)
    repository.rename(tmp_path / "elsewhere")

    done = msd("capability", "outdated", *here)

    assert done.code == 0
    assert "unknown" in done.out
    assert "\ntides (global): " in done.out


def test_the_scope_narrows_it(
    msd: Msd, here: tuple[str, ...], repository: Path, home: Path
) -> None:
    where = ("--scope", "project")
    msd("capability", "install", str(repository), "--yes", *where, *here)

    assert (
        msd("capability", "outdated", "--scope", "global", "--json", *here).json == []
    )
    (row,) = msd("capability", "outdated", *where, "--json", *here).json
    assert (row["scope"], row["status"]) == ("project", "current")
    (home / ".msd-capabilities.json").write_text("{", "utf-8")
    assert msd("capability", "outdated", *where, *here).code == 0
    done = msd("capability", "outdated", *here)
    assert done.code == 1
    assert "ledger (global): the ledger cannot be read: " in done.out


def test_the_policy_of_the_project_is_asked_first(
    msd: Msd, here: tuple[str, ...], home: Path, project: Path
) -> None:
    entry = {
        "id": "tides",
        "version": "1.0.0",
        "source": "git+https://forge.example/tides.git",
        "integrity": "",
        "files": [],
        "sharedEdits": [],
    }
    ledger = {"version": "1", "entries": {"tides": entry}}
    (home / ".msd-capabilities.json").write_text(json.dumps(ledger), "utf-8")
    policy = {"capabilities": {"strict_known_registries": ["other.example"]}}
    (project / ".planning" / "config.json").write_text(json.dumps(policy), "utf-8")

    (row,) = msd("capability", "outdated", "--json", *here).json

    assert row["status"] == "unknown"
    assert row["reason"].startswith("forge.example is not listed in ")


def test_where_nothing_is_installed_it_says_so(msd: Msd, here: tuple[str, ...]) -> None:
    done = msd("capability", "outdated", *here)

    assert (done.code, done.out) == (0, "nothing is installed here\n")
    assert msd("capability", "outdated", "--json", *here).json == []


def test_what_cannot_be_meant_is_refused(
    msd: Msd, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home)

    nowhere = msd("capability", "outdated", "--scope", "project", "--home", home)
    missing = msd("capability", "outdated", "--home", home / "none")

    assert (nowhere.code, missing.code) == (2, 2)
    assert nowhere.err == "msd: error: there is no project; name one with --project\n"

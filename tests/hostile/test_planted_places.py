"""Links, FIFOs and devices where the lifecycle keeps its own: none leads outside."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.roots import CAPABILITIES
from tests.hostile.ground import (
    HOOK,
    RUN,
    Ground,
    bundle,
    entry,
    picture,
)
from tests.layouts import write

Plant = Callable[[Ground, Path], None]


def _outer_folder(ground: Ground, path: Path) -> None:
    """A link to a folder of the user's, which even holds what is looked for."""
    path.symlink_to(ground.outside / "folder")


def _outer_file(ground: Ground, path: Path) -> None:
    path.symlink_to(ground.outside / "file.json")


def _nowhere(ground: Ground, path: Path) -> None:
    """A link that would make a file outside when it is written through."""
    path.symlink_to(ground.outside / "new")


def _circle(_: Ground, path: Path) -> None:
    path.symlink_to(path.name)


def _pipe(_: Ground, path: Path) -> None:
    os.mkfifo(path)


def _device(_: Ground, path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(_: Ground, path: Path) -> None:
    path.mkdir()
    (path / "mine").write_bytes(b"mine")


def _file(_: Ground, path: Path) -> None:
    path.write_bytes(b"mine")


PLANTS: dict[str, Plant] = {
    "link to a folder": _outer_folder,
    "link to a file": _outer_file,
    "link to nowhere": _nowhere,
    "link in a circle": _circle,
    "FIFO": _pipe,
    "device": _device,
    "folder": _folder,
    "file": _file,
}

PLACES = (
    ".msd",
    CAPABILITIES,
    f"{CAPABILITIES}/.staging",
    f"{CAPABILITIES}/.lock",
    f"{CAPABILITIES}/tide",
    LEDGER_NAME,
    ".claude",
    ".claude/settings.json",
)

VERBS = {
    "install": ("install", "SOURCE", "--yes", "--settings", ".claude/settings.json"),
    "update": ("update", "tide", "--yes"),
    "remove": ("remove", "tide"),
    "reconcile": ("reconcile",),
    "doctor": ("doctor",),
}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return bundle(tmp_path / "source", files={"run.sh": RUN}, hooks=[HOOK])


@pytest.fixture
def staged(ground: Ground, source: Path) -> Ground:
    """A project with all there can be, and the same once more outside."""
    line = ("--scope", "project", "--settings", ".claude/settings.json", "--yes")
    assert ground.capability("install", source, *line).code == 0
    staging = ground.folder(".staging")
    staging.mkdir()
    (staging / "new-0123456789abcdef").mkdir()
    outer = ground.outside / "folder"
    shutil.copytree(ground.project / ".msd", outer)
    shutil.copytree(ground.project / ".msd" / "capabilities", outer, dirs_exist_ok=True)
    write(outer / "tide.before-0123456789abcdef" / "mine", b"mine")
    write(outer / "settings.json", b"{}")
    write(outer / "run.sh", RUN)
    shutil.copy(ground.project / LEDGER_NAME, ground.outside / "file.json")
    return ground


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("what", PLANTS)
def test_what_is_planted_in_a_place_of_the_lifecycle_leads_nowhere(
    staged: Ground, source: Path, verb: str, place: str, what: str
) -> None:
    path = staged.project / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    PLANTS[what](staged, path)
    bundle(source, version="1.0.1", hooks=[HOOK])
    outside = picture(staged.outside)
    line = [str(source) if word == "SOURCE" else word for word in VERBS[verb]]
    scope = () if verb == "doctor" else ("--scope", "project")

    done = staged.capability(*line, *scope)

    assert done.code in {0, 1, 2}
    assert "Traceback" not in done.err
    assert picture(staged.outside) == outside
    assert not (staged.outside / "new").exists()
    own = {".lock", ".staging", "tide", LEDGER_NAME, ".msd", "capabilities"}
    if what in {"folder", "file"} and path.name not in own:
        mine = path / "mine" if what == "folder" else path
        assert mine.read_bytes() == b"mine"


@pytest.mark.parametrize("place", [CAPABILITIES, ".msd"])
@pytest.mark.parametrize("what", ["link to a folder", "link to nowhere", "FIFO"])
def test_nothing_is_installed_through_a_link_of_a_project(
    ground: Ground, source: Path, place: str, what: str
) -> None:
    (ground.outside / "folder").mkdir()
    path = ground.project / place
    path.parent.mkdir(exist_ok=True)
    PLANTS[what](ground, path)
    before = picture(ground.top)

    done = ground.capability("install", source, "--scope", "project", "--yes")

    assert done.code == 1
    assert "cannot be done" in done.out + done.err
    assert picture(ground.top) == before


@pytest.mark.parametrize(
    "what", ["link to a file", "link to nowhere", "FIFO", "device"]
)
def test_a_lock_that_is_none_is_refused_and_kept(
    ground: Ground, source: Path, what: str
) -> None:
    write(ground.outside / "file.json", b"{}")
    path = ground.folder(".lock")
    path.parent.mkdir(parents=True)
    PLANTS[what](ground, path)
    before = picture(ground.top)

    done = ground.capability("install", source, "--scope", "project", "--yes")

    assert done.code == 1
    assert "lock" in done.err
    assert picture(ground.top) == before


@pytest.mark.parametrize("what", ["FIFO", "device", "link in a circle", "folder"])
def test_a_consent_store_that_is_no_file_is_refused_and_kept(
    ground: Ground, source: Path, what: str
) -> None:
    path = ground.home / ".msd" / "consent.json"
    path.parent.mkdir()
    PLANTS[what](ground, path)
    before = picture(ground.top)

    for scope in ("global", "project"):
        done = ground.capability("install", source, "--scope", scope, "--yes")
        assert done.code == 1
        assert "[consent-unreadable]" in done.out
    assert picture(ground.top) == before


def test_a_home_behind_a_link_is_the_users_own(
    ground: Ground, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(ground.home)
    dotfiles = ground.outside / "dotfiles"
    dotfiles.mkdir()
    (ground.home / ".msd").symlink_to(dotfiles)
    monkeypatch.setenv("MSD_HOME", str(link))
    line = ("install", source, "--settings", "settings.json", "--yes")

    assert ground.capability(*line).code == 0

    assert ground.active() == {"tide"}
    assert (dotfiles / "capabilities" / "tide" / "run.sh").read_bytes() == RUN
    settings = json.loads((ground.home / "settings.json").read_bytes())
    (entry_,) = settings["hooks"]["PostToolUse"]
    physical = dotfiles / "capabilities" / "tide" / "run.sh"
    assert entry_["hooks"][0]["command"] == f"'{physical}'"
    assert (ground.home / ".msd").is_symlink()
    assert ground.capability("remove", "tide").code == 0
    assert not (dotfiles / "capabilities" / "tide").exists()


@pytest.mark.parametrize("inner", [".msd", CAPABILITIES])
def test_a_home_that_leads_into_the_project_asks_as_the_project_does(
    ground: Ground, source: Path, inner: str
) -> None:
    """A repository cannot pass its overlays for the user's by a link."""
    (ground.project / ".git").mkdir()
    theirs = bundle(ground.folder("tide"), files={"run.sh": RUN}, hooks=[HOOK])
    link = ground.home / inner
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(ground.project / inner)
    before = picture(ground.top)

    assert ground.active() == set()
    done = ground.capability("update", "--all")
    assert done.code in {0, 1}
    assert ground.capability("install", source).code == 1
    assert picture(ground.top) == before
    assert theirs.exists()


def test_a_project_that_is_the_home_asks_for_what_lies_in_it(
    ground: Ground, source: Path
) -> None:
    bundle(ground.folder("tide", "global"), files={"run.sh": RUN}, hooks=[HOOK])
    here = ("--project", ground.home)

    listed = ground.capability("list", "--json", *here).json

    (row,) = [row for row in listed if row["id"] == "tide"]
    assert (row["scope"], row["code"]) == ("project", "unconsented")
    assert ground.capability("install", source, *here).code == 1


def test_a_bundle_nested_without_end_is_deleted_all_the_same(ground: Ground) -> None:
    """Deeper than any path can be named, and than descriptors can be held."""
    folder = bundle(ground.folder("tide"))
    at = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("d", dir_fd=at)
        inner = os.open("d", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = inner
    os.close(at)

    assert ground.capability("remove", "tide").code == 0
    assert not folder.exists()
    assert not ground.folder(".staging").exists()


@pytest.mark.parametrize("kind", ["install", "upgrade", "remove"])
def test_a_staging_folder_full_of_links_is_cleared_and_followed_nowhere(
    ground: Ground, kind: str
) -> None:
    bundle(ground.folder("tide"))
    staging = ground.folder(".staging")
    backup = "tide.before-0123456789abcdef"
    staging.mkdir()
    (staging / backup).symlink_to(ground.outside)
    (staging / "new-1").symlink_to(ground.outside / "important.txt")
    (staging / "deep").mkdir()
    (staging / "deep" / "up").symlink_to("../../../..")
    os.mkfifo(staging / "pipe")
    pending = {"kind": kind, "backupName": backup, "sharedFiles": []}
    held = {"tide": entry("tide", _pending=pending)}
    write(ground.project / LEDGER_NAME, json.dumps({"version": "1", "entries": held}))
    outside = picture(ground.outside)

    assert ground.capability("reconcile").code in {0, 1}

    assert picture(ground.outside) == outside
    assert not (staging / "deep").exists()
    folder = ground.folder("tide")
    # Whatever was put back, it counts for nothing: a link in a project, unagreed.
    assert ground.active() == set()
    assert not folder.is_symlink() or ground.capability("remove", "tide").code == 0
    assert picture(ground.outside) == outside

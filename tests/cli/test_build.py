"""`msd build`: the snapshot is what the manifests say, or the command fails."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from .conftest import EXAMPLES, Msd

CAPABILITIES = EXAMPLES.parents[1] / "capabilities"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The shipped manifests, to be edited."""
    return Path(shutil.copytree(CAPABILITIES, tmp_path / "capabilities"))


def test_the_committed_snapshot_is_current(msd: Msd) -> None:
    done = msd("build", "--check", "--capabilities", CAPABILITIES)

    assert (done.code, done.out) == (0, "the snapshot is what the manifests say\n")


def test_a_change_makes_it_stale(msd: Msd, copy: Path) -> None:
    manifest = copy / "ui" / "capability.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"full"', '"standard"'))

    done = msd("build", "--check", "--capabilities", copy)

    assert done.code == 1
    assert done.out.startswith("the snapshot is stale: run `msd build`")


def test_building_writes_the_snapshot(
    msd: Msd, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "first-party.json"
    monkeypatch.setattr("msdcomp.edge.freeze.snapshot_path", lambda: str(target))
    monkeypatch.setattr("msdcomp.cli.build.snapshot_path", lambda: str(target))

    done = msd("build", "--capabilities", copy)

    assert (done.code, done.out) == (0, f"wrote {target}\n")
    assert len(json.loads(target.read_bytes())["capabilities"]) == 44
    assert msd("build", "--check", "--capabilities", copy).code == 0


def test_nothing_is_written_while_a_manifest_has_a_fault(
    msd: Msd, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "first-party.json"
    monkeypatch.setattr("msdcomp.edge.freeze.snapshot_path", lambda: str(target))
    manifest = copy / "ui" / "capability.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"full"', '"large"'))

    done = msd("build", "--capabilities", copy)

    assert done.code == 1
    assert "error[not-in-vocabulary]" in done.out
    assert not target.exists()


def test_a_place_that_cannot_be_written_is_named(
    msd: Msd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "file" / "first-party.json"
    target.parent.write_text("in the way", "utf-8")
    monkeypatch.setattr("msdcomp.edge.freeze.snapshot_path", lambda: str(target))
    monkeypatch.setattr("msdcomp.cli.build.snapshot_path", lambda: str(target))

    done = msd("build", "--capabilities", CAPABILITIES)

    assert done.code == 2
    assert done.err.startswith(f"msd: error: {target}: ")


def test_a_folder_that_is_none_is_a_wrong_use(msd: Msd, tmp_path: Path) -> None:
    done = msd("build", "--capabilities", tmp_path / "absent")

    assert done.code == 2
    assert done.err == f"msd: error: --capabilities: {tmp_path}/absent is no folder\n"


@pytest.mark.parametrize("arguments", [(), ("--check",), ("--json",)])
def test_without_a_checkout_it_says_what_is_needed_and_how_to_name_it(
    msd: Msd,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)

    done = msd("build", *arguments)

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "msd: error: msd build needs a checkout of the library, with the manifests in "
        "its folder capabilities, and found none here: run it at the top of a "
        "checkout, or name that folder with --capabilities DIR\n"
    )


def test_at_the_top_of_a_checkout_the_folder_is_found(
    msd: Msd, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy.parent)

    assert msd("build", "--check").code == 0


def test_json_says_whether_it_is_stale_and_what_was_written(
    msd: Msd, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "first-party.json"
    monkeypatch.setattr("msdcomp.edge.freeze.snapshot_path", lambda: str(target))
    monkeypatch.setattr("msdcomp.cli.build.snapshot_path", lambda: str(target))

    def build(*more: str) -> tuple[int, object]:
        done = msd("build", "--json", *more, "--capabilities", copy)
        return done.code, done.json

    assert build("--check") == (1, {"stale": True, "written": None, "problems": []})
    assert build() == (0, {"stale": False, "written": str(target), "problems": []})
    assert build("--check") == (0, {"stale": False, "written": None, "problems": []})


@pytest.mark.parametrize("arguments", [(), ("--check",)])
def test_json_carries_the_faults_of_the_manifests(
    msd: Msd, copy: Path, arguments: tuple[str, ...]
) -> None:
    manifest = copy / "ui" / "capability.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"full"', '"large"'))

    done = msd("build", "--json", *arguments, "--capabilities", copy)

    assert done.code == 1
    assert (done.json["stale"], done.json["written"]) == (True, None)
    (problem,) = done.json["problems"]
    assert problem["code"] == "not-in-vocabulary"
    assert problem["file"] == "capabilities/ui/capability.json"

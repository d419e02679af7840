"""`load_registry`: the whole way from folders to a composition."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge import installed
from msdcomp.edge.installed import compose_scan
from msdcomp.edge.load import load_registry
from msdcomp.edge.roots import find_places
from msdcomp.edge.scan import Scan, scan
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.host import Host
from msdcomp.registry import Registry
from msdcomp.verdict import IgnoredEntry
from tests.layouts import overlay, put, write

TOLD = IgnoredEntry(scope="global", name=".msd/capabilities", reason="not allowed")


def step(produces: str, consumes: str) -> dict[str, Any]:
    return {
        "point": "plan:pre",
        "ref": {"command": "x"},
        "produces": [produces],
        "consumes": [consumes],
        "onError": "skip",
    }


def circle(home: Path) -> None:
    """Two overlays that wait for each other, and one that is in nobody's way.

    The third makes both artefacts early, so that each of the two is fine by itself.
    """
    overlay(home, "a", steps=[step("A.md", "B.md")])
    overlay(home, "b", steps=[step("B.md", "A.md")])
    early = {**step("A.md", "B.md"), "point": "discuss:pre", "consumes": []}
    overlay(home, "c", steps=[{**early, "produces": ["A.md", "B.md"]}])


def test_with_nothing_installed_it_is_the_shipped_registry(
    home: Path, project: Path
) -> None:
    composition = load_registry(cwd=project, home=home)
    assert composition.registry is read_snapshot()
    assert composition.ignored == ()


def test_an_installed_overlay_joins(home: Path, project: Path) -> None:
    overlay(home, "anchor")
    composition = load_registry(cwd=project, home=home)
    assert composition.accepted == ("anchor",)
    assert len(composition.registry.capabilities) == 45


def test_paths_may_be_text_or_paths(home: Path, project: Path) -> None:
    overlay(home, "anchor")
    for composition in (
        load_registry(cwd=str(project), home=str(home)),
        load_registry(cwd="/", home=home, project=str(project)),
    ):
        assert composition.accepted == ("anchor",)


def test_the_environment_is_asked_when_nothing_is_given(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    overlay(project, "bollard")
    monkeypatch.setenv("MSD_HOME", str(home))
    monkeypatch.chdir(project)
    composition = load_registry()
    assert composition.accepted == ("anchor",)
    assert list(composition.warnings) == [("project", "bollard")]


def test_leaving_out_what_is_installed_reads_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> Scan:
        raise AssertionError

    overlay(home, "anchor")
    monkeypatch.setattr(installed, "scan", never)
    composition = load_registry(False, home=home)  # noqa: FBT003 - the signature
    assert composition.registry is read_snapshot()


def test_the_host_version_decides_about_engines(home: Path, project: Path) -> None:
    overlay(home, "anchor", engines={"msd": ">=3.0.0"})
    assert load_registry(cwd=project, home=home).accepted == ()
    found = load_registry(cwd=project, home=home, host_version="3.1.0")
    assert found.accepted == ("anchor",)


def test_the_hosts_own_keys_are_taken(home: Path, project: Path) -> None:
    slice_ = {"type": "boolean", "default": True, "description": "x"}
    overlay(home, "anchor", config={"workflow.auto_advance": slice_})
    overlay(home, "bollard", config={"model_overrides.x": slice_})
    composition = load_registry(cwd=project, home=home)
    codes = {key: group[0].code for key, group in composition.warnings.items()}
    assert codes == {
        ("global", "anchor"): "collision",
        ("global", "bollard"): "collision",
    }


def test_the_hosts_own_keys_are_only_read_for_overlays(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "read_central_config", None)
    (home / ".msd" / "capabilities").mkdir(parents=True)
    assert load_registry(cwd=project, home=home).accepted == ()


def test_a_root_that_cannot_be_looked_at_is_told_and_not_taken_for_absent(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / ".msd" / "capabilities").mkdir(parents=True)
    real = os.lstat

    def refusing(path: str) -> os.stat_result:
        if str(path).endswith("capabilities"):
            raise PermissionError
        return real(path)

    monkeypatch.setattr(os, "lstat", refusing)
    monkeypatch.setattr(installed, "scan", lambda *_, **__: Scan(ignored=(TOLD,)))
    found = load_registry(cwd=project, home=home, cache=False)
    assert found.ignored == (TOLD,)


def test_another_first_party(home: Path, project: Path) -> None:
    overlay(home, "audit")
    composition = load_registry(cwd=project, home=home, base=Registry())
    assert list(composition.registry.capabilities) == ["audit"]


def test_both_policies_for_a_set_that_cannot_be_built(
    home: Path, project: Path
) -> None:
    circle(home)
    fallback = load_registry(cwd=project, home=home)
    assert fallback.accepted == ()
    isolated = load_registry(cwd=project, home=home, on_set_failure="isolate")
    assert isolated.accepted == ("c",)


def test_ignored_entries_come_along(home: Path, project: Path) -> None:
    put(home / ".msd" / "capabilities" / "README.md", "x")
    composition = load_registry(cwd=project, home=home)
    assert [entry.name for entry in composition.ignored] == ["README.md"]


def test_a_working_directory_that_is_gone(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert load_registry(home=home).accepted == ("anchor",)


def test_the_result_depends_on_no_hash_seed_and_no_folder_order(
    tmp_path: Path,
) -> None:
    names = ["b", "a", "c-d", "c", "9x"]
    for side, order in (("one", names), ("two", names[::-1])):
        for name in order:
            put(tmp_path / side / ".msd/capabilities/README.md", "x")
            overlay(tmp_path / side, name, skills=[f"{name}-s"], extra=1)
    program = (
        "import sys; from msdcomp.edge.load import load_registry; "
        "c = load_registry(cwd='/', home=sys.argv[1]); "
        "print(c.digest(), [e.name for e in c.ignored])"
    )
    runs = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / side)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for side, seed in (("one", "1"), ("two", "2"))
    }
    assert len(runs) == 1


def test_nothing_on_disk_makes_it_raise(
    home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A home and a project in which everything is wrong at once."""
    odd: dict[str, Any] = {
        "a-fifo": {"fifo": True},
        "b/capability.json": {"fifo": True},
        "c/capability.json": {"symlink": "/dev/zero"},
        "d/capability.json": "[" * 100_000,
        "e/capability.json": {"base64": "/w=="},
        "f": {"symlink": "f"},
        "g": {"symlink": ".."},
        "h/capability.json": {"dir": True},
        "i/capability.json": '{"id": "i", "id": "i"}',
        "j`\n\x1b[31m": {"dir": True},
        "x" * 255: {"dir": True},
        os.fsdecode(b"\xff\xfe"): {"dir": True},
        "\u202ekcolb": {"dir": True},
    }
    for root in (home, project):
        for name, spec in odd.items():
            put(root / ".msd/capabilities" / name, spec)
        put(root / ".msd-capabilities.json", {"fifo": True})
    put(home / ".msd/consent.json", {"symlink": "/dev/zero"})
    composition = load_registry(cwd=project, home=home)
    assert composition.accepted == ()
    seen = {key for key, _ in composition.warnings.items()}
    seen |= {(entry.scope, entry.name) for entry in composition.ignored}
    named = {os.fsencode(name).decode(errors="backslashreplace") for name in odd}
    for scope in ("global", "project"):
        assert {(scope, name.partition("/")[0]) for name in named} <= seen
    composition.digest()
    assert capsys.readouterr() == ("", "")


def test_scan_and_compose_can_be_called_apart(home: Path, project: Path) -> None:
    overlay(home, "anchor")
    found = scan(find_places(project, home))
    host = Host()
    composition = compose_scan(found, base=Registry(), host=host)
    assert composition.accepted == ("anchor",)


def test_an_unreadable_home_is_no_home(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "file", "")
    assert load_registry(cwd=project, home=tmp_path / "file").accepted == ()

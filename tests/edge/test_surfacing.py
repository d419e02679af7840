"""Whose choices count here, and what is asked to find out."""

from __future__ import annotations

from pathlib import Path

import pytest

from msdcomp.edge.files import FileFault
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.roots import Places
from msdcomp.edge.surfacing import DEFAULT_RUNTIME, find_folder, find_surface
from msdcomp.registry import Registry
from tests.overlays import FIRST_PARTY

NAMES = [".msd-surface.json", ".msd-profile"]


def places(home: Path | str | None) -> Places:
    return Places(home=None if home is None else str(home), project=None, roots=())


def test_where_nobody_chose_everything_is_on_it(tmp_path: Path) -> None:
    assert find_surface(places(tmp_path), first_party(), environment={}) is None


def test_with_a_runtime_there_is_a_surface_without_choices(tmp_path: Path) -> None:
    found = find_surface(places(tmp_path), first_party(), "codex", environment={})

    assert not isinstance(found, FileFault)
    assert found is not None
    assert (found.runtime, found.file, found.profile) == ("codex", "", "full")
    assert found.on("claude-orchestration") is False


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_found_in_the_folder_of_the_runtime(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / ".codex").mkdir()
    text = "core" if name == ".msd-profile" else '{"baseProfile": "core"}'
    (tmp_path / ".codex" / name).write_text(text, "utf-8")

    found = find_surface(places(tmp_path), first_party(), "codex", environment={})

    assert not isinstance(found, FileFault)
    assert found is not None
    assert (found.file, found.profile) == (f"{tmp_path}/.codex/{name}", "core")
    assert find_surface(places(tmp_path), first_party(), environment={}) is None


@pytest.mark.parametrize("folder", ["x" * 300, "a\0b"])
def test_a_folder_that_cannot_be_looked_into_leaves_a_doubt(
    tmp_path: Path, folder: str
) -> None:
    registry = first_party()
    found = find_surface(places(tmp_path), registry, folder=f"{tmp_path}/{folder}")

    assert not isinstance(found, FileFault)
    assert found is not None
    assert found.unreadable
    assert found.on("ui") is None


def test_a_file_where_a_folder_should_be_holds_no_choices(tmp_path: Path) -> None:
    (tmp_path / ".claude").touch()

    assert find_surface(places(tmp_path), first_party(), environment={}) is None


def test_without_a_home_there_is_no_folder(tmp_path: Path) -> None:
    assert find_folder(places(None), first_party(), None) is None
    assert find_surface(places(None), first_party()) is None
    given = find_surface(places(None), first_party(), folder=str(tmp_path))
    assert given is None


def test_a_registry_without_the_default_runtime_has_no_folder(tmp_path: Path) -> None:
    assert find_folder(places(tmp_path), Registry(), None) is None
    assert find_surface(places(tmp_path), FIRST_PARTY) is None


@pytest.mark.parametrize("runtime", ["", "clawd", "\x1b[2J", "CLAUDE"])
def test_an_unknown_runtime_is_a_fault_that_names_the_known(
    tmp_path: Path, runtime: str
) -> None:
    found = find_surface(places(tmp_path), first_party(), runtime)

    assert isinstance(found, FileFault)
    assert found.code == "unknown-runtime"
    assert DEFAULT_RUNTIME in found.reason
    assert "\x1b" not in found.reason

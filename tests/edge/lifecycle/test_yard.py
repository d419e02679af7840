"""The folders of a site: staged, moved, taken apart, and no link followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle import Site
from msdcomp.edge.lifecycle.tree import Tree
from msdcomp.edge.lifecycle.yard import Yard, aside_name, is_aside, open_yard
from tests.edge.lifecycle.shops import folder_of, source

TREE = Tree(
    files={b"capability.json": b"{}", b"bin/x.sh": b"#!/bin/sh\n", b"a/b/c": b"c"},
    folders=(b"a", b"a/b", b"bin", b"empty"),
    executables=frozenset({b"bin/x.sh"}),
)


@pytest.fixture
def yard(site: Site) -> Iterator[Yard]:
    with open_yard(site) as opened:
        assert isinstance(opened, Yard)
        yield opened


def _deep(top: Path, levels: int) -> None:
    """Nest folders deeper than any path can say."""
    top.mkdir()
    fd = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=fd)
        inner = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = inner
    os.close(fd)


@given(st.text(max_size=10))
def test_a_name_set_aside_is_recognised_for_its_own_folder_alone(name: str) -> None:
    aside = aside_name(name)

    assert is_aside(aside, name)
    assert not is_aside(aside, name + "x")
    assert not is_aside(aside + "0", name)
    assert not is_aside(aside[:-1] + "G", name)
    assert not is_aside(name, name)


def test_what_is_staged_and_promoted_reads_as_it_was_given(
    site: Site, yard: Yard
) -> None:
    umask = os.umask(0o077)
    try:
        yard.promote(yard.stage(TREE), "tides")
    finally:
        os.umask(umask)

    bundle = yard.read("tides")
    assert isinstance(bundle, Bundle)
    assert bundle.files == TREE.files
    assert bundle.folders == TREE.folders
    top = folder_of(site)
    modes = {
        str(path.relative_to(top)): stat.S_IMODE(path.lstat().st_mode)
        for path in top.rglob("*")
    }
    assert stat.S_IMODE(top.stat().st_mode) == 0o755
    assert {path for path, mode in modes.items() if mode == 0o755} == {
        "a",
        "a/b",
        "bin",
        "bin/x.sh",
        "empty",
    }
    assert {path for path, mode in modes.items() if mode == 0o644} == {
        "capability.json",
        "a/b/c",
    }


def test_a_staging_folder_that_is_empty_in_the_end_is_gone(site: Site) -> None:
    staging = folder_of(site, ".staging")

    with open_yard(site) as yard:
        assert isinstance(yard, Yard)
        name = yard.stage(TREE)
        assert yard.names() == [name]
        assert yard.holds_aside(name)
        yard.delete(name)
        assert staging.is_dir()
    assert not staging.exists()

    with open_yard(site) as yard:
        assert isinstance(yard, Yard)
        yard.stage(TREE)
    assert staging.is_dir()


@pytest.mark.usefixtures("site")
def test_a_promoted_bundle_needs_an_empty_place(yard: Yard) -> None:
    yard.promote(yard.stage(TREE), "tides")
    second = yard.stage(TREE)

    with pytest.raises(OSError, match="not empty"):
        yard.promote(second, "tides")

    assert yard.holds("tides")
    assert yard.holds_aside(second)
    yard.delete(second)


def test_a_folder_two_thousand_levels_deep_is_deleted(site: Site, yard: Yard) -> None:
    _deep(folder_of(site), 2000)

    yard.set_aside("tides", "old")
    yard.delete("old")

    assert yard.names() == []
    assert not yard.holds("tides")


def test_what_a_link_leads_to_is_left_alone(
    site: Site, yard: Yard, tmp_path: Path
) -> None:
    kept = source(tmp_path / "kept")
    folder_of(site).symlink_to(kept)
    inner = folder_of(site, "other")
    inner.mkdir()
    (inner / "link").symlink_to(kept)
    (inner / "file").write_text("", "utf-8")

    for name in ("tides", "other"):
        yard.set_aside(name, name)
        yard.delete(name)

    assert (kept / "capability.json").exists()
    assert yard.names() == []


def test_folders_that_may_not_be_written_are_deleted(site: Site, yard: Yard) -> None:
    top = source(folder_of(site), files={"a/b/c.md": "c"})
    for folder, mode in ((top / "a" / "b", 0), (top / "a", 0o500), (top, 0o000)):
        folder.chmod(mode)

    yard.set_aside("tides", "old")
    yard.delete("old")

    assert yard.names() == []


def test_a_staged_folder_that_may_not_be_read_is_opened_up(
    yard: Yard, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may read everything, so the refusal is played."""
    name = yard.stage(TREE)
    path = folder_of(site, ".staging") / name
    path.chmod(0)
    real = os.open

    def refusing(what: object, *rest: object, **more: object) -> int:
        if what == name and not stat.S_IMODE(path.lstat().st_mode):
            raise PermissionError(13, "no")
        return real(what, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refusing)
    yard.delete(name)

    assert yard.names() == []


def test_a_file_that_is_in_the_way_of_the_root_is_a_fault(site: Site) -> None:
    Path(site.root.ledger_root, ".msd").write_text("", "utf-8")

    with open_yard(site) as yard:
        assert isinstance(yard, FileFault)


def test_a_file_in_place_of_the_staging_folder_is_a_fault(site: Site) -> None:
    staging = folder_of(site, ".staging")
    staging.parent.mkdir(parents=True)
    staging.write_text("mine", "utf-8")

    with open_yard(site) as yard:
        assert isinstance(yard, FileFault)
    assert staging.read_text("utf-8") == "mine"


def test_a_link_in_place_of_the_staging_folder_is_a_fault(
    site: Site, tmp_path: Path
) -> None:
    staging = folder_of(site, ".staging")
    staging.parent.mkdir(parents=True)
    staging.symlink_to(tmp_path)

    with open_yard(site) as yard:
        assert isinstance(yard, FileFault)


def test_a_project_that_is_gone_is_a_fault(in_project: Site) -> None:
    (Path(in_project.root.ledger_root) / ".git").rmdir()
    Path(in_project.root.ledger_root).rmdir()

    with open_yard(in_project) as yard:
        assert isinstance(yard, FileFault)

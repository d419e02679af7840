"""Reads confined to a folder: links may lead anywhere inside, and nowhere else."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from msdcomp.edge.files import FileFault, open_folder, read_confined, relative_parts
from tests.layouts import write


def code(result: object) -> str:
    assert isinstance(result, FileFault), result
    return result.code


def open_fds() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


Reader = Callable[[str], bytes | FileFault]


@pytest.fixture
def confined(tmp_path: Path) -> Reader:
    """A reader of the folder `in`, with a secret beside it."""
    write(tmp_path / "in" / "a.md", "inside")
    write(tmp_path / "in" / "d" / "e" / "deep.md", "deep")
    write(tmp_path / "secret.md", "secret")
    write(tmp_path / "inner" / "x.md", "a neighbour whose name starts alike")

    def read(path: str) -> bytes | FileFault:
        fd = open_folder(str(tmp_path / "in"))
        assert isinstance(fd, int)
        before = open_fds()
        try:
            return read_confined(fd, str(tmp_path / "in"), path)
        finally:
            assert open_fds() == before, "a descriptor was left open"
            os.close(fd)

    return read


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.md", b"inside"),
        ("./a.md", b"inside"),
        ("d//e/./deep.md", b"deep"),
    ],
)
def test_paths_inside(confined: Reader, path: str, content: bytes) -> None:
    assert confined(path) == content


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("../secret.md", "escapes"),
        ("d/../../secret.md", "escapes"),
        ("d/..", "escapes"),
        ("/etc/hostname", "escapes"),
        (".", "not-regular"),
        ("", "not-regular"),
        ("d", "not-regular"),
        ("a.md/", "not-regular"),
        ("a.md/b", "missing"),
        ("gone.md", "missing"),
        ("gone/gone.md", "missing"),
        ("nul\0.md", "unreadable"),
        ("\ud800.md", "unreadable"),
    ],
)
def test_paths_that_are_refused(confined: Reader, path: str, expected: str) -> None:
    assert code(confined(path)) == expected


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("a.md", b"inside"),
        ("d/e/deep.md", b"deep"),
        ("d", "not-regular"),
        (".", "not-regular"),
        ("gone", "missing"),
        ("link", "link"),
        ("../secret.md", "escapes"),
        ("../inner/x.md", "escapes"),
        ("..", "escapes"),
        ("../in/a.md", b"inside"),
        ("/dev/zero", "escapes"),
    ],
)
def test_links_may_lead_anywhere_inside(
    confined: Reader, tmp_path: Path, target: str, expected: bytes | str
) -> None:
    (tmp_path / "in" / "link").symlink_to(target)
    found = confined("link")
    assert (found if isinstance(expected, bytes) else code(found)) == expected


def test_an_absolute_link_inside(confined: Reader, tmp_path: Path) -> None:
    (tmp_path / "in" / "link").symlink_to(tmp_path / "in" / "a.md")
    assert confined("link") == b"inside"


def test_a_linked_folder_on_the_way(confined: Reader, tmp_path: Path) -> None:
    (tmp_path / "in" / "out").symlink_to("..")
    (tmp_path / "in" / "in").symlink_to("d")
    assert code(confined("out/secret.md")) == "escapes"
    assert confined("in/e/deep.md") == b"deep"


def test_a_folder_reached_through_a_link(tmp_path: Path, confined: Reader) -> None:
    """Inside means inside what the link leads to."""
    (tmp_path / "alias").symlink_to("in")
    (tmp_path / "in" / "link").symlink_to("a.md")
    fd = open_folder(str(tmp_path / "alias"))
    assert isinstance(fd, int)
    try:
        assert read_confined(fd, str(tmp_path / "alias"), "link") == b"inside"
    finally:
        os.close(fd)
    assert confined("link") == b"inside"


def test_a_link_swapped_after_it_was_judged(
    confined: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judgement cannot be outrun: the resolved path is opened without links."""
    (tmp_path / "in" / "link").symlink_to("d/e/deep.md")
    real = os.path.realpath

    def swapping(path: bytes) -> bytes:
        found = real(path)
        if path.endswith(b"link"):
            (tmp_path / "in" / "d").rename(tmp_path / "in" / "old")
            (tmp_path / "in" / "d").symlink_to(tmp_path)
            write(tmp_path / "e" / "deep.md", "secret")
        return found

    monkeypatch.setattr(os.path, "realpath", swapping)
    assert code(confined("link")) == "missing"


def test_a_path_that_cannot_be_resolved(
    confined: Reader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_path: bytes) -> bytes:
        raise OSError(errno.ENAMETOOLONG, "too long")

    (tmp_path / "in" / "link").symlink_to("a.md")
    monkeypatch.setattr(os.path, "realpath", failing)
    assert code(confined("link")) == "unreadable"


def test_a_confined_fifo_does_not_block(confined: Reader, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in" / "fifo")
    (tmp_path / "in" / "link").symlink_to("fifo")
    assert code(confined("fifo")) == "not-regular"
    assert code(confined("link")) == "not-regular"


def test_components_are_utf8() -> None:
    assert relative_parts("d/é") == [b"d", "é".encode()]

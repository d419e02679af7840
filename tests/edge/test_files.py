"""Bounded reads: every oddity of a file is an answer, quickly."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from msdcomp.edge.files import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    FileFault,
    Listing,
    fault_of,
    list_folder,
    open_folder,
    read_file,
)
from tests.layouts import write


def code(result: object) -> str:
    assert isinstance(result, FileFault), result
    return result.code


def open_fds() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


# read_file


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 70_000])
def test_a_regular_file_is_read_whole(tmp_path: Path, content: bytes) -> None:
    write(tmp_path / "f", content)
    assert read_file(str(tmp_path / "f")) == content


def test_reading_is_relative_to_a_descriptor(tmp_path: Path) -> None:
    write(tmp_path / "a" / "f", "x")
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        assert read_file("a/f", dir_fd=fd) == b"x"
    finally:
        os.close(fd)


def test_a_link_to_a_regular_file_is_followed_unless_refused(tmp_path: Path) -> None:
    write(tmp_path / "f", "x")
    (tmp_path / "link").symlink_to("f")
    assert read_file(str(tmp_path / "link")) == b"x"
    assert code(read_file(str(tmp_path / "link"), follow=False)) == "link"


def test_a_fifo_nobody_writes_to_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert code(read_file(str(tmp_path / "fifo"))) == "not-regular"


def test_a_fifo_somebody_writes_to_is_not_read_either(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    both_ends = os.open(tmp_path / "fifo", os.O_RDWR)
    try:
        os.write(both_ends, b"{}")
        assert code(read_file(str(tmp_path / "fifo"))) == "not-regular"
    finally:
        os.close(both_ends)


def test_a_link_to_an_endless_device(tmp_path: Path) -> None:
    (tmp_path / "zero").symlink_to("/dev/zero")
    assert code(read_file(str(tmp_path / "zero"))) == "not-regular"


def test_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")
        assert code(read_file("s")) == "not-regular"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert code(read_file(str(tmp_path))) == "not-regular"


def test_nothing_there(tmp_path: Path) -> None:
    write(tmp_path / "f", "")
    (tmp_path / "dangling").symlink_to("gone")
    assert code(read_file(str(tmp_path / "gone"))) == "missing"
    assert code(read_file(str(tmp_path / "f" / "below"))) == "missing"
    assert code(read_file(str(tmp_path / "dangling"))) == "missing"


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    assert code(read_file(str(tmp_path / "a"))) == "link"


def test_the_limit_is_exact_and_nothing_is_cut(tmp_path: Path) -> None:
    write(tmp_path / "f", b" " * MAX_FILE_BYTES)
    content = read_file(str(tmp_path / "f"))
    assert isinstance(content, bytes)
    assert len(content) == MAX_FILE_BYTES
    write(tmp_path / "f", b" " * (9 * 1024 * 1024))
    assert read_file(str(tmp_path / "f")) == FileFault(
        "too-large", "larger than 8,388,608 bytes"
    )


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 300, "y/" * 4000])
def test_a_path_no_file_can_have(path: str) -> None:
    assert code(read_file(path)) == "unreadable"


def test_no_permission(tmp_path: Path) -> None:
    """The super-user may read everything, so the reader stops being one first."""
    write(tmp_path / "f", "secret")
    (tmp_path / "f").chmod(0)
    tmp_path.chmod(0o755)
    program = """if True:
        import os, sys
        from msdcomp.edge.files import read_file
        folder = os.open(sys.argv[1], os.O_RDONLY)
        if os.geteuid() == 0:
            os.setuid(65534)
        print(read_file("f", dir_fd=folder).code)
    """
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)],
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.strip() == "permission"


def test_a_file_that_grows_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for what is read, not only for what was announced."""
    write(tmp_path / "f", "abc")
    with_size(monkeypatch, 1)
    assert read_file(str(tmp_path / "f")) == b"abc"
    assert code(read_file(str(tmp_path / "f"), limit=2)) == "too-large"


def test_a_file_that_shrinks_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", "abc")
    with_size(monkeypatch, 10)
    assert read_file(str(tmp_path / "f")) == b"abc"


def with_size(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    real = os.fstat

    def lying(fd: int) -> os.stat_result:
        found = list(real(fd))
        found[6] = size
        return os.stat_result(found)

    monkeypatch.setattr(os, "fstat", lying)


def test_an_error_while_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_fd: int, _size: int) -> bytes:
        raise OSError(errno.EIO, "I/O error")

    write(tmp_path / "f", "x")
    monkeypatch.setattr(os, "read", failing)
    before = open_fds()
    assert read_file(str(tmp_path / "f")) == FileFault(
        "unreadable", "cannot be read (EIO)"
    )
    assert open_fds() == before


def test_an_error_the_system_has_no_name_for() -> None:
    assert fault_of(OSError("?")).reason == "cannot be read (unknown error)"


# open_folder, list_folder


def test_open_folder_says_what_is_not_one(tmp_path: Path) -> None:
    write(tmp_path / "f", "")
    (tmp_path / "link").symlink_to(".")
    assert code(open_folder(str(tmp_path / "f"))) == "not-a-folder"
    assert code(open_folder(str(tmp_path / "gone"))) == "missing"
    assert code(open_folder(str(tmp_path / "link"), follow=False)) == "not-a-folder"
    fd = open_folder(str(tmp_path / "link"))
    assert isinstance(fd, int)
    os.close(fd)


def listed(folder: Path, limit: int = 100) -> Listing:
    fd = open_folder(str(folder))
    assert isinstance(fd, int)
    try:
        found = list_folder(fd, limit)
    finally:
        os.close(fd)
    assert isinstance(found, Listing)
    return found


def test_names_come_by_code_point(tmp_path: Path) -> None:
    names = ["é", "b", "B", "a-b", "a", "ab", "Z", "_", "\uff11"]
    for name in names:
        (tmp_path / name).mkdir()
    found = listed(tmp_path)
    assert [entry.name for entry in found.entries] == sorted(names)
    assert found.complete


def test_the_cut_of_a_crowded_folder_does_not_depend_on_its_order(
    tmp_path: Path,
) -> None:
    for number in (5, 3, 9, 1, 7):
        write(tmp_path / str(number), "")
    found = listed(tmp_path, limit=3)
    assert [entry.name for entry in found.entries] == ["1", "3", "5"]
    assert not found.complete
    assert listed(tmp_path, limit=5).complete


def test_a_folder_that_cannot_be_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_fd: int) -> None:
        raise OSError(errno.EACCES, "no")

    monkeypatch.setattr(os, "scandir", failing)
    assert code(list_folder(0)) == "permission"


def test_every_fault_names_no_path(tmp_path: Path) -> None:
    """Reasons end in records that must be the same on every machine."""
    found = read_file(str(tmp_path / "gone"))
    assert isinstance(found, FileFault)
    assert str(tmp_path) not in found.reason
    assert MAX_ENTRIES == 100_000

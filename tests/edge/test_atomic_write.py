"""Writing: readers see the old content or the new, never a part."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from msdcomp.edge.files import FileFault, read_file, rewrite_atomic, write_atomic
from tests.layouts import write


def code(result: object) -> str:
    assert isinstance(result, FileFault), result
    return result.code


def test_writing_replaces_a_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "f"
    assert write_atomic(str(target), b"one") is None
    assert write_atomic(str(target), b"two") is None
    assert target.read_bytes() == b"two"
    assert [entry.name for entry in target.parent.iterdir()] == ["f"]


def test_writing_replaces_a_link_instead_of_its_target(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", "kept")
    (tmp_path / "f").symlink_to("elsewhere")
    assert write_atomic(str(tmp_path / "f"), b"new") is None
    assert (tmp_path / "elsewhere").read_bytes() == b"kept"
    assert not (tmp_path / "f").is_symlink()


def test_a_target_that_cannot_be_replaced_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    write(tmp_path / "f" / "x", "")
    assert code(write_atomic(str(tmp_path / "f"), b"new")) == "not-regular"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    write(tmp_path / "f", "")
    fault = write_atomic(str(tmp_path / "f" / "g"), b"")
    assert fault == FileFault("unwritable", "cannot be written (EEXIST)")
    fault = write_atomic(str(tmp_path / "f" / "g" / "h"), b"")
    assert fault == FileFault("unwritable", "cannot be written (ENOTDIR)")


def test_a_name_no_file_can_have(tmp_path: Path) -> None:
    assert code(write_atomic(str(tmp_path / "a\0b"), b"")) == "unreadable"


@pytest.mark.parametrize(
    ("mode", "umask", "expected"),
    [(0o666, 0o022, 0o644), (0o666, 0o077, 0o600), (0o600, 0o000, 0o600)],
)
def test_the_mode_is_what_was_asked_for(
    tmp_path: Path, mode: int, umask: int, expected: int
) -> None:
    write(tmp_path / "f", "old")
    (tmp_path / "f").chmod(0o777)
    before = os.umask(umask)
    try:
        assert write_atomic(str(tmp_path / "f"), b"new", mode) is None
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == expected


@pytest.mark.parametrize("mode", [0o666, 0o600, 0o444, 0o664])
def test_a_file_that_is_written_anew_keeps_its_permissions(
    tmp_path: Path, mode: int
) -> None:
    write(tmp_path / "f", "old")
    (tmp_path / "f").chmod(mode)
    before = os.umask(0o077)
    try:
        assert rewrite_atomic(str(tmp_path / "f"), b"new") is None
        assert rewrite_atomic(str(tmp_path / "g"), b"new") is None
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == mode
    assert stat.S_IMODE((tmp_path / "g").stat().st_mode) == 0o600
    assert (tmp_path / "f").read_bytes() == (tmp_path / "g").read_bytes() == b"new"


def test_a_write_that_is_interrupted_leaves_the_old_content_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_fd: int) -> None:
        raise KeyboardInterrupt

    write(tmp_path / "f", "old")
    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(str(tmp_path / "f"), b"new")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


def test_a_full_disk_keeps_the_old_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(_fd: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    write(tmp_path / "f", "old")
    monkeypatch.setattr(os, "fsync", failing)
    fault = write_atomic(str(tmp_path / "f"), b"new")
    assert fault == FileFault("unwritable", "cannot be written (ENOSPC)")
    assert (tmp_path / "f").read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("step", ["open", "fsync"])
def test_a_folder_that_cannot_be_synced_is_tolerated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Some file systems refuse it; the rename has happened all the same."""
    real_open, real_sync = os.open, os.fsync
    folders: set[int] = set()

    def opening(path: str, flags: int, *rest: int, **more: int) -> int:
        folder = bool(flags & os.O_DIRECTORY)
        if folder and step == "open":
            raise OSError(errno.EACCES, "no")
        fd = real_open(path, flags, *rest, **more)
        folders.update({fd} if folder else ())
        return fd

    def syncing(fd: int) -> None:
        if fd in folders:
            raise OSError(errno.EINVAL, "no")
        real_sync(fd)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "fsync", syncing)
    assert write_atomic(str(tmp_path / "f"), b"new") is None
    assert (tmp_path / "f").read_bytes() == b"new"


def test_readers_never_see_a_part(tmp_path: Path) -> None:
    target = str(tmp_path / "f")
    contents = [bytes([65 + n]) * 200_000 for n in range(4)]
    write_atomic(target, contents[0])
    done = threading.Event()

    def keep_writing() -> None:
        for content in contents * 5:
            write_atomic(target, content)
        done.set()

    writer = threading.Thread(target=keep_writing)
    writer.start()
    seen = 0
    while not done.is_set() or not seen:
        assert read_file(target) in contents
        seen += 1
    writer.join()

"""A cache that is damaged, hostile or in the way costs time and nothing else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msdcomp.edge import cache, cachefolder
from msdcomp.edge.cachefolder import FIRST_PARTY, SCAN, CacheFolder, find_folder
from msdcomp.edge.roots import find_places
from tests.edge.caches import agrees, cached, files, later, missed, plain, tick
from tests.edge.scans import GATE
from tests.layouts import overlay, put


@pytest.fixture(autouse=True)
def _settled(monkeypatch: pytest.MonkeyPatch) -> None:
    later(monkeypatch)


@pytest.fixture
def filled(home: Path, project: Path, tmp_path: Path) -> Path:
    """A home with a small cache; its folder."""
    overlay(home, "anchor", gates=[GATE])
    overlay(home, "broken", tier="none", gates=[GATE])
    tick(tmp_path)
    cached(home, project)
    return home / ".msd" / "cache"


@pytest.fixture
def works(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that loads twice: with a miss, and, when told so, with a hit."""

    def check(*, mends: bool = True) -> None:
        with missed(monkeypatch) as counted:
            agrees(home, project)
            agrees(home, project)
        assert len(counted) == (1 if mends else 2)

    return check


# Damage


def _places(size: int) -> Iterator[int]:
    """Every place of the head, and a sample of the rest."""
    yield from range(0, 120, 7)
    yield from range(120, size, max(size // 40, 1))
    yield size - 1


@pytest.mark.parametrize("kind", ["composition", "scan"])
@pytest.mark.parametrize("way", ["cut", "flip"])
def test_a_damaged_file_is_as_if_it_were_not_there(
    home: Path, project: Path, filled: Path, kind: str, way: str
) -> None:
    (path,) = files(home, kind)
    whole = path.read_bytes()
    expected = plain(home, project)
    for at in _places(len(whole)):
        data = bytearray(whole)
        data[at] ^= 0x40
        path.write_bytes(whole[:at] if way == "cut" else data)
        if kind == "scan":
            shutil.rmtree(filled / "x", ignore_errors=True)
            files(home, "composition")[0].unlink()
        assert cached(home, project) == expected, at
        assert files(home, kind) == [path]


def test_damage_is_mended(home: Path, filled: Path, works: Any) -> None:
    for path in files(home):
        path.write_bytes(path.read_bytes()[:-1])
    assert filled.is_dir()
    works()


def test_a_file_of_other_code_is_not_read(
    filled: Path, works: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.is_dir()
    monkeypatch.setattr(cachefolder, "fingerprint", lambda: b"x" * 16)
    works()


def test_the_code_has_a_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "package"
    put(package / "edge" / "cachefolder.py", "1")
    put(package / "__pycache__" / "x.pyc", "1")
    site = tmp_path / "site-packages"
    site.mkdir()
    monkeypatch.setattr(cachefolder, "__file__", str(package / "edge" / "x.py"))
    monkeypatch.setattr(sys, "path", [str(site), "", "gone/site-packages"])
    take = cachefolder.fingerprint.__wrapped__
    seen = [take()]
    put(package / "__pycache__" / "y.pyc", "1")
    assert take() == seen[0]
    put(package / "edge" / "cachefolder.py", "22")
    seen.append(take())
    put(package / "data.json", "1")
    seen.append(take())
    tick(tmp_path)
    (site / "something").mkdir()
    seen.append(take())
    monkeypatch.setattr(cachefolder, "__version__", "9")
    seen.append(take())
    assert len(set(seen)) == len(seen)


def test_code_without_files_has_no_cache(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing() -> bytes:
        raise NotADirectoryError

    overlay(home, "anchor")
    monkeypatch.setattr(cachefolder, "fingerprint", failing)
    agrees(home, project)
    assert not files(home)


# Something else in its place


@pytest.mark.parametrize(
    "spec",
    [
        {"fifo": True},
        {"dir": True},
        {"symlink": "/dev/zero"},
        {"symlink": "nowhere"},
        "",
        "msdcache",
    ],
)
def test_what_stands_in_place_of_a_file(
    home: Path, filled: Path, works: Any, spec: Any
) -> None:
    for path in files(home):
        put(path, None)
        put(path, spec)
    works(mends=spec != {"dir": True})
    assert filled.is_dir()


def test_a_link_to_a_good_file_is_not_followed(
    home: Path, tmp_path: Path, filled: Path, works: Any
) -> None:
    for path in files(home):
        path.rename(tmp_path / path.name)
        path.symlink_to(tmp_path / path.name)
    works()
    assert not any(path.is_symlink() for path in filled.iterdir())


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_read(
    home: Path, filled: Path, works: Any, mode: int
) -> None:
    for path in files(home):
        path.chmod(mode)
    works()
    assert filled.is_dir()


def test_a_file_of_somebody_else_is_not_read(
    filled: Path, works: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.is_dir()
    monkeypatch.setattr(os, "geteuid", lambda: filled.stat().st_uid + 1)
    works(mends=False)


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_is_not_used(
    filled: Path, works: Any, mode: int
) -> None:
    filled.chmod(mode)
    before = {path: path.stat().st_mtime_ns for path in filled.iterdir()}
    works(mends=False)
    assert {path: path.stat().st_mtime_ns for path in filled.iterdir()} == before


@pytest.mark.parametrize("spec", ["file", {"symlink": "elsewhere"}, {"fifo": True}])
def test_a_folder_that_is_none(home: Path, works: Any, spec: Any) -> None:
    overlay(home, "anchor")
    (home / ".msd" / "elsewhere").mkdir()
    put(home / ".msd" / "cache", spec)
    works(mends=False)
    assert list((home / ".msd" / "elsewhere").iterdir()) == []


def test_a_giant_is_neither_read_nor_written(
    home: Path, filled: Path, works: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in files(home):
        with path.open("ab") as stream:
            stream.truncate(cachefolder.MAX_BYTES + 1)
    works()
    shutil.rmtree(filled)
    monkeypatch.setattr(cachefolder, "MAX_BYTES", 100)
    works(mends=False)
    assert not filled.exists()


def test_old_files_go_when_they_are_too_many_bytes(
    home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    monkeypatch.setattr(cachefolder, "_KEPT_BYTES", 1)
    for version in ("1.0.0", "2.0.0"):
        cached(home, project, host_version=version)
        tick(tmp_path)
    with missed(monkeypatch) as counted:
        cached(home, project, host_version="2.0.0")
    assert not counted
    assert len(files(home, "composition")) == 1


# A disk that takes nothing


@pytest.mark.parametrize("call", ["mkdir", "open", "replace", "scandir", "write"])
def test_a_disk_that_takes_nothing(
    home: Path, project: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whichever call is the first to be refused: full, read-only, not allowed."""
    overlay(home, "anchor")
    expected = plain(home, project)

    def refusing(*_: Any, **__: Any) -> Any:
        raise PermissionError

    if call == "write":
        monkeypatch.setattr(cachefolder, "_create", _half)
    elif call == "scandir":
        monkeypatch.setattr(cachefolder, "_tidy", refusing)
    elif call == "open":
        real = os.open
        monkeypatch.setattr(
            os,
            "open",
            lambda path, flags, *rest, **more: (
                refusing() if flags & os.O_CREAT else real(path, flags, *rest, **more)
            ),
        )
    else:
        monkeypatch.setattr(os, call, refusing)
    assert cached(home, project) == expected
    monkeypatch.undo()
    assert not list(home.rglob("*.tmp"))


def _half(folder: int, name: str, parts: Any) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CREAT, 0o600, dir_fd=folder)
    os.write(fd, bytes(parts[0])[:5])
    os.close(fd)
    raise OSError(28, "No space left on device")


def test_a_file_that_cannot_be_read_to_its_end(
    home: Path, project: Path, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.is_dir()
    expected = plain(home, project)
    real = os.pread

    def failing(fd: int, length: int, offset: int) -> bytes:
        if length > 1000:
            raise OSError(5, "I/O error")
        return real(fd, length, offset)

    monkeypatch.setattr(os, "pread", failing)
    assert cached(home, project) == expected


def test_short_reads_are_put_together(
    home: Path, project: Path, filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert filled.is_dir()
    real = os.pread
    monkeypatch.setattr(os, "pread", lambda fd, n, at: real(fd, min(n, 999), at))
    with missed(monkeypatch) as counted:
        agrees(home, project)
    assert not counted


# The folder by itself


@pytest.fixture
def folder(home: Path) -> Iterator[CacheFolder]:
    (home / ".msd").mkdir()
    found = find_folder(find_places("/", home))
    assert found is not None
    with found:
        yield found


def test_sections_come_back(folder: CacheFolder) -> None:
    with folder.reading(SCAN, "") as file:
        assert file is None
    folder.write(SCAN, "", b"one", memoryview(b""), b"three")
    with folder.reading(SCAN, "") as file:
        assert file is not None
        assert [file.section(n) for n in range(len(file))] == [b"one", b"", b"three"]
    with folder.reading(FIRST_PARTY, "") as file:
        assert file is None


def test_the_last_of_two_writers_wins(home: Path, folder: CacheFolder) -> None:
    other = find_folder(find_places("/", home))
    assert other is not None
    folder.write(SCAN, "", b"one")
    with folder.reading(SCAN, "") as file, other:
        other.write(SCAN, "", b"two")
        # Who has it open reads on in the old one.
        assert file is not None
        assert file.section(0) == b"one"
    with folder.reading(SCAN, "") as file:
        assert file is not None
        assert file.section(0) == b"two"


def test_a_file_with_other_sections_is_not_used(
    home: Path, project: Path, works: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    overlay(home, "anchor")
    monkeypatch.setattr(cache, "dump", lambda _: memoryview(b"no pickle"))
    monkeypatch.setattr(cache, "load_plain", lambda _: ("no", "index"))
    works(mends=False)
    monkeypatch.undo()
    later(monkeypatch)
    found = find_folder(find_places(project, home))
    assert found is not None
    with found:
        found.write(SCAN, "", b"one")
    works()


def test_no_descriptor_is_left_open(
    home: Path, project: Path, filled: Path, works: Any
) -> None:
    assert filled.is_dir()
    before = sum(1 for _ in Path("/dev/fd").iterdir())
    agrees(home, project)
    files(home, "composition")[0].write_bytes(b"x")
    works()
    (home / ".msd" / "cache").chmod(0o777)
    works(mends=False)
    assert sum(1 for _ in Path("/dev/fd").iterdir()) == before

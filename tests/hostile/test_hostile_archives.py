"""Archives as an attacker packs them: refused, and not one byte of them is left."""

from __future__ import annotations

import functools
import gzip
import io
import json
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msdcomp.edge.sources.archives import sri
from tests.edge.sources.packing import entry, member, tar, tar_of, zip_of
from tests.hostile.ground import Ground, bundle, picture
from tests.layouts import feature

MANIFEST = json.dumps(feature("tide")).encode()

#: Paths that a member may not have, and the code of the fault.
PATHS = {
    "../evil": "escapes",
    "a/../../evil": "escapes",
    "/tmp/evil": "escapes",  # noqa: S108 - a path of an attack, which is refused
    "..": "escapes",
    "a/..": "escapes",
    "C:/evil": "escapes",
    "..\\evil": "escapes",
    "a\\..\\..\\evil": "escapes",
    "./../evil": "escapes",
    "a//../../evil": "escapes",
    "a\nb": "bad-name",
    "a\u202eb": "bad-name",
    "a" * 256: "bad-name",
    "/".join(["d"] * 65) + "/f": "too-many",
}


def _tar(name: str, data: bytes = b"evil") -> bytes:
    return tar_of((member("capability.json"), MANIFEST), (member(name), data), format=2)


def _zip(name: str, data: bytes = b"evil") -> bytes:
    return zip_of((entry("capability.json"), MANIFEST), (entry(name), data))


def _special(kind: bytes, name: str, target: str = "") -> bytes:
    return tar_of(
        (member("capability.json"), MANIFEST),
        (member(name, type=kind, linkname=target), b""),
    )


def _linked_zip(target: str) -> bytes:
    link = entry("link", stat.S_IFLNK | 0o777)
    return zip_of((entry("capability.json"), MANIFEST), (link, target.encode()))


def _through_a_link() -> bytes:
    """A link to outside, and a file that would be written through it."""
    return tar_of(
        (member("capability.json"), MANIFEST),
        (member("out", type=tarfile.SYMTYPE, linkname="../../.."), b""),
        (member("out/evil"), b"evil"),
    )


def _clash(*names: str) -> bytes:
    return tar_of(
        (member("capability.json"), MANIFEST),
        *((member(name), b"x") for name in names),
    )


def _declared(size: int) -> bytes:
    """A member that says it is large, and has nothing behind it."""
    buffer = io.BytesIO()
    info = member("data", size=size)
    header = info.tobuf(tarfile.GNU_FORMAT)
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        held = member("capability.json", size=len(MANIFEST))
        archive.addfile(held, io.BytesIO(MANIFEST))
        end = archive.offset
    return gzip.compress(buffer.getvalue()[:end] + header, 1, mtime=0)


def _bomb(size: int) -> bytes:
    """Zeros without end, in a few bytes each megabyte."""
    zeros = b"\0" * (1 << 20)
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = _open_member(size)
    parts = [squeeze.compress(head)]
    parts += [squeeze.compress(zeros) for _ in range(size >> 20)]
    return b"".join([*parts, squeeze.flush()])


def _open_member(size: int) -> bytes:
    return member("data", size=size).tobuf(tarfile.GNU_FORMAT)


def _zip_bomb() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("capability.json", MANIFEST)
        archive.writestr("data", b"\0" * (17 << 20))
    return buffer.getvalue()


def _lying_zip(size: int) -> bytes:
    """A member whose size is another one than it says, in both of its headers."""
    data = zip_of((entry("capability.json"), MANIFEST), (entry("data"), b"\0" * 4096))
    raw = struct.pack("<I", 4096)
    assert data.count(raw) >= 2
    return data.replace(raw, struct.pack("<I", size))


def _crowd(number: int) -> bytes:
    """Many empty files; their headers differ in the name and the sum of the bytes."""
    blank = bytearray(member("").tobuf(tarfile.USTAR_FORMAT))
    blank[148:156] = b" " * 8
    blocks = []
    for index in range(number):
        name = b"%06x" % index
        block = blank.copy()
        block[:6] = name
        block[148:156] = b"%06o\0 " % (sum(blank) + sum(name))
        blocks.append(bytes(block))
    whole = gzip.decompress(tar({"capability.json": MANIFEST}))
    end = 512 + -(-len(MANIFEST) // 512) * 512
    return gzip.compress(whole[:end] + b"".join(blocks) + b"\0" * 1024, 1, mtime=0)


def _long_header() -> bytes:
    headers = {"comment": "x" * (1 << 20)}
    return tar_of((member("capability.json", pax_headers=headers), MANIFEST))


#: Name -> how it is packed.
ARCHIVES: dict[str, Callable[[], bytes]] = {
    "link: symbolic": lambda: _special(tarfile.SYMTYPE, "link", "/etc/passwd"),
    "link: inside": lambda: _special(tarfile.SYMTYPE, "link", "capability.json"),
    "link: hard": lambda: _special(tarfile.LNKTYPE, "link", "capability.json"),
    "link: hard, out": lambda: _special(tarfile.LNKTYPE, "link", "/etc/passwd"),
    "link: the manifest": lambda: tar_of(
        (member("capability.json", type=tarfile.SYMTYPE, linkname="/etc/passwd"), b"")
    ),
    "link: written through": _through_a_link,
    "link: zip": lambda: _linked_zip("/etc/passwd"),
    "not-regular: FIFO": lambda: _special(tarfile.FIFOTYPE, "pipe"),
    "not-regular: device": lambda: _special(tarfile.CHRTYPE, "zero"),
    "clash: case": lambda: _clash("run.sh", "RUN.sh"),
    "clash: case of a folder": lambda: _clash("bin/a", "Bin/b"),
    "clash: accents": lambda: _clash("\u00e9", "e\u0301"),
    "clash: twice": lambda: _clash("a", "a"),
    "clash: file and folder": lambda: _clash("a", "a/b"),
    "clash: case of the manifest": lambda: _clash("Capability.json"),
    "too-large: 10 GiB declared": lambda: _declared(10 << 30),
    "too-large: 8 EiB declared": lambda: _declared((1 << 63) - 1),
    "too-large: 17 MiB of zeros": lambda: tar(
        {"capability.json": MANIFEST, "a": b"\0" * (17 << 20)}
    ),
    "too-large: 512 MiB of zeros": lambda: _bomb(512 << 20),
    "too-large: zip of zeros": _zip_bomb,
    "too-large: zip that says 4 GiB": lambda: _lying_zip(0xFFFFFFF0),
    "too-large: a long header": _long_header,
    "too-many: 100 000 entries": lambda: _crowd(100_000),
    "damaged: less than declared": lambda: _declared(1000),
    "damaged: zip that says less": lambda: _lying_zip(16),
    "damaged: cut": lambda: tar({"capability.json": MANIFEST})[:-20],
    "not-an-archive: a script": lambda: b"#!/bin/sh\n",
    "not-an-archive: nothing": lambda: b"",
    "no-manifest: none": lambda: tar({"a/b": b"", "c/d": b""}),
    "no-manifest: two tops": lambda: tar(
        {"a/capability.json": MANIFEST, "b/capability.json": b"{}"}
    ),
    **{
        f"{code}: {pack.__name__} {path!r:.40}": functools.partial(pack, path)
        for pack in (_tar, _zip)
        for path, code in PATHS.items()
    },
}


@pytest.mark.parametrize("what", ARCHIVES)
def test_a_hostile_archive_is_refused_and_leaves_nothing(
    ground: Ground, tmp_path: Path, what: str
) -> None:
    code, _, _ = what.partition(":")
    archive = tmp_path / "tide.tgz"
    archive.write_bytes(ARCHIVES[what]())
    before = picture(ground.top)
    beside = sorted(path.name for path in tmp_path.iterdir())

    done = ground.capability("install", archive, "--yes")

    assert done.code == 1, done
    assert f"cannot be done [{code}]" in done.out
    assert "Traceback" not in done.err
    assert picture(ground.top) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == beside


@pytest.mark.parametrize("name", [".git/config", ".GIT/hooks/x", "a/.git/config"])
def test_what_git_would_obey_is_left_out(
    ground: Ground, tmp_path: Path, name: str
) -> None:
    archive = tmp_path / "tide.tgz"
    archive.write_bytes(tar({"capability.json": MANIFEST, name: b"[core]"}))

    assert ground.capability("install", archive, "--yes").code == 0

    folder = ground.folder("tide", "global")
    assert [path for path in folder.rglob("*") if path.is_file()] == [
        folder / "capability.json"
    ]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1777, 0o777, 0o000])
def test_permissions_of_an_archive_are_not_taken_over(
    ground: Ground, tmp_path: Path, mode: int
) -> None:
    archive = tmp_path / "tide.tgz"
    archive.write_bytes(
        tar_of(
            (member("capability.json"), MANIFEST),
            (member("run.sh", mode=mode, uid=1, gid=1), b""),
        )
    )

    assert ground.capability("install", archive, "--yes").code == 0

    found = stat.S_IMODE((ground.folder("tide", "global") / "run.sh").stat().st_mode)
    assert found in {0o644, 0o755}
    assert found == (0o755 if mode & 0o100 else 0o644)


@pytest.mark.parametrize(
    "integrity",
    [
        "sha512-" + "A" * 86 + "==",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
        "sha512-",
        "sha512",
        "",
        "SHA512-x",
    ],
)
def test_an_archive_of_another_hash_is_refused(
    ground: Ground, tmp_path: Path, integrity: str
) -> None:
    archive = tmp_path / "tide.tgz"
    archive.write_bytes(tar({"capability.json": MANIFEST}))
    before = picture(ground.top)

    done = ground.capability("install", archive, "--yes", f"--integrity={integrity}")

    assert done.code == 1
    assert "[integrity-" in done.out
    assert picture(ground.top) == before
    right = sri(archive.read_bytes())
    assert (
        ground.capability("install", archive, "--yes", f"--integrity={right}").code == 0
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_an_archive_with_a_broken_byte_installs_what_was_meant_or_nothing(
    ground: Ground, tmp_path: Path, data: st.DataObject
) -> None:
    honest = gzip.decompress(tar({"capability.json": MANIFEST, "a/b.md": b"text"}))
    at = data.draw(st.integers(0, 2047))
    byte = data.draw(st.integers(0, 255))
    broken = honest[:at] + bytes([byte]) + honest[at + 1 :]
    archive = tmp_path / "tide.tgz"
    archive.write_bytes(gzip.compress(broken, 1, mtime=0))
    before = picture(ground.outside, ground.project)

    done = ground.capability("install", archive, "--yes")

    assert done.code in {0, 1}
    assert picture(ground.outside, ground.project) == before
    if done.code == 0:
        assert ground.capability("remove", "tide").code == 0
    root = ground.folder("tide", "global").parent
    assert not root.exists() or [p.name for p in root.iterdir()] in ([], [".lock"])


@pytest.mark.parametrize("number", [9_999, 10_000])
def test_a_folder_of_too_many_files_is_refused(
    ground: Ground, tmp_path: Path, number: int
) -> None:
    source = bundle(tmp_path / "source")
    for index in range(number):
        (source / f"{index:x}").touch()
    before = picture(ground.top)

    done = ground.capability("install", source, "--dry-run")

    assert done.code == (0 if number < 10_000 else 1)
    assert picture(ground.top) == before

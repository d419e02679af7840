"""Archives: what is unpacked, and the hostile ones that are not."""

from __future__ import annotations

import gzip
import os
import stat
import struct
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msdcomp.edge.sources import Fetched, Options, fetch
from msdcomp.edge.sources.archives import integrity_fault, sri, unpack
from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.options import (
    MAX_ARCHIVE_BYTES,
    MAX_TOTAL_BYTES,
)
from msdcomp.edge.sources.staging import Refused, Staging
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec
from tests.edge.sources.packing import (
    FILES,
    MANIFEST,
    entry,
    member,
    modes,
    tar,
    tar_of,
    tree,
    zip_of,
    zipped,
)

Archive = tuple[str, bytes]


def _fetch(
    data: bytes, into: Path, integrity: str | None = None
) -> Fetched | SourceFault:
    path = into.parent / "bundle.archive"
    path.write_bytes(data)
    return fetch(SourceSpec("local", str(path)), str(into), integrity=integrity)


def _refused(data: bytes, into: Path) -> str:
    found = _fetch(data, into)
    assert isinstance(found, SourceFault), "it was let in"
    assert list(into.iterdir()) == []
    return found.code


@pytest.mark.parametrize("pack", [tar, zipped])
@pytest.mark.parametrize("top", ["", "./", "package/", "ui-1.0.0/"])
def test_an_archive_is_unpacked_flat_or_from_its_single_folder(
    pack: object, top: str, into: Path
) -> None:
    assert callable(pack)
    data = pack(top=top)

    found = _fetch(data, into)

    assert found == Fetched(root=str(into), integrity=sri(data))
    assert tree(into) == FILES


@pytest.mark.parametrize("pack", [tar, zipped])
def test_modes_are_two_kinds_whatever_the_archive_and_the_umask_say(
    pack: object, into: Path
) -> None:
    assert callable(pack)
    before = os.umask(0o077)
    try:
        _fetch(pack(), into)
    finally:
        os.umask(before)

    assert modes(into) == {
        "bin": 0o755,
        "bin/run.sh": 0o755,
        "capability.json": 0o644,
        "loop": 0o755,
        "loop/step.md": 0o644,
    }


def test_a_set_user_id_bit_is_dropped(into: Path) -> None:
    _fetch(tar_of((member("capability.json", mode=0o6777), MANIFEST)), into)

    assert modes(into) == {"capability.json": 0o755}


def test_the_single_folder_may_hold_one_of_its_own_name(into: Path) -> None:
    files = {"ui/capability.json": MANIFEST, "ui/ui/x.md": b"x"}

    assert isinstance(_fetch(tar(files), into), Fetched)
    assert tree(into) == {"capability.json": MANIFEST, "ui/x.md": b"x"}


def test_w20_the_archive_itself_does_not_end_up_in_the_bundle(into: Path) -> None:
    _fetch(tar(), into)

    assert set(tree(into)) == set(FILES)


def test_git_and_what_finder_adds_are_left_out(into: Path) -> None:
    extra = {
        ".git/config": b"[core]",
        "sub/.GIT/hooks/x": b"x",
        "__MACOSX/._capability.json": b"x",
    }

    assert isinstance(_fetch(zipped({**FILES, **extra}), into), Fetched)
    assert tree(into) == FILES


def test_folders_may_be_listed_or_not_and_more_than_once(into: Path) -> None:
    folder = member("loop/", type=tarfile.DIRTYPE)
    again = member("loop", type=tarfile.DIRTYPE)
    root = member("./", type=tarfile.DIRTYPE)
    files = [(member(name), data) for name, data in FILES.items()]

    data = tar_of((root, b""), (folder, b""), *files, (again, b""))

    assert isinstance(_fetch(data, into), Fetched)
    assert tree(into) == FILES


# Integrity.


def test_the_integrity_is_checked_before_anything_is_unpacked(into: Path) -> None:
    found = _fetch(b"\x1f\x8b no archive at all", into, integrity=sri(b"another"))

    assert isinstance(found, SourceFault)
    assert found.code == "integrity-mismatch"


def test_an_archive_with_the_right_integrity_is_taken(into: Path) -> None:
    data = tar()

    assert isinstance(_fetch(data, into, integrity=sri(data)), Fetched)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "integrity-algorithm"),
        ("sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=", "integrity-algorithm"),
        ("md5-1B2M2Y8AsgTpgAmY7PhCfg==", "integrity-algorithm"),
        ("", "integrity-malformed"),
        ("sha512-", "integrity-malformed"),
        ("sha512-" + "A" * 86, "integrity-malformed"),
        ("sha512-" + "A" * 85 + "B==", "integrity-malformed"),
        ("SHA512-" + "A" * 86 + "==", "integrity-malformed"),
        (sri(b"") + " ", "integrity-malformed"),
        (f"{sri(b'')} {sri(b'x')}", "integrity-malformed"),
    ],
)
def test_what_is_no_sha512_is_no_integrity(text: str, code: str) -> None:
    found = integrity_fault(text)

    assert found is not None
    assert found.code == code


def test_a_computed_integrity_is_one() -> None:
    assert integrity_fault(sri(b"")) is None


# Hostile names.

BAD_NAMES = [
    ("../x", "escapes"),
    ("a/../../x", "escapes"),
    ("a/../x", "escapes"),
    ("/etc/x", "escapes"),
    ("//h/x", "escapes"),
    ("C:/x", "escapes"),
    ("c:x", "escapes"),
    ("a\\..\\x", "escapes"),
    ("a\nb", "bad-name"),
    ("a\x7fb", "bad-name"),
    ("a\x1b[2Jb", "bad-name"),
    ("a\u202eb", "bad-name"),
    ("a/" + "n" * 256, "bad-name"),
    ("a/" + "ü" * 128, "bad-name"),
    ("/".join(["d" * 100] * 11), "bad-name"),
    ("/".join(["d"] * 65), "too-many"),
]


@pytest.mark.parametrize(("name", "code"), BAD_NAMES)
def test_w10_a_name_that_leads_out_or_hides_is_refused_in_a_tar(
    name: str, code: str, into: Path
) -> None:
    data = tar_of((member("capability.json"), MANIFEST), (member(name), b"x"))

    assert _refused(data, into) == code


@pytest.mark.parametrize(("name", "code"), BAD_NAMES)
def test_a_name_that_leads_out_or_hides_is_refused_in_a_zip(
    name: str, code: str, into: Path
) -> None:
    data = zip_of((entry("capability.json"), MANIFEST), (entry(name), b"x"))

    assert _refused(data, into) == code


def test_a_nul_in_the_name_of_a_zip_is_seen(into: Path) -> None:
    data = zip_of((entry("capability.json"), MANIFEST), (entry("aXb"), b"x"))

    assert _refused(data.replace(b"aXb", b"a\0b"), into) == "bad-name"


def test_a_nul_in_a_long_name_of_a_tar_is_seen(into: Path) -> None:
    info = member("x", pax_headers={"path": "a\0b"})
    data = tar_of((member("capability.json"), MANIFEST), (info, b"x"))

    assert _refused(data, into) == "bad-name"


def test_a_name_that_is_no_utf8_is_refused(into: Path) -> None:
    raw = gzip.decompress(
        tar_of((member("capabilityXjson"), b""), format=tarfile.GNU_FORMAT)
    )
    header = bytearray(raw[:512].replace(b"capabilityXjson", b"capability\xffjson"))
    header[148:156] = b" " * 8
    header[148:156] = f"{sum(header):06o}\0 ".encode()

    data = gzip.compress(bytes(header) + raw[512:])

    assert _refused(data, into) == "damaged"


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("a.md", "a.md"),
        ("a.md", "A.MD"),
        ("loop/a.md", "LOOP/b.md"),
        ("stra\u00dfe", "STRASSE"),
        ("caf\u00e9", "cafe\u0301"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("a/b", "A"),
    ],
)
def test_names_that_some_file_system_takes_for_one_are_refused(
    one: str, two: str, into: Path
) -> None:
    for pack in (tar, zipped):
        raw = [(one, b"1"), (two, b"2")]
        data = (
            tar_of(*((member(n), c) for n, c in raw))
            if pack is tar
            else zip_of(*((entry(n), c) for n, c in raw))
        )
        assert _refused(data, into) == "clash"


# Hostile kinds.


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, "link"),
        ({"type": tarfile.SYMTYPE, "linkname": "capability.json"}, "link"),
        ({"type": tarfile.LNKTYPE, "linkname": "capability.json"}, "link"),
        ({"type": tarfile.LNKTYPE, "linkname": "../../x"}, "link"),
        ({"type": tarfile.FIFOTYPE}, "not-regular"),
        ({"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 5}, "not-regular"),
        ({"type": tarfile.BLKTYPE}, "not-regular"),
        ({"type": tarfile.CONTTYPE}, "not-regular"),
        ({"type": b"Z"}, "not-regular"),
    ],
)
def test_a_tar_holds_files_and_folders_and_nothing_else(
    fields: dict[str, object], code: str, into: Path
) -> None:
    data = tar_of((member("capability.json"), MANIFEST), (member("x", **fields), b""))

    assert _refused(data, into) == code


def test_a_link_and_then_a_file_through_it_writes_nothing_outside(into: Path) -> None:
    outside = into.parent / "outside"
    outside.mkdir()
    link = member("d", type=tarfile.SYMTYPE, linkname=str(outside))

    assert _refused(tar_of((link, b""), (member("d/x"), b"x")), into) == "link"
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"},
        {"GNU.sparse.map": "0,1", "GNU.sparse.size": "10737418240"},
    ],
)
def test_a_sparse_file_is_refused(headers: dict[str, str], into: Path) -> None:
    body = b"1\n0\n1\n".ljust(512, b"\0") + b"x"
    info = member("x", pax_headers=headers)

    assert _refused(tar_of((info, body)), into) in {"not-regular", "damaged"}


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        (stat.S_IFLNK | 0o777, "link"),
        (stat.S_IFIFO | 0o644, "not-regular"),
        (stat.S_IFCHR | 0o644, "not-regular"),
        (stat.S_IFDIR | 0o755, "not-regular"),
    ],
)
def test_a_zip_holds_files_and_folders_and_nothing_else(
    mode: int, code: str, into: Path
) -> None:
    data = zip_of((entry("capability.json"), MANIFEST), (entry("x", mode), b"/etc"))

    assert _refused(data, into) == code


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_unusual_compression_is_refused(method: int, into: Path) -> None:
    info = entry("capability.json")
    info.compress_type = method

    assert _refused(zip_of((info, MANIFEST)), into) == "unsupported"


def test_an_encrypted_zip_is_refused(into: Path) -> None:
    data = bytearray(zip_of((entry("capability.json"), MANIFEST)))
    data[data.index(b"PK\x01\x02") + 8] |= 1

    assert _refused(bytes(data), into) == "unsupported"


# Bombs.


def _lying_tar(size: int) -> bytes:
    """Return a tar whose only file says it is of a size, and has no content."""
    return gzip.compress(member("capability.json", size=size).tobuf())


def test_ten_gibibytes_declared_are_refused_early(into: Path) -> None:
    start = time.monotonic()

    assert _refused(_lying_tar(10 * 2**30), into) == "too-large"
    assert time.monotonic() - start < 1


def test_ten_gibibytes_declared_by_an_extended_header_are_refused(into: Path) -> None:
    info = member("x", pax_headers={"size": str(10 * 2**30)})

    assert _refused(tar_of((info, b"")), into) == "too-large"


@pytest.mark.parametrize("size", ["-1", "-5120", "1e9", "nan", "9" * 5000])
def test_a_size_that_is_no_size_is_refused(size: str, into: Path) -> None:
    info = member("x", pax_headers={"size": size})
    data = tar_of((info, b"x"), (member("capability.json"), MANIFEST))

    found = _fetch(data, into)

    # A text that is no number is what the library takes no notice of.
    assert isinstance(found, SourceFault) or size in {"1e9", "nan"}


def test_ten_gibibytes_declared_in_a_zip_are_refused_early(into: Path) -> None:
    data = bytearray(zip_of((entry("capability.json"), b"x" * 1000)))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", 0xFFFF_FFF0)

    assert _refused(bytes(data), into) == "too-large"


@pytest.mark.parametrize("declared", [0, 10, 999, 1001, 5000])
def test_a_zip_that_lies_about_a_length_is_damaged(declared: int, into: Path) -> None:
    data = bytearray(zip_of((entry("capability.json"), b"x" * 1000)))
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = struct.pack("<I", declared)

    assert _refused(bytes(data), into) == "damaged"


@pytest.mark.parametrize("pack", [tar, zipped])
def test_what_grows_beyond_the_limit_is_refused(pack: object, into: Path) -> None:
    assert callable(pack)
    half = bytes(MAX_TOTAL_BYTES // 2)
    fits = {"capability.json": MANIFEST, "a": half}

    assert isinstance(_fetch(pack(fits), into), Fetched)
    for path in into.iterdir():
        path.unlink()
    assert _refused(pack({**fits, "b": half}), into) == "too-large"


def test_a_stream_that_never_ends_is_cut(into: Path) -> None:
    """What is between and behind the files counts as well."""
    data = gzip.compress(bytes(200 * 2**20), 1)

    assert _refused(data, into) == "too-large"


def test_entries_of_one_zip_that_share_their_bytes_are_counted_each(
    into: Path,
) -> None:
    """A zip of a few kilobytes may name the same compressed bytes many times."""
    data = zip_of((entry("aaaa"), bytes(2**20)))
    at = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    central = data[at:end]
    many = b"".join(central.replace(b"aaaa", f"a{n:03}".encode()) for n in range(40))
    tail = bytearray(data[end:])
    tail[8:12] = struct.pack("<HH", 40, 40)
    tail[12:16] = struct.pack("<I", len(many))

    assert _refused(data[:at] + many + bytes(tail), into) in {"too-large", "damaged"}


def test_a_hundred_thousand_entries_are_refused_early(into: Path) -> None:
    header = member("d", type=tarfile.DIRTYPE).tobuf()
    data = gzip.compress(header * 100_000, 1)
    start = time.monotonic()

    assert _refused(data, into) in {"too-many", "too-large"}
    assert time.monotonic() - start < 10


def test_a_hundred_thousand_files_in_a_zip_are_refused_early(into: Path) -> None:
    data = zip_of((entry("d"), b""))
    at, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    tail = bytearray(data[end:])
    tail[12:16] = struct.pack("<I", (end - at) * 100_000)
    data = data[:at] + data[at:end] * 100_000 + bytes(tail)
    start = time.monotonic()

    assert _refused(data, into) == "too-many"
    assert time.monotonic() - start < 1


def test_folders_that_no_entry_names_count_too(
    into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("msdcomp.edge.sources.staging.MAX_ENTRIES", 500)
    names = [f"{n}/" + "/".join("d" * 50) + "/f" for n in range(10)]

    assert _refused(tar(dict.fromkeys(names, b"")), into) == "too-many"


def test_a_huge_extended_header_is_refused_before_it_is_read(into: Path) -> None:
    info = member("x", pax_headers={"comment": "1" * 5_000_000})
    start = time.monotonic()

    assert _refused(tar_of((info, b"x")), into) == "too-large"
    assert time.monotonic() - start < 2


def test_a_huge_long_name_is_refused(into: Path) -> None:
    data = tar_of((member("n" * 100_000), b""), format=tarfile.GNU_FORMAT)

    assert _refused(data, into) == "too-large"


def test_many_extended_headers_in_a_row_are_refused(into: Path) -> None:
    header = member("x", type=tarfile.XHDTYPE, size=12).tobuf()
    block = header + b"12 comment=\n".ljust(512, b"\0")

    assert _refused(gzip.compress(block * 5000, 1), into) == "damaged"


# Damage.


@pytest.mark.parametrize("pack", [tar, zipped])
def test_half_an_archive_is_damaged(pack: object, into: Path) -> None:
    assert callable(pack)
    data = pack()

    assert _refused(data[: len(data) // 2], into) == "damaged"


def test_a_wrong_checksum_of_the_stream_is_damage(into: Path) -> None:
    data = bytearray(tar())
    data[-8] ^= 1

    assert _refused(bytes(data), into) == "damaged"


def test_several_compressed_parts_are_one_archive(into: Path) -> None:
    raw = gzip.decompress(tar())
    data = gzip.compress(raw[:700]) + gzip.compress(raw[700:]) + bytes(100)

    assert isinstance(_fetch(data, into), Fetched)
    assert tree(into) == FILES


@pytest.mark.parametrize("data", [b"", b"MZ", b"\x1f", b"BZh9", b"<html>"])
def test_what_is_no_archive_is_refused(data: bytes, into: Path) -> None:
    assert _refused(data, into) == "not-an-archive"


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"x": b""},
        {"a/b/capability.json": MANIFEST},
        {"a/capability.json": MANIFEST, "b/x": b""},
        {"capability.json/x": b""},
        {"a/CAPABILITY.JSON": MANIFEST},
    ],
)
def test_without_a_manifest_there_is_no_bundle(
    files: dict[str, bytes], into: Path
) -> None:
    assert _refused(tar(files), into) == "no-manifest"


def test_an_archive_larger_than_the_limit_is_not_read(into: Path) -> None:
    path = into.parent / "big.zip"
    with path.open("wb") as stream:
        stream.truncate(MAX_ARCHIVE_BYTES + 1)

    found = fetch(SourceSpec("local", str(path)), str(into))

    assert isinstance(found, SourceFault)
    assert found.code == "too-large"


def test_unpacking_ends_at_the_deadline(into: Path) -> None:
    path = into.parent / "bundle.tgz"
    path.write_bytes(tar())

    found = fetch(SourceSpec("local", str(path)), str(into), Options(timeout_s=0))

    assert isinstance(found, SourceFault)
    assert found.code == "timeout"
    assert list(into.iterdir()) == []


@pytest.mark.parametrize("whole", [tar(), zipped()], ids=["tar", "zip"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_damage_is_a_fault_and_never_an_accident(
    whole: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    is_tar = whole.startswith(b"\x1f\x8b")
    raw = bytearray(gzip.decompress(whole) if is_tar else whole)
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    broken = gzip.compress(bytes(raw), 1) if is_tar else bytes(raw)
    folder = tmp_path_factory.mktemp("s")
    staging = Staging(str(folder))
    try:
        unpack(broken, staging, Deadline(20))
    except Refused as refused:
        assert refused.fault.code  # noqa: PT017
    finally:
        staging.clear()
        staging.close()
    assert list(folder.iterdir()) == []

"""Archives, unpacked from bytes that are all in memory already.

The bytes have been hashed before anything here looks at them. What an archive says of
itself is believed only where that makes it refused sooner.
Source: docs/reference/sources.md, "Archives".
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Self

from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.options import MAX_ENTRIES, MAX_TOTAL_BYTES
from msdcomp.edge.sources.staging import Refused, Staging, is_left_out, split_name
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault

__all__ = ["check_integrity", "integrity_fault", "sri", "unpack"]

_CHUNK = 64 * 1024

#: Most bytes a compressed tar grows to: the files, and for each entry a header, what
#: fills its last block, and an extended header with its own.
_MAX_TAR_BYTES = MAX_TOTAL_BYTES + MAX_ENTRIES * 2048 + 10240

#: Longest extended header, and all of them together. They are read whole, and versions
#: of Python that are still about search them in time that grows with the square.
_MAX_EXTENDED = 4096
_MAX_ALL_EXTENDED = 2 * 1024 * 1024

_EXTENDED = frozenset(
    {
        tarfile.XHDTYPE,
        tarfile.XGLTYPE,
        tarfile.SOLARIS_XHDTYPE,
        tarfile.GNUTYPE_LONGNAME,
        tarfile.GNUTYPE_LONGLINK,
    }
)
_ENCRYPTED = 0x1 | 0x40
_CENTRAL = b"PK\x01\x02"

_SRI = re.compile(r"sha512-([A-Za-z0-9+/]{86}==)")

#: What the standard library raises for an archive that is not what it should be.
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    OverflowError,
    EOFError,
    IndexError,
    KeyError,
    NotImplementedError,
    RecursionError,
    RuntimeError,
)


def sri(data: bytes) -> str:
    """Return `sha512-` and the hash of some bytes in Base64."""
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def integrity_fault(text: str) -> SourceFault | None:
    """Return why a text is no integrity value that can be checked."""
    found = _SRI.fullmatch(text)
    if found:
        try:
            # A last character with bits to spare would be a second way to write it.
            exact = base64.b64encode(base64.b64decode(found[1], validate=True))
        except binascii.Error:
            exact = b""
        if exact.decode() == found[1]:
            return None
    if re.match(r"(?:sha(?:1|256|384)|md5)-", text):
        return SourceFault(
            "integrity-algorithm",
            f"{safe(text.partition('-')[0])} is not accepted as proof of a content",
            "give a sha512",
        )
    return SourceFault(
        "integrity-malformed", "the integrity is not sha512- and 88 characters"
    )


def check_integrity(data: bytes, expected: str | None) -> str:
    """Return the integrity of an archive's bytes, which must be the one expected.

    Raises:
        Refused: It is another.
    """
    found = sri(data)
    if expected is not None and found != expected:
        raise Refused(
            "integrity-mismatch",
            f"the archive is {found}, not {expected}",
            "it was changed, or the value belongs to another version",
        )
    return found


def unpack(data: bytes, staging: Staging, deadline: Deadline) -> None:
    """Unpack a compressed tar or a zip, told apart by how they begin.

    Raises:
        Refused: It holds what a bundle may not, or is damaged.
    """
    try:
        if data.startswith(b"\x1f\x8b"):
            _untar(data, staging, deadline)
        elif data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
            _unzip(data, staging, deadline)
        else:
            raise Refused(
                "not-an-archive", "neither a compressed tar nor a zip", ".tar.gz, .zip"
            )
    except _BROKEN as error:
        # Not the library's words: they repeat the archive's.
        kind = type(error).__name__
        raise Refused("damaged", f"the archive cannot be read ({kind})") from None


class _Gunzip(io.RawIOBase):
    """The content of a gzip file, of no more than a number of bytes."""

    def __init__(self, data: bytes, limit: int) -> None:
        super().__init__()
        self._rest = memoryview(data)
        self._left = limit
        self._inflate = zlib.decompressobj(wbits=31)

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; nothing at the end."""
        wanted = _CHUNK if size < 0 else min(size, _CHUNK)
        while wanted:
            if self._inflate.eof:
                # Another file may follow, or zeros that fill a block.
                rest = bytes(self._inflate.unused_data) + bytes(self._rest)
                rest = rest.lstrip(b"\0")
                if not rest:
                    return b""
                self._rest = memoryview(rest)
                self._inflate = zlib.decompressobj(wbits=31)
            raw = self._inflate.unconsumed_tail
            if not raw:
                raw, self._rest = bytes(self._rest[:_CHUNK]), self._rest[_CHUNK:]
            out = self._inflate.decompress(raw, wanted)
            self._left -= len(out)
            if self._left < 0:
                raise Refused("too-large", "the archive grows beyond any bundle's size")
            if out:
                return out
            if not raw and not self._inflate.eof:
                raise EOFError
        return b""


class _Member(tarfile.TarInfo):
    """An entry whose extended headers are counted before they are read."""

    def _proc_member(self, archive: tarfile.TarFile) -> Self:
        # The entry point that the standard library names for subclasses.
        if self.size < 0:
            raise ValueError
        if self.type in _EXTENDED:
            seen = getattr(archive, "msd_extended", 0) + self.size
            archive.msd_extended = seen  # type: ignore[attr-defined]
            if self.size > _MAX_EXTENDED or seen > _MAX_ALL_EXTENDED:
                raise Refused("too-large", "an extended header of unreasonable length")
        return super()._proc_member(archive)  # type: ignore[misc, no-any-return]


def _untar(data: bytes, staging: Staging, deadline: Deadline) -> None:
    stream = _Gunzip(data, _MAX_TAR_BYTES)
    seen = 0
    with tarfile.open(
        fileobj=stream,
        mode="r|",
        tarinfo=_Member,
        encoding="utf-8",
        errors="strict",
    ) as archive:
        for member in archive:
            seen += 1
            _limit(seen, deadline)
            parts = split_name(member.name)
            if not (member.isdir() or member.type in {tarfile.REGTYPE, b"\0"}):
                raise _special(member.name, link=member.issym() or member.islnk())
            if member.issparse():
                raise _special(member.name, link=False)
            if not parts or is_left_out(parts):
                continue
            if member.isdir():
                staging.add_folder(parts)
                continue
            staging.expect(member.size)
            content = archive.extractfile(member)
            if content is None:
                raise EOFError
            size = staging.add_file(
                parts, _chunks(content), executable=bool(member.mode & 0o100)
            )
            if size != member.size:
                raise EOFError
    # To the end: the checksum of the compressed stream stands there.
    while stream.read():
        pass


def _unzip(data: bytes, staging: Staging, deadline: Deadline) -> None:
    # The directory is read whole, so its entries are counted before: each begins so.
    if data.count(_CENTRAL) > MAX_ENTRIES:
        raise Refused("too-many", f"more than {MAX_ENTRIES:,} files and folders")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for seen, info in enumerate(archive.infolist(), 1):
            _limit(seen, deadline)
            # The library cuts the other name at a NUL.
            name = info.orig_filename
            parts = split_name(name)
            mode = info.external_attr >> 16
            folder = name.endswith("/")
            fine = {0, stat.S_IFDIR} if folder else {0, stat.S_IFREG}
            if stat.S_IFMT(mode) not in fine:
                raise _special(name, link=stat.S_ISLNK(mode))
            if info.flag_bits & _ENCRYPTED:
                raise Refused("unsupported", f"{safe(name, 120)}: encrypted")
            if info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise Refused(
                    "unsupported", f"{safe(name, 120)}: an unusual compression"
                )
            if not parts or is_left_out(parts):
                continue
            if folder:
                staging.add_folder(parts)
                continue
            staging.expect(info.file_size)
            with archive.open(info) as content:
                size = staging.add_file(
                    parts, _chunks(content), executable=bool(mode & 0o100)
                )
            if size != info.file_size:
                raise EOFError


def _limit(seen: int, deadline: Deadline) -> None:
    if seen > MAX_ENTRIES:
        raise Refused("too-many", f"more than {MAX_ENTRIES:,} files and folders")
    if not deadline.left():
        raise Refused.of(deadline.fault())


def _special(name: str, *, link: bool) -> Refused:
    kind = "a link" if link else "neither a plain file nor a folder"
    return Refused("link" if link else "not-regular", f"{safe(name, 120)}: {kind}")


def _chunks(stream: IO[bytes]) -> Iterator[bytes]:
    while chunk := stream.read(_CHUNK):
        yield chunk

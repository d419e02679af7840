"""Archives that tests make, honest and hostile."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

MANIFEST = b'{"id": "ui"}'

#: A small bundle.
FILES = {
    "capability.json": MANIFEST,
    "loop/step.md": b"Do it.",
    "bin/run.sh": b"#!/bin/sh\n",
}


def member(name: str, **fields: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mode = 0o644
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def tar_of(*entries: tuple[tarfile.TarInfo, bytes], **options: int) -> bytes:
    """Return a compressed tar of entries, each as long as its content."""
    buffer = io.BytesIO()
    form = options.get("format", tarfile.PAX_FORMAT)
    with tarfile.open(fileobj=buffer, mode="w", format=form) as archive:
        for info, content in entries:
            if info.type in {tarfile.REGTYPE, tarfile.AREGTYPE}:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), 1, mtime=0)


def tar(files: Mapping[str, bytes] = FILES, top: str = "") -> bytes:
    return tar_of(
        *(
            (member(top + name, mode=0o755 if name.endswith(".sh") else 0o600), data)
            for name, data in files.items()
        )
    )


def zip_of(*entries: tuple[zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        # Two entries of one name are the point of some tests.
        warnings.simplefilter("ignore")
        for info, content in entries:
            archive.writestr(info, content)
    return buffer.getvalue()


def entry(name: str, mode: int = stat.S_IFREG | 0o644) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def zipped(files: Mapping[str, bytes] = FILES, top: str = "") -> bytes:
    return zip_of(
        *(
            (
                entry(
                    top + name,
                    stat.S_IFREG | (0o755 if name.endswith(".sh") else 0o600),
                ),
                data,
            )
            for name, data in files.items()
        )
    )


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


def modes(folder: Path) -> dict[str, int]:
    return {
        str(path.relative_to(folder)): stat.S_IMODE(path.lstat().st_mode)
        for path in sorted(folder.rglob("*"))
    }

"""What lies in the overlay root of a project, seen as far as the user agreed to it.

Source: docs/explanation/edges.md, "From folders to candidates".
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import attrs

from msdcomp.edge.consent import ConsentRecord, ConsentStore
from msdcomp.edge.content_hash import read_bundle
from msdcomp.edge.files import (
    MAX_FILE_BYTES,
    FileFault,
    open_folder,
    read_confined,
)
from msdcomp.edge.sight import MANIFEST_NAME, RootReader, Sight, name_text
from msdcomp.scope import Consent

if TYPE_CHECKING:
    from msdcomp.edge.roots import Root

__all__ = ["MAX_UNAGREED_BYTES", "ProjectReader"]

#: Most bytes of all manifests of a root together that nobody agreed to: a repository
#: cannot keep a host busy by holding thousands of the largest.
MAX_UNAGREED_BYTES = 256 * 1024 * 1024

_TOO_MUCH = f"manifests before it are larger than {MAX_UNAGREED_BYTES:,} bytes"
_UNFOLLOWED = "the folder is a symbolic link, and nothing was read through it"


class ProjectReader(RootReader):
    """Looks at the entries of a project's root, as far as it could be opened.

    Args:
        root: The root.
        fd: Its descriptor, which stays the caller's, or why there is none.
        consent: What the user has agreed to.
        project: Physical path of the project.
    """

    def __init__(
        self, root: Root, fd: int | FileFault, consent: ConsentStore, project: str
    ) -> None:
        """Look at a root that the caller has opened, and will close."""
        super().__init__(root, fd)
        self.consent = consent
        self.project = project
        self._unagreed_left = MAX_UNAGREED_BYTES

    def look(self, name: str, kind: str) -> Sight:
        """Return what an entry is, and what the user has said about it."""
        seen = super().look(name, kind)
        return self.unread(seen) if seen.linked else seen

    def unread(self, seen: Sight) -> Sight:
        """Return a sight of what is not read, with what the stores say about it."""
        found = self.consent.find(self.project, name_text(seen.name))
        if isinstance(found, Consent):
            return attrs.evolve(seen, consent=found)
        return attrs.evolve(seen, consent=Consent.CHANGED, record=found)

    def _linked(self, name: str) -> Sight:
        """Only see what it is."""
        return Sight(name=name, unreadable=_UNFOLLOWED, linked=True)

    def _folder(self, name: str) -> Sight:
        record = self.consent.find(self.project, name_text(name))
        if isinstance(record, Consent):
            return self._unagreed(name, record)
        bundle = read_bundle(name, dir_fd=self.fd, follow=False)
        if isinstance(bundle, FileFault) or bundle.digest != record.content_hash:
            return self._unagreed(name, Consent.CHANGED, record)
        data = bundle.files.get(MANIFEST_NAME.encode())
        reason = None
        if data is None:
            reason = "no such file"
        elif len(data) > MAX_FILE_BYTES:
            data, reason = None, f"larger than {MAX_FILE_BYTES:,} bytes"
        return Sight(
            name=name,
            data=data,
            unreadable=reason,
            consent=Consent.MATCHES,
            record=record,
            bundle=bundle,
        )

    def _unagreed(
        self, name: str, consent: Consent, record: ConsentRecord | None = None
    ) -> Sight:
        """Read the manifest alone, without leaving the folder."""
        if self._unagreed_left <= 0:
            data: bytes | FileFault = FileFault("too-large", _TOO_MUCH)
        else:
            data = self._own_manifest(name)
        if isinstance(data, FileFault):
            return Sight(
                name=name, unreadable=data.reason, consent=consent, record=record
            )
        self._unagreed_left -= len(data)
        return Sight(name=name, data=data, consent=consent, record=record)

    def _own_manifest(self, name: str) -> bytes | FileFault:
        fd = open_folder(name, dir_fd=self.fd, follow=False)
        if isinstance(fd, FileFault):
            return fd
        try:
            return read_confined(fd, f"{self.root.folder}/{name}", MANIFEST_NAME)
        finally:
            os.close(fd)

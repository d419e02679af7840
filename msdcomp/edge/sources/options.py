"""What a fetch may do, and what it found out."""

from __future__ import annotations

import attrs

from msdcomp.records import Record
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import SourcePolicy

__all__ = [
    "MAX_ARCHIVE_BYTES",
    "MAX_DEPTH",
    "MAX_ENTRIES",
    "MAX_NAME_BYTES",
    "MAX_PATH_BYTES",
    "MAX_REDIRECTS",
    "MAX_TOTAL_BYTES",
    "Fetched",
    "Latest",
    "Options",
]

#: Most files and folders of a bundle.
MAX_ENTRIES = 10_000

#: Most bytes of all files together: what can be hashed for consent, and no more.
MAX_TOTAL_BYTES = 16 * 1024 * 1024

#: Most bytes of an archive; what does not compress needs a little more than it holds.
MAX_ARCHIVE_BYTES = MAX_TOTAL_BYTES + 4 * 1024 * 1024

#: Deepest nesting of folders, the bundle itself being the first.
MAX_DEPTH = 64

#: Longest name of a file or folder, and longest path in a bundle, in bytes of UTF-8.
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1024

#: Most redirects that are followed.
MAX_REDIRECTS = 5

_EVERYWHERE = SourcePolicy()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Options(Record):
    """What the user allows beyond the defaults.

    Attributes:
        allow_hosts: Hosts, in lower case, that may have an address that is not public.
        allow_private: Whether every host may.
        allow_insecure: Whether git may be spoken over `http` and `git`.
        policy: Which hosts may be spoken to at all; `allow_hosts` adds none to them.
        ca_file: A file of certificates to trust instead of the system's.
        registry: Base URL of an npm registry; None asks the environment, then npm.
        timeout_s: Longest time for the whole of a fetch, in seconds.
    """

    allow_hosts: frozenset[str] = frozenset()
    allow_private: bool = False
    allow_insecure: bool = False
    policy: SourcePolicy = _EVERYWHERE
    ca_file: str | None = None
    registry: str | None = None
    timeout_s: float = 60.0


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Fetched(Record):
    """What was found out while a bundle was fetched.

    Attributes:
        root: The folder with the bundle's `capability.json`: the staging folder itself.
        integrity: `sha512-` and the hash of the archive's bytes in Base64; None for
            folders and git.
        commit: The commit, 40 (or 64) hexadecimal digits; None for what is not git.
        version: The version asked for or chosen, of a source that enumerates them.
        versions: All the versions the source offers, newest first.
    """

    root: str
    integrity: str | None = None
    commit: str | None = None
    version: str | None = None
    versions: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Latest(Record):
    """What a source offers now.

    Attributes:
        status: `version` or `commit` (see there), `pinned` (the source names one
            state), `manual` (folders and archives, which nobody can ask), `unknown`.
        version: The newest version.
        commit: The commit of that version's tag, of the branch, or of the default one.
        fault: Why it is unknown.
    """

    status: str
    version: str | None = None
    commit: str | None = None
    fault: SourceFault | None = None

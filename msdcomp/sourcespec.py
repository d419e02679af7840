"""Where a capability comes from: the text a user types, as a value.

Parsing asks nobody: a path is made absolute by the text of the working folder alone, so
the same text means the same thing when an update reads it back from the ledger later.
Whatever is let through is safe to hand to a program as one argument: nothing begins
with a dash, and nothing holds a control character.
Source: docs/reference/sources.md, "What may be written".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import attrs

from msdcomp.records import Record
from msdcomp.safetext import safe, unsafe_characters
from msdcomp.semver import is_range, is_version
from msdcomp.sourcefault import SourceFault
from msdcomp.sourceurl import (
    MAX_SPEC,
    Url,
    parse_url,
    percent_decoded,
    scp_host,
    shown_url,
    starts_as_scp,
)

__all__ = ["ARCHIVE_SUFFIXES", "Ref", "SourceSpec", "parse_source"]

#: How the name of an archive ends, in any letter case.
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")

#: Transports that nobody could not read and change on the way.
_INSECURE = frozenset({"git", "http"})
_GIT_SCHEMES = frozenset({"https", "ssh", "file"})

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_SHA = re.compile(r"[0-9a-fA-F]{7,40}")
#: What a URL may hold and a shell on the other side would obey.
_SHELL = re.compile(r"[!$&'()*;]")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@=-]*")
_PACKAGE_PART = r"[a-z0-9_~][a-z0-9._~-]*"
_PACKAGE = re.compile(rf"(?:@{_PACKAGE_PART}/)?{_PACKAGE_PART}")
_DIST_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


@attrs.frozen(eq=False, repr=False)
class Ref(Record):
    """Which state of a source is meant.

    Attributes:
        kind: `branch`, `tag` or `sha` of a git repository; `version`, `range` or
            `dist-tag` of an npm package.
        name: Its name, never empty.
    """

    kind: str
    name: str


@attrs.frozen(eq=False, repr=False)
class SourceSpec(Record):
    """Where a capability comes from.

    Attributes:
        kind: `local` (a folder or an archive), `archive` (over HTTPS), `git`, `npm`.
        location: An absolute path, a URL, `user@host:path`, or the name of a package.
        ref: Which state of a git repository or npm package; None for what is current.
    """

    kind: str
    location: str
    ref: Ref | None = None

    @property
    def text(self) -> str:
        """The canonical text, which parses to an equal value in every folder."""
        if self.kind == "npm":
            return f"npm:{self.location}" + (f"@{self.ref.name}" if self.ref else "")
        if self.kind != "git":
            return self.location
        prefix = "git+" if "://" in self.location else ""
        if self.ref is None:
            return prefix + self.location
        mark = "" if self.ref.kind == "branch" else f"{self.ref.kind}:"
        return f"{prefix}{self.location}#{mark}{self.ref.name}"

    @property
    def host(self) -> str | None:
        """The host that a policy may ask for; None for local files and npm."""
        if self.kind not in {"archive", "git"}:
            return None
        url = parse_url(self.location)
        if isinstance(url, Url):
            return url.host or None
        return scp_host(self.location)

    @property
    def is_here(self) -> bool:
        """Whether it lies on this machine, so that nobody is asked for it."""
        if self.kind == "local":
            return not self.location.startswith("//")
        url = parse_url(self.location) if self.kind == "git" else None
        return isinstance(url, Url) and url.scheme == "file" and not _elsewhere(url)

    @property
    def pinned(self) -> bool:
        """Whether the text alone names one content, which no owner can exchange."""
        return self.ref is not None and self.ref.kind == "sha"


_EMPTY = SourceFault("empty", "no source was given")
_TILDE = SourceFault(
    "tilde",
    "~ is expanded by the shell alone, and here it was not",
    "leave it unquoted, or write the whole path",
)
_WINDOWS = SourceFault(
    "unknown-source", "paths with backslashes or drive letters are not supported"
)
_DOUBLE_SLASH = SourceFault(
    "unknown-source",
    "a path with two slashes in front may name another machine",
    "write one slash",
)


def _elsewhere(url: Url) -> bool:
    """Tell whether a `file` URL has two slashes in front, escaped or not."""
    return re.match(r"/(?:/|%2F)", url.path, re.IGNORECASE) is not None


def parse_source(
    text: str, cwd: str, *, allow_insecure: bool = False
) -> SourceSpec | SourceFault:
    """Return the source that a text names, or why it names none.

    Args:
        text: What the user wrote; surrounding space does not count.
        cwd: The absolute path of the folder that a relative path starts from.
        allow_insecure: Whether git may be spoken over `http` and `git`, which
            anybody on the way can change.

    Source: docs/reference/sources.md, "What may be written".
    """
    text = text.strip()
    fault = _unfit(text)
    if fault:
        return fault
    if text.startswith("npm:"):
        return _npm(text[4:])
    if text.startswith("git+"):
        return _git(text[4:], allow_insecure=allow_insecure)
    if found := _SCHEME.match(text):
        return _by_scheme(text, found[1].lower(), allow_insecure=allow_insecure)
    if starts_as_scp(text):
        return _git(text, allow_insecure=allow_insecure)
    return _path(text, cwd)


def _unfit(text: str) -> SourceFault | None:
    """Return the fault of a text that names nothing, whatever its form."""
    if not text:
        return _EMPTY
    if len(text) > MAX_SPEC:
        return SourceFault("too-long", f"longer than {MAX_SPEC:,} characters")
    if _hides(text):
        return SourceFault(
            "bad-character",
            f"{safe(text, 80)}: holds a control or invisible character",
        )
    if text.startswith("-"):
        return SourceFault(
            "leading-dash",
            f"{safe(text, 80)}: begins with a dash, which programs read as an option",
            "write ./ in front of the name of a folder or file",
        )
    return None


def _hides(text: str) -> bool:
    """Tell whether a text holds a character that cannot be seen, but plain spaces."""
    return text.replace(" ", "") != unsafe_characters(text, lambda _: "")


def _by_scheme(
    text: str, scheme: str, *, allow_insecure: bool
) -> SourceSpec | SourceFault:
    if scheme == "file":
        return _file(text)
    if scheme in {"ssh", "git"}:
        return _git(text, allow_insecure=allow_insecure)
    if scheme not in {"http", "https"}:
        return SourceFault("unknown-source", f"{scheme}:// is no source")
    bare, hash_, _ = text.partition("#")
    path = bare.partition("?")[0].lower()
    if not path.endswith(ARCHIVE_SUFFIXES):
        if path.endswith(".git") or hash_:
            return _git(text, allow_insecure=allow_insecure)
        return SourceFault(
            "unknown-source",
            f"{shown_url(text)}: neither an archive nor known to be a git repository",
            "an archive ends in .tar.gz, .tgz or .zip; write git+ before a repository",
        )
    if hash_:
        return SourceFault(
            "bad-ref", "an archive has no branches, so nothing may follow a #"
        )
    if scheme == "http":
        # Whatever the option says: there is a secure way to fetch one file.
        return _insecure("http")
    url = parse_url(text)
    if isinstance(url, SourceFault):
        return url
    if url.user:
        return SourceFault(
            "credentials", "the URL holds a user name, which would be recorded"
        )
    return SourceSpec("archive", url.text)


def _insecure(scheme: str) -> SourceFault:
    return SourceFault(
        "insecure-transport",
        f"{scheme}:// can be read and changed by anybody on the way",
        "use https or ssh",
    )


def _file(text: str) -> SourceSpec | SourceFault:
    url = parse_url(text)
    if isinstance(url, SourceFault):
        return SourceFault(
            "bad-url",
            f"{shown_url(text)}: not the URL of a local file",
            "three slashes, and %20 for a space: file:///home/me/bundle",
        )
    decoded = percent_decoded(url.path)
    if decoded is None:
        return SourceFault("bad-url", f"{shown_url(text)}: its escapes are no UTF-8")
    return _path(decoded, "/")


def _path(text: str, cwd: str) -> SourceSpec | SourceFault:
    """Return the absolute path of a folder or file; `.` and `..` go by the text."""
    if text.startswith("~"):
        return _TILDE
    if "\\" in text or re.match(r"[A-Za-z]:(?![^/]*//)", text):
        return _WINDOWS
    if text.startswith("//"):
        return _DOUBLE_SLASH
    absolute = text.startswith("/")
    dotted = text.split("/", 1)[0] in {".", ".."}
    if not absolute and not dotted:
        if text.startswith("@"):
            return SourceFault(
                "unknown-source",
                f"{safe(text, 80)}: neither a path nor a source with a name in front",
                "write npm: before the name of a package",
            )
        if "/" not in text and not text.lower().endswith(ARCHIVE_SUFFIXES):
            return SourceFault(
                "unknown-source",
                f"{safe(text, 80)}: a bare name is no source",
                "write ./ before a folder, npm: before a package",
            )
    path = "/" + "/".join(_segments(text if absolute else f"{cwd}/{text}"))
    if path != path.strip() or _hides(path) or "\\" in path:
        return SourceFault(
            "bad-character", f"{safe(path, 120)}: a path that cannot be recorded"
        )
    if len(path) > MAX_SPEC:
        return SourceFault("too-long", f"longer than {MAX_SPEC:,} characters")
    return SourceSpec("local", path)


def _segments(path: str) -> Iterator[str]:
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in {"", "."}:
            kept.append(part)
    yield from kept


def _git(text: str, *, allow_insecure: bool) -> SourceSpec | SourceFault:
    location, hash_, fragment = text.partition("#")
    ref = _ref(fragment) if hash_ else None
    if isinstance(ref, SourceFault):
        return ref
    if "://" not in location:
        if scp_host(location) is None:
            return SourceFault(
                "bad-url",
                f"{shown_url(location)}: not the address of a git repository",
                "git+https://host/path.git, or user@host:path",
            )
        return SourceSpec("git", location, ref)
    url = parse_url(location)
    if isinstance(url, SourceFault):
        return url
    if url.scheme in _INSECURE and not allow_insecure:
        return _insecure(url.scheme)
    if url.scheme not in _GIT_SCHEMES | _INSECURE:
        return SourceFault("unknown-source", f"git over {url.scheme}:// is no source")
    if url.scheme == "file" and _elsewhere(url):
        return _DOUBLE_SLASH
    if url.user and url.scheme != "ssh":
        return SourceFault(
            "credentials",
            "the URL holds a user name, which would be recorded",
            "use ssh with a key",
        )
    if url.query or not url.path.strip("/") or _SHELL.search(url.path):
        return SourceFault(
            "bad-url", f"{shown_url(location)}: does not name a git repository"
        )
    return SourceSpec("git", url.text, ref)


def _ref(text: str) -> Ref | SourceFault:
    kind, colon, name = text.partition(":")
    if colon and kind == "sha":
        if _SHA.fullmatch(name):
            return Ref("sha", name.lower())
        return SourceFault(
            "bad-ref", "a commit is named by 7 to 40 hexadecimal digits", "#sha:1a2b3c4"
        )
    if not colon:
        kind, name = "branch", text
    elif kind not in {"branch", "tag"}:
        return SourceFault(
            "bad-ref",
            f"#{safe(text, 80)}: names neither a branch, a tag nor a commit",
            "#name, #tag:name or #sha:hex",
        )
    odd = (
        not _REF.fullmatch(name)
        or ".." in name
        or "//" in name
        or "/." in name
        or "@{" in name
        or name.endswith(("/", ".", ".lock"))
        or ".lock/" in name
        or len(name) > 200
    )
    if odd:
        return SourceFault(
            "bad-ref", f"#{safe(text, 80)}: not the name of a branch or tag"
        )
    return Ref(kind, name)


def _npm(text: str) -> SourceSpec | SourceFault:
    at = text.find("@", 1)
    name, wanted = (text, "") if at < 0 else (text[:at], text[at + 1 :])
    if not _PACKAGE.fullmatch(name) or len(name) > 214:
        return SourceFault(
            "bad-package",
            f"{safe(name, 80)}: not the name of an npm package",
            "npm:name, npm:@scope/name, npm:name@1.2.3",
        )
    wanted = " ".join(wanted.split())
    if at < 0:
        return SourceSpec("npm", name)
    if is_version(wanted):
        return SourceSpec("npm", name, Ref("version", wanted))
    if is_range(wanted):
        return SourceSpec("npm", name, Ref("range", wanted))
    if _DIST_TAG.fullmatch(wanted):
        return SourceSpec("npm", name, Ref("dist-tag", wanted))
    return SourceFault(
        "bad-ref",
        f"{safe(wanted, 80)}: neither a version, a range nor a tag of a package",
    )

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

__all__ = [
    "ARCHIVE_SUFFIXES",
    "MAX_SPEC",
    "Ref",
    "SourceFault",
    "SourceSpec",
    "Url",
    "parse_source",
    "parse_url",
    "scp_host",
]

#: Longest text that is looked at, in characters.
MAX_SPEC = 4096

#: How the name of an archive ends, in any letter case.
ARCHIVE_SUFFIXES = (".tar.gz", ".tgz", ".zip")

#: Transports that nobody could not read and change on the way.
_INSECURE = frozenset({"git", "http"})
_GIT_SCHEMES = frozenset({"https", "ssh", "file"})

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LABEL = r"[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
_HOST = rf"{_LABEL}(?:\.{_LABEL})*\.?"
# Square brackets, quotes, backslashes and everything a shell would obey and a URL does
# not need are left out.
_PATH = r"/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*"
_QUERY = r"\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*"
_URL = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?:(?P<user>[^/?#@]*)@)?"
    rf"(?P<host>{_HOST}|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{{1,5}}))?"
    rf"(?P<path>(?:{_PATH})?)(?P<query>(?:{_QUERY})?)"
)
_LOCAL_URL = re.compile(rf"file://(?:localhost)?(?P<path>{_PATH})", re.IGNORECASE)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_SCP = re.compile(
    rf"[A-Za-z0-9_][A-Za-z0-9._-]*@(?P<host>{_HOST}):(?P<path>[A-Za-z0-9._~/+][A-Za-z0-9._~/+-]*)"
)
_SHA = re.compile(r"[0-9a-fA-F]{7,40}")
#: What a URL may hold and a shell on the other side would obey.
_SHELL = re.compile(r"[!$&'()*;]")
_REF = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._/+@=-]*")
_PACKAGE_PART = r"[a-z0-9_~][a-z0-9._~-]*"
_PACKAGE = re.compile(rf"(?:@{_PACKAGE_PART}/)?{_PACKAGE_PART}")
_DIST_TAG = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")


@attrs.frozen(eq=False, repr=False)
class SourceFault(Record):
    """Why a source cannot be used.

    Attributes:
        code: A permanent name of the fault; docs/reference/sources.md lists them.
        reason: A clause for a person; text of strangers in it has been made safe.
        hint: What to do instead; empty when there is nothing to say.
    """

    code: str
    reason: str
    hint: str = ""


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
class Url(Record):
    """A URL in parts, scheme and host in lower case.

    Attributes:
        scheme: `https` for example.
        user: A user name, or empty; never a password.
        host: A name, or an address of IPv6 without its brackets.
        port: None where the scheme's own is meant.
        path: With its slash, or empty; percent escapes as they were written.
        query: With its question mark, or empty.
    """

    scheme: str
    user: str
    host: str
    port: int | None
    path: str
    query: str

    @property
    def authority(self) -> str:
        """Host and port, as a Host header names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def text(self) -> str:
        """The whole URL."""
        user = f"{self.user}@" if self.user else ""
        return f"{self.scheme}://{user}{self.authority}{self.path}{self.query}"


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
    if _SCP.match(text):
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


def _shown(text: str) -> str:
    """Return a URL for a message, without what may be a secret."""
    return safe(re.sub(r"//.*@", "//", text.partition("?")[0]), 120)


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
            f"{_shown(text)}: neither an archive nor known to be a git repository",
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


def parse_url(text: str) -> Url | SourceFault:
    """Return the parts of a URL of printable ASCII, or why it is none.

    The port of the scheme itself is dropped. A fragment is no part of a URL here.
    """
    shown = _shown(text)
    local = _LOCAL_URL.fullmatch(text) if len(text) <= MAX_SPEC else None
    if local:
        return Url("file", "", "", None, local["path"], "")
    found = _URL.fullmatch(text) if len(text) <= MAX_SPEC else None
    if found is None or found["scheme"].lower() == "file":
        return SourceFault(
            "bad-url",
            f"{shown}: not a URL that can be used",
            "only plain ASCII; write an international name as xn--",
        )
    user = found["user"] or ""
    if found["user"] is not None and not _USER.fullmatch(user):
        # The text is not repeated: there may be a password in it.
        return SourceFault(
            "credentials",
            "the URL holds a password, or a user name of odd characters",
            "a source is recorded as it is written; use ssh with a key",
        )
    scheme, port = found["scheme"].lower(), found["port"]
    number = int(port) if port else None
    if number is not None and not 0 < number < 65536:
        return SourceFault("bad-url", f"{shown}: there is no port {number}")
    if number == {"https": 443, "http": 80, "ssh": 22, "git": 9418}.get(scheme):
        number = None
    host = found["host"].strip("[]").lower().removesuffix(".")
    if len(host) > 253:
        return SourceFault("bad-url", f"{shown}: the name of the host is too long")
    return Url(scheme, user, host, number, found["path"], found["query"])


def scp_host(location: str) -> str | None:
    """Return the host of `user@host:path`, or None for another text."""
    found = _SCP.fullmatch(location)
    return found["host"].lower() if found else None


def _file(text: str) -> SourceSpec | SourceFault:
    found = _LOCAL_URL.fullmatch(text)
    if found is None:
        return SourceFault(
            "bad-url",
            f"{_shown(text)}: not the URL of a local file",
            "three slashes, and %20 for a space: file:///home/me/bundle",
        )
    decoded = _percent_decoded(found["path"])
    if decoded is None:
        return SourceFault("bad-url", f"{_shown(text)}: its escapes are no UTF-8")
    return _path(decoded, "/")


def _percent_decoded(text: str) -> str | None:
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})",
        lambda found: bytes.fromhex(found[1].decode()),
        text.encode(),
    )
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


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
        if not _SCP.fullmatch(location):
            return SourceFault(
                "bad-url",
                f"{_shown(location)}: not the address of a git repository",
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
    if url.user and url.scheme != "ssh":
        return SourceFault(
            "credentials",
            "the URL holds a user name, which would be recorded",
            "use ssh with a key",
        )
    if url.query or not url.path.strip("/") or _SHELL.search(url.path):
        return SourceFault(
            "bad-url", f"{_shown(location)}: does not name a git repository"
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

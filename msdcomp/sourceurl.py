"""URLs of sources, and the short addresses of ssh, taken apart.

Only what every program that is handed one reads alike is let through: plain ASCII,
without a password, and nothing that a shell on the way would obey in a host.
Source: docs/reference/sources.md, "What may be written".
"""

from __future__ import annotations

import re

import attrs

from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault

__all__ = [
    "MAX_SPEC",
    "Url",
    "parse_url",
    "percent_decoded",
    "plain_host",
    "scp_host",
    "shown_url",
    "starts_as_scp",
]

#: Longest text that is looked at, in characters.
MAX_SPEC = 4096

#: Longest name of a host, in characters, a final dot not counted.
_MAX_HOST = 253

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
_PLAIN_HOST = re.compile(_HOST)
_LOCAL_URL = re.compile(rf"file://(?:localhost)?(?P<path>{_PATH})", re.IGNORECASE)
_USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_SCP = re.compile(
    rf"[A-Za-z0-9_][A-Za-z0-9._-]*@(?P<host>{_HOST}):(?P<path>[A-Za-z0-9._~/+][A-Za-z0-9._~/+-]*)"
)


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


def shown_url(text: str) -> str:
    """Return a URL for a message, without what may be a secret."""
    return safe(re.sub(r"//.*@", "//", text.partition("?")[0]), 120)


def parse_url(text: str) -> Url | SourceFault:
    """Return the parts of a URL of printable ASCII, or why it is none.

    The port of the scheme itself is dropped. A fragment is no part of a URL here.
    """
    shown = shown_url(text)
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
    if len(host) > _MAX_HOST:
        return SourceFault("bad-url", f"{shown}: the name of the host is too long")
    return Url(scheme, user, host, number, found["path"], found["query"])


def plain_host(text: str) -> str | None:
    """Return the name of a host as names are compared, or None for another text.

    In lower case, without one final dot. What has a scheme, a port, a wildcard or the
    colons of IPv6 is no plain name.
    """
    if len(text) > _MAX_HOST + 1 or not _PLAIN_HOST.fullmatch(text):
        return None
    name = text.lower().removesuffix(".")
    return name if len(name) <= _MAX_HOST else None


def scp_host(location: str) -> str | None:
    """Return the host of `user@host:path`, or None for another text."""
    found = _SCP.fullmatch(location)
    return found["host"].lower() if found else None


def starts_as_scp(text: str) -> bool:
    """Tell whether a text begins with `user@host:path`, whatever follows."""
    return _SCP.match(text) is not None


def percent_decoded(text: str) -> str | None:
    """Return a path without percent escapes, or None where they are no UTF-8."""
    raw = re.sub(
        rb"%([0-9A-Fa-f]{2})",
        lambda found: bytes.fromhex(found[1].decode()),
        text.encode(),
    )
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None

"""Versions and npm ranges, as `engines` and `compatVersions` need them.

Ranges are decided by the `nodesemver` library, except those of whole versions only,
which need no library. Around it stands a strict reading of what may be a version or a
range at all, because the library is more forgiving than npm itself: it skips sides of
`||` that do not parse and takes `1.x.2`.

Nearly every manifest names nothing but whole versions, `1.6.0`. Those are read by hand,
so that a short command neither imports the library nor compiles the expressions that
the others need.
Source: docs/explanation/decisions.md, "Version ranges".
"""

from __future__ import annotations

import functools
import operator
import re

__all__ = ["core", "is_range", "is_version", "satisfies"]

_NUMBER = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER = r"(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)"
_PRERELEASE = rf"(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?"
_BUILD = r"(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
_VERSION = rf"({_NUMBER}\.{_NUMBER}\.{_NUMBER}){_PRERELEASE}{_BUILD}"

# A partial version: once a part is a wildcard, the later ones are wildcards too.
_X = "[xX*]"
_PARTIAL = (
    rf"(?:{_NUMBER}\.{_NUMBER}\.{_NUMBER}{_PRERELEASE}{_BUILD}"
    rf"|{_NUMBER}\.{_NUMBER}(?:\.{_X})?"
    rf"|{_NUMBER}(?:\.{_X}(?:\.{_X})?)?"
    rf"|{_X}(?:\.{_X}(?:\.{_X})?)?)"
)
_OPERATOR = r"(?:[<>]=?|=|~>?|\^)"
_COMPARATOR = rf"(?:{_OPERATOR} *)?v?{_PARTIAL}"
_HYPHEN = rf"v?{_PARTIAL} +- +v?{_PARTIAL}"
_SIDE = rf"{_COMPARATOR}(?: +{_COMPARATOR})*"
# npm drops build parts before it reads a comparator; one that was nothing else
# constrains nothing.
_LONE_BUILD = r"(?:(?<= )|^)\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*(?= |$)"

# npm refuses versions it could not count exactly in a double.
_MAX_SAFE = 2**53 - 1
_MAX_LENGTH = 256
#: Longest range that is looked into, in characters without needless space.
_MAX_RANGE = 4096


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _is_whole(text: str) -> bool:
    """Tell whether `text` is three numbers and nothing else, as most versions are."""
    parts = text.split(".", 3)
    if len(parts) != 3 or not text.isascii():
        return False
    for part in parts:
        if not part.isdigit() or (part[0] == "0" and part != "0"):
            return False
    return True


def _exact(text: str) -> bool:
    return all(int(digits) <= _MAX_SAFE for digits in re.findall(r"[0-9]+", text))


def is_version(text: str) -> bool:
    """Tell whether `text` is a semantic version, by the grammar of semver.org 2.0."""
    return _is_whole(text) or _compiled(_VERSION).fullmatch(text) is not None


def core(version: str) -> str | None:
    """Return `major.minor.patch` of a host version, or None when it is not semver.

    Surrounding space and one leading `v` are ignored, as npm ignores them.

    >>> core(" v2.1.0-rc.1 ")
    '2.1.0'
    """
    text = version.strip().removeprefix("v")
    if len(text) > _MAX_LENGTH:
        return None
    if _is_whole(text):
        release = text
    else:
        match = _compiled(_VERSION).fullmatch(text)
        if match is None:
            return None
        release = match[1]
    return release if _exact(release) else None


_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "": operator.eq,
}


def _bounds(side: str) -> list[tuple[str, str]] | None:
    """Return the comparators of whole versions, `>=1.6.0 <3.0.0`, sign and version.

    None when there is any other.
    """
    found = []
    sign = ""
    for word in side.split():
        version = word.lstrip("<>=")
        given = word[: len(word) - len(version)]
        if sign and given:
            return None
        sign = sign or given
        # Space may stand behind a sign.
        if not version:
            continue
        if sign not in _COMPARE or not _is_whole(version):
            return None
        found.append((sign, version))
        sign = ""
    return found if found and not sign else None


@functools.lru_cache(maxsize=4096)
def _sides(range_: str) -> tuple[str, ...] | None:
    """Return the non-empty sides of `||`, or None when one of them is no range."""
    # Space is not counted: npm has no limit here, and none of ours may be met by it.
    text = " ".join(range_.split())
    if len(text) > _MAX_RANGE:
        return None
    sides = []
    for raw in text.split("||"):
        side = raw.strip()
        if "+" in side:
            side = _compiled(_LONE_BUILD).sub("*", side)
        if not side:
            continue
        known = (
            _bounds(side)
            or _compiled(_SIDE).fullmatch(side)
            or _compiled(_HYPHEN).fullmatch(side)
        )
        if not known or not _exact(side):
            return None
        sides.append(side)
    return tuple(sides)


def is_range(text: str) -> bool:
    """Tell whether `text` is an npm range with at least one side that constrains."""
    return bool(_sides(text))


@functools.lru_cache(maxsize=4096)
def satisfies(version: str, range_: str) -> bool:
    """Tell whether a host version lies in an npm range.

    Prerelease and build parts of the version are ignored: a host on a release
    candidate runs that release's capabilities.

    Returns:
        False, too, when either text cannot be read.
    """
    release = core(version)
    sides = _sides(range_)
    if release is None or not sides:
        return False
    number = _triple(release)
    return any(_holds(number, release, side) for side in sides)


def _holds(number: tuple[int, ...], release: str, side: str) -> bool:
    bounds = _bounds(side)
    if bounds is None:
        return _library_says(release, side)
    return all(_COMPARE[sign](number, _triple(bound)) for sign, bound in bounds)


def _triple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _library_says(version: str, side: str) -> bool:
    # Imported on use: it costs a quarter of a short command's start-up. Nearly every
    # manifest asks for nothing but whole versions, which compare as they are.
    import nodesemver  # noqa: PLC0415

    answer: bool = nodesemver.satisfies(version, side, loose=False)
    return answer

"""Versions and npm ranges, as `engines` and `compatVersions` need them.

Ranges are decided by the `nodesemver` library, except those of whole versions only,
which need no library. Around it stands a strict reading of what may be a version or a
range at all, because the library is more forgiving than npm itself: it skips sides of
`||` that do not parse and takes `1.x.2`.
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
_VERSION = re.compile(rf"({_NUMBER}\.{_NUMBER}\.{_NUMBER}){_PRERELEASE}{_BUILD}")

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
_HYPHEN = re.compile(rf"v?{_PARTIAL} +- +v?{_PARTIAL}")
_SIDE = re.compile(rf"{_COMPARATOR}(?: +{_COMPARATOR})*")
# npm drops build parts before it reads a comparator; one that was nothing else
# constrains nothing.
_LONE_BUILD = re.compile(r"(?:(?<= )|^)\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*(?= |$)")

# npm refuses versions it could not count exactly in a double.
_MAX_SAFE = 2**53 - 1
_MAX_LENGTH = 256
#: Longest range that is looked into, in characters without needless space.
_MAX_RANGE = 4096


def _exact(text: str) -> bool:
    return all(int(digits) <= _MAX_SAFE for digits in re.findall(r"[0-9]+", text))


def is_version(text: str) -> bool:
    """Tell whether `text` is a semantic version, by the grammar of semver.org 2.0."""
    return _VERSION.fullmatch(text) is not None


def core(version: str) -> str | None:
    """Return `major.minor.patch` of a host version, or None when it is not semver.

    Surrounding space and one leading `v` are ignored, as npm ignores them.

    >>> core(" v2.1.0-rc.1 ")
    '2.1.0'
    """
    text = version.strip().removeprefix("v")
    match = _VERSION.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    return match[1] if match and _exact(match[1]) else None


# Comparators of whole versions without prerelease, `>=1.6.0 <3.0.0`: those of nearly
# every manifest.
_BOUND = re.compile(rf"([<>]=?|=|) *({_NUMBER}\.{_NUMBER}\.{_NUMBER})")
_PLAIN = re.compile(rf"{_BOUND.pattern}(?: +{_BOUND.pattern})*")

_COMPARE = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
    "": operator.eq,
}


@functools.lru_cache(maxsize=4096)
def _sides(range_: str) -> tuple[str, ...] | None:
    """Return the non-empty sides of `||`, or None when one of them is no range."""
    # Space is not counted: npm has no limit here, and none of ours may be met by it.
    text = " ".join(range_.split())
    if len(text) > _MAX_RANGE:
        return None
    sides = []
    for raw in text.split("||"):
        side = _LONE_BUILD.sub("*", raw.strip())
        if not side:
            continue
        known = _SIDE.fullmatch(side) or _HYPHEN.fullmatch(side)
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
    return any(
        _lies_within(number, side)
        if _PLAIN.fullmatch(side)
        else _library_says(release, side)
        for side in sides
    )


def _triple(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _lies_within(version: tuple[int, ...], side: str) -> bool:
    """Tell whether a version meets every comparator of a side of whole versions."""
    return all(
        _COMPARE[sign](version, _triple(bound)) for sign, bound in _BOUND.findall(side)
    )


def _library_says(version: str, side: str) -> bool:
    # Imported on use: it costs a quarter of a short command's start-up. Nearly every
    # manifest asks for nothing but whole versions, which compare as they are.
    import nodesemver  # noqa: PLC0415

    answer: bool = nodesemver.satisfies(version, side, loose=False)
    return answer

"""Versions that a source enumerates, put in order."""

from __future__ import annotations

from collections.abc import Iterable

from msdcomp.semver import is_version

__all__ = ["is_release", "newest_first"]

_Key = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]


def is_release(version: str) -> bool:
    """Tell whether a semantic version has no prerelease part."""
    return is_version(version) and "-" not in version.partition("+")[0]


def newest_first(versions: Iterable[str]) -> tuple[str, ...]:
    """Return semantic versions in falling order, by the rules of semver.org 2.0.

    Those that differ only in their build part, which has no order, stand by their text.
    """
    return tuple(sorted(versions, key=lambda text: (_key(text), text), reverse=True))


def _key(version: str) -> _Key:
    bare = version.partition("+")[0]
    core, dash, prerelease = bare.partition("-")
    numbers = tuple(int(part) for part in core.split("."))
    # A number is older than a word, and a release newer than all its prereleases.
    parts = tuple(
        (False, int(part), "") if part.isdigit() else (True, 0, part)
        for part in (prerelease.split(".") if dash else [])
    )
    return numbers, not dash, parts

"""Which older version of a capability a host can take, by what its manifest says.

Source: docs/reference/lifecycle.md, "Stepping down".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msdcomp.semver import is_version, satisfies

if TYPE_CHECKING:
    from msdcomp.manifest import Manifest

__all__ = ["fits", "step_down", "why_not_older"]

_PARTIAL = re.compile(r"[0-9]+(?:\.[0-9]+)?")


def fits(manifest: Manifest, host_version: str) -> bool:
    """Tell whether a host can take a capability."""
    range_ = manifest.engines.msd
    return range_ is None or satisfies(host_version, range_)


def step_down(
    manifest: Manifest, offered: tuple[str, ...], host_version: str
) -> tuple[str, ...]:
    """Return the versions that a manifest says the host can take, newest first.

    Args:
        manifest: Its `compatVersions` maps a version to the lowest version of the host
            that it takes, or to a range.
        offered: Versions there are, newest first.
        host_version: Running version of the host.
    """
    table = manifest.compat_versions
    return tuple(
        version
        for version in offered
        if version in table
        and version != manifest.version
        and satisfies(host_version, _least(table[version]))
    )


def _least(text: str) -> str:
    """Return a lowest version as a range; also one that leaves numbers out."""
    is_lowest = is_version(text) or _PARTIAL.fullmatch(text)
    return f">={text}" if is_lowest else text


def why_not_older(
    manifest: Manifest,
    offered: Sequence[str],
    host_version: str,
    tried: Sequence[str],
) -> str:
    """Return why no older version could be taken.

    Args:
        manifest: Of the newest version.
        offered: Versions there are.
        host_version: Running version of the host.
        tried: Those that were fetched in vain, each with the reason.
    """
    table = manifest.compat_versions
    listed = [
        version
        for version in sorted(table)
        if satisfies(host_version, _least(table[version]))
    ]
    if tried:
        return f"none of the versions it names can be used: {'; '.join(tried)}"
    if not listed:
        return "it names no version for this host; another version of MSD is needed"
    names = ", ".join(listed)
    if not offered:
        return (
            f"version {names} would fit: name its own address, since this source "
            "holds one version only"
        )
    return f"version {names} would fit, and the source does not offer it"

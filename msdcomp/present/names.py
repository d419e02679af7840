"""Names of overlay folders, as far as they may be repeated.

A cloned repository chooses the names of its folders. Until its user has agreed to it,
only a name that is an id is shown; any other could be a sentence.
"""

from __future__ import annotations

from msdcomp.safetext import is_capability_id, safe

__all__ = ["WITHHELD", "shown_name"]

#: Stands for a name that is not repeated; the path on disk tells which it is.
WITHHELD = "(name withheld)"

#: Why a project overlay is left out before anybody has agreed to its content.
_UNAGREED = frozenset(
    {"unconsented", "consent-changed", "consent-unreadable", "linked-folder"}
)


def shown_name(name: str, code: str) -> str:
    """Return the name of a folder that was left out, for a person.

    Args:
        name: Of any origin.
        code: Why the folder was left out; empty when it was not.
    """
    return safe(name) if code not in _UNAGREED or is_capability_id(name) else WITHHELD

"""What is said about fields nobody knows: accepted, but not passed over in silence.

A manifest made for a newer host should degrade visibly, and a slip of the pen
(`contribution` for `contributions`) should not cost a hook without a word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.diagnostics import Problem, Severity
from msdcomp.rules._shape import UnknownField
from msdcomp.rules._words import fault, label, suggest
from msdcomp.safetext import safe
from msdcomp.vocabulary.runtime import REMOVED_HOST_BEHAVIOR

if TYPE_CHECKING:
    from collections.abc import Sequence

    from msdcomp.rules._shape import UnknownField

__all__ = ["MAX_LISTED", "notices"]

#: Unknown fields listed for one capability.
MAX_LISTED = 10

_REMOVED_PATH = f"/runtime/hostBehaviors/{REMOVED_HOST_BEHAVIOR}"
#: Where the format documents a notice for every unknown field; listed first.
_DOCUMENTED = ("/reviewer/", "/runtime/hostBehaviors/")


def _documented(field: UnknownField) -> bool:
    return field.path.startswith(_DOCUMENTED)


def notices(fields: Sequence[UnknownField]) -> list[Problem]:
    """Return the notices of all unknown fields of one manifest.

    At most `MAX_LISTED` are listed, those in a reviewer body and in hostBehaviors
    before the others, and one more says how many were left out. Keys that are long or
    hold odd characters are shown shortened and made safe.
    """
    removed = [field for field in fields if field.path == _REMOVED_PATH]
    unknown = [field for field in fields if field.path != _REMOVED_PATH]
    unknown.sort(key=lambda field: not _documented(field))
    listed, rest = unknown[:MAX_LISTED], unknown[MAX_LISTED:]
    found = [_removed(field) for field in removed]
    found += [_unknown(field) for field in listed]
    if rest:
        found.append(_summary(rest))
    return found


def _removed(field: UnknownField) -> Problem:
    return fault(
        "removed-field",
        field.path,
        f"{field.key} is no longer read and adds no reviewer lane",
        severity=Severity.WARNING,
    )


def _unknown(field: UnknownField) -> Problem:
    parent = field.path.rpartition("/")[0]
    owner = label(parent) if parent else "a manifest of this role"
    return fault(
        "unknown-field",
        field.path,
        f'"{safe(field.key, 60)}" is not a field of {owner} and is ignored',
        suggest(field.key, field.known),
        Severity.WARNING,
    )


def _summary(rest: Sequence[UnknownField]) -> Problem:
    count = len(rest)
    fields = "field is" if count == 1 else "fields are"
    # Placed at the object the first one left out belongs to.
    return fault(
        "unknown-fields",
        rest[0].path.rpartition("/")[0],
        f"{count} more unknown {fields} ignored",
        severity=Severity.WARNING,
    )

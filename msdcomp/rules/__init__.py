"""The rules of one manifest, as a function of its raw JSON value.

`check` reports every fault of a document in one pass and in document order, also when
its role is unknown or whole sections are broken. It never raises.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.diagnostics import MAX_PROBLEMS, Problem, Severity
from msdcomp.rules import envelope, feature, reviewer, runtime
from msdcomp.rules._order import in_document_order
from msdcomp.rules._shape import Field, Found, Rule, UnknownField, shape
from msdcomp.rules._words import fault, kind_of, too_many
from msdcomp.rules.contract import check_contract, undispatched
from msdcomp.rules.unknown import notices
from msdcomp.vocabulary import FEATURE_ONLY_FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check", "check_contract", "undispatched"]


def _refused(name: str, role: str) -> Field:
    """Return a field that this role must not have, whatever its value."""

    def checked(value: object, path: str) -> Sequence[Found]:
        message = f"{name} must be left out of a {role}, got {kind_of(value)}"
        return (fault("forbidden-field", path, message),)

    return Field(name, Rule(checked, "no such field"), required=False)


def _passed(name: str) -> Field:
    return Field(name, Rule(lambda _value, _path: (), "any value"), required=False)


def _other_role(role: str, *bodies: Field) -> Rule:
    return shape(
        *envelope.FIELDS,
        *bodies,
        Field("config", envelope.LENIENT_CONFIG, required=False),
        _passed("commands"),
        _passed("runtimeCompat"),
        *(_refused(name, role) for name in FEATURE_ONLY_FIELDS),
    )


_ROLES = {
    "feature": shape(
        *envelope.FIELDS,
        *feature.FIELDS,
        _refused("reviewer", "feature"),
        more=feature.MORE,
    ),
    "runtime": _other_role("runtime", *runtime.FIELDS, *reviewer.OPTIONAL_LANE),
    "reviewer": _other_role(
        "reviewer", *reviewer.REQUIRED_LANE, _refused("runtime", "reviewer")
    ),
}

# Without a role, every section that is there is checked by its own shape.
_ANY_ROLE = shape(
    *envelope.FIELDS,
    *(
        Field(field.name, field.rule, required=False)
        for field in (*feature.FIELDS, *runtime.FIELDS, *reviewer.OPTIONAL_LANE)
    ),
    more=feature.MORE,
)
# There is always something to tell, and what tests a feature needs all its fields.
_NO_ROLE = Rule(_ANY_ROLE.check, _ANY_ROLE.expected, passes=lambda _value: False)


def check(value: object, folder: str | None = None) -> tuple[Problem, ...]:
    """Return every problem of a manifest, errors and notices alike.

    Args:
        value: The document as plain JSON: dict, list, str, int, float, bool, None.
        folder: Name of the folder the manifest lies in; None to leave out the
            comparison with the id.

    Returns:
        Problems in document order, without line and column; what is missing stands
        before the content of the object that lacks it. At most `MAX_PROBLEMS` and one
        that says there are more.

    Source: docs/reference/manifest.md.
    """
    if not isinstance(value, dict):
        message = f"the manifest must be an object, got {kind_of(value)}"
        return (fault("not-an-object", "", message),)
    role = value.get("role")
    rule = _ROLES.get(role, _NO_ROLE) if isinstance(role, str) else _NO_ROLE
    is_named = folder is None or value.get("id") == folder
    if is_named and rule.passes(value):
        return ()
    found = rule.check(value, "")
    if folder is not None and value.get("id") != folder:
        found = [*found, *envelope.folder_mismatch(value, folder)]
    if not found:
        return ()
    return _finished(value, found)


def _finished(value: object, found: Sequence[Found]) -> tuple[Problem, ...]:
    problems = [entry for entry in found if isinstance(entry, Problem)]
    problems += notices([entry for entry in found if isinstance(entry, UnknownField)])
    errors = [entry for entry in problems if entry.severity is Severity.ERROR]
    others = [entry for entry in problems if entry.severity is not Severity.ERROR]
    kept = in_document_order(value, (*errors[:MAX_PROBLEMS], *others[:MAX_PROBLEMS]))
    if len(errors) > MAX_PROBLEMS:
        return (*kept, too_many())
    return kept

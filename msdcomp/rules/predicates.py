"""Rules of gate predicates: what each kind is told, and what it may be told.

They hold when a manifest is checked and again when a predicate is evaluated, so that
nothing is found out only at the moment a gate is needed.
Source: docs/reference/predicates.md.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import attrs

from msdcomp.diagnostics import Problem, Severity
from msdcomp.placeholders import unexpanded
from msdcomp.rules._shape import ANYTHING, FILLED, Field, Found, Rule, Whole, shape
from msdcomp.rules._words import fault, kind_of, must_be, show, suggest, wrong_type
from msdcomp.rules.unknown import notices
from msdcomp.vocabulary import PREDICATE_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "DEFAULT_TIMEOUT_S",
    "MAX_COMMAND",
    "MAX_TIMEOUT_S",
    "PREDICATE",
    "check_predicate",
]

#: Longest command, in characters.
MAX_COMMAND = 4096
#: How long a command may take when its predicate says nothing, in seconds.
DEFAULT_TIMEOUT_S = 30
#: The most it may be given, in seconds: a loop waits for it.
MAX_TIMEOUT_S = 600

#: Longest file name that common file systems take, in bytes.
_MAX_NAME_BYTES = 255

#: Where a predicate by itself is said to be, so that messages have a name for it.
_ROOT = "/predicate"

_NOT_IN_A_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")

#: Kinds whose fields no older host evaluates. A manifest may carry them for a host
#: that spells them otherwise, and is not refused for it.
_NEWER = frozenset({"artifact-exists", "config-equals"})


def _file_name(value: object, path: str) -> Sequence[Found]:
    expected = "the name of a file, without a folder"
    if not isinstance(value, str):
        return (wrong_type(value, path, expected),)
    named = value not in {"", ".", ".."} and _NOT_IN_A_NAME.search(value) is None
    if named and len(value.encode(errors="replace")) <= _MAX_NAME_BYTES:
        return ()
    return (must_be("bad-format", value, path, expected),)


def _command(value: object, path: str) -> Sequence[Found]:
    expected = f"text of at most {MAX_COMMAND} characters that is not blank"
    if not isinstance(value, str):
        return (wrong_type(value, path, expected),)
    if not value.strip() or len(value) > MAX_COMMAND or "\0" in value:
        return (must_be("bad-format", value, path, expected),)
    return ()


def _seconds(value: object, path: str) -> Sequence[Found]:
    expected = f"a number of seconds above 0, at most {MAX_TIMEOUT_S}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return (wrong_type(value, path, expected),)
    # Not a number is in no range, either.
    if not 0 < value <= MAX_TIMEOUT_S or not math.isfinite(value):
        return (must_be("out-of-range", value, path, expected),)
    return ()


def _expanded(value: dict[str, object], path: str) -> Sequence[Found]:
    """Tell of values that the command names and would never get."""
    command = value.get("command")
    if not isinstance(command, str) or len(command) > MAX_COMMAND:
        return ()
    reason = unexpanded(command)
    if reason is None:
        return ()
    message = f"a value of the phase {reason}; the check cannot be made"
    return (
        fault(
            "unexpanded-value",
            f"{path}/command",
            message,
            severity=Severity.WARNING,
        ),
    )


_KIND = Field("kind", FILLED)
_ARTIFACT = Field("artifact", Rule(_file_name, "the name of a file"))
_EQUALS = Field("equals", ANYTHING)

_BODIES = {
    "artifact-exists": shape(_KIND, _ARTIFACT),
    "config-equals": shape(_KIND, Field("key", FILLED), _EQUALS),
    "artifact-frontmatter-equals": shape(
        _KIND, _ARTIFACT, Field("field", FILLED), _EQUALS
    ),
    "command-exit-zero": shape(
        _KIND,
        Field("command", Rule(_command, "a command for a shell")),
        Field("timeout", Rule(_seconds, "a number of seconds"), required=False),
        more=(Whole(_expanded),),
    ),
}

_KINDED = shape(_KIND, open_=True)


def _body(value: object, path: str) -> Sequence[Found]:
    found = _KINDED.check(value, path)
    if found or not isinstance(value, dict):
        return found
    kind = value["kind"]
    rule = _BODIES.get(kind)
    if rule is not None:
        return rule.check(value, path)
    message = f"kind {show(kind)} is no predicate that a known host evaluates"
    hint = suggest(kind, PREDICATE_KINDS)
    return (
        fault("unknown-predicate", f"{path}/kind", message, hint, Severity.WARNING),
    )


def _declared(value: object, path: str) -> Sequence[Found]:
    """Return what is wrong with a predicate as a part of a manifest."""
    found = _body(value, path)
    kind = value.get("kind") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind in _NEWER:
        return [_softened(entry) for entry in found]
    return found


def _softened(entry: Found) -> Found:
    if isinstance(entry, Problem):
        return attrs.evolve(entry, severity=Severity.WARNING)
    return entry


#: A predicate in the check of a gate. Faults in the body of the two newer kinds are
#: warnings there.
PREDICATE = Rule(_declared, "an object with a kind")


def check_predicate(value: object) -> tuple[Problem, ...]:
    """Return every problem of a predicate by itself, errors and notices alike.

    Args:
        value: The predicate as plain JSON.

    Returns:
        Problems without line and column, their pointers from the predicate's root.
        Without an error the predicate can be evaluated, unless a warning says that
        its kind is not known or that a value would not be expanded.

    Source: docs/reference/predicates.md.
    """
    if not isinstance(value, dict):
        message = f"the predicate must be an object, got {kind_of(value)}"
        return (fault("wrong-type", "", message, "Give an object with a kind."),)
    found = _body(value, _ROOT)
    fields = [entry for entry in found if not isinstance(entry, Problem)]
    problems = [entry for entry in found if isinstance(entry, Problem)]
    return tuple(
        attrs.evolve(problem, path=problem.path.removeprefix(_ROOT))
        for problem in (*problems, *notices(fields))
    )

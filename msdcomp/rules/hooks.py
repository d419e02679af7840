"""Rules of loop hooks: steps, contributions and gates."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msdcomp.rules._shape import (
    BOOLEAN,
    FILLED,
    STRING,
    Field,
    Found,
    Rule,
    Whole,
    array,
    mapping,
    member,
    shape,
)
from msdcomp.rules._words import fault, label, listed, must_be
from msdcomp.rules.envelope import described
from msdcomp.rules.predicates import PREDICATE
from msdcomp.vocabulary import CHECK_FORMS, ON_ERROR, POINTS, REF_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

_SEPARATOR = re.compile(r"[/\\]")
_DRIVE = re.compile(r"[A-Za-z]:")

POINT = member(POINTS)
ARTEFACTS = array(STRING)


# Fragments.


def escapes(path: str) -> bool:
    """Tell whether a path is absolute or leads out of its folder."""
    return (
        path.startswith(("/", "\\"))
        or _DRIVE.match(path) is not None
        or ".." in _SEPARATOR.split(path)
    )


def _fragment_path(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, str) or not value:
        return FILLED.check(value, path)
    if not escapes(value):
        return ()
    wanted = "a relative path inside the capability's folder"
    return (must_be("unsafe-path", value, path, wanted),)


def _has_content(value: dict[str, object], path: str) -> Sequence[Found]:
    if "path" in value or "inline" in value:
        return ()
    message = f"{label(path)} must have a path or inline text, got neither"
    return (fault("fragment-without-content", path, message),)


FRAGMENT = shape(
    Field("path", Rule(_fragment_path, "a relative path"), required=False),
    Field("inline", FILLED, required=False),
    more=(Whole(_has_content, bool),),
)


# Loop hooks.


def _exactly_one(names: Sequence[str], code: str) -> Whole:
    """Return the check that an object has one of its fields and no other."""

    def checked(value: dict[str, object], path: str) -> Sequence[Found]:
        given = [name for name in names if name in value]
        if len(given) == 1:
            return ()
        got = " and ".join(given) or "none of them"
        message = f"{label(path)} must have exactly one of {listed(names)}, got {got}"
        return (fault(code, path, message),)

    return Whole(checked, lambda value: len(value) == 1)


REF = shape(
    *(Field(kind, STRING, required=False) for kind in REF_KINDS),
    more=(_exactly_one(REF_KINDS, "ref-not-exactly-one"),),
)


def _verdict(value: dict[str, object], path: str) -> Sequence[Found]:
    if "ref" in value or "prompt" in value:
        return ()
    message = f"{label(path)} must have a ref or a prompt, got neither"
    return (fault("missing-field", path, message, "Add a prompt."),)


CHECK = shape(
    Field("query", FILLED, required=False),
    Field("predicate", PREDICATE, required=False),
    Field("agentVerdict", shape(more=(Whole(_verdict),), open_=True), required=False),
    more=(_exactly_one(CHECK_FORMS, "check-not-exactly-one"),),
)


def _advisory(value: dict[str, object], path: str) -> Sequence[Found]:
    check = value.get("check")
    if value.get("blocking") is not True or not isinstance(check, dict):
        return ()
    if "agentVerdict" not in check:
        return ()
    message = "blocking must be false for a check by agentVerdict, got true"
    return (fault("blocking-verdict", f"{path}/check/agentVerdict", message),)


_ON_ERROR = member(ON_ERROR)
_WHEN = Field("when", STRING, required=False)

STEP = shape(
    Field("point", POINT),
    Field("ref", REF),
    Field("produces", ARTEFACTS),
    Field("consumes", ARTEFACTS),
    Field("onError", _ON_ERROR),
    _WHEN,
    Field("pointFrom", STRING, required=False),
    Field("fragment", FRAGMENT, required=False),
    Field("supportsReviewerLanes", BOOLEAN, required=False),
)

CONTRIBUTION = shape(
    Field("point", POINT),
    Field("into", STRING),
    Field("produces", ARTEFACTS),
    Field("consumes", ARTEFACTS),
    Field("fragment", FRAGMENT),
    _WHEN,
    Field("onError", _ON_ERROR, required=False),
    Field(
        "configValues",
        described(mapping(lambda _key, _path: (), STRING)),
        required=False,
    ),
)

GATE = shape(
    Field("point", POINT),
    Field("check", CHECK),
    Field("blocking", BOOLEAN),
    Field("onError", _ON_ERROR),
    _WHEN,
    more=(Whole(_advisory),),
)

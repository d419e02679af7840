"""Rules of the envelope that every role shares, and of configuration slices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import attrs

from msdcomp.codes import CODES
from msdcomp.diagnostics import Problem, Severity
from msdcomp.rules._shape import (
    ANYTHING,
    FILLED,
    STRING,
    Field,
    Found,
    Rule,
    Whole,
    array,
    mapping,
    matching,
    member,
    shape,
)
from msdcomp.rules._words import (
    fault,
    kind_of,
    label,
    missing,
    must_be,
    reserved,
    show,
    wrong_type,
)
from msdcomp.semver import is_version
from msdcomp.vocabulary import (
    ID_GRAMMAR,
    INTEGRITY_GRAMMAR,
    RANGE_SHAPE_GRAMMAR,
    RESERVED_NAMES,
    ROLES,
    SLICE_TYPES,
    TIERS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_DIGIT = re.compile("[0-9]")

KEBAB = matching(
    ID_GRAMMAR,
    "kebab-case (lower-case letters, digits and hyphens, a letter first)",
    "bad-id",
)


def _version(value: object, path: str) -> Sequence[Found]:
    expected = "a semantic version such as 1.0.0"
    if not isinstance(value, str):
        return (wrong_type(value, path, expected),)
    return () if is_version(value) else (must_be("bad-version", value, path, expected),)


def _range(value: object, path: str) -> Sequence[Found]:
    expected = "a version range such as >=1.6.0 <3.0.0"
    if not isinstance(value, str):
        return (wrong_type(value, path, expected),)
    return () if _is_range(value) else (must_be("bad-range", value, path, expected),)


def _is_range(value: object) -> bool:
    """Tell whether a value has the shape of a range; `engines` decides what it says."""
    return (
        isinstance(value, str)
        and RANGE_SHAPE_GRAMMAR.fullmatch(value) is not None
        and (_DIGIT.search(value) is not None or value.strip(" ") in {"*", "x", "X"})
    )


def _version_key(value: object, path: str) -> Sequence[Found]:
    if is_version(str(value)):
        return ()
    message = f"compatVersions must have semantic versions as keys, got {show(value)}"
    return (fault("bad-version", path, message),)


INTEGRITY = matching(
    INTEGRITY_GRAMMAR, "sha512- and 88 characters of base64", "bad-integrity"
)
RANGE = Rule(_range, "a version range such as >=1.6.0 <3.0.0", passes=_is_range)
VERSION = Rule(
    _version,
    "a semantic version such as 1.0.0",
    passes=lambda value: isinstance(value, str) and is_version(value),
)


# Configuration slices.


def _slice_key(value: object, path: str) -> Sequence[Found]:
    if value in RESERVED_NAMES:
        return (reserved(str(value), path),)
    within = next((p for p in str(value).split(".") if p in RESERVED_NAMES), None)
    if within is None:
        return ()
    # Hosts take it, and no lookup finds it: what waits for it never runs.
    message = (
        f"{label(path)} must not hold a reserved name, got {show(value)}; no lookup "
        f"goes through {within}, so what waits for the key is off"
    )
    return (fault("reserved-name", path, message, severity=Severity.WARNING),)


def _fits(type_: str, default: object) -> bool:
    if type_ == "boolean":
        return isinstance(default, bool)
    if type_ == "number":
        return isinstance(default, int | float) and not isinstance(default, bool)
    return isinstance(default, str)


def _slice_default(value: dict[str, object], path: str) -> Sequence[Found]:
    type_, values = value.get("type"), value.get("values")
    if not isinstance(type_, str) or type_ not in SLICE_TYPES or "default" not in value:
        return ()
    default = value["default"]
    at = f"{path}/default"
    if not _fits(type_, default):
        wanted = "string" if type_ == "enum" else type_
        message = f"default must be a {wanted} as type says, got {kind_of(default)}"
        return (fault("default-type-mismatch", at, message),)
    if (
        type_ == "enum"
        and isinstance(values, list)
        and values
        and default not in values
    ):
        message = f"default must be one of the values, got {show(default)}"
        return (fault("default-not-in-values", at, message),)
    return ()


def _slice_values(value: dict[str, object], path: str) -> Sequence[Found]:
    at = f"{path}/values"
    if value.get("type") != "enum":
        if "values" not in value or value.get("type") not in _PLAIN_TYPES:
            return ()
        message = f"values should come with type enum, got type {show(value['type'])}"
        return (fault("ignored-field", at, message, severity=Severity.WARNING),)
    if "values" not in value:
        return (missing(at, VALUES.expected),)
    return VALUES.check(value["values"], at)


def _slice_is_sound(value: dict[str, Any]) -> bool:
    """Tell whether default and values fit the type."""
    type_, default = value["type"], value["default"]
    if type_ != "enum":
        return "values" not in value and _fits(type_, default)
    values = value.get("values", ())
    return isinstance(default, str) and VALUES.passes(values) and default in values


def _slice_body(value: dict[str, object], path: str) -> Sequence[Found]:
    return (*_slice_default(value, path), *_slice_values(value, path))


_PLAIN_TYPES = tuple(type_ for type_ in SLICE_TYPES if type_ != "enum")
VALUES = array(STRING, filled=True, distinct=True)

SLICE = shape(
    Field("type", member(SLICE_TYPES)),
    Field("default", attrs.evolve(ANYTHING, expected="a value of the type named")),
    Field("description", FILLED),
    Field("values", ANYTHING, required=False),
    more=(Whole(_slice_body, _slice_is_sound),),
)

CONFIG = mapping(_slice_key, SLICE, "an object of configuration keys")


def _lenient_config(value: object, path: str) -> Sequence[Found]:
    # Only a feature is held to an object of well-named keys. Elsewhere a reserved key
    # is passed over, and a value without content declares nothing.
    if isinstance(value, dict):
        names = {key: entry for key, entry in value.items() if key in RESERVED_NAMES}
        rest = {key: entry for key, entry in value.items() if key not in RESERVED_NAMES}
        return [*map(_passed_over, names, [path] * len(names)), *_SLICES(rest, path)]
    if value and isinstance(value, str | list):
        return (wrong_type(value, path, CONFIG.expected),)
    return (odd(value, path, CONFIG.expected),)


def _passed_over(name: str, path: str) -> Problem:
    at = f"{path}/{name}"
    return attrs.evolve(reserved(name, at), severity=Severity.WARNING)


_SLICES = mapping(lambda _key, _path: (), SLICE).check


LENIENT_CONFIG = Rule(_lenient_config, CONFIG.expected)


# Descriptive metadata: reported when odd, never refused.


def odd(value: object, path: str, expected: str) -> Problem:
    """Return the notice of a value that is kept although its type is wrong."""
    message = f"{label(path)} should be {expected}, got {kind_of(value)}"
    return fault("odd-type", path, message, severity=Severity.WARNING)


def described(rule: Rule) -> Rule:
    """Return a rule that turns every fault of `rule` into a notice."""

    def checked(value: object, path: str) -> Sequence[Found]:
        return [
            attrs.evolve(
                found,
                code="odd-type",
                severity=Severity.WARNING,
                message=found.message.replace(" must be ", " should be "),
                hint=CODES["odd-type"].remedy,
            )
            if isinstance(found, Problem)
            else found
            for found in rule.check(value, path)
        ]

    return Rule(checked, rule.expected, passes=rule.passes)


AUTHOR = shape(
    Field("name", STRING),
    Field("email", STRING, required=False),
    Field("url", STRING, required=False),
)

_PROVENANCE = shape(Field("sourceRepo", FILLED), Field("commit", FILLED))
_ENGINES = shape(Field("msd", RANGE, required=False))

#: Fields of every role, in the order their absence is reported.
FIELDS: tuple[Field, ...] = (
    Field("id", KEBAB),
    Field("role", member(ROLES)),
    Field("version", VERSION),
    Field("title", FILLED),
    Field("description", FILLED),
    Field("tier", member(TIERS)),
    Field("requires", array(STRING)),
    Field("engines", _ENGINES, required=False),
    Field("compatVersions", mapping(_version_key, RANGE), required=False),
    Field("integrity", INTEGRITY, required=False),
    Field("provenance", _PROVENANCE, required=False),
    Field("author", described(AUTHOR), required=False),
    Field("homepage", described(STRING), required=False),
    Field("repository", described(STRING), required=False),
    Field("license", described(STRING), required=False),
    Field("keywords", described(array(STRING)), required=False),
    Field("$schema", described(STRING), required=False),
)


def folder_mismatch(value: dict[str, object], folder: str | None) -> Sequence[Found]:
    """Return the fault of an id that is not its folder's name."""
    id_ = value.get("id")
    if folder is None or id_ == folder or not isinstance(id_, str):
        return ()
    if not ID_GRAMMAR.fullmatch(id_):
        return ()
    return (
        fault(
            "id-folder-mismatch",
            "/id",
            f"id must be the folder's name {show(folder)}, got {show(id_)}",
        ),
    )

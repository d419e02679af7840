"""Small checks of JSON shapes, and the ways to combine them.

A `Rule` pairs a check with words for what it expects. Checks are plain functions of a
value and its JSON pointer; they return what they found, which for a healthy value is
the empty tuple. They are total: any JSON value may stand anywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.codes import CODES
from msdcomp.diagnostics import Problem, Severity
from msdcomp.safetext import safe
from msdcomp.vocabulary import RESERVED_NAMES

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Sequence

#: Problems of one kind of place are listed up to this number, so that a hostile
#: document of megabytes cannot make a report of gigabytes.
MAX_PROBLEMS = 1000

_SHOWN = 60
_LISTED = 12


@attrs.frozen
class UnknownField:
    """A field that its object does not know; `unknown.py` decides what is said."""

    path: str
    key: str
    known: tuple[str, ...]


Found: TypeAlias = Problem | UnknownField
Check: TypeAlias = "Callable[[object, str], Sequence[Found]]"
#: A check of what is known to be an object already.
ObjectCheck: TypeAlias = "Callable[[dict[str, object], str], Sequence[Found]]"


@attrs.frozen
class Rule:
    """A check, and words for what it expects: `a non-empty string`."""

    check: Check
    expected: str


@attrs.frozen
class Field:
    """A field of an object, required unless said otherwise."""

    name: str
    rule: Rule
    required: bool = True


# Words.


def kind_of(value: object) -> str:
    """Return the JSON name of a value's type."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "array" if isinstance(value, list) else "object"


def show(value: object) -> str:
    """Return a short, safe rendering of a value for a message."""
    if isinstance(value, str):
        text = safe(value, _SHOWN)
        return f'"{text}"' if text == value else f'"{text}" (made safe to print)'
    if isinstance(value, list | dict) or value is None:
        return kind_of(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def label(path: str) -> str:
    """Return a readable name for the place a pointer names.

    >>> label("/steps/0/onError"), label("/skills/1"), label("")
    ('onError', 'skills[1]', 'the manifest')
    """
    parts = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    if len(parts) == 1:
        return "the manifest"
    name = parts[-1]
    if name.isdecimal() and len(parts) > 2:  # noqa: PLR2004 - root, array, index
        return f"{safe(parts[-2], _SHOWN)}[{name}]"
    return safe(name, _SHOWN) or '""'


def listed(values: Iterable[object], word: str = "or") -> str:
    """Return values as words: `"a", "b" or "c"`; a long list is only counted."""
    texts = [show(value) for value in values]
    if len(texts) > _LISTED:
        return f"one of {len(texts)} known values"
    return f" {word} ".join(filter(None, (", ".join(texts[:-1]), texts[-1])))


def closest(text: str, known: Iterable[str]) -> str | None:
    """Return the known name that `text` is a slip of, if it is one."""
    # Imported on use: a healthy manifest never needs it.
    from difflib import get_close_matches  # noqa: PLC0415

    if len(text) > _SHOWN:
        return None
    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(text.lower(), by_lower, n=1, cutoff=0.8)
    return by_lower[found[0]] if found else None


def suggest(text: object, known: Iterable[str]) -> str | None:
    """Return a "did you mean" for a slip of a letter or so."""
    near = closest(text, known) if isinstance(text, str) else None
    return f'Did you mean "{near}"?' if near else None


# Problems.


def fault(
    code: str,
    path: str,
    message: str,
    hint: str | None = None,
    severity: Severity = Severity.ERROR,
) -> Problem:
    """Return a problem; without a hint of its own it takes the remedy of its code."""
    return Problem(
        code=code,
        path=path,
        message=message,
        hint=hint or CODES[code].remedy,
        severity=severity,
    )


def must_be(code: str, value: object, path: str, expected: str) -> Problem:
    """Return the plain fault of a value that is not what is expected."""
    return fault(code, path, f"{label(path)} must be {expected}, got {show(value)}")


def wrong_type(value: object, path: str, expected: str) -> Problem:
    """Return the fault of a value of the wrong JSON type."""
    return fault(
        "wrong-type", path, f"{label(path)} must be {expected}, got {kind_of(value)}"
    )


def missing(path: str, expected: str) -> Problem:
    """Return the fault of a required field that is not there."""
    name = label(path)
    return fault(
        "missing-field",
        path,
        f"{name} is missing; expected {expected}",
        f"Add the field {name}.",
    )


def escape(key: str) -> str:
    """Return a key as a part of a JSON pointer."""
    return key.replace("~", "~0").replace("/", "~1")


# Scalars.


def _string(value: object, path: str) -> Sequence[Found]:
    return () if isinstance(value, str) else (wrong_type(value, path, "a string"),)


def _filled(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, str):
        return (wrong_type(value, path, "a non-empty string"),)
    if not value:
        return (must_be("empty-string", value, path, "a non-empty string"),)
    return ()


def _boolean(value: object, path: str) -> Sequence[Found]:
    return () if isinstance(value, bool) else (wrong_type(value, path, "a boolean"),)


STRING = Rule(_string, "a string")
FILLED = Rule(_filled, "a non-empty string")
BOOLEAN = Rule(_boolean, "a boolean")
#: Checked elsewhere, or not at all.
ANYTHING = Rule(lambda _value, _path: (), "any value")


def nullable(rule: Rule) -> Rule:
    """Return a rule that accepts null beside what `rule` accepts."""
    check, expected = rule.check, f"{rule.expected} or null"

    def checked(value: object, path: str) -> Sequence[Found]:
        if value is None:
            return ()
        found = check(value, path)
        if found and not isinstance(value, str | list | dict):
            return (wrong_type(value, path, expected),)
        return found

    return Rule(checked, expected)


def member(values: Sequence[str]) -> Rule:
    """Return a rule for a string out of a closed set."""
    allowed, expected = frozenset(values), listed(values)

    def checked(value: object, path: str) -> Sequence[Found]:
        if isinstance(value, str):
            if value in allowed:
                return ()
            return (
                fault(
                    "not-in-vocabulary",
                    path,
                    f"{label(path)} must be {expected}, got {show(value)}",
                    suggest(value, values) or f"Use {listed(values)}.",
                ),
            )
        return (wrong_type(value, path, expected),)

    return Rule(checked, expected)


def whole_number(least: int, most: int | None = None, unit: str = "") -> Rule:
    """Return a rule for an integer in a range, both ends included."""
    name = "a positive integer" if least == 1 else f"an integer of at least {least}"
    limit = f" of at most {most}" if most is not None else ""
    expected = f"{name}{unit}{limit}"

    def checked(value: object, path: str) -> Sequence[Found]:
        if isinstance(value, bool) or not isinstance(value, int | float):
            return (wrong_type(value, path, expected),)
        # Beyond 2^53 an integral JSON number stays a float; it is still whole.
        if value != value // 1 or value < least or (most is not None and value > most):
            return (must_be("out-of-range", value, path, expected),)
        return ()

    return Rule(checked, expected)


def matching(grammar: re.Pattern[str], expected: str, code: str = "bad-format") -> Rule:
    """Return a rule for a string that matches a grammar as a whole."""
    # `fullmatch`, because `$` would also match before a final newline.
    full = grammar.fullmatch

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, str):
            return (wrong_type(value, path, expected),)
        return () if full(value) else (must_be(code, value, path, expected),)

    return Rule(checked, expected)


def unreserved(rule: Rule) -> Rule:
    """Return a rule that also refuses the names a JavaScript host would misread."""
    check = rule.check

    def checked(value: object, path: str) -> Sequence[Found]:
        if isinstance(value, str) and value in RESERVED_NAMES:
            return (reserved(value, path),)
        return check(value, path)

    return Rule(checked, rule.expected)


def reserved(name: str, path: str) -> Problem:
    """Return the fault of a name that a JavaScript host would misread."""
    return fault(
        "reserved-name", path, f'{label(path)} uses the reserved name "{name}"'
    )


# Containers.


def array(item: Rule, *, filled: bool = False, distinct: bool = False) -> Rule:
    """Return a rule for an array whose entries all satisfy `item`."""
    check = item.check
    words = item.expected.removeprefix("a ").removeprefix("an ")
    expected = f"{'a non-empty' if filled else 'an'} array, each entry {item.expected}"
    if words in {"string", "non-empty string", "object"}:
        expected = f"{'a non-empty' if filled else 'an'} array of {words}s"

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, list):
            return (wrong_type(value, path, expected),)
        if not value:
            return (must_be("empty-array", value, path, expected),) if filled else ()
        found: list[Found] = []
        for index, entry in enumerate(value):
            some = check(entry, f"{path}/{index}")
            if some:
                found += some
                if len(found) > MAX_PROBLEMS:
                    return found
        return [*found, *_repeated(value, path)] if distinct else found

    return Rule(checked, expected)


def _repeated(entries: list[object], path: str) -> Sequence[Found]:
    texts = [entry if isinstance(entry, str) else None for entry in entries]
    if len(set(texts)) == len(texts):
        return ()
    seen: set[str] = set()
    found = []
    for index, text in enumerate(texts):
        if text is None:
            continue
        if text in seen:
            at = f"{path}/{index}"
            found.append(
                fault("duplicate-entry", at, f"{label(at)} repeats {show(text)}")
            )
        seen.add(text)
    return found[:MAX_PROBLEMS]


def mapping(key: Check, value_rule: Rule, expected: str = "an object") -> Rule:
    """Return a rule for an object with free keys; `key` sees each key as a value."""
    check = value_rule.check

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, dict):
            return (wrong_type(value, path, expected),)
        found: list[Found] = []
        for name, entry in value.items():
            at = f"{path}/{escape(name)}"
            found += key(name, at)
            found += check(entry, at)
            if len(found) > MAX_PROBLEMS:
                break
        return found

    return Rule(checked, expected)


def shape(
    *fields: Field, more: Sequence[ObjectCheck] = (), open_: bool = False
) -> Rule:
    """Return a rule for an object with known fields.

    Args:
        fields: The fields, in the order their absence is reported.
        more: Checks of the whole object, run when it is one.
        open_: Whether unknown fields pass without a word.
    """
    table = [(f.name, f"/{f.name}", f.rule, f.rule.check, f.required) for f in fields]
    known = tuple(field.name for field in fields)
    names = frozenset(known)
    extra = tuple(more)

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, dict):
            return (wrong_type(value, path, "an object"),)
        found: list[Found] = []
        met = 0
        for name, part, rule, check, required in table:
            if name in value:
                met += 1
                found += check(value[name], path + part)
            elif required:
                found.append(missing(path + part, rule.expected))
        for further in extra:
            found += further(value, path)
        if met != len(value) and not open_:
            found += _unknown(value, path)
        return found

    def _unknown(value: dict[str, object], path: str) -> list[Found]:
        return [
            UnknownField(f"{path}/{escape(key)}", key, known)
            for key in value
            if key not in names
        ][:MAX_PROBLEMS]

    return Rule(checked, "an object")

"""Small checks of JSON shapes, and the ways to combine them.

A `Rule` pairs a check with words for what it expects. Checks are plain functions of a
value and its JSON pointer; they return what they found, which for a healthy value is
the empty tuple. They are total: any JSON value may stand anywhere.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import attrs

from msdcomp.diagnostics import MAX_PROBLEMS, Problem, Severity
from msdcomp.rules._words import (
    escape,
    fault,
    label,
    listed,
    missing,
    must_be,
    reserved,
    show,
    suggest,
    wrong_type,
)
from msdcomp.vocabulary import RESERVED_NAMES

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence


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


class Gathered:
    """What a walk along a list or an object has found, up to a bound.

    Errors and notices have a bound each: any number of notices must not hide an error.
    """

    __slots__ = ("_errors", "_notices", "found")

    def __init__(self) -> None:
        """Start with nothing found."""
        self.found: list[Found] = []
        self._errors = self._notices = 0

    def add(self, some: Iterable[Found]) -> bool:
        """Take up what was found at one place; tell whether the walk may end."""
        for entry in some:
            if isinstance(entry, Problem) and entry.severity is Severity.ERROR:
                self._errors += 1
            elif self._notices < MAX_PROBLEMS:
                self._notices += 1
            else:
                continue
            self.found.append(entry)
            # One more than are shown, so that it can be said that there are more.
            if self._errors > MAX_PROBLEMS:
                return True
        return False


@attrs.frozen
class Rule:
    """A check, and words for what it expects: `a non-empty string`.

    Attributes:
        check: The check itself.
        expected: What a healthy value is, for messages.
        plain: A type of which every value passes that is neither empty nor outside
            `values`, so that the check need not be called. Healthy manifests are mostly
            such values, and calls are what checking costs.
        values: The closed set of plain values, or None for any.
    """

    check: Check
    expected: str
    plain: type | None = None
    values: frozenset[object] | None = None


@attrs.frozen
class Field:
    """A field of an object, required unless said otherwise."""

    name: str
    rule: Rule
    required: bool = True


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


STRING = Rule(_string, "a string", str)
FILLED = Rule(_filled, "a non-empty string", str)
BOOLEAN = Rule(_boolean, "a boolean", bool)
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
    allowed: frozenset[object] = frozenset(values)
    expected = listed(values)

    def checked(value: object, path: str) -> Sequence[Found]:
        if isinstance(value, str):
            if value in allowed:
                return ()
            return (
                fault(
                    "not-in-vocabulary",
                    path,
                    f"{label(path)} must be {expected}, got {show(value)}",
                    suggest(value, values),
                ),
            )
        return (wrong_type(value, path, expected),)

    return Rule(checked, expected, str, allowed)


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


# Containers.


def array(item: Rule, *, filled: bool = False, distinct: bool = False) -> Rule:
    """Return a rule for an array whose entries all satisfy `item`."""
    check, plain, values = item.check, {item.plain}, item.values
    words = item.expected.removeprefix("a ").removeprefix("an ")
    expected = f"{'a non-empty' if filled else 'an'} array, each entry {item.expected}"
    if words in {"string", "non-empty string", "object"}:
        expected = f"{'a non-empty' if filled else 'an'} array of {words}s"

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, list):
            return (wrong_type(value, path, expected),)
        if not value:
            return (must_be("empty-array", value, path, expected),) if filled else ()
        gathered = Gathered()
        if not (
            set(map(type, value)) == plain
            and all(value)
            and (values is None or values.issuperset(value))
        ):
            for index, entry in enumerate(value):
                some = check(entry, f"{path}/{index}")
                if some and gathered.add(some):
                    return gathered.found
        if distinct:
            gathered.add(_repeated(value, path))
        return gathered.found

    return Rule(checked, expected)


def _repeated(entries: list[object], path: str) -> Iterator[Found]:
    texts = [entry if isinstance(entry, str) else None for entry in entries]
    if len(set(texts)) == len(texts):
        return
    seen: set[str] = set()
    for index, text in enumerate(texts):
        if text is None:
            continue
        if text in seen:
            at = f"{path}/{index}"
            yield fault("duplicate-entry", at, f"{label(at)} repeats {show(text)}")
        seen.add(text)


def mapping(key: Check, value_rule: Rule, expected: str = "an object") -> Rule:
    """Return a rule for an object with free keys; `key` sees each key as a value."""
    check = value_rule.check

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, dict):
            return (wrong_type(value, path, expected),)
        gathered = Gathered()
        for name, entry in value.items():
            at = f"{path}/{escape(name)}"
            some = [*key(name, at), *check(entry, at)]
            if some and gathered.add(some):
                break
        return gathered.found

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
    rows = {
        field.name: (
            field.rule.check,
            f"/{field.name}",
            field.rule.plain,
            field.rule.values,
        )
        for field in fields
    }
    needed = {field.name: field.rule for field in fields if field.required}
    required = frozenset(needed)
    known = tuple(rows)
    extra = tuple(more)

    def checked(value: object, path: str) -> Sequence[Found]:
        if not isinstance(value, dict):
            return (wrong_type(value, path, "an object"),)
        found: list[Found] = []
        if not required <= value.keys():
            found += [
                missing(f"{path}/{name}", rule.expected)
                for name, rule in needed.items()
                if name not in value
            ]
        unknown = 0
        for name, entry in value.items():
            row = rows.get(name)
            if row is None:
                unknown += 1
                continue
            check, part, plain, values = row
            if type(entry) is plain and entry and (values is None or entry in values):
                continue
            some = check(entry, path + part)
            if some:
                found += some
        for further in extra:
            found += further(value, path)
        if unknown and not open_:
            found += _unknown(value, path)
        return found

    def _unknown(value: dict[str, object], path: str) -> Iterator[Found]:
        keys = (key for key in value if key not in rows)
        for key in islice(keys, MAX_PROBLEMS):
            yield UnknownField(f"{path}/{escape(key)}", key, known)

    return Rule(checked, "an object")

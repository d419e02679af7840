"""Small checks of JSON shapes, and the ways to combine them.

A `Rule` pairs a check with words for what it expects. Checks are plain functions of a
value and its JSON pointer; they return what they found, which for a healthy value is
the empty tuple. They are total: any JSON value may stand anywhere.

Nearly every manifest is healthy, and nothing has to be said about it. So a rule also
has a test without pointers and messages, made of the tests of its parts as the check
is made of their checks. It may doubt what the check lets pass, never the other way
round; what is said about a value is for the check alone to decide.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import attrs

from msdcomp.diagnostics import MAX_PROBLEMS, Problem, Severity
from msdcomp.records import Record
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


@attrs.frozen(eq=False, repr=False)
class UnknownField(Record):
    """A field that its object does not know; `unknown.py` decides what is said."""

    path: str
    key: str
    known: tuple[str, ...]


Found: TypeAlias = Problem | UnknownField
Check: TypeAlias = "Callable[[object, str], Sequence[Found]]"
Test: TypeAlias = "Callable[[object], bool]"
#: Name, and what the rule says of it: `plain`, `values`, `passes`.
_Row: TypeAlias = "tuple[str, type | None, frozenset[object] | None, Test]"
#: A check of what is known to be an object already.
ObjectCheck: TypeAlias = "Callable[[dict[str, object], str], Sequence[Found]]"
ObjectTest: TypeAlias = "Callable[[dict[str, Any]], bool]"


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


@attrs.frozen(eq=False, repr=False)
class Rule(Record):
    """A check, and words for what it expects: `a non-empty string`.

    Attributes:
        check: The check itself.
        expected: What a healthy value is, for messages.
        plain: A type of which every value passes that is neither empty nor outside
            `values`, so that nothing need be called. Healthy manifests are mostly
            such values, and calls are what checking costs.
        values: The closed set of plain values, or None for any.
        passes: Tells of a value that the check finds nothing; False means to ask it.
    """

    check: Check
    expected: str
    plain: type | None = None
    values: frozenset[object] | None = None
    passes: Test = attrs.field(kw_only=True)

    @passes.default
    def _nothing_found(self) -> Test:
        check = self.check
        return lambda value: not check(value, "")


@attrs.frozen(eq=False, repr=False)
class Whole(Record):
    """A check of an object as a whole.

    Attributes:
        check: The check itself, of any object.
        passes: As in `Rule`, of objects whose fields have all passed and are all known.
    """

    check: ObjectCheck
    passes: ObjectTest = attrs.field()

    @passes.default
    def _nothing_found(self) -> ObjectTest:
        check = self.check
        return lambda value: not check(value, "")


@attrs.frozen(eq=False, repr=False)
class Field(Record):
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


STRING = Rule(_string, "a string", str, passes=lambda value: isinstance(value, str))
FILLED = Rule(_filled, "a non-empty string", str)
BOOLEAN = Rule(
    _boolean, "a boolean", bool, passes=lambda value: isinstance(value, bool)
)
#: Checked elsewhere, or not at all.
ANYTHING = Rule(lambda _value, _path: (), "any value", passes=lambda _value: True)


def nullable(rule: Rule) -> Rule:
    """Return a rule that accepts null beside what `rule` accepts."""
    check, expected = rule.check, f"{rule.expected} or null"
    plain_passes = rule.passes

    def checked(value: object, path: str) -> Sequence[Found]:
        if value is None:
            return ()
        found = check(value, path)
        if found and not isinstance(value, str | list | dict):
            return (wrong_type(value, path, expected),)
        return found

    def passes(value: object) -> bool:
        return value is None or plain_passes(value)

    return Rule(checked, expected, passes=passes)


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

    def passes(value: object) -> bool:
        return isinstance(value, str) and full(value) is not None

    return Rule(checked, expected, passes=passes)


def unreserved(rule: Rule) -> Rule:
    """Return a rule that also refuses the names a JavaScript host would misread."""
    check, any_passes = rule.check, rule.passes

    def checked(value: object, path: str) -> Sequence[Found]:
        if isinstance(value, str) and value in RESERVED_NAMES:
            return (reserved(value, path),)
        return check(value, path)

    def passes(value: object) -> bool:
        return (
            isinstance(value, str) and value not in RESERVED_NAMES and any_passes(value)
        )

    return Rule(checked, rule.expected, passes=passes)


# Containers.


def array(item: Rule, *, filled: bool = False, distinct: bool = False) -> Rule:
    """Return a rule for an array whose entries all satisfy `item`."""
    check, plain, values, test = item.check, item.plain, item.values, item.passes
    only_plain = {plain}
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
        if not all_plain(value):
            for index, entry in enumerate(value):
                some = check(entry, f"{path}/{index}")
                if some and gathered.add(some):
                    return gathered.found
        if distinct:
            gathered.add(_repeated(value, path))
        return gathered.found

    def all_plain(value: list[object]) -> bool:
        return (
            set(map(type, value)) == only_plain
            and all(value)
            and (values is None or values.issuperset(value))
        )

    def passes(value: object) -> bool:
        if type(value) is not list:
            return False
        if not value:
            return not filled
        for entry in value:
            if not (
                type(entry) is plain and entry and (values is None or entry in values)
            ) and not test(entry):
                return False
        return not distinct or len(set(value)) == len(value)

    return Rule(checked, expected, passes=passes)


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
    check, test = value_rule.check, value_rule.passes

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

    def passes(value: object) -> bool:
        if type(value) is not dict:
            return False
        for name, entry in value.items():
            if key(name, "") or not test(entry):
                return False
        return True

    return Rule(checked, expected, passes=passes)


def shape(*fields: Field, more: Sequence[Whole] = (), open_: bool = False) -> Rule:
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
    extra = tuple(whole.check for whole in more)
    extra_tests = tuple(whole.passes for whole in more)

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

    def tests(*, of_required: bool) -> tuple[_Row, ...]:
        return tuple(
            (field.name, field.rule.plain, field.rule.values, field.rule.passes)
            for field in fields
            if field.required is of_required
        )

    required_tests, optional_tests = tests(of_required=True), tests(of_required=False)

    def passes(value: object) -> bool:
        if type(value) is not dict:
            return False
        seen = len(required_tests)
        try:
            for name, plain, values, test in required_tests:
                entry = value[name]
                if not (
                    type(entry) is plain
                    and entry
                    and (values is None or entry in values)
                ) and not test(entry):
                    return False
        except KeyError:
            return False
        if len(value) > seen:
            for name, plain, values, test in optional_tests:
                if name in value:
                    seen += 1
                    entry = value[name]
                    if not (
                        type(entry) is plain
                        and entry
                        and (values is None or entry in values)
                    ) and not test(entry):
                        return False
            if len(value) > seen and not open_:
                return False
        for further in extra_tests:  # noqa: SIM110 - `all` would make a generator
            if not further(value):
                return False
        return True

    return Rule(checked, "an object", passes=passes)

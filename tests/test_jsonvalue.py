"""Python values given in place of JSON text."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pyrsistent import freeze

from msdcomp.jsontext import MAX_BYTES
from msdcomp.jsonvalue import adopt


class Name(str):
    """A string that pretends to be another one."""

    __slots__ = ()

    def __str__(self) -> str:
        """Lie."""
        return "pretended"


class Level(enum.IntEnum):
    LOW = 1


class Ratio(float):
    """A float that pretends to be another one."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Lie."""
        return "0.0"


class Hostile(Mapping[str, Any]):
    """A mapping that fails while it is read."""

    def __init__(self, *, lists: bool) -> None:
        """Fail at the values, or already at the keys."""
        self.lists = lists

    def __getitem__(self, key: str) -> Any:
        """Fail."""
        raise RuntimeError(key)

    def __iter__(self) -> Iterator[str]:
        """Fail, or list a key."""
        if self.lists:
            return iter(["a"])
        raise RuntimeError

    def __len__(self) -> int:
        """Claim one key."""
        return 1


def _cyclic() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def _deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def _shared() -> Any:
    value: Any = "x" * 10
    for _ in range(60):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": (1, [2.0])}, {"a": [1, [2]]}),
        (freeze({"a": [1, {"b": None}]}), {"a": [1, {"b": None}]}),
        ({Name("a"): Name("b")}, {"a": "b"}),
        ([Level.LOW, Ratio(2.5), True], [1, 2.5, True]),
        (-0.0, 0),
        (1e21, 1e21),
        (2**53, 2**53),
        (_deep(200), _deep(200)),
    ],
)
def test_what_has_a_counterpart_in_json_is_copied_plain(
    value: object, expected: object
) -> None:
    parsed = adopt(value)

    assert parsed.problems == ()
    assert parsed.value == expected
    assert repr(parsed.value) == repr(expected)


@pytest.mark.parametrize(
    ("value", "code", "path", "message"),
    [
        ({"a": {1, 2}}, "not-json-value", "/a", "the value must be JSON, got set"),
        ([b"x"], "not-json-value", "/0", "the value must be JSON, got bytes"),
        (range(3), "not-json-value", "", "the value must be JSON, got range"),
        ({"a": {1: 2}}, "key-not-string", "/a", "a key must be a string, got int"),
        ({None: 2}, "key-not-string", "", "a key must be a string, got NoneType"),
        (float("nan"), "not-finite", "",
         "a number must be finite, got one that is not"),
        ([float("-inf")], "not-finite", "/0",
         "a number must be finite, got one that is not"),
        (2**53 + 1, "integer-too-large", "",
         "an integer must lie within 2^53, got one of 54 bits"),
        pytest.param(
            10**5000, "integer-too-large", "",
            "an integer must lie within 2^53, got one of 16610 bits", id="huge"
        ),
        (["\ud800"], "lone-surrogate", "/0",
         "a string must hold whole characters, got half a surrogate pair"),
        ({"\udfff": 1}, "lone-surrogate", "",
         "a string must hold whole characters, got half a surrogate pair"),
        (_cyclic(), "cyclic-value", "/0",
         "the value must be a tree, got one that contains itself"),
        (_shared(), "too-large", "",
         f"the value must fit into {MAX_BYTES} bytes of JSON, got more"),
        ("x" * MAX_BYTES, "too-large", "",
         f"the value must fit into {MAX_BYTES} bytes of JSON, got more"),
        ({"a": Hostile(lists=True)}, "not-json-value", "/a/a",
         "the value must be readable, got RuntimeError"),
        ({"a": Hostile(lists=False)}, "not-json-value", "/a",
         "the value must be readable, got RuntimeError"),
    ],
)  # fmt: skip
def test_what_has_no_counterpart_in_json_is_named_with_its_place(
    value: object, code: str, path: str, message: str
) -> None:
    parsed = adopt(value)

    (problem,) = parsed.problems
    assert (problem.code, problem.path, problem.message) == (code, path, message)
    assert problem.hint
    assert problem.line is None
    assert parsed.value is None


@pytest.mark.parametrize("levels", [201, 100_000])
def test_a_value_nested_too_deep_is_refused_without_recursion(levels: int) -> None:
    (problem,) = adopt(_deep(levels)).problems

    assert problem.code == "too-deep"
    assert problem.message == "the value must have at most 200 levels, got more"


def test_a_key_that_only_pretends_to_be_new_is_a_repeated_key() -> None:
    class Key(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return 7

        def __eq__(self, other: object) -> bool:
            return self is other

    (problem,) = adopt({Key("a"): 1, Key("a"): 2}).problems

    assert (problem.code, problem.path) == ("duplicate-key", "/a")


def test_what_cannot_be_copied_is_left_out_of_the_loose_reading() -> None:
    parsed = adopt({"a": {1}, "b": [1, float("inf")], 5: 6, "c\ud800": "\ud800"})

    assert parsed.loose == {"a": None, "b": [1, None], "c?": "?"}
    assert len(parsed.problems) == 5


def test_problems_stop_at_a_thousand() -> None:
    assert len(adopt([{1}] * 5000).problems) == 1000

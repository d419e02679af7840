"""One member of a text changes, and nothing else of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.edge.jsonedit import members, set_member, unset_member

KEYS = st.sampled_from(["a", "b", "c", "", 'q"', "\u00e9", "__proto__"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4)
PATHS = st.lists(KEYS, min_size=1, max_size=3)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object in one of the layouts that people and programs write."""
    document = draw(DOCUMENTS)
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    separators = draw(
        st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :"), (",", ": ")])
    )
    text = json.dumps(
        document,
        indent=indent,
        separators=separators,
        ensure_ascii=draw(st.booleans()),
    )
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    around = st.sampled_from(["", "\n", "  ", "\r\n"])
    return draw(around) + text + draw(around)


def _set(document: Any, path: Sequence[str], value: Any) -> Any:
    """Return what a document is to hold, or None where a path is blocked."""
    if not path:
        return value
    if not isinstance(document, dict):
        return None
    inner = _set(document.get(path[0], {}), path[1:], value)
    if inner is None and len(path) > 1:
        return None
    return {**document, path[0]: inner}


def _unset(document: Any, path: Sequence[str]) -> Any:
    if not isinstance(document, dict) or path[0] not in document:
        return document
    rest = {key: value for key, value in document.items() if key != path[0]}
    if len(path) == 1:
        return rest
    inner = _unset(document[path[0]], path[1:])
    if inner == document[path[0]]:
        return document
    return {**document, path[0]: inner} if inner else rest


def _alike(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


@given(texts(), PATHS, VALUES)
def test_a_set_value_is_there_and_all_else_is_as_it_was(
    text: str, path: list[str], value: Any
) -> None:
    expected = _set(json.loads(text), path, value)
    if expected is None:
        with pytest.raises(ValueError, match="is no object"):
            set_member(text, path, value)
        return

    edited = set_member(text, path, value)

    assert _alike(json.loads(edited), expected)


@given(texts(), PATHS, VALUES)
def test_no_byte_outside_of_the_edited_member_changes(
    text: str, path: list[str], value: Any
) -> None:
    if _set(json.loads(text), path, value) is None:
        return

    edited = set_member(text, path, value)

    head = 0
    while head < min(len(text), len(edited)) and text[head] == edited[head]:
        head += 1
    tail = 0
    while (
        tail < min(len(text), len(edited)) - head
        and text[-1 - tail] == edited[-1 - tail]
    ):
        tail += 1
    # What is gone was one value, or white space of an object that was empty.
    gone = text[head : len(text) - tail]
    held = _value_at(text, path)
    assert not gone.strip() or (held is not None and gone in held)


def _value_at(text: str, path: Sequence[str]) -> str | None:
    """Return the text of the value that a path leads to."""
    opening = text.index("{")
    for depth, key in enumerate(path):
        found = next((m for m in members(text, opening) if m.key == key), None)
        if found is None:
            return None
        if depth + 1 == len(path):
            return text[found.value : found.end]
        opening = found.value
    return None


@given(texts(), PATHS)
def test_an_unset_value_is_gone_with_the_objects_it_leaves_empty(
    text: str, path: list[str]
) -> None:
    edited = unset_member(text, path)

    assert _alike(json.loads(edited), _unset(json.loads(text), path))


@given(texts(), PATHS, VALUES)
def test_a_value_that_was_new_leaves_nothing_behind(
    text: str, path: list[str], value: Any
) -> None:
    document = json.loads(text)
    holder = document
    for key in path:
        if not isinstance(holder, dict) or key not in holder:
            break
        holder = holder[key]
    else:
        return  # It was there before.
    if not isinstance(holder, dict) or not holder:
        return  # Blocked, or in an object that was empty and now goes too.

    assert unset_member(set_member(text, path, value), path) == text


@given(texts(), PATHS, VALUES)
def test_to_set_twice_is_to_set_once(text: str, path: list[str], value: Any) -> None:
    if _set(json.loads(text), path, value) is None:
        return

    once = set_member(text, path, value)

    assert set_member(once, path, value) == once


@pytest.mark.parametrize(
    ("before", "path", "value", "after"),
    [
        ("{}\n", "a", 1, '{\n  "a": 1\n}\n'),
        ("{}", "a.b", 1, '{\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"a":1}', "b", 2, '{"a":1,"b":2}'),
        ('{"a": 1}', "b", 2, '{"a": 1, "b": 2}'),
        ('{ "a": 1 }', "b.c", 2, '{ "a": 1, "b": {"c": 2} }'),
        ('{"a": {}, "z": 1}', "a.b", True, '{"a": {"b": true}, "z": 1}'),
        ('{\n\t"a": {}\n}', "a.b", True, '{\n\t"a": {\n\t\t"b": true\n\t}\n}'),
        (
            '{\r\n "a": {\r\n  "b": 1.50\r\n }\r\n}',
            "a.c",
            [1],
            '{\r\n "a": {\r\n  "b": 1.50,\r\n  "c": [\r\n   1\r\n  ]\r\n }\r\n}',
        ),
        ('{"\\u0061": 1e2, "b": 1.50}', "a", False, '{"\\u0061": false, "b": 1.50}'),
        ('{"a": [ 1.50, "\\u0061" ]}', "a", [1.5, "a"], '{"a": [ 1.50, "\\u0061" ]}'),
        ('{"a": 1}', "a", True, '{"a": true}'),
        ('{"a": {"b": 1}}', "a", "\u00e9", '{"a": "\u00e9"}'),
    ],
)
def test_a_new_member_looks_like_its_neighbours(
    before: str, path: str, value: Any, after: str
) -> None:
    assert set_member(before, path.split("."), value) == after


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"a": 1, "b": 2}', "a", '{"b": 2}'),
        ('{"a": 1, "b": 2}', "b", '{"a": 1}'),
        ('{"a": {"b": {"c": 1}}, "z": {}}', "a.b.c", '{"z": {}}'),
        ('{\n  "a": 1\n}\n', "a", "{}\n"),
        ('{"a": 1}', "b", '{"a": 1}'),
        ('{"a": [1]}', "a.0", '{"a": [1]}'),
    ],
)
def test_a_member_goes_with_one_comma(before: str, path: str, after: str) -> None:
    assert unset_member(before, path.split(".")) == after


def test_half_a_character_is_written_as_an_escape() -> None:
    assert set_member("{}", ["a"], "\ud800") == '{\n  "a": "\\ud800"\n}'


def test_a_path_of_nothing_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="empty"):
        set_member("{}", [], 1)

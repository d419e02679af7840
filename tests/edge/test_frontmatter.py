"""Front matter: YAML by a real parser, and nothing in it makes anything happen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyrsistent import pmap

from msdcomp.edge.frontmatter import (
    MAX_FRONT_MATTER_BYTES,
    MAX_LEVELS,
    read_front_matter,
)
from msdcomp.predicate import FrontMatter

PIECES = st.sampled_from(
    [
        *("---\n", "---", "\n", "a: 1\n", "b:\n", "  - x\n", "{", "}", "[", "]", ": "),
        *("&a ", "*a", "!!str ", "<<: ", "|\n", "'", '"', "# c\n", "\t", "...\n", "? "),
    ]
)


def _fields(yaml: str) -> dict[str, Any]:
    read = read_front_matter(f"---\n{yaml}\n---\n\nText\n".encode())
    assert read.reason is None
    return {name: field.value for name, field in read.fields.items()}


def _reason(yaml: str) -> str:
    read = read_front_matter(f"---\n{yaml}\n---\n".encode())
    assert read.fields == pmap()
    assert read.reason is not None
    return read.reason


@given(st.binary(max_size=200) | st.lists(PIECES, max_size=25).map("".join))
def test_any_file_has_fields_or_a_reason(content: bytes | str) -> None:
    data = content if isinstance(content, bytes) else content.encode()

    for whole in (data, b"---\n" + data, b"---\n" + data + b"\n---\n"):
        read = read_front_matter(whole)
        assert read.reason is None or read.fields == pmap()


@given(
    st.dictionaries(
        st.from_regex(r"\A[a-z_]{1,8}\Z"),
        st.integers(-(10**14), 10**14)
        | st.booleans()
        | st.floats(-1e15, 1e15, allow_nan=False).map(lambda x: round(x, 3)),
        max_size=5,
    )
)
def test_plain_values_are_those_of_json(values: dict[str, Any]) -> None:
    written = {key: str(value).lower() for key, value in values.items()}
    yaml = "\n".join(f"{key}: {text}" for key, text in written.items())

    read = read_front_matter(f"---\n{yaml}\n---\n".encode())

    # A name may itself look like a number or a word: it is a name all the same.
    assert {key: field.value for key, field in read.fields.items()} == values
    assert {key: field.text for key, field in read.fields.items()} == written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("007", 7),
        ("-3", -3),
        ("1.50", 1.5),
        ("1e3", 1000.0),
        ("true", True),
        ("False", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("no", "no"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("2026-01-02", "2026-01-02"),
        ("0x1f", "0x1f"),
        (".inf", ".inf"),
        (".", "."),
        ("1e999", "1e999"),
        ("12345678901234567890", "12345678901234567890"),
        ("'0'", "0"),
        ('"true"', "true"),
        ("a # comment", "a"),
        ("|\n  two\n  lines", "two\nlines\n"),
        ("[1, x, {y: no}]", (1, "x", pmap({"y": "no"}))),
        ("\n  - 1\n  - a: b", (1, pmap({"a": "b"}))),
    ],
)
def test_what_a_value_is_read_as(text: str, value: Any) -> None:
    held = _fields(f"f: {text}")["f"]
    assert held == value
    assert type(held) is type(value)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"# Title\n",
        b"text\n---\na: 1\n---\n",
        b"----\na: 1\n----\n",
        b"--- x\na: 1\n---\n",
        b"---\n---\n",
        b"---\n# nothing\n---\n",
    ],
)
def test_a_file_without_front_matter_has_no_fields(data: bytes) -> None:
    assert read_front_matter(data) == FrontMatter()


@pytest.mark.parametrize(
    "data",
    [
        b"---\na: 1\n---\nb: 2\n---\n",
        b"---\na: 1\n...\nb: 2\n",
        b"---\r\na: 1\r\n---\r\n",
        b"\xef\xbb\xbf---  \na: 1\n---",
    ],
)
def test_where_front_matter_begins_and_ends(data: bytes) -> None:
    read = read_front_matter(data)

    assert {name: field.value for name, field in read.fields.items()} == {"a": 1}


def _bomb(levels: int) -> str:
    doubled = (f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, levels))
    return "\n".join(["a0: &a0 [x, x]", *doubled])


@pytest.mark.parametrize(
    ("yaml", "reason"),
    [
        (_bomb(64), "repeats a value by an alias"),
        ("a: &a [*a]", "repeats a value by an alias"),
        ("a: &x {b: 1}\n<<: *x", "repeats a value by an alias"),
        ("a: 1\na: 2", "gives a field twice"),
        ("a: {b: 1, b: 1}", "gives a field twice"),
        ("a: !!python/object/apply:os.system [ls]", "gives a value a type by a tag"),
        ("a: !!int 5", "gives a value a type by a tag"),
        ("a: ! 5", "gives a value a type by a tag"),
        ("!!map {a: 1}", "gives a value a type by a tag"),
        ("[a, b]: 1", "has a list or a map for the name of a field"),
        ("- a", "is no list of fields with values"),
        ("just text", "is no list of fields with values"),
        ("a: [1", "is no YAML (line 3)"),
        ("a: b: c", "is no YAML (line 2)"),
        ("a: 'x", "is no YAML (line 3)"),
        ("\ta: 1", "is no YAML (line 2)"),
        ("a: \x07", "is no YAML"),
        ("a: 1\n--- b", "is more than one plain document"),
        ("%YAML 1.1\n--- {a: 1}", "is more than one plain document"),
        ("%TAG ! tag:x,1:\n--- {a: 1}", "is more than one plain document"),
        ("%YAML 1.1", "is no YAML (line 3)"),
        ("a: " + "[" * (MAX_LEVELS + 1), f"is nested deeper than {MAX_LEVELS} levels"),
        ("a: " + "[" * 30_000, f"is nested deeper than {MAX_LEVELS} levels"),
        ("a: " + "{b: " * 10_000, f"is nested deeper than {MAX_LEVELS} levels"),
        ("? " * 10_000, "has a list or a map for the name of a field"),
    ],
)
def test_what_is_not_taken_is_named(yaml: str, reason: str) -> None:
    assert _reason(yaml) == reason


def test_front_matter_that_is_not_utf_8_is_not_guessed_at() -> None:
    assert read_front_matter(b"---\na: \xff\n---\n").reason == "is not UTF-8"


def test_front_matter_has_an_end_within_bounds() -> None:
    long = b"---\n" + b"a: 1\n" * 20_000

    assert (
        read_front_matter(b"---\na: 1\n").reason == "has no line of dashes at its end"
    )
    assert read_front_matter(b"---").fields == pmap()
    assert read_front_matter(long + b"---\n").reason == (
        f"is over {MAX_FRONT_MATTER_BYTES:,} bytes long"
    )


def test_what_follows_front_matter_is_not_looked_at() -> None:
    data = b"---\na: 1\n---\n" + b"\xff" * (1 << 20)

    assert read_front_matter(data).fields["a"].value == 1

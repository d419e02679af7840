"""Text of unknown origin on its way to a terminal."""

from __future__ import annotations

import sys
import unicodedata

import pytest

from msdcomp.safetext import MAX_TEXT, is_capability_id, safe, unsafe_characters


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain words", "plain words"),
        ("one\ntwo\r\nthree\tfour", "one two three four"),
        ("run `rm -rf /` now ``x``", "run rm -rf / now x"),
        ("a\x00b\x07c\x1b[31mred", "a b c [31mred"),
        ("a\x85b\x9bc\xa0d\u2028e\u200bf", "a b c d e f"),
        ("\u202eevil\u2066x", "evil x"),
        ("\ud800half", "half"),
        ("tags \U000e0041\U000e0042 hide", "tags hide"),
        ("caf\u00e9 \u5b57 \U0001f600", "caf\u00e9 \u5b57 \U0001f600"),
        (42, "42"),
        (None, "None"),
        ("", ""),
        (" \n ", ""),
    ],
)
def test_text_ends_up_on_one_line_without_orders(text: object, shown: str) -> None:
    assert safe(text) == shown


def test_the_cut_comes_after_the_cleaning() -> None:
    assert safe("\n" * 200 + "x" * 400) == "x" * MAX_TEXT
    assert safe("z" * 299 + "\n tail") == "z" * 299 + " "


def test_a_limit_is_a_limit() -> None:
    assert safe("abcdef", 3) == "abc"


def test_megabytes_are_not_scanned_whole() -> None:
    assert safe("\n" * 10_000_000 + "x") == ""


def test_no_control_or_formatting_character_of_unicode_survives() -> None:
    survivors = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
        and character != " "
        and safe(f"a{character}b") != "a b"
    ]

    assert survivors == []


def test_unsafe_characters_are_replaced_one_by_one() -> None:
    assert unsafe_characters("a\n\n\u2028b`", lambda c: f"<{ord(c):x}>") == (
        "a<a><a><2028>b`"
    )


@pytest.mark.parametrize("text", ["a", "anchor", "a-1", "x" * 100])
def test_ids_that_can_be_typed(text: str) -> None:
    assert is_capability_id(text)


@pytest.mark.parametrize(
    "text",
    ["", "Anchor", "9a", "-a", "a_b", "a.b", "a b", "a\n", "a;rm", "\u00e9", "x" * 101],
)
def test_ids_that_cannot(text: str) -> None:
    assert not is_capability_id(text)

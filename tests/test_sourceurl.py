"""The name of a host, as it is compared."""

from __future__ import annotations

import pytest

from msdcomp.sourceurl import plain_host


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("H.Example", "h.example"),
        ("h.example.", "h.example"),
        ("localhost", "localhost"),
        ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("a_b.example", "a_b.example"),
        ("10.0.0.1", "10.0.0.1"),
        ("a." * 126 + "b", "a." * 126 + "b"),
        ("a." * 126 + "b.", "a." * 126 + "b"),
    ],
)
def test_a_host_has_one_name_to_compare(text: str, name: str) -> None:
    assert plain_host(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "h..example",
        "h.example..",
        ".h.example",
        "*.h.example",
        "-h.example",
        "h-.example",
        "h.example:443",
        "https://h.example",
        "h.example/",
        "me@h.example",
        " h.example",
        "h.example\n",
        "h example",
        "::1",
        "[::1]",
        "m\u00fcnchen.example",
        # A sign whose small letter is the k of ASCII.
        "\u212a.example",
        "a." * 127 + "b",
        "a" * 254,
    ],
)
def test_what_is_no_plain_name_of_a_host_has_none(text: str) -> None:
    assert plain_host(text) is None

"""The text of a store: one that can be read again, or none."""

from __future__ import annotations

import math
from typing import Any

import pytest

from msdcomp.edge.files import MAX_FILE_BYTES, FileFault
from msdcomp.edge.storetext import left_as_it_is, render, timestamp


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_store_is_indented_ascii_and_ends_its_last_line() -> None:
    text = render({"é": ["\udcff"]})
    assert text == b'{\n  "\\u00e9": [\n    "\\udcff"\n  ]\n}\n'


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, nested(100_000)])
def test_what_no_json_can_hold_is_refused(value: Any) -> None:
    fault = render({"x": value})
    assert isinstance(fault, FileFault)
    assert fault.code == "damaged"


def test_a_store_is_at_most_as_long_as_what_is_read() -> None:
    frame = render({"x": ""})
    assert isinstance(frame, bytes)
    longest = render({"x": "y" * (MAX_FILE_BYTES - len(frame))})
    assert isinstance(longest, bytes)
    assert len(longest) == MAX_FILE_BYTES
    assert render({"x": "y" * (MAX_FILE_BYTES - len(frame) + 1)}) == FileFault(
        "too-large", "would be larger than 8,388,608 bytes"
    )


def test_a_time_is_told_in_utc_to_the_second() -> None:
    assert timestamp(lambda: 1767225599.99) == "2025-12-31T23:59:59Z"


def test_a_refusal_says_what_to_do() -> None:
    fault = left_as_it_is(FileFault("damaged", "holds no records"), "mend it")
    assert fault == FileFault(
        "damaged", "holds no records; it is left as it is: mend it"
    )

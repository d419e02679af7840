"""Configuration files are layers, and what is wrong with one is told with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from msdcomp.configlayers import Origin, Unreadable, lookup
from msdcomp.edge.config import read_layer, read_layers
from tests.layouts import put, write


def _reason(path: Path) -> str:
    layer = read_layer(str(path))
    assert isinstance(layer, Unreadable)
    return layer.reason


def test_no_file_is_no_layer(tmp_path: Path) -> None:
    assert read_layer(str(tmp_path / "config.json")) is None
    assert read_layer(str(tmp_path / "folder" / "config.json")) is None


def test_a_sound_file_is_its_object(tmp_path: Path) -> None:
    value = {"a": {"b": [1, 2.5, 2**53, "\N{GRINNING FACE}", None, True]}}
    write(tmp_path / "config.json", json.dumps(value))
    assert read_layer(str(tmp_path / "config.json")) == value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "line 1, column 1: expected a value, got the end"),
        ("{\n  'a': 1}", "line 2, column 3: "),
        ('{\n  "a": 1,\n}', "line 3, column 1: "),
        ('{"a": 1e400}', "line 1, column 7: a number must be finite, got 1e400"),
        ('{"a": -1e400}', "line 1, column 7: a number must be finite, got -1e400"),
        ('{"a": NaN}', "line 1, column 7: a number must be finite, got NaN"),
        (
            '{"a":\n12345678901234567890123}',
            "line 2, column 1: an integer must lie within 2^53, got 12345",
        ),
        ('{"a": "\\ud800"}', "line 1, column 7: a string must hold whole characters"),
        ('{"a": 1, "a": 2}', "line 1, column 10: "),
        (b'{"a": "\xff"}', "line 1, column 8: the text must be UTF-8, got the byte"),
        (b"\xef\xbb\xbf{}", "line 1, column 1: "),
        ('{"a": ' + "[" * 200 + "]" * 200 + "}", "line 1, column 206: "),
        ("[]", "it holds JSON, but not one object"),
        ("null", "it holds JSON, but not one object"),
    ],
)
def test_a_damaged_file_says_what_and_where(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert _reason(path).startswith(reason)


def test_further_faults_are_counted(tmp_path: Path) -> None:
    write(tmp_path / "config.json", '{"a": 1e400, "b": 1e400, "c": NaN}')
    assert _reason(tmp_path / "config.json").endswith(" (and 2 more)")


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"dir": True}, "not a regular file"),
        ({"fifo": True}, "not a regular file"),
        ({"symlink": "/dev/zero"}, "not a regular file"),
        ({"symlink": "config.json"}, "a symbolic link that cannot be followed"),
        ({"pad": {"json": {}, "bytes": 9_000_000}}, "larger than 8,388,608 bytes"),
    ],
)
def test_what_is_no_readable_file_says_why(
    tmp_path: Path, spec: object, reason: str
) -> None:
    put(tmp_path / "config.json", spec)
    assert _reason(tmp_path / "config.json") == reason


def test_the_file_given_comes_before_that_of_the_project(tmp_path: Path) -> None:
    write(tmp_path / ".planning" / "config.json", '{"a": 1, "b": 1}')
    write(tmp_path / "given.json", '{"a": 2}')
    layers = read_layers(str(tmp_path), str(tmp_path / "given.json"))
    found = [lookup(key, layers, {}) for key in "abc"]
    assert [(f.value, f.origin) for f in found] == [
        (2, Origin.EXPLICIT),
        (1, Origin.PROJECT),
        (None, Origin.ABSENT),
    ]


def test_a_file_that_is_asked_for_must_be_there(tmp_path: Path) -> None:
    layers = read_layers(None, os.fspath(tmp_path / "absent.json"))
    assert layers.explicit == Unreadable("there is no such file")
    assert layers.project is None

"""Configuration files are layers, and what is wrong with one is told with its place."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from msdcomp.configlayers import Origin, Unreadable, lookup
from msdcomp.edge.config import read_layer, read_layers, workstream_file
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


# Workstreams.


@pytest.fixture(autouse=True)
def _no_project_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MSD_PROJECT", raising=False)


def test_the_file_of_a_workstream_comes_between_the_given_one_and_the_projects(
    tmp_path: Path,
) -> None:
    file = ".planning/workstreams/tides/config.json"
    write(tmp_path / ".planning" / "config.json", '{"a": 1, "b": 1, "c": 1}')
    write(tmp_path / file, '{"a": 2, "b": 2}')
    write(tmp_path / "given.json", '{"a": 3}')
    layers = read_layers(str(tmp_path), str(tmp_path / "given.json"), "tides")
    found = [lookup(key, layers, {}) for key in "abcd"]
    assert [(f.value, f.origin) for f in found] == [
        (3, Origin.EXPLICIT),
        (2, Origin.WORKSTREAM),
        (1, Origin.PROJECT),
        (None, Origin.ABSENT),
    ]
    assert found[1].file == file
    assert read_layers(str(tmp_path)).workstream is None


def test_a_repository_of_several_projects_names_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MSD_PROJECT", "harbour")
    write(tmp_path / ".planning/harbour/workstreams/tides/config.json", '{"a": 1}')
    assert read_layers(str(tmp_path), workstream="tides").workstream == {"a": 1}
    assert workstream_file("tides") == (
        ".planning/harbour/workstreams/tides/config.json"
    )
    monkeypatch.setenv("MSD_PROJECT", "")
    assert workstream_file("tides") == ".planning/workstreams/tides/config.json"


def test_a_workstream_without_a_file_sets_nothing(tmp_path: Path) -> None:
    (tmp_path / ".planning/workstreams/tides").mkdir(parents=True)
    assert read_layers(str(tmp_path), workstream="tides").workstream is None


def _stream_reason(project: Path | None, name: str = "tides") -> str:
    path = None if project is None else str(project)
    layer = read_layers(path, workstream=name).workstream
    assert isinstance(layer, Unreadable)
    return layer.reason


def test_a_workstream_that_is_not_there_is_no_silent_fallback(tmp_path: Path) -> None:
    write(tmp_path / ".planning" / "config.json", '{"a": 1}')
    assert _stream_reason(tmp_path) == "there is no such workstream"
    layers = read_layers(str(tmp_path), workstream="tides")
    assert lookup("a", layers, {}).origin is Origin.UNREADABLE
    assert _stream_reason(None) == "there is no project that could have workstreams"
    assert _stream_reason(tmp_path / "gone") == "no such file"


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "-x", "a\n", "a\0", "\u00e9"],
)
def test_a_name_that_could_lead_elsewhere_is_none(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _stream_reason(tmp_path, name).startswith("the workstream has no plain name")
    if name and "\0" not in name:
        monkeypatch.setenv("MSD_PROJECT", name)
        assert _stream_reason(tmp_path).startswith("$MSD_PROJECT is no plain name")


@pytest.mark.parametrize(
    ("place", "target"),
    [
        (".planning/workstreams/tides/config.json", "outside/config.json"),
        (".planning/workstreams/tides", "outside"),
        (".planning/workstreams", "streams"),
        (".planning", "planning"),
    ],
)
def test_no_link_leads_out_of_the_project(
    tmp_path: Path, place: str, target: str
) -> None:
    for folder in ("outside", "streams/tides", "planning/workstreams/tides"):
        write(tmp_path / folder / "config.json", '{"a": 1}')
    project = tmp_path / "project"
    (project / place).parent.mkdir(parents=True)
    (project / place).symlink_to(tmp_path / target)
    assert _stream_reason(project) == "leads out of the folder"


def test_a_link_inside_of_the_project_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "shared.json", '{"a": 1}')
    put(
        tmp_path / ".planning/workstreams/tides/config.json",
        {"symlink": "../../../shared.json"},
    )
    assert read_layers(str(tmp_path), workstream="tides").workstream == {"a": 1}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ("{", "line 1, column 2: "),
        ("[]", "it holds JSON, but not one object"),
        ({"fifo": True}, "not a regular file"),
        ({"dir": True}, "not a regular file"),
        ({"pad": {"json": {}, "bytes": 9_000_000}}, "larger than 8,388,608 bytes"),
    ],
)
def test_a_damaged_workstream_says_what_is_wrong(
    tmp_path: Path, spec: object, reason: str
) -> None:
    put(tmp_path / ".planning/workstreams/tides/config.json", spec)
    assert _stream_reason(tmp_path).startswith(reason)

"""`msd config` as its users meet it, and in step with what the loop does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Finished, Msd, feature, install

KEY = "tide.on"
SLICES = {
    KEY: {"type": "boolean", "default": True, "description": "Look at the tide."},
    "tide.kind": {
        "type": "enum",
        "values": ["neap", "spring"],
        "default": "neap",
        "description": "Which tide.",
    },
}


@pytest.fixture(autouse=True)
def _no_project_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MSD_PROJECT", raising=False)


@pytest.fixture
def config(msd: Msd, home: Path, project: Path) -> Msd:
    """Run `msd config` where an overlay has two slices and a gate."""
    gate = {
        "point": "ship:pre",
        "check": {"query": "a.b"},
        "blocking": True,
        "onError": "halt",
        "when": KEY,
    }
    install(home, feature("tides", config=SLICES, gates=[gate]))

    def run(*arguments: str | Path) -> Finished:
        return msd("config", *arguments, "--home", home, "--project", project)

    return run


def _file(project: Path, content: Any, stream: str | None = None) -> Path:
    folder = project / ".planning" / (f"workstreams/{stream}" if stream else "")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_get_prints_json_and_nothing_else(config: Msd, project: Path) -> None:
    assert config("get", KEY).out == "true\n"
    _file(project, {"tide": {"kind": "spring"}, "mode": {"b": [1, "\u202e"]}})
    assert config("get", "tide.kind").out == '"spring"\n'
    found = config("get", "mode")
    assert (found.code, found.out) == (0, '{"b": [1, "\\u202e"]}\n')
    assert found.err == ""


def test_get_of_nothing_fails_and_says_why(config: Msd, project: Path) -> None:
    absent = config("get", "mode")
    assert (absent.code, absent.out) == (1, "")
    assert absent.err == "msd: warning: mode is not set, and has no default\n"
    slip = config("get", "tide.onn")
    assert (slip.code, slip.out) == (1, "")
    assert "nobody declares tide.onn; did you mean tide.on?" in slip.err
    _file(project, {"zz": 1})
    strange = config("get", "zz")
    assert (strange.code, strange.out) == (0, "1\n")
    assert strange.err == "msd: warning: nobody declares zz\n"
    _file(project, "{")
    unknown = config("get", KEY)
    assert (unknown.code, unknown.out) == (1, "")
    assert "could not check tide.on" in unknown.err
    assert "line 1, column 2" in unknown.err


def test_origin_tells_the_whole_chain(config: Msd, project: Path) -> None:
    _file(project, {"tide": {"on": True}})
    _file(project, {"tide": {"on": "off"}}, "spring")
    given = project / "given.json"
    given.write_text('{"tide": {"on": false}}')
    told = config("origin", KEY, "--ws", "spring", "--config", given)
    assert told.code == 0
    assert told.out == (
        "tide.on: false, from the configuration given\n"
        '  over "off", from .planning/workstreams/spring/config.json\n'
        "  over true, from .planning/config.json\n"
        "  over true, from the default\n"
        "  of tides, takes true or false\n"
        "  Look at the tide.\n"
        "  counts as off\n"
    )
    wire = config("origin", KEY, "--ws", "spring", "--json").json
    assert (wire["value"], wire["origin"], wire["on"], wire["fits"]) == (
        "off",
        "workstream",
        False,
        False,
    )
    assert [below["origin"] for below in wire["overrides"]] == ["project", "default"]
    assert (wire["owner"], wire["central"], wire["type"]) == ("tides", False, "boolean")
    assert [p["code"] for p in wire["problems"]] == ["config-type-mismatch"]


def test_origin_of_what_cannot_be_known(config: Msd, project: Path) -> None:
    _file(project, "[]")
    told = config("origin", KEY)
    assert told.code == 1
    assert "could not check: .planning/config.json cannot be read" in told.out
    assert "counts as neither on nor off" in told.out
    _file(project, "{}")
    assert "not set, and there is no default" in config("origin", "mode").out
    assert "the host's own, takes any JSON" in config("origin", "mode").out
    slip = config("origin", "tide.onn")
    assert "nobody declares it; did you mean tide.on?" in slip.out
    assert "nobody declares it\n" in config("origin", "quite.another").out


def test_list_shows_values_and_what_is_wrong(config: Msd, project: Path) -> None:
    _file(project, {"tide": {"on": "no", "knid": 1}, "mode": "x" * 500})
    told = config("list")
    assert told.code == 0
    rows = {line.split()[0]: line.split() for line in told.out.splitlines() if line}
    assert rows["tide.on"][1:] == ["project", "tides", '"no"']
    assert rows["tide.kind"][1:] == ["default", "tides", '"neap"']
    assert "git.base_branch" not in rows
    assert "nobody declares tide.knid" in told.out
    assert "help: Did you mean tide.kind?" in told.out
    assert "it counts as off" in told.out
    everything = config("list", "--all", "--json").json
    assert {"git.base_branch", KEY} <= {row["key"] for row in everything["keys"]}
    assert len(everything["problems"]) == 2


def test_list_of_a_sound_project_ends_with_its_counts(config: Msd) -> None:
    told = config("list")
    assert told.code == 0
    assert told.out.endswith(" keys, 0 problems\n")


def test_a_home_that_is_none_is_a_wrong_use(msd: Msd, project: Path) -> None:
    told = msd("config", "get", KEY, "--home", project / "none")
    assert (told.code, told.out) == (2, "")


def test_list_of_a_damaged_file_knows_nothing(config: Msd, project: Path) -> None:
    _file(project, "{")
    told = config("list", "--json")
    assert told.code == 1
    assert {row["origin"] for row in told.json["keys"]} == {"unreadable"}
    assert [p["code"] for p in told.json["problems"]] == ["config-unreadable"]
    assert "error[config-unreadable]" in config("list").out


def test_set_changes_the_file_and_shows_the_effect(config: Msd, project: Path) -> None:
    path = _file(project, '{\n\t"mode": 1.50\n}\n')
    told = config("set", KEY, "false")
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "tide.on is now false, from .planning/config.json\n  counts as off\n"
    )
    assert path.read_text() == (
        '{\n\t"mode": 1.50,\n\t"tide": {\n\t\t"on": false\n\t}\n}\n'
    )
    again = config("set", KEY, "false")
    assert again.out.endswith(".planning/config.json held that already\n")
    gone = config("set", KEY, "--unset", "--json")
    assert gone.json["written"] is True
    assert gone.json["effects"][0]["origin"] == "default"
    assert path.read_text() == '{\n\t"mode": 1.50\n}\n'


@pytest.mark.parametrize(
    ("key", "text", "held"),
    [
        ("tide.kind", "spring", "spring"),
        ("tide.kind", '"spring"', "spring"),
        ("mode", "5", 5),
        ("mode", '"5"', "5"),
        ("mode", "{'a': 1}", "{'a': 1}"),
        ("mode", "NaN", "NaN"),
        ("mode", '{"a": [1, null]}', {"a": [1, None]}),
        ("mode", "", ""),
        ("mode", "null", None),
    ],
)
def test_a_value_is_json_or_else_a_text(
    config: Msd, project: Path, key: str, text: str, held: Any
) -> None:
    assert config("set", key, text).code == 0
    document = json.loads((project / ".planning/config.json").read_text())
    assert document == ({"tide": {"kind": held}} if "." in key else {key: held})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([KEY, "yes"], 'tide.on takes true or false, got the text "yes"'),
        (["tide.kind", "high"], 'takes one of "neap", "spring", got the text "high"'),
        (["tide.onn", "true"], "nobody declares tide.onn. Did you mean tide.on?"),
        (["tide.on.x", "1"], "tide.on.x lies below tide.on, a key of tides"),
        (["tide", "{}"], "tide is no key, but an object with keys in it"),
        (["a\x1b[31m..b", "1"], '"a [31m..b" is no dotted key'),
        (["mode", "1", "--ws", "../x"], "the workstream has no plain name"),
        (["mode", "1", "--ws", "none"], "there is no such workstream"),
    ],
)
def test_a_refusal_writes_nothing(
    config: Msd, project: Path, arguments: list[str], told: str
) -> None:
    refused = config("set", *arguments)
    assert (refused.code, refused.out) == (1, "")
    assert told in refused.err
    assert list((project / ".planning").iterdir()) == []
    wire = config("set", *arguments, "--json")
    assert wire.code == 1
    assert wire.json["effects"] == []
    assert wire.json["problems"]


def test_a_damaged_file_is_left_as_it_is(config: Msd, project: Path) -> None:
    path = _file(project, '{"a": 1,}')
    refused = config("set", KEY, "false")
    assert refused.code == 1
    assert ".planning/config.json is left as it is: line 1, column 9" in refused.err
    assert path.read_text() == '{"a": 1,}'


def test_a_key_that_nobody_declares_can_be_forced(config: Msd, project: Path) -> None:
    assert config("set", "later.on", "true").code == 1
    assert config("set", "later.on", "true", "--force").code == 0
    assert json.loads((project / ".planning/config.json").read_text()) == {
        "later": {"on": True}
    }


@pytest.mark.parametrize("arguments", [[KEY], [KEY, "true", "--unset"]])
def test_set_takes_either_a_value_or_unset(
    config: Msd, project: Path, arguments: list[str]
) -> None:
    wrong = config("set", *arguments)
    assert (wrong.code, wrong.out) == (2, "")
    assert "expected either VALUE or --unset" in wrong.err
    assert list((project / ".planning").iterdir()) == []


def test_a_workstream_is_set_and_read_by_its_name(config: Msd, project: Path) -> None:
    (project / ".planning/workstreams/spring").mkdir(parents=True)
    assert config("set", KEY, "false", "--workstream", "spring").code == 0
    assert config("get", KEY).out == "true\n"
    assert config("get", KEY, "--workstream", "spring").out == "false\n"


@pytest.mark.parametrize("project_value", [None, True, False, "off", 1, "{"])
@pytest.mark.parametrize("stream_value", [None, True, False, "no", "{"])
def test_the_loop_does_what_config_says(
    config: Msd,
    msd: Msd,
    home: Path,
    project: Path,
    project_value: Any,
    stream_value: Any,
) -> None:
    (project / ".planning/workstreams/spring").mkdir(parents=True)
    for value, stream in ((project_value, None), (stream_value, "spring")):
        if value == "{":
            _file(project, "{", stream)
        elif value is not None:
            _file(project, {"tide": {"on": value}}, stream)
    where = ("--home", home, "--project", project, "--ws", "spring")

    on = config("origin", KEY, "--ws", "spring", "--json").json["on"]

    hooks = msd("loop", "render-hooks", "ship:pre", "--active-cap", "tides", *where)
    # A gate that could not be checked is kept.
    assert hooks.out == ("false\n" if on is False else "true\n")
    assert ("could not check the gate of tides" in hooks.err) is (on is None)

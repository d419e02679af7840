"""`msd capability set`: all of it or nothing, and what has come of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.cli import switching
from msdcomp.edge.files import FileFault

from .conftest import GATE, Msd, feature, install

SWITCH = {"type": "boolean", "default": False, "description": "A switch."}


@pytest.fixture
def config(project: Path) -> Path:
    """The project's configuration file."""
    return project / ".planning" / "config.json"


@pytest.fixture
def places(home: Path, project: Path) -> list[str]:
    """Where to look, with an overlay that has two switches and a key of its own."""
    text = {"type": "string", "default": "a", "description": "A name."}
    install(
        home,
        feature(
            "own",
            config={"own.on": SWITCH, "own.go": SWITCH, "own.name": text},
            activationKey="own.on",
            gates=[{**GATE, "when": "own.go"}],
        ),
    )
    install(home, feature("other", config={"other.on": SWITCH}))
    return ["--home", str(home), "--project", str(project)]


def read(file: Path) -> Any:
    return json.loads(file.read_text("utf-8"))


def test_switches_are_set_as_the_overlay_model_says(
    msd: Msd, places: list[str], config: Path
) -> None:
    config.write_text('{\n    "theirs" : 1.0\n}\n', "utf-8")

    done = msd(
        *("capability", "set", "own", "--gate", "own.on=true"),
        *("--gate", "own.go=true", *places),
    )

    assert (done.code, done.err) == (0, "")
    assert '"theirs" : 1.0' in config.read_text("utf-8")
    assert read(config)["own"] == {"on": True, "go": True}
    assert "own.on is now true, from .planning/config.json\n" in done.out
    assert "own.go is now true, from .planning/config.json\n" in done.out
    assert "own: active\n" in done.out
    assert "gate at ship:pre: runs; its switch own.go is on" in done.out


def test_json_has_each_key_and_the_state(msd: Msd, places: list[str]) -> None:
    done = msd(
        "capability", "set", "own", "--gate", "own.on=true", "--on", *places, "--json"
    )

    told = done.json
    assert sorted(told) == [
        "changed",
        "config",
        "file",
        "lostGates",
        "notes",
        "profile",
        "runtime",
        "state",
    ]
    (effect,) = told["config"]["effects"]
    assert (effect["key"], effect["value"], effect["took"]) == ("own.on", True, True)
    assert told["state"]["active"] is True
    assert [state["id"] for state in told["changed"]] == ["own"]
    assert told["notes"] == ["own: every hook of it waits for a key that is off"]


def test_a_gate_that_is_switched_off_is_named(msd: Msd, places: list[str]) -> None:
    on = ("--gate", "own.on=true", "--gate", "own.go=true")
    msd("capability", "set", "own", *on, *places)

    done = msd("capability", "set", "own", "--gate", "own.go=false", *places)

    assert "the blocking gate of own at ship:pre no longer runs" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["--on"],
        ["--enable"],
        ["--off"],
        ["--disable"],
        ["--off", "--gate", "own.on=true"],
    ],
)
def test_it_can_be_shown_and_held_back(
    msd: Msd, places: list[str], words: list[str]
) -> None:
    done = msd("capability", "set", "own", *words, *places, "--json")

    assert done.code == 0
    assert done.json["state"]["surfaced"] is (words[0] in ("--on", "--enable"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to set"),
        (["--on", "--off"], "not allowed with"),
        (["--gate", "own.on"], "expected KEY=true or KEY=false"),
        (["--gate", "own.on=yes"], "expected KEY=true or KEY=false"),
        (["--gate", "own.on=True"], "expected KEY=true or KEY=false"),
        (["--gate", "=true"], "expected KEY=true or KEY=false"),
        (["--gate", "own.on=true\n"], "expected KEY=true or KEY=false"),
        (["--gate", "own.on=true", "--gate", "own.on=false"], "given twice"),
        (["--gate", "own.name=true"], "own.name"),
        (["--gate", "other.on=true"], "other.on"),
        (["--gate", "own.onn=true"], "own.onn"),
        (["--gate", "__proto__.x=true"], "__proto__"),
        (["--gate", "own.on=true", "--gate", "\x1b[2J=true"], "switches of own"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_written(
    msd: Msd,
    places: list[str],
    home: Path,
    config: Path,
    words: list[str],
    said: str,
) -> None:
    done = msd("capability", "set", "own", *words, *places)

    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "\x1b" not in done.err
    assert not config.exists()
    assert not (home / ".claude").exists()


def test_an_unknown_id_is_refused_with_a_suggestion(
    msd: Msd, places: list[str], config: Path
) -> None:
    done = msd("capability", "set", "onw", "--gate", "own.on=true", *places)

    assert done.code == 2
    assert "did you mean own?" in done.err
    assert not config.exists()


def test_with_choices_that_cannot_be_read_no_switch_is_set(
    msd: Msd, places: list[str], home: Path, config: Path
) -> None:
    (home / ".claude").mkdir()
    (home / ".claude" / ".msd-surface.json").write_text("[]", "utf-8")

    done = msd("capability", "set", "own", "--on", "--gate", "own.on=true", *places)

    assert (done.code, done.out) == (2, "")
    file = home / ".claude" / ".msd-surface.json"
    assert done.err == f"msd: error: the surface: {file}: not a JSON object\n"
    assert not config.exists()


def test_with_a_configuration_that_cannot_be_read_nothing_is_chosen(
    msd: Msd, places: list[str], home: Path, config: Path
) -> None:
    config.write_text("{", "utf-8")

    done = msd("capability", "set", "own", "--off", "--gate", "own.on=true", *places)

    assert (done.code, done.out) == (2, "")
    assert "left as it is" in done.err
    assert config.read_text("utf-8") == "{"
    assert not (home / ".claude").exists()


def test_showing_what_the_runtime_excludes_is_no_success(
    msd: Msd, home: Path, places: list[str]
) -> None:
    only = {"supported": ["claude"], "unsupported": []}
    install(home, feature("tied", runtimeCompat=only))

    done = msd("capability", "set", "tied", "--on", *places, "--runtime", "codex")

    assert done.code == 1
    assert "msd: note: tied: it is not made for codex\n" in done.err


def test_a_surface_that_fails_late_leaves_no_doubt_about_what_was_written(
    msd: Msd, places: list[str], config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = FileFault("busy", "another command is at it")
    monkeypatch.setattr(switching, "change_choice", lambda *_: busy)

    done = msd("capability", "set", "own", "--off", "--gate", "own.on=true", *places)

    assert (done.code, done.out) == (2, "")
    assert "the surface was not changed: " in done.err
    assert ".planning/config.json has been changed all the same" in done.err
    assert read(config) == {"own": {"on": True}}
    alone = msd("capability", "set", "own", "--off", *places)
    assert alone.code == 2
    assert "all the same" not in alone.err


def test_a_switch_of_a_workstream_counts_there_and_nowhere_else(
    msd: Msd, places: list[str], project: Path
) -> None:
    (project / ".planning" / "workstreams" / "own").mkdir(parents=True)
    named = ("--workstream", "own")
    msd("capability", "set", "own", "--gate", "own.on=true", *named, *places)

    told = msd("capability", "state", "own", *named, *places)
    assert told.code == 0
    assert msd("capability", "state", "own", *places).code == 1


def test_an_overlay_of_a_project_is_set_like_any_other(
    msd: Msd, project: Path, places: list[str]
) -> None:
    install(project, feature("theirs", config={"theirs.on": SWITCH}))
    msd("capability", "trust", "theirs", "--yes", *places)

    done = msd("capability", "set", "theirs", "--gate", "theirs.on=true", *places)

    assert done.code == 0
    assert "theirs.on is now true" in done.out


def test_a_program_is_told_what_was_refused(msd: Msd, places: list[str]) -> None:
    refused = msd(
        "capability", "set", "ui", "--gate", "no.such=true", "--json", *places
    )
    assert refused.code == 2
    assert refused.json["problems"]
    assert refused.json["written"] is False

    nobody = msd("capability", "state", "no-such-one", "--json", *places)
    assert (nobody.code, nobody.json) == (1, [])

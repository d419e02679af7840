"""`msd loop render-hooks`: hooks on stdout, missing gates on stderr in every mode."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from .conftest import EXAMPLES, GATE, Msd, feature, install

EXAMPLE = ("--home", EXAMPLES / "home", "--project", EXAMPLES / "project")


def test_the_envelope_has_hooks_text_and_warnings(msd: Msd) -> None:
    done = msd("loop", "render-hooks", "ship:pre", "--json", *EXAMPLE)

    assert done.code == 0
    assert set(done.json) == {"point", "activeHooks", "rendered", "warnings"}
    assert done.json["point"] == "ship:pre"
    assert [hook["capId"] for hook in done.json["activeHooks"]] == ["security"]
    (warning,) = done.json["warnings"]
    assert warning["capId"] == "deploy-freeze"
    assert warning["remediation"] == "msd capability remove deploy-freeze"


@pytest.mark.parametrize("mode", [(), ("--json",), ("--active-cap", "security")])
def test_a_missing_gate_is_on_stderr_in_every_mode(
    msd: Msd, mode: tuple[str, ...]
) -> None:
    done = msd("loop", "render-hooks", "ship:pre", *mode, *EXAMPLE)

    assert done.code == 0
    (line,) = done.err.splitlines()
    assert line.startswith("msd: warning: capability deploy-freeze was left out, ")
    assert "blocking gate at ship:pre is not enforced" in line
    assert "msd capability remove deploy-freeze" in line


def test_a_gate_that_is_off_here_is_not_missed(
    msd: Msd, home: Path, project: Path, tmp_path: Path
) -> None:
    slice_ = {"type": "boolean", "default": True, "description": "Enforce it."}
    install(
        home,
        feature(
            "anchor",
            engines={"msd": ">=9.0.0"},
            config={"anchor.on": slice_},
            gates=[{**GATE, "when": "anchor.on"}],
        ),
    )
    places = ("--home", home, "--project", project)
    off = tmp_path / "off.json"
    off.write_text('{"anchor": {"on": false}}', "utf-8")

    assert msd("loop", "render-hooks", "ship:pre", *places).err
    assert not msd("loop", "render-hooks", "ship:pre", "--config", off, *places).err


def test_text_is_the_markdown_that_is_dispatched(
    msd: Msd, home: Path, project: Path
) -> None:
    done = msd(
        "loop", "render-hooks", "verify:post", "--home", home, "--project", project
    )

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("### Step 1: skill:")


@pytest.mark.parametrize(("owner", "answer"), [("ui", "true\n"), ("tdd", "false\n")])
def test_active_cap_answers_with_one_word(
    msd: Msd, home: Path, project: Path, owner: str, answer: str
) -> None:
    done = msd(
        *("loop", "render-hooks", "plan:pre", "--active-cap", owner),
        *("--home", home, "--project", project),
    )

    assert (done.code, done.out) == (0, answer)


def test_the_project_configuration_counts_and_the_file_given_comes_first(
    msd: Msd, home: Path, project: Path, tmp_path: Path
) -> None:
    def write(path: Path, value: object) -> Path:
        path.write_text(json.dumps({"workflow": {"tdd_mode": value}}), "utf-8")
        return path

    command = ("loop", "render-hooks", "plan:pre", "--active-cap", "tdd")
    places = ("--home", home, "--project", project)
    write(project / ".planning" / "config.json", 1)

    assert msd(*command, *places).out == "true\n"
    off = write(tmp_path / "off.json", "off")
    assert msd(*command, "--config", off, *places).out == "false\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{\n", "line 2, column 1: "),
        ("[]", "it holds JSON, but not one object"),
        ('{"a": 1, "a": 2}', "line 1, column 10: "),
        ('{"a": 1e400}', "line 1, column 7: a number must be finite"),
    ],
)
def test_a_damaged_configuration_is_reported_and_keeps_the_gates(
    msd: Msd, home: Path, project: Path, text: str, reason: str
) -> None:
    (project / ".planning" / "config.json").write_text(text, "utf-8")

    done = msd(
        *("loop", "render-hooks", "ship:pre", "--json"),
        *("--home", home, "--project", project),
    )

    assert done.code == 0
    # One of the two is off by default: what cannot be known is not taken to be off.
    gates = [hook["capId"] for hook in done.json["activeHooks"]]
    assert gates == ["broken-windows", "security"]
    assert "could not check the gate of security at ship:pre" in done.err
    assert f"because .planning/config.json cannot be read ({reason}" in done.err


def test_a_configuration_file_that_is_asked_for_must_exist(
    msd: Msd, home: Path, project: Path, tmp_path: Path
) -> None:
    done = msd(
        *("loop", "render-hooks", "ship:pre", "--config", tmp_path / "absent.json"),
        *("--home", home, "--project", project),
    )

    assert "there is no such file" in done.err


def test_a_switched_off_capability_dispatches_nothing(
    msd: Msd, home: Path, project: Path
) -> None:
    slice_ = {"type": "boolean", "default": False, "description": "Use it."}
    overlay = feature(
        "anchor",
        config={"anchor.on": slice_},
        activationKey="anchor.on",
        gates=[GATE],
    )
    install(home, overlay)
    command = ("loop", "render-hooks", "ship:pre", "--active-cap", "anchor")
    places = ("--home", home, "--project", project)

    assert msd(*command, *places).out == "false\n"
    config: Any = {"anchor": {"on": True}}
    (project / ".planning" / "config.json").write_text(json.dumps(config), "utf-8")
    assert msd(*command, *places).out == "true\n"


def test_an_activation_key_of_the_wrong_type_is_reported_where_it_matters(
    msd: Msd, home: Path, project: Path
) -> None:
    config: Any = {"claude_orchestration": {"enabled": "yes"}}
    (project / ".planning" / "config.json").write_text(json.dumps(config), "utf-8")
    places = ("--home", home, "--project", project)

    assert (
        "claude_orchestration.enabled takes true or false"
        in msd("loop", "render-hooks", "plan:post", *places).err
    )
    assert not msd("loop", "render-hooks", "ship:pre", *places).err


def test_an_unknown_point_is_a_wrong_use_and_the_likely_one_is_named(msd: Msd) -> None:
    done = msd("loop", "render-hooks", "plan-pre", *EXAMPLE)

    assert (done.code, done.out) == (2, "")
    assert "Did you mean plan:pre?" in done.err


def test_a_fragment_cannot_speak_to_the_terminal(
    msd: Msd, home: Path, project: Path
) -> None:
    contribution = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"inline": "a\x1b[2Jb\u202ec"},
    }
    install(home, feature("anchor", contributions=[contribution]))

    done = msd("loop", "render-hooks", "plan:pre", "--home", home, "--project", project)

    assert "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c" in done.out


def test_a_gate_that_its_point_never_dispatches_is_loud(
    msd: Msd, home: Path, project: Path
) -> None:
    install(home, feature("anchor", gates=[{**GATE, "point": "verify:post"}]))

    done = msd(
        "loop", "render-hooks", "verify:post", "--home", home, "--project", project
    )

    assert done.code == 0
    assert done.err == (
        "msd: warning: the gate of anchor at verify:post is never checked: the host "
        "dispatches no gates there\n"
    )

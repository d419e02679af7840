"""W-24 to W-33, as far as they are about switches: what is off is off, and is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.hostile.ground import GATE, Ground, bundle
from tests.layouts import write

#: Where the gate of `GATE` stands.
POINT = "ship:pre"

SLICES = {
    "tide.gate": {"type": "boolean", "default": True, "description": "On or off."},
    "tide.name": {"type": "string", "default": "a", "description": "A name."},
}


@pytest.fixture
def gated(ground: Ground, tmp_path: Path) -> Ground:
    """A project with an overlay that has gates alone, and waits for a key."""
    gates = [{**GATE, "when": "tide.gate"}]
    source = bundle(tmp_path / "tide", gates=gates, config=SLICES)
    assert ground.capability("install", source, "--scope", "project", "--yes").code == 0
    return ground


def _hooks(ground: Ground) -> set[str]:
    found = ground.msd("loop", "render-hooks", POINT, "--json")
    return {hook["capId"] for hook in found.json["activeHooks"]}


@pytest.mark.parametrize("value", ["false", "off", " No "])
def test_w24_a_text_that_means_off_is_off_and_told(gated: Ground, value: str) -> None:
    assert "tide" in _hooks(gated)
    config = {"tide": {"gate": value}}
    write(gated.project / ".planning" / "config.json", json.dumps(config))

    told = gated.msd("loop", "render-hooks", POINT)

    assert "tide" not in _hooks(gated)
    assert "tide.gate takes true or false" in told.err
    state = gated.capability("state", "tide", "--json").json[0]
    assert [hook["active"] for hook in state["hooks"]] == [False]


def test_w25_what_has_gates_alone_can_be_disabled(gated: Ground) -> None:
    done = gated.capability("disable", "tide")

    assert done.code == 0
    assert "tide" not in _hooks(gated)
    assert gated.capability("state", "tide", "--json").json[0]["surfaced"] is False
    assert gated.capability("enable", "tide").code == 0
    assert "tide" in _hooks(gated)


@pytest.mark.parametrize("key", ["tide.name", "workflow.ui_phase", "no.such.key"])
def test_w25_no_gate_is_set_by_a_key_that_is_no_switch_of_it(
    gated: Ground, key: str
) -> None:
    config = gated.project / ".planning" / "config.json"

    done = gated.capability("set", "tide", "--gate", f"{key}=false")

    assert done.code == 2
    assert not config.exists()
    assert gated.capability("set", "tide", "--gate", "tide.gate=false").code == 0
    assert json.loads(config.read_text("utf-8")) == {"tide": {"gate": False}}
    assert "tide" not in _hooks(gated)


@pytest.mark.parametrize("verb", ["state", "list"])
def test_w26_an_unknown_runtime_is_a_wrong_use_and_no_stack_trace(
    gated: Ground, verb: str
) -> None:
    done = gated.capability(verb, "--runtime", "nowhere", "--json")

    assert done.code == 2
    assert "nowhere is no runtime" in done.err
    assert "Traceback" not in done.text


MALFORMED = [
    {"kind": "command-exit-zero"},
    {"kind": "command-exit-zero", "command": " "},
    {"kind": "artifact-frontmatter-equals", "artifact": "../x", "field": "a"},
]


@pytest.mark.parametrize("predicate", MALFORMED)
def test_w33_a_predicate_that_no_host_could_evaluate_is_no_manifest(
    ground: Ground, tmp_path: Path, predicate: dict[str, str]
) -> None:
    gates = [{**GATE, "check": {"predicate": predicate}}]
    source = bundle(tmp_path / "tide", gates=gates)

    done = ground.capability("install", source, "--yes", "--json")

    assert done.code == 1
    assert [block["code"] for block in done.json["blocks"]] == ["invalid-manifest"]
    asked = ("check", "predicate", "--predicate", json.dumps(predicate), "--json")
    answer = ground.msd(*asked)
    assert (answer.code, answer.json["result"]) == (1, "could-not-check")


def test_w33_the_kinds_of_the_document_are_evaluated(ground: Ground) -> None:
    write(ground.project / "PLAN.md", "plan")
    there = json.dumps({"kind": "artifact-exists", "artifact": "PLAN.md"})
    equal = json.dumps(
        {"kind": "config-equals", "key": "workflow.ui_phase", "equals": True}
    )

    for predicate in (there, equal):
        answer = ground.msd("check", "predicate", "--predicate", predicate, "--json")
        assert (answer.code, answer.json["result"]) == (0, "pass")

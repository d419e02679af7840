"""`--host-contract`: the loop of another host, in every verb where it matters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from msdcomp.host import HostContract

from .conftest import GATE, Msd, feature, install

SAID = {
    "point": "plan:pre",
    "into": "planner",
    "produces": [],
    "consumes": [],
    "fragment": {"inline": "Mind the tide."},
}


@pytest.fixture
def wire() -> dict[str, Any]:
    """The contract of MSD, to be changed."""
    return HostContract().to_wire()


@pytest.fixture
def places(home: Path, project: Path) -> tuple[str | Path, ...]:
    """Options that keep to the folders of the test."""
    return ("--home", home, "--project", project)


def save(folder: Path, wire: Any) -> Path:
    file = folder / "contract.json"
    file.write_text(json.dumps(wire), "utf-8")
    return file


VERBS = [
    ("compose",),
    ("explain", "anchor"),
    ("capability", "list"),
    ("capability", "state"),
    ("loop", "render-hooks", "plan:pre"),
    ("loop", "order", "plan:pre"),
    ("loop", "points"),
]


def _arguments(verb: tuple[str, ...], places: tuple[Any, ...]) -> tuple[Any, ...]:
    return verb if verb == ("loop", "points") else (*verb, *places)


@pytest.mark.parametrize("verb", VERBS)
def test_the_contract_of_msd_given_as_a_file_changes_nothing(
    msd: Msd,
    home: Path,
    places: tuple[Any, ...],
    wire: Any,
    tmp_path: Path,
    verb: tuple[str, ...],
) -> None:
    install(home, feature("anchor", contributions=[SAID]))
    file = save(tmp_path, wire)
    arguments = _arguments(verb, places)

    assert msd(*arguments, "--host-contract", file) == msd(*arguments)
    again = msd(*arguments, "--json", "--host-contract", file)
    assert again == msd(*arguments, "--json")


@pytest.mark.parametrize("verb", [*VERBS, ("validate",)])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "[unreadable] the host contract cannot be read: no such file"),
        ("[]", ":1:1: [wrong-type] the host contract must be an object"),
        ('{"kinds": 3}', ":1:11: [wrong-type] kinds must be an object, got 3 (/kinds)"),
        ("\x1b[2J", ":1:1: [json-syntax] "),
    ],
)
def test_a_faulty_contract_ends_every_verb_with_all_its_faults(
    msd: Msd,
    home: Path,
    places: tuple[Any, ...],
    tmp_path: Path,
    verb: tuple[str, ...],
    text: str | None,
    told: str,
) -> None:
    file = tmp_path / "contract.json"
    if text is not None:
        file.write_text(text, "utf-8")
    arguments = (*verb, home) if verb == ("validate",) else _arguments(verb, places)

    done = msd(*arguments, "--host-contract", file)

    assert (done.code, done.out) == (2, "")
    assert told in done.err
    for line in done.err.splitlines():
        assert line.startswith("msd: error: --host-contract: ")
        assert line.isprintable()


def test_a_role_that_the_host_does_not_have_leaves_an_overlay_out(
    msd: Msd, home: Path, places: tuple[Any, ...], wire: Any, tmp_path: Path
) -> None:
    install(home, feature("anchor", contributions=[SAID]))
    wire["phases"][1]["roles"] = ["researcher"]
    file = save(tmp_path, wire)
    option = ("--host-contract", file)

    assert msd("explain", "anchor", *places).code == 0
    told = msd("explain", "anchor", *places, *option).out
    assert "into must be a role published at plan:pre" in told
    state = ("capability", "state", "anchor")
    assert (msd(*state, *places).code, msd(*state, *places, *option).code) == (0, 1)
    listed = ("capability", "list", "--json")
    rows = {row["id"]: row for row in msd(*listed, *places, *option).json}
    assert (
        rows["anchor"]
        != {row["id"]: row for row in msd(*listed, *places).json}["anchor"]
    )
    assert msd("compose", *places).code == 0
    assert msd("compose", *places, *option).code == 1
    hooks = ("loop", "render-hooks", "plan:pre", "--active-cap", "anchor")
    assert msd(*hooks, *places).out == "true\n"
    assert msd(*hooks, *places, *option).out == "false\n"
    order = ("loop", "order", "plan:pre")
    assert "anchor" in msd(*order, *places).out
    assert "anchor" not in msd(*order, *places, *option).out
    manifest = home / ".msd" / "capabilities" / "anchor"
    assert msd("validate", manifest).code == 0
    refused = msd("validate", manifest, *option)
    assert refused.code == 1
    assert "role-not-published" in refused.out


def test_a_gate_at_a_point_that_dispatches_none_there_is_loud(
    msd: Msd, home: Path, places: tuple[Any, ...], wire: Any, tmp_path: Path
) -> None:
    install(home, feature("anchor", gates=[GATE]))
    wire["kinds"]["ship:pre"] = ["step"]
    option = ("--host-contract", save(tmp_path, wire))

    done = msd("loop", "render-hooks", "ship:pre", *places, *option)

    assert done.code == 0
    assert "the gate of anchor at ship:pre is never checked" in done.err
    assert not msd("loop", "render-hooks", "ship:pre", *places).err
    order = msd("loop", "order", "ship:pre", *places, *option).out
    assert "    never run: the host dispatches no gates here\n" in order
    assert "never run" not in msd("loop", "order", "ship:pre", *places).out


def test_several_processes_validate_by_the_same_contract(
    msd: Msd, home: Path, wire: Any, tmp_path: Path
) -> None:
    for name in ("anchor", "buoy"):
        install(home, feature(name, contributions=[SAID]))
    wire["phases"][1]["roles"] = ["researcher"]
    option = ("--host-contract", save(tmp_path, wire))

    alone = msd("validate", home, "--jobs", "1", "--json", *option)
    shared = msd("validate", home, "--jobs", "2", "--json", *option)

    assert alone == shared
    assert [p["code"] for p in alone.json["problems"]] == ["role-not-published"] * 2


def test_a_composition_of_the_usual_contract_is_not_taken_for_another(
    msd: Msd,
    home: Path,
    places: tuple[Any, ...],
    wire: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MSD_NO_CACHE", raising=False)
    install(home, feature("anchor", contributions=[SAID]))
    wire["phases"][1]["roles"] = ["researcher"]
    option = ("--host-contract", save(tmp_path, wire))

    codes = [
        msd("compose", *places, *more).code for more in ((), option, (), option, ())
    ]

    assert codes == [0, 1, 0, 1, 0]

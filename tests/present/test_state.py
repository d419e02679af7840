"""How the surface and the states look, and that nothing of any origin escapes."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from syrupy.assertion import SnapshotAssertion

from msdcomp.activation import ConfigLayers, Unreadable
from msdcomp.candidate import Candidate
from msdcomp.composition import Composition
from msdcomp.fold import compose
from msdcomp.present.page import Screen
from msdcomp.present.state import render_states, state_wire
from msdcomp.present.surface import render_surface, surface_wire
from msdcomp.state import State, states
from msdcomp.surface import Choice, Surface, surface
from tests.overlays import FIRST_PARTY, HOST, feature, gate, step, switch

PLACES = ["plan:pre", "plan:post"]
PLACE = {"type": "enum", "values": PLACES, "default": "plan:post", "description": "-"}


@pytest.fixture(scope="module")
def composition() -> Composition:
    """A first party, an overlay with every switch there is, and one left out."""
    return compose(
        FIRST_PARTY,
        [
            Candidate.read(
                feature(
                    "own",
                    tier="full",
                    skills=["own-go"],
                    config={"own.on": switch(), "own.go": switch(), "own.at": PLACE},
                    activationKey="own.on",
                    requires=["cap-ga"],
                    steps=[{**step("plan:pre", [], []), "pointFrom": "own.at"}],
                    gates=[gate("ship:pre", when="own.go")],
                )
            ),
            attrs.evolve(Candidate.read(feature("late")), pending=True),
        ],
        HOST,
    )


def held(
    composition: Composition, runtime: str | None = None, **fields: Any
) -> Surface:
    choice = Choice(**fields)
    return Surface(
        standings=surface(composition.registry, choice, runtime),
        choice=choice,
        runtime=runtime,
        file="/home/ada/.claude/.msd-surface.json",
    )


SURFACES: dict[str, dict[str, Any]] = {
    "everything": {},
    "disabled": {"disabled": frozenset({"own", "gone"})},
    "skill": {"removed": frozenset({"own-go"})},
    "enabled": {"profiles": ("core",), "enabled": frozenset({"own"})},
    "profile": {"profiles": ("cor", "core")},
    "runtime": {"runtime": "codex"},
}


@pytest.mark.parametrize("case", SURFACES)
def test_a_surface(
    composition: Composition, case: str, snapshot: SnapshotAssertion
) -> None:
    found = held(composition, **SURFACES[case])

    assert render_surface(found, composition.registry, Screen()) == snapshot
    assert surface_wire(found, composition.registry) == snapshot


CONFIGS: dict[str, ConfigLayers] = {
    "unset": ConfigLayers(),
    "off": ConfigLayers(project={"own": {"on": False}}),
    "odd": ConfigLayers(project={"own": {"on": "off", "go": 1, "at": "plan:pre"}}),
    "unreadable": ConfigLayers(project=Unreadable("line 1, column 1: \x1b[2J")),
}


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("case", ["everything", "disabled", "enabled"])
def test_a_state(
    composition: Composition, case: str, config: str, snapshot: SnapshotAssertion
) -> None:
    found = held(composition, **SURFACES[case])
    (one,) = own(composition, CONFIGS[config], found)

    text = render_states([one], Screen(), found)

    assert "\x1b" not in text
    assert text == snapshot


def own(composition: Composition, layers: ConfigLayers, found: Surface) -> list[State]:
    told = states(composition, layers, found)
    return [state for state in told if state.capability_id == "own"]


def test_every_state_is_a_row(
    composition: Composition, snapshot: SnapshotAssertion
) -> None:
    told = states(composition)

    assert render_states(told, Screen()) == snapshot
    assert [state_wire(state) for state in told] == snapshot


def test_what_nobody_knows_is_told(
    composition: Composition, snapshot: SnapshotAssertion
) -> None:
    unknown = attrs.evolve(held(composition), unreadable="not a JSON object")
    (one,) = own(composition, ConfigLayers(), unknown)

    assert render_states([one], Screen(), unknown) == snapshot
    assert render_surface(unknown, composition.registry, Screen()) == snapshot


def test_names_of_any_origin_are_escaped(composition: Composition) -> None:
    odd = held(
        composition,
        profiles=("\x1b[2J", "core"),
        disabled=frozenset({"\x1b]0;x\x07"}),
    )
    odd = attrs.evolve(odd, file="/home/\x1b[2J/.msd-surface.json", runtime="\x9b2J")

    shown = render_surface(odd, composition.registry, Screen())
    shown += render_states(states(composition, None, odd), Screen(), odd)

    assert not set(shown) & {"\x1b", "\x07", "\x9b"}

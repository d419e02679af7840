"""How far a capability got, and the first stage that stopped it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.activation import ConfigLayers, Unreadable, capability_states
from msdcomp.candidate import Candidate, Consent, Scope
from msdcomp.composition import Composition
from msdcomp.explanation import explain
from msdcomp.fold import compose
from msdcomp.inventory import inventory
from msdcomp.loop import resolve
from msdcomp.manifest import CapabilityId
from msdcomp.state import UNREADABLE, Stage, State, state_of, states
from msdcomp.surface import Choice, Surface, Switch, surface
from msdcomp.vocabulary import POINTS
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    feature,
    gate,
    plan_lists,
    said,
    step,
    switch,
)

ROOT = Path(__file__).parents[1]


def overlay(folder: str = "own", **fields: Any) -> Candidate:
    return Candidate.read(feature(folder, **fields))


def composed(*found: Candidate) -> Composition:
    return compose(FIRST_PARTY, found, HOST)


def state(
    composition: Composition,
    layers: ConfigLayers | None = None,
    held: Surface | None = None,
    name: str = "own",
) -> State:
    (found,) = (
        one for one in states(composition, layers, held) if one.capability_id == name
    )
    return found


def chosen(
    composition: Composition, runtime: str | None = None, **fields: Any
) -> Surface:
    choice = Choice(**fields)
    standings = surface(composition.registry, choice, runtime)
    return Surface(standings=standings, choice=choice, runtime=runtime)


SWITCHED = overlay(
    config={
        "own.on": switch(),
        "own.go": switch(),
    },
    activationKey="own.on",
    steps=[{**step("plan:pre", [], []), "when": "own.go"}],
    contributions=[said("plan:pre")],
    gates=[gate("ship:pre", when="own.go")],
)
BROKEN = ConfigLayers(project=Unreadable("line 1"))


def stages(found: State) -> list[bool | None]:
    return [found.passed(stage) for stage in Stage]


def test_what_nothing_stops_passes_every_stage() -> None:
    found = state(composed(SWITCHED))

    assert stages(found) == [True] * 4
    assert (found.stopped, found.code, found.active) == (None, "", True)
    assert (found.scope, found.version) == ("global", "1.0.0")
    assert [(h.kind, h.point, h.active) for h in found.hooks] == [
        ("step", "plan:pre", True),
        ("contribution", "plan:pre", True),
        ("gate", "ship:pre", True),
    ]
    assert [h.blocking for h in found.hooks] == [None, None, True]


def test_what_is_left_out_stops_at_composition_with_its_code() -> None:
    found = state(composed(attrs.evolve(overlay(), pending=True)))

    assert stages(found) == [True, False, None, None]
    assert (found.stopped, found.code) == (Stage.COMPOSED, "pending")
    assert found.active is False
    assert [found.asked(stage) for stage in Stage] == [True, True, False, False]


def test_an_overlay_without_consent_stops_at_composition() -> None:
    unagreed = Candidate.read(feature("own"), scope=Scope.PROJECT, consent=Consent.NONE)

    assert state(composed(unagreed)).code == "unconsented"


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"profiles": ("standard",)}, Switch.PROFILE),
        ({"disabled": frozenset({"own"})}, Switch.DISABLED),
        ({"runtime": "codex"}, Switch.RUNTIME),
    ],
)
def test_what_is_not_shown_stops_at_the_surface_and_is_asked_no_more(
    fields: dict[str, Any], code: Switch
) -> None:
    composition = composed(
        overlay(tier="full", runtimeCompat={"supported": ["host-a"], "unsupported": []})
    )

    found = state(composition, BROKEN, chosen(composition, **fields))

    assert stages(found) == [True, True, False, None]
    assert (found.stopped, found.code) == (Stage.SURFACED, code.value)
    assert found.active is False
    assert not found.asked(Stage.ACTIVATED)


@pytest.mark.parametrize("value", [False, None, 0, "off"])
def test_what_its_switch_holds_back_stops_at_activation(value: Any) -> None:
    found = state(composed(SWITCHED), ConfigLayers.of({"own": {"on": value}}))

    assert stages(found) == [True, True, True, False]
    assert (found.stopped, found.code) == (Stage.ACTIVATED, "activationKey")
    assert not any(hook.active for hook in found.hooks)


def test_a_switch_that_cannot_be_read_leaves_a_doubt_and_the_gates() -> None:
    found = state(composed(SWITCHED), BROKEN)

    assert stages(found) == [True, True, True, None]
    assert (found.stopped, found.doubtful, found.active) == (
        Stage.ACTIVATED,
        True,
        None,
    )
    assert [h.kind for h in found.hooks if h.active] == ["gate"]


def test_choices_that_cannot_be_read_leave_a_doubt_and_the_gates() -> None:
    found = state(composed(SWITCHED), None, Surface(unreadable="damaged"))

    assert stages(found) == [True, True, None, True]
    assert (found.stopped, found.doubtful) == (Stage.SURFACED, True)
    assert found.code == UNREADABLE
    assert [h.kind for h in found.hooks if h.active] == ["gate"]


def test_a_switch_that_is_off_is_certain_whatever_was_chosen() -> None:
    off = ConfigLayers.of({"own": {"on": False}})

    found = state(composed(SWITCHED), off, Surface(unreadable="damaged"))

    assert stages(found) == [True, True, None, False]
    assert (found.stopped, found.doubtful) == (Stage.ACTIVATED, False)
    assert found.active is False
    assert not any(hook.active for hook in found.hooks)


def test_a_hook_says_which_key_holds_it_back() -> None:
    found = state(composed(SWITCHED), ConfigLayers.of({"own": {"go": False}}))

    assert found.active is True
    step_, said_, gate_ = found.hooks
    assert step_.when is not None
    assert (step_.when.key, step_.when.on) == ("own.go", False)
    assert (step_.configured, said_.configured, gate_.configured) == (
        False,
        True,
        False,
    )


@pytest.mark.parametrize(
    ("config", "active"),
    [({}, True), ({"own": {"at": "plan:post"}}, False), ({"own": {"at": 1}}, False)],
)
def test_a_hook_that_is_placed_by_a_key_is_only_there(
    config: dict[str, Any], active: bool
) -> None:
    placed = {**step("plan:pre", [], []), "pointFrom": "own.at"}
    points = ["plan:pre", "plan:post"]
    place = {"type": "enum", "values": points, "default": points[0]}
    place["description"] = "Where."
    composition = composed(overlay(config={"own.at": place}, steps=[placed]))

    (hook,) = state(composition, ConfigLayers.of(config)).hooks

    assert hook.point_from is not None
    assert (hook.configured, hook.active) == (active, active)
    (unknown,) = state(composition, BROKEN).hooks
    assert (unknown.configured, unknown.active) == (None, False)


def test_the_state_of_one_is_that_of_all() -> None:
    composition = composed(SWITCHED)
    manifest = composition.registry.capabilities[CapabilityId("own")]

    assert state_of(composition, manifest, BROKEN) == state(composition, BROKEN)


# Laws.

words = st.sampled_from(["own", "base", "cap-ba", "cap-da", "core"])
configs: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    words,
    st.dictionaries(
        st.sampled_from(["on", "go", "mode"]),
        st.sampled_from([True, False, None, "off", "x", 1, 0, [], {}]),
        max_size=3,
    ),
    max_size=4,
)
layers_ = st.one_of(configs, st.none(), st.just(Unreadable("line 1")))
names = st.frozensets(
    st.sampled_from(["base", "cap-ga", "cap-ba", "cap-da", "base-go"]), max_size=3
)
choices = st.builds(
    Choice,
    profiles=st.sampled_from([("core",), ("standard",), ("full",)]),
    enabled=names,
    disabled=names,
    added=names,
    removed=names,
)
runtimes = st.sampled_from([None, "host-a", "codex"])


def world(
    plans: list[Plan], choice: Choice, runtime: str | None, unreadable: str
) -> tuple[Composition, Surface]:
    composition = compose(FIRST_PARTY, candidates(plans), HOST)
    held = Surface(
        standings=surface(composition.registry, choice, runtime),
        choice=choice,
        runtime=runtime,
        unreadable=unreadable,
    )
    return composition, held


@given(
    plan_lists,
    st.tuples(layers_, layers_, layers_),
    choices,
    runtimes,
    st.sampled_from(["", "damaged"]),
)
def test_states_loop_list_and_explanation_agree(
    plans: list[Plan],
    given_layers: tuple[Any, Any, Any],
    choice: Choice,
    runtime: str | None,
    unreadable: str,
) -> None:
    composition, held = world(plans, choice, runtime, unreadable)
    explicit, workstream, project = given_layers
    layers = ConfigLayers(explicit=explicit, workstream=workstream, project=project)
    told = [s for s in states(composition, layers, held) if s.warning is None]
    registry = composition.registry
    switches = capability_states(registry, layers, held)

    assert {s.capability_id: s.active for s in told} == dict(switches)
    rows = {
        row.capability_id: row
        for row in inventory(composition, layers, held)
        if row.role
    }
    for one in told:
        assert (rows[one.capability_id].verdict == "active") is (one.active is True)
        assert rows[one.capability_id].code == one.code
    fired = sorted(
        (point, hook.capability_id, hook.kind)
        for point in POINTS
        for hook in resolve(registry, point, layers, states=switches).active_hooks
    )
    assert fired == sorted(
        (hook.point, one.capability_id, hook.kind)
        for one in told
        for hook in one.hooks
        if hook.active
    )
    for one in told[:3]:
        assert explain(composition, one.capability_id, layers, held).state == one


def backwards(value: Any) -> Any:
    """Return the same JSON with the members of every object in the other order."""
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(list(value))}
    return value


@given(
    plan_lists,
    st.tuples(layers_, layers_, layers_),
    choices,
    st.sampled_from(POINTS),
    st.randoms(use_true_random=False),
)
def test_resolving_depends_on_registry_point_values_and_blocked_gates_alone(
    plans: list[Plan],
    given_layers: tuple[Any, Any, Any],
    choice: Choice,
    point: str,
    random: Any,
) -> None:
    def wire(order: list[Plan], *, turned: bool) -> Any:
        composition, held = world(order, choice, None, "")
        explicit, workstream, project = (
            backwards(layer) if turned else layer for layer in given_layers
        )
        layers = ConfigLayers(explicit=explicit, workstream=workstream, project=project)
        resolution = resolve(
            composition.registry,
            point,
            layers,
            blocked_gates=composition.blocked_gates,
            states=capability_states(composition.registry, layers, held),
        )
        return resolution.to_wire(), resolution.stderr_lines()

    # Where two folders claim one id, which of them counts is the order's to say.
    ids = {plan.folder for plan in plans}
    shuffled = list(plans)
    if len(ids) == len(plans):
        random.shuffle(shuffled)
    first = wire(plans, turned=False)

    assert wire(plans, turned=False) == first
    assert wire(shuffled, turned=True) == first


_SEEDED = """
from msdcomp.activation import ConfigLayers, capability_states
from msdcomp.edge.load import load_registry
from msdcomp.loop import resolve
from msdcomp.state import states
from msdcomp.surface import Choice, Surface, surface
from msdcomp.vocabulary import POINTS

composition = load_registry(include_installed=False)
registry = composition.registry
layers = ConfigLayers.of({"workflow": {"tdd_mode": True, "ui_review": "off"}})
choice = Choice(profiles=("core",), enabled=frozenset({"ui", "tdd", "pattern-mapper"}))
held = Surface(standings=surface(registry, choice, "codex"), choice=choice)
switches = capability_states(registry, layers, held)
for point in POINTS:
    print(resolve(registry, point, layers, states=switches).to_wire())
for state in states(composition, layers, held):
    print(state.capability_id, state.stopped, state.code, state.standing)
"""


def test_no_hash_seed_changes_what_is_resolved() -> None:
    outputs = {
        subprocess.run(
            [sys.executable, "-c", _SEEDED],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "77")
    }

    assert len(outputs) == 1

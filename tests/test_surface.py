"""Which capabilities are on the surface, and which switch decided."""

from __future__ import annotations

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.candidate import Candidate, Scope
from msdcomp.edge.firstparty import first_party
from msdcomp.fold import compose
from msdcomp.registry import Registry
from msdcomp.surface import (
    PROFILES,
    Choice,
    Standing,
    Surface,
    Switch,
    profile_members,
    profiles_of,
    runs_in,
    surface,
)
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    HOST_DOCUMENTS,
    Plan,
    candidates,
    feature,
    plan_lists,
    registry_of,
)


def registry(plans: list[Plan]) -> Registry:
    return compose(FIRST_PARTY, candidates(plans), HOST).registry


registries = plan_lists.map(registry)
names = st.sampled_from(
    [
        "base",
        "cap-ga",
        "host-a",
        "lane",
        "cap-ba",
        "cap-da",
        "cap-fa",
        "gone",
        "base-go",
    ]
)
few = st.frozensets(names, max_size=3)
choices = st.builds(
    Choice,
    profiles=st.lists(st.sampled_from([*PROFILES, "odd", ""]), max_size=2).map(tuple),
    enabled=few,
    disabled=few,
    added=few,
    removed=few,
)
runtimes = st.sampled_from([None, "claude", "codex", "host-a", "nope"])

LADDER = registry_of(
    feature("low", tier="core", skills=["low-go"]),
    feature("mid", tier="standard", skills=["mid-go"], requires=["low"]),
    feature("top", tier="full", skills=["top-go", "top-do"], requires=["mid"]),
    feature("peak", tier="full", requires=["top"]),
    feature("own", tier="full"),
    feature(
        "tied", tier="core", runtimeCompat={"supported": ["claude"], "unsupported": []}
    ),
    feature(
        "shy", tier="core", runtimeCompat={"supported": ["*"], "unsupported": ["codex"]}
    ),
)


def on(choice: Choice, runtime: str | None = None) -> set[str]:
    found = surface(LADDER, choice, runtime)
    return {owner for owner, standing in found.items() if standing.on}


@given(registries)
def test_a_profile_is_closed_under_requires_and_holds_the_smaller_ones(
    composed: Registry,
) -> None:
    members = [set(profile_members(composed, name)) for name in PROFILES]

    assert members[0] <= members[1] <= members[2] == set(composed.capabilities)
    for held in members:
        for owner in held:
            assert held >= set(composed.capabilities[owner].requires)  # type: ignore[index]


@given(registries)
def test_the_profiles_are_those_of_the_registrys_own_view(composed: Registry) -> None:
    profiles = profiles_of(composed)

    assert set(profiles) == set(composed.capabilities)
    for owner, membership in composed.profile_membership.items():
        assert profiles[owner] == membership.profiles


def test_the_profiles_of_what_ships_are_those_of_its_view() -> None:
    shipped = first_party()

    profiles = profiles_of(shipped)

    assert shipped.profile_membership
    for owner, membership in shipped.profile_membership.items():
        assert profiles[owner] == membership.profiles


def test_a_text_that_is_no_profile_has_no_members() -> None:
    assert profile_members(LADDER, "everything") == {}


@pytest.mark.parametrize("scope", [Scope.GLOBAL, Scope.PROJECT])
def test_an_overlay_counts_as_what_ships_does(scope: Scope) -> None:
    document = feature("cap-ba", tier="standard", requires=["base"])
    overlay = Candidate.read(document, scope=scope)
    shipped = registry_of(*HOST_DOCUMENTS, document)
    composed = compose(FIRST_PARTY, [overlay], HOST).registry

    assert surface(composed, Choice(profiles=("core",))) == surface(
        shipped, Choice(profiles=("core",))
    )
    assert profiles_of(composed)["cap-ba"] == ("standard", "full")


@given(registries, choices, runtimes)
def test_a_standing_is_given_to_everything_and_says_what_decided(
    composed: Registry, choice: Choice, runtime: str | None
) -> None:
    found = surface(composed, choice, runtime)

    assert set(found) == set(composed.capabilities)
    for owner, standing in found.items():
        manifest = composed.capabilities[owner]  # type: ignore[index]
        if not runs_in(manifest, runtime):
            assert standing == Standing(on=False, switch=Switch.RUNTIME)
        elif owner in choice.disabled:
            assert standing == Standing(on=False, switch=Switch.DISABLED)
        elif owner in choice.enabled and standing.switch is not Switch.SKILL:
            assert standing.on


@given(registries, choices, names)
def test_disabling_changes_nobody_else(
    composed: Registry, choice: Choice, name: str
) -> None:
    before = surface(composed, choice)
    after = surface(composed, attrs.evolve(choice, disabled=choice.disabled | {name}))

    assert {owner for owner in before if before[owner] != after[owner]} <= {name}


@given(registries, choices, names)
def test_enabling_changes_nobody_but_what_is_required(
    composed: Registry, choice: Choice, name: str
) -> None:
    needed, left = {name}, [name]
    for owner in left:
        manifest = composed.capabilities.get(owner)  # type: ignore[call-overload]
        fresh = set(manifest.requires if manifest else ()) - needed
        needed |= fresh
        left += sorted(fresh)
    before = surface(composed, choice)
    after = surface(composed, attrs.evolve(choice, enabled=choice.enabled | {name}))

    turned = {owner for owner in before if before[owner].on is not after[owner].on}
    assert turned <= needed
    assert all(after[owner].on for owner in turned)


@given(registries, choices, runtimes)
def test_a_runtime_only_takes_away(
    composed: Registry, choice: Choice, runtime: str | None
) -> None:
    free, bound = surface(composed, choice), surface(composed, choice, runtime)

    for owner, manifest in composed.capabilities.items():
        assert bound[owner].on is (free[owner].on and runs_in(manifest, runtime))


def test_what_is_enabled_brings_all_that_it_requires() -> None:
    found = surface(LADDER, Choice(profiles=("core",), enabled=frozenset({"top"})))

    assert found["top"] == Standing(on=True, switch=Switch.ENABLED)
    assert found["mid"] == Standing(on=True, switch=Switch.ENABLED, because="top")
    assert found["low"] == Standing(on=True, switch=Switch.PROFILE)
    assert found["own"] == Standing(on=False, switch=Switch.PROFILE)


def test_what_is_required_brings_what_it_requires_itself() -> None:
    found = surface(LADDER, Choice(profiles=("core",), enabled=frozenset({"peak"})))

    assert found["top"] == Standing(on=True, switch=Switch.ENABLED, because="peak")
    assert found["mid"] == Standing(on=True, switch=Switch.ENABLED, because="top")


def test_one_skill_added_brings_the_capability_and_one_removed_takes_it() -> None:
    added = Choice(profiles=("core",), added=frozenset({"top-do"}))
    removed = Choice(removed=frozenset({"top-do"}))

    assert "top" in on(added)
    assert surface(LADDER, removed)["top"] == Standing(
        on=False, switch=Switch.SKILL, because="top-do"
    )


def test_disabling_outweighs_enabling() -> None:
    both = frozenset({"top"})

    assert "top" not in on(Choice(enabled=both, disabled=both))


@pytest.mark.parametrize(
    ("profiles", "counts"),
    [
        ((), "full"),
        (("core",), "core"),
        (("core", "standard"), "standard"),
        (("standard", "core"), "standard"),
        (("odd", "core"), "core"),
        (("odd",), "full"),
    ],
)
def test_the_largest_profile_counts_and_none_is_everything(
    profiles: tuple[str, ...], counts: str
) -> None:
    assert Choice(profiles=profiles).profile == counts


@pytest.mark.parametrize(
    ("runtime", "gone"),
    [
        (None, set()),
        ("claude", set()),
        ("codex", {"tied", "shy"}),
        ("cursor", {"tied"}),
    ],
)
def test_the_runtime_bounds_what_is_shown(runtime: str | None, gone: set[str]) -> None:
    assert on(Choice(), runtime) == set(LADDER.capabilities) - gone


def test_a_capability_that_is_no_feature_is_made_for_every_runtime() -> None:
    assert runs_in(FIRST_PARTY.capabilities["host-a"], "codex")  # type: ignore[index]


def test_a_surface_without_standings_has_everything() -> None:
    assert Surface().on("anything") is True
    assert Surface().standing("anything") is None


def test_choices_that_cannot_be_read_leave_only_the_runtime_certain() -> None:
    unknown = Surface(standings=surface(LADDER, None, "codex"), unreadable="damaged")

    assert unknown.on("top") is None
    assert unknown.standing("top") is None
    assert unknown.on("tied") is False
    assert unknown.on("gone") is None


def test_the_names_of_a_choice_are_those_for_and_against() -> None:
    choice = Choice(enabled=frozenset("a"), disabled=frozenset("b"))

    assert choice.names() == {"a", "b"}

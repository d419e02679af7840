"""`compose`: what becomes of a set, and how a verdict points to its cause."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
from pyrsistent import pmap

from msdcomp.candidate import Candidate, Consent, Scope
from msdcomp.composition import Composition
from msdcomp.diagnostics import Severity
from msdcomp.fold import OnSetFailure, compose
from msdcomp.host import DEFAULT_HOST_VERSION, Host
from msdcomp.registry import Entry, Registry, build
from msdcomp.verdict import BundlePath, SkipWarning
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    feature,
    gate,
    registry_of,
    reviewer,
    runtime,
    said,
    step,
)

SET = ("set", "*")
PENDING = "pending: an install or upgrade of it has not finished"


def overlay(folder: str, scope: Scope = Scope.GLOBAL, **fields: Any) -> Candidate:
    return Candidate.read(feature(folder, **fields), scope=scope)


def composed(*found: Candidate, policy: OnSetFailure = "fallback") -> Composition:
    return compose(FIRST_PARTY, found, HOST, on_set_failure=policy)


def warning_of(composition: Composition, folder: str) -> SkipWarning:
    ((warning,),) = (
        warnings
        for (_, name), warnings in composition.warnings.items()
        if name == folder
    )
    return warning


def message(composition: Composition, folder: str) -> str:
    """Return the message of the one problem of a skipped overlay."""
    (problem,) = warning_of(composition, folder).problems
    return problem.message


# What a result is.


def test_a_composition_unpacks_as_registry_warnings_and_blocked_gates() -> None:
    composition = composed(overlay("own"))

    registry, warnings, blocked_gates = composition

    assert registry is composition.registry
    assert warnings is composition.warnings
    assert blocked_gates is composition.blocked_gates


def test_with_nothing_given_the_registry_is_the_base_and_all_else_is_empty() -> None:
    assert composed() == Composition(registry=FIRST_PARTY)
    assert composed().registry is FIRST_PARTY


def test_candidates_may_come_from_any_iterable_once() -> None:
    found = (overlay(folder) for folder in ("two", "one"))

    assert compose(FIRST_PARTY, found, HOST).accepted == ("one", "two")


def test_without_a_host_it_is_the_one_of_the_shipped_capabilities() -> None:
    needy = overlay("own", engines={"msd": DEFAULT_HOST_VERSION})

    assert compose(FIRST_PARTY, [needy]).accepted == ("own",)


def test_an_accepted_overlay_has_its_folder_on_record() -> None:
    linked = attrs.evolve(overlay("own"), path=".msd/elsewhere/own")

    assert composed(linked).paths == {
        "own": BundlePath(scope="global", path=".msd/elsewhere/own")
    }


def test_a_warning_is_kept_for_each_scope_of_an_id() -> None:
    pending = [
        attrs.evolve(overlay("own", scope, gates=[gate("plan:pre")]), pending=True)
        for scope in Scope
    ]

    composition = composed(*pending)

    assert set(composition.warnings) == {("global", "own"), ("project", "own")}
    gates = composition.blocked_gates["plan:pre"]
    assert [(g.scope, g.capability_id) for g in gates] == [
        ("global", "own"),
        ("project", "own"),
    ]
    assert composition.incompatible_gate_cap_ids == ("own",)


# Command roots and notices.

COMMANDS = [{"family": "own", "module": "m.cjs", "router": "r"}]


@pytest.mark.parametrize(
    ("committed", "commands", "rooted"),
    [(True, COMMANDS, True), (False, COMMANDS, False), (True, [], False)],
)
def test_only_what_is_recorded_as_installed_and_has_commands_is_a_command_root(
    committed: bool, commands: list[Any], rooted: bool
) -> None:
    found = attrs.evolve(overlay("own", commands=commands), committed=committed)

    composition = composed(found)

    assert composition.accepted == ("own",)
    assert ("own" in composition.command_roots) is rooted


def test_notices_are_about_accepted_overlays_only_and_warn() -> None:
    silent = said("ship:pre", into="orchestrator")
    noted = overlay("own", contributions=[silent], unheard="x")
    skipped = overlay("two", requires=["nowhere"], unheard="x")

    composition = composed(noted, skipped)

    assert set(composition.diagnostics) == {("global", "own")}
    notices = composition.diagnostics["global", "own"]
    assert [(n.code, n.path) for n in notices] == [
        ("unknown-field", "/unheard"),
        ("kind-not-dispatched", "/contributions/0/point"),
    ]
    assert {notice.severity for notice in notices} == {Severity.WARNING}


# Why a dependency is not there.


def test_a_dependency_that_was_skipped_is_never_called_nonexistent() -> None:
    pending = attrs.evolve(overlay("two"), pending=True)

    composition = composed(overlay("own", requires=["two"]), pending)

    assert message(composition, "own") == (
        f'requires "two", which is installed but was skipped ({PENDING})'
    )
    assert warning_of(composition, "own").because == (("global", "two"),)


def test_the_root_cause_of_a_chain_is_named() -> None:
    pending = attrs.evolve(overlay("aa"), pending=True)

    composition = composed(
        overlay("cc", requires=["bb"]), overlay("bb", requires=["aa"]), pending
    )

    assert message(composition, "cc") == (
        'requires "bb", which is installed but was skipped, because of "aa" '
        f"({PENDING})"
    )
    assert warning_of(composition, "cc").because == (("global", "bb"),)
    assert warning_of(composition, "bb").because == (("global", "aa"),)


def test_a_dependency_skipped_in_both_scopes_names_both_as_causes() -> None:
    copies = [attrs.evolve(overlay("two", scope), pending=True) for scope in Scope]
    found = overlay("own", Scope.PROJECT, requires=["two"])

    composition = composed(*copies, found)

    assert warning_of(composition, "own").because == (
        ("global", "two"),
        ("project", "two"),
    )


@pytest.mark.parametrize("folder", ["aa", "zz"])
def test_a_cause_is_named_wherever_its_id_stands_in_the_order(folder: str) -> None:
    broken = Candidate.read("{", folder)

    composition = composed(overlay("own", requires=[folder]), broken)

    assert message(composition, "own").startswith(
        f'requires "{folder}", which is installed but was skipped (not-json: '
    )
    assert warning_of(composition, "own").because == (("global", folder),)


def test_a_copy_that_waits_for_consent_does_not_excuse_the_scope() -> None:
    """Trusting it would not help an overlay that is decided before it."""
    unconsented = Candidate.read(
        feature("two"), scope=Scope.PROJECT, consent=Consent.NONE
    )

    composition = composed(overlay("own", requires=["two"]), unconsented)

    assert message(composition, "own") == (
        'requires "two", which is installed but belongs to project scope, which is '
        "decided later"
    )


@pytest.mark.parametrize("folder", ["aa", "zz"])
def test_a_feature_named_as_a_runtime_is_no_runtime_wherever_it_stands(
    folder: str,
) -> None:
    compat = {"supported": [folder], "unsupported": []}

    composition = composed(overlay("own", runtimeCompat=compat), overlay(folder))

    assert message(composition, "own") == (
        f'names the runtime "{folder}", which no capability describes'
    )


def test_a_runtime_that_was_skipped_is_named_with_its_cause() -> None:
    host = Candidate.read(runtime("host-b", requires=["nowhere"]))
    compat = {"supported": ["host-b"], "unsupported": []}

    composition = composed(overlay("aa", runtimeCompat=compat), host)

    assert message(composition, "aa").startswith(
        'names the runtime "host-b", which is installed but was skipped (invariant: '
    )


def test_a_dependency_of_the_other_scope_is_said_to_come_later() -> None:
    composition = composed(
        overlay("own", requires=["two"]), overlay("two", Scope.PROJECT)
    )

    assert message(composition, "own") == (
        'requires "two", which is installed but belongs to project scope, which is '
        "decided later"
    )
    assert composition.accepted == ("two",)


def test_a_circle_of_requirements_is_spelt_out_for_everybody_on_it() -> None:
    composition = composed(
        overlay("aa", requires=["bb"]),
        overlay("bb", requires=["cc"]),
        overlay("cc", requires=["aa"]),
    )

    told = (
        "capabilities require each other in a circle: "
        '"aa" requires "bb" requires "cc" requires "aa"'
    )
    assert [message(composition, one) for one in ("aa", "bb", "cc")] == [told] * 3
    assert warning_of(composition, "aa").problems[0].about == ("aa", "bb", "cc")
    assert composition.accepted == ()


def test_whoever_only_needs_a_circle_is_not_said_to_be_on_it() -> None:
    composition = composed(
        overlay("aa", requires=["bb"]),
        overlay("bb", requires=["cc"]),
        overlay("cc", requires=["bb"]),
    )

    (problem,) = warning_of(composition, "aa").problems
    assert problem.code == "requires-not-loaded"
    assert problem.message == (
        'requires "bb", which is installed but is not decided yet: the two, or what '
        "they need, wait for each other"
    )


def test_an_artefact_whose_maker_was_skipped_names_the_maker() -> None:
    maker = overlay("two", steps=[step("plan:pre", ["TWO.md"], [])])
    user = overlay("own", steps=[step("plan:pre", [], ["TWO.md"])])

    composition = composed(attrs.evolve(maker, pending=True), user)

    # What a pending overlay would make is not known.
    assert warning_of(composition, "own").problems[0].code == "consumes-never-produced"
    taken = overlay("two", skills=["base-go"], steps=[step("plan:pre", ["TWO.md"], [])])
    (problem,) = warning_of(composed(taken, user), "own").problems
    assert problem.code == "consumes-not-loaded"
    assert problem.message == (
        'consumes "TWO.md" at plan:pre, which "two" would produce, but that was '
        "skipped (collision: first come, first served: the skill "
        '"base-go" already belongs to "base")'
    )


# A set that cannot be built.


def ring(*folders: str, point: str = "plan:pre") -> list[Candidate]:
    """Return overlays whose contributions wait for each other in a circle."""
    return [
        overlay(
            folder,
            contributions=[said(point, [f"{folder}.md"], [f"{folders[place - 1]}.md"])],
            gates=[gate("plan:pre")],
        )
        for place, folder in enumerate(folders)
    ]


CIRCLE = (
    'the contributions at plan:pre wait for each other: "aa" contribution 0 gives '
    '"aa.md" to "bb" contribution 0 gives "bb.md" to "aa" contribution 0'
)
ADVICE = (
    "Take one capability of each cycle away, or drop one of the artefacts named from "
    "its consumes."
)


def test_a_fallback_drops_every_overlay_and_says_whose_fault_it_is() -> None:
    free = overlay("free", gates=[gate("ship:pre")], commands=COMMANDS, unheard="x")

    composition = composed(*ring("aa", "bb"), attrs.evolve(free, committed=True))

    assert composition.registry is FIRST_PARTY
    assert composition.fell_back
    assert set(composition.warnings) == {SET}
    (warning,) = composition.warnings[SET]
    assert (warning.code, warning.scope, warning.capability_id, warning.path) == (
        "set-build-failed",
        "set",
        "*",
        "",
    )
    assert warning.reason == (
        "no registry can be built of all accepted overlays, so every one of them was "
        'dropped; "aa", "bb" wait for each other'
    )
    assert warning.remedy == ADVICE
    (problem,) = warning.problems
    assert (problem.code, problem.message, problem.hint, problem.about) == (
        "ordering-cycle",
        CIRCLE,
        ADVICE,
        ("aa", "bb"),
    )
    assert composition.accepted == ()
    assert not composition.command_roots
    assert not composition.diagnostics
    assert set(composition.dropped) == {"aa", "bb", "free"}


def test_the_gates_of_everything_a_fallback_drops_are_blocked() -> None:
    composition = composed(*ring("aa", "bb"), overlay("free", gates=[gate("ship:pre")]))

    (free,) = composition.blocked_gates["ship:pre"]
    assert free.code == "set-build-failed"
    assert free.reason == (
        'it was dropped with every other overlay, because "aa", "bb" wait for each '
        "other"
    )
    one, other = composition.blocked_gates["plan:pre"]
    assert one.reason == 'its hooks and those of "bb" wait for each other'
    assert other.reason == 'its hooks and those of "aa" wait for each other'
    assert one.remedy == (
        f"{ADVICE} Or take .msd/capabilities/aa (global) away: "
        "`msd capability remove aa`"
    )


def test_a_fallback_keeps_the_warnings_about_what_was_skipped_before() -> None:
    composition = composed(*ring("aa", "bb"), overlay("own", requires=["nowhere"]))

    assert set(composition.warnings) == {SET, ("global", "own")}


def test_isolating_drops_the_culprits_alone() -> None:
    composition = composed(*ring("aa", "bb"), overlay("free"), policy="isolate")

    assert composition.accepted == ("free",)
    assert not composition.fell_back
    assert set(composition.warnings) == {("global", "aa"), ("global", "bb")}
    warning = warning_of(composition, "aa")
    assert warning.code == "set-build-failed"
    assert [problem.message for problem in warning.problems] == [CIRCLE]
    assert composition.incompatible_gate_cap_ids == ("aa", "bb")


def test_isolating_takes_whoever_depended_on_a_culprit_along_and_says_why() -> None:
    composition = composed(
        *ring("aa", "bb"), overlay("cc", requires=["aa"]), policy="isolate"
    )

    assert composition.accepted == ()
    assert composition.registry is FIRST_PARTY
    assert message(composition, "cc") == (
        'requires "aa", which is installed but was skipped (set-build-failed: its '
        'hooks and those of "bb" wait for each other)'
    )
    assert warning_of(composition, "cc").because == (("global", "aa"),)


def test_an_artefact_only_a_culprit_made_is_said_to_have_gone_with_it() -> None:
    _, other = ring("aa", "bb")
    maker = overlay(
        "aa",
        steps=[step("plan:pre", ["NEW.md"], [])],
        contributions=[said("plan:pre", ["aa.md"], ["bb.md"])],
    )
    user = overlay("own", steps=[step("plan:post", [], ["NEW.md"])])

    composition = composed(maker, other, user, policy="isolate")

    assert message(composition, "own").startswith(
        'consumes "NEW.md" at plan:post, which "aa" would produce, but that was '
        "skipped (set-build-failed: "
    )


def test_isolating_revives_nobody_that_lost_a_name_to_a_culprit() -> None:
    taker = overlay(
        "aa",
        skills=["shared"],
        contributions=[said("plan:pre", ["aa.md"], ["bb.md"])],
    )
    loser = overlay("zz", skills=["shared"])

    composition = composed(taker, ring("aa", "bb")[1], loser, policy="isolate")

    assert composition.accepted == ()
    assert warning_of(composition, "zz").code == "collision"


def test_two_knots_are_told_apart_and_both_isolated() -> None:
    found = [*ring("aa", "bb"), *ring("cc", "dd", "ee"), overlay("free")]

    composition = composed(*found, policy="isolate")

    assert composition.accepted == ("free",)
    assert warning_of(composition, "aa").reason == (
        'its hooks and those of "bb" wait for each other'
    )
    assert warning_of(composition, "dd").reason == (
        'its hooks and those of "cc", "ee" wait for each other'
    )
    (whole,) = composed(*found).warnings[SET]
    assert [problem.about for problem in whole.problems] == [
        ("aa", "bb"),
        ("cc", "dd", "ee"),
    ]


def test_a_sentence_names_five_culprits_at_most() -> None:
    folders = [f"own-{letter}" for letter in "abcdefg"]

    (warning,) = composed(*ring(*folders)).warnings[SET]

    assert warning.reason.endswith(
        'dropped; "own-a", "own-b", "own-c", "own-d", "own-e" and 2 more wait for each '
        "other"
    )
    assert warning.problems[0].about == tuple(folders)


def test_a_circle_through_the_first_party_blames_the_overlays_that_close_it() -> None:
    found = [
        overlay("aa", contributions=[said("plan:pre", ["P.md"], ["Y.md"])]),
        overlay("bb", contributions=[said("plan:pre", ["Y.md"], ["X.md"])]),
        overlay("cc"),
    ]

    composition = composed(*found, policy="isolate")

    assert composition.accepted == ("cc",)
    assert warning_of(composition, "aa").reason == (
        'its hooks and those of "base", "bb" wait for each other'
    )


def test_a_circle_of_one_overlay_alone_is_its_own_fault_not_the_sets() -> None:
    tied = overlay(
        "aa",
        contributions=[
            said("plan:pre", ["A.md"], ["B.md"]),
            said("plan:pre", ["B.md"], ["A.md"]),
        ],
    )

    composition = composed(tied, overlay("free"))

    assert composition.accepted == ("free",)
    assert warning_of(composition, "aa").code == "invariant"


@pytest.mark.parametrize("policy", ["fallback", "isolate"])
def test_a_base_that_is_tied_up_by_itself_comes_back_as_it_was(
    policy: OnSetFailure,
) -> None:
    """No builder makes such a base; whoever made one still gets an answer."""
    members = registry_of(feature("one")).capabilities
    for candidate in ring("aa", "bb"):
        alone = compose(Registry(), [candidate], HOST).registry
        members = members.update(alone.capabilities)
    base = Registry(capabilities=members)

    composition = compose(base, [overlay("own")], HOST, on_set_failure=policy)

    assert composition.registry is base
    assert composition.fell_back
    assert set(composition.dropped) == {"own"}


# A defect of the library.


def test_a_defect_costs_the_candidate_it_meets_and_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("msdcomp.admission.satisfies", fail)
    unlucky = overlay("own", engines={"msd": ">=1.0.0"}, gates=[gate("plan:pre")])

    composition = composed(unlucky, overlay("two"))

    assert composition.accepted == ("two",)
    warning = warning_of(composition, "own")
    assert warning.code == "internal-error"
    assert warning.reason == (
        "composing it failed inside this library (ZeroDivisionError); that is a "
        "defect, please report it with the manifest"
    )
    assert warning.remedy.startswith("Report the defect with the manifest. Or take ")
    assert [g.capability_id for g in composition.blocked_gates["plan:pre"]] == ["own"]


# The same set in one go and step by step.


def test_every_role_composes() -> None:
    found = [
        Candidate.read(runtime("host-b")),
        Candidate.read(reviewer("gull")),
        overlay("own", runtimeCompat={"supported": ["host-b"], "unsupported": []}),
    ]

    composition = composed(*found)

    assert composition.accepted == ("gull", "host-b", "own")
    assert set(composition.registry.reviewers) == {"gull", "lane"}
    assert set(composition.registry.runtimes) == {"host-a", "host-b"}


def test_an_overlay_of_a_project_joins_like_a_shipped_capability() -> None:
    found = overlay("own", Scope.PROJECT, skills=["sail"])
    assert found.decoded is not None
    assert found.decoded.manifest is not None

    together = build((*FIRST_PARTY.entries(), Entry(manifest=found.decoded.manifest)))

    assert composed(found).registry == together
    assert composed(found).paths == pmap(
        {"own": BundlePath(scope="project", path=".msd/capabilities/own")}
    )


def test_a_host_of_another_version_takes_other_overlays() -> None:
    picky = overlay("own", engines={"msd": "^3.0.0"})

    assert composed(picky).accepted == ()
    assert compose(FIRST_PARTY, [picky], Host(version="3.1.0")).accepted == ("own",)

"""Laws of composition over sets of overlays that get into each other's way."""

from __future__ import annotations

import json
import lzma
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs
from hypothesis import event, given
from hypothesis import strategies as st
from pyrsistent import pmap

from msdcomp.candidate import Candidate, FragmentText, Scope
from msdcomp.codes import CODES
from msdcomp.composition import Composition
from msdcomp.contender import offered
from msdcomp.explanation import GATES
from msdcomp.fold import OnSetFailure, compose
from msdcomp.invariants import Draft, Index
from msdcomp.registry import Entry, Registry, build
from msdcomp.wireform import canonical, registry_wire
from tests import strategies
from tests.conformance.conftest import DATA, records
from tests.conformance.memory import candidates_of
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    in_order,
    plan_lists,
    registry_of,
    renamed,
)

ROOT = Path(__file__).parents[2]
ORDER = HOST.contract.order
FIRSTS = [FIRST_PARTY.capabilities[owner] for owner in sorted(FIRST_PARTY.capabilities)]
FIRST_INDEX = Index.of(FIRSTS, ORDER)
FIRST_WIRE = canonical(registry_wire(FIRST_PARTY))
VIEWS = [
    field.name
    for field in attrs.fields(Registry)
    if field.name not in {"by_loop_point", "fragments"}
]
SKIP_CODES = frozenset(code for _, codes in GATES for code in codes)

policies: st.SearchStrategy[OnSetFailure] = st.sampled_from(["fallback", "isolate"])


def _compose(
    given_: tuple[Candidate, ...], policy: OnSetFailure = "fallback"
) -> Composition:
    return compose(FIRST_PARTY, given_, HOST, on_set_failure=policy)


def _entry(candidate: Candidate) -> Entry:
    assert candidate.decoded is not None
    assert candidate.decoded.manifest is not None
    texts = {
        path: found.text
        for path, found in candidate.fragments.items()
        if isinstance(found, FragmentText)
    }
    feature = candidate.decoded.manifest.feature
    contributions = feature.contributions if feature else ()
    named = {c.fragment.path for c in contributions if c.fragment.inline is None}
    kept = {path: text for path, text in texts.items() if path in named}
    return Entry(manifest=candidate.decoded.manifest, fragments=pmap(kept))


def _joined(composed: Composition, given_: tuple[Candidate, ...]) -> list[Candidate]:
    """Return the accepted candidates, in the order they were accepted."""
    keys = [(composed.paths[owner].scope, str(owner)) for owner in composed.accepted]
    by_key = {candidate.key: candidate for candidate in given_}
    return [by_key[key] for key in keys]


def _codes(composed: Composition) -> dict[tuple[str, str], list[str]]:
    """Return the verdict about every candidate that is left out."""
    codes = {
        key: [warning.code for warning in warnings]
        for key, warnings in composed.warnings.items()
        if key != ("set", "*")
    }
    for owner, bundle in composed.dropped.items():
        codes.setdefault((bundle.scope, owner), []).append("set-build-failed")
    return codes


def _hooks(registry: Registry) -> Mapping[str, set[Any]]:
    return {p: set(hooks.all()) for p, hooks in registry.by_loop_point.items()}


@given(plan_lists, policies)
def test_composing_changes_nothing_it_is_given(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    given_ = candidates(plans)

    _compose(given_, policy)

    assert given_ == candidates(plans)
    assert canonical(registry_wire(FIRST_PARTY)) == FIRST_WIRE


@given(plan_lists, policies)
def test_every_candidate_ends_exactly_once_as_accepted_or_warned_about(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    given_ = candidates(plans)

    composed = _compose(given_, policy)

    ends = Counter(candidate.key for candidate in _joined(composed, given_))
    ends.update({key: len(codes) for key, codes in _codes(composed).items()})
    assert ends == Counter(candidate.key for candidate in given_)


@given(plan_lists, policies)
def test_every_verdict_is_one_a_gate_gives_and_none_a_defect(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    composed = _compose(candidates(plans), policy)

    for warnings in composed.warnings.values():
        for warning in warnings:
            assert warning.code in SKIP_CODES - {"internal-error"}
            assert warning.problems
            assert all(problem.code in CODES for problem in warning.problems)
            assert "\n" not in warning.reason + warning.remedy


@given(plan_lists, policies)
def test_the_first_party_is_in_every_view_as_it_was(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    registry, _, _ = _compose(candidates(plans), policy)

    assert isinstance(registry, Registry)
    for view in VIEWS:
        composed, shipped = getattr(registry, view), getattr(FIRST_PARTY, view)
        assert {key: composed.get(key) for key in shipped} == dict(shipped)
    merged = _hooks(registry)
    for point, hooks in _hooks(FIRST_PARTY).items():
        assert hooks <= merged[point]


@given(plan_lists, policies)
def test_an_accepted_overlay_cannot_be_told_from_a_shipped_capability(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    """Which also says that a skipped one leaves no trace in any view."""
    given_ = candidates(plans)

    composed = _compose(given_, policy)

    joined = map(_entry, _joined(composed, given_))
    assert composed.registry == build((*FIRST_PARTY.entries(), *joined))


@given(plan_lists)
def test_what_was_composed_can_be_shipped_and_composed_upon(plans: list[Plan]) -> None:
    composed = _compose(candidates(plans), "isolate")

    shipped = compose(composed.registry, (), HOST)

    assert shipped.registry is composed.registry
    assert shipped.warnings == {}
    again = compose(composed.registry, candidates(plans), HOST)
    assert not set(again.accepted) & set(composed.accepted)


@given(plan_lists, policies)
def test_with_nothing_accepted_the_registry_is_the_base_itself(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    composed = _compose(candidates(plans), policy)

    assert (composed.registry is FIRST_PARTY) is (composed.accepted == ())


@given(plan_lists, policies)
def test_a_fallback_leaves_nothing_of_any_overlay_but_warnings_and_gates(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    composed = _compose(candidates(plans), policy)

    if composed.fell_back:
        assert policy == "fallback"
        assert composed.registry is FIRST_PARTY
        assert composed.accepted == ()
        assert not composed.command_roots
        assert not composed.diagnostics
        assert not composed.paths
        assert composed.dropped
    else:
        assert composed.dropped == {}


def _declared(plan: Plan) -> list[dict[str, Any]]:
    """Return the gates that anybody who reads the text of a plan can see."""
    if plan.state == "unreadable" or plan.writer in {"cut", "list"}:
        return []
    gates = list(plan.document.get("gates", ()))
    if plan.writer == "odd-gate":
        gates.append({"point": "plan:pre"})
    if plan.writer == "repeated":
        gates.append({"point": "plan:post"})
    return gates


@given(plan_lists, policies)
def test_no_gate_of_a_skipped_overlay_is_lost_and_none_is_made_up(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    given_ = candidates(plans)

    composed = _compose(given_, policy)

    codes = _codes(composed)
    told = Counter(
        (point, gate.scope, gate.capability_id)
        for point, gates in composed.blocked_gates.items()
        for gate in gates
    )
    assert max(told.values(), default=1) == 1
    for plan in plans:
        key = plan.candidate().key
        mine = {point for point, *owner in told if tuple(owner) == key}
        if key not in codes:
            assert mine == set()
            continue
        # What the other copy declares alike is enforced, or lost in its name.
        copies = [p for p in plans if p.folder == plan.folder and p is not plan]
        enforced = _declared(copies[0]) if codes[key] == ["shadowed"] else []
        lost = {g["point"] for g in _declared(plan) if g not in enforced}
        assert lost <= mine
        assert mine <= lost | (set(plan.stored) & set(ORDER))


@given(plan_lists, policies)
def test_the_blocked_gates_name_the_reason_and_remedy_of_the_warning(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    composed = _compose(candidates(plans), policy)

    for point, gates in composed.blocked_gates.items():
        for gate in gates:
            key = (gate.scope, gate.capability_id)
            assert gate.point == point
            if gate.code == "set-build-failed" and composed.fell_back:
                assert gate.capability_id in composed.dropped
                continue
            (warning,) = composed.warnings[key]
            assert gate.code == warning.code
            assert gate.reason == warning.reason
            assert gate.remedy == warning.remedy


@given(st.data(), plan_lists, policies)
def test_the_order_in_which_candidates_are_found_changes_nothing(
    data: st.DataObject, plans: list[Plan], policy: OnSetFailure
) -> None:
    shuffled = data.draw(st.permutations(plans))

    one = _compose(candidates(plans), policy)
    other = _compose(candidates(shuffled), policy)

    assert one == other
    assert one.digest() == other.digest()


@given(st.data(), plan_lists)
def test_two_copies_in_one_scope_are_told_apart_by_their_path(
    data: st.DataObject, plans: list[Plan]
) -> None:
    """A home inside a project counts as part of it, so both may hold a folder."""
    found = candidates(plans)
    copies = tuple(
        attrs.evolve(candidate, path=f"home/{candidate.path}") for candidate in found
    )
    shuffled = tuple(data.draw(st.permutations((*copies, *found))))

    assert _compose((*found, *copies)).to_wire() == _compose(shuffled).to_wire()


@given(plan_lists, policies)
def test_other_ids_in_the_same_order_change_nothing_but_the_names(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    one = _compose(candidates(plans), policy)
    other = _compose(candidates(plans, renamed), policy)

    text = canonical(one.to_wire()).decode()
    assert renamed(text) == canonical(other.to_wire()).decode()


def _needs(candidate: Candidate, gone: Candidate) -> bool:
    """Tell whether one names another, its runtime or something it produces."""
    first, second = offered(gone), offered(candidate)
    if first is None or second is None:
        return False
    named: set[str] = set(second.requires)
    made: set[str] = set()
    used: set[str] = set()
    if second.feature:
        named |= second.feature.runtime_compat.named
        used = {a for step in second.feature.steps for a in step.consumes}
    if first.feature:
        made = {a for step in first.feature.steps for a in step.produces}
    return first.id in named or bool(made & used)


def _without(
    composed: Composition, given_: tuple[Candidate, ...], gone: Candidate
) -> Composition:
    """Check that taking a skipped candidate away only takes away its own traces."""
    rest = tuple(candidate for candidate in given_ if candidate is not gone)
    left = _compose(rest)
    codes = {key: c for key, c in _codes(composed).items() if key != gone.key}
    assert left.accepted == composed.accepted
    assert left.registry == composed.registry
    assert _codes(left) == codes
    gates = [g for gates in composed.blocked_gates.values() for g in gates]
    kept = [g for gates in left.blocked_gates.values() for g in gates]
    others = {
        (g.point, g.scope, g.capability_id)
        for g in gates
        if (g.scope, g.capability_id) != gone.key
    }
    assert {(g.point, g.scope, g.capability_id) for g in kept} == others
    return left


@given(plan_lists)
def test_a_skipped_overlay_nobody_names_can_be_removed_without_any_effect(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)
    composed = _compose(given_)
    for candidate in given_:
        if candidate.key not in composed.warnings:
            continue
        others = [other for other in given_ if other is not candidate]
        if not any(_needs(other, candidate) for other in others):
            _without(composed, given_, candidate)


@given(plan_lists)
def test_removing_a_skipped_overlay_has_no_effect_unless_it_moves_the_order(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)
    composed = _compose(given_)
    before = in_order(given_)
    for candidate in given_:
        if candidate.key in composed.warnings:
            rest = [other for other in before if other is not candidate]
            after = in_order(rest)
            if list(after) == rest:
                _without(composed, given_, candidate)
            else:
                event("the order moved")


@given(plan_lists)
def test_all_skipped_overlays_can_go_when_the_rest_keeps_its_order(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)
    composed = _compose(given_, "isolate")
    joined = _joined(composed, given_)

    if list(in_order(joined)) == joined:
        alone = _compose(tuple(joined))
        assert alone.registry == composed.registry
        assert alone.accepted == composed.accepted
        assert not alone.warnings
        assert not alone.blocked_gates
    else:
        event("the order moved")


@given(plan_lists)
def test_isolating_drops_no_more_than_falling_back_and_revives_nobody(
    plans: list[Plan],
) -> None:
    given_ = candidates(plans)

    isolated, fallen = _compose(given_, "isolate"), _compose(given_)

    if not fallen.fell_back:
        assert isolated == fallen
        return
    before, after = _codes(fallen), _codes(isolated)
    singles = {k: c for k, c in before.items() if c != ["set-build-failed"]}
    assert {key: after[key] for key in singles} == singles
    # The set failed because of somebody.
    assert ["set-build-failed"] in after.values()
    # Whoever was sound goes only with a culprit or for want of one.
    for key in after.keys() - singles.keys():
        assert after[key] in (["set-build-failed"], ["invariant"])


@given(plan_lists, policies)
def test_the_index_grown_along_the_fold_is_the_index_of_the_accepted_set(
    plans: list[Plan], policy: OnSetFailure
) -> None:
    given_ = candidates(plans)
    members = [
        _entry(candidate).manifest
        for candidate in _joined(_compose(given_, policy), given_)
    ]

    grown = Draft(FIRST_INDEX, ORDER)
    for member in members:
        grown.add(member)

    assert grown.freeze() == Index.of((*FIRSTS, *members), ORDER)


@given(plan_lists, plan_lists, policies)
def test_digests_are_equal_exactly_when_the_wire_forms_are(
    one: list[Plan], other: list[Plan], policy: OnSetFailure
) -> None:
    first, again, second = (_compose(candidates(p), policy) for p in (one, one, other))

    assert first.digest() == again.digest()
    same = first.to_wire() == second.to_wire()
    assert (first.digest() == second.digest()) is same


@given(plan_lists)
def test_the_wire_form_is_plain_json_that_nobody_can_reach_in_through(
    plans: list[Plan],
) -> None:
    composed = _compose(candidates(plans))
    wire = composed.to_wire()

    assert json.loads(json.dumps(wire)) == wire
    wire["capabilities"]["base"]["skills"].append("made-up")
    wire["byLoopPoint"].clear()
    assert composed.to_wire() == _compose(candidates(plans)).to_wire()


@given(
    st.lists(
        st.one_of(
            strategies.json_values,
            strategies.manifests,
            strategies.broken(),
        ),
        max_size=4,
    ),
    st.sampled_from(Scope),
)
def test_no_manifest_makes_composing_fail(values: list[Any], scope: Scope) -> None:
    given_ = [
        Candidate.read(json.dumps(value), f"cap-{place}", scope=scope)
        if not isinstance(value, dict) or place % 2
        else Candidate.read(value, scope=scope)
        for place, value in enumerate(values)
    ]

    composed = compose(FIRST_PARTY, given_, HOST)

    codes = [w.code for ws in composed.warnings.values() for w in ws]
    assert "internal-error" not in codes
    assert len(composed.accepted) + len(codes) >= len(given_) or composed.fell_back


PROGRAM = """
import sys
from tests.properties.test_laws import digests
sys.stdout.write("\\n".join(digests()))
"""


def digests() -> list[str]:
    """Return the digests of random vectors, with both policies."""
    packed = (DATA / "first-party-sets.json.xz").read_bytes()
    sets = json.loads(lzma.decompress(packed))
    found = []
    for vector in (records(DATA, "compose-random.jsonl") or ())[::2]:
        base = registry_of(*sets[vector["first_party"]]["manifests"])
        _, given_ = candidates_of(vector)
        for policy in ("fallback", "isolate"):
            composed = compose(base, given_, HOST, on_set_failure=policy)
            found.append(composed.digest())
    return found


def test_the_bytes_depend_on_no_hash_seed_locale_or_process() -> None:
    plain = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=ROOT,
            env={**plain, **setting},
            stdout=subprocess.PIPE,
            text=True,
        )
        for setting in (
            {"PYTHONHASHSEED": "0"},
            {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"},
            {"PYTHONHASHSEED": "random", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kolkata"},
        )
    ]
    first, *others = [process.communicate(timeout=120)[0] for process in running]

    assert [process.returncode for process in running] == [0, 0, 0]
    assert len(set(first.split("\n"))) > 50
    assert others == [first, first]

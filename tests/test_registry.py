"""The one builder: every view, and the sets that cannot be built."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.manifest import Contribution, Gate, Manifest, Step
from msdcomp.registry import (
    BuildFailure,
    CommandFamily,
    Entry,
    Membership,
    OwnedSlice,
    PointHooks,
    Registry,
    build,
)
from msdcomp.wire import decode
from tests.overlays import (
    FIRST_PARTY,
    HOST_DOCUMENTS,
    Plan,
    feature,
    gate,
    plan_lists,
    registry_of,
    reviewer,
    runtime,
    said,
    step,
    switch,
)


def read(document: dict[str, Any]) -> Manifest:
    manifest = decode(document).manifest
    assert manifest is not None
    return manifest


def failure_of(*documents: dict[str, Any]) -> BuildFailure:
    built = build(Entry(manifest=read(document)) for document in documents)
    assert isinstance(built, BuildFailure)
    return built


def hooks_at(registry: Registry, point: str) -> list[tuple[str, str, int]]:
    hooks = registry.by_loop_point.get(point, PointHooks())
    return [(hook.capability_id, hook.kind, hook.index) for hook in hooks.all()]


# Views.


def test_nothing_makes_an_empty_registry() -> None:
    assert build(()) == Registry()
    assert repr(Registry()) == "<Registry of 0 capabilities>"


def test_every_stem_key_and_family_leads_to_its_owner() -> None:
    registry = FIRST_PARTY

    assert dict(registry.by_skill) == {"base-go": "base", "middle": "cap-ga"}
    assert dict(registry.by_agent) == {"base-eye": "base"}
    assert dict(registry.config_keys) == {"base.on": "base"}
    assert dict(registry.config_schema) == {
        "base.on": OwnedSlice(
            owner=read(HOST_DOCUMENTS[0]).id,
            type="boolean",
            default=True,
            description="A switch.",
        )
    }
    assert dict(registry.command_families) == {
        "base": CommandFamily(
            capability_id=read(HOST_DOCUMENTS[0]).id,
            module="base.cjs",
            router="routeBase",
        )
    }
    assert set(registry.runtimes) == {"host-a"}
    assert registry.reviewers["lane"].capability_id == "lane"
    assert registry.task_resolvers["base"].capability_id == "base"


def test_a_slice_keeps_the_values_of_its_enum() -> None:
    slice_ = {"type": "enum", "values": ["a", "b"], "default": "a", "description": "X."}
    registry = registry_of(reviewer("gull", config={"gull.mode": slice_}))

    assert registry.config_schema["gull.mode"].values == ("a", "b")  # type: ignore[index]


def test_keys_and_families_are_taken_from_every_role() -> None:
    command = [{"family": "fam"}]
    registry = registry_of(
        runtime("host-b", config={"host.on": switch()}),
        reviewer("gull", commands=command),
    )

    assert dict(registry.config_keys) == {"host.on": "host-b"}
    assert registry.command_families["fam"] == CommandFamily(
        capability_id=read(reviewer("gull")).id, module=None, router=None
    )


@pytest.mark.parametrize(
    ("tier", "profiles"),
    [
        ("core", ("core", "standard", "full")),
        ("standard", ("standard", "full")),
        ("full", ("full",)),
    ],
)
def test_who_owns_skills_is_in_a_cluster_and_in_the_profiles_of_its_tier(
    tier: str, profiles: tuple[str, ...]
) -> None:
    registry = registry_of(
        feature("own", tier=tier, skills=["b", "a"]), feature("bare", agents=["eye"])
    )

    assert dict(registry.capability_clusters) == {"own": ("a", "b")}
    assert dict(registry.profile_membership) == {
        "own": Membership(tier=tier, profiles=profiles)
    }


def test_only_points_with_hooks_are_listed() -> None:
    assert set(FIRST_PARTY.by_loop_point) == {
        "plan:pre",
        "plan:post",
        "verify:pre",
        "ship:pre",
    }


# Dispatch order.


def test_steps_come_first_then_contributions_then_gates() -> None:
    assert hooks_at(FIRST_PARTY, "plan:pre") == [
        ("base", "step", 0),
        ("base", "contribution", 0),
        ("cap-ga", "gate", 0),
        ("cap-ga", "gate", 1),
    ]
    assert hooks_at(FIRST_PARTY, "plan:never") == []


def test_hooks_are_ordered_by_data_flow_then_id_then_declaration() -> None:
    registry = registry_of(
        feature(
            "bb",
            steps=[
                step("plan:pre", [], []),
                step("plan:pre", [], ["Z.md"]),
                step("plan:post", [], []),
                step("plan:pre", [], []),
            ],
        ),
        feature("aa", steps=[step("plan:pre", [], ["Y.md"])]),
        feature("cc", steps=[step("plan:pre", ["Y.md"], []), step("plan:pre", [], [])]),
    )

    assert hooks_at(registry, "plan:pre") == [
        ("bb", "step", 0),
        ("bb", "step", 1),
        ("bb", "step", 3),
        ("cc", "step", 0),
        ("aa", "step", 0),
        ("cc", "step", 1),
    ]


def test_contributions_flow_among_themselves_and_gates_not_at_all() -> None:
    registry = registry_of(
        feature(
            "aa",
            contributions=[
                said("plan:pre", [], ["S.md"]),
                said("plan:pre", [], ["C.md"]),
            ],
            gates=[gate("plan:pre", "q.b"), gate("plan:pre", "q.a")],
        ),
        feature(
            "bb",
            steps=[step("plan:pre", ["S.md"], [])],
            contributions=[said("plan:pre", ["C.md"], [])],
            gates=[gate("plan:pre")],
        ),
    )

    assert hooks_at(registry, "plan:pre") == [
        ("bb", "step", 0),
        ("aa", "contribution", 0),
        ("bb", "contribution", 0),
        ("aa", "contribution", 1),
        ("aa", "gate", 0),
        ("aa", "gate", 1),
        ("bb", "gate", 0),
    ]


# Fragments.


def test_the_text_of_a_fragment_file_is_inlined_and_inline_text_wins() -> None:
    noted = step("plan:pre", [], []) | {"fragment": {"path": "a.md"}}
    both = said("plan:pre", path="a.md", inline="Mine.")
    document = feature(
        "own",
        steps=[noted, step("plan:pre", [], [])],
        contributions=[said("plan:pre", path="b.md"), both],
    )
    entry = Entry(manifest=read(document), fragments={"a.md": "From a."})

    registry = build([entry])

    assert isinstance(registry, Registry)
    bodies = [hook.body for hook in registry.by_loop_point["plan:pre"].all()]
    assert not any(isinstance(body, Gate) for body in bodies)
    texts = [
        body.fragment and body.fragment.inline
        for body in bodies
        if isinstance(body, Step | Contribution)
    ]
    # `b.md` was not given: the path stays, without a text.
    assert texts == ["From a.", None, None, "Mine."]
    assert registry.fragments == {"own": {"a.md": "From a."}}
    assert registry.capabilities["own"] == read(document)  # type: ignore[index]


def test_a_registry_gives_back_the_entries_it_was_built_of() -> None:
    entry = Entry(manifest=read(feature("own")), fragments={"a.md": "From a."})
    other = Entry(manifest=read(feature("abc")))

    built = build([entry, other])

    assert isinstance(built, Registry)
    assert built.entries() == (other, entry)
    assert build(built.entries()) == built


# Closures.


def test_a_closure_holds_all_that_is_required_in_the_end() -> None:
    registry = registry_of(
        feature("aa", requires=["bb", "gone"]),
        feature("bb", requires=["cc"]),
        feature("cc", requires=["aa"]),
        feature("dd"),
    )

    assert registry.requires_closure("aa") == ("aa", "bb", "cc")
    assert registry.requires_closure("dd") == ("dd",)
    assert registry.requires_closure("gone") == ()


# Sets that cannot be built.


def test_a_circle_is_told_hook_by_hook() -> None:
    failure = failure_of(
        feature("aa", steps=[step("plan:pre", ["A.md"], ["B.md"])]),
        feature("bb", steps=[step("plan:pre", ["B.md"], ["A.md"])]),
        feature("cc", steps=[step("plan:pre", [], ["A.md"])]),
    )

    (cycle,) = failure.cycles
    assert (cycle.point, cycle.kind, cycle.culprits) == (
        "plan:pre",
        "step",
        ("aa", "bb"),
    )
    told = [(hook.capability_id, hook.index, made) for hook, made in cycle.hops]
    assert told == [("aa", 0, "A.md"), ("bb", 0, "B.md")]
    assert failure.culprits == {"aa", "bb"}


def test_every_circle_of_every_point_and_kind_is_told() -> None:
    failure = failure_of(
        feature(
            "aa",
            steps=[step("plan:post", ["A.md"], ["B.md"])],
            contributions=[said("plan:pre", ["A.md"], ["B.md"])],
        ),
        feature(
            "bb",
            steps=[step("plan:post", ["B.md"], ["A.md"])],
            contributions=[said("plan:pre", ["B.md"], ["A.md"])],
        ),
    )

    assert [(cycle.point, cycle.kind) for cycle in failure.cycles] == [
        ("plan:post", "step"),
        ("plan:pre", "contribution"),
    ]


# Laws.


def _valid(plans: list[Plan]) -> list[dict[str, Any]]:
    by_id = {plan.folder: plan.document for plan in plans}
    found = [document for document in by_id.values() if decode(document).manifest]
    return [document for document in found if document["role"] == "feature"]


_features = plan_lists.map(_valid)


@given(st.data(), _features)
def test_the_order_of_the_entries_does_not_matter(
    data: st.DataObject, documents: list[dict[str, Any]]
) -> None:
    entries = [Entry(manifest=read(document)) for document in documents]

    assert build(data.draw(st.permutations(entries))) == build(
        sorted(entries, key=lambda entry: entry.manifest.id)
    )


@given(_features)
def test_every_declared_hook_is_dispatched_once_unless_the_set_is_tied_up(
    documents: list[dict[str, Any]],
) -> None:
    built = build(Entry(manifest=read(document)) for document in documents)

    if isinstance(built, BuildFailure):
        assert built.culprits <= {document["id"] for document in documents}
        return
    found = list(itertools.chain(*(h.all() for h in built.by_loop_point.values())))
    declared = [
        (document["id"], kind, index, hook["point"])
        for document in documents
        for kind in ("step", "contribution", "gate")
        for index, hook in enumerate(document[f"{kind}s"])
    ]
    assert sorted((h.capability_id, h.kind, h.index, h.body.point) for h in found) == (
        sorted(declared)
    )

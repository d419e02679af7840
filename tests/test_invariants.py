"""Who owns what, and what a candidate is told when a name is taken."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.host import CentralConfig, HostContract
from msdcomp.invariants import (
    Claim,
    Draft,
    Index,
    Producer,
    claims,
    collisions,
    duplicates,
    quoted,
    steps,
)
from msdcomp.manifest import Manifest
from msdcomp.wire import decode
from tests.overlays import (
    HOST,
    HOST_DOCUMENTS,
    candidates,
    feature,
    plan_lists,
    resolver,
    reviewer,
    runtime,
    step,
    switch,
)

CONTRACT = HostContract()
CENTRAL = CentralConfig.of(["core.mode"], [r"core\.[a-z]+\.size"])


def read(document: dict[str, Any]) -> Manifest:
    manifest = decode(document).manifest
    assert manifest is not None
    return manifest


def index_of(*documents: dict[str, Any]) -> Index:
    return Index.of(map(read, documents), CONTRACT.order)


def draft_of(*documents: dict[str, Any]) -> Draft:
    return Draft(index_of(*documents), CONTRACT.order)


OWNER = feature(
    "owner",
    skills=["rig"],
    agents=["eye"],
    config={"own.on": switch()},
    commands=[{"family": "fam", "module": "m.cjs", "router": "r"}],
    taskContentResolver=resolver("beads"),
)


def rival(**fields: Any) -> dict[str, Any]:
    return feature("rival", **fields)


def command(*families: str) -> list[dict[str, str]]:
    return [{"family": name, "module": "m.cjs", "router": "r"} for name in families]


# Claims.


def test_a_manifest_claims_every_name_it_gives_in_document_terms() -> None:
    assert list(claims(read(OWNER))) == [
        Claim("skill", "rig", ("skills", 0)),
        Claim("agent", "eye", ("agents", 0)),
        Claim("tracker-prefix", "beads", ("taskContentResolver", "trackerPrefix")),
        Claim("config-key", "own.on", ("config", "own.on")),
        Claim("command-family", "fam", ("commands", 0, "family")),
    ]


def test_a_lane_claims_its_slug_flags_and_section() -> None:
    assert list(claims(read(reviewer("gull")))) == [
        Claim("lane-slug", "gull", ("reviewer", "slug")),
        Claim("lane-flag", "--gull", ("reviewer", "flags", 0)),
        Claim("lane-section", "Gull", ("reviewer", "reviewsSection")),
    ]


def test_keys_are_claimed_in_their_own_order_and_pointers_are_escaped() -> None:
    manifest = read(rival(config={"b/c": switch(), "a~d": switch()}))

    assert [claim.path for claim in claims(manifest)] == [
        "/config/a~0d",
        "/config/b~1c",
    ]


def test_only_a_feature_has_steps() -> None:
    assert steps(read(runtime("host-a"))) == ()
    assert len(steps(read(rival(steps=[step("plan:pre", [], [])])))) == 1


# Collisions (gate 6).

HOST_OWNS = (
    'the configuration key "{}" already belongs to the host\'s own configuration'
)
RENAME = "Rename the {}, or remove one of the two capabilities."


@pytest.mark.parametrize(
    ("document", "code", "path", "message", "hint"),
    [
        (
            feature("owner"),
            "id-taken",
            "/id",
            'the id "owner" already belongs to a capability',
            "Give this capability, and its folder, another id.",
        ),
        (
            rival(skills=["own", "rig"]),
            "skill-taken",
            "/skills/1",
            'the skill "rig" already belongs to "owner"',
            RENAME.format("skill"),
        ),
        (
            rival(agents=["eye"]),
            "agent-taken",
            "/agents/0",
            'the agent "eye" already belongs to "owner"',
            RENAME.format("agent"),
        ),
        (
            rival(config={"own.on": switch()}),
            "config-key-taken",
            "/config/own.on",
            'the configuration key "own.on" already belongs to "owner"',
            RENAME.format("configuration key"),
        ),
        (
            runtime("rival", config={"core.mode": switch()}),
            "config-key-taken",
            "/config/core.mode",
            HOST_OWNS.format("core.mode"),
            RENAME.format("configuration key"),
        ),
        (
            rival(config={"core.mast.size": switch()}),
            "config-key-taken",
            "/config/core.mast.size",
            HOST_OWNS.format("core.mast.size"),
            RENAME.format("configuration key"),
        ),
        (
            reviewer("rival", commands=command("fam")),
            "command-family-taken",
            "/commands/0/family",
            'the command family "fam" already belongs to "owner"',
            RENAME.format("command family"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)
def test_a_name_that_is_taken_is_reported_with_its_owner(
    document: dict[str, Any], code: str, path: str, message: str, hint: str
) -> None:
    (problem,) = collisions(draft_of(OWNER), read(document), CENTRAL)

    assert problem.code == code
    assert problem.path == path
    assert problem.message == message
    assert problem.hint == hint


OVERLAP = "Rename the configuration key: a key holds one value, and no keys."


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("own.on.x", 'lies below "own.on", a key of "owner"'),
        ("own.on.x.y", 'lies below "own.on", a key of "owner"'),
        ("own", 'has a key below it, of "owner"'),
        ("core", "has keys of the host's below it"),
    ],
)
def test_no_key_lies_within_a_key_of_another(key: str, message: str) -> None:
    document = rival(config={key: switch()})

    (problem,) = collisions(draft_of(OWNER), read(document), CENTRAL)

    assert problem.code == "config-key-overlap"
    assert problem.path == f"/config/{key}"
    assert problem.message == f'the configuration key "{key}" {message}'
    assert problem.hint == OVERLAP


def test_keys_beside_each_other_do_not_overlap() -> None:
    config = {key: switch() for key in ("own.off", "own.on2", "ow", "core.mode.x")}

    assert collisions(draft_of(OWNER), read(rival(config=config)), CENTRAL) == ()


def test_a_key_within_a_key_of_its_own_is_an_invariant() -> None:
    document = rival(config={key: switch() for key in ("a.b", "a.b.c.d", "a.c")})

    (problem,) = duplicates(draft_of(OWNER), read(document))

    assert problem.code == "config-key-overlap"
    assert problem.path == "/config/a.b.c.d"
    assert problem.message == (
        'the configuration key "a.b.c.d" lies below "a.b", of its own'
    )
    assert problem.hint == OVERLAP


def test_every_name_that_is_taken_is_reported_not_only_the_first() -> None:
    document = feature("owner", skills=["rig", "rig"], agents=["eye"])

    found = collisions(draft_of(OWNER), read(document), CENTRAL)

    assert [(p.code, p.path) for p in found] == [
        ("id-taken", "/id"),
        ("skill-taken", "/skills/0"),
        ("agent-taken", "/agents/0"),
    ]


def test_names_of_one_kind_do_not_collide_with_names_of_another() -> None:
    document = rival(skills=["eye", "fam"], agents=["rig", "beads"])

    assert collisions(draft_of(OWNER), read(document), CENTRAL) == ()


def test_an_owner_in_the_draft_counts_as_much_as_one_in_the_base() -> None:
    draft = draft_of()
    draft.add(read(OWNER))

    (problem,) = collisions(draft, read(rival(skills=["rig"])), CENTRAL)

    assert problem.message == 'the skill "rig" already belongs to "owner"'


def test_a_hostile_key_is_made_safe_in_the_message() -> None:
    key = "a`b\n" + "x" * 200
    draft = draft_of(rival(config={key: switch()}))

    (problem,) = collisions(
        draft, read(feature("other", config={key: switch()})), CENTRAL
    )

    assert problem.message == (
        f'the configuration key "ab {"x" * 77}" already belongs to "rival"'
    )
    assert problem.path == f"/config/{key}"


def test_quoted_text_is_short_and_on_one_line() -> None:
    assert quoted("a\nb" + "c" * 100) == f'"a b{"c" * 77}"'


# Names claimed twice, lanes and trackers (gate 9).


@pytest.mark.parametrize(
    ("document", "code", "path", "message", "hint"),
    [
        (
            rival(skills=["a", "b", "a"]),
            "claimed-twice",
            "/skills/2",
            'the skill "a" is claimed twice, first at /skills/0',
            "Keep one of the two.",
        ),
        (
            rival(agents=["a", "a"]),
            "claimed-twice",
            "/agents/1",
            'the agent "a" is claimed twice, first at /agents/0',
            "Keep one of the two.",
        ),
        (
            rival(commands=command("a", "b", "a")),
            "claimed-twice",
            "/commands/2/family",
            'the command family "a" is claimed twice, first at /commands/0/family',
            "Keep one of the two.",
        ),
        (
            rival(taskContentResolver=resolver("beads")),
            "tracker-prefix-taken",
            "/taskContentResolver/trackerPrefix",
            'the tracker prefix "beads" already belongs to "owner"',
            RENAME.format("tracker prefix"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and "-" in value else "",
)
def test_a_name_claimed_twice_or_by_two_is_reported(
    document: dict[str, Any], code: str, path: str, message: str, hint: str
) -> None:
    (problem,) = duplicates(draft_of(OWNER), read(document))

    assert problem.code == code
    assert problem.path == path
    assert problem.message == message
    assert problem.hint == hint


def test_a_lane_of_the_same_name_clashes_in_slug_flag_and_section() -> None:
    found = list(
        duplicates(draft_of(reviewer("gull")), read(reviewer("rival", "gull")))
    )

    assert [(p.code, p.path, p.message, p.hint) for p in found] == [
        (
            "lane-slug-taken",
            "/reviewer/slug",
            'the reviewer lane "gull" already belongs to "gull"',
            RENAME.format("reviewer lane"),
        ),
        (
            "lane-flag-taken",
            "/reviewer/flags/0",
            'the reviewer flag "--gull" already belongs to "gull"',
            RENAME.format("reviewer flag"),
        ),
        (
            "lane-section-taken",
            "/reviewer/reviewsSection",
            'the review section "Gull" already belongs to "gull"',
            RENAME.format("review section"),
        ),
    ]


def test_what_is_a_collision_is_not_reported_as_an_invariant_too() -> None:
    document = rival(skills=["rig"], agents=["eye"], config={"own.on": switch()})

    assert list(duplicates(draft_of(OWNER), read(document))) == []


# The index.


def test_an_index_shows_its_size_only() -> None:
    assert repr(index_of(*HOST_DOCUMENTS)) == "<Index of 4 capabilities>"


def test_an_index_answers_through_a_draft() -> None:
    draft = draft_of(*HOST_DOCUMENTS)

    assert draft.tier("base") == "core"
    assert draft.tier("nobody") is None
    assert draft.is_runtime("host-a")
    assert not draft.is_runtime("base")
    assert draft.owner("skill", "base-go") == "base"
    assert draft.owner("agent", "base-go") is None
    assert draft.producer("plan:pre", "BASE.md") == Producer("base", 0)
    assert draft.producer("plan:post", "BASE.md") is None
    assert draft.first_made("BASE.md") == CONTRACT.order["plan:pre"]
    assert draft.first_made("GHOST.md") is None
    assert draft.spelling("base.MD") == "BASE.md"
    assert draft.spelling("ghost.md") is None


def test_the_first_to_produce_an_artefact_keeps_it_and_earlier_places_win() -> None:
    draft = draft_of(*HOST_DOCUMENTS)
    early = [step("discuss:post", ["BASE.md"], []), step("plan:pre", ["BASE.md"], [])]

    draft.add(read(rival(steps=early)))

    assert draft.producer("plan:pre", "BASE.md") == Producer("base", 0)
    assert draft.producer("discuss:post", "BASE.md") == Producer("rival", 0)
    assert draft.first_made("BASE.md") == CONTRACT.order["discuss:post"]
    assert draft.freeze().earliest["BASE.md"] == CONTRACT.order["discuss:post"]


def test_the_first_owner_of_a_name_keeps_it() -> None:
    draft = draft_of(OWNER)

    draft.add(read(rival(skills=["rig"])))

    assert draft.owner("skill", "rig") == "owner"


def test_a_draft_leaves_the_index_it_started_from_alone() -> None:
    base = index_of(*HOST_DOCUMENTS)
    draft = Draft(base, CONTRACT.order)

    draft.add(read(runtime("host-b")))

    assert draft.is_runtime("host-b")
    assert base == index_of(*HOST_DOCUMENTS)
    assert draft.freeze() == index_of(*HOST_DOCUMENTS, runtime("host-b"))


@given(plan_lists, st.integers(0, 8))
def test_it_does_not_matter_where_an_index_was_frozen_on_the_way(
    plans: list[Any], cut: int
) -> None:
    decoded = [candidate.decoded for candidate in candidates(plans)]
    members = [d.manifest for d in decoded if d is not None and d.manifest is not None]
    order = HOST.contract.order
    draft = Draft(Index.of(members[:cut], order), order)

    for manifest in members[cut:]:
        draft.add(manifest)

    assert draft.freeze() == Index.of(members, order)

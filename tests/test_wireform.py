"""The JSON shape of a composition, field by field."""

from __future__ import annotations

import hashlib
import json

import attrs
import pytest

from msdcomp.candidate import Candidate, Scope
from msdcomp.diagnostics import Problem, Severity
from msdcomp.fold import compose
from msdcomp.gates import BlockedGate, GateCondition
from msdcomp.verdict import SkipWarning
from msdcomp.wireform import (
    blocked_gate_wire,
    canonical,
    digest,
    problem_wire,
    registry_wire,
    warning_wire,
)
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    HOST_DOCUMENTS,
    feature,
    gate,
    registry_of,
    reviewer,
    said,
    step,
    switch,
)


def test_the_first_party_reads_like_this() -> None:
    base, middle, host, lane = HOST_DOCUMENTS

    assert registry_wire(FIRST_PARTY) == {
        "version": "1",
        "capabilities": {
            "base": base,
            "cap-ga": middle,
            "host-a": host,
            "lane": lane,
        },
        "bySkill": {"base-go": "base", "middle": "cap-ga"},
        "byAgent": {"base-eye": "base"},
        "byLoopPoint": {
            "plan:pre": {
                "steps": [{**base["steps"][0], "capId": "base"}],
                "contributions": [{**base["contributions"][0], "capId": "base"}],
                "gates": [{**one, "capId": "cap-ga"} for one in middle["gates"]],
            },
            "plan:post": {
                "steps": [{**base["steps"][1], "capId": "base"}],
                "contributions": [],
                "gates": [],
            },
            "verify:pre": {
                "steps": [{**middle["steps"][0], "capId": "cap-ga"}],
                "contributions": [],
                "gates": [],
            },
            "ship:pre": {
                "steps": [],
                "contributions": [],
                "gates": [{**base["gates"][0], "capId": "base"}],
            },
        },
        "configKeys": {"base.on": "base"},
        "configSchema": {
            "base.on": {
                "owner": "base",
                "type": "boolean",
                "default": True,
                "description": "A switch.",
            }
        },
        "runtimes": {"host-a": host["runtime"]},
        "commandFamilies": {
            "base": {"capId": "base", "module": "base.cjs", "router": "routeBase"}
        },
        "capabilityClusters": {"base": ["base-go"], "cap-ga": ["middle"]},
        "profileMembership": {
            "base": {"tier": "core", "profiles": ["core", "standard", "full"]},
            "cap-ga": {"tier": "full", "profiles": ["full"]},
        },
    }


def test_what_a_slice_or_family_does_not_have_is_left_out() -> None:
    slice_ = {"type": "enum", "values": ["a"], "default": "a", "description": "X."}
    wire = registry_wire(
        registry_of(
            reviewer("gull", config={"g.a": slice_}, commands=[{"family": "fam"}])
        )
    )

    assert wire["configSchema"]["g.a"] == {**slice_, "owner": "gull"}
    assert wire["commandFamilies"]["fam"] == {"capId": "gull"}


def test_a_hook_is_the_manifests_own_object_with_owner_and_text() -> None:
    document = feature(
        "own",
        steps=[step("plan:pre", [], []) | {"fragment": {"path": "a.md"}, "x-own": 1}],
        contributions=[said("plan:pre", path="b.md", inline="Mine.")],
    )
    found = Candidate.read(document, fragments={"a.md": "From a."})

    wire = compose(FIRST_PARTY, [found], HOST).to_wire()

    at_point = wire["byLoopPoint"]["plan:pre"]
    assert at_point["steps"][-1] == {
        **document["steps"][0],
        "capId": "own",
        "fragment": {"path": "a.md", "inline": "From a."},
    }
    assert at_point["contributions"][-1] == {
        **document["contributions"][0],
        "capId": "own",
    }
    # The manifest itself stays as its author wrote it.
    assert wire["capabilities"]["own"] == document


def test_the_overlay_part_reads_like_this() -> None:
    text = json.dumps(feature("aa", requires=["bb"], gates=[gate("ship:pre")]))
    commands = [{"family": "own", "module": "m.cjs", "router": "r"}]
    found = [
        Candidate.read(text, scope=Scope.PROJECT),
        attrs.evolve(Candidate.read(feature("bb")), pending=True),
        attrs.evolve(
            Candidate.read(feature("own", commands=commands, unheard=1)), committed=True
        ),
    ]

    overlay = compose(FIRST_PARTY, found, HOST).to_wire()["_overlay"]

    because = (
        'requires "bb", which is installed but was skipped (pending: an install or '
        "upgrade of it has not finished)"
    )
    reason = f"it does not fit the capabilities that are already there: {because}"
    remedy = (
        'Mend or remove "bb" first. Or take .msd/capabilities/aa (project) away: '
        "`msd capability remove aa`"
    )
    pending = "an install or upgrade of it has not finished"
    reconcile = "Run `msd capability reconcile` to finish or roll back what was begun."
    expected = {
        "accepted": ["own"],
        "warnings": [
            {
                "code": "pending",
                "scope": "global",
                "capId": "bb",
                "path": ".msd/capabilities/bb",
                "reason": pending,
                "remedy": f"{reconcile} Or take .msd/capabilities/bb (global) away: "
                "`msd capability remove bb`",
                "problems": [
                    {
                        "code": "pending",
                        "severity": "error",
                        "path": "",
                        "message": pending,
                        "hint": reconcile,
                        "file": ".msd/capabilities/bb/capability.json",
                    }
                ],
                "because": [],
            },
            {
                "code": "invariant",
                "scope": "project",
                "capId": "aa",
                "path": ".msd/capabilities/aa",
                "reason": reason,
                "remedy": remedy,
                "problems": [
                    {
                        "code": "requires-not-loaded",
                        "severity": "error",
                        "path": "/requires/0",
                        "message": because,
                        "hint": 'Mend or remove "bb" first.',
                        "file": ".msd/capabilities/aa/capability.json",
                        "line": 1,
                        "column": text.index('["bb"') + 2,
                        "about": ["bb"],
                    }
                ],
                "because": [{"scope": "global", "capId": "bb"}],
            },
        ],
        "diagnostics": [
            {
                "scope": "global",
                "capId": "own",
                "code": "unknown-field",
                "severity": "warning",
                "path": "/unheard",
                "message": overlay["diagnostics"][0]["message"],
                "hint": overlay["diagnostics"][0]["hint"],
                "file": ".msd/capabilities/own/capability.json",
            }
        ],
        "incompatibleGateCapIds": ["aa"],
        "blockedGates": [
            {
                "point": "ship:pre",
                "capId": "aa",
                "scope": "project",
                "path": ".msd/capabilities/aa",
                "code": "invariant",
                "reason": reason,
                "remedy": remedy,
                "blocking": True,
                "conditions": [],
            }
        ],
        "commandRoots": {"own": {"scope": "global", "path": ".msd/capabilities/own"}},
        "ignored": [],
    }
    assert {name: overlay[name] for name in expected} == expected


def test_a_problem_leaves_out_what_it_does_not_have() -> None:
    bare = Problem(code="pending", message="M.", severity=Severity.WARNING)

    assert problem_wire(bare) == {
        "code": "pending",
        "severity": "warning",
        "path": "",
        "message": "M.",
    }


def test_a_warning_about_the_set_has_no_path() -> None:
    warning = SkipWarning(
        code="set-build-failed",
        scope="set",
        capability_id="*",
        reason="R.",
        problems=(),
        remedy="Do.",
    )

    assert warning_wire(warning) == {
        "code": "set-build-failed",
        "scope": "set",
        "capId": "*",
        "path": "",
        "reason": "R.",
        "remedy": "Do.",
        "problems": [],
        "because": [],
    }


def test_the_switches_of_a_missing_gate_are_told_with_their_defaults() -> None:
    document = feature(
        "own",
        requires=["nowhere"],
        config={"own.on": switch(default=False)},
        gates=[gate("plan:pre", when="own.on", blocking=False)],
    )
    composition = compose(FIRST_PARTY, [Candidate.read(document)], HOST)

    (record,) = composition.blocked_gates["plan:pre"]

    assert isinstance(record, BlockedGate)
    assert record.conditions == (
        GateCondition(key="own.on", type="boolean", default=False),
    )
    wire = blocked_gate_wire(record)
    assert wire["blocking"] is False
    assert wire["conditions"] == [
        {"key": "own.on", "type": "boolean", "default": False}
    ]


def test_the_digest_is_that_of_the_rfc_8785_form() -> None:
    wire = {"b": [1.0, "\u00e9"], "a": {"z": None, "\U0001f600": 1e21, "\ufb33": 0.1}}

    written = canonical(wire)

    # Keys are sorted by UTF-16 units, numbers written as JavaScript writes them.
    expected = '{"a":{"z":null,"\U0001f600":1e+21,"\ufb33":0.1},"b":[1,"\u00e9"]}'
    assert written == expected.encode()
    assert digest(wire) == hashlib.sha256(written).hexdigest()


def test_every_key_is_in_order_wherever_it_is_shown() -> None:
    found = [Candidate.read(feature(one, skills=[one])) for one in ("zz", "aa", "mm")]

    wire = compose(FIRST_PARTY, found, HOST).to_wire()

    for view in ("capabilities", "bySkill", "byLoopPoint", "capabilityClusters"):
        assert list(wire[view]) == sorted(wire[view])


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**53 - 1])
def test_the_largest_integer_of_a_manifest_has_a_digest(number: int) -> None:
    depth = {"type": "number", "default": number, "description": "How deep."}
    candidate = Candidate.read(feature("cap-ba", config={"cap-ba.depth": depth}))

    composed = compose(FIRST_PARTY, [candidate], HOST)

    assert composed.accepted == ("cap-ba",)
    assert str(number).encode() in canonical(composed.to_wire())
    assert len(composed.digest()) == 64

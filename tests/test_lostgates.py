"""Gates that go with a skipped candidate: none lost, none made up."""

from __future__ import annotations

import json
from typing import Any

import attrs
import pytest

from msdcomp.candidate import Candidate, Consent, Scope
from msdcomp.diagnostics import Problem
from msdcomp.gates import BlockedGate, GateCondition
from msdcomp.host import HostContract
from msdcomp.lostgates import blocked_gates, lost_gates
from msdcomp.verdict import SkipWarning
from tests.overlays import feature, gate, switch

CONTRACT = HostContract()
WARNING = SkipWarning(
    code="pending",
    scope="global",
    capability_id="own",
    path=".msd/capabilities/own",
    reason="an install has not finished",
    problems=(Problem(code="pending", message="an install has not finished"),),
    remedy="`msd capability remove own`",
)


def text_of(*gates: Any, **fields: Any) -> str:
    return json.dumps(feature("own", gates=list(gates), **fields))


def skipped(text: str, **fields: Any) -> Candidate:
    return attrs.evolve(Candidate.read(text, "own"), **fields)


def points(candidate: Candidate, enforced: Candidate | None = None) -> list[str]:
    return [gate.point for gate in lost_gates(candidate, enforced)]


def blocked(candidate: Candidate) -> tuple[BlockedGate, ...]:
    return blocked_gates(candidate, WARNING, CONTRACT)


GATED = text_of(gate("ship:pre"), gate("plan:pre"))
STORED: dict[str, Any] = {
    "stored_gates": ("plan:post",),
    "consented_gates": ("verify:pre",),
}


@pytest.mark.parametrize(
    ("candidate", "expected"),
    [
        pytest.param(
            skipped(GATED, **STORED), ["ship:pre", "plan:pre"], id="a sound manifest"
        ),
        pytest.param(
            skipped(text_of(gate("ship:pre"), title=""), **STORED),
            ["ship:pre"],
            id="an invalid manifest speaks for itself too",
        ),
        pytest.param(
            Candidate(folder="own", **STORED),
            ["plan:post", "verify:pre"],
            id="no manifest: what the stores say",
        ),
        pytest.param(
            skipped("{", **STORED),
            ["plan:post", "verify:pre"],
            id="no JSON: what the stores say",
        ),
        pytest.param(
            skipped("\ufeff" + GATED, **STORED),
            ["ship:pre", "plan:pre", "plan:post", "verify:pre"],
            id="loose JSON: both",
        ),
        pytest.param(
            skipped(GATED, scope=Scope.PROJECT, consent=Consent.CHANGED, **STORED),
            ["ship:pre", "plan:pre", "verify:pre"],
            id="changed content: also what was agreed to",
        ),
        pytest.param(
            skipped(GATED, scope=Scope.PROJECT, consent=Consent.NONE, **STORED),
            ["ship:pre", "plan:pre"],
            id="never agreed: the manifest",
        ),
    ],
)
def test_gates_are_known_from_whatever_tells_of_them(
    candidate: Candidate, expected: list[str]
) -> None:
    assert points(candidate) == expected


def test_every_repeated_list_of_gates_counts() -> None:
    text = text_of(gate("ship:pre"))
    again = f'{text[:-1]}, "gates": [{json.dumps(gate("plan:pre"))}]}}'

    assert sorted(points(skipped(again))) == ["plan:pre", "ship:pre"]


def test_a_gate_that_the_accepted_copy_declares_alike_is_not_lost() -> None:
    accepted = skipped(text_of(gate("plan:pre"), gate("ship:pre", "q.other")))

    assert points(skipped(GATED), accepted) == ["ship:pre"]
    assert points(skipped(GATED), skipped(GATED)) == []
    assert points(skipped(GATED), Candidate(folder="own")) == ["ship:pre", "plan:pre"]


def test_a_gate_that_blocks_less_in_the_accepted_copy_is_lost() -> None:
    accepted = skipped(text_of(gate("plan:pre", blocking=False), gate("ship:pre")))

    assert points(skipped(GATED), accepted) == ["plan:pre"]


def test_points_are_recorded_once_in_loop_order_and_only_valid_ones() -> None:
    text = text_of(
        gate("ship:pre"), gate("plan:later"), gate("plan:pre"), gate("plan:pre", "q.b")
    )

    assert [gate.point for gate in blocked(skipped(text))] == ["plan:pre", "ship:pre"]


def test_a_record_repeats_the_warning_and_names_the_point() -> None:
    (record,) = blocked(skipped(text_of(gate("plan:pre"))))

    assert record == BlockedGate(
        point="plan:pre",
        capability_id="own",
        scope="global",
        path=".msd/capabilities/own",
        code="pending",
        reason="an install has not finished",
        remedy="`msd capability remove own`",
        blocking=True,
        conditions=(),
    )


SOFT = gate("plan:pre", blocking=False)
ODD = gate("plan:pre", blocking="yes")


@pytest.mark.parametrize(
    ("gates", "blocking"),
    [
        ([gate("plan:pre")], True),
        ([SOFT], False),
        ([ODD], None),
        ([SOFT, gate("plan:pre")], True),
        ([ODD, gate("plan:pre")], True),
        ([SOFT, ODD], None),
    ],
)
def test_the_hardest_gate_of_a_point_counts(
    gates: list[Any], blocking: bool | None
) -> None:
    (record,) = blocked(skipped(text_of(*gates)))

    assert record.blocking is blocking


def test_gates_known_from_a_store_alone_may_or_may_not_block() -> None:
    (record,) = blocked(Candidate(folder="own", stored_gates=("plan:pre",)))

    assert record.blocking is None
    assert record.conditions == ()


CONFIG = {"own.on": switch(), "own.more": switch(default=False)}
ON = GateCondition(key="own.on", type="boolean", default=True)
MORE = GateCondition(key="own.more", type="boolean", default=False)


@pytest.mark.parametrize(
    ("switches", "conditions"),
    [
        (["own.on"], (ON,)),
        (["own.on", "own.more", "own.on"], (ON, MORE)),
        (["own.on", None], ()),
        (["own.gone"], (GateCondition(key="own.gone"),)),
        ([7, "own.on"], ()),
    ],
)
def test_a_point_is_conditional_only_when_every_gate_there_is(
    switches: list[Any], conditions: tuple[GateCondition, ...]
) -> None:
    gates = [
        gate("plan:pre", f"q.{place}", **({} if key is None else {"when": key}))
        for place, key in enumerate(switches)
    ]

    (record,) = blocked(skipped(text_of(*gates, config=CONFIG)))

    assert record.conditions == conditions

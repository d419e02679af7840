"""The JSON form of a host contract: what is taken, and what is said about the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.codes import CODES
from msdcomp.diagnostics import MAX_PROBLEMS, Problem, Severity
from msdcomp.host import HostContract
from msdcomp.hostcontract import FAMILIES, contract_faults
from msdcomp.safetext import safe
from msdcomp.vocabulary import HOOK_KINDS, HOST_PHASES, POINTS
from tests.documents import MISSING, changed
from tests.strategies import broken, json_values

STANDARD = HostContract()


@st.composite
def contracts(draw: st.DrawFn) -> dict[str, Any]:
    """Return the JSON form of a contract that is sound."""
    left: list[str] = []
    phases = []
    for name, points, roles, *_ in HOST_PHASES:
        fresh = draw(st.lists(st.sampled_from("ABCDEF"), max_size=2, unique=True))
        produces = [f"{artefact}.md" for artefact in fresh]
        produces = [artefact for artefact in produces if artefact not in left]
        phase: dict[str, Any] = {
            "name": name,
            "points": list(points),
            "roles": draw(
                st.lists(st.sampled_from(roles), min_size=1, unique=True),
            ),
        }
        if draw(st.booleans()) or produces:
            phase["produces"] = produces
        if left:
            phase["consumes"] = draw(
                st.lists(st.sampled_from(left), max_size=2, unique=True)
            )
        left += produces
        phases.append(phase)
    kinds = st.lists(st.sampled_from(HOOK_KINDS), unique=True)
    return {"phases": phases, "kinds": {point: draw(kinds) for point in POINTS}}


def read(document: object) -> HostContract:
    found = HostContract.from_wire(document)
    assert isinstance(found, HostContract), found
    return found


def faults(document: object) -> tuple[Problem, ...]:
    found = HostContract.from_wire(document)
    assert isinstance(found, tuple)
    return found


@given(contracts())
def test_a_sound_contract_is_taken_and_written_back(document: dict[str, Any]) -> None:
    contract = read(document)

    assert read(contract.to_wire()) == contract
    assert read(json.loads(json.dumps(contract.to_wire()))) == contract
    assert contract.points == POINTS
    for phase in document["phases"]:
        for point in phase["points"]:
            assert contract.roles_at(point) == set(phase["roles"])
            assert contract.kinds_at(point) == set(document["kinds"][point])
        for artefact in phase.get("produces", ()):
            assert contract.gives(artefact, phase["points"][-1])


@given(contracts())
def test_whatever_is_taken_publishes_one_family_in_each_phase(
    document: dict[str, Any],
) -> None:
    for phase in read(document).phases:
        assert phase.roles
        assert sum(phase.roles <= set(roles) for roles in FAMILIES.values()) == 1


@given(json_values)
def test_any_value_is_a_contract_or_has_faults(value: object) -> None:
    found = HostContract.from_wire(value)

    assert isinstance(found, HostContract) or _are_told(found)


@given(st.data())
def test_a_contract_broken_in_one_place_has_faults_that_are_told(
    data: st.DataObject,
) -> None:
    document = data.draw(contracts())
    found = HostContract.from_wire(data.draw(broken(st.just(document))))

    assert isinstance(found, HostContract) or _are_told(found)


def _are_told(found: tuple[Problem, ...]) -> bool:
    assert found
    for problem in found:
        assert problem.code in CODES
        assert problem.severity is Severity.ERROR
        assert problem.hint
        assert problem.message == safe(problem.message, 600)
    return True


def test_the_contract_of_msd_passes_the_same_check() -> None:
    assert contract_faults(STANDARD.to_wire()) == ()
    assert read(STANDARD.to_wire()) == STANDARD


def test_every_role_is_in_exactly_one_family_and_each_phase_publishes_one() -> None:
    roles = [role for family in FAMILIES.values() for role in family]

    assert len(roles) == len(set(roles))
    assert {phase.roles for phase in STANDARD.phases} == set(
        map(frozenset, FAMILIES.values())
    )


_KNOWN = ", ".join(POINTS[:-1]) + " or ship:post"


@pytest.mark.parametrize(
    ("path", "value", "code", "at", "message"),
    [
        (
            "/phases",
            MISSING,
            "missing-field",
            "",
            "the host contract must have the field phases, got none",
        ),
        ("/phases", 7, "wrong-type", "/phases", "phases must be an array, got 7"),
        ("/kinds", [], "wrong-type", "/kinds", "kinds must be an object, got an array"),
        (
            "/phases/1",
            None,
            "wrong-type",
            "/phases/1",
            "phases[1] must be an object, got null",
        ),
        (
            "/phases/1/name",
            "plann",
            "not-in-vocabulary",
            "/phases/1/name",
            (
                "name must be a phase (discuss, plan, execute, verify or ship), got "
                '"plann"'
            ),
        ),
        (
            "/phases/1/name",
            True,
            "wrong-type",
            "/phases/1/name",
            "name must be a phase, got true",
        ),
        (
            "/phases/0/name",
            MISSING,
            "missing-field",
            "/phases/0",
            "phases[0] must have the field name, got none",
        ),
        (
            "/phases/4/name",
            "verify",
            "duplicate-entry",
            "/phases/4/name",
            'name must be another one, got "verify" again',
        ),
        (
            "/phases/0",
            MISSING,
            "contract-incomplete",
            "/phases",
            "phases must have every phase, got none called discuss",
        ),
        (
            "/phases/0/points",
            {},
            "wrong-type",
            "/phases/0/points",
            "points must be an array, got an object",
        ),
        (
            "/phases/0/points",
            ["discuss:post", "discuss:pre"],
            "contract-order",
            "/phases/0/points",
            (
                "points must be in loop order (discuss:pre, discuss:post), got "
                "discuss:post, discuss:pre"
            ),
        ),
        (
            "/phases/0/points/1",
            MISSING,
            "contract-incomplete",
            "/phases/0/points",
            "points must have every point, got none called discuss:post",
        ),
        (
            "/phases/0/points/1",
            "plan:pre",
            "point-of-other-phase",
            "/phases/0/points/1",
            (
                'points[1] must be a point of discuss, got "plan:pre", which belongs '
                "to plan"
            ),
        ),
        (
            "/phases/0/points/1",
            "discuss-post",
            "unknown-point",
            "/phases/0/points/1",
            f'points[1] must be a loop point ({_KNOWN}), got "discuss-post"',
        ),
        (
            "/phases/2/roles/0",
            "orchestrator",
            "role-of-other-family",
            "/phases/2/roles/0",
            (
                "execute publishes the family execution (executor or verifier), got "
                '"orchestrator" of the family orchestration'
            ),
        ),
        (
            "/phases/2/roles",
            [],
            "empty-array",
            "/phases/2/roles",
            "roles must have at least one role, got an empty array",
        ),
        (
            "/phases/2/roles",
            "executor",
            "wrong-type",
            "/phases/2/roles",
            'roles must be an array, got "executor"',
        ),
        (
            "/phases/2/roles",
            ["executor", "executor"],
            "duplicate-entry",
            "/phases/2/roles/1",
            'roles[1] must be another one, got "executor" again',
        ),
        (
            "/phases/3/produces",
            ["PLAN.md"],
            "artefact-left-twice",
            "/phases/3/produces/0",
            (
                'produces[0] must be left by no other phase, got "PLAN.md", which plan '
                "leaves"
            ),
        ),
        (
            "/phases/4/produces",
            ["B.md", "B.md"],
            "duplicate-entry",
            "/phases/4/produces/1",
            'produces[1] must be another one, got "B.md" again',
        ),
        (
            "/phases/4/produces",
            [""],
            "empty-string",
            "/phases/4/produces/0",
            "produces[0] must be a non-empty string, got an empty one",
        ),
        (
            "/phases/4/produces",
            [0.5],
            "wrong-type",
            "/phases/4/produces/0",
            "produces[0] must be a string, got 0.5",
        ),
        (
            "/phases/4/produces",
            False,
            "wrong-type",
            "/phases/4/produces",
            "produces must be an array, got false",
        ),
        (
            "/phases/1/consumes",
            ["SUMMARY.md"],
            "artefact-not-left",
            "/phases/1/consumes/0",
            'consumes[0] must be left by an earlier phase, got "SUMMARY.md"',
        ),
        (
            "/phases/1/consumes",
            ["PLAN.md"],
            "artefact-not-left",
            "/phases/1/consumes/0",
            'consumes[0] must be left by an earlier phase, got "PLAN.md"',
        ),
        (
            "/phases/1/consumes",
            [None],
            "wrong-type",
            "/phases/1/consumes/0",
            "consumes[0] must be a string, got null",
        ),
        (
            "/kinds/ship:pre",
            MISSING,
            "contract-incomplete",
            "/kinds",
            "kinds must have every point, got none called ship:pre",
        ),
        (
            "/kinds/ship:pre",
            "gate",
            "wrong-type",
            "/kinds/ship:pre",
            'ship:pre must be an array, got "gate"',
        ),
        (
            "/kinds/ship:pre",
            ["hook"],
            "not-in-vocabulary",
            "/kinds/ship:pre/0",
            'ship:pre[0] must be a hook kind (step, contribution or gate), got "hook"',
        ),
        (
            "/kinds/ship:pre",
            ["gate", "gate"],
            "duplicate-entry",
            "/kinds/ship:pre/1",
            'ship:pre[1] must be another one, got "gate" again',
        ),
        (
            "/kinds/ship",
            [],
            "unknown-point",
            "/kinds/ship",
            f'ship must be a loop point ({_KNOWN}), got "ship"',
        ),
        (
            "/version",
            "1",
            "unknown-field",
            "/version",
            'the host contract takes phases, kinds, got "version"',
        ),
    ],
)
def test_each_fault_says_where_it_is_what_was_found_and_what_was_expected(
    path: str, value: object, code: str, at: str, message: str
) -> None:
    found = faults(changed(STANDARD.to_wire(), path, value))

    told = [(p.code, p.path, p.message) for p in found]
    assert (code, at, message) in told


@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("/phases/1/roles/0", "planer", 'Did you mean "planner"?'),
        ("/phases/2/consumes/0", "PLAN.MD", 'Did you mean "PLAN.md"?'),
        ("/phases/2/consume", [], 'Did you mean "consumes"?'),
        ("/phases/2/more", [], "Delete the field."),
        ("/kinds/plan:prE", [], 'Did you mean "plan:pre"?'),
        ("/kinds/ship:pre/0", "gates", 'Did you mean "gate"?'),
        ("/phases/1/name", "review", "Use discuss, plan, execute, verify or ship."),
    ],
)
def test_a_slip_of_the_pen_is_guessed_once(path: str, value: object, hint: str) -> None:
    assert hint in [p.hint for p in faults(changed(STANDARD.to_wire(), path, value))]


def test_phases_out_of_order_are_one_fault_and_what_they_read_another() -> None:
    wire = STANDARD.to_wire()
    wire["phases"][1], wire["phases"][2] = wire["phases"][2], wire["phases"][1]

    assert [(p.code, p.path) for p in faults(wire)] == [
        ("artefact-not-left", "/phases/1/consumes/0"),
        ("contract-order", "/phases"),
    ]


def test_a_phase_of_no_known_name_still_leaves_its_artefacts() -> None:
    wire = changed(STANDARD.to_wire(), "/phases/1/name", "plann")
    wire["phases"][4]["produces"] = ["PLAN.md"]

    told = [p.message for p in faults(wire)]

    assert not any("consumes" in message for message in told)
    assert any("which another phase leaves" in message for message in told)


@pytest.mark.parametrize("document", [None, 3, "phases", [], [[]], object()])
def test_what_is_no_object_is_no_contract(document: object) -> None:
    assert len(faults(document)) == 1


def test_a_python_value_that_is_no_json_is_named_as_such() -> None:
    wire = STANDARD.to_wire()
    wire["phases"][0]["roles"] = {"orchestrator"}

    assert [(p.code, p.path) for p in faults(wire)] == [
        ("not-json-value", "/phases/0/roles")
    ]


def test_a_long_hostile_document_costs_no_more_than_a_bound() -> None:
    many = [{"name": "plan", "produces": [f"{n}.md"]} for n in range(20_000)]
    found = faults({"phases": many, "kinds": {"x" * 10_000: 3}})

    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1].code == "too-many-problems"


def test_text_of_a_contract_is_repeated_short_and_safely() -> None:
    found = faults(changed(STANDARD.to_wire(), "/phases/0/roles/0", "\x1b[2J" * 99))

    assert _are_told(found)

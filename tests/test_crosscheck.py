"""The cross-capability invariants: every message, with its place and remedy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import pytest

from msdcomp.crosscheck import NobodyElse, Outlook, violations
from msdcomp.diagnostics import Problem
from msdcomp.flow import Flow
from msdcomp.host import HostContract
from msdcomp.invariants import Draft, Index
from msdcomp.manifest import Manifest
from msdcomp.spelling import MAX_OPTIONS
from msdcomp.wire import decode
from tests.overlays import (
    HOST_DOCUMENTS,
    feature,
    gate,
    resolver,
    runtime,
    said,
    step,
    switch,
)

CONTRACT = HostContract()


@attrs.frozen
class Told:
    """An outlook that is told what to know."""

    fates: Mapping[str, str] = attrs.field(factory=dict)
    rings: Mapping[tuple[str, str], tuple[str, ...]] = attrs.field(factory=dict)
    made: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    features: tuple[str, ...] = ()
    files: Mapping[str, str] = attrs.field(factory=dict)

    def fate(self, capability_id: str) -> str | None:
        return self.fates.get(capability_id)

    def ring(self, one: str, other: str) -> tuple[str, ...]:
        return self.rings.get((one, other), ())

    def may_be_runtime(self, capability_id: str) -> bool:
        return capability_id not in self.features

    def makers(self, artefact: str) -> Mapping[str, int]:
        return self.made.get(artefact, {})

    def keys(self, capability_id: str) -> tuple[tuple[str, str], ...]:
        return (("global", capability_id),)

    def file(self, capability_id: str) -> str | None:
        return self.files.get(capability_id)


def read(document: dict[str, Any]) -> Manifest:
    manifest = decode(document).manifest
    assert manifest is not None
    return manifest


FIRSTS = tuple(read(document) for document in HOST_DOCUMENTS)


def violated(
    document: dict[str, Any], *members: dict[str, Any], outlook: Outlook | None = None
) -> tuple[Problem, ...]:
    """Return what a manifest breaks beside the first party and other members."""
    draft = Draft(Index.of(FIRSTS, CONTRACT.order), CONTRACT.order)
    for member in members:
        draft.add(read(member))
    flow = Flow.of(FIRSTS)
    return violations(draft, read(document), CONTRACT, flow, outlook or NobodyElse())


def own(**fields: Any) -> dict[str, Any]:
    return feature("own", **fields)


def needs(*artefacts: str, point: str = "plan:pre") -> dict[str, Any]:
    return own(steps=[step(point, [], artefacts)])


SKIPPED = "was skipped (pending: an install or upgrade of it has not finished)"


@pytest.mark.parametrize(
    ("document", "outlook", "expected"),
    [
        pytest.param(
            own(requires=["own"]),
            Told(),
            Problem(
                code="requires-cycle",
                path="/requires/0",
                message='"own" requires itself',
                hint="Drop the entry.",
            ),
            id="requires itself",
        ),
        pytest.param(
            own(requires=["base", "cap-ga"]),
            Told(),
            Problem(
                code="tier-violation",
                path="/requires/1",
                message="a capability of tier standard may not require "
                '"cap-ga", which is of tier full',
                hint="Raise tier to full, or require something smaller.",
            ),
            id="requires a larger tier",
        ),
        pytest.param(
            own(requires=["two"]),
            Told(rings={("own", "two"): ("own", "two", "three")}),
            Problem(
                code="requires-cycle",
                path="/requires/0",
                message="capabilities require each other in a circle: "
                '"own" requires "two" requires "three" requires "own"',
                hint="Drop one of these entries of requires.",
                about=("own", "two", "three"),
            ),
            id="requires in a circle",
        ),
        pytest.param(
            own(requires=["two"]),
            Told(fates={"two": SKIPPED}),
            Problem(
                code="requires-not-loaded",
                path="/requires/0",
                message='requires "two", which is installed but was skipped '
                "(pending: an install or upgrade of it has not finished)",
                hint='Mend or remove "two" first.',
                about=("two",),
            ),
            id="requires what was skipped",
        ),
        pytest.param(
            own(requires=["two"]),
            Told(),
            Problem(
                code="requires-missing",
                path="/requires/0",
                message='requires "two", which is not installed',
                hint='Install "two", or drop the entry.',
            ),
            id="requires what is nowhere",
        ),
        pytest.param(
            own(runtimeCompat={"supported": ["host-a", "base"], "unsupported": []}),
            Told(),
            Problem(
                code="unknown-runtime",
                path="/runtimeCompat/supported/1",
                message='names the runtime "base", which no capability describes',
                hint="Name runtimes by the id of the capability that describes them.",
            ),
            id="a capability that is no runtime",
        ),
        pytest.param(
            own(runtimeCompat={"supported": ["*"], "unsupported": ["host-z"]}),
            Told(fates={"host-z": "is decided later, in project scope"}),
            Problem(
                code="unknown-runtime",
                path="/runtimeCompat/unsupported/0",
                message='names the runtime "host-z", which is installed but is decided '
                "later, in project scope",
                hint="Name runtimes by the id of the capability that describes them.",
                about=("host-z",),
            ),
            id="a runtime that is not loaded yet",
        ),
        pytest.param(
            own(runtimeCompat={"supported": ["two"], "unsupported": []}),
            Told(fates={"two": SKIPPED}, features=("two",)),
            Problem(
                code="unknown-runtime",
                path="/runtimeCompat/supported/0",
                message='names the runtime "two", which no capability describes',
                hint="Name runtimes by the id of the capability that describes them.",
            ),
            id="a skipped feature is no runtime either",
        ),
        pytest.param(
            own(
                runtimeCompat={
                    "supported": ["*"],
                    "unsupported": [],
                    "notes": {"host-z": "Slow.", "*": "Anywhere.", "host-a": "Fine."},
                }
            ),
            Told(),
            Problem(
                code="unknown-runtime",
                path="/runtimeCompat/notes/host-z",
                message='names the runtime "host-z", which no capability describes',
                hint="Name runtimes by the id of the capability that describes them.",
            ),
            id="a note about a runtime that is nowhere",
        ),
        pytest.param(
            own(steps=[step("plan:pre", ["NEW.md", "BASE.md"], [])]),
            Told(),
            Problem(
                code="artefact-produced-twice",
                path="/steps/0/produces/1",
                message='step 0 produces "BASE.md" at plan:pre, as does step 0 of '
                '"base", which is shipped with the host',
                hint="Rename the artefact, or produce it at another point.",
            ),
            id="produced by the first party",
        ),
        pytest.param(
            own(steps=[step("plan:pre", ["BASE.md"], [])]),
            Told(files={"base": ".msd/capabilities/base/capability.json"}),
            Problem(
                code="artefact-produced-twice",
                path="/steps/0/produces/0",
                message='step 0 produces "BASE.md" at plan:pre, as does step 0 of '
                '"base", in .msd/capabilities/base/capability.json',
                hint="Rename the artefact, or produce it at another point.",
            ),
            id="produced by another overlay",
        ),
        pytest.param(
            own(
                steps=[
                    step("plan:pre", ["NEW.md", "NEW.md"], []),
                    step("plan:post", ["NEW.md"], []),
                    step("plan:pre", ["NEW.md"], []),
                ]
            ),
            Told(),
            Problem(
                code="artefact-produced-twice",
                path="/steps/2/produces/0",
                message='step 2 produces "NEW.md" at plan:pre, as does step 0 of the '
                "same capability",
                hint="Rename the artefact, or produce it at another point.",
            ),
            id="produced by two steps of its own",
        ),
        pytest.param(
            needs("GA.md"),
            Told(),
            Problem(
                code="consumes-produced-later",
                path="/steps/0/consumes/0",
                message='consumes "GA.md" at plan:pre, but it is first there at '
                "verify:pre",
                hint="Move the step to verify:pre or after.",
            ),
            id="a step produces it later",
        ),
        pytest.param(
            needs("CONTEXT.md", "SUMMARY.md"),
            Told(),
            Problem(
                code="consumes-produced-later",
                path="/steps/0/consumes/1",
                message='consumes "SUMMARY.md" at plan:pre, but it is first there at '
                "execute:post",
                hint="Move the step to execute:post or after.",
            ),
            id="the host leaves it later",
        ),
        pytest.param(
            needs("TWO.md"),
            Told(
                fates={"two": SKIPPED}, made={"TWO.md": {"own": 0, "one": 0, "two": 2}}
            ),
            Problem(
                code="consumes-not-loaded",
                path="/steps/0/consumes/0",
                message='consumes "TWO.md" at plan:pre, which "two" would produce, but '
                "that was skipped (pending: an install or upgrade of it has not "
                "finished)",
                hint='Mend or remove "two" first.',
                about=("two",),
            ),
            id="its producer was skipped",
        ),
        pytest.param(
            needs("TWO.md"),
            Told(fates={"two": SKIPPED}, made={"TWO.md": {"two": 3}}),
            Problem(
                code="consumes-never-produced",
                path="/steps/0/consumes/0",
                message='consumes "TWO.md" at plan:pre, which neither the host nor '
                "any step produces",
                hint="Produce it in a step at plan:pre or before, or drop it.",
            ),
            id="its producer was skipped, and would come too late",
        ),
        pytest.param(
            needs("PLAN.md"),
            Told(fates={"two": SKIPPED}, made={"PLAN.md": {"two": 2}}),
            Problem(
                code="consumes-not-loaded",
                path="/steps/0/consumes/0",
                message='consumes "PLAN.md" at plan:pre, which "two" would produce, '
                "but that was skipped (pending: an install or upgrade of it has not "
                "finished)",
                hint='Mend or remove "two" first.',
                about=("two",),
            ),
            id="its producer was skipped, and the host is late",
        ),
        pytest.param(
            own(steps=[step("plan:pre", ["MINE.md"], ["MINE.md"])]),
            Told(),
            Problem(
                code="consumes-never-produced",
                path="/steps/0/consumes/0",
                message='consumes "MINE.md" at plan:pre, which only the step itself '
                "produces",
                hint="Drop the artefact from consumes.",
            ),
            id="only the step itself produces it",
        ),
        pytest.param(
            needs("GHOST.md"),
            Told(),
            Problem(
                code="consumes-never-produced",
                path="/steps/0/consumes/0",
                message='consumes "GHOST.md" at plan:pre, which neither the host nor '
                "any step produces",
                hint="Produce it in a step at plan:pre or before, or drop it.",
            ),
            id="nobody produces it",
        ),
        pytest.param(
            needs("base.MD"),
            Told(),
            Problem(
                code="consumes-never-produced",
                path="/steps/0/consumes/0",
                message='consumes "base.MD" at plan:pre, which neither the host nor '
                "any step produces",
                hint="Produce it in a step at plan:pre or before, or drop it. "
                'Did you mean "BASE.md"?',
            ),
            id="somebody spells it in other letters",
        ),
        pytest.param(
            needs("CONTEX.md"),
            Told(),
            Problem(
                code="consumes-never-produced",
                path="/steps/0/consumes/0",
                message='consumes "CONTEX.md" at plan:pre, which neither the host nor '
                "any step produces",
                hint="Produce it in a step at plan:pre or before, or drop it. "
                'Did you mean "CONTEXT.md"?',
            ),
            id="the host spells it otherwise",
        ),
        pytest.param(
            own(
                steps=[
                    step("plan:pre", ["A.md"], ["B.md"]),
                    step("plan:pre", ["B.md"], ["A.md"]),
                ]
            ),
            Told(),
            Problem(
                code="ordering-cycle",
                path="/steps/0",
                message='the steps at plan:pre wait for each other: "own" step 0 gives '
                '"A.md" to "own" step 1 gives "B.md" to "own" step 0',
                hint="Drop one of these artefacts from consumes, or produce it "
                "earlier.",
            ),
            id="its own steps wait for each other",
        ),
        pytest.param(
            own(steps=[step("plan:pre", ["CONTEXT.md"], ["BASE.md"])]),
            Told(),
            Problem(
                code="ordering-cycle",
                path="/steps/0",
                message='the steps at plan:pre wait for each other: "base" step 0 '
                'gives "BASE.md" to "own" step 0 gives "CONTEXT.md" to "base" step 0',
                hint="Drop one of these artefacts from consumes, or produce it "
                "earlier.",
            ),
            id="a step and the first party's wait for each other",
        ),
        pytest.param(
            own(contributions=[said("plan:pre"), said("plan:pre", ["P.md"], ["X.md"])]),
            Told(),
            Problem(
                code="ordering-cycle",
                path="/contributions/1",
                message='the contributions at plan:pre wait for each other: "base" '
                'contribution 0 gives "X.md" to "own" contribution 1 gives "P.md" to '
                '"base" contribution 0',
                hint="Drop one of these artefacts from consumes, or produce it "
                "earlier.",
            ),
            id="a contribution and the first party's wait for each other",
        ),
        pytest.param(
            own(contributions=[said("plan:pre", into="orchestrator")]),
            Told(),
            Problem(
                code="role-not-published",
                path="/contributions/0/into",
                message='into must be a role published at plan:pre ("checker", '
                '"planner" or "researcher"), got "orchestrator"',
                hint="Address a role the point publishes, or move the contribution.",
            ),
            id="a role that its point does not publish",
        ),
        pytest.param(
            own(gates=[gate("plan:pre", when="own.oh")], config={"own.on": switch()}),
            Told(),
            Problem(
                code="when-undeclared",
                path="/gates/0/when",
                message='when must be a key of this capability\'s config, got "own.oh"',
                hint='Did you mean "own.on"?',
            ),
            id="a switch that is not its own",
        ),
        pytest.param(
            own(taskContentResolver=resolver("base")),
            Told(),
            Problem(
                code="tracker-prefix-taken",
                path="/taskContentResolver/trackerPrefix",
                message='the tracker prefix "base" already belongs to "base"',
                hint="Rename the tracker prefix, or remove one of the two "
                "capabilities.",
            ),
            id="a tracker that is another's",
        ),
    ],
)
def test_a_broken_invariant_is_told_like_this(
    document: dict[str, Any], outlook: Told, expected: Problem
) -> None:
    assert violated(document, outlook=outlook) == (expected,)


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(own(), id="nothing at all"),
        pytest.param(own(requires=["base"]), id="requires a smaller tier"),
        pytest.param(own(tier="full", requires=["cap-ga"]), id="or the same"),
        pytest.param(needs("BASE.md"), id="made by another at the same point"),
        pytest.param(needs("BASE.md", point="ship:post"), id="or before"),
        pytest.param(needs("CONTEXT.md"), id="left by the host"),
        pytest.param(
            own(
                steps=[
                    step("plan:pre", ["MINE.md"], []),
                    step("plan:post", ["MINE.md"], ["MINE.md"]),
                ]
            ),
            id="made by another step of its own, and again",
        ),
        pytest.param(
            own(steps=[step("plan:post", ["BASE.md"], [])]),
            id="made once more at another point",
        ),
        pytest.param(
            own(contributions=[said("plan:pre", [], ["GHOST.md"])]),
            id="a contribution may read what nobody makes",
        ),
        pytest.param(
            own(contributions=[said("plan:pre", ["A.md"], ["A.md"])]),
            id="nobody waits for oneself",
        ),
        pytest.param(
            own(
                steps=[step("plan:pre", ["A.md"], ["CONTEXT.md"])],
                contributions=[said("plan:pre", ["CONTEXT.md"], ["A.md"])],
            ),
            id="steps do not wait for contributions",
        ),
        pytest.param(runtime("own", requires=["host-a"]), id="a runtime has no hooks"),
    ],
)
def test_what_fits_is_not_complained_about(document: dict[str, Any]) -> None:
    assert violated(document) == ()


def test_a_runtime_named_twice_is_reported_once() -> None:
    compat = {"supported": ["host-z"], "unsupported": [], "notes": {"host-z": "Slow."}}

    (problem,) = violated(own(runtimeCompat=compat))

    assert problem.path == "/runtimeCompat/supported/0"


def test_every_broken_invariant_is_reported_in_a_fixed_order() -> None:
    document = own(
        requires=["nowhere"],
        runtimeCompat={"supported": ["host-z"], "unsupported": []},
        skills=["a", "a"],
        steps=[step("plan:pre", ["BASE.md"], ["GHOST.md"])],
        contributions=[
            said("plan:pre", ["P.md"], ["X.md"], into="nobody"),
        ],
    )

    assert [problem.code for problem in violated(document)] == [
        "role-not-published",
        "claimed-twice",
        "requires-missing",
        "unknown-runtime",
        "artefact-produced-twice",
        "consumes-never-produced",
        "ordering-cycle",
    ]


def test_members_count_like_the_first_party() -> None:
    member = feature("two", tier="full", steps=[step("plan:post", ["TWO.md"], [])])
    document = own(
        requires=["two"],
        steps=[step("plan:post", ["TWO.md"], []), step("plan:post", [], ["TWO.md"])],
    )

    found = violated(document, member)

    assert [(p.code, p.path) for p in found] == [
        ("tier-violation", "/requires/0"),
        ("artefact-produced-twice", "/steps/0/produces/0"),
    ]
    assert found[1].message.endswith('step 0 of "two", which is shipped with the host')


def test_a_circle_among_others_is_not_this_capabilitys_fault() -> None:
    """A first party that is tied up by itself cannot be blamed on an overlay."""
    tied = [
        read(feature("one", contributions=[said("plan:pre", ["A.md"], ["B.md"])])),
        read(feature("two", contributions=[said("plan:pre", ["B.md"], ["A.md"])])),
    ]
    manifest = read(own(contributions=[said("plan:pre", ["B.md"], [])]))

    assert list(Flow.of(tied).circles(manifest)) == []


def test_a_capability_judged_alone_knows_of_nobody_else() -> None:
    alone = NobodyElse()

    assert alone.fate("two") is None
    assert alone.ring("own", "two") == ()
    assert alone.makers("TWO.md") == {}
    assert not alone.may_be_runtime("two")
    assert alone.keys("two") == ()


def test_a_hostile_artefact_is_made_safe_and_does_not_take_long_to_compare() -> None:
    (problem,) = violated(needs("`rm`\n" + "x" * 100_000))

    assert problem.message.startswith(f'consumes "rm {"x" * 77}" at plan:pre')


def test_among_too_many_names_nothing_is_suggested() -> None:
    many = [step("plan:pre", [f"PART{n}.md"], []) for n in range(MAX_OPTIONS + 1)]
    wants = step("plan:pre", [], ["PART0.mdx"])

    few = violated(own(steps=[many[0], wants]))
    lost = violated(own(steps=[*many, wants]))

    assert [(p.hint or "").count("Did you mean") for p in (*few, *lost)] == [1, 0]

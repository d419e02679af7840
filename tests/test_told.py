"""What a person is told in the corners: found by changing the code on purpose.

Each test here fails when one line of the fold, its gates or its bookkeeping is turned
into something slightly different.
"""

from __future__ import annotations

from typing import Any

import pytest

from msdcomp import Candidate, CentralConfig, Consent, Host, Scope, compose
from msdcomp.admission import Admission
from msdcomp.composition import Composition
from msdcomp.contender import Contender
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.manifest import Contribution
from msdcomp.testing import candidate, feature, gate, step


def composed(*candidates: Candidate, **options: Any) -> Composition:
    return compose(read_snapshot(), candidates, **options)


FIXED = {
    "linked-folder": Candidate(folder="anchor", scope=Scope.PROJECT, linked=True),
    "pending": Candidate(folder="anchor", pending=True),
    "unconsented": Candidate(folder="anchor", scope=Scope.PROJECT),
    "consent-changed": Candidate(
        folder="anchor", scope=Scope.PROJECT, consent=Consent.CHANGED
    ),
    "consent-unreadable": Candidate(
        folder="anchor", scope=Scope.PROJECT, consent=Consent.UNREADABLE
    ),
    "unreadable": Candidate(folder="anchor", unreadable="no such file"),
    "reserved-prefix": candidate("msd-anchor"),
}


@pytest.mark.parametrize("code", FIXED)
def test_a_gate_with_a_fixed_sentence_has_one_problem_that_repeats_it(
    code: str,
) -> None:
    (warning,) = next(iter(composed(FIXED[code]).warnings.values()))

    (problem,) = warning.problems
    assert (warning.code, problem.code) == (code, code)
    assert problem.message == warning.reason
    assert problem.hint
    assert warning.remedy.startswith(problem.hint)


def test_a_name_that_no_command_could_agree_to_is_told_so() -> None:
    odd = Candidate(folder="Not An Id", scope=Scope.PROJECT)

    (warning,) = composed(odd).warnings["project", "Not An Id"]

    assert warning.remedy == (
        "Give the folder a valid id, then look at what it does. "
        "Or delete its folder in project scope."
    )


def test_only_what_the_accepted_copy_does_not_check_is_lost() -> None:
    first = candidate("anchor", gates=[gate("ship:pre"), gate("plan:post")])
    second = candidate(
        "anchor",
        scope=Scope.PROJECT,
        gates=[gate("ship:pre"), gate("plan:post", blocking=False), gate("plan:pre")],
    )

    lost = composed(first, second).blocked_gates

    assert sorted(lost) == ["plan:post", "plan:pre"]


def test_the_hosts_own_keys_and_patterns_are_taken_and_no_others() -> None:
    slice_ = {"type": "boolean", "default": True, "description": "x"}
    host = Host(central=CentralConfig.of(["own.key"], ["^own\\.[a-z]+\\.on$"]))

    def taken(key: str) -> bool:
        one = candidate("anchor", config={key: slice_})
        return bool(composed(one, host=host).warnings)

    assert taken("own.key")
    assert taken("own.x.on")
    assert not taken("own.x.on\n")
    assert not taken("own.other")
    # A skill may be called like a key of the host.
    assert composed(candidate("anchor", skills=["own.key"]), host=host).accepted


def test_every_fragment_text_arrives_in_its_hook() -> None:
    given = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
    }
    made = candidate(
        "anchor",
        contributions=[
            {**given, "fragment": {"path": "a.md"}},
            {**given, "fragment": {"path": "b.md"}},
        ],
        fragments={"a.md": "First.", "b.md": "Second."},
    )

    hooks = composed(made).registry.by_loop_point["plan:pre"].contributions

    own = [hook.body for hook in hooks if hook.capability_id == "anchor"]
    texts = [body.fragment.inline for body in own if isinstance(body, Contribution)]
    assert texts == ["First.", "Second."]


@pytest.mark.parametrize(("size", "told"), [(5, ""), (6, " and 1 more")])
def test_a_failed_set_names_five_culprits_and_counts_the_rest(
    size: int, told: str
) -> None:
    early = step("discuss:post", produces=[f"A{n}.md" for n in range(size)])
    ring = [
        candidate(
            f"c{n}",
            steps=[
                step(
                    "plan:pre",
                    produces=[f"A{n}.md"],
                    consumes=[f"A{(n + 1) % size}.md"],
                )
            ],
        )
        for n in range(size)
    ]

    (warning,) = composed(candidate("seed", steps=[early]), *ring).warnings["set", "*"]

    names = ", ".join(f'"c{n}"' for n in range(5))
    assert f"; {names}{told} wait for each other" in warning.reason


def test_a_defect_costs_one_candidate_and_says_that_it_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = Admission.judge

    def broken(self: Admission, one: Contender) -> Any:
        if one.candidate.folder == "anchor":
            raise ZeroDivisionError
        return real(self, one)

    monkeypatch.setattr(Admission, "judge", broken)

    result = composed(candidate("anchor", gates=[gate("ship:pre")]), candidate("boom"))

    assert result.accepted == ("boom",)
    (warning,) = result.warnings["global", "anchor"]
    (problem,) = warning.problems
    assert (warning.code, problem.code) == ("internal-error", "internal-error")
    assert problem.message == warning.reason
    assert "ZeroDivisionError" in warning.reason
    assert [g.capability_id for g in result.blocked_gates["ship:pre"]] == ["anchor"]


def test_two_folders_of_one_name_in_one_scope_keep_a_warning_each() -> None:
    one = Candidate(folder="anchor", unreadable="no such file")
    other = Candidate(folder="anchor", path="b/anchor", unreadable="a folder")

    warnings = composed(one, other).warnings["global", "anchor"]

    assert [w.path for w in warnings] == [".msd/capabilities/anchor", "b/anchor"]


def test_a_name_claimed_twice_does_not_hide_the_next_one() -> None:
    made = candidate("anchor", skills=["a", "a", "b", "b"])

    (warning,) = composed(made).warnings["global", "anchor"]

    assert [p.path for p in warning.problems] == ["/skills/1", "/skills/3"]


def test_capabilities_of_two_circles_are_not_said_to_require_each_other() -> None:
    def pair(one: str, other: str) -> list[Candidate]:
        return [candidate(one, requires=[other]), candidate(other, requires=[one])]

    tail = candidate("aa", requires=["ba", "ca"])
    result = composed(tail, *pair("ba", "bb"), *pair("ca", "cb"))

    (warning,) = result.warnings["global", "aa"]
    assert {p.code for p in warning.problems} == {"requires-not-loaded"}
    (warning,) = result.warnings["global", "ba"]
    assert {p.code for p in warning.problems} == {"requires-cycle"}


def test_nobody_declares_anything_before_passing_the_first_five_gates() -> None:
    pending = Candidate.read(feature("aa", requires=["zz"]))
    needs = candidate("bb", steps=[step("plan:pre", consumes=["X.md"])])
    makes = candidate(
        "cc", engines={"msd": ">=9"}, steps=[step("plan:pre", produces=["X.md"])]
    )
    broken = Candidate(folder="00", unreadable="no such file")

    result = composed(broken, pending, needs, makes)

    (warning,) = result.warnings["global", "bb"]
    assert [p.code for p in warning.problems] == ["consumes-not-loaded"]
    assert warning.because == (("global", "cc"),)


def test_two_producers_are_told_with_both_steps_and_both_files() -> None:
    made = [step("plan:pre", produces=["X.md"])]
    result = composed(candidate("anchor", steps=made), candidate("bollard", steps=made))

    (warning,) = result.warnings["global", "bollard"]
    (problem,) = warning.problems
    assert problem.file == ".msd/capabilities/bollard/capability.json"
    assert problem.message == (
        'step 0 produces "X.md" at plan:pre, as does step 0 of "anchor", '
        "in .msd/capabilities/anchor/capability.json"
    )


def test_a_member_of_one_circle_is_in_no_circle_with_a_member_of_another() -> None:
    result = composed(
        candidate("ba", requires=["bb", "ca"]),
        candidate("bb", requires=["ba"]),
        candidate("ca", requires=["cb"]),
        candidate("cb", requires=["ca"]),
    )

    (warning,) = result.warnings["global", "ba"]
    assert [(p.path, p.code) for p in warning.problems] == [
        ("/requires/0", "requires-cycle"),
        ("/requires/1", "requires-not-loaded"),
    ]

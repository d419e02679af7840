"""Composing again gives what composing from the start gives, whatever was edited."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import attrs
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import msdcomp
from msdcomp import recomposition
from msdcomp.candidate import Candidate, Scope
from msdcomp.composition import Composition
from msdcomp.contender import Contender, contenders
from msdcomp.fold import OnSetFailure, compose
from msdcomp.ground import Ground
from msdcomp.judging import Folded, judge_all
from msdcomp.links import Links
from msdcomp.outlook import FoldOutlook
from msdcomp.recomposition import recompose
from tests.overlays import (
    FIRST_PARTY,
    HOST,
    Plan,
    candidates,
    feature,
    plan_lists,
    plans,
    said,
    step,
)

policies: st.SearchStrategy[OnSetFailure] = st.sampled_from(["fallback", "isolate"])

#: What happens to a set: somebody comes, goes, or is another one from now on.
Edit = tuple[str, int, Plan]
edits: st.SearchStrategy[list[Edit]] = st.lists(
    st.tuples(
        st.sampled_from(["come", "go", "change", "same"]), st.integers(0, 9), plans
    ),
    min_size=1,
    max_size=5,
)


def edited(now: Sequence[Candidate], edit: Edit) -> list[Candidate]:
    kind, number, plan = edit
    new = plan.candidate()
    place = number % len(now) if now else 0
    rest = [one for index, one in enumerate(now) if index != place]
    if kind == "go":
        return rest
    if kind == "same" and now:  # read once more: equal, and another object
        again = Candidate(
            **{
                name: getattr(now[place], name)
                for name in (
                    "folder",
                    "scope",
                    "decoded",
                    "source",
                    "unreadable",
                    "path",
                    "linked",
                    "dangling",
                    "pending",
                    "committed",
                    "consent",
                    "fragments",
                    "stored_gates",
                    "consented_gates",
                )
            }
        )
        return [*rest, again]
    # As in a file system, a folder is there once.
    stay = [one for one in (rest if kind == "change" else now) if one.key != new.key]
    return [new, *stay]


def fresh(now: Sequence[Candidate], policy: OnSetFailure = "fallback") -> Composition:
    return compose(FIRST_PARTY, now, HOST, on_set_failure=policy)


def assert_same(again: Composition, whole: Composition) -> None:
    assert again == whole
    assert again.to_wire() == whole.to_wire()
    assert again.accepted == whole.accepted
    assert (again.registry is FIRST_PARTY) == (whole.registry is FIRST_PARTY)


@given(plan_lists, edits, policies)
def test_a_sequence_of_edits_ends_where_composing_from_the_start_does(
    start: list[Plan], sequence: list[Edit], policy: OnSetFailure
) -> None:
    now: list[Candidate] = list(candidates(start))
    composed = fresh(now, policy)
    for edit in sequence:
        now = edited(now, edit)
        composed = recompose(composed, now)
        assert_same(composed, fresh(now, policy))
        event("mended" if composed.making and composed.making.workings else "anew")


@given(plan_lists, plan_lists, policies)
def test_any_set_can_follow_any_other(
    one: list[Plan], other: list[Plan], policy: OnSetFailure
) -> None:
    before, after = candidates(one), candidates(other)

    assert_same(recompose(fresh(before, policy), after), fresh(after, policy))


@given(plan_lists, edits)
def test_the_composition_before_stays_what_it_was(
    start: list[Plan], sequence: list[Edit]
) -> None:
    now = candidates(start)
    first = fresh(now)
    wire = first.to_wire()

    # Each edit starts from the first one, as several branches would.
    for edit in sequence:
        assert_same(recompose(first, edited(now, edit)), fresh(edited(now, edit)))

    assert first == fresh(now)
    assert first.to_wire() == wire


def overlay(folder: str, **fields: object) -> Candidate:
    return Candidate.read(feature(folder, **fields))


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the folders that `recompose` decides, as it decides them."""
    told: list[str] = []

    def listen(
        ordered: Sequence[Contender], ground: Ground, outlook: FoldOutlook
    ) -> Folded:
        told.extend(one.candidate.folder for one in ordered)
        return judge_all(ordered, ground, outlook)

    monkeypatch.setattr(recomposition, "judge_all", listen)
    return told


CROWD = [overlay(f"by-{number:03}", skills=[f"by-{number}"]) for number in range(50)]


def test_only_what_changed_and_who_is_linked_to_it_is_decided_again(
    judged: list[str],
) -> None:
    maker = overlay("cap-ba", steps=[step("plan:pre", ["P.md"], [])])
    user = overlay("cap-da", steps=[step("plan:post", [], ["P.md"])])
    needs = overlay("cap-fa", requires=["cap-da"])
    rival = overlay("cap-ha", skills=["by-7"])
    first = fresh([*CROWD, maker, user, needs, rival])
    other = overlay("cap-ba", steps=[step("verify:pre", ["P.md"], [])])

    again = recompose(first, [*CROWD, other, user, needs, rival])

    assert judged == ["cap-ba", "cap-da", "cap-fa"]
    assert_same(again, fresh([*CROWD, other, user, needs, rival]))
    del judged[:]
    assert_same(recompose(again, [*CROWD, other, rival]), fresh([*CROWD, other, rival]))
    assert judged == ["cap-ba"]
    del judged[:]
    recompose(again, [*CROWD[:7], *CROWD[8:], other, user, needs, rival])
    assert judged == ["cap-ha"]


def test_nothing_is_decided_where_nothing_changed(judged: list[str]) -> None:
    first = fresh(CROWD)

    assert_same(recompose(first, reversed(CROWD)), first)
    assert_same(
        recompose(
            first,
            [
                Candidate.read(feature("by-001", skills=["by-1"])),
                *CROWD[:1],
                *CROWD[2:],
            ],
        ),
        first,
    )
    assert judged == []


def test_equal_candidates_read_again_are_kept_as_they_were() -> None:
    first = fresh(CROWD)
    again = [
        overlay(f"by-{number:03}", skills=[f"by-{number}"]) for number in range(50)
    ]

    composed = recompose(first, again)

    assert composed.making is not None
    assert all(
        one is other
        for one, other in zip(composed.making.candidates, CROWD, strict=True)
    )


def test_an_artefact_that_only_the_host_gave_can_tie_everyone(
    judged: list[str],
) -> None:
    users = [
        overlay(f"cap-{letter}a", steps=[step("plan:pre", [], ["CONTEXT.md"])])
        for letter in "bdf"
    ]
    first = fresh([*CROWD, *users])
    maker = overlay("cap-ha", steps=[step("plan:pre", ["CONTEXT.md"], [])])

    again = recompose(first, [*CROWD, *users, maker])

    assert sorted(judged) == ["cap-ba", "cap-da", "cap-fa", "cap-ha"]
    assert_same(again, fresh([*CROWD, *users, maker]))


def test_a_hook_that_a_shipped_one_waits_for_moves_it_and_back(
    judged: list[str],
) -> None:
    # The contribution of `base` at plan:pre needs P.md and gives X.md.
    gives = overlay("cap-ba", contributions=[said("plan:pre", ["P.md"], [])])
    needs = overlay("cap-da", contributions=[said("plan:pre", [], ["X.md"])])
    first = fresh([*CROWD, needs])

    both = recompose(first, [*CROWD, needs, gives])
    back = recompose(both, [*CROWD, needs])

    assert judged == ["cap-ba"]  # the rest of the order moved without a verdict
    assert [
        hook.capability_id
        for hook in both.registry.by_loop_point["plan:pre"].contributions
    ] == ["cap-ba", "base", "cap-da"]
    assert_same(both, fresh([*CROWD, needs, gives]))
    assert_same(back, fresh([*CROWD, needs]))


def test_a_circle_that_a_change_closes_is_met_as_the_policy_says() -> None:
    one = overlay("cap-ba", contributions=[said("plan:pre", ["A.md"], ["B.md"])])
    other = overlay("cap-da", contributions=[said("plan:pre", ["B.md"], ["A.md"])])
    for policy in ("fallback", "isolate"):
        first = fresh([*CROWD, one], policy)

        broken = recompose(first, [*CROWD, one, other])
        healed = recompose(broken, [*CROWD, other])

        assert_same(broken, fresh([*CROWD, one, other], policy))
        assert_same(healed, fresh([*CROWD, other], policy))
        assert healed.making is not None
        assert healed.making.workings is not None


def test_the_collector_waits_here_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    running = []

    def listen(
        ordered: Sequence[Contender], ground: Ground, outlook: FoldOutlook
    ) -> Folded:
        running.append(gc.isenabled())
        return judge_all(ordered, ground, outlook)

    monkeypatch.setattr(recomposition, "judge_all", listen)
    recompose(fresh(CROWD), CROWD[1:])

    assert running == [False]
    assert gc.isenabled()


def test_the_first_overlay_and_the_last_one() -> None:
    none = fresh([])
    one = recompose(none, CROWD[:1])

    assert_same(one, fresh(CROWD[:1]))
    assert_same(recompose(one, []), none)


@pytest.mark.parametrize("twice", ["object", "place"])
def test_one_folder_given_twice_is_composed_from_the_start(twice: str) -> None:
    first = overlay("cap-ba")
    second = first if twice == "object" else overlay("cap-ba", tier="core")
    composed = fresh([*CROWD, first])

    for now in ([*CROWD, first, second], [*CROWD, second, first]):
        again = recompose(composed, now)
        assert_same(again, fresh(now))
        assert_same(recompose(again, [*CROWD, second]), fresh([*CROWD, second]))


def test_folders_of_one_scope_and_name_go_together_or_one_by_one() -> None:
    # A home that lies inside a project has its overlays in project scope as well.
    both = [
        attrs.evolve(overlay("cap-ba"), path=path, pending=True)
        for path in (".msd/capabilities/cap-ba", "home/.msd/capabilities/cap-ba")
    ]
    first = fresh([*CROWD, *both])

    for now in (CROWD, [*CROWD, both[0]], [*CROWD, both[1]]):
        assert_same(recompose(first, now), fresh(now))
        assert_same(recompose(fresh(now), [*CROWD, *both]), first)


def test_a_scope_is_part_of_a_place(judged: list[str]) -> None:
    both = [overlay("cap-ba"), Candidate.read(feature("cap-ba"), scope=Scope.PROJECT)]
    first = fresh([*CROWD, *both])

    assert_same(recompose(first, [*CROWD, both[1]]), fresh([*CROWD, both[1]]))
    assert judged == ["cap-ba"]


def test_a_composition_made_by_hand_cannot_be_composed_again() -> None:
    with pytest.raises(ValueError, match="what it was made of"):
        recompose(Composition(registry=FIRST_PARTY), [])


def test_how_it_was_made_is_no_part_of_a_composition() -> None:
    composed = fresh(CROWD)
    bare = Composition(
        **{
            name: getattr(composed, name)
            for name in (
                "registry",
                "warnings",
                "blocked_gates",
                "accepted",
                "paths",
                "diagnostics",
                "command_roots",
            )
        }
    )

    assert composed == bare
    assert hash(composed) == hash(bare)
    assert repr(composed) == repr(bare)


def folders(found: Sequence[Contender]) -> list[str]:
    return sorted(one.candidate.folder for one in found)


def test_links_stay_right_however_often_they_are_mended() -> None:
    ground = Ground.of(FIRST_PARTY, HOST)
    crowd = contenders(CROWD, ground)
    links = Links.of(crowd)
    for number in range(120):
        gone = crowd.pop(0)
        new = overlay(f"new-{number}", skills=["shared", f"by-{number}"])
        (come,) = contenders([new], ground)
        crowd.append(come)
        links = links.replaced([gone], [come])

        anew = Links.of(crowd)
        for one in (crowd[0], crowd[-1], gone):
            assert folders(links.around([one])) == folders(anew.around([one]))


def test_recompose_is_public() -> None:
    assert msdcomp.recompose is recompose


def test_a_large_set_that_is_nearly_all_new_is_composed_from_the_start(
    judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recomposition, "_MANY", 20)
    first = fresh(CROWD)
    few = [
        *CROWD[:30],
        *(overlay(f"by-{n:03}", skills=[f"n{n}"]) for n in range(30, 50)),
    ]
    most = [overlay(f"by-{n:03}", skills=[f"n{n}"]) for n in range(50)]

    assert_same(recompose(first, few), fresh(few))
    assert len(judged) == 20
    del judged[:]
    assert_same(recompose(first, most), fresh(most))
    assert judged == []

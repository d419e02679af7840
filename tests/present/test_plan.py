"""A plan as a person reads it before it is agreed to, pinned, and as JSON data."""

from __future__ import annotations

import json

import attrs
import pytest
from syrupy.assertion import SnapshotAssertion

from msdcomp.diagnostics import Problem
from msdcomp.diffing import Change, Difference
from msdcomp.disclosure import compare, disclose
from msdcomp.plan import Block, Effects, FileEdit, HookEdit, Leaves, Pin, Plan
from msdcomp.present.page import Screen
from msdcomp.present.plan import block_wire, plan_wire, render_blocks, render_plan
from tests.bundles import FILES, everything
from tests.documents import changed, feature

SCREENS = {"plain": Screen(), "colour": Screen(colour=True, width=100)}

ENTRY = json.dumps(
    {
        "_msdCapability": "tides",
        "hooks": [{"type": "command", "command": "'/srv/re c'\\''s/run.sh'"}],
    }
)

INSTALL = Plan(
    action="install",
    scope="global",
    capability_id="tides",
    path=".msd/capabilities/tides",
    source="/src/tides",
    pin=Pin(kind="integrity", value="sha512-abc"),
    version="1.0.0",
    content_hash="sha512-def",
    disclosure=disclose(feature(), FILES),
    files=(FileEdit("capability.json", "added"), FileEdit("run.sh", "added")),
    hooks=(HookEdit("host/settings.json", "added", "Stop", ENTRY),),
    effects=Effects(
        changes=(
            Change(
                subject="capability",
                name="tides",
                difference=Difference.APPEARED,
                after="version 1.0.0",
            ),
            Change(
                subject="step",
                name="plan:pre",
                difference=Difference.REORDERED,
                before="a, b",
                after="b, a",
            ),
        ),
        joins=("buoy",),
    ),
    asks="nobody has agreed to it here yet",
    notes=("no host runs its hooks yet: name a settings file with --settings",),
)

_NEW = changed(everything(), "/hooks/0/matcher", ".*")
UPGRADE = attrs.evolve(
    INSTALL,
    action="upgrade",
    version_before="0.9.0",
    disclosure=disclose(_NEW, FILES),
    differs=compare(disclose(everything(), FILES), disclose(_NEW, FILES)),
    files=(
        FileEdit("a.md", "removed"),
        FileEdit("b.md", "changed"),
        FileEdit("c.md", "added"),
    ),
    asks="",
    notes=(),
)

REMOVAL = Plan(
    action="remove",
    scope="project",
    capability_id="tides",
    path=".msd/capabilities/tides",
    version_before="1.0.0",
    files=(FileEdit("", "removed"),),
    hooks=(HookEdit("host/settings.json", "removed", "Stop", ENTRY),),
    effects=Effects(leaves=(Leaves("project", "buoy", "requires tides"),)),
    blocks=(
        Block(
            "dependents",
            "buoy (project) depends on it: requires tides",
            "say --cascade to remove what depends on it as well",
        ),
    ),
)

NOTHING = attrs.evolve(
    INSTALL, action="none", files=(), hooks=(), effects=Effects(), asks="", notes=()
)

NASTY = "a\x1b[2J\u202eb`c`\nd\u2028" + "x" * 700

HOSTILE = Plan(
    action="upgrade",
    scope="project",
    capability_id=NASTY,
    path=NASTY,
    source=NASTY,
    version_before=NASTY,
    version="1.0.0",
    files=tuple(FileEdit(f"{NASTY}{number}", "added") for number in range(203)),
    hooks=(HookEdit(NASTY, "added", NASTY, json.dumps({"command": NASTY})),),
    effects=Effects(
        changes=(
            Change(
                subject="skill",
                name=NASTY,
                difference=Difference.MOVED,
                before=NASTY,
                after=NASTY,
            ),
        ),
        joins=(NASTY,),
        leaves=(Leaves("project", NASTY, NASTY),),
    ),
    asks=NASTY,
    notes=(NASTY,),
    blocks=(Block("code", NASTY, NASTY),),
)

PLANS = {
    "install": INSTALL,
    "upgrade": UPGRADE,
    "removal": REMOVAL,
    "nothing": NOTHING,
}


@pytest.mark.parametrize("screen", SCREENS)
@pytest.mark.parametrize("plan", PLANS)
def test_a_plan(screen: str, plan: str, snapshot: SnapshotAssertion) -> None:
    assert render_plan(PLANS[plan], SCREENS[screen]) == snapshot


@pytest.mark.parametrize("screen", SCREENS)
def test_a_hostile_plan(screen: str, snapshot: SnapshotAssertion) -> None:
    plan = attrs.evolve(HOSTILE, files=HOSTILE.files[:2], blocks=())

    assert render_plan(plan, SCREENS[screen]) == snapshot
    assert render_blocks(HOSTILE.blocks, SCREENS[screen]) == snapshot


def test_who_cannot_agree_is_not_asked_to() -> None:
    assert "agreement is needed" not in render_plan(HOSTILE, Screen())
    free = attrs.evolve(HOSTILE, blocks=())
    assert "agreement is needed" in render_plan(free, Screen())


def test_nothing_of_a_stranger_moves_the_cursor_or_turns_the_line() -> None:
    for plan in (HOSTILE, attrs.evolve(HOSTILE, blocks=())):
        page = render_plan(plan, Screen())

        assert page.isascii()
        assert page.replace("\n", "").isprintable()


def test_more_files_than_anybody_reads_are_counted() -> None:
    page = render_plan(HOSTILE, Screen())

    assert page.count("  + a [2J b") >= 200
    assert "  and 3 more files\n" in page
    few = attrs.evolve(HOSTILE, files=HOSTILE.files[:201])
    assert "  and 1 more file\n" in render_plan(few, Screen())
    fewer = attrs.evolve(HOSTILE, files=HOSTILE.files[:200])
    assert " more file" not in render_plan(fewer, Screen())


def test_what_is_new_is_told_before_what_there_is() -> None:
    page = render_plan(UPGRADE, Screen())

    assert page.index("Write") < page.index("Files of")
    assert page.startswith("Upgrade tides 0.9.0 -> 1.0.0 in the global scope\n")


def test_a_block_with_problems(snapshot: SnapshotAssertion) -> None:
    problem = Problem(
        code="wrong-type",
        path="/tier",
        message="tier must be a string, got number",
        hint="Give a string.",
        file="capability.json",
        line=3,
        column=7,
    )
    block = Block(
        "invalid-manifest",
        "its manifest is not valid",
        "see `msd validate`",
        (problem,),
    )

    assert render_blocks([block], Screen()) == snapshot
    assert block_wire(block) == snapshot
    assert render_blocks([], Screen()) == ""


@pytest.mark.parametrize("plan", PLANS)
def test_its_wire_form(plan: str, snapshot: SnapshotAssertion) -> None:
    wire = plan_wire(PLANS[plan])

    assert json.loads(json.dumps(wire)) == wire
    assert wire == snapshot


@pytest.mark.parametrize("plan", PLANS)
def test_its_wire_form_is_fresh_each_time(plan: str) -> None:
    first = plan_wire(PLANS[plan])
    first["files"].append("mine")

    assert plan_wire(PLANS[plan])["files"] != first["files"]

"""Every renderer on one shared sample, pinned character by character.

Run `pytest --snapshot-update` after a wanted change, and read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from msdcomp import ConfigLayers, Problem, compose, decode_manifest
from msdcomp.candidate import Candidate, Consent, FragmentFault, Scope
from msdcomp.composition import Composition
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.explanation import explain
from msdcomp.inventory import inventory
from msdcomp.present.composition import render_composition
from msdcomp.present.explanation import explanation_wire, render_explanation
from msdcomp.present.inventory import render_inventory, row_wire
from msdcomp.present.page import Page, Screen, count
from msdcomp.present.problems import render_problems
from msdcomp.verdict import IgnoredEntry
from tests.layouts import feature

GATE = {
    "point": "ship:pre",
    "check": {"query": "a.b"},
    "blocking": True,
    "onError": "halt",
}
ROOTS = {"global": "/home/ada", "project": "/srv/project"}
SCREENS = {"plain": Screen(), "colour": Screen(colour=True, width=100)}


def _sample() -> Composition:
    """One of everything: accepted with a notice, and a skip of each kind."""
    contribution = {
        "point": "plan:pre",
        "into": "planner",
        "produces": [],
        "consumes": [],
        "fragment": {"path": "loop/a.md"},
    }
    slice_ = {"type": "boolean", "default": True, "description": "Enforce it."}
    gated = {"config": {"e.on": slice_}, "gates": [{**GATE, "when": "e.on"}]}
    read = Candidate.read
    candidates = [
        read(feature("accepted", contribution=[])),
        read(feature("collides", skills=["ui-review"], gates=[GATE])),
        read(feature("dependent", requires=["newer"], gates=[GATE])),
        read(feature("newer", engines={"msd": ">=9.0.0"}, **gated)),
        Candidate(
            folder="fragment",
            decoded=decode_manifest(
                feature("fragment", contributions=[contribution]), "fragment"
            ),
            fragments={"loop/a.md": FragmentFault("fragment-escapes", "it escapes")},
        ),
        read('{"id": "repeated", "id": "repeated", "gates": []}', "repeated"),
        read(feature("malformed", tier="large", version="1"), "malformed"),
        Candidate(folder="absent", unreadable="no file", stored_gates=("plan:pre",)),
        read(feature("msd-mine")),
        read(feature("Not An Id", gates=[{**GATE, "blocking": False}]), "Not An Id"),
        read(
            feature("secret", title="not shown", gates=[GATE]),
            scope=Scope.PROJECT,
            consent=Consent.NONE,
        ),
        read(feature("edited"), scope=Scope.PROJECT, consent=Consent.CHANGED),
        read(feature("accepted", gates=[GATE]), scope=Scope.PROJECT),
    ]
    composed = compose(read_snapshot(), candidates)
    ignored = IgnoredEntry(scope="global", name="notes.txt", reason="not a folder")
    return Composition(
        registry=composed.registry,
        warnings=composed.warnings,
        blocked_gates=composed.blocked_gates,
        accepted=composed.accepted,
        paths=composed.paths,
        diagnostics=composed.diagnostics,
        ignored=(ignored,),
    )


@pytest.fixture(scope="module")
def sample() -> Composition:
    """The shared sample."""
    return _sample()


@pytest.mark.parametrize("screen", SCREENS)
def test_a_composition(
    sample: Composition, screen: str, snapshot: SnapshotAssertion
) -> None:
    assert render_composition(sample, "1.11.0", SCREENS[screen], ROOTS) == snapshot


@pytest.mark.parametrize(
    "capability_id",
    [
        "ui",
        "accepted",
        "collides",
        "dependent",
        "secret",
        "Not An Id",
        "claude-orchestration",
        "notes.txt",
        "acepted",
    ],
)
def test_an_explanation(
    sample: Composition, capability_id: str, snapshot: SnapshotAssertion
) -> None:
    explained = explain(sample, capability_id)

    assert render_explanation(explained, Screen(), ROOTS) == snapshot
    assert explanation_wire(explained) == snapshot


def test_a_switch_that_cannot_be_read_is_said(sample: Composition) -> None:
    layers = ConfigLayers(project=[])
    explained = explain(sample, "claude-orchestration", layers)

    assert (
        "its switch claude_orchestration.enabled cannot be read in "
        ".planning/config.json: it holds JSON, but not one object"
    ) in render_explanation(explained, Screen())


def test_an_inventory(sample: Composition, snapshot: SnapshotAssertion) -> None:
    rows = [row for row in inventory(sample) if row.scope != "first-party"]

    assert render_inventory(rows, Screen()) == snapshot
    assert [row_wire(row) for row in rows] == snapshot


@pytest.mark.parametrize("screen", SCREENS)
def test_problems(screen: str, snapshot: SnapshotAssertion) -> None:
    text = '{"id": "a",\n "tier": "large", "zz": 1, "engines": {"msd": ""}}'
    decoded = decode_manifest(text, "b")
    found = (*decoded.problems, *decoded.diagnostics)

    assert render_problems(found, 1, SCREENS[screen], strict=True) == snapshot


def test_a_narrow_screen_cuts_only_the_last_column() -> None:
    page = Page(Screen(width=24))
    page.table(("id", "title"), [("capability", "A title that is too long")])

    assert page.render() == "id          title\ncapability  A title that\n"


def test_a_sentence_is_never_broken() -> None:
    page = Page(Screen(width=20))
    page.line("one thing is one line, however long it is")

    assert page.render() == "one thing is one line, however long it is\n"


def test_a_count_agrees_with_its_noun() -> None:
    assert [count(n, "gate") for n in (0, 1, 2)] == ["0 gates", "1 gate", "2 gates"]


def test_nothing_of_the_environment_changes_a_page(
    sample: Composition, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = render_composition(sample, "1.11.0", Screen())
    for name, value in {"COLUMNS": "10", "FORCE_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    assert render_composition(sample, "1.11.0", Screen()) == before


def test_a_place_without_a_known_root_is_relative() -> None:
    sample = _sample()

    text = render_composition(sample, "1.11.0", Screen())

    assert str(Path("/home")) not in text
    assert ".msd/capabilities/accepted (global)" in text


def test_nothing_close_is_suggested_for_a_name_like_no_other(
    sample: Composition,
) -> None:
    text = render_explanation(explain(sample, "zzzzzzzzzzzz"), Screen())

    assert text == (
        "zzzzzzzzzzzz: not found\n  no capability and no overlay folder has that name\n"
    )


def test_a_heading_that_comes_first_has_no_blank_line_before_it() -> None:
    page = Page(Screen())
    page.heading("First")
    page.heading("Second")

    assert page.render() == "First\n\nSecond\n"


def test_a_problem_without_a_hint_has_no_help() -> None:
    bare = Problem(code="internal-error", message="It failed.")

    assert render_problems([bare], 1, Screen()) == (
        "error[internal-error] It failed.\n\n1 manifest checked: 1 error, 0 warnings\n"
    )

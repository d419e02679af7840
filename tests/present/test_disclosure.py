"""The page a person agrees to, pinned, and the ways a bundle may try to cheat it."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion

from msdcomp.disclosure import Disclosure, compare, disclose
from msdcomp.plan import Pin
from msdcomp.present.changes import changes_wire, render_changes
from msdcomp.present.disclosure import disclosure_wire, render_disclosure
from msdcomp.present.page import Screen
from msdcomp.present.surfaces import spelled
from tests.bundles import FILES, everything, lane
from tests.documents import changed, feature, http_reviewer, runtime

SCREENS = {"plain": Screen(), "colour": Screen(colour=True, width=100)}


def _hostile() -> Disclosure:
    document = lane(
        args=["x" * 200, "--\u202elive", "a   b", "сurl"],  # noqa: RUF001
        env={"LD_preload": "/x.so", "A\nB": "c"},
        hidden={"\u200b": "\u2028"},
    )
    document["config"] = {}
    document["mcpServers"] = {"s": {"command": "x\u202e"}}
    document["title"] = "nice\x1b[2J \u202eeht"
    return disclose(document, {})


@pytest.mark.parametrize("screen", SCREENS)
def test_a_disclosure(screen: str, snapshot: SnapshotAssertion) -> None:
    found = disclose(everything(), FILES)
    pin = Pin(kind="integrity", value="sha512-abc")

    assert render_disclosure(found, SCREENS[screen], pin) == snapshot


def test_its_wire_form(snapshot: SnapshotAssertion) -> None:
    assert disclosure_wire(disclose(everything(), FILES), Pin()) == snapshot


def test_a_hostile_one(snapshot: SnapshotAssertion) -> None:
    assert render_disclosure(_hostile(), Screen(), Pin()) == snapshot


def test_one_that_sends(snapshot: SnapshotAssertion) -> None:
    document = changed(http_reviewer(), "/reviewer/handler", "openai-compatible")
    hosts = {"review.host": "http://localhost:8080"}
    far = changed(document, "/reviewer/invoke/defaultHost", "https://a.example")

    assert render_disclosure(disclose(document, {}, hosts), Screen()) == snapshot
    assert render_disclosure(disclose(far, {}), Screen()) == snapshot
    assert render_disclosure(disclose(document, {}), Screen()) == snapshot


def test_ones_that_do_not_run(snapshot: SnapshotAssertion) -> None:
    assert render_disclosure(disclose(feature(), {}), Screen()) == snapshot
    assert render_disclosure(disclose(runtime(), {}), Screen()) == snapshot


def test_one_that_cannot_be_installed(snapshot: SnapshotAssertion) -> None:
    document = everything()
    document["runtime"] = {"orchestratorExec": {"command": "brig"}}

    assert render_disclosure(disclose(document, {}), Screen()) == snapshot
    assert render_disclosure(disclose("[", {}), Screen()) == snapshot


def test_changes(snapshot: SnapshotAssertion) -> None:
    old = everything()
    new = changed(old, "/hooks/0/matcher", ".*")
    new = changed(new, "/skills", ["read-tide", "other"])
    new = changed(new, "/gates/0/blocking", value=False)
    new = changed(new, "/config/tides.on/default", value=False)
    files = {**FILES, "scripts/run.sh": "sha512-other"}
    changes = compare(disclose(old, FILES), disclose(new, files))

    assert render_changes(changes, Screen()) == snapshot
    assert changes_wire(changes) == snapshot


def test_changes_of_text_alone(snapshot: SnapshotAssertion) -> None:
    old, new = feature(), feature(skills=[])
    files = {**FILES, "README.md": "other"}

    assert (
        render_changes(compare(disclose(old, FILES), disclose(new, files)), Screen())
        == snapshot
    )
    same = compare(disclose(old, FILES), disclose(old, FILES))
    assert render_changes(same, Screen()) == snapshot


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", '"plain"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("a\nb\x1b", '"a\\u{a}b\\u{1b}"'),
        ("\u202e\u200b\u2028\ufe0f", '"\\u{202e}\\u{200b}\\u{2028}\\u{fe0f}"'),
        ("a    b ", '"a \\u{20}\\u{20}\\u{20}b "'),
        ("\U000e0041", '"\\u{e0041}"'),
        ("é", '"\\u{e9}"'),
        ("", '""'),
    ],
)
def test_a_spelled_text_hides_nothing(text: str, shown: str) -> None:
    assert spelled(text) == shown


def test_nothing_that_runs_is_cut() -> None:
    page = render_disclosure(disclose(lane(args=["y" * 10_000]), {}), Screen())

    assert page.count("y") >= 10_000
    assert max(map(len, page.splitlines())) < 100


def test_long_lists_of_names_say_how_many_more() -> None:
    found = disclose(feature(skills=[f"s{n}" for n in range(150)]), {})

    assert "and 50 more" in render_disclosure(found, Screen())


def test_too_much_is_counted_and_not_shown() -> None:
    page = render_disclosure(disclose(lane(args=["y" * 100_000]), {}), Screen())

    assert "reviewer-lane: 1, too much to be shown" in page
    assert "yyy" not in page
    changes = compare(disclose(lane(), {}), disclose(lane(args=["y" * 100_000]), {}))
    page = render_changes(changes, Screen())
    assert "reviewer-lane: 1, too much to be shown" in page
    assert "It cannot be installed as it is:" in page


def test_a_matcher_that_cannot_be_read_is_not_every_occurrence() -> None:
    document = feature(hooks=[{"event": "x", "script": "x", "matcher": [".*"]}])
    page = render_disclosure(disclose(document, {"x": "h"}), Screen())

    assert '"matcher" is [".*"]' in page
    assert "every occurrence" not in page


def test_odd_declarations_have_a_page_too(snapshot: SnapshotAssertion) -> None:
    document = changed(http_reviewer(), "/reviewer/probe", {})
    document["reviewer"] |= {"handler": None, "slug": 5, "requiresBinaries": ["jq"]}
    document["commands"] = [{"family": "tide"}]
    document["gates"] = [{"check": {"predicate": {"kind": "new"}}, "when": 1}]
    document["steps"] = [{"ref": {"command": "x"}, "when": "a.b"}]
    document["reviewer"]["invoke"] = {}

    assert render_disclosure(disclose(document, {}), Screen()) == snapshot

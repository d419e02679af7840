"""What is outdated, as a person and a program see it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.outdated import Standing
from msdcomp.present.outdated import render_standings, standing_wire
from msdcomp.present.page import Screen
from msdcomp.safetext import unsafe_characters

ROWS = (
    Standing(
        scope="global",
        capability_id="anchor",
        kind="npm",
        status="outdated",
        version="1.0.0",
        latest="1.2.0",
    ),
    Standing(
        scope="global",
        capability_id="reef",
        kind="git",
        status="outdated",
        version="2.0.0",
        commit="a" * 40,
        latest_commit="b" * 40,
    ),
    Standing(
        scope="project",
        capability_id="tides",
        status="unknown",
        version="0.1.0",
        reason="the source does not say",
    ),
    Standing(scope="project", status="unreadable", reason="the ledger cannot be read"),
)

PAGE = """\
id      source  current             latest        status    scope
anchor  npm     1.0.0               1.2.0         outdated  global
reef    git     2.0.0 aaaaaaaaaaaa  bbbbbbbbbbbb  outdated  global
tides           0.1.0                             unknown   project

tides (project): the source does not say
ledger (project): the ledger cannot be read

2 capabilities outdated
"""


def test_a_commit_is_shown_where_there_is_no_version_to_show() -> None:
    assert render_standings(ROWS, Screen()) == PAGE


def test_without_entries_there_is_no_table() -> None:
    assert render_standings((), Screen()) == "nothing is installed here\n"
    assert render_standings(ROWS[3:], Screen()) == (
        "ledger (project): the ledger cannot be read\n"
    )


def test_json_has_every_field() -> None:
    assert standing_wire(ROWS[1]) == {
        "id": "reef",
        "scope": "global",
        "source": "git",
        "current": "2.0.0",
        "commit": "a" * 40,
        "latest": "",
        "latestCommit": "b" * 40,
        "status": "outdated",
        "reason": "",
    }


@given(st.text(), st.text())
def test_no_text_moves_the_cursor(name: str, reason: str) -> None:
    row = Standing(
        scope="global", capability_id=name, status="unknown", reason=reason, latest=name
    )

    page = render_standings((row,), Screen())

    shown = page.replace("\n", "").replace(" ", "")
    assert shown == unsafe_characters(shown, lambda _: "")

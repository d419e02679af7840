"""What the doctor found, as a person and a program see it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from msdcomp.health import Finding
from msdcomp.present.health import finding_wire, render_findings
from msdcomp.present.page import Screen
from msdcomp.safetext import unsafe_characters

FOUND = (
    Finding(
        code="folder-missing",
        scope="global",
        subject="tides",
        reason="the ledger names it, and its folder is not there",
        remedy="`msd capability remove tides` to be rid of it",
    ),
    Finding(
        code="left-out",
        scope="project",
        subject="reef",
        reason="its manifest is not valid",
        remedy="Mend it.",
        cause="invalid-manifest",
    ),
    Finding(code="no-project", reason="there is no project here"),
)

PAGE = """\
Errors
  tides (global): the ledger names it, and its folder is not there  [folder-missing]
    remedy: 'msd capability remove tides' to be rid of it

Warnings
  reef (project): its manifest is not valid  [left-out, invalid-manifest]
    remedy: Mend it.

To know
  there is no project here  [no-project]

1 error, 1 warning, 1 note
"""


def test_findings_stand_under_their_severity() -> None:
    assert render_findings(FOUND, Screen()) == PAGE


def test_where_nothing_is_found_it_says_so() -> None:
    assert render_findings((), Screen()) == "everything is as it should be\n"


def test_a_flood_is_counted() -> None:
    flood = [
        Finding(code="hand-made", subject=f"x{number}", reason="it is so")
        for number in range(203)
    ]

    lines = render_findings(flood, Screen()).splitlines()

    assert len(lines) == 1 + 200 + 1 + 2
    assert lines[-3:] == ["  and 3 more", "", "0 errors, 0 warnings, 203 notes"]


def test_json_has_every_field() -> None:
    assert finding_wire(FOUND[1]) == {
        "code": "left-out",
        "severity": "warning",
        "scope": "project",
        "subject": "reef",
        "reason": "its manifest is not valid",
        "remedy": "Mend it.",
        "cause": "invalid-manifest",
    }


@given(st.text(), st.text())
def test_no_text_moves_the_cursor(name: str, reason: str) -> None:
    one = Finding(code="hand-made", subject=name, reason=reason, remedy=reason)

    page = render_findings((one,), Screen())

    shown = page.replace("\n", "").replace(" ", "")
    assert shown == unsafe_characters(shown, lambda _: "")

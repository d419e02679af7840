"""`msd capability`: which verbs there are, and that each can be asked about."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from msdcomp.cli.asking import agrees
from msdcomp.cli.capability import VERBS
from tests.cli.terminal import at_a_terminal

from .conftest import Msd, feature, install


def test_help_lists_every_verb(msd: Msd) -> None:
    done = msd("capability", "--help")

    assert done.code == 0
    for verb, (_, line) in VERBS.items():
        assert f"  {verb} " in done.out
        assert line in done.out


@pytest.mark.parametrize("verb", sorted({*VERBS} - {"doctor", "outdated"}))
def test_a_verb_tells_about_itself(msd: Msd, verb: str) -> None:
    done = msd("capability", verb, "--help")

    assert done.code == 0
    assert done.out.startswith(f"usage: msd capability {verb} ")
    line = VERBS[verb][1]
    assert f"{line[0].upper()}{line[1:]}." in " ".join(done.out.split())
    assert "--json" in done.out


@pytest.mark.parametrize("words", [[], ["instal"], ["--json"], ["--json", "list"]])
def test_what_is_no_verb_is_refused(msd: Msd, words: list[str]) -> None:
    done = msd("capability", *words)

    assert done.code == 2
    assert "error: " in done.err


def test_what_follows_a_verb_is_the_verbs_own(
    msd: Msd, home: Path, project: Path
) -> None:
    install(home, feature("tide"))

    rows = msd(
        *("capability", "list", "--json", "--home", home, "--project", project)
    ).json

    assert [row["status"] for row in rows if row["id"] == "tide"] == ["active"]


def test_an_option_is_not_guessed(msd: Msd) -> None:
    assert msd("capability", "remove", "tide", "--casc").code == 2


@pytest.mark.parametrize(
    ("typed", "answer"), [("y\n", True), ("Yes\n", True), ("no\n", False), ("", False)]
)
def test_a_question_is_asked_once(typed: str, answer: bool) -> None:
    with at_a_terminal(typed) as person:
        assert agrees("May it?") is answer

    assert person.seen == "May it? [y/N] "


def test_nobody_is_asked_where_the_question_would_not_be_seen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (
        at_a_terminal("y\n"),
        (tmp_path / "log").open("w", encoding="utf-8") as log,
    ):
        monkeypatch.setattr(sys, "stderr", log)
        assert not agrees("May it?")

    assert (tmp_path / "log").read_text("utf-8") == ""


@pytest.mark.parametrize("stream", [None, object()])
def test_a_closed_input_is_nobody(
    monkeypatch: pytest.MonkeyPatch, stream: object
) -> None:
    monkeypatch.setattr("sys.stdin", stream)

    assert not agrees("May it?")

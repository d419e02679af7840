"""Quoting for a shell: what comes out is one word, whatever goes in."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.hookcommand import hook_command, quoted, script_parts, script_reason
from msdcomp.rules import check
from tests.documents import feature


def test_the_vector_of_the_reference() -> None:
    path = "/srv/re c's/.msd/capabilities/a/x.sh"

    assert hook_command(path) == "'/srv/re c'\\''s/.msd/capabilities/a/x.sh'"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_quoted_text_is_one_word(text: str) -> None:
    assert shlex.split(quoted(text)) == [text]


@pytest.mark.parametrize("text", ["a'b\n$(id)`id`\"\\", "-n", "", "''", "~ * ?"])
def test_a_shell_reads_what_was_meant(text: str) -> None:
    ran = subprocess.run(
        ["sh", "-c", f"printf %s {quoted(text)}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert ran.stdout == text


@pytest.mark.parametrize("path", ["", "x.sh", "./x", "/a\0b", "/a\ud800", "/\udcff"])
def test_a_path_that_cannot_be_written_has_no_command(path: str) -> None:
    assert hook_command(path) is None


SCRIPTS = [
    ("run.sh", True),
    ("./a//b/run.sh", True),
    ("a-b/..c/run", True),
    ("", False),
    ("/run.sh", False),
    ("../run.sh", False),
    ("a/../run.sh", False),
    ("-run.sh", False),
    ("a/-run.sh", False),
    ("a b", False),
    ("a\n", False),
    ("a;b", False),
    ("é", False),
    ("__pycache__/x.py", False),
    ("a/.pytest_cache/x", False),
    ("x.PYC", False),
]


@pytest.mark.parametrize(("script", "good"), SCRIPTS)
def test_scripts_are_judged_as_validation_judges_them(
    script: str, *, good: bool
) -> None:
    document = feature(hooks=[{"event": "Stop", "script": script}])

    assert (script_reason(script) is None) == good
    assert (check(document, "tides") == ()) == good


@pytest.mark.parametrize("script", ["a/", "a/.", "."])
def test_a_folder_is_no_script(script: str) -> None:
    assert script_reason(script) == "names a folder"


def test_parts_leave_out_what_means_nothing() -> None:
    assert script_parts("./a//b/./c") == ("a", "b", "c")

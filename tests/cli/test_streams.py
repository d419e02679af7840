"""Outputs that are closed, full or gone: a warning may be lost, a result never is."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from msdcomp.cli import main
from msdcomp.cli.common import screen_options, settle

from .conftest import EXAMPLES, Msd

MSD = f"{sys.executable} -m msdcomp"
PLACES = f"--home {EXAMPLES / 'home'} --project {EXAMPLES / 'project'}"
HOOKS = f"loop render-hooks ship:pre {PLACES}"

#: A command of every kind, each of which prints something.
PRINTING = [
    "--version",
    "--help",
    "",
    "compose --help",
    f"compose {PLACES}",
    f"compose --json {PLACES}",
    f"explain ui {PLACES}",
    f"capability list {PLACES}",
    f"capability list --json {PLACES}",
    f"validate --first-party {EXAMPLES / 'home'}",
    HOOKS,
    f"{HOOKS} --json",
    f"{HOOKS} --active-cap ui",
    "build --check --capabilities .",
]


def shell(command: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command line with its redirections."""
    return subprocess.run(  # noqa: S602 - the redirections are the point
        command,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **more},
    )


@pytest.mark.parametrize(
    ("redirection", "mode"),
    [
        ("2>&-", "--json"),
        ("2>/dev/full", "--json"),
        ("2>/dev/full", ""),
        ("2>/dev/full", "--active-cap security"),
        ("2</dev/null", "--json"),
    ],
)
def test_a_warning_that_cannot_be_told_never_costs_the_hooks(
    redirection: str, mode: str
) -> None:
    whole = shell(f"{MSD} {HOOKS} {mode}")
    done = shell(f"{MSD} {HOOKS} {mode} {redirection}")

    assert "deploy-freeze" in whole.stderr
    assert (done.returncode, done.stdout) == (0, whole.stdout)


def test_a_reader_of_warnings_that_is_gone_never_costs_the_hooks() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*MSD.split(), *HOOKS.split(), "--json"],
            stdout=subprocess.PIPE,
            stderr=writing,
            check=False,
        )
    finally:
        os.close(writing)

    assert done.returncode == 0
    assert json.loads(done.stdout)["point"] == "ship:pre"


@pytest.mark.parametrize(
    ("command", "redirection"),
    [("--xx", "2>&-"), ("compose --xx", "2>/dev/full"), ("diff no no", "2>/dev/full")],
)
def test_a_complaint_that_cannot_be_told_keeps_its_exit_code(
    command: str, redirection: str
) -> None:
    assert shell(f"{MSD} {command} {redirection}").returncode == 2


@pytest.mark.parametrize(
    ("command", "redirection", "reason"),
    [
        *((x, ">/dev/full", "stdout cannot be written (ENOSPC)") for x in PRINTING),
        ("--help", ">&-", "stdout is closed"),
        (f"compose {PLACES}", ">&-", "stdout is closed"),
        (f"{HOOKS} --json", ">&-", "stdout is closed"),
        ("--version", "1</dev/null", "stdout cannot be written (EBADF)"),
    ],
)
def test_a_result_that_cannot_be_printed_is_an_error_in_one_line(
    command: str, redirection: str, reason: str
) -> None:
    done = shell(f"{MSD} {command} {redirection}")

    assert done.returncode == 2
    *warnings, last = done.stderr.splitlines()
    assert last == f"msd: error: {reason}"
    assert all(line.startswith("msd: warning: ") for line in warnings)


@pytest.mark.parametrize("redirection", [">/dev/full 2>&1", ">&- 2>&-"])
def test_nothing_can_be_told_at_all(redirection: str) -> None:
    assert shell(f"{MSD} compose {PLACES} {redirection}").returncode == 2


@pytest.mark.parametrize("command", PRINTING)
def test_a_reader_that_is_gone_is_no_error_and_nothing_is_said(command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [*MSD.split(), *command.split()],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)

    assert done.returncode == 0
    said = [x for x in done.stderr.splitlines() if not x.startswith("msd: warning: ")]
    assert said == []


# The same, in this process, for a host that calls `main`.


class Broken(io.StringIO):
    """A stream that takes nothing."""

    def write(self, _: str) -> int:
        raise OSError(5, "I/O error")


def test_streams_of_a_host_may_be_missing_closed_or_broken(
    msd: Msd, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = io.TextIOWrapper(io.BytesIO())
    closed.close()
    for stream in (None, closed, Broken()):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stderr", stream)
            done = msd(*HOOKS.split(), "--json")
        assert done.code == 0
        assert done.json["point"] == "ship:pre"
    for stream, reason in (
        (None, "stdout is closed"),
        (closed, "stdout is closed"),
        (Broken(), "stdout cannot be written (EIO)"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stdout", stream)
            done = msd("explain", "ui", *PLACES.split())
        assert (done.code, done.err) == (2, f"msd: error: {reason}\n")


def test_a_reader_of_a_host_that_is_gone_is_no_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError

    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", Gone())
        code = main(["--version"])

    assert (code, capsys.readouterr().err) == (0, "")


def test_a_stream_lets_go_of_what_it_cannot_write(tmp_path: Path) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        full.write("x")
        settle(full)
        full.flush()
    with (tmp_path / "x").open("w", encoding="utf-8") as sound:
        sound.write("x")
        settle(sound)
        assert (tmp_path / "x").read_text("utf-8") == "x"


# A terminal


@contextlib.contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let stdout be a terminal that wants colours."""
    other, own = os.openpty()
    try:
        with (
            os.fdopen(own, "w", encoding="utf-8") as stream,
            monkeypatch.context() as patch,
        ):
            patch.setattr("sys.stdout", stream)
            patch.setenv("TERM", "xterm")
            patch.delenv("NO_COLOR", raising=False)
            yield
    finally:
        os.close(other)


def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with terminal(monkeypatch):
        assert screen_options() == {"colour": True}, "a width of 0 is not known"
        monkeypatch.setenv("NO_COLOR", "1")
        assert screen_options() == {"colour": False}
        monkeypatch.delenv("NO_COLOR")
        monkeypatch.setenv("TERM", "dumb")
        assert screen_options() == {"colour": False}


def test_a_terminal_with_a_width_bounds_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda _: os.terminal_size((77, 9)))
    with terminal(monkeypatch):
        assert screen_options() == {"colour": True, "width": 77}


# Arguments

EVIL = "\x1b[31m\x07\u202e\x9b"


@pytest.mark.parametrize(
    "arguments",
    [
        (f"--{EVIL}",),
        (EVIL,),
        ("compose", f"--{EVIL}"),
        ("compose", EVIL),
        ("compose", f"--json={EVIL}"),
        ("compose", "--home", EVIL),
        ("compose", "--host-version", EVIL),
        ("explain", "ui", EVIL),
        ("loop", EVIL),
        ("loop", f"--{EVIL}"),
        ("loop", "render-hooks", EVIL),
        ("loop", "render-hooks", "plan:pre", f"--{EVIL}"),
        ("capability", EVIL),
        ("capability", "list", f"--{EVIL}"),
        ("capability", "list", "--json", EVIL),
        ("validate", EVIL),
        ("validate", f"--{EVIL}", "x"),
        ("diff", EVIL, EVIL),
        ("diff", "a", "b", EVIL),
        ("build", f"--{EVIL}"),
        ("build", "--capabilities", EVIL),
    ],
)
def test_no_argument_is_repeated_in_a_form_that_a_terminal_obeys(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2

    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert all(line.isprintable() for line in err.splitlines())

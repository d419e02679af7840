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
from typing import Any

import pytest

from msdcomp.cli import main
from msdcomp.cli.common import screen_options, settle

from .conftest import EXAMPLES, Msd, feature, install

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


class Gone(io.StringIO):
    """A stream whose reader leaves after a number of texts."""

    def __init__(self, after: int = 0) -> None:
        """Take a number of texts first."""
        super().__init__()
        self.left = after

    def write(self, text: str) -> int:
        if not self.left:
            raise BrokenPipeError
        self.left -= 1
        return super().write(text)


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
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", Gone())
        code = main(["--version"])

    assert (code, capsys.readouterr().err) == (0, "")


UNREAD = "msd: error: nobody reads stdout any more, so nothing more is done\n"


@pytest.fixture
def tide(tmp_path: Path) -> str:
    """A capability to install."""
    return str(install(tmp_path / "shop", feature("tide")))


@pytest.fixture
def here(home: Path, project: Path) -> tuple[str, ...]:
    """Return the options that say where to look."""
    return ("--home", str(home), "--project", str(project))


def _unread(msd: Msd, monkeypatch: pytest.MonkeyPatch, after: int, *words: str) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdout", Gone(after))
        return msd("capability", *words)


def test_nothing_is_done_that_nobody_could_see(
    msd: Msd,
    monkeypatch: pytest.MonkeyPatch,
    here: tuple[str, ...],
    tide: str,
    home: Path,
    project: Path,
) -> None:
    """A 0 would say that it is installed, or agreed to."""
    install(project, feature("reef"))
    for words in (
        ("install", tide, "--yes"),
        ("install", tide),
        ("install", "./nowhere"),
        ("trust", "reef", "--yes"),
        ("trust", "reef", "--yes", "--json"),
    ):
        done = _unread(msd, monkeypatch, 0, *words, *here)
        assert (done.code, done.err) == (2, UNREAD)
    assert list(home.iterdir()) == []


def test_what_is_only_shown_may_go_unread(
    msd: Msd, monkeypatch: pytest.MonkeyPatch, here: tuple[str, ...], tide: str
) -> None:
    done = _unread(msd, monkeypatch, 0, "install", tide, "--dry-run", *here)
    assert (done.code, done.err) == (0, "")


def test_what_was_shown_is_done_whoever_leaves_afterwards(
    msd: Msd,
    monkeypatch: pytest.MonkeyPatch,
    here: tuple[str, ...],
    tide: str,
    tmp_path: Path,
    home: Path,
) -> None:
    reef = str(install(tmp_path / "shop", feature("reef", requires=["tide"])))
    for where in (tide, reef):
        done = _unread(msd, monkeypatch, 1, "install", where, "--yes", *here)
        assert (done.code, done.err) == (0, "")

    # Two plans and the line between them are shown; what becomes of the first is not.
    done = _unread(msd, monkeypatch, 3, "remove", "tide", "--cascade", *here)

    assert (done.code, done.err) == (0, "")
    assert list((home / ".msd" / "capabilities").iterdir()) == []


def test_of_many_updates_those_that_were_shown_are_done(
    msd: Msd,
    monkeypatch: pytest.MonkeyPatch,
    here: tuple[str, ...],
    tide: str,
    tmp_path: Path,
    home: Path,
) -> None:
    reef = str(install(tmp_path / "shop", feature("reef")))
    for where in (tide, reef):
        msd("capability", "install", where, "--yes", *here)
        (Path(where) / "new.md").write_text("new", "utf-8")

    done = _unread(msd, monkeypatch, 1, "update", "--all", "--yes", *here)

    assert (done.code, done.err) == (2, UNREAD)
    installed = home / ".msd" / "capabilities"
    assert (installed / "reef" / "new.md").exists()
    assert not (installed / "tide" / "new.md").exists()


def test_a_program_that_reads_nothing_changes_no_exit_code(
    msd: Msd, monkeypatch: pytest.MonkeyPatch, here: tuple[str, ...], tide: str
) -> None:
    for words, code in (
        (("install", tide), 1),
        (("install", tide, "--yes"), 0),
        (("remove", "reef"), 1),
    ):
        done = _unread(msd, monkeypatch, 0, *words, "--json", *here)
        assert done.code == code


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

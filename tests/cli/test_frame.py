"""What every verb has in common."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from msdcomp._version import __version__
from msdcomp.cli import VERBS

from .conftest import Msd


def test_version_names_the_library_and_the_host(msd: Msd) -> None:
    done = msd("--version")

    assert (done.code, done.err) == (0, "")
    assert done.out == f"msdcomp {__version__} (capabilities of MSD 1.11.0)\n"


def test_without_a_verb_the_help_is_shown_and_the_usage_is_wrong(msd: Msd) -> None:
    done = msd()

    assert done.code == 2
    assert all(verb in done.out for verb in VERBS)


def test_help_is_no_error(msd: Msd) -> None:
    assert msd("--help").code == 0


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_of_its_own(msd: Msd, verb: str) -> None:
    done = msd(verb, "--help")

    assert done.code == 0
    assert done.out.startswith(f"usage: msd {verb}")


def test_an_unknown_verb_is_a_wrong_use_and_the_likely_one_is_named(msd: Msd) -> None:
    done = msd("compse")

    assert done.code == 2
    assert "did you mean compose?" in done.err


def test_an_unknown_option_is_a_wrong_use(msd: Msd) -> None:
    assert msd("compose", "--hom", "x").code == 2


@pytest.mark.parametrize("option", ["--home", "--project"])
@pytest.mark.parametrize(
    "verb",
    [
        ("compose",),
        ("explain", "ui"),
        ("capability", "list"),
        ("loop", "render-hooks", "plan:pre"),
    ],
)
def test_a_folder_that_is_none_is_a_wrong_use(
    msd: Msd, tmp_path: Path, option: str, verb: tuple[str, ...]
) -> None:
    done = msd(*verb, option, tmp_path / "absent\x1b[31m")

    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"msd: error: {option}: ")
    assert done.err.endswith(" is no folder\n")
    assert "\x1b" not in done.err


def test_a_host_version_that_is_none_is_a_wrong_use(msd: Msd, home: Path) -> None:
    done = msd("compose", "--home", home, "--host-version", "latest")

    assert (done.code, done.out) == (2, "")
    assert done.err == "msd: error: --host-version: latest is no version\n"


def test_an_interrupt_ends_with_the_code_of_the_signal(
    msd: Msd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("msdcomp.cli.compose.here", interrupted)

    assert msd("compose").code == 130


MSD = (sys.executable, "-m", "msdcomp")


def _environment(**changes: str) -> dict[str, str]:
    return {**os.environ, **changes}


def test_the_module_is_the_command(home: Path, project: Path) -> None:
    done = subprocess.run(
        [*MSD, "compose", "--home", home, "--project", project],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stdout.startswith("MSD 1.11.0: 44 capabilities in the registry")


def test_a_reader_that_stops_reading_is_no_error(home: Path, project: Path) -> None:
    command = f"{sys.executable} -m msdcomp compose --json --home {home}"
    done = subprocess.run(  # noqa: S602 - the pipe is the point
        f"{command} --project {project} | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""


def test_a_terminal_of_another_encoding_gets_escapes(home: Path, project: Path) -> None:
    done = subprocess.run(
        [*MSD, "explain", "caf\u00e9", "--home", home, "--project", project],
        capture_output=True,
        check=False,
        env=_environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C"),
    )

    assert done.returncode == 1
    assert b"not found" in done.stdout
    assert done.stdout.isascii()

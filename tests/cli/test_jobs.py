"""`msd validate --jobs`: faster for a large tree, and no different otherwise."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msdcomp.cli import validate as verb
from msdcomp.edge.validating import LostWorkersError

from .conftest import Finished, Msd, feature, install

# The same output


def _entry(root: Path, name: str, kind: str) -> None:
    """Put a bundle of some kind below a home."""
    bundle = install(root, feature(name), name)
    manifest = bundle / "capability.json"
    match kind:
        case "sound":
            return
        case "warned":
            manifest.write_text(json.dumps(feature(name, contribution=[])), "utf-8")
        case "faulty":
            text = json.dumps(feature("other", tier=5, skills=["x", "x"]), indent=1)
            manifest.write_text(text, "utf-8")
        case "no JSON":
            manifest.write_text('{"id": "\x1b[31m', "utf-8")
        case "huge":
            with manifest.open("wb") as stream:
                stream.truncate(9 * 1024 * 1024)
        case "many faults":
            text = json.dumps(feature(name, skills=[None] * 2000))
            manifest.write_text(text, "utf-8")
        case "forbidden":
            manifest.chmod(0)
        case "linked folder":
            bundle.rename(root / f".{name}")
            bundle.symlink_to(root / f".{name}")
        case _:
            manifest.unlink()
            _irregular(manifest, kind)


def _irregular(manifest: Path, kind: str) -> None:
    match kind:
        case "FIFO":
            os.mkfifo(manifest)
        case "folder":
            manifest.mkdir()
        case "dangling link":
            manifest.symlink_to("absent")
        case "circle":
            manifest.symlink_to("capability.json")
        case "device":
            manifest.symlink_to("/dev/zero")
        case _:
            assert kind == "nothing"


KINDS = (
    "sound",
    "warned",
    "faulty",
    "no JSON",
    "huge",
    "many faults",
    "forbidden",
    "linked folder",
    "FIFO",
    "folder",
    "dangling link",
    "circle",
    "device",
    "nothing",
)

#: Names of folders: as they are, hidden, and such as no manifest can have.
NAMES = st.from_regex(r"[a-z]{1,3}", fullmatch=True) | st.sampled_from(
    [".hidden", "\x1b[2J", "caf\u00e9", "\udcff", "a b", "Z"]
)


def _same(msd: Msd, *arguments: str | Path) -> Finished:
    alone = msd("validate", "--jobs", "1", *arguments)
    shared = msd("validate", "-j", "2", *arguments)

    assert shared == alone
    return alone


# Starting processes takes its time; a longer profile looks longer here too.
@settings(
    max_examples=max(5, settings().max_examples // 20),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.dictionaries(NAMES, st.sampled_from(KINDS), max_size=8),
    st.sets(st.sampled_from(["--json", "--strict", "--first-party"])),
)
def test_any_tree_gives_the_same_output(
    msd: Msd, tree: dict[str, str], options: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, kind in tree.items():
            _entry(Path(folder), name, kind)
        _same(msd, *sorted(options), folder)


@pytest.mark.parametrize("form", ["--strict", "--json"])
def test_everything_that_can_lie_there_gives_the_same_output(
    msd: Msd, home: Path, form: str
) -> None:
    for kind in KINDS:
        _entry(home, kind.lower().replace(" ", "-"), kind)

    done = _same(msd, form, home)

    assert done.code == 1
    if form == "--json":
        # The linked folder is not followed, and in "nothing" is none.
        assert done.json["checked"] == len(KINDS) - 2
        assert len(done.json["problems"]) > 1000


def test_a_large_tree_gives_the_same_output(msd: Msd, home: Path) -> None:
    for number in range(200):
        _entry(home, f"cap-{number}", "faulty" if number % 7 == 0 else "sound")

    for form in ((), ("--json",)):
        done = _same(msd, *form, home)
        assert done.code == 1

    places = re.findall(r"cap-\d+", msd("validate", "-j", "3", home).out)
    assert places == sorted(places)
    assert len(set(places)) == 29


def test_paths_keep_the_order_they_are_given_in(msd: Msd, home: Path) -> None:
    later, sooner = (install(home, feature(name, tier=5)) for name in ("z", "a"))

    done = _same(msd, "--json", later, sooner, later)

    files = [Path(problem["file"]).parent for problem in done.json["problems"]]
    assert files == [later, sooner, later]


def test_relative_paths_mean_the_same_to_a_worker(
    msd: Msd, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("anchor", "bollard"):
        install(home, feature(name))
    monkeypatch.chdir(home)

    assert _same(msd, ".").code == 0


# Wrong uses


@pytest.mark.parametrize(
    "number", ["0", "-1", "1001", "9" * 5000, "two", "", "1.0", " 2", "1_0", "\uff12"]
)
def test_a_number_of_jobs_that_is_none_is_a_wrong_use(
    msd: Msd, home: Path, number: str
) -> None:
    done = msd("validate", f"--jobs={number}", home)

    assert (done.code, done.out) == (2, "")
    assert "argument -j/--jobs: expected a whole number from 1 to 1000, got" in done.err
    assert len(done.err) < 2000


def test_a_worker_that_was_killed_is_an_error(
    msd: Msd, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(*_: object, **__: object) -> Iterator[Any]:
        yield from ()
        raise LostWorkersError

    monkeypatch.setattr(verb, "validate_all", lost)

    done = msd("validate", home)

    assert (done.code, done.out) == (2, "")
    assert done.err == (
        "msd: error: a worker process ended before its work was done, killed or out of"
        " memory; with --jobs 1 there is none\n"
    )


# Signals


@pytest.fixture
def slow(home: Path) -> Path:
    """A tree that takes a minute: many names of one document that is never closed."""
    skills = [f"skill-{number}" for number in range(40_000)]
    text = json.dumps(feature("anchor", zz=[{"a": skill} for skill in skills]))[:-1]
    first = install(home, text, "a") / "capability.json"
    for number in range(200):
        bundle = home / ".msd" / "capabilities" / f"cap-{number}"
        bundle.mkdir()
        (bundle / "capability.json").hardlink_to(first)
    return home


@contextlib.contextmanager
def _running(tree: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the command in a group of its own until it has two workers."""
    # Where the tests themselves run in the background of a script, Ctrl-C is ignored,
    # and a command would inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    started = subprocess.Popen(
        [sys.executable, "-m", "msdcomp", "validate", "--jobs", "2", tree],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    signal.signal(signal.SIGINT, before)
    with started:
        try:
            _until(lambda: len(_workers(started.pid)) == 2)
            yield started
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)


def _processes() -> dict[int, tuple[int, str]]:
    """Return the parent and the command line of every process that still runs."""
    listing = subprocess.run(
        ["ps", "-e", "-ww", "-o", "pid=,ppid=,stat=,args="],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = (line.split(None, 3) for line in listing.stdout.splitlines())
    return {
        int(pid): (int(parent), command)
        for pid, parent, state, command in rows
        if not state.startswith("Z")
    }


def _workers(command: int) -> set[int]:
    return {
        process
        for process, (parent, line) in _processes().items()
        if parent == command and "spawn_main" in line
    }


def _until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _gone(processes: set[int]) -> bool:
    return processes.isdisjoint(_processes())


def test_ctrl_c_ends_everything_quietly(slow: Path) -> None:
    with _running(slow) as command:
        workers = _workers(command.pid)
        os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate(timeout=20)

        assert (command.returncode, out, err) == (130, "", "")
        _until(lambda: _gone(workers))


def test_a_worker_that_is_killed_ends_the_command(slow: Path) -> None:
    with _running(slow) as command:
        workers = _workers(command.pid)
        os.kill(min(workers), signal.SIGKILL)
        out, err = command.communicate(timeout=20)

        assert (command.returncode, out) == (2, "")
        assert err.startswith("msd: error: a worker process ended ")
        assert len(err.splitlines()) == 1
        _until(lambda: _gone(workers))


def test_workers_end_with_a_command_that_is_killed(slow: Path) -> None:
    with _running(slow) as command:
        workers = _workers(command.pid)
        command.kill()
        command.wait(timeout=20)

        _until(lambda: _gone(workers))

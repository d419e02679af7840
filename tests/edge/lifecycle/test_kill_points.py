"""Killed at any step, a command has done what it was to do, or nothing.

Every step of every scene is the last one once. What is there then has all that belongs
to others, and a load of it takes nothing half done; once it is reconciled, it is to the
last byte what was there before or what was to be. Then reconciling itself is killed at
each of its steps, and finally chains of several commands wherever they happen to be.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.edge.lifecycle.kill_scenes import SCENES

ROOT = Path(__file__).parents[3]

#: Chains of killed commands, and how many there are of each seed.
SEEDS, EACH = ("a", "b", "c", "d"), 50


def run(program: list[str], *arguments: object) -> str:
    """Run a program in a process of its own: what forks must have one thread only."""
    found = subprocess.run(
        [sys.executable, *program, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert not found.returncode, found.stderr
    return found.stdout


def sweep(*arguments: object) -> dict[str, Any]:
    found = json.loads(run(["-m", "tests.edge.lifecycle.kill_sweep"], *arguments))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", SCENES)
def test_a_kill_at_any_step_leaves_the_old_or_the_new(
    tmp_path: Path, name: str
) -> None:
    found = sweep(tmp_path, "points", name)
    assert found["faults"] == []
    assert min(found["seen"]) > 0, "each state is what some kill comes to"
    assert sum(found["seen"]) == len(found["points"]) + found["doubled"]
    assert found["doubled"] > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_so_does_a_chain_of_kills_anywhere(tmp_path: Path, seed: str) -> None:
    """A command, then more of them, or reconciling alone, each of them killed."""
    found = sweep(tmp_path, "chains", seed, EACH)
    assert found["faults"] == []
    assert found["kills"] > EACH


# The killing itself

EVERYTHING = """
import os, shutil, sys
from pathlib import Path
from tests.edge.lifecycle.killing import count, killed_after

os.chdir(sys.argv[1])

def work():
    os.makedirs("a/b")
    os.close(os.open("a/x", os.O_WRONLY | os.O_CREAT))
    os.close(os.open("a/x", os.O_RDONLY))
    fd = os.open("a/y", os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(fd, "wb") as stream:
        stream.write(b"whole")
        stream.flush()
        os.fchmod(fd, 0o644)
        os.fsync(fd)
    Path("a/y").replace("a/z")
    os.rename("a/z", "a/b/z")
    os.symlink("b", "a/l")
    os.link("a/b/z", "a/h")
    os.utime("a/h", (1, 1))
    shutil.rmtree("a")

def unseen():
    Path("w").write_text("x")
"""


def test_every_change_is_a_step(tmp_path: Path) -> None:
    told = run(["-c", EVERYTHING + "print(*count(work).points)"], tmp_path)
    assert told.split() == [
        *("mkdir", "mkdir", "open", "open", "written", "written", "fchmod", "fsync"),
        *("replace", "rename", "symlink", "link", "utime"),
        *("unlink", "rmdir", "unlink", "unlink", "unlink", "rmdir"),
    ]


def test_a_change_that_is_no_step_is_told(tmp_path: Path) -> None:
    told = run(["-c", EVERYTHING + "print(*count(unseen).missed)"], tmp_path)
    assert told == "open w\n"


@pytest.mark.parametrize(
    ("last", "left"),
    [
        (2, {}),
        (4, {"x": b"", "y": b""}),
        (5, {"x": b"", "y": b"wh"}),
        (6, {"x": b"", "y": b"whole"}),
        (9, {"x": b"", "z": b"whole"}),
    ],
)
def test_what_is_killed_leaves_what_it_did_so_far(
    tmp_path: Path, last: int, left: dict[str, bytes]
) -> None:
    told = run(["-c", EVERYTHING + f"print(killed_after(work, {last}))"], tmp_path)
    assert told == "True\n"
    files = [path for path in (tmp_path / "a").iterdir() if path.is_file()]
    assert {path.name: path.read_bytes() for path in files} == left


def test_what_ends_before_its_step_is_not_killed(tmp_path: Path) -> None:
    told = run(["-c", EVERYTHING + "print(killed_after(work, 99))"], tmp_path)
    assert told == "False\n"
    assert list(tmp_path.iterdir()) == []

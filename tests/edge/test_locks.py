"""Locks: one holder at a time, waits that end, and no trap that a stranger laid."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import filelock
import pytest

from msdcomp.edge.files import FileFault
from msdcomp.edge.locks import consent_lock, lifecycle_lock, locked
from tests.layouts import put, write

ROOT = Path(__file__).parents[2]

#: Takes a lock, says so, and keeps it.
HOLDER = """
import sys, time
from msdcomp.edge.locks import locked
with locked(sys.argv[1], 5) as fault:
    print(fault, flush=True)
    time.sleep(600)
"""


class Clock:
    """A clock that only sleeping moves on."""

    def __init__(self) -> None:
        """Start at any time."""
        self.now = 100.0
        self.sleeps: list[float] = []

    def time(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


def hold(path: Path) -> subprocess.Popen[str]:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "None\n"
    return holder


def end(holder: subprocess.Popen[str]) -> None:
    holder.kill()
    holder.communicate()


def fault_of_lock(path: Path, **more: Any) -> FileFault | None:
    with locked(str(path), 0, **more) as fault:
        return fault


def test_a_lock_is_free_again_afterwards_and_its_file_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "down" / ".lock"
    for _ in range(2):
        with locked(str(path), 0) as fault:
            assert fault is None
            assert path.read_bytes() == b""
        assert list(path.parent.iterdir()) == []


def test_a_lock_file_with_something_in_it_stays(tmp_path: Path) -> None:
    """Another program may take its existence for a lock."""
    path = tmp_path / "l"
    write(path, '{"pid": 1}')
    assert fault_of_lock(path) is None
    assert path.read_text() == '{"pid": 1}'


def test_the_lock_of_another_is_not_deleted(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with contextlib.ExitStack() as inner:
        with locked(str(path)):
            path.unlink()
            assert inner.enter_context(locked(str(path), 0)) is None
        assert path.exists()
        assert fault_of_lock(path) is not None
    assert not path.exists()


def test_a_lock_is_free_again_after_an_exception(tmp_path: Path) -> None:
    message = "the body failed"
    with pytest.raises(RuntimeError), locked(str(tmp_path / "l")):
        raise RuntimeError(message)
    assert fault_of_lock(tmp_path / "l") is None


def test_a_held_lock_is_waited_for_as_long_as_was_said(tmp_path: Path) -> None:
    clock = Clock()
    path = str(tmp_path / "l")
    with (
        locked(path) as held,
        locked(path, 10, clock=clock.time, sleep=clock.sleep) as fault,
    ):
        assert held is None
        assert fault == FileFault(
            "busy", "in use by another command, also after 10 seconds"
        )
    assert sum(clock.sleeps) == pytest.approx(10)
    assert max(clock.sleeps) <= 0.01


def test_no_time_to_wait_is_one_try(tmp_path: Path) -> None:
    with locked(str(tmp_path / "l")):
        assert fault_of_lock(tmp_path / "l") == FileFault(
            "busy", "in use by another command"
        )


def test_a_lock_is_taken_as_soon_as_it_is_free(tmp_path: Path) -> None:
    clock = Clock()
    path = str(tmp_path / "l")
    first = locked(path)
    first.__enter__()

    def sleep(seconds: float) -> None:
        clock.sleep(seconds)
        if len(clock.sleeps) == 3:
            first.__exit__(None, None, None)

    with locked(path, 10, clock=clock.time, sleep=sleep) as fault:
        assert fault is None
    assert len(clock.sleeps) == 3


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    path = str(tmp_path / "l")
    inside, most = 0, 0
    faults = []

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with locked(path, 60) as fault:
                faults.append(fault)
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == [None] * 80
    assert most == 1


def test_another_process_that_holds_a_lock_has_it(tmp_path: Path) -> None:
    holder = hold(tmp_path / "l")
    try:
        fault = fault_of_lock(tmp_path / "l")
        assert fault is not None
        assert fault.code == "busy"
    finally:
        end(holder)


def test_a_dead_holder_is_in_nobodys_way(tmp_path: Path) -> None:
    holder = hold(tmp_path / "l")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    assert fault_of_lock(tmp_path / "l") is None


def test_a_child_of_the_holder_does_not_keep_the_lock(tmp_path: Path) -> None:
    """A child that was forked without ceremony has the open file, too."""
    reader, writer = os.pipe()
    with locked(str(tmp_path / "l")):
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
    os.close(reader)
    fault = fault_of_lock(tmp_path / "l")
    os.close(writer)
    os.waitpid(child, 0)
    assert fault is None


def test_a_lock_file_that_is_deleted_meanwhile_is_made_anew(tmp_path: Path) -> None:
    """Else two commands would hold two files of one name."""
    path = tmp_path / "l"
    with locked(str(path)):
        path.unlink()
        with locked(str(path), 0) as fault:
            assert fault is None
            assert path.exists()


@pytest.mark.parametrize("gone", [True, False])
def test_a_file_that_lost_its_name_is_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, gone: bool
) -> None:
    path = tmp_path / "l"
    real = filelock.lock_descriptor
    tries = []

    def locking(fd: int, **more: Any) -> bool:
        tries.append(os.fstat(fd).st_ino)
        if len(tries) == 1:
            path.rename(tmp_path / "aside")
            if not gone:
                write(path, "")
        return real(fd, **more)

    monkeypatch.setattr(filelock, "lock_descriptor", locking)
    with locked(str(path), 5) as fault:
        assert fault is None
        assert path.stat().st_ino == tries[-1] != tries[0]


# What a stranger may have put there


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({"symlink": "../../../outside"}, "link"),
        ({"symlink": "/dev/zero"}, "link"),
        ({"symlink": ".lock"}, "link"),
        ({"symlink": "nowhere"}, "link"),
        ({"dir": True}, "not-regular"),
        ({"fifo": True}, "not-regular"),
    ],
)
@pytest.mark.parametrize("own", [True, False])
def test_a_lock_that_is_no_file_is_refused_at_once(
    tmp_path: Path, spec: Any, code: str, *, own: bool
) -> None:
    write(tmp_path / "outside", "kept")
    put(tmp_path / "project" / ".msd" / "capabilities" / ".lock", spec)
    with lifecycle_lock(str(tmp_path / "project"), 60, own=own) as fault:
        assert fault is not None
        assert fault.code == code
    assert (tmp_path / "outside").read_text() == "kept"
    assert not (tmp_path / "project" / ".msd" / "capabilities" / "nowhere").exists()


@pytest.mark.parametrize("linked", [".msd", ".msd/capabilities"])
@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_made_through_a_linked_folder_of_a_project(
    tmp_path: Path, linked: str, *, there: bool
) -> None:
    if there:
        (tmp_path / "outside").mkdir()
    put(tmp_path / "project" / linked, {"symlink": str(tmp_path / "outside")})
    with lifecycle_lock(str(tmp_path / "project"), 0) as fault:
        assert fault == FileFault(
            "link", "the lock, or a folder above it, is a symbolic link"
        )
    assert not there or not list((tmp_path / "outside").iterdir())


def test_links_in_a_home_are_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    put(tmp_path / "home" / ".msd", {"symlink": "../dotfiles"})
    with lifecycle_lock(str(tmp_path / "home"), 0, own=True) as fault:
        assert fault is None
        assert (tmp_path / "dotfiles" / "capabilities" / ".lock").is_file()
    with consent_lock(str(tmp_path / "home"), 0) as fault:
        assert fault is None
        assert (tmp_path / "dotfiles" / ".consent.lock").is_file()


def test_a_linked_project_is_locked_as_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "alias").symlink_to("project")
    with (
        lifecycle_lock(str(tmp_path / "alias"), 0) as held,
        lifecycle_lock(str(tmp_path / "project"), 0) as fault,
    ):
        assert held is None
        assert fault is not None
        assert fault.code == "busy"


@pytest.mark.parametrize("at", [".msd", ".msd/capabilities"])
def test_a_file_in_the_way_of_a_folder(tmp_path: Path, at: str) -> None:
    write(tmp_path / at, "in the way")
    with lifecycle_lock(str(tmp_path), 0) as fault:
        assert fault == FileFault("unwritable", "the lock cannot be made (ENOTDIR)")
    with lifecycle_lock(str(tmp_path), 0, own=True) as fault:
        assert fault is not None
        assert fault.code == "unwritable"


def test_a_path_no_file_can_have(tmp_path: Path) -> None:
    for path in (tmp_path / "a\0b", tmp_path / "a\0b" / "l"):
        fault = fault_of_lock(path)
        assert fault is not None
        assert fault.code == "unreadable"


def test_a_lock_relative_to_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with locked("l", 0) as fault:
        assert fault is None
        assert (tmp_path / "l").is_file()


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "permission"),
        (errno.EROFS, "unwritable"),
        (errno.EMLINK, "link"),
        (errno.ENXIO, "not-regular"),
    ],
)
def test_a_folder_that_takes_no_lock_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: str
) -> None:
    real = os.open

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise OSError(number, "")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    fault = fault_of_lock(tmp_path / "l")
    assert fault is not None
    assert fault.code == code


def test_a_folder_that_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def opening(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_DIRECTORY:
            raise OSError(errno.EACCES, "")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", opening)
    assert fault_of_lock(tmp_path / "l") == FileFault("permission", "permission denied")


def test_a_file_system_without_locks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(_fd: int, _operation: int) -> None:
        raise OSError(errno.ENOLCK, "")

    monkeypatch.setattr(fcntl, "flock", refusing)
    assert fault_of_lock(tmp_path / "l") == FileFault(
        "unlockable", "cannot be locked (ENOLCK)"
    )


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    put(tmp_path / ".msd" / "capabilities" / ".lock", {"fifo": True})
    fault_of_lock(tmp_path / "warm")
    before = len(list(Path("/proc/self/fd").iterdir()))
    with locked(str(tmp_path / "l")):
        fault_of_lock(tmp_path / "l")
        with lifecycle_lock(str(tmp_path), 0):
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_whoever_only_reads_imports_no_library_for_locks() -> None:
    """It takes longer to import than most commands take to run."""
    program = """
import sys, msdcomp.edge.scan, msdcomp.edge.consent, msdcomp.edge.locks
print("filelock" in sys.modules)
"""
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout == "False\n"

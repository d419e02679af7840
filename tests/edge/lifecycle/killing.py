"""Kill a process right after any one of the steps by which it changes the disk.

Every function of `os` that changes something is wrapped in a child that was forked for
the purpose, and so is writing through `os.fdopen`, which comes in two halves: a file
may be half there. The child counts these steps and kills itself after one of them, so
nothing of Python runs afterwards, as when the power fails or a user loses patience.

To be used in a process with one thread only, since it forks.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import attrs

__all__ = ["Counted", "count", "killed_after", "unsynced"]

#: What changes a file system, by name; where a system has it.
CHANGING = (
    "chmod",
    "chown",
    "copy_file_range",
    "fchmod",
    "fchown",
    "fdatasync",
    "fsync",
    "ftruncate",
    "lchmod",
    "lchown",
    "link",
    "mkdir",
    "mkfifo",
    "mknod",
    "pwrite",
    "pwritev",
    "remove",
    "removexattr",
    "rename",
    "replace",
    "rmdir",
    "sendfile",
    "setxattr",
    "symlink",
    "sync",
    "truncate",
    "unlink",
    "utime",
    "write",
    "writev",
)

#: Events by which Python tells an auditor of a change, besides opening.
AUDITED = frozenset(
    f"os.{name}"
    for name in (
        "chmod",
        "chown",
        "link",
        "mkdir",
        "remove",
        "removexattr",
        "rename",
        "rmdir",
        "setxattr",
        "symlink",
        "truncate",
        "utime",
    )
)

_MAKES = os.O_CREAT | os.O_TRUNC

#: Exit status of a child whose work raised; its traceback is on the standard error.
_RAISED = 70


@attrs.frozen(kw_only=True)
class Counted:
    """What some work did to the disk.

    Attributes:
        points: The steps, by the names of their functions.
        missed: Changes that Python's auditing told of and that were no step.
    """

    points: tuple[str, ...]
    missed: tuple[str, ...]


@attrs.define
class _Counter:
    """Counts steps, and ends the process after one of them."""

    last: int
    points: list[str] = attrs.field(factory=list)
    missed: list[str] = attrs.field(factory=list)
    inside: bool = False

    def point(self, name: str) -> None:
        self.points.append(name)
        if len(self.points) == self.last:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrapped(
        self, name: str, when: Callable[..., bool] = lambda *_, **__: True
    ) -> Callable[..., Any]:
        real = getattr(os, name)

        def call(*arguments: Any, **more: Any) -> Any:
            self.inside = True
            try:
                found = real(*arguments, **more)
            finally:
                self.inside = False
            if when(*arguments, **more):
                self.point(name)
            return found

        return call

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.inside:
            return
        if event == "open":
            path, _, flags = arguments
            writes = flags & (_MAKES | os.O_WRONLY | os.O_RDWR)
            # By a descriptor: what opened that was told of already.
            if writes and not isinstance(path, int):
                self.missed.append(f"open {path}")
        elif event in AUDITED or event.startswith("shutil."):
            self.missed.append(event)

    def start(self, *, audited: bool) -> None:
        for name in CHANGING:
            if hasattr(os, name):
                setattr(os, name, self.wrapped(name))
        os.open = self.wrapped("open", lambda _, flags, *__, **___: flags & _MAKES)
        os.fdopen = self._fdopen(os.fdopen)
        if audited:
            sys.addaudithook(self.audit)

    def _fdopen(self, real: Callable[..., Any]) -> Callable[..., Any]:
        counter = self

        class Torn(io.FileIO):
            def write(self, data: Any, /) -> int:
                whole = bytes(data)
                for part in (whole[: len(whole) // 2], whole[len(whole) // 2 :]):
                    if part:
                        super().write(part)
                        counter.point("written")
                return len(whole)

        def fdopen(fd: int, mode: str = "r", *arguments: Any, **more: Any) -> Any:
            if mode != "wb":
                return real(fd, mode, *arguments, **more)
            return io.BufferedWriter(Torn(fd, mode))

        return fdopen


def _forked(work: Callable[[], object], counter: _Counter, pipe: int | None) -> int:
    """Do some work in a child; return how it ended, as `os.waitpid` does."""
    sys.stdout.flush()
    sys.stderr.flush()
    # What is collected in a child is copied first, page by page.
    gc.freeze()
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    status = _RAISED
    try:
        gc.disable()
        real = os.write
        counter.start(audited=pipe is not None)
        work()
        if pipe is not None:
            told = [counter.points, counter.missed]
            real(pipe, json.dumps(told).encode())
        status = 0
    except BaseException:  # noqa: BLE001 - nothing of the parent may run on in a child
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def count(work: Callable[[], object]) -> Counted:
    """Do some work in a child, and tell what it did to the disk.

    At most some hundred steps: what is told has to fit into a pipe.
    """
    reading, writing = os.pipe()
    try:
        status = _forked(work, _Counter(0), writing)
    finally:
        os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    if status:
        raise RuntimeError(f"the work ended with {status}")
    points, missed = json.loads(told)
    return Counted(points=tuple(points), missed=tuple(missed))


def killed_after(work: Callable[[], object], last: int) -> bool:
    """Do some work in a child that is killed after a step, the first being 1.

    Returns whether it was killed; else it came to its end before that step.
    """
    status = _forked(work, _Counter(last), None)
    if status and not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == 9):
        raise RuntimeError(f"the work ended with {status}")
    return bool(status)


def unsynced(_: int) -> None:
    """Stand in for `os.fsync` where nobody cuts the power."""

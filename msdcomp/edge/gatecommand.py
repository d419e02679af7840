"""Runs the command of a gate: bounded in time and output, and its group ends with it.

The shell and what it starts are one process group in a session of its own. The
group is killed when the time is up, and also when the command has ended: what it left
behind in the background was not asked for. Output is read all the time and only its
end is kept, so that a command that writes without end neither stops nor fills memory.
Source: docs/reference/predicates.md, "How a command runs".
"""

from __future__ import annotations

import contextlib
import errno
import os
import selectors
import signal
import subprocess
import time
from typing import IO, TYPE_CHECKING

import attrs

from msdcomp.edge.files import fault_of
from msdcomp.predicate import Ended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["MAX_OUTPUT", "SHELL", "run_command"]

#: The shell of POSIX systems; no search path decides which one it is.
SHELL = "/bin/sh"

#: Most of what a command wrote that is kept, in characters: the last ones.
MAX_OUTPUT = 2000

#: A character of UTF-8 has at most four bytes.
_KEPT_BYTES = 4 * MAX_OUTPUT

_CHUNK = 65536
#: How often it is asked whether a command has ended that left its output open.
_TICK_S = 0.05
#: The same when it has closed its output, which mostly means that it ends.
_CLOSED_TICK_S = 0.002
#: How long a command that was killed is waited for, in seconds.
_LAST_WAIT_S = 5.0

_LATE = "it took longer than"

#: Most chunks still read when the command has ended: a pipe holds no more.
_LAST_CHUNKS = 32


def run_command(
    command: str,
    *,
    cwd: str,
    values: Mapping[str, str],
    timeout_s: float,
    is_given_up: Callable[[], object] = lambda: None,
    sh: str = SHELL,
) -> Ended:
    """Run a command to its end.

    Args:
        command: Read by the shell as it is; nothing is put into it.
        cwd: Where it runs.
        values: Variables for its environment, over those of this process.
        timeout_s: When it is killed, in seconds.
        is_given_up: Asked all the time; something true stops the command.
        sh: Path of a POSIX shell.

    Returns:
        How it ended; that it could not be started, took too long or was given up is a
        `reason`.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - to run this text is what was asked
            # The dashes end the options: a command may start with one.
            [sh, "-c", "--", command],
            cwd=cwd,
            env={**os.environ, **values},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Ended(reason=f"it cannot be started ({_why(error, cwd)})")
    try:
        with _streams(process) as streams:
            deadline = time.monotonic() + timeout_s
            reason = _watch(process, streams, deadline, is_given_up)
            _end_group(process)
            streams.read_rest()
            output = streams.output()
    except BaseException:
        _end_group(process)
        raise
    if reason == _LATE:
        reason += f" {timeout_s:g} second" + ("" if timeout_s == 1 else "s")
    if reason is not None:
        return Ended(reason=reason, output=output)
    return _ended(process.returncode, output)


def _why(error: OSError | ValueError, cwd: str) -> str:
    if not isinstance(error, OSError):
        return "a value is no possible text of a process"
    if error.errno == errno.E2BIG:
        return "its values are too long"
    reason = fault_of(error).reason
    return f"its folder: {reason}" if error.filename == cwd else f"a shell: {reason}"


def _ended(returned: int, output: str) -> Ended:
    if returned >= 0:
        return Ended(code=returned, output=output)
    try:
        name = signal.Signals(-returned).name
    except ValueError:  # a real-time signal has no name
        name = f"signal {-returned}"
    return Ended(signal=name, output=output)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill all that is left of a command, unless that was done before."""
    if process.returncode is not None:
        return
    # Nobody has waited for the shell yet, so the number is still its group's.
    _kill_group(process.pid)
    try:
        process.wait(_LAST_WAIT_S)
    except subprocess.TimeoutExpired:
        # Another user's, by way of sudo, or held by the system: nothing more can be
        # done, and whoever asked is not to wait for it.
        process.returncode = -signal.SIGKILL


def _kill_group(number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(number, signal.SIGKILL)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the shell has ended, and leave it to be waited for."""
    if not hasattr(os, "waitid"):  # older Pythons on macOS can only wait for it
        ended = process.poll() is not None
        if ended:
            _kill_group(process.pid)
        return ended
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None


def _watch(
    process: subprocess.Popen[bytes],
    streams: _Streams,
    deadline: float,
    is_given_up: Callable[[], object],
) -> str | None:
    """Read what a command writes until it has ended; return why it is not waited for.

    That it is given up is asked for and not raised: a signal may come at the moment
    the process is made, when nobody knows of it yet.
    """
    while not _has_ended(process):
        if is_given_up():
            return "nobody waits for it any more"
        left = deadline - time.monotonic()
        if left <= 0:
            return _LATE
        streams.read(min(left, _TICK_S))
    return None


@attrs.define
class _Stream:
    """The end of what came out of one pipe."""

    kept: bytes = b""

    def add(self, chunk: bytes) -> None:
        self.kept = (self.kept + chunk)[-_KEPT_BYTES:]


class _Streams:
    """Both outputs of a command."""

    def __init__(self, out: IO[bytes], err: IO[bytes]) -> None:
        self.out, self.err = _Stream(), _Stream()
        self.selector = selectors.DefaultSelector()
        for pipe, kept in ((out, self.out), (err, self.err)):
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ, kept)

    def read(self, wait_s: float) -> bool:
        """Wait for output and take a chunk of each; tell whether there was any."""
        if not self.selector.get_map():
            time.sleep(min(wait_s, _CLOSED_TICK_S))
            return False
        ready = self.selector.select(wait_s)
        for key, _ in ready:
            chunk = os.read(key.fd, _CHUNK)
            if chunk:
                key.data.add(chunk)
            else:
                self.selector.unregister(key.fileobj)
        return bool(ready)

    def read_rest(self) -> None:
        """Take what was written before the end.

        Not until the pipes close: a process that left the session may hold them open,
        and write, for ever.
        """
        chunks = _LAST_CHUNKS
        while chunks and self.read(0):
            chunks -= 1

    def output(self) -> str:
        """Return the end of what was written to stderr, or else to stdout."""
        texts = (s.kept.decode(errors="replace") for s in (self.err, self.out))
        return next((text[-MAX_OUTPUT:] for text in texts if text.strip()), "")


@contextlib.contextmanager
def _streams(process: subprocess.Popen[bytes]) -> Iterator[_Streams]:
    assert process.stdout is not None  # noqa: S101 - both were asked for as pipes
    assert process.stderr is not None  # noqa: S101
    with process.stdout, process.stderr:
        streams = _Streams(process.stdout, process.stderr)
        with streams.selector:
            yield streams

"""Programs that are run for a fetch: bounded in time, output and environment."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

import attrs

from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.staging import Refused
from msdcomp.records import Record

__all__ = ["Ran", "environment", "run"]

#: Most bytes kept of what a program says went wrong.
_MAX_SAID = 64 * 1024

#: Largest file that a program may write, in blocks of 512 bytes: 256 MiB.
_MAX_FILE_BLOCKS = 512 * 1024

_CHUNK = 64 * 1024

#: What a program is told of the user's environment. All else could change what it
#: does: there are variables for the configuration, programs and traces of git alone.
_PASSED = ("PATH", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR")


@attrs.frozen(eq=False, repr=False)
class Ran(Record):
    """How a program ended and what it wrote."""

    code: int
    out: bytes
    said: bytes


def environment(passed: Sequence[str] = ()) -> dict[str, str]:
    """Return the variables that a program gets, in a language it can be read in.

    Args:
        passed: More variables that are the user's to choose.
    """
    kept = {
        name: os.environ[name] for name in (*_PASSED, *passed) if name in os.environ
    }
    return {**kept, "LC_ALL": "C", "LANG": "C"}


def run(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    deadline: Deadline,
    limit: int,
    given: IO[bytes] | None = None,
) -> Ran:
    """Run a program to its end.

    It gets a session of its own, so that whatever it starts is killed with it.

    Args:
        argv: The program and its arguments; no shell reads them.
        cwd: Where it runs.
        env: All of its environment.
        deadline: When it is killed.
        limit: Most bytes of output; it is killed when there are more.
        given: A file to read from; nothing by default.

    Raises:
        Refused: It is not there, took too long or said too much.
    """
    # `ulimit` is the one way to bound the files of a child without code between fork
    # and exec. The arguments go past the shell as they are.
    # A limit that is lower already stays.
    script = 'ulimit -f "$1" 2>/dev/null; shift; exec "$@"'
    wrapped = ["/bin/sh", "-c", script, "sh", str(_MAX_FILE_BLOCKS), *argv]
    try:
        process = subprocess.Popen(  # noqa: S603  # arguments are checked by their makers
            wrapped,
            cwd=cwd,
            env=dict(env),
            stdin=given if given is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError:
        raise Refused("no-program", f"{argv[0]} cannot be started") from None
    with process:
        try:
            out, said = _gather(process, deadline, limit)
            process.wait(max(deadline.left(), 0.01))
        except BaseException as error:
            # It is not waited for yet, so the number is still its group's.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                raise Refused.of(deadline.fault()) from None
            raise
    if process.returncode in {126, 127}:
        raise Refused("no-program", f"{argv[0]} is not installed")
    return Ran(process.returncode, out, said)


def _gather(
    process: subprocess.Popen[bytes], deadline: Deadline, limit: int
) -> tuple[bytes, bytes]:
    """Return what a program writes, until it closes both ends."""
    out, said = bytearray(), bytearray()
    with selectors.DefaultSelector() as selector:
        selector.register(_end(process.stdout), selectors.EVENT_READ, out)
        selector.register(_end(process.stderr), selectors.EVENT_READ, said)
        while selector.get_map():
            ready = selector.select(deadline.left())
            if not deadline.left():
                raise Refused.of(deadline.fault())
            for key, _ in ready:
                chunk = os.read(key.fd, _CHUNK)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.data is out:
                    out += chunk
                    if len(out) > limit:
                        raise Refused("too-large", "a program answered too much")
                else:
                    said += chunk[: _MAX_SAID - len(said)]
    return bytes(out), bytes(said)


def _end(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101  # both were asked for as pipes
    return stream

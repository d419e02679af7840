"""What workers do in the tests: functions that a new process can import."""

from __future__ import annotations

import os
import signal
import time

__all__ = ["double", "fail", "hang_after_the_first", "vanish"]


def double(number: int) -> int:
    return number * 2


def fail(number: int) -> int:
    raise LookupError(number)


def vanish(number: int) -> int:
    """Be killed, as by a system that has no memory left."""
    os.kill(os.getpid(), signal.SIGKILL)
    return number


def hang_after_the_first(number: int) -> int:
    """Return the process that does it, or be at it for an hour."""
    if number:
        time.sleep(3600)
    return os.getpid()

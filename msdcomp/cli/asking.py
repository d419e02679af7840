"""Asking the person at the terminal, where there is one."""

from __future__ import annotations

import os
import sys

__all__ = ["agrees"]


def agrees(question: str) -> bool:
    """Ask a question on stderr; nobody to ask means no.

    Args:
        question: Safe text, without a question mark's answers.
    """
    try:
        asked = os.isatty(sys.stdin.fileno()) and os.isatty(sys.stderr.fileno())
    except (AttributeError, OSError, ValueError):  # closed, or not a file at all
        return False
    if not asked:
        return False
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in {"y", "yes"}

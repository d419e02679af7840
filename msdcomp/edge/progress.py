"""How long work tells how far it is: by numbers alone, to whoever asked.

Reading ten thousand folders takes seconds. The reader counts, and a caller with a
terminal shows the count; no name of a file or folder is handed on, so none can speak
to the terminal. Only type checkers import this.
Source: docs/explanation/edges.md, "Telling how far it is".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

__all__ = ["OnProgress"]

#: Called with the number of things done so far, and with the number of all of them, or
#: None while that is not known.
OnProgress: TypeAlias = Callable[[int, int | None], None]

"""The garbage collector, out of the way while a large set is made.

Composing ten thousand overlays makes some hundred thousand records, and all of them
stay. The collector counts what is made and walks everything the process holds, again
and again, to find no garbage: a third of the time. No result depends on it.
Source: docs/explanation/performance.md.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["collector_paused"]


#: Objects made without a run of the collector, from which on they are aged.
_MUCH = 10_000


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the collector from running for a while, if it would run at all.

    Other threads may make garbage meanwhile; it is collected afterwards. A collector
    that is off stays off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        # Where much was made it counts as old at once; else the next few runs would
        # walk it. Somebody who has frozen objects of their own keeps them frozen.
        if gc.get_count()[0] > _MUCH and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        gc.enable()

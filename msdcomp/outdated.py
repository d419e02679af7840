"""How what is installed stands to what its source offers, as a value.

Source: docs/reference/outdated.md.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import attrs

from msdcomp.records import Record

__all__ = ["Standing", "Status"]

#: `current`: an update would bring nothing newer. `outdated`: it would. `pinned`: the
#: source names one state, so there is nothing to ask. `manual`: nobody can be asked.
#: `unknown`: asking failed, or there is nothing to compare with. `unreadable`: a ledger
#: does not say what is installed.
Status: TypeAlias = Literal[
    "current", "outdated", "pinned", "manual", "unknown", "unreadable"
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Standing(Record):
    """What is known about one entry of a ledger.

    Text of strangers in it has been made safe.

    Attributes:
        scope: `global` or `project`.
        capability_id: The capability; empty for a ledger that cannot be read.
        kind: Kind of its source: `local`, `archive`, `git` or `npm`; empty where the
            source cannot be read.
        status: See `Status`.
        version: Version that is installed.
        commit: Commit that is installed; empty where none is recorded.
        latest: Version that the source offers; empty where that is not known.
        latest_commit: Commit that it offers; empty where that is not known.
        reason: A clause: why it is unknown, or what else a person should know.
    """

    scope: str
    capability_id: str = ""
    kind: str = ""
    status: Status
    version: str = ""
    commit: str = ""
    latest: str = ""
    latest_commit: str = ""
    reason: str = ""

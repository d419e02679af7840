"""How a composition came about, so that the next one need not start from nothing.

Kept beside the result and no part of its value: two compositions are equal whatever way
led to them.
Source: docs/explanation/composition.md, "Composing again".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import attrs

from msdcomp.candidate import Candidate
from msdcomp.dispatch import Dispatch, Exchange
from msdcomp.ground import Ground
from msdcomp.host import Host
from msdcomp.links import Links
from msdcomp.ordering import Standing
from msdcomp.records import Record
from msdcomp.registry import Registry

__all__ = ["Making", "OnSetFailure", "Workings"]

#: What to do when the accepted set cannot be built: drop every overlay, or only the
#: ones that make it impossible.
OnSetFailure: TypeAlias = Literal["fallback", "isolate"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Workings(Record):
    """What a fold found out on its way and the result does not say.

    Attributes:
        ground: What every candidate was judged against.
        links: Who can have a say in whose verdict.
        standings: Where each accepted overlay stands, in the order of acceptance.
        dispatch: The hooks of all members in order.
        lasting: What the first party's hooks give and need, by point and kind.
    """

    ground: Ground
    links: Links
    standings: tuple[Standing, ...]
    dispatch: Dispatch
    lasting: Mapping[tuple[str, str], Exchange]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Making(Record):
    """What a composition was made of.

    Attributes:
        base: The first-party registry.
        host: What was composed for.
        on_set_failure: The policy.
        candidates: In no particular order.
        workings: None where a set that could not be built leaves nothing to mend.
    """

    base: Registry
    host: Host
    on_set_failure: OnSetFailure
    candidates: tuple[Candidate, ...]
    workings: Workings | None = None

"""What every candidate is judged against, whoever else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.flow import Flow
from msdcomp.invariants import Index
from msdcomp.records import Record

if TYPE_CHECKING:
    from msdcomp.host import Host
    from msdcomp.registry import Registry

__all__ = ["Ground"]


@attrs.frozen(eq=False, repr=False)
class Ground(Record):
    """What every candidate is judged against, whoever else there is.

    Attributes:
        host: Version, loop and central configuration keys.
        index: Who owns what in the first party.
        flow: Data flow among the first party's hooks.
    """

    host: Host
    index: Index
    flow: Flow

    @classmethod
    def of(cls, base: Registry, host: Host) -> Ground:
        """Return the ground that a first-party registry and a host make."""
        firsts = tuple(base.capabilities[owner] for owner in sorted(base.capabilities))
        return cls(host, Index.of(firsts, host.contract.order), Flow.of(firsts))

"""Safety gates that are not being enforced, and what is known of them.

A skipped overlay takes its gates with it. Composition lets the loop proceed but never
silently: each lost gate becomes a `BlockedGate`, found even in a manifest too broken
to validate.
Source: docs/explanation/composition.md, "The one place where a skip must be loud".
"""

from __future__ import annotations

import attrs

from msdcomp.manifest.names import Scalar
from msdcomp.records import Record

__all__ = ["BlockedGate", "DeclaredGate", "GateCondition"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GateCondition(Record):
    """The configuration key that decides whether a gate is on, and its own slice.

    `type` and `default` are those of the slice the same manifest declares for the key;
    `type` is None when there is no readable slice, and then the key's default is not
    known.
    """

    key: str
    type: str | None = None
    default: Scalar = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class DeclaredGate(Record):
    """A gate read from a manifest, valid or not.

    Attributes:
        point: One of the twelve loop points.
        blocking: Whether a failed check halts the loop; None when that is unreadable.
        condition: What switches it; None when it is always on, or when `when` is
            unreadable and it must be taken to be on.
        check: The check as canonical JSON, to tell two gates at one point apart;
            None when only the point is known.
    """

    point: str
    blocking: bool | None = None
    condition: GateCondition | None = None
    check: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class BlockedGate(Record):
    """One loop point at which a skipped capability enforces nothing.

    Recorded once per point and skipped folder, however many gates it has there.

    Attributes:
        point: The loop point.
        capability_id: Name of the skipped folder, which is the id it claims.
        scope: `global` or `project`.
        path: The folder, relative to its scope.
        code: Why it was skipped, a code of `msdcomp.codes`.
        reason: One sentence for a person; for a project overlay without consent a
            fixed sentence that repeats nothing of the overlay.
        remedy: What to run, each command in backquotes.
        blocking: Whether any of the gates would have halted the loop; None when
            unknown.
        quotable: Whether text of the overlay may be repeated; not that of a project
            overlay without consent, whose conditions serve `resolve` and are shown
            nowhere.
        conditions: The keys that switch the gates there; empty when at least one is
            on whatever the configuration, or when that cannot be known.
    """

    point: str
    capability_id: str
    scope: str
    path: str
    code: str
    reason: str
    remedy: str
    blocking: bool | None = None
    quotable: bool = True
    conditions: tuple[GateCondition, ...] = ()

"""The answer to a predicate: pass, fail, or that nobody could tell."""

from __future__ import annotations

import enum

import attrs
from pyrsistent import PMap, pmap

from msdcomp.configlayers import freeze_json
from msdcomp.frozenjson import thawed
from msdcomp.manifest.names import Json
from msdcomp.records import Record

__all__ = ["Answer", "Result", "could_not_check"]


class Result(enum.StrEnum):
    """What came of a check."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    #: The check could not be carried out; the gate's `onError` decides what follows.
    COULD_NOT_CHECK = "could-not-check"


def _details(value: object) -> PMap[str, Json]:
    frozen = freeze_json(value)
    return frozen if isinstance(frozen, PMap) else pmap()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Answer(Record):
    """What came of a check, and why.

    Attributes:
        result: One of three; there is no fourth.
        message: One line for a person, safe to print.
        details: `kind`, and what the kind found; values as they were found.
    """

    result: Result
    message: str
    details: PMap[str, Json] = attrs.field(factory=pmap, converter=_details)

    @property
    def block(self) -> bool:
        """Whether a blocking gate stops here.

        Also when nothing could be checked: whoever reads no more than this errs on
        the safe side.
        """
        return self.result is not Result.PASS

    def to_wire(self) -> dict[str, object]:
        """Return what `msd check predicate --json` prints."""
        return {
            "result": str(self.result),
            "block": self.block,
            "message": self.message,
            "details": thawed(self.details),
        }


def could_not_check(kind: str | None, reason: str, **details: object) -> Answer:
    """Return the answer of a check that could not be carried out."""
    return Answer(
        result=Result.COULD_NOT_CHECK,
        message=reason,
        details={"kind": kind, **details},
    )

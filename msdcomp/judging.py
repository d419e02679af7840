"""One pass over candidates: each one sees what the ones before it left.

Source: docs/explanation/composition.md, "The nine gates".
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
from toolz import groupby

from msdcomp.admission import Admission, Fault, skip
from msdcomp.candidate import Candidate
from msdcomp.contender import Contender, Outline
from msdcomp.diagnostics import Problem
from msdcomp.entry import Entry
from msdcomp.ground import Ground
from msdcomp.invariants import Draft
from msdcomp.outlook import FoldOutlook
from msdcomp.records import Record
from msdcomp.verdict import Skipped

__all__ = ["Accepted", "Folded", "judge_all"]


@attrs.frozen(eq=False, repr=False)
class Accepted(Record):
    """A candidate that joins, and as what."""

    candidate: Candidate
    entry: Entry
    outline: Outline


@attrs.frozen(eq=False, repr=False)
class Folded(Record):
    """What one pass over the candidates left."""

    accepted: tuple[Accepted, ...]
    skipped: tuple[Skipped, ...]


def judge_all(
    ordered: Sequence[Contender], ground: Ground, outlook: FoldOutlook
) -> Folded:
    """Judge candidates one after the other.

    Args:
        ordered: In the order of decision.
        ground: What they are judged against.
        outlook: What earlier passes left behind; grows.
    """
    outlook.judging(one.candidate for one in ordered)
    host = ground.host
    draft = Draft(ground.index, host.contract.order)
    admission = Admission(
        draft=draft, host=host, flow=ground.flow, outlook=outlook, accepted={}
    )
    accepted: list[Accepted] = []
    skipped: list[Skipped] = []
    for scope, group in groupby(_scope, ordered).items():
        outlook.deciding = scope
        # Who fails one of the first five gates does so whatever the others do. Their
        # verdicts come first, to be named as causes wherever their ids stand in order.
        alone = [one for one in group if one.outline is None]
        rest = [one for one in group if one.outline is not None]
        for one in (*alone, *rest):
            candidate, outline = one
            verdict = _judged(admission, one)
            outlook.decided(candidate)
            if outline is None or isinstance(verdict, Skipped):
                assert isinstance(verdict, Skipped)  # noqa: S101 - gates 1 to 5 saw to it
                skipped.append(verdict)
                outlook.skipped(verdict)
                continue
            draft.enter(outline.manifest, outline.names, outline.made, outline.around)
            admission.accepted[candidate.folder] = candidate
            outlook.accepted(candidate)
            accepted.append(Accepted(candidate, verdict, outline))
    return Folded(tuple(accepted), tuple(skipped))


def _scope(contender: Contender) -> str:
    return contender.candidate.scope.value


def _judged(admission: Admission, contender: Contender) -> Entry | Skipped:
    try:
        return admission.judge(contender)
    except Exception as error:  # noqa: BLE001 - a defect costs one candidate, not all
        message = (
            f"composing it failed inside this library ({type(error).__name__}); "
            "that is a defect, please report it with the manifest"
        )
        problem = Problem(code="internal-error", message=message)
        fault = Fault(
            code="internal-error",
            reason=message,
            problems=(problem,),
            advice="Report the defect with the manifest.",
        )
        return skip(contender.candidate, fault, admission.host)

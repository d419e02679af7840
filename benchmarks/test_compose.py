"""Composing: the fold over candidates that were decoded before."""

from __future__ import annotations

from kit import Timed, candidates_of, overlays_of
from overlays import BAD
from shapes import SHAPES

from msdcomp import Composition, compose
from msdcomp.edge.snapshot import read_snapshot


def test_compose(timed: Timed, count: int, dirty: bool) -> None:
    base, given = read_snapshot(), candidates_of(count, dirty=dirty)
    composed = timed(lambda: compose(base, given))
    assert len(composed.accepted) + len(composed.warnings) == count
    both = len(base.capabilities) + len(composed.accepted)
    assert len(composed.registry.capabilities) == both
    _check_verdicts(composed, count, dirty=dirty)


def _check_verdicts(composed: Composition, count: int, *, dirty: bool) -> None:
    """Every bad overlay is left out for what is bad about it.

    Others are left out only because they require one that was, or that has another name
    than it would have if it were good.
    """
    given = overlays_of(count, dirty=dirty)
    for before, one in zip((None, *given), given, strict=False):
        warnings = composed.warnings.get(("global", one.folder), ())
        codes = [warning.code for warning in warnings]
        if one.bad:
            assert codes == [BAD[one.bad][1]], one.folder
        else:
            assert codes in ([], ["invariant"])
            renamed = before and before.bad in {"collision-id", "reserved-prefix"}
            assert all(warning.because or renamed for warning in warnings)


def test_compose_the_hardest(timed: Timed, shape: str, count: int) -> None:
    base = read_snapshot()
    given = [one.candidate() for one in SHAPES[shape](count)]
    composed = timed(lambda: compose(base, given))
    verdicts = (len(composed.accepted), len(composed.warnings))
    match shape:
        case "one-name-for-all":
            assert verdicts == (1, count - 1)
        case "all-invalid":
            assert verdicts == (0, count)
            assert len(composed.blocked_gates["ship:pre"]) == count
        case "one-ordering-cycle":
            # The cycle of two takes all along, and one warning speaks for them.
            assert verdicts == (0, 1)
            assert composed.registry is base
        case "all-gates-at-one-point":
            assert verdicts == (count, 0)
            gates = composed.registry.by_loop_point["ship:pre"].gates
            assert sum(g.capability_id.startswith("cap-") for g in gates) == count
        case _:
            assert verdicts == (count, 0)

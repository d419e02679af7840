"""Resolving: a registry and a configuration -> what is dispatched at a point."""

from __future__ import annotations

from kit import Timed, candidates_of

from msdcomp import compose, render_markdown, resolve
from msdcomp.edge.snapshot import read_snapshot


def test_resolve(timed: Timed, count: int, dirty: bool) -> None:
    composed = compose(read_snapshot(), candidates_of(count, dirty=dirty))
    registry, blocked = composed.registry, composed.blocked_gates
    found = timed(lambda: resolve(registry, "ship:pre", blocked_gates=blocked))
    active = {hook.capability_id for hook in found.active_hooks}
    gated = {gate.capability_id for gate in registry.by_loop_point["ship:pre"].gates}
    assert active.intersection(composed.accepted) == gated.intersection(
        composed.accepted
    )
    lost = {gate.capability_id for gate in blocked.get("ship:pre", ())}
    assert {warning.capability_id for warning in found.warnings} == lost


def test_render(timed: Timed, count: int) -> None:
    registry = compose(read_snapshot(), candidates_of(count)).registry
    found = resolve(registry, "plan:pre")
    text = timed(lambda: render_markdown(found))
    said = [hook for hook in found.active_hooks if hook.kind == "contribution"]
    assert text.count("</contribution>") == len(said) > 0

"""The loop of a host, and the order of the hooks at a point of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from msdcomp.host import HostContract
from msdcomp.looporder import Placed, Rule, order_of, way
from msdcomp.manifest import Contribution, Step
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe
from msdcomp.views import Hook, PointHooks
from msdcomp.vocabulary import CHECK_FORMS, HOOK_KINDS

__all__ = ["order_wire", "render_order", "render_points"]

#: Most hops that are shown of one way, and most artefacts of one pair.
_MOST = 8

_NONE = "-"


def render_points(contract: HostContract, screen: Screen) -> str:
    """Return every point: roles, what is there from it on, the kinds it dispatches."""
    page = Page(screen)
    rows = []
    for phase in contract.phases:
        for point in phase.points:
            leaves = sorted(phase.produces) if point == phase.points[-1] else []
            kinds = [kind for kind in HOOK_KINDS if kind in contract.kinds_at(point)]
            rows.append(
                (
                    phase.name,
                    point,
                    ", ".join(sorted(phase.roles)),
                    ", ".join(leaves) or _NONE,
                    ", ".join(kinds) or _NONE,
                )
            )
    page.table(("phase", "point", "roles", "leaves", "dispatches"), rows)
    return page.render()


def render_order(
    point: str, hooks: PointHooks, contract: HostContract, screen: Screen
) -> str:
    """Return the hooks of a point in order, and below each why it stands there."""
    order = order_of(hooks)
    page = Page(screen)
    page.line((point, "bold"), f": {count(len(order), 'hook')}, in order of dispatch")
    for place, placed in enumerate(order):
        hook = placed.hook
        page.line(
            f"{place + 1}. ",
            (hook.kind, "bold"),
            f" of {safe(hook.capability_id)}: {_aim(hook)}",
        )
        for line in (*_reasons(order, place), *_undispatched(hook, point, contract)):
            page.line(line, indent=2)
    return page.render()


def _reasons(order: Sequence[Placed], place: int) -> Iterator[str]:
    placed = order[place]
    owner = safe(placed.hook.capability_id)
    if placed.rule is None:
        yield "first, since nothing comes before it"
        return
    before = f"after {place}, by"
    if placed.rule is Rule.KIND:
        kind = order[place - 1].hook.kind
        yield f"{before} kind: {placed.hook.kind}s come after {kind}s"
    elif placed.rule is Rule.DATA_FLOW:
        given = _artefacts(placed.artefacts)
        yield f"{before} data flow: {place} produces {given}, which it consumes"
    elif placed.rule is Rule.DECLARATION:
        yield f"{before} declaration: {owner} declares it later"
    else:
        other = safe(order[place - 1].hook.capability_id)
        yield f"{before} capability id: {other} sorts before {owner}"
    if placed.held is not None:
        until = placed.held.until + 1
        ways = _way(order, place)
        yield f"held back until {until}, though its id would come earlier: {ways}"


def _artefacts(names: Sequence[str]) -> str:
    shown = ", ".join(safe(name, 60) for name in names[:_MOST])
    return shown if len(names) <= _MOST else f"{shown} and {len(names) - _MOST} more"


def _way(order: Sequence[Placed], place: int) -> str:
    """Return the way by which a hook was held back, in the order it is gone."""
    hops = list(islice(way(order, place), _MOST + 1))
    parts = [f"{giver + 1} produces {safe(name, 60)}" for giver, name in hops[:_MOST]]
    takers = [place, *(giver for giver, _ in hops)]
    told = [
        f"{part} for {taker + 1}" for part, taker in zip(parts, takers, strict=False)
    ]
    cut = ["and so on"] if len(hops) > _MOST else []
    return ", ".join((*cut, *reversed(told)))


def _aim(hook: Hook) -> str:
    body = hook.body
    if isinstance(body, Step):
        ref = body.ref
        for kind, name in (
            ("skill", ref.skill),
            ("agent", ref.agent),
            ("command", ref.command),
        ):
            if name is not None:
                return f"{kind} {safe(name, 120)}"
    elif isinstance(body, Contribution):
        return f"into {safe(body.into, 120)}"
    else:
        values = (body.check.query, body.check.predicate, body.check.agent_verdict)
        for form, value in zip(CHECK_FORMS, values, strict=True):
            if value is not None:
                return f"check by {form}"
    return "nothing"  # pragma: no cover - a valid hook has one of these


def _undispatched(hook: Hook, point: str, contract: HostContract) -> Iterator[str]:
    if hook.kind not in contract.kinds_at(point):
        yield f"never run: the host dispatches no {hook.kind}s here"


def order_wire(point: str, hooks: PointHooks, contract: HostContract) -> dict[str, Any]:
    """Return the same as fresh JSON data; places count from 1."""
    kinds = contract.kinds_at(point)
    return {
        "point": point,
        "hooks": [
            _placed_wire(number, placed, dispatched=placed.hook.kind in kinds)
            for number, placed in enumerate(order_of(hooks), 1)
        ],
    }


def _placed_wire(number: int, placed: Placed, *, dispatched: bool) -> dict[str, Any]:
    held = placed.held
    return {
        "place": number,
        "capId": placed.hook.capability_id,
        "kind": placed.hook.kind,
        "index": placed.hook.index,
        "dispatched": dispatched,
        "rule": placed.rule.value if placed.rule is not None else None,
        "artefacts": list(placed.artefacts),
        "heldBack": {
            "until": held.until + 1,
            "waitsFor": held.waits_for + 1,
            "artefact": held.artefact,
        }
        if held is not None
        else None,
    }

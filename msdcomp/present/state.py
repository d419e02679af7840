"""How far each capability got, for a person and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msdcomp.activation import Effective, Origin, mismatch
from msdcomp.present.names import shown_name
from msdcomp.present.page import Page, Screen, count
from msdcomp.safetext import safe
from msdcomp.state import HookState, Stage, State
from msdcomp.surface import Standing, Surface, Switch

__all__ = [
    "add_chain",
    "effective_wire",
    "render_states",
    "standing_text",
    "state_text",
    "state_wire",
    "switch_text",
]

_MARKS = {True: ("yes", "green"), False: ("no", "bold red"), None: ("-", "dim")}


def render_states(
    states: Sequence[State], screen: Screen, surface: Surface | None = None
) -> str:
    """Return a row for each capability; of a single one, the whole chain.

    Args:
        states: What to show.
        screen: What the reader's screen can do.
        surface: The surface they were found with.
    """
    page = Page(screen)
    if len(states) == 1:
        state = states[0]
        page.line(
            (shown_name(state.capability_id, state.code), "bold"), state_text(state)
        )
        add_chain(page, state, surface or Surface())
        return page.render()
    page.table(
        ("id", "scope", *(stage.value for stage in Stage), "stopped by"),
        [
            (
                shown_name(state.capability_id, state.code),
                state.scope,
                *(_MARKS[state.passed(stage)][0] for stage in Stage),
                state.code,
            )
            for state in states
        ],
    )
    active = sum(state.active is True for state in states)
    page.line()
    page.line(
        f"{count(len(states), 'capability', 'capabilities')}, {active} active; "
        "`msd capability state ID` tells more about one"
    )
    return page.render()


def state_text(state: State) -> str:
    """Return what a capability is, after its name."""
    if state.active is None:
        return ": could not be checked"
    if state.active:
        return ": active"
    return f": not {state.stopped.value}" if state.stopped is not None else ""


def add_chain(page: Page, state: State, surface: Surface, indent: int = 1) -> None:
    """Add the stages to a page, with the switch that decided each."""
    for stage in Stage:
        passed = state.passed(stage)
        mark = _MARKS[passed]
        if not state.asked(stage):
            mark = ("not asked", "dim")
        elif passed is None:
            mark = ("could not be checked", "bold yellow")
        page.line(f"{stage.value}: ", mark, _by(state, stage, surface), indent=indent)
    for hook in state.hooks:
        page.line(
            f"{hook.kind} at {hook.point}: ",
            ("runs", "green") if hook.active else ("does not run", "dim"),
            _keys(hook),
            indent=indent + 1,
        )
    kept = any(hook.kind == "gate" and hook.active for hook in state.hooks)
    if kept and state.active is None:
        page.line("what cannot be checked keeps its gates", indent=indent + 1)


def _by(state: State, stage: Stage, surface: Surface) -> str:
    if not state.asked(stage):
        return ""
    match stage:
        case Stage.INSTALLED:
            ships = state.scope == "first-party"
            return ", it ships with the host" if ships else f" ({state.scope})"
        case Stage.COMPOSED if state.warning is not None:
            return f", {state.warning.code}: {safe(state.warning.reason, 600)}"
        case Stage.SURFACED:
            return f", {standing_text(state.standing, surface)}"
        case Stage.ACTIVATED if state.switch is not None:
            return f", {switch_text(state.switch)}"
        case _:
            return ""


def _keys(hook: HookState) -> str:
    when = f"; {switch_text(hook.when)}" if hook.when is not None else ""
    return when + (_point_text(hook, hook.point_from) if hook.point_from else "")


def _point_text(hook: HookState, chosen: Effective) -> str:
    key = safe(chosen.key)
    if chosen.origin is Origin.UNREADABLE:
        return f"; its point {key} cannot be read {_lost(chosen)}"
    same = "this point" if chosen.value == hook.point else "another point"
    return f"; {key} names {same}, {_where(chosen)}"


def standing_text(standing: Standing | None, surface: Surface) -> str:
    """Return which switch of the surface decided, and where it is."""
    if surface.unreadable:
        return f"{safe(surface.file)} cannot be read ({surface.unreadable})"
    if standing is None:
        return "everything is on the surface"
    because = safe(standing.because)
    where = f", {safe(surface.file)}" if surface.file else ""
    match standing.switch:
        case Switch.RUNTIME:
            return f"it is not made for {safe(surface.runtime)}"
        case Switch.DISABLED:
            return f"it is disabled{where}"
        case Switch.SKILL:
            return f"its skill {because} is taken away{where}"
        case Switch.ENABLED:
            needed = f", since {because} requires it" if because else ""
            return f"it is enabled beyond the profile{needed}{where}"
        case _ if standing.on:
            needed = f", since {because} requires it" if because else ""
            return f"it is in the profile {surface.profile}{needed}"
        case _:
            return f"it is not in the profile {surface.profile}{where}"


def switch_text(switch: Effective) -> str:
    """Return what a key is set to, and where."""
    key = safe(switch.key)
    if switch.origin is Origin.UNREADABLE:
        return f"its switch {key} cannot be read {_lost(switch)}"
    state = "on" if switch.on else "off"
    fits = "" if mismatch(switch) is None else ", which sets neither true nor false"
    return f"its switch {key} is {state}, {_where(switch)}{fits}"


def _lost(found: Effective) -> str:
    """Return which file cannot be read, and why."""
    file = "the file given" if found.layer is Origin.EXPLICIT else safe(found.file)
    return f"in {file}: {safe(found.reason)}"


def _where(found: Effective) -> str:
    return {
        Origin.DEFAULT: "by its default",
        Origin.ABSENT: "since nothing sets it",
        Origin.EXPLICIT: "by the file given",
    }.get(found.origin, f"by {safe(found.file or found.origin.value)}")


# JSON.


def state_wire(state: State) -> dict[str, Any]:
    """Return a state as fresh JSON data."""
    return {
        "id": state.capability_id,
        "scope": state.scope,
        "version": state.version,
        **{stage.value: state.passed(stage) for stage in Stage},
        "active": state.active,
        "stopped": state.stopped.value if state.stopped is not None else None,
        "code": state.code,
        "standing": state.standing and _standing_wire(state.standing),
        "switch": state.switch and effective_wire(state.switch),
        "hooks": [
            {
                "point": hook.point,
                "kind": hook.kind,
                "blocking": hook.blocking,
                "when": hook.when and effective_wire(hook.when),
                "pointFrom": hook.point_from and effective_wire(hook.point_from),
                "configured": hook.configured,
                "active": hook.active,
            }
            for hook in state.hooks
        ],
    }


def _standing_wire(standing: Standing) -> dict[str, Any]:
    return {
        "on": standing.on,
        "switch": standing.switch.value,
        "because": standing.because,
    }


def effective_wire(switch: Effective) -> dict[str, Any]:
    """Return a key with its value's origin as fresh JSON data."""
    return {
        "key": switch.key,
        "on": switch.on,
        "origin": switch.origin.value,
        "file": switch.file,
        "fits": switch.fits,
    }

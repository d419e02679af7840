"""Where each capability got to on its way into the loop, and what stopped it.

Four stages lie between a folder and a hook that fires: installed, composed, surfaced,
activated. The first that a capability does not pass is the answer to "why does it not
run?", and every verb that speaks about that reads it from here.
Source: docs/reference/state.md.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import attrs

from msdcomp.activation import ConfigLayers, Effective, Origin, all_of, lookup
from msdcomp.activehook import declare
from msdcomp.records import Record
from msdcomp.surface import Standing, Surface
from msdcomp.vocabulary import POINTS

if TYPE_CHECKING:
    from msdcomp.composition import Composition
    from msdcomp.manifest import Manifest
    from msdcomp.registry import Registry
    from msdcomp.verdict import SkipWarning

__all__ = ["UNREADABLE", "HookState", "Stage", "State", "state_of", "states"]

#: What stops a capability while nobody knows what was chosen.
UNREADABLE = "surface-unreadable"


class Stage(enum.StrEnum):
    """What a capability has to pass, in this order."""

    #: Its folder is there, or it ships with the host.
    INSTALLED = "installed"
    #: Every gate of composition let it into the registry.
    COMPOSED = "composed"
    #: Profile, choices and runtime have it on the surface.
    SURFACED = "surfaced"
    #: Its own switch is on.
    ACTIVATED = "activated"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HookState(Record):
    """One hook of a capability that is composed.

    Attributes:
        point: Where in the loop.
        kind: `step`, `contribution` or `gate`.
        blocking: Whether a gate halts the loop; None for what is no gate.
        when: The key that has to be on for it.
        point_from: The key that has to name the point for it.
        configured: Whether they let it run; None if one could not be read.
        active: Whether it is dispatched there. A step or contribution that could not
            be checked is not, and a gate is.
    """

    point: str
    kind: str
    blocking: bool | None = None
    when: Effective | None = None
    point_from: Effective | None = None
    configured: bool | None
    active: bool


@attrs.frozen(kw_only=True, eq=False, repr=False)
class State(Record):
    """How far one capability, or one folder of an overlay, got.

    Attributes:
        capability_id: Its id, or the name of the folder.
        scope: `first-party`, `global` or `project`.
        version: Of the manifest; empty unless it is composed.
        stopped: The first stage it does not pass, or of which nobody knows whether it
            does; None when it is active.
        doubtful: Whether that stage could not be checked.
        code: What stopped it: a code of a warning, a `Switch`, or `activationKey`.
        warning: Why it is not composed.
        surfaced: Whether it is on the surface; None if nobody knows, or nobody asks.
        standing: What decided that.
        switch: Its `activationKey` and the value of that.
        hooks: Of a capability that is composed, in loop order.
    """

    capability_id: str
    scope: str
    version: str = ""
    stopped: Stage | None = None
    doubtful: bool = False
    code: str = ""
    warning: SkipWarning | None = None
    surfaced: bool | None = None
    standing: Standing | None = None
    switch: Effective | None = None
    hooks: tuple[HookState, ...] = ()

    @property
    def active(self) -> bool | None:
        """Whether its hooks may run; None if that could not be checked."""
        if self.stopped is None:
            return True
        return None if self.doubtful else False

    def asked(self, stage: Stage) -> bool:
        """Tell whether a stage is asked at all, as no earlier one has stopped it."""
        if stage in (Stage.INSTALLED, Stage.COMPOSED):
            return True
        if self.warning is not None:
            return False
        return stage is Stage.SURFACED or self.surfaced is not False

    def passed(self, stage: Stage) -> bool | None:
        """Tell whether it passes a stage; None for unknown, and for never asked."""
        match stage:
            case Stage.INSTALLED:
                return True
            case Stage.COMPOSED:
                return self.warning is None
            case Stage.SURFACED:
                return self.surfaced
            case _:
                return _switched(self.switch) if self.asked(stage) else None


def _switch(
    manifest: Manifest, registry: Registry, layers: ConfigLayers
) -> Effective | None:
    key = manifest.feature.activation_key if manifest.feature is not None else None
    return None if key is None else lookup(key, layers, registry.config_schema)


def _switched(switch: Effective | None) -> bool | None:
    return True if switch is None else switch.on


def states(
    composition: Composition,
    layers: ConfigLayers | None = None,
    surface: Surface | None = None,
) -> tuple[State, ...]:
    """Return the state of everything that ships or is installed, by id and scope.

    Args:
        composition: What was composed.
        layers: The configuration; by default nothing is set.
        surface: The surface; by default everything is on it.
    """
    layers, surface = layers or ConfigLayers(), surface or Surface()
    hooks = _hooks(composition.registry, layers)
    found = [
        _composed(composition, manifest, layers, surface, hooks.get(owner, ()))
        for owner, manifest in composition.registry.capabilities.items()
    ]
    for (scope, folder), warnings in composition.warnings.items():
        if scope != "set":
            found += [_left_out(folder, scope, warning) for warning in warnings]
    for owner, path in composition.dropped.items():
        whole = composition.warnings["set", "*"][0]
        found.append(_left_out(owner, path.scope, whole))
    return tuple(sorted(found, key=lambda state: (state.capability_id, state.scope)))


def state_of(
    composition: Composition,
    manifest: Manifest,
    layers: ConfigLayers | None = None,
    surface: Surface | None = None,
) -> State:
    """Return the state of one capability that is composed."""
    layers = layers or ConfigLayers()
    hooks = _hooks(composition.registry, layers).get(manifest.id, ())
    return _composed(composition, manifest, layers, surface or Surface(), hooks)


def _left_out(folder: str, scope: str, warning: SkipWarning) -> State:
    return State(
        capability_id=folder,
        scope=scope,
        stopped=Stage.COMPOSED,
        code=warning.code,
        warning=warning,
    )


def _composed(
    composition: Composition,
    manifest: Manifest,
    layers: ConfigLayers,
    surface: Surface,
    hooks: Iterable[HookState],
) -> State:
    owner = manifest.id
    path = composition.paths.get(owner)
    on, standing = surface.on(owner), surface.standing(owner)
    switch = _switch(manifest, composition.registry, layers)
    switched = _switched(switch)
    active = all_of((on, switched))
    stopped, code = None, ""
    # A no at the second stage outweighs an unknown at the first: nothing runs then.
    if on is True or (on is None and switched is False):
        if switched is not True:
            stopped, code = Stage.ACTIVATED, "activationKey"
    else:
        stopped = Stage.SURFACED
        code = UNREADABLE if standing is None else standing.switch.value
    return State(
        capability_id=owner,
        scope=path.scope if path is not None else "first-party",
        version=manifest.version,
        stopped=stopped,
        doubtful=active is None,
        code=code,
        surfaced=on,
        standing=standing,
        switch=switch,
        hooks=tuple(attrs.evolve(hook, active=_fires(hook, active)) for hook in hooks),
    )


def _fires(hook: HookState, capability: bool | None) -> bool:  # noqa: FBT001 - three values
    found = all_of((capability, hook.configured))
    return hook.kind == "gate" if found is None else found


def _hooks(
    registry: Registry, layers: ConfigLayers
) -> Mapping[str, tuple[HookState, ...]]:
    """Return the hooks of every capability with what their keys say."""
    found: dict[str, list[HookState]] = {}
    for point in POINTS:
        held = registry.by_loop_point.get(point)
        for hook in held.all() if held is not None else ():
            declared = declare(hook)
            answers: list[bool | None] = [not declared.never]
            when = chosen = None
            if declared.hook.when is not None:
                when = lookup(declared.hook.when, layers, registry.config_schema)
                answers.append(when.on)
            if declared.point_from is not None:
                chosen = lookup(declared.point_from, layers, registry.config_schema)
                unknown = chosen.origin is Origin.UNREADABLE
                answers.append(None if unknown else chosen.value == point)
            found.setdefault(hook.capability_id, []).append(
                HookState(
                    point=point,
                    kind=declared.hook.kind,
                    blocking=declared.hook.blocking,
                    when=when,
                    point_from=chosen,
                    configured=all_of(answers),
                    active=False,
                )
            )
    return {owner: tuple(hooks) for owner, hooks in found.items()}

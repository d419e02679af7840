"""Changing what a user has on the surface, and telling what has come of it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import Any

import attrs
from pyrsistent import pmap

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json, tell
from msdcomp.cli.here import Here, add_places, add_surface, here
from msdcomp.cli.meant import meant
from msdcomp.edge.files import FileFault
from msdcomp.edge.surfaceedit import Change, change_choice
from msdcomp.edge.surfacing import find_folder
from msdcomp.gatewarning import PREFIX
from msdcomp.manifest import CapabilityId
from msdcomp.present.page import Screen
from msdcomp.present.state import (
    render_states,
    standing_text,
    state_text,
    state_wire,
    switch_text,
)
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.state import HookState, Stage, State, states
from msdcomp.surface import Choice, Surface, profile_members

__all__ = [
    "Effect",
    "change_surface",
    "configure_switch",
    "effect_of",
    "folder_of",
    "is_known",
    "look",
    "run_switch",
    "switch",
    "switched",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Effect(Record):
    """What a change has come to, by looking again.

    Attributes:
        before: States before the change.
        after: States after it, of the same capabilities in the same order.
        surface: The surface after it.
        requires: Id -> what it requires, of all that is composed.
        about: The capability that was asked about; empty for all.
        wanted: Whether that was to be on the surface; None where nobody asked.
    """

    before: tuple[State, ...] = ()
    after: tuple[State, ...] = ()
    surface: Surface = attrs.field(factory=Surface)
    requires: Mapping[str, tuple[str, ...]] = attrs.field(factory=pmap)
    about: str = ""
    wanted: bool | None = None

    @property
    def state(self) -> State | None:
        """The state of what was asked about, if that is composed."""
        composed = (one for one in self.after if one.warning is None)
        return next((one for one in composed if one.capability_id == self.about), None)

    @property
    def changed(self) -> tuple[State, ...]:
        """What is active now and was not, or the other way round."""
        both = zip(self.before, self.after, strict=True)
        return tuple(now for was, now in both if was.active is not now.active)

    @property
    def lost(self) -> tuple[tuple[State, HookState], ...]:
        """The gates that ran before the change and do not after it."""
        return tuple(
            (now, after)
            for was, now in zip(self.before, self.after, strict=True)
            for before, after in zip(was.hooks, now.hooks, strict=True)
            if after.kind == "gate" and before.active and not after.active
        )

    @property
    def missed(self) -> bool:
        """Whether the surface is not what was asked for, although it was written."""
        state = self.state
        return state is not None and self.wanted not in (None, state.surfaced)

    def notes(self) -> Iterator[str]:
        """Yield what a person should know, a sentence each."""
        state = self.state
        if state is not None and self.wanted:
            name = safe(state.capability_id)
            if self.missed:
                yield f"{name}: {standing_text(state.standing, self.surface)}"
            elif state.stopped is Stage.ACTIVATED and state.switch is not None:
                yield f"{name}: {switch_text(state.switch)}"
            elif state.active and state.hooks and not _fires(state):
                yield f"{name}: every hook of it waits for a key that is off"
        yield from sorted(set(self._unmet(self.after)) - set(self._unmet(self.before)))

    def _unmet(self, told: tuple[State, ...]) -> Iterator[str]:
        off = {one.capability_id for one in told if one.surfaced is False}
        for one in told:
            needed = self.requires.get(one.capability_id, ()) if one.surfaced else ()
            for other in needed:
                if other in off:
                    yield (
                        f"{safe(one.capability_id)} is on the surface and requires "
                        f"{safe(other)}, which is not"
                    )

    def wire(self) -> dict[str, Any]:
        """Return it as fresh JSON data."""
        state = self.state
        return {
            "profile": self.surface.profile,
            "runtime": self.surface.runtime,
            "file": self.surface.file,
            "changed": [state_wire(one) for one in self.changed],
            "state": None if state is None else state_wire(state),
            "lostGates": [
                {
                    "id": one.capability_id,
                    "point": gate.point,
                    "blocking": gate.blocking,
                }
                for one, gate in self.lost
            ],
            "notes": list(self.notes()),
        }

    def warn(self) -> None:
        """Say on stderr, in every output mode, what is lost and what to know."""
        for state, gate in self.lost:
            kind = "blocking" if gate.blocking else "advisory"
            tell(
                f"{PREFIX}the {kind} gate of {safe(state.capability_id)} at "
                f"{gate.point} no longer runs"
            )
        for note in self.notes():
            tell(f"msd: note: {note}")

    def text(self) -> str:
        """Return it for a person."""
        state, changed = self.state, self.changed
        lines = [
            f"{safe(one.capability_id)}{_now(one)}, "
            f"{standing_text(one.standing, self.surface)}\n"
            for one in changed
            if one is not state
        ]
        if state is not None:
            lines.insert(
                0, render_states((state,), Screen(**screen_options()), self.surface)
            )
        elif not changed:
            lines.append("nothing that is composed here has changed\n")
        return "".join(lines)

    def report(self, *, as_json: bool) -> int:
        """Print what has changed, and return the exit code."""
        self.warn()
        if as_json:
            show_json(self.wire())
        else:
            show(self.text())
        return 1 if self.missed else 0


def _now(state: State) -> str:
    return state_text(state).replace(":", " is now", 1)


def _fires(state: State) -> bool:
    return any(hook.active for hook in state.hooks)


def look(found: Here, options: argparse.Namespace) -> tuple[State, ...] | None:
    """Return the states here and now, or complain about the options."""
    surface = found.surface(options)
    if isinstance(surface, FileFault):
        complain(surface.reason)
        return None
    return states(found.composition, found.layers(), surface)


def folder_of(found: Here, options: argparse.Namespace) -> str | None:
    """Return the folder that keeps the choices, or complain."""
    folder = options.config_dir or find_folder(
        found.places,
        found.composition.registry,
        options.runtime,
        None if options.home is None else {},
    )
    if isinstance(folder, str):
        return folder
    if folder is None:
        complain("the runtime has no folder to keep choices in; say --config-dir")
    else:
        complain(f"--runtime: {folder.reason}")
    return None


def change_surface(
    found: Here,
    options: argparse.Namespace,
    change: Change,
    about: str = "",
    *,
    wanted: bool | None = None,
) -> Effect | None:
    """Change the choices and read them again, or complain and return None."""
    before = look(found, options)
    folder = folder_of(found, options) if before is not None else None
    if before is None or folder is None:
        return None
    kept = change_choice(folder, change)
    fault = kept if isinstance(kept, FileFault) else kept.fault
    if fault is not None:
        complain(f"the surface was not changed: {safe(folder, 400)}: {fault.reason}")
        return None
    return effect_of(found, options, before, about, wanted=wanted)


def effect_of(
    found: Here,
    options: argparse.Namespace,
    before: tuple[State, ...],
    about: str,
    *,
    wanted: bool | None,
) -> Effect | None:
    """Look again, after something was changed."""
    surface = found.surface(options)
    after = look(found, options)
    if after is None or isinstance(surface, FileFault):
        return None
    registry = found.composition.registry
    return Effect(
        before=before,
        after=after,
        surface=surface or Surface(),
        requires=pmap(
            {
                str(owner): tuple(map(str, manifest.requires))
                for owner, manifest in registry.capabilities.items()
            }
        ),
        about=about,
        wanted=wanted,
    )


def configure_switch(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `enable` and `disable`."""
    parser.add_argument("id", metavar="ID", help="a capability that is composed here")
    add_surface(parser)
    add_places(parser)
    add_json(parser)


def run_switch(options: argparse.Namespace, *, on: bool) -> int:
    """Enable or disable a capability, and tell what has come of it."""
    found = here(options)
    if found is None:
        return 2
    effect = switch(found, options, options.id, on=on)
    return 2 if effect is None else effect.report(as_json=options.json)


def switch(
    found: Here, options: argparse.Namespace, capability_id: str, *, on: bool
) -> Effect | None:
    """Enable or disable a capability, or complain and return None."""
    if not is_known(found, options, capability_id):
        return None
    change = switched(found, capability_id, on=on)
    return change_surface(found, options, change, capability_id, wanted=on)


def is_known(found: Here, options: argparse.Namespace, capability_id: str) -> bool:
    """Tell whether an id can be chosen about, or complain.

    What is composed can; what is not, but was chosen about before, can be undone.
    """
    composition = found.composition
    names = sorted(map(str, composition.registry.capabilities))
    surface = found.surface(options)
    if isinstance(surface, FileFault):
        complain(surface.reason)
        return False
    if capability_id in names:
        return True
    if surface is not None and capability_id in surface.choice.names():
        return True
    name = safe(capability_id)
    if any(folder == capability_id for _, folder in composition.warnings):
        complain(f"{name} is not composed here; `msd explain {name}` tells why")
        return False
    complain(f"{name} is not composed here{meant(capability_id, names)}")
    return False


def switched(found: Here, capability_id: str, *, on: bool) -> Change:
    """Return the change that enables or disables a capability."""
    registry = found.composition.registry
    manifest = registry.capabilities.get(CapabilityId(capability_id))
    feature = manifest.feature if manifest is not None else None
    skills = frozenset(map(str, feature.skills if feature is not None else ()))
    own = frozenset({capability_id})

    def disable(choice: Choice) -> Choice:
        return attrs.evolve(
            choice,
            disabled=choice.disabled | own if manifest else choice.disabled,
            enabled=choice.enabled - own,
            added=choice.added - skills,
        )

    def enable(choice: Choice) -> Choice:
        inside = capability_id in profile_members(registry, choice.profile)
        beyond = not inside and manifest is not None
        return attrs.evolve(
            choice,
            disabled=choice.disabled - own,
            removed=choice.removed - skills,
            enabled=choice.enabled | own if beyond else choice.enabled,
            # By its skills other hosts know what is beyond the profile.
            added=choice.added | skills if beyond else choice.added,
        )

    return enable if on else disable

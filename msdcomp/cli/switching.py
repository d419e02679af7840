"""Changing what a user has on the surface, and telling what has come of it."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable

import attrs

from msdcomp.cli.common import add_json, complain, screen_options, show, show_json, tell
from msdcomp.cli.here import Here, add_places, add_surface, here
from msdcomp.edge.files import FileFault
from msdcomp.edge.surfacefile import change_choice
from msdcomp.edge.surfacing import find_folder
from msdcomp.manifest import CapabilityId
from msdcomp.present.page import Screen
from msdcomp.present.state import render_states, standing_text, state_wire
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.state import State, states
from msdcomp.surface import Choice, Surface, profile_members

__all__ = ["Effect", "configure_switch", "run_switch", "switch"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Effect(Record):
    """What a change has come to, by looking again.

    Attributes:
        code: Exit code.
        before: States before the change.
        after: States after it.
        surface: The surface after it.
        about: The capability that was asked about; empty for all.
        notes: What a person should know, a sentence each.
    """

    code: int = 0
    before: tuple[State, ...] = ()
    after: tuple[State, ...] = ()
    surface: Surface = attrs.field(factory=Surface)
    about: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        found: Here,
        options: argparse.Namespace,
        change: Callable[[Choice], Choice],
        about: str = "",
    ) -> Effect:
        """Change the choices, and read them again."""
        before = _states(found, options)
        folder = options.config_dir or find_folder(
            found.places, found.composition.registry, options.runtime
        )
        if isinstance(folder, FileFault):
            complain(f"--runtime: {folder.reason}")
            return cls(code=2)
        if folder is None:
            complain("there is no folder to keep the surface in; say --config-dir")
            return cls(code=2)
        kept = change_choice(folder, change)
        if isinstance(kept, FileFault):
            complain(f"the surface was not changed: {kept.reason}")
            return cls(code=2)
        surface = found.surface(options)
        if isinstance(surface, FileFault) or kept.fault is not None:
            complain("the surface cannot be read after the change")
            return cls(code=2)
        return cls(
            before=before,
            after=_states(found, options),
            surface=surface or Surface(),
            about=about,
        )

    def report(self, *, as_json: bool) -> int:
        """Print what has changed, and return the exit code."""
        if self.code == 2:
            return self.code
        for note in self.notes:
            tell(f"msd: {note}")
        changed = [
            now
            for was, now in zip(self.before, self.after, strict=True)
            if was.active is not now.active
        ]
        about = [state for state in self.after if state.capability_id == self.about]
        if as_json:
            show_json(
                {
                    "profile": self.surface.profile,
                    "file": self.surface.file,
                    "changed": [state_wire(state) for state in changed],
                    "state": [state_wire(state) for state in about],
                    "notes": list(self.notes),
                }
            )
            return self.code
        lines = [
            f"{safe(state.capability_id)} is "
            f"{'active' if state.active else 'not active'} now: "
            f"{standing_text(state.standing, self.surface)}\n"
            for state in changed
        ]
        if about and not any(state.capability_id == self.about for state in changed):
            lines.append(
                render_states(about[:1], Screen(**screen_options()), self.surface)
            )
        elif not changed:
            lines.append("nothing that is composed here has changed\n")
        show("".join(lines))
        return self.code


def _states(found: Here, options: argparse.Namespace) -> tuple[State, ...]:
    surface = found.surface(options)
    held = None if isinstance(surface, FileFault) else surface
    return states(found.composition, found.layers(), held)


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
    return switch(found, options, options.id, on=on).report(as_json=options.json)


def switch(
    found: Here, options: argparse.Namespace, capability_id: str, *, on: bool
) -> Effect:
    """Enable or disable a capability that is composed."""
    registry = found.composition.registry
    manifest = registry.capabilities.get(CapabilityId(capability_id))
    if manifest is None:
        names = sorted(registry.capabilities)
        close = difflib.get_close_matches(capability_id[:100], names, 1, 0.7)
        meant = f"; did you mean {close[0]}?" if close else ""
        complain(f"{safe(capability_id)} is not composed here{meant}")
        return Effect(code=2)
    skills = frozenset(manifest.feature.skills if manifest.feature else ())

    def change(choice: Choice) -> Choice:
        if not on:
            return attrs.evolve(
                choice,
                disabled=choice.disabled | {capability_id},
                enabled=choice.enabled - {capability_id},
                added=choice.added - skills,
            )
        inside = capability_id in profile_members(registry, choice.profile)
        return attrs.evolve(
            choice,
            disabled=choice.disabled - {capability_id},
            removed=choice.removed - skills,
            enabled=choice.enabled if inside else choice.enabled | {capability_id},
        )

    effect = Effect.of(found, options, change, capability_id)
    return attrs.evolve(effect, notes=_notes(effect, capability_id, on=on))


def _notes(effect: Effect, capability_id: str, *, on: bool) -> tuple[str, ...]:
    """Return what keeps the change from having the effect that was asked for."""
    state = next(
        (one for one in effect.after if one.capability_id == capability_id), None
    )
    if state is None:
        return ()
    notes = []
    if on and state.standing is not None and not state.standing.on:
        notes.append(
            f"{capability_id}: {standing_text(state.standing, effect.surface)}"
        )
    if on and state.active and state.hooks and not any(h.active for h in state.hooks):
        notes.append(f"{capability_id}: every hook of it waits for a key that is off")
    return tuple(notes)

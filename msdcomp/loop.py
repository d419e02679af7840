"""What is dispatched at a loop point, and which gate is missing there.

`resolve` is the question a workflow asks at each of the twelve points. It reads the
composed registry and the configuration and answers with the active hooks, a warning
for every gate that a skipped capability does not enforce, and diagnostics about the
configuration. It is pure and total: the same inputs give the same answer, and no input
makes it raise.
Source: docs/reference/loop.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import attrs
from pyrsistent import PMap, pmap

from msdcomp.activation import (
    INHERITED,
    ConfigLayers,
    Effective,
    Origin,
    Schema,
    lookup,
    mismatch,
    unreadable,
)
from msdcomp.activehook import ActiveHook, DeclaredHook, declare
from msdcomp.diagnostics import Problem, Severity, pointer
from msdcomp.gatewarning import PREFIX, GateWarning, gate_warnings
from msdcomp.markdown import render
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.vocabulary import POINT_KINDS, POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from msdcomp.gates import BlockedGate
    from msdcomp.manifest.names import Json
    from msdcomp.views import Hook

__all__ = [
    "ActiveHook",
    "GateWarning",
    "HooksAtPoint",
    "LoopRegistry",
    "LoopResolution",
    "render_markdown",
    "resolve",
    "unknown_point",
]


class HooksAtPoint(Protocol):
    """The hooks of one point, as `msdcomp.views.PointHooks` has them."""

    def all(self) -> tuple[Hook | DeclaredHook, ...]:
        """Return steps, then contributions, then gates, each in dispatch order."""


class LoopRegistry(Protocol):
    """What `resolve` reads of a registry: `Registry` has it, and so has `LoopView`."""

    @property
    def by_loop_point(self) -> Mapping[Any, HooksAtPoint]:
        """Point -> hooks; points without hooks may be missing."""

    @property
    def config_schema(self) -> Schema:
        """Key -> slice."""


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LoopResolution(Record):
    """The answer for one point.

    Attributes:
        point: The point asked about.
        active_hooks: Steps, contributions, gates, each in dispatch order.
        warnings: One for each gate that is not enforced here and would have been on.
        diagnostics: What the configuration made doubtful: values of the wrong type,
            and hooks that could not be checked.
        problems: Empty, or why the question itself cannot be answered; there are no
            hooks then.
    """

    point: str
    active_hooks: tuple[ActiveHook, ...] = ()
    warnings: tuple[GateWarning, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    problems: tuple[Problem, ...] = ()

    def stderr_lines(self) -> tuple[str, ...]:
        """Return a printable line for each warning and diagnostic, without newlines."""
        return (
            *(warning.line() for warning in self.warnings),
            *(PREFIX + safe(found.message, 1000) for found in self.diagnostics),
        )

    def to_wire(self) -> dict[str, Any]:
        """Return the envelope as fresh JSON data.

        `point`, `activeHooks`, `rendered` and, when there are any, `warnings`.
        """
        envelope: dict[str, Any] = {
            "point": self.point,
            "activeHooks": [hook.to_wire() for hook in self.active_hooks],
            "rendered": render_markdown(self),
        }
        if self.warnings:
            envelope["warnings"] = [warning.to_wire() for warning in self.warnings]
        return envelope


def render_markdown(resolution: LoopResolution) -> str:
    """Return the active hooks as markdown; empty when the point is not a loop point."""
    if resolution.problems:
        return ""
    return render(resolution.point, resolution.active_hooks)


def resolve(
    registry: LoopRegistry,
    point: str,
    config: ConfigLayers | Mapping[str, object] | None = None,
    *,
    blocked_gates: Mapping[str, Iterable[BlockedGate]] = pmap(),
    states: Mapping[str, bool | None] | None = None,
    kinds: Mapping[str, frozenset[str]] = POINT_KINDS,
) -> LoopResolution:
    """Return what is dispatched at a loop point under a configuration.

    A hook is active when its capability is, its `when` key is on, and the value of
    its `pointFrom` key equals the point. Where one of the three could not be checked,
    because a configuration file cannot be read, and the others hold, a step or a
    contribution is left out and a gate is kept: running something that was switched
    off and dropping a control that was switched on are the two errors that matter.
    Either way a `config-unreadable` diagnostic names the hook.

    Args:
        registry: A composed registry, or a view of one read back from JSON.
        point: One of the twelve loop points.
        config: Layers, or a mapping of explicit values alone.
        blocked_gates: Point -> gates of skipped capabilities, from a composition.
        states: Capability id -> whether it is active, None for could not check; an id
            that is missing is not active. Without it no capability is filtered.
        kinds: Point -> hook kinds that the host dispatches there; an active gate at a
            point that dispatches none is a `kind-not-dispatched` diagnostic.

    Returns:
        The resolution; an unknown point is its problem `unknown-point`.

    Cost: grows with the hooks and the blocked gates at the point, never with the
    registry.
    """
    if point not in POINTS:
        return LoopResolution(point=point, problems=(unknown_point(point),))
    layers = ConfigLayers.of(config)
    inquiry = _Inquiry(point, layers, registry.config_schema, states)
    hooks = registry.by_loop_point.get(point)
    active = [
        hook
        for item in (hooks.all() if hooks is not None else ())
        if (hook := inquiry.ask(_declared(item))) is not None
    ]
    for hook in active:
        if hook.kind == "gate" and "gate" not in kinds.get(point, ()):
            inquiry.diagnostics[_never_checked(hook, point)] = None
    return LoopResolution(
        point=point,
        active_hooks=tuple(active),
        warnings=gate_warnings(
            blocked_gates.get(point, ()), layers, registry.config_schema
        ),
        diagnostics=tuple(inquiry.diagnostics),
    )


def _declared(item: Hook | DeclaredHook) -> DeclaredHook:
    return item if isinstance(item, DeclaredHook) else declare(item)


@attrs.define(eq=False, repr=False)
class _Inquiry:
    """One pass over the hooks of a point; gathers diagnostics, each once."""

    point: str
    layers: ConfigLayers
    schema: Schema
    states: Mapping[str, bool | None] | None
    #: A dict for its order and for membership; the values are unused.
    diagnostics: dict[Problem, None] = attrs.field(factory=dict)

    def ask(self, declared: DeclaredHook) -> ActiveHook | None:
        """Return the hook as dispatched, or None when it is not active."""
        hook = declared.hook
        enabled = (
            True if self.states is None else self.states.get(hook.capability_id, False)
        )
        if enabled is False or declared.never:
            return None
        verdicts: list[bool | None] = [enabled]
        doubts: list[Effective] = []
        if hook.when is not None:
            switch = self._look_up(hook.when, doubts)
            if (problem := mismatch(switch)) is not None:
                self.diagnostics[problem] = None
            verdicts.append(switch.on)
        if declared.point_from is not None:
            chosen = self._look_up(declared.point_from, doubts)
            verdicts.append(
                None
                if chosen.origin is Origin.UNREADABLE
                else chosen.value == self.point
            )
        if False in verdicts:
            return None
        if None in verdicts:
            kept = hook.kind == "gate"
            self._doubt(hook, doubts, enabled=enabled, kept=kept)
            if not kept:
                return None
        values = self._values(declared)
        return attrs.evolve(hook, config_values=values) if values else hook

    def _look_up(self, key: str, doubts: list[Effective]) -> Effective:
        effective = lookup(key, self.layers, self.schema)
        if effective.origin is Origin.UNREADABLE:
            doubts.append(effective)
        return effective

    def _doubt(
        self,
        hook: ActiveHook,
        doubts: list[Effective],
        *,
        enabled: bool | None,
        kept: bool,
    ) -> None:
        what = f"the {hook.kind} of {safe(hook.capability_id)} at {self.point}"
        consequence = "it is kept" if kept else "it is left out"
        if enabled is None:
            problem = Problem(
                code="config-unreadable",
                severity=Severity.WARNING,
                message=(
                    f"could not check {what}: whether its capability is active is"
                    f" unknown; {consequence}"
                ),
                hint="Correct the configuration file; defaults are not used instead.",
            )
            self.diagnostics[problem] = None
        for effective in doubts:
            self.diagnostics[unreadable(effective, what, consequence)] = None

    def _values(self, declared: DeclaredHook) -> PMap[str, Json]:
        values: dict[str, Json] = {}
        for alias, key in sorted(declared.config_keys.items()):
            if alias in INHERITED:
                # A JavaScript host cannot hold it as an ordinary property.
                continue
            effective = lookup(key, self.layers, self.schema)
            if effective.found:
                values[alias] = effective.value
                self._hold_to_type(effective, declared.hook)
            elif effective.origin is Origin.UNREADABLE:
                owner = safe(declared.hook.capability_id)
                problem = unreadable(
                    effective,
                    f"a value that the contribution of {owner} at {self.point} shows",
                    "the value is left out",
                )
                self.diagnostics[problem] = None
        return pmap(values)

    def _hold_to_type(self, effective: Effective, hook: ActiveHook) -> None:
        """Report a configured value that is not of the type of its slice.

        It is handed on as it is: an agent that reads it should see what was written,
        and a default in its place would be a value that nobody chose.
        """
        if effective.layer is None or effective.fits is not False:
            return
        # Imported here because hardly any configuration holds such a value.
        from msdcomp.configschema import KnownKey, shown, takes  # noqa: PLC0415

        key, owner = effective.key, safe(hook.capability_id)
        # Only the slices of a registry say what an enum takes.
        values = getattr(self.schema.get(key), "values", None) or ()
        known = KnownKey(key=key, owner="", type=effective.type, values=values)
        layer = safe(effective.file or "the configuration given")
        problem = Problem(
            code="config-type-mismatch",
            severity=Severity.WARNING,
            path=pointer(*key.split(".")),
            message=(
                f"{safe(key)} takes {takes(known)}, but {layer} sets it to"
                f" {shown(effective.value)}; the contribution of {owner} at"
                f" {self.point} shows it as it is"
            ),
            hint="Set it to a value of that type.",
            file=effective.file,
        )
        self.diagnostics[problem] = None


def _never_checked(hook: ActiveHook, point: str) -> Problem:
    """Return the diagnostic of a gate whose point dispatches no gates.

    It is in the registry and looks enforced, so saying nothing would be worse than
    for one that was left out.
    """
    return Problem(
        code="kind-not-dispatched",
        severity=Severity.WARNING,
        message=(
            f"the gate of {safe(hook.capability_id)} at {point} is never checked: "
            "the host dispatches no gates there"
        ),
        hint="Move the gate to a point that dispatches gates.",
    )


def unknown_point(point: object) -> Problem:
    """Return the problem of what is no loop point, with the one probably meant."""
    text = point if isinstance(point, str) else ""
    close = _closest(text)
    question = f" Did you mean {close}?" if close else ""
    return Problem(
        code="unknown-point",
        message=(
            f'"{safe(text, 60)}" is no loop point; expected one of {", ".join(POINTS)}'
        ),
        hint=f"Use one of the twelve points.{question}",
    )


def _closest(text: str) -> str | None:
    """Return the point that a text most likely stands for, or None when far off."""
    if not text or len(text) > 40:
        return None
    spelled = text.strip().lower().replace("-", ":").replace("_", ":")
    distance, point = min((_distance(spelled, point), point) for point in POINTS)
    return point if distance <= 2 else None


def _distance(left: str, right: str) -> int:
    """Return how many letters to insert, delete or replace (Levenshtein)."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        previous, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            previous, row[j] = (
                row[j],
                min(row[j] + 1, row[j - 1] + 1, previous + (a != b)),
            )
    return row[-1]

"""The body of a feature: what it owns and where it plugs into the loop."""

from __future__ import annotations

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest.names import AgentStem, ConfigKey, Json, Point, SkillStem
from msdcomp.records import Record


@attrs.frozen(kw_only=True, eq=False, repr=False)
class RuntimeCompat(Record):
    """Which host runtimes a feature can surface in; `*` stands for all of them."""

    supported: tuple[str, ...]
    unsupported: tuple[str, ...] = ()
    notes: PMap[str, str] = attrs.field(factory=pmap)

    @property
    def named(self) -> frozenset[str]:
        """Every concrete runtime id mentioned, the wildcard left out."""
        return frozenset((*self.supported, *self.unsupported, *self.notes)) - {"*"}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class LifecycleHook(Record):
    """A script the host runtime runs on one of its own events."""

    event: str
    script: str
    matcher: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Fragment(Record):
    """Prompt text: inline, or in a file of the bundle; inline wins over a path."""

    inline: str | None = None
    path: str | None = None

    @property
    def file(self) -> str | None:
        """The file that the text is taken from; None where there is none."""
        return self.path if self.inline is None else None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Ref(Record):
    """What a step dispatches to: exactly one of the three is set."""

    skill: str | None = None
    agent: str | None = None
    command: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Step(Record):
    """An independent unit of work at a loop extension point."""

    point: Point
    ref: Ref
    produces: tuple[str, ...]
    consumes: tuple[str, ...]
    on_error: str
    when: ConfigKey | None = None
    point_from: ConfigKey | None = None
    fragment: Fragment | None = None
    supports_reviewer_lanes: bool = False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Contribution(Record):
    """A prompt fragment for one agent role at a loop extension point."""

    point: Point
    into: str
    fragment: Fragment
    produces: tuple[str, ...]
    consumes: tuple[str, ...]
    when: ConfigKey | None = None
    on_error: str | None = None
    #: Alias shown to the agent -> configuration key read when rendering.
    config_values: PMap[str, ConfigKey] = attrs.field(factory=pmap)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class GateCheck(Record):
    """The condition of a gate: exactly one of the three is set."""

    query: str | None = None
    predicate: Json = None
    agent_verdict: Json = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Gate(Record):
    """A condition checked at a loop extension point."""

    point: Point
    check: GateCheck
    blocking: bool
    on_error: str
    when: ConfigKey | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ResolverInvoke(Record):
    """The subprocess of a task-content resolver; `args` carry the id placeholder."""

    binary: str
    args: tuple[str, ...]
    #: Longest run before the process is killed, in milliseconds.
    timeout_ms: int


@attrs.frozen(kw_only=True, eq=False, repr=False)
class TaskContentResolver(Record):
    """Fetches the content of a task from an outside tracker."""

    tracker_prefix: str
    invoke: ResolverInvoke


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Feature(Record):
    """Everything a capability of role `feature` declares beyond the envelope."""

    runtime_compat: RuntimeCompat
    skills: tuple[SkillStem, ...] = ()
    agents: tuple[AgentStem, ...] = ()
    hooks: tuple[LifecycleHook, ...] = ()
    steps: tuple[Step, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    gates: tuple[Gate, ...] = ()
    activation_key: ConfigKey | None = None
    task_content_resolver: TaskContentResolver | None = None

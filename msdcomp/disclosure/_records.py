"""What a disclosure consists of: one record for each way to run code or steer an agent.

Text of a manifest is kept as it is, of any length and with any character in it. Whoever
shows it must make it safe; `msdcomp.present.disclosure` does.
"""

from __future__ import annotations

import attrs

from msdcomp.disclosure._hosts import normal_host
from msdcomp.records import Record

__all__ = [
    "Blocker",
    "CommandModule",
    "CommandStep",
    "ConfigKeyUse",
    "Disclosure",
    "Egress",
    "EnvPair",
    "FileUse",
    "Header",
    "Hook",
    "Instruction",
    "OtherSurface",
    "Program",
    "Resolver",
    "ReviewerLane",
    "ShellGate",
    "ShownGate",
    "Surface",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FileUse(Record):
    """A file of the bundle that a surface runs; no hash when it is not there."""

    path: str
    content_hash: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigKeyUse(Record):
    """A configuration key of the manifest's own, with what holds until it is set.

    `type` and `default` are text, or the JSON of what stands there instead.
    """

    key: str
    type: str | None = None
    #: JSON text; None when there is no default.
    default: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Surface(Record):
    """One declaration that makes something run, or sends something away.

    Attributes:
        place: JSON pointer of the declaration.
        declared: All of it as canonical JSON, fields that nobody knows included. This
            is what the signature covers.
        residual: Wire name -> JSON text of what no other attribute shows, sorted.
        files: Files of the bundle that it runs, as far as they are named in full.
        uses: The manifest's own configuration keys that decide when it runs or where it
            sends to.
    """

    place: str
    declared: str = attrs.field(repr=False)
    residual: tuple[tuple[str, str], ...] = ()
    files: tuple[FileUse, ...] = ()
    uses: tuple[ConfigKeyUse, ...] = ()

    @property
    def kind(self) -> str:
        """The word for it, which is part of the signature."""
        return _KINDS[type(self)]

    @property
    def starts_program(self) -> bool:
        """Whether a process may come of it, which may read the bundle's files."""
        return True


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Hook(Surface):
    """A script that the host runs on an event of its own."""

    event: str | None
    script: str | None
    #: None means every occurrence of the event.
    matcher: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CommandModule(Surface):
    """A module that the host loads when a command of its family is called."""

    family: str | None
    module: str | None = None
    router: str | None = None
    subcommands: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class EnvPair(Record):
    """An environment variable of a child; `denied` when it makes it run other code."""

    name: str
    value: str
    denied: bool = False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Egress(Record):
    """Where a lane sends, and what.

    Attributes:
        config_key: The key whose value is the host.
        default_host: What the lane falls back to.
        configured_host: The value of the key here, as the caller knows it.
        host: Where it goes now: configured, else the default of the capability's own
            key, else the lane's own; None when nothing says.
        is_local: Whether `host` is provably this machine.
        payload: Classes of what is sent.
    """

    config_key: str | None = None
    default_host: str | None = None
    configured_host: str | None = None
    host: str | None = None
    is_local: bool = False
    payload: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ReviewerLane(Surface):
    """An outside reader of plans: a program, or an endpoint that is posted to."""

    slug: str | None = None
    transport: str | None = None
    binary: str | None = None
    args: tuple[str, ...] = ()
    env: tuple[EnvPair, ...] = ()
    #: What the availability check runs or asks: its kind, then binary or key and path.
    probe: tuple[str, ...] = ()
    requires_binaries: tuple[str, ...] = ()
    handler: str | None = None
    egress: Egress = Egress()

    @property
    def starts_program(self) -> bool:
        """Whether it, or its probe, is more than a request over HTTP."""
        http = self.transport == "openai-http" and self.probe[:1] == ("http-reachable",)
        return not (http and self.binary is None and not self.env)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Resolver(Surface):
    """A program that is asked for the content of a task."""

    prefix: str | None = None
    binary: str | None = None
    args: tuple[str, ...] = ()
    #: As declared, in milliseconds.
    timeout_ms: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ShellGate(Surface):
    """A gate whose predicate runs a command, or is of a kind that may.

    A predicate of a kind nobody here knows counts: a newer host may run something.
    """

    point: str | None = None
    predicate: str | None = None
    command: str | None = None
    when: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class CommandStep(Surface):
    """A step that dispatches to a command of the host."""

    point: str | None = None
    command: str | None = None
    when: str | None = None

    @property
    def starts_program(self) -> bool:
        """False: the host has the command, or a command module does."""
        return False


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Program(Surface):
    """The host program that a runtime says orchestrations are started with."""

    binary: str | None = None
    args: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OtherSurface(Surface):
    """A declaration that may run something and cannot be read; shown as it stands."""

    field: str


_KINDS: dict[type[Surface], str] = {
    Hook: "hook",
    CommandModule: "command-module",
    ReviewerLane: "reviewer-lane",
    Resolver: "task-content-resolver",
    ShellGate: "shell-gate",
    CommandStep: "command-step",
    Program: "program",
    OtherSurface: "other",
}


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Instruction(Record):
    """Text that reaches an agent.

    Attributes:
        kind: `skill`, `contribution`, `step` or `verdict`.
        place: JSON pointer of the declaration.
        name: Stem of the skill, role of the contribution, None for the others.
        point: Where in the loop, None for a skill.
        path: Fragment file; None when the text stands in the manifest.
        content_hash: Of that file; None when it is not in the bundle.
        declared: The declaration as canonical JSON.
    """

    kind: str
    place: str
    name: str | None = None
    point: str | None = None
    path: str | None = None
    content_hash: str | None = None
    declared: str = attrs.field(repr=False)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ShownGate(Record):
    """A gate of any kind: where, whether it blocks, and what it checks."""

    place: str
    point: str | None = None
    blocking: bool | None = None
    on_error: str | None = None
    when: ConfigKeyUse | None = None
    #: `query`, `predicate` or `agentVerdict`, and what is asked.
    form: str | None = None
    check: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Blocker(Record):
    """Why the bundle cannot be agreed to as it is: where, and a clause."""

    code: str
    place: str
    reason: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Header(Record):
    """What a manifest says about itself; nothing here is part of the signature."""

    id: str | None = None
    role: str | None = None
    version: str | None = None
    title: str | None = None
    author: str | None = None
    tier: str | None = None
    engines: str | None = None
    requires: tuple[str, ...] = ()


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Disclosure(Record):
    """Everything a capability would run, send or say.

    Attributes:
        header: What the manifest says about itself.
        surfaces: What runs or sends, in the order of the reference page.
        instructions: What speaks to an agent; agents are left out.
        gates: Every gate, those that run a shell among them.
        config: Configuration keys of its own, by name.
        activation: The key that switches the whole capability, if there is one.
        blockers: Why it cannot be agreed to; empty for a healthy bundle.
        code_files: Path -> content hash, sorted: every file that may run.
        text_files: The same for files that are only read by agents and people.
    """

    header: Header = Header()
    surfaces: tuple[Surface, ...] = ()
    instructions: tuple[Instruction, ...] = ()
    gates: tuple[ShownGate, ...] = ()
    config: tuple[ConfigKeyUse, ...] = ()
    activation: ConfigKeyUse | None = None
    blockers: tuple[Blocker, ...] = ()
    code_files: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)
    text_files: tuple[tuple[str, str], ...] = attrs.field(default=(), repr=False)

    @property
    def reviewer_host(self) -> str:
        """Host that a reviewer of it sends to, as consent records it; or empty."""
        lanes = (one for one in self.surfaces if isinstance(one, ReviewerLane))
        hosts = (lane.egress.host for lane in lanes)
        return next((normal_host(host) for host in hosts if host is not None), "")

    @property
    def runs_code(self) -> bool:
        """Whether anything runs or is sent away: consent is needed."""
        return bool(self.surfaces)

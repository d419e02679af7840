"""The body of a runtime: how artefacts are projected onto one host command line."""

from __future__ import annotations

import attrs
from pyrsistent import PMap, pmap

from msdcomp.manifest.names import Json
from msdcomp.records import Record


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ConfigHome(Record):
    """Where a host keeps its configuration, and how to find it."""

    kind: str
    name: str | None = None
    parent: str | None = None
    env: tuple[str, ...] = ()
    probe: tuple[str, ...] = ()
    probe_exists: str | None = None
    skills_home: ConfigHome | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ArtifactKind(Record):
    """One kind of artefact and the folder it is written to."""

    kind: str
    dest_subpath: str
    nesting: str
    prefix: str
    converter: str | None
    recursive: bool | None = None
    #: Another home folder than the runtime's own; global entries only.
    home: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ArtifactLayout(Record):
    """Artefacts of a global and of a local installation."""

    global_: tuple[ArtifactKind, ...] = attrs.field(metadata={"wire": "global"})
    local: tuple[ArtifactKind, ...]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Dispatch(Record):
    """How a host starts agents; `undocumented` is a value of every axis."""

    named_dispatch: bool | str
    nested: bool | str
    background: bool | str
    background_dispatch: bool | str
    subagent_toolkit: str
    max_depth: int | str
    isolation: str | None = None
    max_concurrency: int | str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HostIntegration(Record):
    """The eight axes of how a host embeds the loop."""

    embedding_mode: str
    command_surface: str
    dispatch: Dispatch
    model_mode: str
    hook_bus: str
    state_io: str = attrs.field(metadata={"wire": "stateIO"})
    transport: str
    runtime: str
    effort_surface: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class OrchestratorExec(Record):
    """How to start the host as a subprocess."""

    command: str
    args: tuple[str, ...] = ()
    cwd_flag: str | None = None
    prompt_flag: str | None = None
    model_flag: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Runtime(Record):
    """A host command line that capabilities can surface in."""

    config_home: ConfigHome
    local_config_dir: str | None = None
    config_format: str
    artifact_layout: ArtifactLayout
    command_style: str
    hooks_surface: str
    sandbox_tier: str
    support_tier: int
    install_surface: str
    writes_shared_settings: bool
    permission_writer: str | None
    extended_hook_events: tuple[str, ...]
    host_integration: HostIntegration
    hook_events: str | None = None
    extension_events: str | None = None
    orchestrator_exec: OrchestratorExec | None = None
    harness_isolation_flag: str | None = None
    trigger_precedence: tuple[str, ...] = ("skills", "commands")
    #: Switch -> value, known and unknown ones alike.
    host_behaviors: PMap[str, Json] = attrs.field(factory=pmap)

"""The body of a reviewer lane: one outside reader of plans."""

from __future__ import annotations

import attrs
from pyrsistent import PMap, pmap

from msdcomp.records import Record


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Probe(Record):
    """How to tell whether a lane is available; the kind says which fields are set."""

    kind: str
    binary: str | None = None
    needle: str | None = None
    host_config_key: str | None = None
    path: str | None = None
    #: Bound on the probe, in milliseconds.
    timeout_ms: int | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SpawnInvoke(Record):
    """A lane that runs a command."""

    binary: str
    args: tuple[str, ...]
    prompt_channel: str
    output_channel: str
    effort_channel: str
    output_arg: str | None = None
    model_arg: str | None = None
    env: PMap[str, str] = attrs.field(factory=pmap)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class HttpInvoke(Record):
    """A lane that posts to an OpenAI-compatible endpoint."""

    host_config_key: str
    path: str
    model_discovery: str
    effort_channel: str
    default_host: str | None = None
    fallback_model: str | None = None


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Lane(Record):
    """A reviewer lane; `transport` says which form `invoke` has."""

    slug: str
    flags: tuple[str, ...]
    transport: str
    probe: Probe
    invoke: SpawnInvoke | HttpInvoke
    #: Shortest outer timeout, in milliseconds.
    timeout_floor_ms: int
    empty_output: str
    reviews_section: str
    evidence_class: str
    requires_binaries: tuple[str, ...]
    prompt_budget_key: str | None
    handler: str | None
    model_config_key: str | None = None
    #: Key holding the outer timeout in seconds.
    timeout_config_key: str | None = None
    effort_config_key: str | None = None
    default_effort: str | None = None

"""Closed sets of reviewer lanes.

Sources are the sections of docs/reference/manifest.md.
"""

from __future__ import annotations

import re

from pyrsistent import PMap, pmap

#: `reviewer` transport. Source: "Reviewer body".
LANE_TRANSPORTS: tuple[str, ...] = ("spawn", "openai-http")

#: `reviewer` probe.kind. Source: "Reviewer body".
PROBE_KINDS: tuple[str, ...] = (
    "command-exists",
    "command-capability",
    "http-reachable",
)

#: `reviewer` promptChannel. Source: "Reviewer body".
PROMPT_CHANNELS: tuple[str, ...] = ("stdin", "argv", "argv-file-ref", "none")

#: `reviewer` outputChannel. Source: "Reviewer body".
OUTPUT_CHANNELS: tuple[str, ...] = ("stdout", "file-arg")

#: `reviewer` effortChannel. Source: "Reviewer body".
EFFORT_CHANNELS: tuple[str, ...] = ("none", "argv", "env")

#: `reviewer` modelDiscovery. Source: "Reviewer body".
MODEL_DISCOVERIES: tuple[str, ...] = ("none", "first-from-models-endpoint")

#: `reviewer` emptyOutput. Source: "Reviewer body".
EMPTY_OUTPUTS: tuple[str, ...] = ("stub-with-stderr", "handler-owned")

#: `reviewer` evidenceClass. Source: "Reviewer body".
EVIDENCE_CLASSES: tuple[str, ...] = ("source-grounded", "diff-only")

#: `reviewer` effortLevels. Source: "Reviewer body".
EFFORT_LEVELS: tuple[str, ...] = ("minimal", "low", "medium", "high", "xhigh", "max")

#: `reviewer` knownFields. Source: "Reviewer body".
LANE_FIELDS: tuple[str, ...] = (
    "slug",
    "flags",
    "transport",
    "probe",
    "invoke",
    "timeoutFloorMs",
    "emptyOutput",
    "reviewsSection",
    "evidenceClass",
    "requiresBinaries",
    "promptBudgetKey",
    "modelConfigKey",
    "timeoutConfigKey",
    "effortConfigKey",
    "defaultEffort",
    "handler",
)

#: `reviewer` spawnOnly. Source: "Reviewer body".
SPAWN_ONLY_FIELDS: tuple[str, ...] = (
    "binary",
    "args",
    "promptChannel",
    "outputChannel",
    "outputArg",
    "modelArg",
    "env",
)

#: `reviewer` httpOnly. Source: "Reviewer body".
HTTP_ONLY_FIELDS: tuple[str, ...] = (
    "hostConfigKey",
    "defaultHost",
    "path",
    "modelDiscovery",
    "fallbackModel",
)

#: `reviewer` knownProbeFields. Source: "Reviewer body".
PROBE_FIELDS: tuple[str, ...] = (
    "kind",
    "binary",
    "needle",
    "timeoutMs",
    "hostConfigKey",
    "path",
)

#: `reviewer.handler`, null left out. Source: "Reviewer body".
HANDLERS: tuple[str, ...] = ("antigravity", "openai-compatible", "opencode")

#: Probe kind -> the fields it takes beside `kind`. Source: "Reviewer body".
PROBE_FIELDS_OF: PMap[str, tuple[str, ...]] = pmap(
    {
        "command-exists": ("binary",),
        "command-capability": ("binary", "needle", "timeoutMs"),
        "http-reachable": ("hostConfigKey", "path", "timeoutMs"),
    }
)

#: Variables that make a child run other code, in upper case. Source: "Reviewer body".
DENIED_ENV: frozenset[str] = frozenset(
    {
        "PATH",
        "NODE_OPTIONS",
        "NODE_REPL_EXTERNAL_MODULE",
        "NODE_PATH",
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "DYLD_LIBRARY_PATH",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "BASH_ENV",
        "ENV",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "CLASSPATH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
    }
)

# Each grammar is matched against the whole text, never with `$`.

#: `reviewer.slug`. Source: "Reviewer body".
LANE_SLUG_GRAMMAR = re.compile(r"[a-z0-9][a-z0-9_-]*")

#: `reviewer.flags` entries. Source: "Reviewer body".
LANE_FLAG_GRAMMAR = re.compile(r"--[a-z0-9][a-z0-9-]*")

#: Names in `reviewer.invoke.env`. Source: "Reviewer body".
ENV_NAME_GRAMMAR = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

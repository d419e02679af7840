"""Rules of the runtime body: how artefacts are projected onto one host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.rules._shape import (
    ANYTHING,
    BOOLEAN,
    FILLED,
    STRING,
    Field,
    Found,
    Gathered,
    Rule,
    Whole,
    array,
    member,
    nullable,
    shape,
    whole_number,
)
from msdcomp.rules._words import (
    fault,
    kind_of,
    label,
    listed,
    missing,
    must_be,
    reserved,
    show,
    wrong_type,
)
from msdcomp.rules.envelope import odd
from msdcomp.vocabulary import RESERVED_NAMES
from msdcomp.vocabulary.runtime import (
    ARTIFACT_CONVERTERS,
    ARTIFACT_KINDS,
    ARTIFACT_NESTINGS,
    CLAUDE_EVENTS,
    COMMAND_STYLES,
    COMMAND_SURFACES,
    CONFIG_FORMAT_FOR,
    CONFIG_FORMATS,
    CONFIG_HOME_KINDS,
    EFFORT_SURFACES,
    EMBEDDING_MODES,
    EXTENDED_HOOK_EVENTS,
    EXTENSION_EVENTS,
    GEMINI_EVENTS,
    HOOK_BUSES,
    HOOK_EVENT_DIALECTS,
    HOOKS_SURFACES,
    HOOKS_SURFACES_FOR,
    HOST_BEHAVIORS,
    HOST_RUNTIMES,
    HOST_TRANSPORTS,
    INSTALL_SURFACES,
    ISOLATIONS,
    MODEL_MODES,
    PERMISSION_WRITERS,
    SANDBOX_TIERS,
    STATE_STORES,
    SUBAGENT_TOOLKITS,
    SUPPORT_TIERS,
    TRIGGER_SOURCES,
    UNDOCUMENTED,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

# The configuration home.


def _named(value: dict[str, object], path: str) -> Sequence[Found]:
    """Check what the kind of a home asks for beside it."""
    found: list[Found] = []
    kind = value.get("kind")
    if "name" not in value:
        if kind != "none":
            found.append(missing(f"{path}/name", FILLED.expected))
    else:
        found += FILLED.check(value["name"], f"{path}/name")
    if kind == "dot-home-nested":
        if "parent" in value:
            found += FILLED.check(value["parent"], f"{path}/parent")
        else:
            found.append(missing(f"{path}/parent", FILLED.expected))
    return found


def _inner_home(value: object, path: str) -> Sequence[Found]:
    return CONFIG_HOME.check(value, path)


CONFIG_HOME = shape(
    Field("kind", member(CONFIG_HOME_KINDS)),
    Field("name", ANYTHING, required=False),
    Field("parent", ANYTHING, required=False),
    Field("env", array(STRING)),
    Field("probe", array(STRING), required=False),
    Field("probeExists", FILLED, required=False),
    Field("skillsHome", Rule(_inner_home, "an object"), required=False),
    more=(Whole(_named),),
)


def _local_dir(value: dict[str, object], path: str) -> Sequence[Found]:
    at = f"{path}/localConfigDir"
    home = value.get("configHome")
    given = value.get("localConfigDir")
    if isinstance(home, dict) and home.get("kind") == "none":
        if given is None:
            return ()
        message = "localConfigDir must be left out for configHome.kind none"
        return (fault("forbidden-field", at, f"{message}, got {kind_of(given)}"),)
    wanted = "a folder name that starts with a dot"
    if "localConfigDir" not in value:
        return (missing(at, wanted),)
    if not isinstance(given, str):
        return (wrong_type(given, at, wanted),)
    return () if given.startswith(".") else (must_be("bad-format", given, at, wanted),)


# Artefact layout.


def _no_home(value: dict[str, object], path: str) -> Sequence[Found]:
    if "home" not in value:
        return ()
    message = f"home must be left out of local entries, got {show(value['home'])}"
    return (fault("forbidden-field", f"{path}/home", message),)


_ARTIFACT = (
    Field("kind", member(ARTIFACT_KINDS)),
    Field("destSubpath", FILLED),
    Field("nesting", member(ARTIFACT_NESTINGS)),
    Field("prefix", STRING),
    Field("recursive", BOOLEAN, required=False),
    Field("converter", nullable(member(ARTIFACT_CONVERTERS))),
    Field("home", ANYTHING, required=False),
    Field("stage", ANYTHING, required=False),
)

ARTIFACT_LAYOUT = shape(
    Field("global", array(shape(*_ARTIFACT))),
    Field("local", array(shape(*_ARTIFACT, more=(Whole(_no_home),)))),
)


# Host integration.


def _axis(values: Sequence[str]) -> Rule:
    return member((*values, UNDOCUMENTED))


def _or_undocumented(rule: Rule) -> Rule:
    expected = f'{rule.expected} or "{UNDOCUMENTED}"'

    def checked(value: object, path: str) -> Sequence[Found]:
        if value == UNDOCUMENTED:
            return ()
        if isinstance(value, str):
            return (must_be("not-in-vocabulary", value, path, expected),)
        return rule.check(value, path)

    return Rule(checked, expected)


def _no_reserved_keys(value: dict[str, object], path: str) -> Sequence[Found]:
    return [
        reserved(name, f"{path}/{name}")
        for name in sorted(RESERVED_NAMES.intersection(value))
    ]


#: Refused by `_no_reserved_keys`, so not unknown as well.
_RESERVED = tuple(
    Field(name, ANYTHING, required=False) for name in sorted(RESERVED_NAMES)
)


#: Largest integer that a JavaScript host counts exactly.
_SAFE = 2**53 - 1
_SWITCH = _or_undocumented(BOOLEAN)

DISPATCH = shape(
    Field("namedDispatch", _SWITCH),
    Field("nested", _SWITCH),
    Field("background", _SWITCH),
    Field("backgroundDispatch", _SWITCH),
    Field("subagentToolkit", _axis(SUBAGENT_TOOLKITS)),
    Field("maxDepth", _or_undocumented(whole_number(-1))),
    Field("isolation", _axis(ISOLATIONS), required=False),
    Field("builtInSubagents", ANYTHING, required=False),
    Field("maxConcurrency", _or_undocumented(whole_number(1, _SAFE)), required=False),
    *_RESERVED,
    more=(Whole(_no_reserved_keys),),
)

HOST_INTEGRATION = shape(
    Field("embeddingMode", _axis(EMBEDDING_MODES)),
    Field("commandSurface", _axis(COMMAND_SURFACES)),
    Field("dispatch", DISPATCH),
    Field("modelMode", _axis(MODEL_MODES)),
    Field("hookBus", _axis(HOOK_BUSES)),
    Field("stateIO", _axis(STATE_STORES)),
    Field("transport", _axis(HOST_TRANSPORTS)),
    Field("runtime", _axis(HOST_RUNTIMES)),
    Field("effortSurface", _axis(EFFORT_SURFACES), required=False),
    *_RESERVED,
    more=(Whole(_no_reserved_keys),),
)

ORCHESTRATOR_EXEC = shape(
    Field("command", FILLED),
    Field("args", array(STRING), required=False),
    Field("cwdFlag", nullable(STRING), required=False),
    Field("promptFlag", nullable(STRING), required=False),
    Field("modelFlag", nullable(STRING), required=False),
    *_RESERVED,
    more=(Whole(_no_reserved_keys),),
)


# Surfaces and events.


def _support_tier(value: object, path: str) -> Sequence[Found]:
    wanted = listed(SUPPORT_TIERS)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return (wrong_type(value, path, wanted),)
    if value in SUPPORT_TIERS:
        return ()
    return (must_be("not-in-vocabulary", value, path, wanted),)


def _surfaces(value: dict[str, object], path: str) -> Sequence[Found]:
    """Check that hooks surface and config format fit the install surface."""
    surface = value.get("installSurface")
    if not isinstance(surface, str) or surface not in CONFIG_FORMAT_FOR:
        return ()
    found: list[Found] = []
    hooks, format_ = value.get("hooksSurface"), value.get("configFormat")
    allowed, wanted = HOOKS_SURFACES_FOR[surface], CONFIG_FORMAT_FOR[surface]
    if hooks in HOOKS_SURFACES and hooks not in allowed:
        message = (
            f"hooksSurface must be {listed(allowed)} for installSurface "
            f"{show(surface)}, got {show(hooks)}"
        )
        found.append(fault("surface-mismatch", f"{path}/hooksSurface", message))
    if format_ in CONFIG_FORMATS and format_ != wanted:
        message = (
            f"configFormat must be {show(wanted)} for installSurface "
            f"{show(surface)}, got {show(format_)}"
        )
        found.append(fault("format-mismatch", f"{path}/configFormat", message))
    return found


def _dialect(value: dict[str, object], path: str) -> Sequence[Found]:
    """Check that the extended events belong to the declared dialect."""
    events, dialect = value.get("extendedHookEvents"), value.get("hookEvents")
    if not isinstance(events, list):
        return ()
    gathered = Gathered()
    for index, event in enumerate(events):
        if not isinstance(event, str):
            continue
        needed = (
            "gemini"
            if event in GEMINI_EVENTS
            else "claude"
            if event in CLAUDE_EVENTS
            else dialect
        )
        if needed != dialect:
            message = (
                f"{label(f'{path}/extendedHookEvents/{index}')} must fit hookEvents, "
                f'got {show(event)}, which belongs to "{needed}"'
            )
            at = f"{path}/extendedHookEvents/{index}"
            hint = f'Set hookEvents to "{needed}".'
            if gathered.add((fault("dialect-mismatch", at, message, hint),)):
                break
    return gathered.found


_SWITCHES = shape(
    *(Field(name, ANYTHING, required=False) for name in sorted(HOST_BEHAVIORS)),
    # No switch: hosts list here what they cannot do.
    Field("unsupportedFeatures", ANYTHING, required=False),
)


def _host_behaviors(value: object, path: str) -> Sequence[Found]:
    # Nothing in here is ever a validation error, not even its type.
    if isinstance(value, dict):
        return _SWITCHES.check(value, path)
    return (odd(value, path, "an object"),)


RUNTIME = shape(
    Field("configHome", CONFIG_HOME),
    Field("localConfigDir", ANYTHING, required=False),
    Field("configFormat", member(CONFIG_FORMATS)),
    Field("artifactLayout", ARTIFACT_LAYOUT),
    Field("commandStyle", member(COMMAND_STYLES)),
    Field("hooksSurface", member(HOOKS_SURFACES)),
    Field("sandboxTier", member(SANDBOX_TIERS)),
    Field("supportTier", Rule(_support_tier, listed(SUPPORT_TIERS))),
    Field("installSurface", member(INSTALL_SURFACES)),
    Field("writesSharedSettings", BOOLEAN),
    Field("permissionWriter", nullable(member(PERMISSION_WRITERS))),
    Field("extendedHookEvents", array(member(EXTENDED_HOOK_EVENTS))),
    Field("hostIntegration", HOST_INTEGRATION),
    Field("hookEvents", member(HOOK_EVENT_DIALECTS), required=False),
    Field("extensionEvents", member(EXTENSION_EVENTS), required=False),
    Field("orchestratorExec", ORCHESTRATOR_EXEC, required=False),
    Field("harnessIsolationFlag", FILLED, required=False),
    Field(
        "triggerPrecedence",
        array(member(TRIGGER_SOURCES), filled=True, distinct=True),
        required=False,
    ),
    Field("hostBehaviors", Rule(_host_behaviors, "an object"), required=False),
    more=(
        Whole(_local_dir),
        Whole(_surfaces),
        Whole(_dialect),
    ),
)

#: Fields of a runtime beside the envelope and a lane.
FIELDS: tuple[Field, ...] = (Field("runtime", RUNTIME),)

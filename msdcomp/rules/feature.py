"""Rules of the feature body: owned stems, lifecycle scripts, commands, resolver."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from msdcomp.diagnostics import MAX_PROBLEMS
from msdcomp.rules._shape import (
    FILLED,
    STRING,
    Field,
    Found,
    Gathered,
    Rule,
    Whole,
    array,
    mapping,
    matching,
    shape,
    unreserved,
    whole_number,
)
from msdcomp.rules._words import (
    fault,
    label,
    must_be,
    reserved,
    show,
    suggest,
)
from msdcomp.rules.envelope import CONFIG, KEBAB
from msdcomp.rules.hooks import CONTRIBUTION, GATE, STEP, escapes
from msdcomp.vocabulary import (
    CACHE_FOLDERS,
    COMMAND_MODULE_GRAMMAR,
    HOOK_SCRIPT_GRAMMAR,
    ID_GRAMMAR,
    ID_PLACEHOLDER,
    MAX_RESOLVER_MS,
    RESERVED_NAMES,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_CONTROL = re.compile("[\x00-\x1f\x7f]")

STEMS = array(unreserved(STRING))


# Runtime compatibility.


def _runtime_id(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, str) or not value:
        return FILLED.check(value, path)
    if value in RESERVED_NAMES:
        return (reserved(value, path),)
    if ID_GRAMMAR.fullmatch(value):
        return ()
    return (must_be("bad-id", value, path, "a kebab-case runtime id"),)


def _supported(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, list) or "*" not in value:
        return _SOME_RUNTIMES.check(value, path)
    found = (
        problem
        for index, entry in enumerate(value)
        if entry != "*"
        for problem in _runtime_id(entry, f"{path}/{index}")
    )
    entries = tuple(islice(found, MAX_PROBLEMS))
    if len(value) == 1:
        return entries
    message = f'{label(path)} must hold "*" alone or runtime ids, got both'
    if all(entry == "*" for entry in value):
        message = f'{label(path)} must hold "*" once, got it {len(value)} times'
    return (fault("wildcard-mixed", path, message), *entries)


def _unsupported_id(value: object, path: str) -> Sequence[Found]:
    if value == "*":
        message = f'{label(path)} must be a runtime id, got "*"'
        return (fault("wildcard-forbidden", path, message),)
    return _runtime_id(value, path)


def _note_key(value: object, path: str) -> Sequence[Found]:
    if value == "*":
        return ()
    if value in RESERVED_NAMES:
        return (reserved(str(value), path),)
    if ID_GRAMMAR.fullmatch(str(value)):
        return ()
    message = f'notes must have runtime ids or "*" as keys, got {show(value)}'
    return (fault("bad-id", path, message),)


_SOME_RUNTIMES = array(Rule(_runtime_id, "a kebab-case runtime id"), filled=True)

RUNTIME_COMPAT = shape(
    Field(
        "supported",
        Rule(
            _supported,
            _SOME_RUNTIMES.expected,
            passes=lambda value: value == ["*"] or not _supported(value, ""),
        ),
    ),
    Field("unsupported", array(Rule(_unsupported_id, "a kebab-case runtime id"))),
    Field("notes", mapping(_note_key, FILLED), required=False),
)


def _script(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, str) or not value:
        return FILLED.check(value, path)
    parts = value.split("/")
    if not HOOK_SCRIPT_GRAMMAR.fullmatch(value):
        wanted = "a path of letters, digits and . _ / - only"
    elif escapes(value):
        wanted = "a relative path inside the capability's folder"
    elif any(part.startswith("-") for part in parts):
        wanted = "a path without a segment that starts with -"
    elif CACHE_FOLDERS.intersection(parts) or value.lower().endswith((".pyc", ".pyo")):
        wanted = "a path of a script, not of a bytecode cache"
    else:
        return ()
    return (must_be("unsafe-path", value, path, wanted),)


# Lifecycle hooks and commands.


def _matcher(value: object, path: str) -> Sequence[Found]:
    if not isinstance(value, str) or not value:
        return FILLED.check(value, path)
    if not _CONTROL.search(value):
        return ()
    wanted = "text without control characters"
    return (must_be("control-character", value, path, wanted),)


HOOK = shape(
    Field("event", FILLED),
    Field("script", Rule(_script, "a relative path of a script")),
    Field("matcher", Rule(_matcher, "a non-empty string"), required=False),
)

COMMAND = shape(
    Field("family", unreserved(FILLED)),
    Field(
        "module",
        matching(
            COMMAND_MODULE_GRAMMAR,
            "a file name that ends in .cjs",
            "unsafe-path",
        ),
    ),
    Field("router", FILLED),
    Field("subcommands", array(FILLED), required=False),
)


# The task-content resolver.


def _carries_id(value: object, path: str) -> Sequence[Found]:
    found = ARGUMENTS.check(value, path)
    if not isinstance(value, list) or any(
        isinstance(entry, str) and ID_PLACEHOLDER in entry for entry in value
    ):
        return found
    message = f"{label(path)} must contain {ID_PLACEHOLDER}, got no argument with it"
    return (*found, fault("placeholder-missing", path, message))


ARGUMENTS = array(STRING)

RESOLVER = shape(
    Field("trackerPrefix", KEBAB),
    Field(
        "invoke",
        shape(
            Field("binary", FILLED),
            Field("args", Rule(_carries_id, "an array of strings")),
            Field("timeoutMs", whole_number(1, MAX_RESOLVER_MS, " of milliseconds")),
        ),
    ),
)


# The whole body.


def _declared(value: dict[str, object], field: str) -> frozenset[str] | None:
    """Return the entries of a list of stems, or None when there is no list."""
    stems = value.get(field)
    if not isinstance(stems, list):
        return None
    return frozenset([stem for stem in stems if isinstance(stem, str)])


def _owned(value: dict[str, object], path: str) -> Sequence[Found]:
    """Check that every step dispatches to a stem this capability owns."""
    steps = value.get("steps")
    if not isinstance(steps, list):
        return ()
    owned = (
        ("skill", _declared(value, "skills")),
        ("agent", _declared(value, "agents")),
    )
    gathered = Gathered()
    for index, step in enumerate(steps):
        ref = step.get("ref") if isinstance(step, dict) else None
        if not isinstance(ref, dict):
            continue
        for kind, stems in owned:
            stem = ref.get(kind)
            if isinstance(stem, str):
                some = _stem(kind, stem, stems, path, index)
                if some and gathered.add(some):
                    return gathered.found
    return gathered.found


def _all_owned(value: dict[str, Any]) -> bool:
    """Tell whether every step dispatches to a declared stem."""
    skills, agents = frozenset(value["skills"]), frozenset(value["agents"])
    for step in value["steps"]:
        ref = step["ref"]
        skill = ref.get("skill")
        if skill is None:
            if "agent" in ref and ref["agent"] not in agents:
                return False
        elif skill not in skills or skill.startswith("msd-"):
            return False
    return True


def _stem(
    kind: str, stem: str, stems: frozenset[str] | None, path: str, index: int
) -> Sequence[Found]:
    prefixed = kind == "skill" and stem.startswith("msd-")
    if not prefixed and (stems is None or stem in stems):
        return ()
    at = f"{path}/steps/{index}/ref/{kind}"
    if prefixed:
        message = f"skill must be named without the msd- prefix, got {show(stem)}"
        return (fault("prefixed-skill", at, message),)
    message = f"{kind} must be one of this capability's {kind}s, got {show(stem)}"
    code = "undeclared-skill" if kind == "skill" else "undeclared-agent"
    return (fault(code, at, message, suggest(stem, stems or ())),)


def _activation(value: dict[str, object], path: str) -> Sequence[Found]:
    key, config = value.get("activationKey"), value.get("config")
    if not isinstance(key, str) or not key or key in RESERVED_NAMES:
        return ()
    if not isinstance(config, dict) or key in config:
        return ()
    message = f"activationKey must be a key of config, got {show(key)}"
    at = f"{path}/activationKey"
    return (fault("undeclared-config-key", at, message, suggest(key, config)),)


#: Fields of a feature beside the envelope.
FIELDS: tuple[Field, ...] = (
    Field("runtimeCompat", RUNTIME_COMPAT),
    Field("skills", STEMS),
    Field("agents", STEMS),
    Field("hooks", array(HOOK), required=False),
    Field("commands", array(COMMAND), required=False),
    Field("activationKey", unreserved(FILLED), required=False),
    Field("config", CONFIG),
    Field("steps", array(STEP)),
    Field("contributions", array(CONTRIBUTION)),
    Field("gates", array(GATE)),
    Field("taskContentResolver", RESOLVER, required=False),
)

#: Checks across the fields of a feature.
MORE = (Whole(_owned, _all_owned), Whole(_activation))

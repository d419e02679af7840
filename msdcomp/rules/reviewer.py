"""Rules of a reviewer lane: slug, flags, probe and invocation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.rules._shape import (
    ANYTHING,
    FILLED,
    STRING,
    Field,
    Found,
    Rule,
    Whole,
    array,
    mapping,
    matching,
    member,
    nullable,
    shape,
    unreserved,
    whole_number,
)
from msdcomp.rules._words import (
    fault,
    kind_of,
    missing,
    must_be,
    reserved,
    show,
    wrong_type,
)
from msdcomp.vocabulary.reviewer import (
    DENIED_ENV,
    EFFORT_CHANNELS,
    EFFORT_LEVELS,
    EMPTY_OUTPUTS,
    ENV_NAME_GRAMMAR,
    EVIDENCE_CLASSES,
    HANDLERS,
    HTTP_ONLY_FIELDS,
    LANE_FLAG_GRAMMAR,
    LANE_SLUG_GRAMMAR,
    LANE_TRANSPORTS,
    MODEL_DISCOVERIES,
    OUTPUT_CHANNELS,
    PROBE_FIELDS,
    PROBE_FIELDS_OF,
    PROBE_KINDS,
    PROMPT_CHANNELS,
    SPAWN_ONLY_FIELDS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MILLISECONDS = whole_number(1, unit=" of milliseconds")
KEY_OR_NULL = nullable(FILLED)


# The probe.


_PROBE_RULES = {
    "binary": FILLED,
    "needle": FILLED,
    "timeoutMs": MILLISECONDS,
    "hostConfigKey": FILLED,
    "path": FILLED,
}


def _probe_fields(value: dict[str, object], path: str) -> Sequence[Found]:
    """Check that a probe has what its kind takes, and nothing another kind takes."""
    kind = value.get("kind")
    if not isinstance(kind, str) or kind not in PROBE_FIELDS_OF:
        return ()
    taken = PROBE_FIELDS_OF[kind]
    found: list[Found] = []
    for name, rule in _PROBE_RULES.items():
        at = f"{path}/{name}"
        if name not in taken:
            if name in value:
                message = f"{name} must be left out of a probe of kind {show(kind)}"
                found.append(
                    fault(
                        "forbidden-field", at, f"{message}, got {kind_of(value[name])}"
                    )
                )
        elif name in value:
            found += rule.check(value[name], at)
        else:
            found.append(missing(at, rule.expected))
    return found


PROBE = shape(
    Field("kind", member(PROBE_KINDS)),
    *(Field(name, ANYTHING, required=False) for name in PROBE_FIELDS if name != "kind"),
    more=(Whole(_probe_fields),),
)


# The invocation.


def _env_name(value: object, path: str) -> Sequence[Found]:
    name = str(value)
    if name == "__proto__":
        return (reserved(name, path),)
    if not ENV_NAME_GRAMMAR.fullmatch(name):
        wanted = "names of letters, digits and _, no digit first"
        message = f"env must have {wanted}, got {show(name)}"
        return (fault("bad-format", path, message),)
    if name.upper() not in DENIED_ENV:
        return ()
    message = f"env must not set {show(name)}, which makes the child run other code"
    return (fault("denied-variable", path, message),)


def _output_arg(value: dict[str, object], path: str) -> Sequence[Found]:
    at, channel = f"{path}/outputArg", value.get("outputChannel")
    if channel == "file-arg":
        if "outputArg" not in value:
            return (missing(at, FILLED.expected),)
        return FILLED.check(value["outputArg"], at)
    if channel not in OUTPUT_CHANNELS or "outputArg" not in value:
        return ()
    message = f"outputArg must be left out for outputChannel {show(channel)}"
    got = kind_of(value["outputArg"])
    return (fault("forbidden-field", at, f"{message}, got {got}"),)


SPAWN = shape(
    Field("binary", FILLED),
    Field("args", array(STRING)),
    Field("promptChannel", member(PROMPT_CHANNELS)),
    Field("outputChannel", member(OUTPUT_CHANNELS)),
    Field("outputArg", ANYTHING, required=False),
    Field("modelArg", nullable(FILLED)),
    Field("effortChannel", member(EFFORT_CHANNELS)),
    Field("env", mapping(_env_name, STRING, "an object of strings"), required=False),
    # Fields of the other transport have a fault of their own.
    *(Field(name, ANYTHING, required=False) for name in HTTP_ONLY_FIELDS),
    more=(Whole(_output_arg),),
)


def _no_effort(value: object, path: str) -> Sequence[Found]:
    wanted = '"none" for transport "openai-http"'
    if not isinstance(value, str):
        return (wrong_type(value, path, wanted),)
    if value == "none":
        return ()
    return (must_be("not-in-vocabulary", value, path, wanted),)


HTTP = shape(
    Field("hostConfigKey", FILLED),
    Field("defaultHost", ANYTHING, required=False),
    Field("path", FILLED),
    Field("modelDiscovery", member(MODEL_DISCOVERIES)),
    Field("fallbackModel", ANYTHING, required=False),
    Field("effortChannel", Rule(_no_effort, '"none"')),
    *(Field(name, ANYTHING, required=False) for name in SPAWN_ONLY_FIELDS),
)

_INVOKES = {
    "spawn": (SPAWN, HTTP_ONLY_FIELDS),
    "openai-http": (HTTP, SPAWN_ONLY_FIELDS),
}


def _invoke(value: dict[str, object], path: str) -> Sequence[Found]:
    transport, invoke = value.get("transport"), value.get("invoke")
    if "invoke" not in value:
        return ()
    at = f"{path}/invoke"
    if not isinstance(invoke, dict):
        return (wrong_type(invoke, at, "an object"),)
    if not isinstance(transport, str) or transport not in _INVOKES:
        return ()
    rule, foreign = _INVOKES[transport]
    found = list(rule.check(invoke, at))
    for name in foreign:
        if name in invoke:
            message = f"{name} must be left out for transport {show(transport)}"
            found.append(
                fault(
                    "wrong-transport-field",
                    f"{at}/{name}",
                    f"{message}, got {kind_of(invoke[name])}",
                )
            )
    return found


# The lane.


def _effort(value: dict[str, object], path: str) -> Sequence[Found]:
    if value.get("defaultEffort") is None or value.get("effortConfigKey") is not None:
        return ()
    message = "defaultEffort must come with effortConfigKey, got it alone"
    return (fault("effort-without-key", f"{path}/defaultEffort", message),)


LANE = shape(
    Field(
        "slug",
        unreserved(
            matching(
                LANE_SLUG_GRAMMAR,
                "lower-case letters, digits, _ and -, a letter or digit first",
            )
        ),
    ),
    Field(
        "flags",
        array(
            matching(LANE_FLAG_GRAMMAR, "a flag such as --name, in lower case"),
            filled=True,
            distinct=True,
        ),
    ),
    Field("transport", member(LANE_TRANSPORTS)),
    Field("probe", PROBE),
    Field("invoke", Rule(lambda _value, _path: (), "an object")),
    Field("timeoutFloorMs", MILLISECONDS),
    Field("emptyOutput", member(EMPTY_OUTPUTS)),
    Field("reviewsSection", FILLED),
    Field("evidenceClass", member(EVIDENCE_CLASSES)),
    Field("requiresBinaries", array(FILLED)),
    Field("promptBudgetKey", KEY_OR_NULL),
    Field("modelConfigKey", KEY_OR_NULL, required=False),
    Field("timeoutConfigKey", KEY_OR_NULL, required=False),
    Field("effortConfigKey", KEY_OR_NULL, required=False),
    Field("defaultEffort", nullable(member(EFFORT_LEVELS)), required=False),
    Field("handler", nullable(member(HANDLERS))),
    more=(
        Whole(_invoke),
        Whole(_effort),
    ),
)

#: The lane of a reviewer, which must have one, and of a runtime, which may.
REQUIRED_LANE: tuple[Field, ...] = (Field("reviewer", LANE),)
OPTIONAL_LANE: tuple[Field, ...] = (Field("reviewer", LANE, required=False),)

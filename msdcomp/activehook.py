"""A hook as the loop is handed it, and a hook with the conditions it waits for.

Both sources of hooks meet here: the typed registry and a registry read back from its
wire form, which may be malformed. Whatever is wrong with a field of the latter, the
hook keeps its place and loses the field.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, cast

import attrs
from pyrsistent import PMap, PVector, pmap

from msdcomp.manifest import Contribution, Fragment, Gate, Ref, Step
from msdcomp.manifest.names import Json
from msdcomp.records import Record
from msdcomp.views import Hook

__all__ = ["ActiveHook", "DeclaredHook", "JsonText", "declare", "plain_json"]

#: Deepest nesting of a JSON value inside a hook; manifests allow no more.
_MAX_LEVELS = 200

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def plain_json(value: object, levels: int = _MAX_LEVELS) -> Any:  # noqa: ANN401 - JSON
    """Return a JSON value as fresh plain data, as a JavaScript host would write it.

    A whole float becomes an integer, an infinite one null. Keys of a persistent map,
    which has no order of its own, are sorted; those of any other mapping keep theirs.

    Raises:
        ValueError: The value nests deeper than `levels` or is not JSON.
    """
    if isinstance(value, float):
        if value != value or abs(value) == float("inf"):  # noqa: PLR0124 - NaN
            return None
        return int(value) if value.is_integer() and abs(value) < 1e21 else value
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 1024 else None
    if levels <= 0:
        raise ValueError("nested too deep")
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is not a string")
        keys = sorted(value) if isinstance(value, PMap) else list(value)
        return {key: plain_json(value[key], levels - 1) for key in keys}
    if isinstance(value, list | tuple | PVector):
        return [plain_json(item, levels - 1) for item in value]
    raise ValueError("not JSON")


@attrs.frozen(eq=False, repr=False)
class JsonText(Record):
    """A JSON value kept as compact text: immutable, and in the order it was written."""

    text: str

    @classmethod
    def of(cls, value: object) -> JsonText | None:
        """Return the text of a value, or None for what is not JSON or too deep."""
        try:
            text = json.dumps(
                plain_json(value), ensure_ascii=False, separators=(",", ":")
            )
        except ValueError:
            return None
        return cls(_LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text))

    def value(self) -> Any:  # noqa: ANN401 - arbitrary JSON
        """Return the value as fresh plain data."""
        return json.loads(self.text)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class ActiveHook(Record):
    """One hook that is dispatched at a loop point, with what its kind carries.

    Attributes:
        capability_id: Its owner.
        kind: `step`, `contribution` or `gate`.
        ref: What a step dispatches to.
        into: The agent role a contribution addresses.
        fragment: Prompt text, or the path of text that was not read.
        when: The key that switched it on.
        check: The condition of a gate.
        blocking: Whether a failed check of a gate halts the loop.
        produces: Artefacts it leaves.
        consumes: Artefacts it reads.
        on_error: `skip` or `halt`.
        supports_reviewer_lanes: Whether a step fans out to reviewer lanes.
        config_values: Alias -> value, for what a contribution asks of the
            configuration; keys that have no value are missing.
    """

    capability_id: str
    kind: str
    ref: JsonText | None = None
    into: str | None = None
    fragment: Fragment | None = None
    when: str | None = None
    check: JsonText | None = None
    blocking: bool | None = None
    produces: tuple[str, ...] = ()
    consumes: tuple[str, ...] = ()
    on_error: str | None = None
    supports_reviewer_lanes: bool = False
    config_values: PMap[str, Json] = attrs.field(factory=pmap)

    def to_wire(self) -> dict[str, Any]:
        """Return the hook as fresh JSON data; what is unset or empty is left out."""
        fragment = self.fragment
        fields: dict[str, Any] = {
            "ref": self.ref.value() if self.ref else None,
            "into": self.into,
            "fragment": {
                name: text
                for name, text in (("inline", fragment.inline), ("path", fragment.path))
                if text is not None
            }
            if fragment
            else None,
            "when": self.when,
            "check": self.check.value() if self.check else None,
            "blocking": self.blocking,
            "produces": list(self.produces) or None,
            "consumes": list(self.consumes) or None,
            "onError": self.on_error,
            "supportsReviewerLanes": self.supports_reviewer_lanes or None,
            "configValues": plain_json(self.config_values) or None,
        }
        return {"capId": self.capability_id, "kind": self.kind} | {
            name: value for name, value in fields.items() if value is not None
        }


@attrs.frozen(kw_only=True, eq=False, repr=False)
class DeclaredHook(Record):
    """A hook as declared: what becomes of it when active, and what it waits for.

    Attributes:
        hook: The hook, complete but for its configuration values.
        never: Its `when` or `pointFrom` is no key at all, so it can never be active.
        point_from: Key whose value must equal the point.
        config_keys: Alias -> key.
    """

    hook: ActiveHook
    never: bool = False
    point_from: str | None = None
    config_keys: PMap[str, str] = attrs.field(factory=pmap)


def declare(hook: Hook) -> DeclaredHook:
    """Return a hook of the typed registry with its conditions."""
    body = hook.body
    if isinstance(body, Step):
        return DeclaredHook(
            hook=ActiveHook(
                capability_id=hook.capability_id,
                kind="step",
                ref=_ref(body.ref),
                fragment=body.fragment,
                when=body.when,
                produces=body.produces,
                consumes=body.consumes,
                on_error=body.on_error,
                supports_reviewer_lanes=body.supports_reviewer_lanes,
            ),
            never=body.when == "" or body.point_from == "",
            point_from=body.point_from,
        )
    if isinstance(body, Contribution):
        return DeclaredHook(
            hook=ActiveHook(
                capability_id=hook.capability_id,
                kind="contribution",
                into=body.into,
                fragment=body.fragment,
                when=body.when,
                produces=body.produces,
                consumes=body.consumes,
                on_error=body.on_error,
            ),
            never=body.when == "",
            # A map is invariant in mypy's eyes, though every key is a text.
            config_keys=cast("PMap[str, str]", body.config_values),
        )
    return DeclaredHook(
        hook=ActiveHook(
            capability_id=hook.capability_id,
            kind="gate",
            when=body.when,
            check=_check(body),
            blocking=body.blocking,
            on_error=body.on_error,
        ),
        never=body.when == "",
    )


def _ref(ref: Ref) -> JsonText | None:
    return JsonText.of(
        {
            name: target
            for name, target in (
                ("skill", ref.skill),
                ("agent", ref.agent),
                ("command", ref.command),
            )
            if target is not None
        }
    )


def _check(gate: Gate) -> JsonText | None:
    check = gate.check
    return JsonText.of(
        {
            name: value
            for name, value in (
                ("query", check.query),
                ("predicate", check.predicate),
                ("agentVerdict", check.agent_verdict),
            )
            if value is not None
        }
    )

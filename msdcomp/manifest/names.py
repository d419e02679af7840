"""Names and value types used by every manifest record."""

from __future__ import annotations

from typing import NewType, TypeAlias

from pyrsistent import PMap

#: A capability id that matched the id grammar.
CapabilityId = NewType("CapabilityId", str)
#: The stem of a skill or of an agent; each has one owner in a registry.
SkillStem = NewType("SkillStem", str)
AgentStem = NewType("AgentStem", str)
#: A dotted configuration key, `workflow.ui_phase`.
ConfigKey = NewType("ConfigKey", str)
#: One of the twelve loop extension points.
Point = NewType("Point", str)

#: A JSON scalar, and any JSON value in immutable form (`pyrsistent.freeze`).
Scalar: TypeAlias = str | int | float | bool | None
Json: TypeAlias = "Scalar | PMap[str, Json] | tuple[Json, ...]"

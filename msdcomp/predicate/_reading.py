"""JSON of any kind to a predicate, or to every reason why it is none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs

from msdcomp.configlayers import freeze_json
from msdcomp.diagnostics import Problem, errors
from msdcomp.jsontext import locate_all, parse
from msdcomp.jsonvalue import adopt
from msdcomp.predicate._records import (
    ArtifactExists,
    CommandExitZero,
    ConfigEquals,
    FrontmatterEquals,
    Predicate,
)
from msdcomp.records import Record
from msdcomp.rules.predicates import DEFAULT_TIMEOUT_S, check_predicate

__all__ = ["Reading", "read_predicate"]

#: Warnings that keep a predicate from being evaluated.
_UNCHECKABLE = frozenset({"unknown-predicate", "unexpanded-value"})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Reading(Record):
    """What a text or a value turned out to be.

    Attributes:
        predicate: None when it cannot be evaluated; `problems` says why.
        kind: Its kind, known or not, as far as it has one.
        problems: Everything there is to say, notices too; places only for a text.
    """

    predicate: Predicate | None = None
    kind: str | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def faults(self) -> tuple[Problem, ...]:
        """The problems that keep it from being evaluated."""
        uncheckable = (p for p in self.problems if p.code in _UNCHECKABLE)
        return (*errors(self.problems), *uncheckable)


def read_predicate(given: object) -> Reading:
    """Read a predicate.

    Args:
        given: JSON text (`str`, or UTF-8 in `bytes`), or a JSON value.

    Returns:
        The predicate, or what is wrong; never raises.
    """
    text = given if isinstance(given, str | bytes) else None
    parsed = parse(text) if text is not None else adopt(given)
    if parsed.problems:
        return Reading(problems=parsed.problems)
    value = parsed.value
    problems = check_predicate(value)
    if text is not None and problems:
        places = locate_all(text, [problem.path for problem in problems])
        problems = tuple(problem.at(places[problem.path]) for problem in problems)
    kind = value.get("kind") if isinstance(value, dict) else None
    known = Reading(kind=kind if isinstance(kind, str) else None, problems=problems)
    if known.faults or not isinstance(value, dict):
        return known
    return attrs.evolve(known, predicate=_MAKERS[value["kind"]](value))


#: Kind -> its record, of an object that was checked.
_MAKERS: dict[str, Callable[[dict[str, Any]], Predicate]] = {
    ArtifactExists.kind: lambda value: ArtifactExists(artifact=value["artifact"]),
    ConfigEquals.kind: lambda value: ConfigEquals(
        key=value["key"], equals=freeze_json(value["equals"])
    ),
    FrontmatterEquals.kind: lambda value: FrontmatterEquals(
        artifact=value["artifact"],
        field=value["field"],
        equals=freeze_json(value["equals"]),
    ),
    CommandExitZero.kind: lambda value: CommandExitZero(
        command=value["command"], timeout_s=value.get("timeout", DEFAULT_TIMEOUT_S)
    ),
}

"""Document order: the order in which a reader of the file meets the problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msdcomp.diagnostics import Problem


def in_document_order(
    document: object, problems: Iterable[Problem]
) -> tuple[Problem, ...]:
    """Return problems sorted by the place they name.

    A key that is not there counts as standing just before the first key of its object;
    problems of one place keep their order.
    """
    found = tuple(problems)
    named = {_key(part) for problem in found for part in problem.path.split("/")}
    # One numbering of the keys for each object met, not a search for each problem.
    numbering: dict[int, dict[str, int]] = {}

    def rank(problem: Problem) -> tuple[int, ...]:
        place: object = document
        ranks = []
        for part in problem.path.split("/")[1:]:
            key = _key(part)
            if isinstance(place, dict):
                keys = numbering.get(id(place))
                if keys is None:
                    keys = {n: at for at, n in enumerate(place) if n in named}
                    numbering[id(place)] = keys
                ranks.append(keys.get(key, -1))
                place = place.get(key)
            elif isinstance(place, list) and key.isdecimal() and int(key) < len(place):
                ranks.append(int(key))
                place = place[int(key)]
            else:
                ranks.append(-1)
                place = None
        return tuple(ranks)

    return tuple(sorted(found, key=rank))


def _key(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")

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
    # One numbering of the keys for each object met, not a search for each problem.
    numbering: dict[int, dict[str, int]] = {}

    def rank(problem: Problem) -> tuple[int, ...]:
        place: object = document
        ranks = []
        for part in problem.path.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(place, dict):
                keys = numbering.get(id(place))
                if keys is None:
                    keys = {name: number for number, name in enumerate(place)}
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

    return tuple(sorted(problems, key=rank))

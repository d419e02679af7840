"""JSON of the two stores, read from disk without raising.

The stores are not manifests: they need no place for each fault, only a yes or no.
"""

from __future__ import annotations

import json
from typing import TypeAlias

from msdcomp.edge.files import MAX_FILE_BYTES, FileFault, read_file
from msdcomp.vocabulary import POINTS

__all__ = ["Json", "gate_points", "is_strings", "parse_object", "read_object"]

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"

_DAMAGED = FileFault("damaged", "not a JSON object")


def _refuse_constant(name: str) -> float:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _refuse_repeats(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        message = "an object names a key twice"
        raise ValueError(message)
    return found


def parse_object(data: bytes, *, strict: bool) -> dict[str, Json] | FileFault:
    """Return the object that UTF-8 text holds.

    Args:
        data: The text.
        strict: Refuse repeated keys. Otherwise the last one wins, as in the JavaScript
            host that reads the same file. NaN and Infinity are JSON to neither.
    """
    try:
        value: Json = json.loads(
            data.decode(),
            parse_constant=_refuse_constant,
            object_pairs_hook=_refuse_repeats if strict else None,
        )
    except (ValueError, RecursionError):  # also undecodable text and endless digits
        return _DAMAGED
    return value if isinstance(value, dict) else _DAMAGED


def read_object(
    path: str, *, strict: bool, limit: int = MAX_FILE_BYTES
) -> dict[str, Json] | FileFault:
    """Return the object a file holds; its code is `damaged` when it holds none."""
    data = read_file(path, limit)
    return data if isinstance(data, FileFault) else parse_object(data, strict=strict)


def is_strings(value: Json, most: int) -> bool:
    """Tell whether a value is a list of at most `most` strings."""
    return (
        isinstance(value, list)
        and len(value) <= most
        and all(isinstance(item, str) for item in value)
    )


def gate_points(value: Json) -> tuple[str, ...]:
    """Return the loop points a list names, each once, in loop order."""
    if not isinstance(value, list):
        return ()
    named = {item for item in value if isinstance(item, str)}
    return tuple(point for point in POINTS if point in named)

"""Bytes to records and back.

Reading is strict (msdcomp.jsontext), judged by rules (msdcomp.rules), and only what
has no fault is structured (msdcomp.structuring). Writing returns the canonical bytes
a manifest was read from.
Source: docs/reference/wire-format.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, cast

import attrs

from msdcomp import jsontext
from msdcomp.diagnostics import Problem, Severity
from msdcomp.jsonvalue import adopt
from msdcomp.manifest import Manifest
from msdcomp.records import Record
from msdcomp.rules import check
from msdcomp.rules.declared import declared_gates
from msdcomp.structuring import structure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from msdcomp.gates import DeclaredGate

__all__ = ["Decoded", "decode", "encode", "place"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Decoded(Record):
    """What a document turned out to be.

    Attributes:
        manifest: The manifest, when it has no fault.
        problems: Every fault, in document order.
        diagnostics: What is reported although it is accepted, in document order.
        is_object: False when the text is not strict JSON holding one object.
    """

    manifest: Manifest | None = None
    problems: tuple[Problem, ...] = ()
    diagnostics: tuple[Problem, ...] = ()
    is_object: bool = True
    _gates: tuple[DeclaredGate, ...] = ()

    @property
    def gates(self) -> tuple[DeclaredGate, ...]:
        """Every gate that can be read, whatever else is wrong; read when asked for."""
        if self.manifest is None:
            return self._gates
        return declared_gates(jsontext.parse(self.manifest.document).value)


def decode(
    data: object,
    folder: str | None = None,
    file: str | None = None,
) -> Decoded:
    """Read one manifest.

    Args:
        data: The document: UTF-8 bytes, text, or the mapping a JSON reader gave.
            Anything else is refused, as a document that holds no object.
        folder: Name of the folder it lies in, which its id must equal; None leaves
            the comparison out.
        file: Path shown with each problem, relative to its scope.

    Returns:
        The manifest or its faults, never both. Never raises, whatever `data` is, and
        never changes it.
    """
    text = data if isinstance(data, bytes) else _text(data)
    if text is not None:
        parsed = jsontext.parse(text)
    elif isinstance(data, Mapping):
        parsed = adopt(data)
    else:
        problems = tuple(problem.at(None, file) for problem in check(data, folder))
        return Decoded(problems=problems, is_object=False)
    if parsed.problems:
        return Decoded(
            problems=tuple(problem.at(None, file) for problem in parsed.problems),
            gates=declared_gates(parsed.loose),
            is_object=False,
        )
    value = parsed.value
    found = check(value, folder)
    if found:
        found = place(found, data, file)
    problems = tuple(p for p in found if p.severity is Severity.ERROR)
    diagnostics = tuple(p for p in found if p.severity is not Severity.ERROR)
    if not problems:
        # The text is kept, not the value: it is one object instead of a hundred.
        document = parsed.document if text is None else partial(_written, text)
        # Only an object passes the rules.
        manifest = structure(cast(dict[str, object], value), document)
        return Decoded(manifest=manifest, diagnostics=diagnostics)
    return Decoded(
        problems=problems,
        diagnostics=diagnostics,
        gates=declared_gates(value),
        is_object=isinstance(value, dict),
    )


def _written(text: bytes | str) -> bytes:
    return jsontext.parse(text).document


def _text(data: object) -> bytes | str | None:
    """Return what is given as text or bytes, or None when it is something else."""
    if isinstance(data, bytes | str):
        return data
    if isinstance(data, bytearray | memoryview):
        try:
            return bytes(data)
        except ValueError:
            # A view whose memory was given back.
            return None
    return None


def place(
    problems: Iterable[Problem],
    data: object,
    file: str | None = None,
) -> tuple[Problem, ...]:
    """Return problems with file, line and column, as far as these are known."""
    found = tuple(problems)
    text = _text(data)
    if text is None:
        return tuple(problem.at(None, file) for problem in found)
    places = jsontext.locate_all(text, {problem.path for problem in found})
    return tuple(problem.at(places[problem.path], file) for problem in found)


def encode(manifest: Manifest) -> bytes:
    """Return the document of a manifest as canonical JSON."""
    return manifest.document

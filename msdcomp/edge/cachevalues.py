"""Values to bytes and back, for the cache: records at the speed of their fields.

The bytes are pickles, read by a reader that knows records, enumerations and persistent
maps and nothing else, so that no file can name code to be run.

A pickle of attrs records sets each record up by a call; of two hundred thousand that
takes longer than everything else. Here a first pickle holds the value with empty
records in it, and each one after it the fields of the records that the one before was
first to mention, a column for each field of a class. Columns are set without a call.
Source: docs/reference/cache.md, "What is in a file".
"""

from __future__ import annotations

import copyreg
import functools
import importlib
import io
import pickle
import types
from collections import deque
from typing import Any, TypeAlias, TypeGuard

import attrs
from pyrsistent import PMap, pmap

from msdcomp.collector import collector_paused
from msdcomp.records import Record

__all__ = ["KNOWN", "dump", "dump_plain", "load", "load_plain"]

_Slot: TypeAlias = types.MemberDescriptorType

#: Module -> the classes of it that a file may hold.
KNOWN: dict[str, frozenset[str]] = {
    "msdcomp.candidate": frozenset({"Candidate", "FragmentFault", "FragmentText"}),
    "msdcomp.composition": frozenset({"Composition"}),
    "msdcomp.diagnostics": frozenset({"Problem", "Severity"}),
    "msdcomp.gates": frozenset({"BlockedGate", "DeclaredGate", "GateCondition"}),
    "msdcomp.manifest.envelope": frozenset(
        {"CommandModule", "ConfigSlice", "Engines", "Manifest", "Provenance"}
    ),
    "msdcomp.manifest.feature": frozenset(
        {
            "Contribution",
            "Feature",
            "Fragment",
            "Gate",
            "GateCheck",
            "LifecycleHook",
            "Ref",
            "ResolverInvoke",
            "RuntimeCompat",
            "Step",
            "TaskContentResolver",
        }
    ),
    "msdcomp.manifest.reviewer": frozenset(
        {"HttpInvoke", "Lane", "Probe", "SpawnInvoke"}
    ),
    "msdcomp.manifest.runtime": frozenset(
        {
            "ArtifactKind",
            "ArtifactLayout",
            "ConfigHome",
            "Dispatch",
            "HostIntegration",
            "OrchestratorExec",
            "Runtime",
        }
    ),
    "msdcomp.registry": frozenset({"Registry"}),
    "msdcomp.scope": frozenset({"Consent", "Scope"}),
    "msdcomp.verdict": frozenset({"BundlePath", "IgnoredEntry", "SkipWarning"}),
    "msdcomp.views": frozenset(
        {
            "CommandFamily",
            "Hook",
            "Membership",
            "OwnedLane",
            "OwnedResolver",
            "OwnedSlice",
            "PointHooks",
        }
    ),
    "msdcomp.wire": frozenset({"Decoded"}),
}

_PMAP = (pmap.__module__, pmap.__name__)


def _written(text: bytes | str) -> bytes:
    """Return the canonical form of the text of a manifest."""
    from msdcomp.jsontext import parse  # noqa: PLC0415 -- mostly nobody does

    return parse(text).document


#: Makes of the text of a manifest what makes its canonical form.
_LATER = functools.partial(functools.partial, _written)


def _documents(manifests: list[Any]) -> list[object]:
    """Return the documents of manifests, those not yet written as their text.

    Writing thousands that nobody has asked for would take longer than all the rest.
    """
    return [
        held
        if isinstance(held := one._document, bytes) or _is_later(held)  # noqa: SLF001
        else one.document
        for one in manifests
    ]


def _is_later(value: object) -> TypeGuard[functools.partial[bytes]]:
    """Tell whether a function makes the canonical form of one text."""
    return (
        isinstance(value, functools.partial)
        and len(value.args) == 1
        and isinstance(value.args[0], bytes | str)
        and (value.func is _written or value.func.__module__ == "msdcomp.wire")
    )


@functools.cache
def _slots(cls: type) -> tuple[_Slot, ...]:
    """Return the descriptors of the fields of a record class.

    They are what attrs itself uses to fill a frozen record.
    """
    return tuple(getattr(cls, field.name) for field in attrs.fields(cls))


class _Later:
    """Stands in a file for `_LATER`, which has no name of its own there."""


_Columns: TypeAlias = tuple[type, list[Record], list[list[object]]]


def _columns(cls: type, found: list[Record]) -> _Columns:
    """Return records of a class, and the values of each field in the same order."""
    columns = [
        _documents(found)
        if (cls.__name__, slot.__name__) == ("Manifest", "_document")
        else list(map(slot.__get__, found))
        for slot in _slots(cls)
    ]
    return cls, found, columns


def _is_known(cls: type) -> bool:
    return cls.__qualname__ in KNOWN.get(cls.__module__, ())


class _Pickler(pickle.Pickler):
    """Writes records empty, and remembers which were met for the first time."""

    def __init__(self, stream: io.BytesIO) -> None:
        super().__init__(stream, protocol=5)
        self.met: dict[type, list[Record]] = {}

    def reducer_override(self, value: Any) -> Any:  # noqa: ANN401 -- as inherited
        cls = value.__class__
        if cls in self.met:
            self.met[cls].append(value)
            return copyreg.__newobj__, (cls,)  # type: ignore[attr-defined]
        if cls is PMap:
            # Its own way asks for each key again.
            return pmap, (dict(value.iteritems()),)
        if isinstance(value, Record) and _is_known(cls):
            self.met[cls] = [value]
            return copyreg.__newobj__, (cls,)  # type: ignore[attr-defined]
        if value is pmap or isinstance(value, type) or _is_known(cls):
            return NotImplemented
        if _is_later(value):
            return _Later, value.args
        raise pickle.PicklingError(f"{cls} is not known to the cache")


class _Unpickler(pickle.Unpickler):
    """Knows what `KNOWN` lists, and how to make a persistent map."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 -- as inherited
        if name in KNOWN.get(module, ()):
            return getattr(importlib.import_module(module), name)
        if (module, name) == _PMAP:
            return pmap
        if (module, name) == (__name__, "_Later"):
            return _LATER
        raise pickle.UnpicklingError(f"{module}.{name} is not known to the cache")


class _PlainUnpickler(pickle.Unpickler):
    """Knows nothing: for numbers, text, tuples and the like."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 -- as inherited
        raise pickle.UnpicklingError(f"{module}.{name} is not known to the cache")


def dump(value: object) -> memoryview | None:
    """Return a value as bytes, or None when it holds what is not known here."""
    stream = io.BytesIO()
    pickler = _Pickler(stream)
    try:
        with collector_paused():
            pickler.dump(value)
            while pickler.met:
                met, pickler.met = pickler.met, {}
                pickler.dump([_columns(cls, found) for cls, found in met.items()])
            pickler.dump([])
    except (pickle.PicklingError, RecursionError, MemoryError):
        return None
    return stream.getbuffer()


def load(data: bytes) -> Any:  # noqa: ANN401 -- from a file
    """Return the value that bytes hold, or None when they hold none.

    Whatever is wrong with them: what a damaged pickle raises is not bounded.
    """
    unpickler = _Unpickler(io.BytesIO(data))
    try:
        with collector_paused():
            value = unpickler.load()
            while columns := unpickler.load():
                for cls, found, fields in columns:
                    _fill(cls, found, fields)
    except Exception:  # noqa: BLE001 -- see above
        return None
    return value


def _fill(cls: type, found: list[Record], fields: list[list[object]]) -> None:
    for setter, values in zip(_slots(cls), fields, strict=True):
        if len(values) != len(found):
            raise pickle.UnpicklingError("a column is too long or too short")
        # Exhausts the map without a step of the interpreter for each value.
        deque(map(setter.__set__, found, values), 0)


def dump_plain(value: object) -> bytes:
    """Return a value without records as bytes."""
    with collector_paused():
        return pickle.dumps(value, protocol=5)


def load_plain(data: bytes) -> Any:  # noqa: ANN401 -- from a file
    """Return a value without records that bytes hold, or None when they hold none."""
    try:
        with collector_paused():
            return _PlainUnpickler(io.BytesIO(data)).load()
    except Exception:  # noqa: BLE001 -- as above
        return None

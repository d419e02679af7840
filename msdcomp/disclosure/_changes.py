"""What is new in a disclosure, for the question that an update asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import attrs

from msdcomp.disclosure._records import (
    Blocker,
    ConfigKeyUse,
    Disclosure,
    Instruction,
    ShownGate,
    Surface,
)
from msdcomp.records import Record

__all__ = ["Changes", "FileChange", "compare"]

_T = TypeVar("_T")


@attrs.frozen(kw_only=True, eq=False, repr=False)
class FileChange(Record):
    """A file that is `added`, `removed` or `changed`; `code` when it may run."""

    path: str
    how: str
    code: bool


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Changes(Record):
    """What one disclosure has that another has not.

    A declaration that was edited is in both: its old form removed, its new one added.

    Attributes:
        activation: Whether the key that switches everything, or its default, differs.
        blockers: Those of the new one, all of them.
    """

    added: tuple[Surface, ...] = ()
    removed: tuple[Surface, ...] = ()
    instructions_added: tuple[Instruction, ...] = ()
    instructions_removed: tuple[Instruction, ...] = ()
    gates_added: tuple[ShownGate, ...] = ()
    gates_removed: tuple[ShownGate, ...] = ()
    config_added: tuple[ConfigKeyUse, ...] = ()
    config_removed: tuple[ConfigKeyUse, ...] = ()
    files: tuple[FileChange, ...] = ()
    activation: bool = False
    blockers: tuple[Blocker, ...] = ()

    @property
    def code(self) -> bool:
        """Whether anything that runs or is sent differs; also when it is only less."""
        return bool(
            self.added
            or self.removed
            or self.activation
            or any(file.code for file in self.files)
        )

    @property
    def text(self) -> bool:
        """Whether anything that speaks to an agent differs."""
        return bool(
            self.instructions_added
            or self.instructions_removed
            or any(not file.code for file in self.files)
        )


def compare(old: Disclosure, new: Disclosure) -> Changes:
    """Return what is new, what is gone, and which files differ.

    Order and place of declarations do not matter.
    """
    added, removed = _differences(old.surfaces, new.surfaces, _surface)
    words_added, words_removed = _differences(
        old.instructions, new.instructions, lambda one: (one.kind, one.declared)
    )
    gates_added, gates_removed = _differences(
        old.gates, new.gates, lambda one: attrs.evolve(one, place="")
    )
    config_added, config_removed = _differences(old.config, new.config, lambda one: one)
    runs = bool(old.surfaces or new.surfaces)
    return Changes(
        added=added,
        removed=removed,
        instructions_added=words_added,
        instructions_removed=words_removed,
        gates_added=gates_added,
        gates_removed=gates_removed,
        config_added=config_added,
        config_removed=config_removed,
        files=_files(old, new),
        activation=runs and old.activation != new.activation,
        blockers=new.blockers,
    )


def _surface(one: Surface) -> tuple[Hashable, ...]:
    return (one.kind, one.declared, one.uses)


def _differences(
    old: Iterable[_T], new: Iterable[_T], key: Callable[[_T], Hashable]
) -> tuple[tuple[_T, ...], tuple[_T, ...]]:
    """Return what only `new` has, and what only `old` has, counting repetitions."""
    before, after = list(old), list(new)
    return _beyond(after, before, key), _beyond(before, after, key)


def _beyond(
    some: list[_T], others: list[_T], key: Callable[[_T], Hashable]
) -> tuple[_T, ...]:
    left = Counter(map(key, others))
    found = []
    for one in some:
        if left[key(one)] > 0:
            left[key(one)] -= 1
        else:
            found.append(one)
    return tuple(found)


def _files(old: Disclosure, new: Disclosure) -> tuple[FileChange, ...]:
    was = {**dict(old.text_files), **dict(old.code_files)}
    is_ = {**dict(new.text_files), **dict(new.code_files)}
    code = {path for path, _ in (*old.code_files, *new.code_files)}
    return tuple(
        FileChange(
            path=path,
            how="added"
            if path not in was
            else "removed"
            if path not in is_
            else "changed",
            code=path in code,
        )
        for path in sorted({*was, *is_})
        if was.get(path) != is_.get(path)
    )

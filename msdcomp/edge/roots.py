"""Where overlays come from: the home, the project, and the two overlay roots.

The global root is the user's own and trusted; the project's came with a repository and
is not. Everything here that compares the two asks what the folders physically are, so
that no link lets a repository's folder pass for the user's.
Source: docs/explanation/composition.md, "Where overlays come from".
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TypeAlias

import attrs

from msdcomp.records import Record
from msdcomp.scope import Scope

__all__ = [
    "CAPABILITIES",
    "LEDGER_NAME",
    "LOCK_NAME",
    "OWN_NAMES",
    "STAGING_NAME",
    "Places",
    "Root",
    "StrPath",
    "find_home",
    "find_places",
    "find_project",
]

StrPath: TypeAlias = "str | os.PathLike[str]"

#: The overlay root of a scope, relative to the root of that scope.
CAPABILITIES = ".msd/capabilities"

#: File name of a ledger, in the root of its scope.
LEDGER_NAME = ".msd-capabilities.json"

#: What the package lifecycle keeps in an overlay root: the lock of the scope, and the
#: folder in which bundles are made ready and set aside.
LOCK_NAME, STAGING_NAME = ".lock", ".staging"

#: Entries of an overlay root that are the lifecycle's own, and nobody's overlay.
OWN_NAMES = frozenset({LOCK_NAME, STAGING_NAME})


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Root(Record):
    """One folder of overlays.

    Attributes:
        scope: What its overlays count as.
        folder: Path of the folder.
        shown: The same folder relative to the root of its scope, with `/`.
        ledger_root: Folder that holds its ledger.
    """

    scope: Scope
    folder: str
    shown: str = CAPABILITIES
    ledger_root: str


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Places(Record):
    """What was found out about this machine and working directory.

    Attributes:
        home: The user's home, which holds the consent store; None when unknown.
        project: Physical path of the project, which consent is given for; None when
            there is no project.
        roots: The overlay roots, global first; each physical folder once.
    """

    home: str | None
    project: str | None
    roots: tuple[Root, ...]


def find_home(home: StrPath | None = None) -> str | None:
    """Return the home that was given, else `$MSD_HOME`, else the user's.

    An empty `$MSD_HOME` counts as unset. Returns None when nobody knows a home.
    """
    given = os.fspath(home) if home is not None else os.environ.get("MSD_HOME")
    try:
        return str(Path(given).absolute() if given else Path.home())
    except (OSError, RuntimeError):  # the working directory is gone; no such user
        return None


def find_project(
    cwd: StrPath | None, home: str | None, project: StrPath | None = None
) -> tuple[str | None, bool]:
    """Return the physical path of the project, and whether anything marks it as one.

    A project that was given counts as marked. Else it is the nearest folder at or above
    the working directory that holds a folder `.planning` or anything named `.git`; else
    the working directory itself, unless that is the home, which is no project.

    Args:
        cwd: The working directory; None for that of this process.
        home: The user's home.
        project: The project, when the caller knows it.
    """
    start = _physical(project or cwd or ".")
    if project is not None or start is None:
        return start, project is not None
    above = Path(start)
    for folder in (above, *above.parents):
        if _is_marked(folder):
            return str(folder), True
    if home is not None and _same(start, home):
        return None, False
    return start, False


def _physical(path: StrPath) -> str | None:
    """Return a path without links, or None when it starts nowhere.

    Unlike `Path.resolve`, this does not raise for links that lead in a circle.
    """
    try:
        return os.path.realpath(path)
    except OSError:  # relative to a working directory that is gone
        return None


def _is_marked(folder: Path) -> bool:
    planning = _stat(folder / ".planning")
    if planning and stat.S_ISDIR(planning.st_mode):
        return True
    try:
        (folder / ".git").lstat()
    except (OSError, ValueError):
        return False
    return True


def find_places(
    cwd: StrPath | None = None,
    home: StrPath | None = None,
    project: StrPath | None = None,
) -> Places:
    """Return the home, the project and the overlay roots that count here."""
    found_home = find_home(home)
    found_project, marked = find_project(cwd, found_home, project)
    roots = []
    if found_home is not None:
        roots.append(
            Root(
                scope=Scope.GLOBAL,
                folder=f"{found_home}/{CAPABILITIES}",
                ledger_root=found_home,
            )
        )
    if found_project is not None:
        own = Root(
            scope=Scope.PROJECT,
            folder=f"{found_project}/{CAPABILITIES}",
            ledger_root=found_project,
        )
        roots = [*_escalated(roots, own, found_project, marked=marked), own]
    return Places(home=found_home, project=found_project, roots=tuple(roots))


def _escalated(
    roots: list[Root], own: Root, project: str, *, marked: bool
) -> list[Root]:
    """Return the global root as far as it is provably not the project's.

    The same folder is left out: it is scanned once, as the project's. A folder that
    lies physically inside a repository is that repository's content, whatever name it
    goes by, and so is one about which nothing can be found out: both are scanned with
    project scope, in which nothing is active without consent. A working directory that
    merely contains the home, with nothing to mark it as a project, is no repository.
    """
    kept = []
    for root in roots:
        same = _same(root.folder, own.folder)
        if same:
            continue
        if same is None or (marked and _is_inside(root.folder, project)):
            shown = os.path.relpath(os.path.realpath(root.folder), project)
            kept.append(attrs.evolve(root, scope=Scope.PROJECT, shown=shown))
        else:
            kept.append(root)
    return kept


def _same(one: str, other: str) -> bool | None:
    """Tell whether two paths are one folder; None when that cannot be found out.

    Nothing at a path is different from everything.
    """
    try:
        first, second = Path(one).stat(), Path(other).stat()
    except (FileNotFoundError, NotADirectoryError):
        # A path that does not exist yet may still spell the same place.
        return os.path.realpath(one) == os.path.realpath(other)
    except (OSError, ValueError):
        return None
    return os.path.samestat(first, second)


def _is_inside(folder: str, project: str) -> bool:
    """Tell whether a folder lies physically below a project."""
    top = _stat(Path(project))
    found = [_stat(above) for above in Path(os.path.realpath(folder)).parents]
    return top is not None and any(s and os.path.samestat(s, top) for s in found)


def _stat(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except (OSError, ValueError):
        return None

"""The command text of a hook: the bundle's own script, quoted for a POSIX shell.

The text ends up in a settings file that a host hands to a shell, so nothing in it may
mean anything to one. There is no interpreter in front: what runs is the script, by its
own first line, and nothing that a search path finds.
Source: docs/reference/manifest.md, "Hooks".
"""

from __future__ import annotations

from typing import NewType

from msdcomp.vocabulary import CACHE_FOLDERS, HOOK_SCRIPT_GRAMMAR

__all__ = ["HookCommand", "hook_command", "quoted", "script_parts", "script_reason"]

#: A hook's command, quoted and ready for a settings file.
HookCommand = NewType("HookCommand", str)

_BYTECODE = (".pyc", ".pyo")


def quoted(text: str) -> str:
    r"""Return text as one word of a POSIX shell.

    Always in quotes, also where they are not needed: one form is easier to recognise
    than two.

    >>> print(quoted("/srv/re c's/x.sh"))
    '/srv/re c'\''s/x.sh'
    """
    return "'" + text.replace("'", "'\\''") + "'"


def script_reason(script: str) -> str | None:
    """Return why a path cannot be a hook's script, or None when it can.

    Whether the file is there, and physically inside the bundle, the path cannot tell.

    >>> script_reason("scripts/run.sh")
    >>> script_reason("../run.sh")
    'leads out of the bundle'
    """
    if not script:
        return "is empty"
    if script.startswith("/"):
        return "is absolute"
    if not HOOK_SCRIPT_GRAMMAR.fullmatch(script):
        return "has characters other than letters, digits and . _ - /"
    parts = script.split("/")
    if ".." in parts:
        return "leads out of the bundle"
    if any(part.startswith("-") for part in parts):
        return "has a part that starts with -"
    if parts[-1] in {"", "."}:
        return "names a folder"
    if CACHE_FOLDERS.intersection(parts) or script.lower().endswith(_BYTECODE):
        return "names a file of a bytecode cache"
    return None


def script_parts(script: str) -> tuple[str, ...]:
    """Return the components of a script's path; `.` and doubled slashes vanish."""
    return tuple(part for part in script.split("/") if part not in {"", "."})


def hook_command(path: str) -> HookCommand | None:
    """Return the command that runs a script.

    Args:
        path: The physical absolute path of the script.

    Returns:
        The quoted path, or None when no shell and no JSON text can name the file: the
        path is relative, or holds a NUL or a byte that is not UTF-8.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        return None
    if not path.startswith("/") or "\0" in path:
        return None
    return HookCommand(quoted(path))

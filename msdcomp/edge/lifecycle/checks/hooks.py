"""Checks of hooks: their scripts, and our entries in hosts' settings files.

Only settings files that a ledger names are looked into, each once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from msdcomp.edge.files import FileFault
from msdcomp.edge.jsonfiles import parse_object
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.lifecycle.checks.view import View, command
from msdcomp.edge.lifecycle.settled import hook_entries, recorded
from msdcomp.edge.settings import MARKER, plan_edit, resolve_script
from msdcomp.health import Finding, finding
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.edge.ledgerfile import InstalledEntry
    from msdcomp.manifest import Manifest

__all__ = ["MAX_SETTINGS", "check_hooks"]

#: Most settings files of one site that are looked into; a ledger can name millions.
MAX_SETTINGS = 64

#: Id -> event and JSON text of each of its entries.
_Marked: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]


def check_hooks(view: View) -> Iterator[Finding]:
    """Yield hooks that a host does not run, or runs in vain."""
    manifests = {one.id: view.held[one.id].manifest for one in view.settled}
    for name, manifest in manifests.items():
        yield from _scripts(view, name, manifest)
    files: dict[str, list[InstalledEntry]] = {}
    for entry in view.settled:
        for file in recorded(entry):
            files.setdefault(file, []).append(entry)
    for file in sorted(files)[:MAX_SETTINGS]:
        marked = _marked(view, file)
        if isinstance(marked, FileFault):
            for entry in files[file]:
                yield view.finding(
                    "settings-unreadable",
                    entry.id,
                    f"its hooks cannot be looked for in {safe(file, 200)}: "
                    f"{marked.reason}",
                    "mend the file",
                )
            continue
        for entry in files[file]:
            manifest = manifests[entry.id]
            yield from _entries(view, file, entry.id, manifest, marked)
        yield from _orphans(view, file, marked)
    if len(files) > MAX_SETTINGS:
        yield finding(
            "settings-not-looked-at",
            f"it names {len(files):,} settings files, and only {MAX_SETTINGS} of them "
            "were looked into",
            scope=view.site.scope.value,
            subject=LEDGER_NAME,
        )


def _scripts(view: View, name: str, manifest: Manifest | None) -> Iterator[Finding]:
    if manifest is None or manifest.feature is None:
        return
    again = command(view.site, "update", name)
    remedy = f"run {again} to have it as its source offers it" if again else ""
    for script in dict.fromkeys(hook.script for hook in manifest.feature.hooks):
        found = resolve_script(f"{view.site.root.folder}/{name}", script)
        shown = safe(script, 200)
        if isinstance(found, FileFault):
            reason = f"the script {shown} of its hook cannot be run: {found.reason}"
            yield view.finding("script-missing", name, reason, remedy)
        elif not found.executable:
            yield view.finding(
                "script-not-executable",
                name,
                f"the script {shown} of its hook may not be run as a program",
                "run `chmod u+x` on it",
            )


def _marked(view: View, file: str) -> _Marked | FileFault:
    """Return the entries of ours in a settings file, by whose they are."""
    # The plan that changes nothing has looked where a change would, and found JSON.
    edit = plan_edit(view.site.root.ledger_root, file, "", ())
    if isinstance(edit, FileFault):
        return edit
    document = parse_object(edit.before or b"{}", strict=True)
    hooks = document.get("hooks") if isinstance(document, dict) else None
    marked: dict[str, list[tuple[str, str]]] = {}
    for event, listed in hooks.items() if isinstance(hooks, dict) else ():
        for entry in listed if isinstance(listed, list) else ():
            owner = entry.get(MARKER) if isinstance(entry, dict) else None
            if isinstance(owner, str):
                marked.setdefault(owner, []).append((event, _text(entry)))
    return marked


def _text(entry: object) -> str:
    # What could be parsed is less nested than what can be written.
    return json.dumps(entry, sort_keys=True)


def _entries(
    view: View, file: str, name: str, manifest: Manifest | None, marked: _Marked
) -> Iterator[Finding]:
    wanted = {
        (hook.event, _text(hook.wire(name)))
        for hook in hook_entries(view.site, name, manifest)
    }
    held = set(marked.get(name, ()))
    missing = sorted(event for event, _ in wanted - held)
    stale = sorted(event for event, _ in held - wanted)
    again = command(view.site, "update", name)
    remedy = f"run {again} to have its entries written again" if again else ""
    if missing:
        yield view.finding(
            "hook-missing",
            name,
            f"{safe(file, 200)} does not have its hook for {_events(missing)}, so the "
            "host does not run it",
            remedy,
        )
    if stale:
        yield view.finding(
            "hook-stale",
            name,
            f"{safe(file, 200)} has an entry of it for {_events(stale)} that is none "
            "of its hooks",
            remedy,
        )


def _orphans(view: View, file: str, marked: _Marked) -> Iterator[Finding]:
    """Yield entries of ours for what is not installed."""
    known = {*view.ledger.entries, *view.ledger.unclear, *view.folders}
    for name in sorted(set(marked) - known):
        yield view.finding(
            "hook-orphaned",
            name,
            f"{safe(file, 200)} has an entry of it for "
            f"{_events([event for event, _ in marked[name]])}, and it is not installed",
            "take the entry out of the file",
        )


def _events(events: Sequence[str]) -> str:
    shown = [safe(event, 60) for event in dict.fromkeys(events)]
    more = f" and {len(shown) - 3} more" if len(shown) > 3 else ""
    return ", ".join(shown[:3]) + more

"""Compose MSD capability registries: a pure fold over untrusted manifests.

    >>> import msdcomp
    >>> shipped = msdcomp.load_registry(include_installed=False)
    >>> registry, warnings, blocked_gates = shipped
    >>> len(registry.capabilities), len(warnings), len(blocked_gates)
    (44, 0, 0)

Every name here is imported when it is first used: a command that needs only one of
them does not pay for the others.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from msdcomp._version import __version__

if TYPE_CHECKING:
    from msdcomp.candidate import Candidate, Consent, Scope
    from msdcomp.composition import Composition
    from msdcomp.configlayers import ConfigLayers
    from msdcomp.diagnostics import Problem, Severity
    from msdcomp.edge.load import load_registry
    from msdcomp.explanation import explain
    from msdcomp.fold import compose
    from msdcomp.gates import BlockedGate
    from msdcomp.host import CentralConfig, Host, HostContract
    from msdcomp.loop import LoopResolution, render_markdown, resolve
    from msdcomp.manifest import Manifest
    from msdcomp.recomposition import recompose
    from msdcomp.registry import Entry, Registry, build
    from msdcomp.validation import validate
    from msdcomp.verdict import SkipWarning
    from msdcomp.wire import Decoded
    from msdcomp.wire import decode as decode_manifest

__all__ = [
    "BlockedGate",
    "Candidate",
    "CentralConfig",
    "Composition",
    "ConfigLayers",
    "Consent",
    "Decoded",
    "Entry",
    "Host",
    "HostContract",
    "LoopResolution",
    "Manifest",
    "Problem",
    "Registry",
    "Scope",
    "Severity",
    "SkipWarning",
    "__version__",
    "build",
    "compose",
    "decode_manifest",
    "explain",
    "load_registry",
    "recompose",
    "render_markdown",
    "resolve",
    "validate",
]

#: Public name -> module, and the name there when it is another.
_HOMES = {
    "BlockedGate": "gates",
    "Candidate": "candidate",
    "CentralConfig": "host",
    "Composition": "composition",
    "ConfigLayers": "configlayers",
    "Consent": "candidate",
    "Decoded": "wire",
    "Entry": "registry",
    "Host": "host",
    "HostContract": "host",
    "LoopResolution": "loop",
    "Manifest": "manifest",
    "Problem": "diagnostics",
    "Registry": "registry",
    "Scope": "candidate",
    "Severity": "diagnostics",
    "SkipWarning": "verdict",
    "build": "registry",
    "compose": "fold",
    "decode_manifest": "wire:decode",
    "explain": "explanation",
    "load_registry": "edge.load",
    "recompose": "recomposition",
    "render_markdown": "loop",
    "resolve": "loop",
    "validate": "validation",
}


def __getattr__(name: str) -> object:
    """Import a public name from its home, once."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, _, there = _HOMES[name].partition(":")
    found: object = getattr(
        importlib.import_module(f"{__name__}.{home}"), there or name
    )
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)

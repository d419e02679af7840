"""What a bundle runs, sends or tells an agent, as it is read and configured here.

Source: docs/reference/disclosure.md.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msdcomp.configlayers import ConfigLayers, lookup
from msdcomp.disclosure import MANIFEST, Disclosure, ReviewerLane, disclose, path_text

if TYPE_CHECKING:
    from msdcomp.edge.content_hash import Bundle

__all__ = ["disclosure_of"]

_NOTHING = ConfigLayers()


def disclosure_of(bundle: Bundle, layers: ConfigLayers = _NOTHING) -> Disclosure:
    """Return the disclosure of a bundle.

    Args:
        bundle: Its content.
        layers: Configuration that may say where a reviewer of it sends to.
    """
    data = bundle.files.get(MANIFEST.encode(), b"")
    files = {
        path_text(path): hashlib.sha256(content).hexdigest()
        for path, content in bundle.files.items()
    }
    plain = disclose(data, files)
    keys = {
        surface.egress.config_key
        for surface in plain.surfaces
        if isinstance(surface, ReviewerLane)
    }
    found = {key: lookup(key, layers, {}).value for key in keys if key is not None}
    hosts = {key: value for key, value in found.items() if isinstance(value, str)}
    return disclose(data, files, hosts) if hosts else plain

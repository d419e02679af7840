"""A capability at hand, ready to be shown and installed, and nothing of it run.

What is shown, hashed, judged and written later are the same bytes, held in memory.
Source: docs/explanation/lifecycle.md, "From a source to a parcel".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from msdcomp.configlayers import ConfigLayers
from msdcomp.disclosure import MANIFEST, Disclosure
from msdcomp.edge.content_hash import Bundle
from msdcomp.edge.disclosing import disclosure_of
from msdcomp.edge.jsonfiles import gate_points
from msdcomp.edge.lifecycle.tree import Tree
from msdcomp.hookcommand import script_parts
from msdcomp.plan import Block, Pin
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.signature import signature
from msdcomp.sourcespec import SourceSpec
from msdcomp.wire import decode

if TYPE_CHECKING:
    from msdcomp.edge.sources import Fetched
    from msdcomp.manifest import Manifest

__all__ = ["Parcel", "gate_points_of", "parcel_of"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Parcel(Record):
    """A capability that could be installed.

    Attributes:
        spec: Where it came from.
        integrity: Digest of the archive it came in; empty where there was none.
        commit: Commit it is of; empty where it is of none.
        manifest: Its manifest, valid by itself.
        bundle: Its content.
        tree: The same, as it is written.
        disclosure: What it runs, sends or tells an agent.
        signature: What an agreement to that is bound to.
        gate_points: Loop points at which it declares gates.
        notes: What was decided on the way, a sentence each.
    """

    spec: SourceSpec
    integrity: str = ""
    commit: str = ""
    manifest: Manifest
    bundle: Bundle = attrs.field(repr=False)
    tree: Tree = attrs.field(repr=False)
    disclosure: Disclosure = attrs.field(repr=False)
    signature: str = attrs.field(repr=False)
    gate_points: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def pin(self) -> Pin:
        """What holds the source to this content."""
        if self.integrity:
            return Pin(kind="integrity", value=self.integrity)
        if self.commit and self.spec.pinned:
            return Pin(kind="commit", value=self.commit)
        return Pin()


def parcel_of(
    spec: SourceSpec,
    fetched: Fetched,
    bundle: Bundle,
    runnable: frozenset[bytes],
    layers: ConfigLayers,
) -> Parcel | Block:
    """Return the parcel of a bundle, or why nobody could install it.

    Args:
        spec: Where it came from.
        fetched: What was found out on the way.
        bundle: Its content.
        runnable: Paths of the files that may be run.
        layers: Configuration that may say where a reviewer of it sends to.
    """
    decoded = decode(bundle.files.get(MANIFEST.encode(), b""), file=MANIFEST)
    manifest = decoded.manifest
    if manifest is None:
        return Block(
            "invalid-manifest",
            "its manifest is not valid",
            "see `msd validate`",
            problems=decoded.problems,
        )
    disclosure = disclosure_of(bundle, layers)
    if disclosure.blockers:
        first = disclosure.blockers[0]
        return Block(
            "not-agreeable",
            f"nobody can agree to it as it is: {first.place}: {safe(first.reason)}",
        )
    # A hook is run as a file, and an archive may not have kept the permission.
    scripts = {
        "/".join(script_parts(hook.script)).encode()
        for hook in (manifest.feature.hooks if manifest.feature else ())
    }
    parcel = Parcel(
        spec=spec,
        integrity=fetched.integrity or "",
        commit=fetched.commit or "",
        manifest=manifest,
        bundle=bundle,
        tree=Tree.of(bundle, runnable | scripts),
        disclosure=disclosure,
        signature=signature(disclosure),
        gate_points=gate_points_of(bundle),
    )
    return _unlike_declared(parcel) or parcel


def gate_points_of(bundle: Bundle) -> tuple[str, ...]:
    """Return the loop points at which a bundle declares gates, in loop order."""
    gates = decode(bundle.files.get(MANIFEST.encode(), b"")).gates
    return gate_points([gate.point for gate in gates])


def _unlike_declared(parcel: Parcel) -> Block | None:
    """Return the fault of an archive that is not the one its manifest speaks of."""
    declared = parcel.manifest.integrity
    if not declared or not parcel.integrity or declared == parcel.integrity:
        return None
    return Block(
        "integrity-mismatch",
        f"the manifest declares {safe(declared)}, and the archive is "
        f"{parcel.integrity}",
        "a file cannot hold the hash of an archive it lies in: leave `integrity` out "
        "of the manifest, and publish it beside the archive",
    )

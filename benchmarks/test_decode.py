"""Decoding: manifest text -> a checked record, or every fault with its place."""

from __future__ import annotations

from kit import Timed, overlays_of

from msdcomp import decode_manifest

#: Whose text alone shows that they are bad.
_UNSOUND = {"invalid", "not-json"}


def test_decode(timed: Timed, count: int, dirty: bool) -> None:
    given = overlays_of(count, dirty=dirty)
    decoded = timed(lambda: [decode_manifest(o.manifest, o.folder) for o in given])
    for one, found in zip(given, decoded, strict=True):
        assert (found.manifest is None) is (one.bad in _UNSOUND)
        assert bool(found.problems) is (one.bad in _UNSOUND)

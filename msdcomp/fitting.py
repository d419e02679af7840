"""Whether a manifest plainly fits in, which is what nearly all of them do.

Answers with lookups alone. Whoever plainly fits breaks no rule that
`msdcomp.invariants` or `msdcomp.crosscheck` would tell of; only about the others
those are asked, and they alone say what is wrong, if anything is.
Source: docs/explanation/performance.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msdcomp.vocabulary import TIERS

if TYPE_CHECKING:
    from msdcomp.contender import Outline
    from msdcomp.invariants import Draft

__all__ = ["plainly_fits"]

_SIZE = {tier: size for size, tier in enumerate(TIERS)}


def plainly_fits(outline: Outline, draft: Draft) -> bool:
    """Tell whether a manifest breaks no rule of gates 6 and 9, as far as is plain.

    Args:
        outline: Of a structurally valid manifest.
        draft: The members so far.

    Returns:
        False also where only a closer look can tell.
    """
    return (
        outline.sound
        and draft.tier(outline.manifest.id) is None
        and draft.free(outline.names)
        and draft.apart(outline.names, outline.around)
        and _company_is_there(outline, draft)
        and _artefacts_flow(outline, draft)
    )


def _company_is_there(outline: Outline, draft: Draft) -> bool:
    manifest = outline.manifest
    if manifest.requires:
        own = _SIZE[manifest.tier]
        for needed in manifest.requires:
            tier = draft.tier(needed)
            if tier is None or _SIZE[tier] > own:
                return False
    return all(map(draft.is_runtime, outline.runtimes))


def _artefacts_flow(outline: Outline, draft: Draft) -> bool:
    made = {(one.point, one.artefact) for one in outline.made}
    if len(made) < len(outline.made) or not draft.unmade(made):
        return False
    for lack in outline.lacks:
        first = draft.first_made(lack.artefact)
        if (first is None or first > lack.place) and not any(
            one.artefact == lack.artefact
            and one.place <= lack.place
            and one.step != lack.step
            for one in outline.made
        ):
            return False
    return True

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
    from msdcomp.flow import Flow
    from msdcomp.host import Host
    from msdcomp.invariants import Draft
    from msdcomp.manifest import Contribution, Gate, Step

__all__ = ["plainly_fits"]

_SIZE = {tier: size for size, tier in enumerate(TIERS)}


def plainly_fits(outline: Outline, draft: Draft, host: Host, flow: Flow) -> bool:
    """Tell whether a manifest breaks no rule of gates 6 and 9, as far as is plain.

    Args:
        outline: Of a structurally valid manifest.
        draft: The members so far.
        host: Loop and central configuration keys.
        flow: Data flow among the first party's hooks.

    Returns:
        False also where only a closer look can tell.
    """
    return (
        _names_are_free(outline, draft, host)
        and _company_is_there(outline, draft)
        and _artefacts_flow(outline, draft)
        and _host_agrees(outline, host)
        and not flow.may_close(outline.manifest)
    )


def _names_are_free(outline: Outline, draft: Draft, host: Host) -> bool:
    names = outline.names
    return (
        draft.tier(outline.manifest.id) is None
        and draft.free(names)
        and len(set(names)) == len(names)
        and not any(
            kind == "config-key" and host.central.owns(name) for kind, name in names
        )
    )


def _company_is_there(outline: Outline, draft: Draft) -> bool:
    own = _SIZE[outline.manifest.tier]
    for needed in outline.manifest.requires:
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


def _host_agrees(outline: Outline, host: Host) -> bool:
    feature = outline.manifest.feature
    if feature is None:
        return True
    switches = {name for kind, name in outline.names if kind == "config-key"}
    hooks: tuple[Step | Contribution | Gate, ...] = (
        *feature.steps,
        *feature.contributions,
        *feature.gates,
    )
    return (
        all(hook.when is None or hook.when in switches for hook in hooks)
        and all(step.point_from is None for step in feature.steps)
        and all(
            c.into in host.contract.roles_at(c.point) for c in feature.contributions
        )
    )

"""Rules that need the host contract: what a manifest may say about the loop.

They are asked of manifests that are valid on their own.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from msdcomp.diagnostics import MAX_PROBLEMS, pointer
from msdcomp.rules._words import fault, listed, show, suggest, too_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from msdcomp.diagnostics import Problem
    from msdcomp.host import HostContract
    from msdcomp.manifest import ConfigSlice, Contribution, Gate, Manifest, Step

__all__ = ["check_contract", "undispatched"]


def _hooks(
    manifest: Manifest,
) -> Iterator[tuple[str, str, int, Step | Contribution | Gate]]:
    feature = manifest.feature
    if feature is not None:
        for index, step in enumerate(feature.steps):
            yield "steps", "step", index, step
        for index, contribution in enumerate(feature.contributions):
            yield "contributions", "contribution", index, contribution
        for index, gate in enumerate(feature.gates):
            yield "gates", "gate", index, gate


def check_contract(manifest: Manifest, contract: HostContract) -> tuple[Problem, ...]:
    """Return where a manifest asks for what the host does not publish.

    Covers the agent role of contributions, and the configuration keys behind `when`
    and `pointFrom`. Ordered by steps, contributions, gates, as declared.
    Source: docs/reference/host-contract.md.
    """
    return _bounded(_asked(manifest, contract))


def _bounded(found: Iterator[Problem]) -> tuple[Problem, ...]:
    kept = tuple(islice(found, MAX_PROBLEMS))
    return (*kept, too_many()) if next(found, None) is not None else kept


def _asked(manifest: Manifest, contract: HostContract) -> Iterator[Problem]:
    # Looked up for every step, so as sets and once for each key.
    offered: dict[str, frozenset[str]] = {}
    for group, kind, index, hook in _hooks(manifest):
        if kind == "contribution":
            yield from _role(hook, index, contract)  # type: ignore[arg-type]
        if kind == "step":
            yield from _point_from(manifest, hook, index, offered)  # type: ignore[arg-type]
        if hook.when is not None and hook.when not in manifest.config:
            yield fault(
                "when-undeclared",
                pointer(group, index, "when"),
                f"when must be a key of this capability's config, got "
                f"{show(hook.when)}",
                suggest(hook.when, manifest.config),
            )


def _role(hook: Contribution, index: int, contract: HostContract) -> Iterator[Problem]:
    roles = contract.roles_at(hook.point)
    if hook.into not in roles:
        names = listed(sorted(roles)) if roles else "no role at all"
        yield fault(
            "role-not-published",
            pointer("contributions", index, "into"),
            f"into must be a role published at {hook.point} ({names}), got "
            f"{show(hook.into)}",
            suggest(hook.into, roles),
        )


def _point_from(
    manifest: Manifest, step: Step, index: int, offered: dict[str, frozenset[str]]
) -> Iterator[Problem]:
    if step.point_from is None:
        return
    path = pointer("steps", index, "pointFrom")
    slice_ = manifest.config.get(step.point_from)
    if slice_ is None:
        yield fault(
            "point-from-undeclared",
            path,
            f"pointFrom must be a key of this capability's config, got "
            f"{show(step.point_from)}",
            suggest(step.point_from, manifest.config),
        )
    elif slice_.type != "enum":
        yield fault(
            "point-from-not-enum",
            path,
            f"pointFrom must name an enum key, got {show(step.point_from)} of type "
            f"{slice_.type}",
        )
    elif step.point not in _offered(step.point_from, slice_, offered):
        yield fault(
            "point-from-missing-point",
            path,
            f"pointFrom must name a key whose values hold the step's own point "
            f"{step.point}, got {show(step.point_from)} without it",
        )


def _offered(
    key: str, slice_: ConfigSlice, offered: dict[str, frozenset[str]]
) -> frozenset[str]:
    if key not in offered:
        offered[key] = frozenset(slice_.values)
    return offered[key]


def undispatched(manifest: Manifest, contract: HostContract) -> tuple[Problem, ...]:
    """Return the hooks whose kind their point does not dispatch.

    Such a hook would be rendered and never run. The problems are errors; a caller that
    only wants to warn turns them into warnings.
    Source: docs/reference/host-contract.md, "Dispatched kinds".
    """
    return _bounded(
        fault(
            "kind-not-dispatched",
            pointer(group, index, "point"),
            f"point {hook.point} dispatches {_kinds(hook.point, contract)}, "
            f"got a {kind}",
        )
        for group, kind, index, hook in _hooks(manifest)
        if kind not in contract.kinds_at(hook.point)
    )


def _kinds(point: str, contract: HostContract) -> str:
    kinds = sorted(contract.kinds_at(point))
    return " and ".join(f"{kind}s" for kind in kinds) or "no hooks at all"

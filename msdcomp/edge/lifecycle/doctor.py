"""`doctor`: looks for what is not as it should be; writes nothing, takes no lock.

What is installed, agreed to, recorded and composed is held against each other. Every
file here may have been written by a stranger, so nothing in one makes it raise, and
only what the stores speak of is read whole.
Source: docs/reference/doctor.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from msdcomp._version import DEFAULT_HOST_VERSION
from msdcomp.edge.config import read_layers
from msdcomp.edge.consentstore import read_consent
from msdcomp.edge.firstparty import first_party
from msdcomp.edge.installed import compose_scan, host_for
from msdcomp.edge.lifecycle.checks.around import (
    check_git,
    check_policy,
    check_surface,
    check_whereabouts,
)
from msdcomp.edge.lifecycle.checks.composed import (
    check_composition,
    check_ignored,
    check_whole,
)
from msdcomp.edge.lifecycle.checks.content import (
    check_agreements,
    check_content,
    check_entries,
    check_places,
    check_unused,
)
from msdcomp.edge.lifecycle.checks.hooks import check_hooks
from msdcomp.edge.lifecycle.checks.stores import (
    check_consent_store,
    check_ledger,
    check_traces,
)
from msdcomp.edge.lifecycle.checks.view import view_of
from msdcomp.edge.lifecycle.site import sites
from msdcomp.edge.scan import scan
from msdcomp.health import Finding, ranked
from msdcomp.sourcepolicy import SourcePolicy

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.checks.view import View
    from msdcomp.edge.roots import Places
    from msdcomp.making import OnSetFailure
    from msdcomp.scope import Scope

__all__ = ["examine"]


def examine(
    places: Places,
    host_version: str = DEFAULT_HOST_VERSION,
    *,
    scope: str | None = None,
    on_set_failure: OnSetFailure = "fallback",
) -> tuple[Finding, ...]:
    """Return everything that is not as it should be, the worst first.

    Args:
        places: Home, project and roots.
        host_version: Running version of the host.
        scope: `global` or `project`; what belongs to no scope is looked at all the
            same. None for both.
        on_set_failure: As for `load_registry`.

    Cost: reads whole what a ledger names or somebody has agreed to, else as a load.
    """
    # Two roots of one scope may tell of the same thing.
    told = dict.fromkeys(_findings(places, host_version, scope, on_set_failure))
    return ranked(told)


def _findings(
    places: Places,
    host_version: str,
    scope: str | None,
    on_set_failure: OnSetFailure,
) -> Iterator[Finding]:
    found = scan(places)
    composition = compose_scan(
        found,
        base=first_party(),
        host=host_for(found, host_version),
        on_set_failure=on_set_failure,
    )
    layers = read_layers(places.project)
    policy = SourcePolicy.of(layers)
    consent = read_consent(places.home)
    views = [view_of(site, consent, found) for site in sites(places, host_version)]
    wanted = [site.root for site in sites(places, host_version, scope=scope)]
    chosen = [view for view in views if view.site.root in wanted]

    yield from check_whereabouts(places)
    yield from check_policy(layers)
    yield from check_surface(places, composition.registry)
    yield from check_git(chosen)
    yield from check_consent_store(consent)
    yield from check_whole(composition)
    for view in chosen:
        yield from check_ledger(view)
        yield from check_traces(view)
        yield from check_places(view)
        yield from check_content(view)
        yield from check_agreements(view)
        yield from check_entries(view, policy)
        yield from check_hooks(view)
        yield from check_composition(view.site, composition)
        yield from check_ignored(view.site, composition)
    yield from check_unused(chosen, _presence(views))


def _presence(views: list[View]) -> Callable[[Scope, str], bool]:
    held = {
        (view.site.scope, name)
        for view in views
        for name in (*view.folders, *view.ledger.entries, *view.ledger.unclear)
    }
    return lambda scope, name: (scope, name) in held

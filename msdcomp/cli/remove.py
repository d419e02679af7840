"""`msd capability remove`: what the warnings tell the user to run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msdcomp.cli.changing import (
    Report,
    add_scope,
    add_what,
    carry_out,
    find_here,
    finish,
    print_report,
    settle_first,
    show_first,
)
from msdcomp.cli.common import complain
from msdcomp.edge.lifecycle.planning import dependents, plan_removal
from msdcomp.edge.lifecycle.site import Site, sites
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.edge.roots import Places

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument("id", metavar="ID", help="what to remove, by its folder's name")
    parser.add_argument(
        "--cascade",
        action="store_true",
        help="remove what depends on it as well, first",
    )
    add_scope(parser, "wherever it is; global, if it is in both")
    add_what(parser)


def run(options: argparse.Namespace) -> int:
    """Remove one capability, and with --cascade what depends on it."""
    name = options.id
    if not name or "/" in name or "\0" in name or name.startswith("."):
        complain(f"{safe(name)} is no name of an overlay's folder")
        return 2
    places = find_here(options)
    if places is None:
        return 2
    site = _site(places, options)
    if site is None:
        complain(f"{safe(name)} is not installed here")
        return 1
    if not options.dry_run:
        settle_first(site)
    code, report = _removed(site, name, options)
    print_report(report, as_json=options.json)
    return code


def _site(places: Places, options: argparse.Namespace) -> Site | None:
    """Return the first site that holds a folder or an entry of the name."""
    for site in sites(places, options.host_version, scope=options.scope):
        plan = plan_removal(site, options.id).plan
        if not any(block.code == "not-installed" for block in plan.blocks):
            return site
    return None


def _removed(site: Site, name: str, options: argparse.Namespace) -> tuple[int, Report]:
    prepared = plan_removal(site, name)
    first = dependents(prepared) if options.cascade else ()
    if not first:
        return carry_out(prepared, options, agreed=True)
    whole = plan_removal(site, name, [one for _, one in first])
    stopped = show_first(whole.plan, options)
    if stopped is not None:
        return stopped
    steps = [*((other, one.folder) for other, one in first), (site, name)]
    reports: list[Report] = []
    for where, folder in steps:
        # Each by itself is whole: whoever is killed between two of them has removed
        # what depends on the rest, and nothing that the rest depends on.
        code, report = finish(plan_removal(where, folder), options, lambda _: True)
        reports.append(report)
        if code:
            break
    return code, {**reports[-1], "removed": reports}

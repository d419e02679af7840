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
    not_installed,
    print_report,
    report_done,
    settle_first,
    show_before,
    show_first,
)
from msdcomp.cli.common import complain
from msdcomp.edge.lifecycle.applying import Done
from msdcomp.edge.lifecycle.planning import Prepared, dependents, plan_removal
from msdcomp.edge.lifecycle.site import sites
from msdcomp.edge.lifecycle.world import Kind
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
    before = _found(places, options)
    if before is None:
        return not_installed(name, options)
    now = before
    if not options.dry_run:
        settle_first(before.site)
        now = plan_removal(before.site, name)
    if options.dry_run or not _is_absent(now):
        code, report = _removed(now, options)
    else:
        # What was in flight of it is settled, and with that it is gone.
        code, report = report_done(Done(plan=before.plan), before.plan, options)
    print_report(report, as_json=options.json)
    return code


def _found(places: Places, options: argparse.Namespace) -> Prepared | None:
    """Return the removal from the first site that has the name.

    Where none has, the first about which more can be said than that. So what is in the
    way in one scope keeps nobody from taking the overlay of the other away.
    """
    second: Prepared | None = None
    for site in sites(places, options.host_version, scope=options.scope):
        found = plan_removal(site, options.id)
        if _is_there(found):
            return found
        if second is None and not _is_absent(found):
            second = found
    return second


def _is_there(prepared: Prepared) -> bool:
    """Tell whether a site holds an overlay or an entry of the name."""
    ledger = prepared.world.ledger
    return (
        prepared.world.installed.kind in {Kind.FOLDER, Kind.LINK}
        or prepared.folder in ledger.entries
        or prepared.folder in ledger.unclear
    )


def _is_absent(prepared: Prepared) -> bool:
    return any(block.code == "not-installed" for block in prepared.plan.blocks)


def _removed(prepared: Prepared, options: argparse.Namespace) -> tuple[int, Report]:
    site, name = prepared.site, prepared.folder
    first = dependents(prepared) if options.cascade else ()
    if not first:
        return carry_out(prepared, options, agreed=True)
    steps = [*((other, one.folder) for other, one in first), (site, name)]
    gone = [one for _, one in first]
    # All is shown, and nothing stands in the way of any, before the first one goes.
    shown = []
    for number, (where, folder) in enumerate(steps):
        if number and not options.json:
            show_before("\n", options)
        plan = plan_removal(where, folder, gone[:number]).plan
        shown.append(show_first(plan, options))
    stopped = [one for one in shown if one is not None]
    for code, report in stopped:
        if code:
            return code, {**report, "removed": []}
    if stopped:
        planned = [report for _, report in stopped]
        return 0, {**planned[-1], "removed": planned}
    reports: list[Report] = []
    for where, folder in steps:
        # Each by itself is whole: whoever is killed between two of them has removed
        # what depends on the rest, and nothing that the rest depends on.
        code, report = finish(plan_removal(where, folder), options, lambda _: True)
        reports.append(report)
        if code:
            break
    return code, {**reports[-1], "removed": reports}

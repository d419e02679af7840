"""`msd capability update`: fetch what is installed once more."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msdcomp.cli.changing import (
    Report,
    add_scope,
    add_what,
    add_yes,
    find_here,
    not_installed,
    print_report,
    refused,
    settle_first,
)
from msdcomp.cli.common import complain, show
from msdcomp.cli.fetching import add_fetching, fetch_options, put_in_place
from msdcomp.edge.config import read_layers
from msdcomp.edge.ledgerfile import InstalledEntry, read_entries
from msdcomp.edge.lifecycle.origin import origin, unheard
from msdcomp.edge.lifecycle.procuring import procure_again
from msdcomp.edge.lifecycle.site import Site, sites
from msdcomp.edge.storetext import StoreState
from msdcomp.plan import Block
from msdcomp.safetext import is_capability_id, safe
from msdcomp.sourcefault import SourceFault

if TYPE_CHECKING:
    from msdcomp.edge.roots import Places

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `update`."""
    parser.add_argument("id", nargs="?", metavar="ID", help="what to update")
    parser.add_argument(
        "--all", action="store_true", help="update everything that is installed"
    )
    add_scope(parser, "wherever it is installed")
    add_fetching(parser)
    add_yes(parser)
    add_what(parser)


def run(options: argparse.Namespace) -> int:
    """Update one capability, or all."""
    if (options.id is None) == (not options.all):
        complain("say the ID of what to update, or --all")
        return 2
    if options.id is not None and not is_capability_id(options.id):
        complain(f"{safe(options.id)} is no capability id")
        return 2
    if options.all and options.integrity:
        complain("--integrity belongs to one capability, not to --all")
        return 2
    places = find_here(options)
    if places is None:
        return 2
    code, reports = 0, []
    for site, entry in _found(places, options):
        if isinstance(entry, Block):
            worst, report = refused((entry,), options)
        else:
            worst, report = _updated(site, entry, options)
            report["id"] = entry.id
        code = max(code, worst)
        reports.append({"scope": site.scope.value, **report})
    if not reports:
        if options.id is not None:
            return not_installed(options.id, options)
        if not options.json:
            show("nothing is installed here\n")
    print_report(reports if options.all else reports[0], as_json=options.json)
    return code


def _found(
    places: Places, options: argparse.Namespace
) -> list[tuple[Site, InstalledEntry | Block]]:
    """Return what is to be updated, or why a ledger does not say."""
    found: list[tuple[Site, InstalledEntry | Block]] = []
    for site in sites(places, options.host_version, scope=options.scope):
        ledger = read_entries(site.root.ledger_root)
        if ledger.state is StoreState.CORRUPT and ledger.fault:
            reason = f"the ledger cannot be read: {ledger.fault.reason}"
            found.append((site, Block("ledger-unreadable", reason)))
        names = sorted(ledger.entries) if options.all else [options.id]
        found += [(site, ledger.entries[n]) for n in names if n in ledger.entries]
    if options.all:
        return found
    # A ledger that says nothing is in nobody's way where another one has the entry.
    return sorted(found, key=lambda one: isinstance(one[1], Block))[:1]


def _updated(
    site: Site, entry: InstalledEntry, options: argparse.Namespace
) -> tuple[int, Report]:
    if not options.dry_run and entry.pending is not None:
        settle_first(site)
    spec = origin(entry, allow_insecure=options.allow_insecure)
    if isinstance(spec, SourceFault):
        block = Block("source", f"{entry.id}: {spec.reason}", "install it again")
        return refused((block,), options)
    if options.all and unheard(site, entry.id, spec):
        block = Block(
            "unconsented",
            f"{entry.id}: nobody has agreed to it in this project, so its source is "
            "not asked",
            f"look at it and agree: `msd capability trust {entry.id}`; or name it: "
            f"`msd capability update {entry.id}`",
        )
        return refused((block,), options)
    layers = read_layers(site.places.project)
    found = procure_again(
        spec,
        site.host_version,
        entry,
        fetch_options(layers, options),
        integrity=options.integrity,
        layers=layers,
    )
    return put_in_place(site, found, options)

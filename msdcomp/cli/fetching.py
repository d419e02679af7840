"""What installing and updating have in common: fetching, and what comes of it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from msdcomp.cli.changing import Report, carry_out, refused, settle_first
from msdcomp.configlayers import ConfigLayers
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.planning import plan_install
from msdcomp.edge.sources import Options
from msdcomp.plan import Block
from msdcomp.sourcepolicy import SourcePolicy

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["add_asking", "add_fetching", "fetch_options", "put_in_place"]


def add_fetching(parser: argparse.ArgumentParser) -> None:
    """Add the options of fetching, and of what becomes of hooks."""
    parser.add_argument(
        "--integrity",
        metavar="H",
        help="what the archive must hash to: sha512- and the hash in Base64",
    )
    parser.add_argument(
        "--settings",
        metavar="FILE",
        action="append",
        help="a host's settings file, relative to the root of the scope, that is to "
        "run its hooks; may be given again (default: those that run them already)",
    )
    add_asking(parser)


#: How often another command that is at work on the same is waited for.
_TRIES = 3


def add_asking(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which sources may be asked, and how."""
    parser.add_argument(
        "--allow-host",
        metavar="HOST",
        action="append",
        default=[],
        help="a host that may have a private address; may be given again",
    )
    parser.add_argument(
        "--allow-insecure",
        action="store_true",
        help="let git be spoken over http and git, which anybody on the way can change",
    )
    parser.add_argument(
        "--registry", metavar="URL", help="npm registry to ask (default: npm's own)"
    )
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        help="certificates to trust instead of the system's",
    )


def put_in_place(
    site: Site, found: Parcel | Block, options: argparse.Namespace
) -> tuple[int, Report]:
    """Show a parcel, ask, and install it; or say why there is none."""
    if isinstance(found, Block):
        return refused((found,), options)
    if not options.dry_run:
        settle_first(site)
    prepared = plan_install(site, found, options.settings)
    tries = 0 if options.dry_run else _TRIES
    while tries and any(block.code == "pending" for block in prepared.plan.blocks):
        # Another command has begun meanwhile; settling waits for it to end.
        tries -= 1
        settle_first(site)
        prepared = plan_install(site, found, options.settings)
    return carry_out(prepared, options, agreed=options.yes)


def fetch_options(layers: ConfigLayers, options: argparse.Namespace) -> Options:
    """Return what a fetch is allowed, by the options and the policy here."""
    return Options(
        allow_hosts=frozenset(host.lower() for host in options.allow_host),
        allow_insecure=options.allow_insecure,
        ca_file=options.ca_file,
        registry=options.registry,
        policy=SourcePolicy.of(layers),
    )

"""`msd capability install`: fetch, show, ask, put in place."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from msdcomp.cli.changing import (
    Report,
    add_scope,
    add_what,
    add_yes,
    find_here,
    print_report,
    site_of,
)
from msdcomp.cli.common import complain
from msdcomp.cli.fetching import add_fetching, fetch_options, put_in_place
from msdcomp.edge.config import read_layers
from msdcomp.edge.lifecycle.procuring import procure
from msdcomp.scope import Scope
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec, parse_source

if TYPE_CHECKING:
    from msdcomp.edge.lifecycle.site import Site

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `install`."""
    parser.add_argument(
        "spec",
        metavar="SPEC",
        help="a folder, an archive, an https address of one, a git address with "
        "#branch, #tag:NAME or #sha:HEX, or npm:PACKAGE",
    )
    add_scope(parser, Scope.GLOBAL.value)
    add_fetching(parser)
    add_yes(parser)
    add_what(parser)


def run(options: argparse.Namespace) -> int:
    """Install one capability."""
    places = find_here(options)
    if places is None:
        return 2
    scope = options.scope or Scope.GLOBAL.value
    site = site_of(places, scope, options.host_version)
    if site is None:
        return 2
    spec = parse_source(options.spec, _cwd(), allow_insecure=options.allow_insecure)
    if isinstance(spec, SourceFault):
        complain(f"{spec.reason}{f'; {spec.hint}' if spec.hint else ''}")
        return 2
    code, report = _installed(site, spec, options)
    print_report(report, as_json=options.json)
    return code


def _cwd() -> str:
    """Return the working directory; of one that is gone, a path that is not there."""
    try:
        return str(Path.cwd())
    except OSError:
        return "/dev/null"


def _installed(
    site: Site, spec: SourceSpec, options: argparse.Namespace
) -> tuple[int, Report]:
    layers = read_layers(site.places.project)
    found = procure(
        spec,
        site.host_version,
        fetch_options(layers, options),
        integrity=options.integrity,
        layers=layers,
    )
    return put_in_place(site, found, options)

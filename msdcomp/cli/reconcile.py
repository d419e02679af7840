"""`msd capability reconcile`: finish or undo what a killed command has left."""

from __future__ import annotations

import argparse

from msdcomp.cli.changing import Report, add_scope, find_home_here, print_report
from msdcomp.cli.common import add_json, complain, screen_options, show
from msdcomp.cli.here import add_roots
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle.reconciling import reconcile, traces
from msdcomp.edge.lifecycle.site import Site, sites
from msdcomp.present.page import Page, Screen
from msdcomp.safetext import safe

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    add_scope(parser, "both")
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show what there is to settle, and do nothing",
    )
    add_roots(parser)
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Settle each scope; 1 when something could not be settled."""
    places = find_home_here(options)
    if places is None:
        return 2
    code, reports = 0, []
    for site in sites(places, scope=options.scope):
        worst, report = _settled(site, dry=options.dry_run)
        code = max(code, worst)
        reports.append({"scope": site.scope.value, **report})
    if options.json:
        print_report(reports, as_json=True)
    else:
        _show(reports)
    return code


def _settled(site: Site, *, dry: bool) -> tuple[int, Report]:
    if dry:
        left = traces(site)
        if isinstance(left, FileFault):
            return 2, _fault(site, left)
        found = [{"what": trace.what, "name": trace.name} for trace in left]
        return (1 if found else 0), {"status": "planned", "found": found}
    settled = reconcile(site)
    if isinstance(settled, FileFault):
        return 2, _fault(site, settled)
    return 1 if settled.left else 0, {
        "status": "settled",
        "done": [{"name": name, "what": what} for name, what in settled.done],
        "left": [{"name": name, "why": why} for name, why in settled.left],
    }


def _fault(site: Site, fault: FileFault) -> Report:
    complain(
        f"the {site.scope.value} scope: {fault.reason}; if its ledger is damaged, "
        "repair it by hand or move it away"
    )
    return {"status": "refused", "code": fault.code, "reason": fault.reason}


def _show(reports: list[Report]) -> None:
    page = Page(Screen(**screen_options()))
    for report in reports:
        scope = report["scope"]
        for item in report.get("found", ()):
            page.line(f"{scope}: {safe(item['name'])} ({item['what']})")
        for item in report.get("done", ()):
            page.line(f"{scope}: {safe(item['name'])}: {safe(item['what'], 400)}")
        for item in report.get("left", ()):
            page.line(
                f"{scope}: {safe(item['name'])}: ",
                ("not settled: ", "bold red"),
                safe(item["why"], 400),
            )
        if not (report.get("found") or report.get("done") or report.get("left")):
            page.line(f"{scope}: nothing was left behind")
    show(page.render())

"""What the verbs that change what is installed have in common."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from msdcomp.cli.asking import agrees
from msdcomp.cli.common import (
    add_json,
    announce,
    complain,
    screen_options,
    show,
    show_json,
    tell,
)
from msdcomp.cli.here import add_host_version, add_roots, are_folders
from msdcomp.edge.files import FileFault
from msdcomp.edge.lifecycle.applying import Done, apply
from msdcomp.edge.lifecycle.planning import Prepared
from msdcomp.edge.lifecycle.reconciling import reconcile
from msdcomp.edge.lifecycle.site import Site, find_site
from msdcomp.edge.roots import Places, find_places
from msdcomp.plan import Block, Plan
from msdcomp.present.page import Screen
from msdcomp.present.plan import block_wire, plan_wire, render_blocks, render_plan
from msdcomp.safetext import safe
from msdcomp.scope import Scope
from msdcomp.semver import core

__all__ = [
    "Report",
    "add_scope",
    "add_what",
    "add_yes",
    "carry_out",
    "find_here",
    "find_home_here",
    "finish",
    "not_installed",
    "print_report",
    "refused",
    "report_done",
    "settle_first",
    "show_before",
    "show_first",
    "site_of",
]

#: One result as JSON data.
Report = dict[str, Any]

_DONE = {
    "install": "installed",
    "upgrade": "upgraded",
    "remove": "removed",
    "none": "unchanged",
}


def add_scope(parser: argparse.ArgumentParser, default: str) -> None:
    """Add `--scope`; `default` says what counts without it."""
    parser.add_argument(
        "--scope",
        choices=[scope.value for scope in Scope],
        help=f"where it is installed (default: {default})",
    )


def add_yes(parser: argparse.ArgumentParser) -> None:
    """Add `--yes`."""
    parser.add_argument(
        "--yes",
        action="store_true",
        help="agree without being asked, after it is shown",
    )


def add_what(parser: argparse.ArgumentParser) -> None:
    """Add the options of every verb that changes something."""
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="show what would be done, and do nothing",
    )
    add_roots(parser)
    add_host_version(parser, "it must fit")
    add_json(parser)


def find_here(options: argparse.Namespace) -> Places | None:
    """Return where the options say to work and for which host, or complain."""
    if core(options.host_version) is None:
        complain(f"--host-version: {safe(options.host_version)} is no version")
        return None
    return find_home_here(options)


def find_home_here(options: argparse.Namespace) -> Places | None:
    """Return where the options say to work, or complain and return None."""
    if not are_folders(options):
        return None
    places = find_places(None, options.home, options.project)
    if places.home is None:
        complain("there is no home; name one with --home")
        return None
    return places


def site_of(places: Places, scope: str, host_version: str) -> Site | None:
    """Return where a scope installs, or complain and return None."""
    site = find_site(places, scope, host_version)
    if isinstance(site, FileFault):
        complain(site.reason)
        return None
    return site


def settle_first(site: Site) -> None:
    """Finish or undo what an earlier command has left, and say what was done."""
    found = reconcile(site)
    if isinstance(found, FileFault):
        return  # the plan says so, with more about it
    for name, what in (*found.done, *found.left):
        tell(f"msd: {safe(name)}: {safe(what)}")


def carry_out(
    prepared: Prepared, options: argparse.Namespace, *, agreed: bool
) -> tuple[int, Report]:
    """Show a plan, ask where it says so, and carry it out.

    Args:
        prepared: The plan.
        options: Those of the verb.
        agreed: Whether the user has agreed beforehand.

    Returns:
        The exit code, and what came of it as JSON data.
    """
    stopped = show_first(prepared.plan, options)
    if stopped is not None:
        return stopped
    plan = prepared.plan
    # Where a program reads, nobody has seen what the question would be about.
    may_ask = not options.json
    if plan.asks and not (agreed or (may_ask and agrees(_question(plan)))):
        complain(
            f"{safe(plan.capability_id)}: not agreed to; say --yes to agree where "
            "nobody is asked"
        )
        return 1, {"status": "declined", "plan": plan_wire(plan)}
    return finish(prepared, options, _acceptor(plan, agreed=agreed))


def show_first(plan: Plan, options: argparse.Namespace) -> tuple[int, Report] | None:
    """Show a plan; return what there is to report where that is all."""
    if not options.json:
        show_before(render_plan(plan, Screen(**screen_options())), options)
    if plan.blocks:
        blocks = [block_wire(block) for block in plan.blocks]
        return 1, {"status": "blocked", "plan": plan_wire(plan), "blocks": blocks}
    if options.dry_run:
        return 0, {"status": "planned", "plan": plan_wire(plan)}
    return None


def show_before(text: str, options: argparse.Namespace) -> None:
    """Show what is before the change that it is about, if there is to be one."""
    (show if options.dry_run else announce)(text)


def finish(
    prepared: Prepared, options: argparse.Namespace, accepts: Callable[[Plan], bool]
) -> tuple[int, Report]:
    """Carry a plan out, and say what came of it."""
    done = apply(prepared, accepts=accepts)
    if isinstance(done, Done):
        return report_done(done, prepared.plan, options)
    if not options.json:
        tell(render_blocks(done, Screen()).rstrip())
    blocks = [block_wire(block) for block in done]
    return 1, {
        "status": "blocked",
        "plan": plan_wire(prepared.plan),
        "blocks": blocks,
    }


def report_done(
    done: Done, shown: Plan, options: argparse.Namespace
) -> tuple[int, Report]:
    """Say what was done, beside the plan that was shown."""
    status = _DONE[done.plan.action]
    for note in done.notes:
        tell(f"msd: {safe(note, 600)}")
    if not options.json:
        with contextlib.suppress(BrokenPipeError):  # it is done, and there may be more
            show(f"{_result(done.plan, status)}\n")
    return 0, {"status": status, "plan": plan_wire(shown), "notes": list(done.notes)}


def _question(plan: Plan) -> str:
    name = f"{safe(plan.capability_id)} {plan.version}"
    return f"Agree to {name} as shown, and {plan.action} it ({plan.scope})?"


def _acceptor(plan: Plan, *, agreed: bool) -> Callable[[Plan], bool]:
    """Return what answers for the user when the world has moved.

    Whoever said yes beforehand said it to the content, which is the same. Who was
    asked has seen the plan, so one that reads otherwise needs another question.
    """

    def accepts(now: Plan) -> bool:
        return now == plan or (agreed and now.disclosure == plan.disclosure)

    return accepts


def _result(plan: Plan, status: str) -> str:
    name = safe(plan.capability_id)
    if status == "unchanged":
        return f"{name} {plan.version} is installed already, exactly so"
    version = f" {plan.version}" if plan.version else ""
    if status == "upgraded" and plan.version == plan.version_before:
        status = "installed again"
    return f"{name}{version} {status} ({plan.scope})"


def refused(blocks: Sequence[Block], options: argparse.Namespace) -> tuple[int, Report]:
    """Say why there is not even a plan."""
    if not options.json:
        show_before(render_blocks(blocks, Screen(**screen_options())), options)
    return 1, {"status": "blocked", "blocks": [block_wire(block) for block in blocks]}


def not_installed(name: str, options: argparse.Namespace) -> int:
    """Say that nothing of a name is installed, and return the exit code."""
    reason = f"{safe(name)} is not installed here"
    complain(reason)
    blocks = [block_wire(Block("not-installed", reason))]
    print_report({"status": "blocked", "blocks": blocks}, as_json=options.json)
    return 1


def print_report(report: object, *, as_json: bool) -> None:
    """Print results for a program; whether it reads them changes no exit code."""
    if as_json:
        with contextlib.suppress(BrokenPipeError):
            show_json(report)

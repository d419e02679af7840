"""`msd validate PATH...`: check manifests, and say where and how to mend each fault."""

from __future__ import annotations

import argparse
import contextlib

from msdcomp.cli.common import (
    add_contract,
    add_json,
    complain,
    screen_options,
    show,
    show_json,
)
from msdcomp.cli.progress import progress
from msdcomp.diagnostics import Problem, Severity
from msdcomp.edge.inspect import find_manifests, is_absent
from msdcomp.edge.validating import MAX_JOBS, LostWorkersError, validate_all
from msdcomp.safetext import safe
from msdcomp.wireform import problem_wire

__all__ = ["configure", "run"]


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        help="a manifest, the folder of a capability, or a folder of such folders",
    )
    parser.add_argument(
        "--strict", action="store_true", help="let warnings count as errors"
    )
    parser.add_argument(
        "--first-party",
        action="store_true",
        help="allow the id prefixes that are kept for the host's own capabilities",
    )
    parser.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=_jobs,
        help="processes that share the work; 1 for none beside this one (default: as "
        "many as there are processors, and 1 when there are few manifests)",
    )
    add_contract(parser)
    add_json(parser)


def _jobs(text: str) -> int:
    # `int` would take signs, spaces, underscores and the digits of every script.
    if text.isascii() and text.isdigit() and 1 <= int(text[:5]) <= MAX_JOBS:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"expected a whole number from 1 to {MAX_JOBS}, got {text}"
    )


def run(options: argparse.Namespace) -> int:
    """Check every manifest; 1 when one has an error."""
    absent = [path for path in options.paths if is_absent(path)]
    for path in absent:
        complain(f"there is no {safe(path)}")
    if absent:
        return 2
    contract = None
    if options.host_contract is not None:
        # Imported here because hardly any host has a contract of its own.
        from msdcomp.cli.contract import asked_contract  # noqa: PLC0415

        contract = asked_contract(options.host_contract)
        if contract is None:
            return 2
    files = (file for path in options.paths for file in find_manifests(path))
    verdicts = validate_all(
        files, jobs=options.jobs, first_party=options.first_party, contract=contract
    )
    problems: list[Problem] = []
    checked = 0
    try:
        # Closed before anything is said: an interrupt must not leave workers behind.
        with progress("checking manifests") as tell, contextlib.closing(verdicts):
            for found in verdicts:
                problems += found
                checked += 1
                if tell is not None:
                    tell(checked, None)
    except LostWorkersError:
        complain(
            "a worker process ended before its work was done, killed or out of memory;"
            " with --jobs 1 there is none"
        )
        return 2
    failed = any(
        options.strict or problem.severity is Severity.ERROR for problem in problems
    )
    if options.json:
        show_json(
            {
                "checked": checked,
                "valid": not failed,
                "problems": [problem_wire(problem) for problem in problems],
            }
        )
    else:
        # Imported here because a program that reads JSON needs no styled text.
        from msdcomp.present.page import Screen  # noqa: PLC0415
        from msdcomp.present.problems import render_problems  # noqa: PLC0415

        screen = Screen(**screen_options())
        show(render_problems(problems, checked, screen, strict=options.strict))
    if not checked:
        complain("no capability.json below the folders given")
        return 2
    return 1 if failed else 0

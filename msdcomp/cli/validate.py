"""`msd validate PATH...`: check manifests, and say where and how to mend each fault."""

from __future__ import annotations

import argparse

from msdcomp.cli.common import (
    add_json,
    complain,
    screen_options,
    show,
    show_json,
)
from msdcomp.diagnostics import Severity
from msdcomp.edge.inspect import find_manifests, is_absent, read_manifest
from msdcomp.host import HostContract
from msdcomp.present.page import Screen
from msdcomp.present.problems import render_problems
from msdcomp.safetext import safe
from msdcomp.validation import validate
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
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    """Check every manifest; 1 when one has an error."""
    absent = [path for path in options.paths if is_absent(path)]
    for path in absent:
        complain(f"there is no {safe(path)}")
    if absent:
        return 2
    contract = HostContract()
    files = [file for path in options.paths for file in find_manifests(path)]
    problems = [
        problem
        for file in files
        for problem in validate(
            read_manifest(file),
            contract,
            first_party=options.first_party,
            file=file,
        )
    ]
    failed = any(
        options.strict or problem.severity is Severity.ERROR for problem in problems
    )
    if options.json:
        show_json(
            {
                "checked": len(files),
                "valid": not failed,
                "problems": [problem_wire(problem) for problem in problems],
            }
        )
    else:
        screen = Screen(**screen_options())
        show(render_problems(problems, len(files), screen, strict=options.strict))
    if not files:
        complain("no capability.json below the folders given")
        return 2
    return 1 if failed else 0

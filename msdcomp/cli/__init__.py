"""The command line: arguments to options, options to the edge, records to text.

One module a verb, imported only when that verb is asked for: a workflow runs
`msd loop render-hooks` at every point of its loop and should not pay for the rest.

Exit codes: 0 fine, 1 problems found, 2 usage or environment.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from collections.abc import Sequence
from typing import Protocol

from msdcomp.cli.common import LostOutputError, Parser, complain, settle, show

__all__ = ["main"]

#: Verb -> one line about it. Each is a module of this package.
VERBS = {
    "validate": "check manifests, and say where and how to mend each fault",
    "compose": "compose the registry here, and say what was left out and why",
    "explain": "tell what became of one capability, gate by gate",
    "capability": "list, install, update, remove and agree to capabilities",
    "surface": "choose what a host shows, and see what decides about it",
    "config": "read and change the configuration of a project, key by key",
    "diff": "compare two compositions that were saved",
    "check": "tell whether the condition of a gate holds",
    "loop": "show what is dispatched at a point of the loop",
    "build": "make the snapshot of the shipped capabilities",
}

OK, PROBLEMS, USAGE = 0, 1, 2


class _Verb(Protocol):
    def configure(self, parser: argparse.ArgumentParser) -> None: ...

    def run(self, options: argparse.Namespace) -> int: ...


def _top() -> Parser:
    width = max(map(len, VERBS))
    listing = "\n".join(f"  {verb:{width}}  {line}" for verb, line in VERBS.items())
    parser = Parser(
        prog="msd",
        usage="msd [--version] [--help] VERB ...",
        description="Compose MSD capabilities: what is in, what was left out, why, "
        "and which gate is therefore not enforced.",
        epilog=f"verbs:\n{listing}\n\n`msd VERB --help` tells more.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="store_true", help="print the versions")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    Args:
        arguments: Without the program's name; by default those of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        # Text of any origin must reach a terminal of any encoding.
        if reconfigure := getattr(stream, "reconfigure", None):
            with contextlib.suppress(OSError, ValueError):  # full or closed
                reconfigure(errors="backslashreplace")
    try:
        return _run(given)
    except SystemExit as stop:  # argparse: help was asked for, or the usage is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    except BrokenPipeError:  # the reader has seen enough
        return OK
    except LostOutputError as error:
        complain(str(error))
        return USAGE
    except KeyboardInterrupt:
        return 130
    finally:
        for stream in (sys.stdout, sys.stderr):
            settle(stream)


def _run(given: list[str]) -> int:
    if not given or given[0].startswith("-"):
        parser = _top()
        options = parser.parse_args(given)
        if options.version:
            return _version()
        parser.print_help()
        return OK if given else USAGE
    verb, rest = given[0], given[1:]
    if verb not in VERBS:
        import difflib  # noqa: PLC0415 - only for the slip

        close = difflib.get_close_matches(verb, VERBS, 1)
        meant = f"; did you mean {close[0]}?" if close else ""
        _top().error(f"unknown verb{meant} (verbs: {', '.join(VERBS)})")
    module: _Verb = importlib.import_module(f"msdcomp.cli.{verb}")
    own = Parser(prog=f"msd {verb}", description=f"{VERBS[verb]}.", allow_abbrev=False)
    module.configure(own)
    return module.run(own.parse_args(rest))


def _version() -> int:
    from msdcomp._version import (  # noqa: PLC0415 - see the module
        DEFAULT_HOST_VERSION,
        __version__,
    )

    show(f"msdcomp {__version__} (capabilities of MSD {DEFAULT_HOST_VERSION})\n")
    return OK

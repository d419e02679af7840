"""`msd check predicate`: whether the condition of a gate holds here.

For hosts. What a `command-exit-zero` predicate names is run, since that is what was
asked for: the host passes on only what a composed capability declares.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msdcomp.cli.common import add_json, show, show_json
from msdcomp.cli.here import Here, add_config, add_places, are_folders, here
from msdcomp.edge.predicates import Phase, evaluate
from msdcomp.edge.roots import find_home, find_project
from msdcomp.predicate import (
    Answer,
    ConfigEquals,
    Reading,
    Result,
    could_not_check,
    read_predicate,
)
from msdcomp.safetext import safe

if TYPE_CHECKING:
    from msdcomp.configlayers import Effective
    from msdcomp.diagnostics import Problem

__all__ = ["configure", "run"]

#: What a host sends to a command that it no longer waits for.
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: What a process that was ended by a signal is said to return.
_ENDED_BY = 128


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the verb."""
    verbs = parser.add_subparsers(
        dest="verb", required=True, metavar="VERB", prog=parser.prog
    )
    predicate = verbs.add_parser(
        "predicate",
        help="tell whether a gate's predicate holds",
        description="Tell whether a gate's predicate holds: pass, fail, or could not "
        "check. A predicate of the kind command-exit-zero runs its command.",
        allow_abbrev=False,
    )
    predicate.add_argument(
        "--predicate",
        metavar="JSON",
        required=True,
        help="the predicate, as the gate declares it",
    )
    predicate.add_argument(
        "--phase-dir",
        metavar="DIR",
        default="",
        help="folder of the phase, from the project (default: the project itself)",
    )
    predicate.add_argument(
        "--phase-number", metavar="N", default="", help="number of the phase"
    )
    predicate.add_argument(
        "--phase-req-ids",
        metavar="IDS",
        default="",
        help="ids of its requirements",
    )
    add_config(predicate)
    add_places(predicate)
    add_json(predicate)


def run(options: argparse.Namespace) -> int:
    """Print the answer; exit 0 when there is one, 1 when it could not be checked."""
    if not are_folders(options):
        return 2
    reading = read_predicate(options.predicate)
    if reading.predicate is None:
        return _print(options, _unreadable(reading))
    found: Here | None = None
    if isinstance(reading.predicate, ConfigEquals):
        # Only a configuration key has a default that a capability declares.
        found = here(options)
        if found is None:
            return 2
        project = found.places.project
    else:
        home = find_home(options.home)
        project, _ = find_project(None, home, options.project)
    phase = Phase(
        project=project,
        folder=options.phase_dir,
        number=options.phase_number,
        requirements=options.phase_req_ids,
    )

    def lookup(key: str) -> Effective:
        from msdcomp.configlayers import lookup  # noqa: PLC0415 - asked for one kind

        assert found is not None  # noqa: S101 - composed for the one kind that asks
        layers = found.layers(options.config)
        return lookup(key, layers, found.composition.registry.config_schema)

    with _signals() as received:
        # A list is true as soon as there is one.
        answer = evaluate(reading.predicate, phase, lookup, lambda: received)
    if received:
        return _ENDED_BY + received[0]
    return _print(options, answer)


@contextlib.contextmanager
def _signals() -> Iterator[list[int]]:
    """Keep the signals that would end this process, so that the command ends first.

    It is in a session of its own: a host that gives up would leave it behind. A signal
    that is ignored, as by `nohup`, would end nothing and stays ignored.
    """
    received: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield received  # signals are no concern of another thread
        return
    before = {
        number: signal.signal(number, lambda number, _: received.append(number))
        for number in _ENDING
        if signal.getsignal(number) not in {signal.SIG_IGN, None}
    }
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _unreadable(reading: Reading) -> Answer:
    first, more = reading.faults[0], len(reading.faults) - 1
    rest = f" (and {more} more)" if more else ""
    return could_not_check(
        reading.kind,
        f"could not read the predicate: {safe(first.message)}{rest}",
        problems=[_wire(problem) for problem in reading.faults],
    )


def _wire(problem: Problem) -> dict[str, object]:
    return {
        "code": problem.code,
        "path": problem.path,
        "message": problem.message,
        "hint": problem.hint,
        "line": problem.line,
        "column": problem.column,
    }


def _print(options: argparse.Namespace, answer: Answer) -> int:
    if options.json:
        show_json(answer.to_wire())
    else:
        show(f"{answer.result}: {safe(answer.message, 1000)}\n")
    return 1 if answer.result is Result.COULD_NOT_CHECK else 0

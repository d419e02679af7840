"""How time is taken: the sides of a ratio in turn, in one run.

A machine's speed cancels out of a ratio, and what else it does at the moment does so
too when the sides take turns: A B A B, and not all of A first. Each turn gives one
ratio. What is quoted is their median; the smallest and the largest stand beside it.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import attrs

__all__ = ["Ratio", "environment", "in_turn", "process", "seconds", "table", "without"]

#: A clock counts seconds. `time.process_time` counts what this process was given, so
#: that its neighbours on the machine do not count; `time.perf_counter` counts all.
Clock = Callable[[], float]


@attrs.frozen(kw_only=True)
class Ratio:
    """One line of a table.

    Attributes:
        name: What is measured, and against what.
        values: One value a turn, in the order of measuring.
        budget: Its bound; None when the value is shown for comparison only.
        least: The budget is a lower bound.
        unit: What a value counts; a ratio counts nothing.
        unfinished: One side was stopped, so the true ratio is at least this one.
    """

    name: str
    values: tuple[float, ...]
    budget: float | None = None
    least: bool = False
    unit: str = ""
    unfinished: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        above: Sequence[float],
        below: Sequence[float],
        budget: float | None = None,
        *,
        least: bool = False,
    ) -> Ratio:
        """Return the ratio of two sides that were timed in turn."""
        values = tuple(a / b for a, b in zip(above, below, strict=True))
        return cls(name=name, values=values, budget=budget, least=least)

    @property
    def median(self) -> float:
        """The value that is quoted."""
        return statistics.median(self.values)

    @property
    def held(self) -> bool | None:
        """Whether the median keeps within the budget; None when that is not known."""
        if self.budget is None:
            return None
        if self.least:
            enough = self.median >= self.budget
            return enough if enough or not self.unfinished else None
        return self.median <= self.budget

    def cells(self) -> tuple[str, str, str, str, str]:
        """Return name, median, range, budget and verdict as text."""
        unit = f" {self.unit}" if self.unit else ""
        bound = "at least" if self.least else "at most"
        return (
            self.name,
            f"{'over ' if self.unfinished else ''}{_number(self.median)}{unit}",
            f"{_number(min(self.values))} to {_number(max(self.values))}",
            "" if self.budget is None else f"{bound} {_number(self.budget)}{unit}",
            {None: "", True: "held", False: "NOT held"}[self.held],
        )

    def wire(self) -> dict[str, object]:
        """Return it for a JSON file."""
        return {
            "name": self.name,
            "median": self.median,
            "min": min(self.values),
            "max": max(self.values),
            "values": list(self.values),
            "budget": self.budget,
            "bound": "least" if self.least else "most",
            "unit": self.unit,
            "unfinished": self.unfinished,
            "held": self.held,
        }


def _number(value: float) -> str:
    """Write three digits that count."""
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    digits = 1 if value >= 10 else 2 if value >= 0.1 else 4
    return f"{value:.{digits}f}"


def table(ratios: Sequence[Ratio], *, markdown: bool = False) -> str:
    """Return a table of ratios, as text in columns or as markdown."""
    head = ("measured", "median", "range", "budget", "")
    rows = [head, *(ratio.cells() for ratio in ratios)]
    if markdown:
        rows.insert(1, ("---", "---:", "---:", "---:", "---"))
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if 0 < place < 4 else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def seconds(work: Callable[[], object], clock: Clock = time.process_time) -> float:
    """Return the time of a piece of work; what it returns is dropped after the clock.

    What an earlier piece left for the garbage collector is collected first. Nothing is
    frozen: what a work makes has to age as it does in a program.
    """
    gc.collect()
    start = clock()
    result = work()
    took = clock() - start
    del result
    return took


def in_turn(
    *works: Callable[[], object], rounds: int, clock: Clock = time.process_time
) -> list[list[float]]:
    """Time pieces of work in turn, after one round that does not count.

    Returns:
        For each piece of work the time of each round.
    """
    for work in works:
        work()
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, kept in zip(works, times, strict=True):
            kept.append(seconds(work, clock))
    return times


def environment(**changed: str) -> dict[str, str]:
    """Return the environment for a process that is timed.

    Compiled modules may be kept, as they are wherever the package is installed.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONDONTWRITEBYTECODE", "MSD_NO_CACHE", "MSD_HOME"}
    }
    return {**kept, **changed}


def process(
    command: Sequence[str],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout_s: float | None = None,
) -> Callable[[], None]:
    """Return the work of running a whole process; time it with `time.perf_counter`."""

    def run() -> None:
        subprocess.run(
            command,
            cwd=cwd,
            env=environment() if env is None else env,
            timeout=timeout_s,
            capture_output=True,
            check=True,
        )

    return run


@contextmanager
def without(name: str, value: str | None = None) -> Iterator[None]:
    """Have a variable unset, or set to `value`, for a while."""
    before = os.environ.pop(name, None)
    if value is not None:
        os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before

"""Prints the ratios that the documentation quotes, all measured in this one run.

    python benchmarks/ratios.py [--json FILE]

Times are medians of several rounds. Only ratios are printed as claims: a machine's
speed cancels out of them.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from overlays import install, manifests

from msdcomp import Candidate, compose, load_registry
from msdcomp.edge.snapshot import read_snapshot

SMALL, LARGE = 1_000, 10_000


def seconds(
    work: Callable[[], object],
    rounds: int = 3,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Return the median time of a piece of work, after one round that is not timed.

    The time this process was given, by default: what else the machine does cancels out
    of a ratio only when it does the same all the time.
    """
    work()
    times = []
    for _ in range(rounds):
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)


def compose_seconds(count: int) -> float:
    given = [Candidate.read(text, folder) for folder, text in manifests(count)]
    base = read_snapshot()
    return seconds(lambda: compose(base, given))


def floor_seconds(home: Path) -> float:
    """Return the time of reading and parsing the same files, and nothing else."""
    root = home / ".msd" / "capabilities"

    def work() -> None:
        for folder in sorted(root.iterdir()):
            orjson.loads((folder / "capability.json").read_bytes())

    return seconds(work)


def process_seconds(*command: str) -> float:
    """Return the time of a whole process."""
    return seconds(
        lambda: subprocess.run(command, capture_output=True, check=True),
        rounds=9,
        clock=time.perf_counter,
    )


def measure(folder: Path) -> dict[str, float]:
    """Return every ratio, and the peak memory in MiB."""
    empty, few, many = folder / "empty", folder / "few", folder / "many"
    empty.mkdir()
    install(few, 10)
    install(many, LARGE)
    imports = process_seconds(
        sys.executable, "-c", "import attrs, cattrs, pyrsistent, toolz"
    )

    def command(home: Path) -> float:
        hooks = ("-m", "msdcomp", "loop", "render-hooks", "plan:pre")
        places = ("--home", str(home), "--project", str(empty))
        return process_seconds(sys.executable, *hooks, *places) / imports

    ratios = {
        "compose, ten times the overlays": compose_seconds(LARGE)
        / compose_seconds(SMALL),
        "load 10,000 overlays, against reading and parsing the files": seconds(
            lambda: load_registry(home=many, project=empty)
        )
        / floor_seconds(many),
        "render-hooks without overlays, against bare imports": command(empty),
        "render-hooks with 10 overlays, against bare imports": command(few),
    }
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {**ratios, "peak memory, MiB": peak}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Print the ratios that are claimed.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write them there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ratios = measure(Path(folder))
    for name, value in ratios.items():
        print(f"{value:8.2f}  {name}")
    if options.json:
        options.json.write_text(json.dumps(ratios, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()

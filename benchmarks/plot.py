"""Draws time against size, log-log: docs/explanation/images/scaling.svg.

    python benchmarks/plot.py [--output FILE] [--json FILE]

`--json` keeps the times, or, with `--from`, draws the ones of an earlier run. The same
times give the same file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import matplotlib as mpl
from overlays import candidates, install, overlays
from ratios import floor, load
from timing import in_turn

from msdcomp import build, compose, decode_manifest
from msdcomp.edge.snapshot import read_snapshot

__all__ = ["draw", "main", "measure"]

SIZES = (10, 30, 100, 300, 1_000, 3_000, 10_000)

#: Label, colour and dash of each line, from top to bottom as they mostly lie.
LINES = {
    "load, without a cache": ("#b2182b", "-"),
    "load, cache warm": ("#ef8a62", "-"),
    "decode": ("#762a83", "--"),
    "compose": ("#2166ac", "-"),
    "build": ("#67a9cf", "--"),
    "read and parse": ("#4d4d4d", ":"),
}

OUTPUT = Path(__file__).parent.parent / "docs/explanation/images/scaling.svg"


def measure() -> dict[str, dict[int, float]]:
    """Return label -> size -> median time in seconds."""
    found: dict[str, dict[int, float]] = {label: {} for label in LINES}
    with tempfile.TemporaryDirectory() as folder:
        for count in SIZES:
            for label, median in _medians(count, Path(folder)).items():
                found[label][count] = median
    return found


def _medians(count: int, folder: Path) -> dict[str, float]:
    base, given = read_snapshot(), candidates(count)
    entries = compose(base, given).registry.entries()
    texts = list(overlays(count))
    home, project = folder / f"home-{count}", folder / "project"
    project.mkdir(exist_ok=True)
    install(home, count)
    works: dict[str, Callable[[], object]] = {
        "load, without a cache": load(home, project, count, cache=False),
        "load, cache warm": load(home, project, count, cache=True),
        "decode": lambda: [decode_manifest(o.manifest, o.folder) for o in texts],
        "compose": lambda: compose(base, given),
        "build": lambda: build(entries),
        "read and parse": floor(home),
    }
    rounds = 3 if count >= 3_000 else 7
    times = in_turn(*works.values(), rounds=rounds)
    return {
        label: statistics.median(taken)
        for label, taken in zip(works, times, strict=True)
    }


def draw(found: Mapping[str, Mapping[int, float]], path: Path) -> None:
    """Write the plot; nothing in the file depends on when it was drawn."""
    mpl.use("svg")
    mpl.rcParams.update(
        {
            "svg.hashsalt": "msdcomp",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    from matplotlib import pyplot as plt  # noqa: PLC0415 - after the settings

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    for label, (colour, dash) in LINES.items():
        times = found[label]
        axes.loglog(
            list(times),
            list(times.values()),
            dash,
            color=colour,
            marker="o",
            markersize=4,
            label=label,
        )
    largest = max(found["read and parse"])
    smallest = min(found["read and parse"])
    start = min(found["compose"].values()) / 4
    axes.loglog(
        [smallest, largest],
        [start, start * largest / smallest],
        color="#cccccc",
        linewidth=1,
        zorder=0,
        label="proportional to size",
    )
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda size, _: f"{size:,.0f}")
    axes.yaxis.set_major_formatter(lambda time, _: f"{time:g}")
    axes.set_xlabel("overlays")
    axes.set_ylabel("seconds")
    axes.grid(visible=True, which="major", color="#eeeeee")
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    _tidy(path)


def _tidy(path: Path) -> None:
    """Leave no blanks at the ends of lines, which other tools would take away."""
    lines = path.read_text(encoding="utf-8").splitlines()
    text = "\n".join(line.rstrip() for line in lines) + "\n"
    path.write_text(text, encoding="utf-8")


def main() -> None:
    """Measure, or read what was measured, and draw."""
    parser = argparse.ArgumentParser(description="Draw time against size.")
    parser.add_argument("--output", metavar="FILE", type=Path, default=OUTPUT)
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="keep the times there"
    )
    parser.add_argument(
        "--from", metavar="FILE", type=Path, dest="source", help="draw these times"
    )
    options = parser.parse_args()
    if options.source:
        kept = json.loads(options.source.read_text(encoding="utf-8"))
        found = {
            label: {int(size): time for size, time in times.items()}
            for label, times in kept.items()
        }
    else:
        found = measure()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(found, indent=2) + "\n"
        options.json.write_text(text, encoding="utf-8")
    draw(found, options.output)


if __name__ == "__main__":
    main()

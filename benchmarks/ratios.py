"""Prints the ratios that the documentation quotes, all measured in this one run.

    python benchmarks/ratios.py [--json FILE] [--markdown] [--only WORD]

The two sides of a ratio are timed in turn. Work inside a process is counted in the time
that the process was given, whole processes in the time that passed.
Source: docs/explanation/performance.md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import attrs
import orjson
from overlays import candidates, install, overlays
from timing import Ratio, environment, in_turn, process, table, without

import msdcomp
from msdcomp import Candidate, compose, load_registry
from msdcomp.edge.snapshot import read_snapshot
from msdcomp.manifest import CapabilityId

__all__ = ["first_load", "floor", "load", "load_after_change", "main", "measure"]

SMALL, LARGE = 1_000, 10_000

#: What a process of its own runs to tell its peak of memory, in KiB. Not
#: `ru_maxrss` where it can be helped: on Linux a process inherits that from its parent.
_PEAK = """
import pathlib, resource, sys
import msdcomp
composition = msdcomp.load_registry(home=sys.argv[1], project=sys.argv[2])
assert len(composition.accepted) == int(sys.argv[3])
status = pathlib.Path("/proc/self/status")
if status.exists():
    lines = status.read_text().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")))
else:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""

_IMPORTS = (sys.executable, "-c", "import attrs, cattrs, pyrsistent, toolz")


@attrs.frozen(kw_only=True)
class Places:
    """Folders that are made once: a home with many overlays, few, none."""

    many: Path
    few: Path
    empty: Path

    @classmethod
    def below(cls, folder: Path) -> Places:
        """Write all sets below a folder."""
        places = cls(many=folder / "many", few=folder / "few", empty=folder / "empty")
        places.empty.mkdir()
        install(places.few, 10)
        install(places.many, LARGE)
        return places


def floor(home: Path) -> Callable[[], None]:
    """Return the work of reading and parsing the files of a home, no more.

    Where they are is known before, so nothing is listed.
    """
    root = home / ".msd" / "capabilities"
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    manifests = [path for path in files if path.name == "capability.json"]
    others = [path for path in files if path.name != "capability.json"]

    def work() -> None:
        for path in manifests:
            orjson.loads(path.read_bytes())
        for path in others:
            path.read_bytes()

    return work


def load(home: Path, project: Path, count: int, *, cache: bool) -> Callable[[], None]:
    """Return the work of loading everything below a home, and of looking that it is."""

    def work() -> None:
        with without("MSD_NO_CACHE", None if cache else "1"):
            composition = load_registry(home=home, project=project)
        assert len(composition.accepted) == count

    return work


def first_load(home: Path, project: Path, count: int) -> Callable[[], None]:
    """Return the work of loading when the cache is empty, and filling it."""
    cache = home / ".msd" / "cache"
    again = load(home, project, count, cache=True)
    old = itertools.count()

    def work() -> None:
        if cache.exists():  # moving it away is cheaper than deleting it
            cache.rename(home / f"cache-{next(old)}")
        again()

    return work


def load_after_change(home: Path, project: Path, count: int) -> Callable[[], None]:
    """Return the work of loading when one manifest was rewritten since."""
    path = home / ".msd" / "capabilities" / f"cap-{count // 2:05d}" / "capability.json"
    text = path.read_text(encoding="utf-8")
    turns = itertools.count()

    def work() -> None:
        said = f"Capability {next(turns)} rewritten"
        path.write_text(text.replace(f"Capability {count // 2}", said), "utf-8")
        with without("MSD_NO_CACHE"):
            registry = load_registry(home=home, project=project).registry
        assert registry.capabilities[CapabilityId(path.parent.name)].title == said

    return work


def command(*places: str) -> list[str]:
    """Return the command line of the loop, as it is installed beside this Python."""
    msd = shutil.which("msd", path=str(Path(sys.executable).parent))
    start = [msd] if msd else [sys.executable, "-m", "msdcomp"]
    return [*start, "loop", "render-hooks", "plan:pre", *places]


def growth(_: Places) -> Iterator[Ratio]:
    base = read_snapshot()
    few, many = candidates(SMALL), candidates(LARGE)
    above, below = in_turn(
        lambda: compose(base, many), lambda: compose(base, few), rounds=15
    )
    name = f"compose {LARGE:,} overlays, against {SMALL:,}"
    yield Ratio.of(name, above, below, 12)


def against_floor(places: Places) -> Iterator[Ratio]:
    home, project = places.many, places.empty
    first, warm, after, cold, least = in_turn(
        first_load(home, project, LARGE),
        load(home, project, LARGE, cache=True),
        load_after_change(home, project, LARGE),
        load(home, project, LARGE, cache=False),
        floor(home),
        rounds=5,
    )
    name = f"load {LARGE:,} overlays, {{}}, against reading and parsing their files"
    yield Ratio.of(name.format("cache warm"), warm, least, 4)
    yield Ratio.of(name.format("one changed, cache warm"), after, least)
    yield Ratio.of(name.format("cache empty and filled"), first, least)
    yield Ratio.of(name.format("without a cache"), cold, least)


def changed(given: Sequence[Candidate]) -> list[Candidate]:
    """Return a set in which the overlay in the middle was rewritten."""
    middle = len(given) // 2
    *_, one = overlays(middle + 1)
    text = one.manifest.replace(b"made-up capability", b"rewritten capability")
    assert text != one.manifest
    new = Candidate.read(text, one.folder, fragments=one.files)
    return [*given[:middle], new, *given[middle + 1 :]]


def one_change(_: Places) -> Iterator[Ratio]:
    recompose = getattr(msdcomp, "recompose", None)
    if recompose is None:
        return
    base, given = read_snapshot(), candidates(LARGE)
    new = changed(given)
    before = compose(base, given)
    assert recompose(before, new) == compose(base, new)
    again, whole = in_turn(
        lambda: recompose(before, new), lambda: compose(base, new), rounds=5
    )
    name = f"recompose after one change among {LARGE:,}, against composing all"
    yield Ratio.of(name, again, whole, 1 / 50)


def whole_command(places: Places) -> Iterator[Ratio]:
    def at(home: Path) -> Callable[[], None]:
        options = ("--home", str(home), "--project", str(places.empty))
        return process(command(*options), cwd=places.empty)

    imports = process(_IMPORTS, cwd=places.empty)
    few, none, bare = in_turn(
        at(places.few), at(places.empty), imports, rounds=21, clock=time.perf_counter
    )
    name = "render-hooks plan:pre, {} overlays, against bare imports"
    yield Ratio.of(name.format("10"), few, bare, 2)
    yield Ratio.of(name.format("no"), none, bare, 2)


def memory(places: Places) -> Iterator[Ratio]:
    run = (sys.executable, "-c", _PEAK, str(places.many), str(places.empty), str(LARGE))
    for name, env in (
        ("without a cache", environment(MSD_NO_CACHE="1")),
        ("cache warm", environment()),
    ):
        peaks = []
        for _ in range(3):
            told = subprocess.run(
                run, env=env, capture_output=True, check=True, text=True
            )
            peaks.append(int(told.stdout) / 1024)
        yield Ratio(
            name=f"peak memory of loading {LARGE:,} overlays, {name}",
            values=tuple(peaks),
            budget=400,
            unit="MiB",
        )


MEASURED: dict[str, Callable[[Places], Iterator[Ratio]]] = {
    "growth": growth,
    "load": against_floor,
    "recompose": one_change,
    "command": whole_command,
    "memory": memory,
}


def measure(names: Sequence[str]) -> list[Ratio]:
    """Return the ratios of these names, in the order of the table."""
    with tempfile.TemporaryDirectory() as folder:
        places = Places.below(Path(folder))
        return [ratio for name in names for ratio in MEASURED[name](places)]


def write_json(path: Path, ratios: Sequence[Ratio]) -> None:
    """Write ratios, and what they were measured with."""
    found = {
        "python": platform.python_version(),
        "msdcomp": msdcomp.__version__,
        "ratios": [ratio.wire() for ratio in ratios],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Print the ratios that are claimed.")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write them there")
    parser.add_argument("--markdown", action="store_true", help="print as markdown")
    parser.add_argument(
        "--only", choices=MEASURED, action="append", help="measure these alone"
    )
    options = parser.parse_args()
    ratios = measure(options.only or list(MEASURED))
    print(table(ratios, markdown=options.markdown))
    if options.json:
        write_json(options.json, ratios)


if __name__ == "__main__":
    main()

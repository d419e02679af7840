"""Compares loading, and the loop's command, with the reference implementation.

    python benchmarks/against_reference.py [--sizes 10,100,1000,3000]
        [--timeout SECONDS] [--package FILE] [--json FILE] [--markdown]

Needs Node, npm and access to the package, which npm fetches into a temporary folder
that is deleted at the end. The reference reads `.gsd` folders and `engines.gsd` where
this library reads `.msd` and `engines.msd`, so each set is written under both names.
Both load in a process that stays, in turn, and time that passes is counted; what each
accepted is compared, and every difference is told.

Exit code 2 when Node, npm or the package is missing.
"""

from __future__ import annotations

import argparse
import json
import select
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import attrs
from overlays import Host, overlays, write
from ratios import command, write_json
from timing import Ratio, environment, in_turn, process, seconds, table, without

from msdcomp import Composition, load_registry

PACKAGE = "@opengsd/gsd-core"
VERSION = "1.14.0"

#: Size -> how many times faster loading has to be.
BUDGETS = {1_000: 10.0, 3_000: 40.0}

MOST_ROUNDS = 5

#: A first round as short as this is repeated, and does not count itself.
SHORT_S = 5.0

#: Answers every line with how long one load took and what came of it.
_DRIVER = """
"use strict";
const [loader, gsdHome, cwd] = process.argv.slice(2);
const { loadRegistry } = require(loader);
const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", () => {
  const start = process.hrtime.bigint();
  const registry = loadRegistry({ includeInstalled: true, cwd, gsdHome });
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const warnings = (registry._overlay || {}).warnings || [];
  console.log(JSON.stringify({
    seconds,
    ids: Object.keys(registry.capabilities),
    warnings: warnings.map((warning) => [warning.id, warning.reason]),
  }));
});
"""


class MissingError(Exception):
    """What the comparison needs is not on this machine."""


class TooSlowError(Exception):
    """One load took longer than it may."""


@attrs.frozen(kw_only=True)
class Reference:
    """The unpacked package and the program that runs it."""

    node: str
    folder: Path

    @property
    def loader(self) -> Path:
        """The module that composes the registry."""
        return self.folder / "gsd-core" / "bin" / "lib" / "capability-loader.cjs"

    @property
    def tools(self) -> Path:
        """The command line."""
        return self.folder / "gsd-core" / "bin" / "gsd-tools.cjs"


def fetch(folder: Path, package: Path | None) -> Reference:
    """Unpack the package below a folder; npm fetches it unless it is at hand.

    Raises:
        MissingError: Node, npm or the package is not there.
    """
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None:
        raise MissingError("Node is not installed (no `node` on the path)")
    if package is None:
        if npm is None:
            raise MissingError("npm is not installed (no `npm` on the path)")
        wanted = f"{PACKAGE}@{VERSION}"
        done = subprocess.run(
            [npm, "pack", wanted, "--silent", "--pack-destination", str(folder)],
            cwd=folder,
            capture_output=True,
            check=False,
            text=True,
        )
        found = sorted(folder.glob("*.tgz"))
        if done.returncode or not found:
            lines = [line for line in done.stderr.splitlines() if line.strip()]
            why = lines[0] if lines else f"npm ended with {done.returncode}"
            raise MissingError(f"npm could not fetch {wanted}: {why}")
        package = found[0]
    with tarfile.open(package) as archive:
        archive.extractall(folder, filter="data")
    reference = Reference(node=node, folder=folder / "package")
    for path in (reference.loader, reference.tools):
        if not path.is_file():
            raise MissingError(f"the package holds no {path.relative_to(folder)}")
    return reference


@attrs.define
class Driver:
    """A process of Node that loads whenever it is asked to."""

    running: subprocess.Popen[bytes]
    timeout_s: float

    @classmethod
    def start(
        cls, reference: Reference, home: Path, project: Path, timeout_s: float
    ) -> Driver:
        """Start Node on a driver script in the folder of the package."""
        script = reference.folder.parent / "driver.cjs"
        script.write_text(_DRIVER, encoding="utf-8")
        places = (str(reference.loader), str(home), str(project))
        running = subprocess.Popen(
            [reference.node, str(script), *places],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment(HOME=str(project)),
        )
        return cls(running=running, timeout_s=timeout_s)

    def load(self) -> Mapping[str, Any]:
        """Load once.

        Raises:
            TooSlowError: It takes longer than the time limit.
        """
        asked, told = _pipes(self.running)
        asked.write(b"load\n")
        asked.flush()
        ready, _, _ = select.select([told], [], [], self.timeout_s)
        if not ready:
            raise TooSlowError
        answer: Mapping[str, Any] = json.loads(told.readline())
        return answer

    def stop(self) -> None:
        """End this very process."""
        self.running.kill()
        self.running.wait()
        for pipe in _pipes(self.running):
            pipe.close()


def _pipes(running: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert running.stdin is not None
    assert running.stdout is not None
    return running.stdin, running.stdout


def install(folder: Path, count: int) -> tuple[Path, Path]:
    """Write a set under both names, and return the two homes."""
    hosts: tuple[Host, Host] = ("msd", "gsd")
    homes = (folder / f"msd-{count}", folder / f"gsd-{count}")
    for host, home in zip(hosts, homes, strict=True):
        write(home, overlays(count, host=host), host)
    return homes


def loads(
    reference: Reference, folder: Path, count: int, timeout_s: float
) -> Iterator[Ratio]:
    """Time both loaders on one set, in turn, and compare what they accepted."""
    ours, theirs = install(folder, count)
    project = folder / "project"

    def load(value: str | None) -> Callable[[], Composition]:
        def work() -> Composition:
            with without("MSD_NO_CACHE", value):
                return load_registry(home=ours, project=project)

        return work

    cold, warm = load("1"), load(None)
    driver = Driver.start(reference, theirs, project, timeout_s)
    times: list[tuple[float, float, float]] = []
    unfinished = False
    try:
        composition, began = warm(), time.monotonic()
        answer = driver.load()
        _compare(count, composition, answer)
        first = answer["seconds"]
        if first > SHORT_S:
            times.append(_turn(cold, warm, first))
        while len(times) < MOST_ROUNDS and time.monotonic() - began < timeout_s:
            times.append(_turn(cold, warm, driver.load()["seconds"]))
    except TooSlowError:
        limit = f"did not load {count:,} overlays within {timeout_s:,.0f} s"
        print(f"The reference {limit}: the ratios are at least these.", flush=True)
        times.append(_turn(cold, warm, timeout_s))
        unfinished = True
    finally:
        driver.stop()
    without_cache, with_cache, reference_s = zip(*times, strict=True)
    budget = BUDGETS.get(count)
    name = f"load {count:,} overlays, {{}}: times faster than the reference"
    for how, taken in (("without a cache", without_cache), ("cache warm", with_cache)):
        found = Ratio.of(name.format(how), reference_s, taken, budget, least=True)
        yield attrs.evolve(found, unfinished=unfinished)


def _turn(
    cold: Callable[[], object], warm: Callable[[], object], reference_s: float
) -> tuple[float, float, float]:
    clock = time.perf_counter
    return seconds(cold, clock), seconds(warm, clock), reference_s


def _compare(count: int, composition: Composition, answer: Mapping[str, Any]) -> None:
    """Print what each accepted, and every difference."""
    ours = set(map(str, composition.accepted))
    theirs = {id_ for id_ in answer["ids"] if id_.startswith("cap-")}
    print(
        f"{count:,} overlays: {len(ours):,} accepted here, {len(theirs):,} accepted by "
        f"the reference, {len(ours ^ theirs):,} differences",
        flush=True,
    )
    reasons = dict(answer["warnings"])
    for id_ in sorted(ours ^ theirs)[:5]:
        why = reasons.get(id_) or composition.warnings.get(("global", id_))
        print(f"  {id_}: {why}")


def commands(reference: Reference, folder: Path) -> Iterator[Ratio]:
    """Time the two command lines on ten overlays, whole processes, in turn."""
    ours, theirs = install(folder, 10)
    project = folder / "project"
    env = environment(HOME=str(project), GSD_HOME=str(theirs))
    mine = command("--home", str(ours), "--project", str(project))
    other = [reference.node, str(reference.tools), "loop", "render-hooks", "plan:pre"]
    runs = ([*mine, "--json"], other)
    hooks = [_overlay_hooks(run, project, env) for run in runs]
    print(
        f"render-hooks plan:pre: {len(hooks[0])} hooks of overlays here, "
        f"{len(hooks[1])} in the reference, "
        f"{'the same' if sorted(hooks[0]) == sorted(hooks[1]) else 'NOT the same'}",
        flush=True,
    )
    above, below = in_turn(
        process(mine, cwd=project, env=env),
        process(other, cwd=project, env=env),
        rounds=15,
        clock=time.perf_counter,
    )
    name = "render-hooks plan:pre, 10 overlays, against the reference's command"
    yield Ratio.of(name, above, below, 0.4)


def _overlay_hooks(
    run: Sequence[str], project: Path, env: Mapping[str, str]
) -> list[tuple[str, str]]:
    done = subprocess.run(run, cwd=project, env=env, capture_output=True, check=True)
    envelope = json.loads(done.stdout)
    return [
        (hook["capId"], hook["kind"])
        for hook in envelope["activeHooks"]
        if hook["capId"].startswith("cap-")
    ]


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description="Compare with the reference.")
    parser.add_argument(
        "--sizes", default="10,100,1000,3000", help="numbers of overlays"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=300.0,
        metavar="SECONDS",
        help="most time for one size",
    )
    parser.add_argument("--package", type=Path, metavar="FILE", help="a packed package")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write ratios there")
    parser.add_argument("--markdown", action="store_true", help="print as markdown")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "project").mkdir()
        (folder / "reference").mkdir()
        try:
            reference = fetch(folder / "reference", options.package)
        except MissingError as missing:
            print(f"nothing to compare with: {missing}", file=sys.stderr)
            return 2
        ratios = [
            ratio
            for count in sizes
            for ratio in loads(reference, folder, count, options.timeout)
        ]
        (folder / "command").mkdir()
        (folder / "command" / "project").mkdir()
        ratios += commands(reference, folder / "command")
    print(table(ratios, markdown=options.markdown))
    if options.json:
        write_json(options.json, ratios)
    return 0


if __name__ == "__main__":
    sys.exit(main())

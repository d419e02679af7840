"""The line that says how far long work is: for a terminal only, and gone after."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest

from msdcomp.cli import progress as showing
from msdcomp.cli.progress import progress

from .conftest import EXAMPLES, Msd, feature, install

#: What a terminal is told to forget a line, and to show the cursor again.
CLEARED, CURSOR = "\x1b[2K", "\x1b[?25h"

EVIL = "\x1b[31mevil"


@attrs.define
class Terminal:
    """What reaches the terminal that stderr is; complete after its block."""

    seen: str = ""


@contextlib.contextmanager
def terminal(monkeypatch: pytest.MonkeyPatch, **settings: str) -> Iterator[Terminal]:
    """Let stderr be a terminal that shows whatever it is sent."""
    other, own = os.openpty()
    found = Terminal()
    with (
        os.fdopen(own, "w", encoding="ascii") as stream,
        monkeypatch.context() as patch,
    ):
        patch.delenv("NO_COLOR", raising=False)
        patch.setenv("TERM", "xterm")
        for name, value in settings.items():
            patch.setenv(name, value)
        patch.setattr("sys.stderr", stream)
        yield found
    found.seen = _all_of(other).decode()


def _all_of(descriptor: int) -> bytes:
    found = b""
    # Linux says EIO once the last writer is gone, others an empty read.
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        with contextlib.suppress(OSError):
            while more := stream.read(65536):
                found += more
        return found


def test_long_work_is_counted_and_the_line_is_gone_after(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        terminal(monkeypatch) as reader,
        progress("checking manifests", delay_s=0) as tell,
    ):
        assert tell is not None
        tell(1234, None)

    assert "checking manifests: 1,234, 0 s" in reader.seen
    assert reader.seen.endswith(CLEARED)
    assert CURSOR in reader.seen


def test_the_whole_is_told_when_it_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with terminal(monkeypatch) as reader, progress("x", delay_s=0) as tell:
        assert tell is not None
        tell(1234, 5000)

    assert "x: 1,234 of 5,000, 0 s" in reader.seen


def test_short_work_shows_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with terminal(monkeypatch) as reader, progress("x", delay_s=3600) as tell:
        assert tell is not None
        for number in range(100):
            tell(number, None)

    assert reader.seen == ""


def test_the_line_is_drawn_a_few_times_a_second(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = itertools.count(0, 0.01)
    clock = SimpleNamespace(monotonic=lambda: next(ticks))
    monkeypatch.setattr(showing, "time", clock)

    with terminal(monkeypatch) as reader, progress("x", delay_s=0.5) as tell:
        assert tell is not None
        for number in range(100):
            tell(number, None)

    shown = [number for number in range(100) if f"x: {number}, " in reader.seen]
    assert shown[0] >= 48
    assert 3 <= len(shown) <= 6


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_the_line_goes_with_whatever_ends_the_work(
    monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    def work() -> None:
        with progress("x", delay_s=0) as tell:
            assert tell is not None
            tell(1, None)
            raise error

    with terminal(monkeypatch) as reader, pytest.raises(error):
        work()

    assert CURSOR in reader.seen


@pytest.mark.parametrize(
    ("name", "value"), [("TERM", "dumb"), ("TERM", ""), ("NO_COLOR", "1")]
)
def test_some_terminals_want_none(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with terminal(monkeypatch, **{name: value}), progress("x", delay_s=0) as tell:
        assert tell is None


def test_what_is_no_terminal_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed, io.StringIO()):
        with monkeypatch.context() as patch:
            patch.setattr("sys.stderr", stream)
            with progress("x", delay_s=0) as tell:
                assert tell is None


def test_a_terminal_that_is_gone_stops_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def isatty(self) -> bool:
            return True

        def write(self, _: str) -> int:
            raise OSError(5, "I/O error")

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr("sys.stderr", Gone())

    with progress("x", delay_s=0) as tell:
        assert tell is not None
        tell(1, None)
        tell(2, None)


# The verbs


def _overlays(home: Path) -> None:
    for name in ("anchor", "bollard", "capstan"):
        install(home, feature(name))
    (home / ".msd" / "capabilities" / EVIL).mkdir()
    (home / ".msd" / "capabilities" / EVIL / "capability.json").write_text("{")


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize(
    ("verb", "said"),
    [
        (("validate", "--jobs", "1"), "checking manifests: 1, "),
        (("validate", "--jobs", "2"), "checking manifests: 1, "),
        (("compose",), "reading overlays: 1, "),
        (("explain", "anchor"), "reading overlays: 1, "),
        (("capability", "list"), "reading overlays: 1, "),
    ],
)
def test_a_verb_counts_and_its_result_stays_as_it_is(
    msd: Msd,
    home: Path,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: tuple[str, ...],
    said: str,
    form: tuple[str, ...],
) -> None:
    _overlays(home)
    places = ["--home", home, "--project", project]
    command = [*verb, *form, *([home] if verb[0] == "validate" else places)]
    plain = msd(*command)
    assert plain.err == ""

    with terminal(monkeypatch) as reader:
        monkeypatch.setattr(showing, "DELAY_S", 0)
        done = msd(*command)

    assert (done.code, done.out) == (plain.code, plain.out)
    assert said in reader.seen
    assert reader.seen.endswith(CLEARED)
    assert not any(word in reader.seen for word in ("anchor", "evil"))


def test_nobody_pays_for_what_is_not_shown() -> None:
    """Neither the line nor the workers are imported by a command that needs neither."""
    program = (
        "import sys\n"
        "from msdcomp.cli import main\n"
        f"main(['validate', '--json', {str(EXAMPLES / 'home')!r}])\n"
        "names = ('rich', 'concurrent', 'multiprocessing')\n"
        "sys.exit(','.join(sorted({*names} & {*sys.modules})))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "\n")

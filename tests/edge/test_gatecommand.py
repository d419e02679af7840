"""A gate's command: it ends, it is heard, and nothing of it stays behind."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from msdcomp.edge.gatecommand import MAX_OUTPUT, run_command
from msdcomp.predicate import Ended

#: Long enough for whatever is not meant to run out of time.
LONG_S = 120

#: Text that an argument of a process can be.
VALUES = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
) | st.sampled_from(
    [
        *("", "-n", "--", "$(touch planted)", "`touch planted`", "'; touch planted; '"),
        *(
            '"; touch planted; "',
            "a\nb",
            "\n",
            "$HOME",
            "*",
            "\\",
            "${PHASE_DIR}",
            "a  b",
        ),
    ]
)


def run(command: str, cwd: Path, timeout_s: float = LONG_S, **values: str) -> Ended:
    return run_command(command, cwd=str(cwd), values=values, timeout_s=timeout_s)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("project")


@given(VALUES, VALUES)
@settings(max_examples=40)
def test_a_value_reaches_the_command_as_it_is(folder: Path, one: str, two: str) -> None:
    command = 'printf \'%s\\0%s\' "${PHASE_NUMBER}" "${PHASE_DIR}" > got'

    ended = run(command, folder, PHASE_NUMBER=one, PHASE_DIR=two)

    assert ended == Ended(code=0)
    assert (folder / "got").read_bytes() == f"{one}\0{two}".encode()
    assert not (folder / "planted").exists()


@given(VALUES)
@settings(max_examples=40)
def test_no_quoting_makes_code_of_a_value(folder: Path, value: str) -> None:
    """Whatever the places are good for, nothing is run for what is in a value."""
    command = (
        "x=${PHASE_DIR}; : ${PHASE_DIR} \"a'${PHASE_DIR}'\" ${y:-${PHASE_DIR}}; "
        ': "$(: "${PHASE_DIR}")" `: ${PHASE_DIR}`; case ${PHASE_DIR} in a) :;; esac'
    )

    ended = run(command, folder, PHASE_DIR=value)

    assert ended.code == 0
    assert not (folder / "planted").exists()


@pytest.mark.parametrize("code", [0, 1, 3, 126, 127, 255])
def test_the_exit_code_is_that_of_the_command(tmp_path: Path, code: int) -> None:
    assert run(f"exit {code}", tmp_path) == Ended(code=code)


def test_a_command_may_begin_with_a_dash(tmp_path: Path) -> None:
    ended = run("-x; exit 5", tmp_path)

    assert ended.code == 5
    assert "-x" in ended.output


def test_it_runs_in_the_project_with_nothing_on_stdin(tmp_path: Path) -> None:
    ended = run("pwd; cat; echo end", tmp_path)

    assert ended == Ended(code=0, output=f"{tmp_path.resolve()}\nend\n")


def test_stderr_is_kept_rather_than_stdout(tmp_path: Path) -> None:
    both = run("echo out; echo err >&2", tmp_path)
    blank = run("echo out; echo >&2", tmp_path)

    assert both.output == "err\n"
    assert blank.output == "out\n"


def test_output_without_end_is_read_and_only_its_end_is_kept(tmp_path: Path) -> None:
    """More than any pipe holds: a command that nobody reads would wait for ever."""
    ended = run("yes | head -n 1000000; printf 'last\\303\\251'", tmp_path)

    assert ended.code == 0
    assert len(ended.output) == MAX_OUTPUT
    assert ended.output.endswith("y\nlast\u00e9")


def test_output_that_is_no_text_is_shown_as_far_as_it_is(tmp_path: Path) -> None:
    assert run("printf 'a\\377b'", tmp_path).output == "a\ufffdb"


def test_a_signal_that_ends_it_is_named(tmp_path: Path) -> None:
    assert run("kill -KILL $$", tmp_path) == Ended(signal="SIGKILL")


def test_a_signal_without_a_name_has_its_number(tmp_path: Path) -> None:
    number = signal.SIGRTMIN + 3

    assert run(f"kill -{number:d} $$", tmp_path).signal == f"signal {number:d}"


def test_a_command_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    ended = run("echo begun; sleep 1000", tmp_path, timeout_s=0.3)

    assert ended.reason == "it took longer than 0.3 seconds"
    assert ended.code is None


def test_one_second_is_no_plural(tmp_path: Path) -> None:
    ended = run("exec >&- 2>&-; sleep 1000", tmp_path, timeout_s=1)

    assert ended == Ended(reason="it took longer than 1 second")


@contextlib.contextmanager
def _witness(path: Path) -> Iterator[int]:
    """Make a FIFO; its end is reached when nobody holds it open for writing."""
    os.mkfifo(path)
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        yield fd
    finally:
        os.close(fd)


def _is_let_go(fd: int) -> bool:
    ready, _, _ = select.select([fd], [], [], LONG_S)
    return bool(ready) and os.read(fd, 1) == b""


#: Starts something that holds the FIFO and would stay for long.
LINGERS = "{ echo up > up; exec sleep 1000; } > fifo & until [ -s up ]; do :; done"


@pytest.mark.parametrize(
    ("rest", "code"),
    [("exit 0", 0), ("exit 4", 4), ("exec >&- 2>&-; exit 0", 0)],
)
def test_what_it_left_in_the_background_ends_with_it(
    tmp_path: Path, rest: str, code: int
) -> None:
    with _witness(tmp_path / "fifo") as fd:
        ended = run(f"{LINGERS}; {rest}", tmp_path)

        assert ended.code == code
        assert _is_let_go(fd)


def test_the_whole_group_is_stopped_when_the_time_is_up(tmp_path: Path) -> None:
    with _witness(tmp_path / "fifo") as fd:
        ended = run(f"trap '' TERM INT HUP; {LINGERS}; wait", tmp_path, timeout_s=5)

        assert ended.reason == "it took longer than 5 seconds"
        assert (tmp_path / "up").exists()
        assert _is_let_go(fd)


LEAVES = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    with open("pid", "w") as file:
        file.write(str(os.getpid()))
    os.rename("pid", "left")
    while True:
        os.write(1, b"still here\\n")
        time.sleep(0.01)
"""


def test_a_process_that_leaves_the_session_holds_nobody_up(tmp_path: Path) -> None:
    """It cannot be found, and keeps the output open; that is not waited for."""
    (tmp_path / "leave.py").write_text(LEAVES, "utf-8")
    try:
        ended = run(
            f"'{sys.executable}' leave.py; until [ -e left ]; do :; done; exit 6",
            tmp_path,
        )
        assert ended.code == 6
    finally:
        os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)


def _interrupt() -> bool:
    raise KeyboardInterrupt


def test_a_command_that_cannot_be_killed_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups: list[int] = []
    monkeypatch.setattr("msdcomp.edge.gatecommand._kill_group", groups.append)
    monkeypatch.setattr("msdcomp.edge.gatecommand._LAST_WAIT_S", 0.1)
    try:
        ended = run("echo still; sleep 1000", tmp_path, timeout_s=0.3)

        assert ended.reason == "it took longer than 0.3 seconds"
    finally:
        (group,) = groups
        os.killpg(group, signal.SIGKILL)
        os.waitpid(group, 0)


def test_an_interrupted_wait_stops_the_command(tmp_path: Path) -> None:
    def interrupted() -> object:
        return (tmp_path / "up").exists() and _interrupt()

    with _witness(tmp_path / "fifo") as fd:
        with pytest.raises(KeyboardInterrupt):
            run_command(
                f"{LINGERS}; sleep 1000",
                cwd=str(tmp_path),
                values={},
                timeout_s=LONG_S,
                is_given_up=interrupted,
            )

        assert _is_let_go(fd)


def test_a_command_that_nobody_waits_for_is_stopped(tmp_path: Path) -> None:
    with _witness(tmp_path / "fifo") as fd:
        ended = run_command(
            f"{LINGERS}; sleep 1000",
            cwd=str(tmp_path),
            values={},
            timeout_s=LONG_S,
            is_given_up=(tmp_path / "up").exists,
        )

        assert ended == Ended(reason="nobody waits for it any more")
        assert _is_let_go(fd)


def test_a_python_that_can_only_wait_stops_it_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "waitid")
    with _witness(tmp_path / "fifo") as fd:
        assert run(f"{LINGERS}; exit 4", tmp_path).code == 4
        assert _is_let_go(fd)


def test_without_a_shell_there_is_a_reason(tmp_path: Path) -> None:
    ended = run_command(
        "true", cwd=str(tmp_path), values={}, timeout_s=LONG_S, sh="/nowhere/sh"
    )

    assert ended == Ended(reason="it cannot be started (a shell: no such file)")


def test_without_a_folder_there_is_a_reason(tmp_path: Path) -> None:
    ended = run("true", tmp_path / "gone")

    assert ended == Ended(reason="it cannot be started (its folder: no such file)")


@pytest.mark.parametrize("value", ["a\0b", "\ud800"])
def test_a_value_that_no_process_can_be_given_is_a_reason(
    tmp_path: Path, value: str
) -> None:
    ended = run("true", tmp_path, PHASE_DIR=value)

    assert ended == Ended(
        reason="it cannot be started (a value is no possible text of a process)"
    )


def test_values_beyond_all_bounds_are_a_reason(tmp_path: Path) -> None:
    ended = run("true", tmp_path, PHASE_DIR="a" * (8 << 20))

    assert ended == Ended(reason="it cannot be started (its values are too long)")

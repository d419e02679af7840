"""`msd check predicate`: two steps, an answer or none, and what an answer is."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from msdcomp.cli import main
from msdcomp.edge.predicates import evaluate

from .conftest import Msd, feature, install

#: Of a plan that is ready, and of one that is not.
READY, OPEN = "---\nopen: 0\n---\n", "---\nopen: 3\n---\n"

EXISTS = {"kind": "artifact-exists", "artifact": "PLAN.md"}
CLEAR = {
    "kind": "artifact-frontmatter-equals",
    "artifact": "PLAN.md",
    "field": "open",
    "equals": 0,
}
TRUE = {"kind": "command-exit-zero", "command": "true"}


def _config(equals: Any, key: str = "workflow.security_enforcement") -> dict[str, Any]:
    return {"kind": "config-equals", "key": key, "equals": equals}


@pytest.fixture
def check(msd: Msd, home: Path, project: Path) -> Msd:
    """Check a predicate in the project of the test."""

    def run(predicate: Any, *arguments: str | Path) -> Any:
        text = predicate if isinstance(predicate, str) else json.dumps(predicate)
        places = ("--home", home, "--project", project)
        return msd("check", "predicate", "--predicate", text, *places, *arguments)

    return run


@pytest.mark.parametrize(
    ("predicate", "plan", "result", "code"),
    [
        (EXISTS, READY, "pass", 0),
        (EXISTS, None, "fail", 0),
        (CLEAR, READY, "pass", 0),
        (CLEAR, OPEN, "fail", 0),
        (CLEAR, None, "fail", 0),
        (CLEAR, "---\n", "could-not-check", 1),
        (TRUE, None, "pass", 0),
        ({**TRUE, "command": "exit 3"}, None, "fail", 0),
        ({**TRUE, "command": "sleep 100", "timeout": 0.1}, None, "could-not-check", 1),
        (_config(equals=True), None, "pass", 0),
        (_config(equals=False), None, "fail", 0),
        (_config("true"), None, "fail", 0),
        ({"kind": "moon-phase"}, None, "could-not-check", 1),
        ({**TRUE, "command": " "}, None, "could-not-check", 1),
        ([], None, "could-not-check", 1),
        ("{", None, "could-not-check", 1),
        ("", None, "could-not-check", 1),
        ('{"kind": "artifact-exists", "kind": 1}', None, "could-not-check", 1),
    ],
)
def test_both_outputs_and_the_exit_code_tell_one_result(
    check: Msd, project: Path, predicate: Any, plan: str | None, result: str, code: int
) -> None:
    if plan is not None:
        (project / "PLAN.md").write_text(plan, "utf-8")

    shown = check(predicate)
    told = check(predicate, "--json")

    assert shown.code == told.code == code
    assert shown.out == f"{result}: {told.json['message']}\n"
    assert told.json["result"] == result
    assert told.json["block"] is (result != "pass")
    assert set(told.json) == {"result", "block", "message", "details"}
    assert shown.err == told.err == ""


def test_what_is_wrong_with_a_predicate_has_places(check: Msd) -> None:
    text = '{"kind": "command-exit-zero",\n "timeout": 0}'

    details = check(text, "--json").json["details"]

    assert details["kind"] == "command-exit-zero"
    found = [(p["code"], p["path"], p["line"]) for p in details["problems"]]
    assert found == [
        ("missing-field", "/command", 1),
        ("out-of-range", "/timeout", 2),
    ]
    assert check(text).out == (
        "could-not-check: could not read the predicate: command is missing; expected "
        "a command for a shell (and 1 more)\n"
    )


def test_a_notice_does_not_keep_a_predicate_from_being_checked(check: Msd) -> None:
    assert check({**TRUE, "comand": "false"}).code == 0


def test_text_of_a_predicate_cannot_speak_to_a_terminal(check: Msd) -> None:
    done = check({"kind": "artifact-exists", "artifact": "\u202e`x`\x9b31m"})

    assert done.out == "fail: x 31m is not there\n"


def test_a_configuration_value_is_typed_by_what_is_composed(
    check: Msd, home: Path, project: Path
) -> None:
    slice_ = {"type": "number", "default": 4, "description": "How many."}
    install(home, feature("crew", config={"crew.size": slice_}))
    asked = _config(4, "crew.size")

    assert check(asked, "--json").json["details"]["origin"] == "default"
    (project / ".planning" / "config.json").write_text('{"crew": {"size": 5}}', "utf-8")
    assert check(asked).out == (
        "fail: crew.size is 5 in .planning/config.json, not 4\n"
    )
    (project / "mine.json").write_text('{"crew": {"size": 4.0}}', "utf-8")
    assert check(asked, "--config", project / "mine.json").code == 0
    (project / ".planning" / "config.json").write_text("{", "utf-8")
    done = check(asked)
    assert done.code == 1
    assert done.out.startswith(
        "could-not-check: could not look up crew.size: .planning/config.json cannot "
        "be read (line 1, column 2"
    )


def test_the_phase_reaches_the_command(check: Msd, project: Path) -> None:
    (project / "a phase").mkdir()
    command = 'cd -- "${PHASE_DIR}" && test "$(pwd)" = "$0" -o "${PHASE_NUMBER}" = -1'

    done = check(
        {**TRUE, "command": f'{command} && echo "<${{PHASE_REQ_IDS}}>"'},
        *("--phase-dir", "a phase", "--phase-number=-1", "--phase-req-ids", "R-1,'"),
        "--json",
    )

    assert done.json["result"] == "pass"
    assert done.json["details"]["output"] == "<R-1,'>\n"


@pytest.mark.parametrize("named", ["--home", "--project"])
@pytest.mark.parametrize("predicate", [EXISTS, _config(equals=True)])
def test_a_folder_that_is_none_is_a_wrong_use(
    msd: Msd, tmp_path: Path, named: str, predicate: Any
) -> None:
    done = msd(
        *("check", "predicate", "--predicate", json.dumps(predicate)),
        *(named, tmp_path / "gone"),
    )

    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"msd: error: {named}: ")


def test_a_version_that_is_none_is_a_wrong_use(check: Msd) -> None:
    assert check(_config(equals=True), "--host-version", "new").code == 2


def test_without_a_predicate_there_is_nothing_to_check(msd: Msd) -> None:
    done = msd("check", "predicate")

    assert done.code == 2
    assert "--predicate" in done.err


def test_the_working_directory_has_the_project(
    msd: Msd, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = project / "a" / "b"
    below.mkdir(parents=True)
    (project / "PLAN.md").touch()
    monkeypatch.chdir(below)

    assert msd("check", "predicate", "--predicate", json.dumps(EXISTS)).code == 0


def test_the_signals_of_the_process_are_as_before(check: Msd) -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]

    assert check(TRUE).code == 0

    assert [signal.getsignal(number) for number in numbers] == before


def test_a_signal_is_kept_until_the_command_has_ended(
    check: Msd, monkeypatch: pytest.MonkeyPatch
) -> None:
    # In another thread the signal would end the tests.
    assert threading.current_thread() is threading.main_thread()
    ended: list[Any] = []

    def evaluated(predicate: Any, phase: Any, lookup: Any, is_given_up: Any) -> Any:
        assert not is_given_up()
        signal.raise_signal(signal.SIGTERM)
        assert is_given_up()
        ended.append(evaluate(predicate, phase, lookup, is_given_up))
        return ended[0]

    monkeypatch.setattr("msdcomp.cli.check.evaluate", evaluated)

    done = check({**TRUE, "command": "sleep 1000"})

    assert done.code == 128 + signal.SIGTERM
    assert done.out == ""
    assert "nobody waits for it any more" in ended[0].message


def test_what_is_ignored_gives_nothing_up(check: Msd) -> None:
    command = f"kill -{signal.SIGHUP.value} $PPID"
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert check({**TRUE, "command": command}).code == 0
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_any_thread_may_check(project: Path) -> None:
    codes: list[int] = []
    arguments = ["check", "predicate", "--predicate", json.dumps(TRUE)]
    thread = threading.Thread(
        target=lambda: codes.append(main([*arguments, "--project", str(project)]))
    )

    thread.start()
    thread.join()

    assert codes == [0]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_host_that_gives_up_leaves_no_command_behind(
    project: Path, sent: signal.Signals
) -> None:
    """The FIFO ends when nobody is left that holds it open."""
    os.mkfifo(project / "fifo")
    fd = os.open(project / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    command = "exec > fifo; echo up; sleep 1000 & sleep 1000"
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "msdcomp", "check", "predicate", "--predicate"),
            json.dumps({**TRUE, "command": command, "timeout": 600}),
            *("--project", str(project)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        select.select([fd], [], [], 120)
        assert os.read(fd, 3) == b"up\n"
        process.send_signal(sent)

        assert process.wait(120) == 128 + sent
        assert select.select([fd], [], [], 120)[0]
        assert os.read(fd, 1) == b""
    finally:
        process.kill()
        process.wait()
        os.close(fd)

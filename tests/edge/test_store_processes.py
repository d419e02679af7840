"""Several processes write the two stores at once: nothing is lost, nothing is torn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from msdcomp.edge.consent import list_consents
from msdcomp.edge.ledger import LEDGER_NAME
from msdcomp.edge.ledgerfile import read_entries
from msdcomp.edge.locks import lifecycle_lock

PROCESSES = 8
EACH = 12

#: Adds entries and agreements of its own, and takes every third away again.
WRITER = """
import sys
from msdcomp.edge.consent import ConsentRecord, revoke_consent, write_consent
from msdcomp.edge.ledgerfile import (
    InstalledEntry, LedgerFile, change_ledger, with_entry, without_entry
)
from msdcomp.edge.locks import lifecycle_lock

root, own, each = sys.argv[1], sys.argv[2], int(sys.argv[3])

def change(change):
    with lifecycle_lock(root, 60) as fault:
        assert fault is None, fault
        made = change_ledger(root, change)
        assert isinstance(made, LedgerFile), made

print("ready", flush=True)
sys.stdin.readline()
for number in range(each):
    id = f"{own}-{number}"
    entry = InstalledEntry(id=id, version="1.0.0", source="/x")
    change(lambda old, now: with_entry(old, entry, now))
    record = ConsentRecord(project_root=root, id=id, content_hash="sha512-x")
    made = write_consent(root, record, wait_s=60)
    assert isinstance(made, ConsentRecord), made
    if number % 3 == 2:
        change(lambda old, now: without_entry(old, id, now))
        assert revoke_consent(root, root, id, wait_s=60) is True
"""

#: Writes the ledger without end.
ENDLESS = """
import sys
from msdcomp.edge.ledgerfile import InstalledEntry, change_ledger, with_entry
from msdcomp.edge.locks import lifecycle_lock
entry = InstalledEntry(id="anchor", version="1.0.0", source="x" * 100_000)
print("ready", flush=True)
while True:
    with lifecycle_lock(sys.argv[1]):
        change_ledger(sys.argv[1], lambda old, now: with_entry(old, entry, now))
"""


def start(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def is_ready(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "ready\n"


def test_no_process_loses_what_another_one_wrote(tmp_path: Path) -> None:
    root = os.path.realpath(tmp_path)
    names = [f"p{number}" for number in range(PROCESSES)]
    started = [start(WRITER, root, name, str(EACH)) for name in names]
    assert all(map(is_ready, started))
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate()[1] for process in started]
    assert ended == [""] * PROCESSES

    expected = {
        f"{name}-{number}" for name in names for number in range(EACH) if number % 3 < 2
    }
    assert read_entries(root).entries.keys() == expected
    agreed = list_consents(root)
    assert isinstance(agreed, tuple)
    assert {record.id for record in agreed} == expected
    assert len(json.loads((tmp_path / LEDGER_NAME).read_text())["entries"]) == 64
    left = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {LEDGER_NAME, "consent.json"}


@pytest.mark.parametrize("wait_ms", [0, 7, 31])
def test_a_writer_that_is_killed_leaves_a_whole_ledger_and_no_lock(
    tmp_path: Path, wait_ms: int
) -> None:
    process = start(ENDLESS, str(tmp_path))
    assert is_ready(process)
    while not (tmp_path / LEDGER_NAME).exists() and process.poll() is None:
        time.sleep(0.001)
    time.sleep(wait_ms / 1000)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert list(read_entries(str(tmp_path)).entries) == ["anchor"]
    with lifecycle_lock(str(tmp_path), 0) as fault:
        assert fault is None

"""Several processes load one home while it is being changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.edge.caches import agrees, files
from tests.layouts import overlay

#: Changes its own overlay, loads both ways, and compares: what the others change in
#: between may differ, what it has done itself must be seen.
WORKER = """
import json, sys
from pathlib import Path
from msdcomp.edge.load import load_registry

home, own = Path(sys.argv[1]), sys.argv[2]
path = home / ".msd" / "capabilities" / own / "capability.json"
document = json.loads(path.read_text())
for number in range(int(sys.argv[3])):
    document["title"] = f"{number:04}"
    text = json.dumps(document)
    temporary = path.with_suffix(".new")
    temporary.write_text(text)
    temporary.replace(path)
    for _ in range(2):
        found = load_registry(cwd="/", home=home)
        assert found.registry.capabilities[own].title == f"{number:04}"
        assert len(found.accepted) == 4, found.accepted
        found.digest()
"""


def test_processes_do_not_disturb_each_other(home: Path, project: Path) -> None:
    names = ("a", "b", "c", "d")
    for name in names:
        overlay(home, name)
    started = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(home), name, "30"],
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in names
    ]
    ended = [process.communicate()[1] for process in started]
    assert ended == ["", "", "", ""]
    agrees(home, project)
    assert not [path for path in files(home) if path.suffix == ".tmp"]

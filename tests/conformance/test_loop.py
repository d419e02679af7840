"""The loop against reference verdicts: what is active at a point, and how it reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msdcomp.loop import LoopRegistry, LoopResolution, render_markdown, resolve
from msdcomp.loopview import read_registry
from msdcomp.registry import Entry, Registry, build
from msdcomp.wire import decode

MARK = "{{unread-fragment:"


def _answer(registry: LoopRegistry, record: dict[str, Any]) -> LoopResolution:
    given = record.get("states")
    states = None if given is None else {k: v["active"] for k, v in given.items()}
    return resolve(registry, record["point"], record["config"], states=states)


def _check(resolution: LoopResolution, record: dict[str, Any]) -> None:
    assert bool(resolution.problems) is record["error"]
    hooks = [hook.to_wire() for hook in resolution.active_hooks]
    assert hooks == record["active_hooks"]
    assert resolution.warnings == ()
    if record["error"]:
        return
    expected = record["rendered"].split("\n")
    lines = render_markdown(resolution).split("\n")
    for line, wanted in zip(lines, expected, strict=True):
        if wanted.startswith(MARK):
            # The wording is ours; the vector says only that it names the path.
            assert wanted.removeprefix(MARK).removesuffix("}}") in line
        else:
            assert line == wanted


def _registries(record: dict[str, Any]) -> Iterator[LoopRegistry]:
    """Yield the registry as stored and, where the manifests are known, as built."""
    yield read_registry(record["registry"])
    if "manifests" in record:
        manifests = [decode(document).manifest for document in record["manifests"]]
        assert None not in manifests
        built = build(Entry(manifest=m) for m in manifests if m is not None)
        assert isinstance(built, Registry)
        yield built


def test_the_loop_answers_as_the_reference_does(loop_record: dict[str, Any]) -> None:
    for registry in _registries(loop_record):
        _check(_answer(registry, loop_record), loop_record)

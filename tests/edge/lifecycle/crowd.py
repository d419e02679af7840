"""One of many processes that install, update and remove in the same places at once.

    python -m tests.edge.lifecycle.crowd TOP NAME ROUNDS HOW

It says that it is ready, waits for a line, and prints what it left and what failed, as
JSON. `HOW` is `api` or `cli`.
"""

from __future__ import annotations

import contextlib
import functools
import io
import json
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import attrs

from msdcomp import cli
from msdcomp.edge.lifecycle import composing
from msdcomp.edge.lifecycle.applying import Done, apply
from msdcomp.edge.lifecycle.parcel import Parcel
from msdcomp.edge.lifecycle.planning import Prepared, plan_install, plan_removal
from msdcomp.edge.lifecycle.procuring import procure
from msdcomp.edge.lifecycle.site import Site, find_site
from msdcomp.edge.roots import find_places
from msdcomp.plan import Block
from msdcomp.registry import Registry
from msdcomp.sourcespec import SourceSpec, parse_source
from tests.edge.lifecycle.killing import unsynced
from tests.layouts import feature, write

__all__ = ["EVENTS", "SETTINGS", "SHARED", "Member", "site_of"]

SETTINGS = ".claude/settings.json"

#: The capability that everybody installs and removes, in the project.
SHARED = "shared"

#: Version -> event at which its one hook runs.
EVENTS = {"1.0.0": "Stop", "2.0.0": "PostToolUse"}


def site_of(top: str, scope: str) -> Site:
    found = find_site(find_places(None, f"{top}/home", f"{top}/project"), scope)
    assert isinstance(found, Site), found
    return found


@attrs.frozen
class Member:
    """One process of the crowd.

    Attributes:
        top: The folder that home and project are in, by its physical path.
        name: Its name, which its own capabilities end in.
        how: `api` or `cli`.
    """

    top: str
    name: str
    how: str

    def source(self, capability_id: str, version: str) -> str:
        """Return the folder of a capability to be installed."""
        folder = Path(self.top, "sources", self.name, f"{capability_id}-{version}")
        if not folder.exists():
            hook = {"event": EVENTS[version], "script": "hook.sh"}
            document = feature(capability_id, version=version, hooks=[hook])
            write(folder / "capability.json", json.dumps(document))
            write(folder / "hook.sh", f"#!/bin/sh\necho {version}\n")
        return str(folder)

    def parcel(self, version: str) -> Parcel:
        """Return the shared capability, fetched."""
        return _parcel(self.source(SHARED, version))

    def install(self, scope: str, capability_id: str, version: str) -> list[str]:
        """Install or update; return why not."""
        source = self.source(capability_id, version)
        if self.how == "cli":
            return self._call(
                "install", source, "--scope", scope, "--settings", SETTINGS, "--yes"
            )
        site = site_of(self.top, scope)
        return _applied(plan_install(site, _parcel(source), [SETTINGS]))

    def remove(self, scope: str, capability_id: str) -> list[str]:
        """Remove; return why not."""
        if self.how == "cli":
            return self._call("remove", capability_id, "--scope", scope)
        return _applied(plan_removal(site_of(self.top, scope), capability_id))

    def _call(self, *arguments: str) -> list[str]:
        places = "--home", f"{self.top}/home", "--project", f"{self.top}/project"
        told = io.StringIO()
        with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
            code = cli.main(["capability", *arguments, *places])
        return [told.getvalue()] if code else []

    def rounds(self, number: int) -> Iterator[tuple[str, str, str]]:
        """Yield what to do: the scope, the capability, and its version or nothing."""
        dice = random.Random(self.name)  # noqa: S311 - not a secret
        there: set[str] = set()
        for _ in range(number):
            scope = dice.choice(["global", "project"])
            own = f"{scope}-{self.name}"
            version = dice.choice(["", *EVENTS]) if own in there else "1.0.0"
            yield scope, own, version
            (there.add if version else there.discard)(own)
            if self.how == "api" and not dice.randrange(4):
                yield "project", SHARED, dice.choice(["", *EVENTS])


@functools.cache
def _parcel(source: str) -> Parcel:
    spec = parse_source(source, "/")
    assert isinstance(spec, SourceSpec), spec
    found = procure(spec, site_of("/", "global").host_version)
    assert isinstance(found, Parcel), found
    return found


def _applied(prepared: Prepared) -> list[str]:
    done = apply(prepared, accepts=lambda _: True)
    return [] if isinstance(done, Done) else list(map(_told, done))


def _told(block: Block) -> str:
    return f"{block.code}: {block.reason}"


def work(member: Member, number: int) -> dict[str, Any]:
    """Do all rounds; return what was left of its own, and what failed."""
    left: dict[str, list[str]] = {}
    failed: list[str] = []
    longest = 0.0
    for scope, name, version in member.rounds(number):
        began = time.monotonic()
        if version:
            told = member.install(scope, name, version)
            if name != SHARED:
                left[name] = [scope, version]
        else:
            told = member.remove(scope, name)
            left.pop(name, None)
            if name == SHARED:
                # Somebody else was quicker.
                told = [one for one in told if not one.startswith("not-installed")]
        longest = max(longest, time.monotonic() - began)
        failed += [f"{name} {version or 'away'}: {one}" for one in told]
    return {"left": left, "failed": failed, "longest_s": longest}


def main(top: str, name: str, number: str, how: str) -> None:
    member = Member(os.path.realpath(top), name, how)
    # Whether it reaches the disk is not in question, and others wait meanwhile.
    with (
        mock.patch.object(composing, "first_party", Registry),
        mock.patch.object(os, "fsync", unsynced),
    ):
        for version in EVENTS:
            for own in (SHARED, f"global-{name}", f"project-{name}"):
                _parcel(member.source(own, version))
        print("ready", flush=True)  # noqa: T201
        sys.stdin.readline()
        print(json.dumps(work(member, int(number))))  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])

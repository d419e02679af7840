"""Sources that tests install from, and what they look at afterwards."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msdcomp.composition import Composition
from msdcomp.edge.consent import record_consent
from msdcomp.edge.consentstore import ConsentRecord, read_consent
from msdcomp.edge.ledgerfile import InstalledEntry, read_entries
from msdcomp.edge.lifecycle import (
    Done,
    Parcel,
    Prepared,
    Site,
    apply,
    find_site,
    plan_install,
    plan_removal,
    procure,
)
from msdcomp.edge.load import load_places
from msdcomp.edge.roots import find_places
from msdcomp.plan import Block
from msdcomp.sourcespec import SourceSpec, parse_source
from msdcomp.testing import feature

__all__ = [
    "HOST",
    "agree_by_hand",
    "blocks",
    "change_entry",
    "codes",
    "composed",
    "done",
    "entry_of",
    "fitting",
    "folder_of",
    "hooked",
    "installed",
    "listing",
    "parcel_of",
    "place",
    "put",
    "record_of",
    "refused",
    "removed",
    "site_of",
    "source",
    "spec_of",
]

#: Version of the host that the tests install for.
HOST = "2.0.0"


def source(
    folder: Path,
    capability_id: str = "tides",
    files: Mapping[str, str] | None = None,
    **fields: Any,
) -> Path:
    """Write a bundle into a new folder, or over one, and return the folder."""
    return place(folder, feature(capability_id, **fields), files or {})


def place(folder: Path, document: Any, files: Mapping[str, str]) -> Path:
    """Write a manifest and files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "capability.json").write_text(json.dumps(document), "utf-8")
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def hooked(
    folder: Path, *hooks: Mapping[str, str], files: Mapping[str, str] | None = None
) -> Path:
    """Write a bundle whose hooks run `run.sh`, unless they say otherwise."""
    given = hooks or ({},)
    declared = [{"event": "Stop", "script": "run.sh", **hook} for hook in given]
    return source(
        folder, files={"run.sh": "#!/bin/sh\n", **(files or {})}, hooks=declared
    )


def spec_of(where: Path | str) -> SourceSpec:
    found = parse_source(str(where), "/")
    assert isinstance(found, SourceSpec), found
    return found


def parcel_of(where: Path | str, **options: Any) -> Parcel:
    found = procure(spec_of(where), HOST, **options)
    assert isinstance(found, Parcel), found
    return found


def refused(where: Path | str, **options: Any) -> Block:
    """Return why there is no parcel."""
    found = procure(spec_of(where), HOST, **options)
    assert isinstance(found, Block), found
    return found


def site_of(home: Path, project: Path | None, scope: str) -> Site:
    found = find_site(find_places(home, home, project), scope, HOST)
    assert isinstance(found, Site), found
    return found


def done(prepared: Prepared, **options: Any) -> Done:
    found = apply(prepared, **options)
    assert isinstance(found, Done), found
    return found


def blocks(prepared: Prepared, **options: Any) -> tuple[Block, ...]:
    """Return why a plan was not carried out."""
    found = apply(prepared, **options)
    assert isinstance(found, tuple), found
    return found


def codes(found: Iterable[Block]) -> list[str]:
    return [block.code for block in found]


def installed(site: Site, where: Path, settings: Iterable[str] | None = None) -> Done:
    """Install a bundle, whatever it needs to be agreed to."""
    return done(plan_install(site, parcel_of(where), settings))


def removed(site: Site, folder: str) -> Done:
    return done(plan_removal(site, folder))


def put(site: Site, capability_id: str, **fields: Any) -> Path:
    """Put a bundle in its place by hand."""
    return source(folder_of(site, capability_id), capability_id, **fields)


def agree_by_hand(site: Site, capability_id: str) -> None:
    """Agree to a folder of a project as it is."""
    found = record_consent(
        site.home,
        site.consent_root,
        str(folder_of(site, capability_id)),
        capability_id,
    )
    assert isinstance(found, ConsentRecord), found


def change_entry(site: Site, name: str = "tides", **fields: Any) -> None:
    """Change fields of a ledger's entry behind everybody's back."""
    ledger = Path(site.root.ledger_root, ".msd-capabilities.json")
    document = json.loads(ledger.read_text("utf-8"))
    document["entries"][name] |= fields
    ledger.write_text(json.dumps(document), "utf-8")


def fitting(where: Path) -> Parcel:
    """Return a parcel as a host that it fits would find it."""
    found = procure(spec_of(where), "9.0.0")
    assert isinstance(found, Parcel), found
    return found


def folder_of(site: Site, name: str = "tides") -> Path:
    return Path(site.root.folder, name)


def entry_of(site: Site, name: str = "tides") -> InstalledEntry | None:
    return read_entries(site.root.ledger_root).entries.get(name)


def record_of(site: Site, name: str = "tides") -> ConsentRecord | None:
    found = read_consent(site.home).find(site.consent_root, name, site.scope)
    return found if isinstance(found, ConsentRecord) else None


def composed(site: Site) -> Composition:
    return load_places(site.places, host_version=site.host_version)


def listing(*tops: Path) -> dict[str, tuple[object, ...]]:
    """Return all that is below some folders: mode, time of change, and content."""
    found: dict[str, tuple[object, ...]] = {}
    for top in tops:
        for folder, folders, files in os.walk(top):
            for name in (".", *folders, *files):
                path = Path(folder, name)
                about = path.lstat()
                content: object = None
                if stat.S_ISREG(about.st_mode):
                    content = path.read_bytes()
                elif stat.S_ISLNK(about.st_mode):
                    content = path.readlink()
                found[f"{folder}/{name}"] = (
                    about.st_mode,
                    about.st_ino,
                    about.st_mtime_ns,
                    content,
                )
    return found

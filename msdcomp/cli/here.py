"""Where a command looks, for which host, and what is composed there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import attrs

from msdcomp._version import DEFAULT_HOST_VERSION
from msdcomp.cli.common import complain, folder_fault
from msdcomp.cli.progress import progress
from msdcomp.composition import Composition
from msdcomp.configlayers import ConfigLayers
from msdcomp.edge.config import read_layers
from msdcomp.edge.files import FileFault
from msdcomp.edge.load import load_places
from msdcomp.edge.roots import Places, find_places
from msdcomp.edge.surfacing import DEFAULT_RUNTIME, find_surface
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.semver import core

if TYPE_CHECKING:
    from msdcomp.host import HostContract
    from msdcomp.surface import Surface

__all__ = [
    "Here",
    "add_config",
    "add_host_version",
    "add_places",
    "add_roots",
    "add_surface",
    "add_workstream",
    "are_folders",
    "here",
    "here_on_surface",
]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Here(Record):
    """A composition, and where it was made."""

    composition: Composition
    places: Places
    host_version: str
    #: The workstream that was named; None when there is none.
    workstream: str | None = None
    #: The contract that was asked for; None for that of MSD.
    contract: HostContract | None = None

    @property
    def roots(self) -> dict[str, str]:
        """Scope -> absolute path of its root."""
        found = {"global": self.places.home, "project": self.places.project}
        return {scope: root for scope, root in found.items() if root is not None}

    def layers(self, explicit: str | None = None) -> ConfigLayers:
        """Read the configuration that counts here."""
        return read_layers(self.places.project, explicit, self.workstream)

    def surface(self, options: argparse.Namespace) -> Surface | FileFault | None:
        """Return the surface that counts here; None where all is on it.

        A fault is a wrong use of the options, and its reason says of which.
        """
        folder = options.config_dir
        if folder is not None and (fault := folder_fault(folder)):
            return FileFault("missing", f"--config-dir: {fault}")
        found = find_surface(
            self.places,
            self.composition.registry,
            options.runtime,
            folder,
            # A home that was named is a world of its own.
            None if options.home is None else {},
        )
        if isinstance(found, FileFault):
            return FileFault(found.code, f"--runtime: {found.reason}")
        return found


def add_roots(
    parser: argparse.ArgumentParser,
    holding: str = "the global overlays and the consent store",
) -> None:
    """Add the options that say where to look; `holding` says what for in the home."""
    parser.add_argument(
        "--home",
        metavar="DIR",
        help=f"the home with {holding} (default: $MSD_HOME, else your own)",
    )
    parser.add_argument(
        "--project",
        metavar="DIR",
        help="the project (default: the nearest folder at or above this one with "
        ".planning/ or .git)",
    )


def add_host_version(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--host-version`; `what` says what that version is for."""
    parser.add_argument(
        "--host-version",
        metavar="V",
        default=DEFAULT_HOST_VERSION,
        help=f"version of the host {what} (default: %(default)s)",
    )


def add_places(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where to look and for which host."""
    add_roots(parser)
    add_host_version(parser, "to compose for")
    parser.add_argument(
        "--isolate",
        action="store_true",
        help="when the accepted overlays cannot be built together, drop only the "
        "culprits instead of all of them",
    )


def add_surface(parser: argparse.ArgumentParser) -> None:
    """Add the options that say which host's surface counts."""
    parser.add_argument(
        "--runtime",
        metavar="R",
        help="the host runtime: its folder says what is on the surface, and what is "
        f"not made for it is not there (default: the folder of {DEFAULT_RUNTIME}, and "
        "no bound)",
    )
    parser.add_argument(
        "--config-dir",
        metavar="DIR",
        help="the folder with .msd-surface.json (default: that of the runtime)",
    )


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add `--config`."""
    parser.add_argument(
        "--config",
        metavar="FILE",
        help="values that come before the project's configuration",
    )
    add_workstream(parser)


def add_workstream(
    parser: argparse.ArgumentParser,
    meaning: str = "the active workstream, whose configuration comes before the "
    "project's",
) -> None:
    """Add `--workstream`, and say what it means to the verb."""
    parser.add_argument("--workstream", "--ws", metavar="NAME", help=meaning)


def are_folders(options: argparse.Namespace) -> bool:
    """Tell whether the options name folders, or complain."""
    for name in ("home", "project"):
        folder = getattr(options, name)
        if folder is not None and (fault := folder_fault(folder)):
            complain(f"--{name}: {fault}")
            return False
    return True


def here(options: argparse.Namespace) -> Here | None:
    """Compose where the options say, or complain and return None."""
    if not are_folders(options):
        return None
    if core(options.host_version) is None:
        complain(f"--host-version: {safe(options.host_version)} is no version")
        return None
    contract = None
    # Not every verb that composes has the option.
    if (file := getattr(options, "host_contract", None)) is not None:
        # Imported here because hardly any host has a contract of its own.
        from msdcomp.cli.contract import asked_contract  # noqa: PLC0415

        contract = asked_contract(file)
        if contract is None:
            return None
    places = find_places(None, options.home, options.project)
    with progress("reading overlays") as tell:
        composition = load_places(
            places,
            host_version=options.host_version,
            on_set_failure="isolate" if options.isolate else "fallback",
            on_progress=tell,
            contract=contract,
        )
    return Here(
        composition=composition,
        places=places,
        host_version=options.host_version,
        # Not every verb that composes has the option.
        workstream=getattr(options, "workstream", None),
        contract=contract,
    )


def here_on_surface(
    options: argparse.Namespace,
) -> tuple[Here, Surface | None] | None:
    """Do what `here` does, and find the surface that counts, or complain."""
    found = here(options)
    if found is None:
        return None
    surface = found.surface(options)
    if isinstance(surface, FileFault):
        complain(surface.reason)
        return None
    return found, surface

"""Everything that can be said about one manifest by itself.

What `msd validate` reports: the faults that would get the overlay skipped wherever it
is installed, and the notices that would come with it. Clashes with other capabilities
need the others; `msd compose` reports those.
Source: docs/reference/command-line.md, "msd validate".
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import attrs

from msdcomp.admission import fragment_texts
from msdcomp.diagnostics import Problem, pointer
from msdcomp.host import HostContract
from msdcomp.invariants import Draft, Index, duplicates, quoted
from msdcomp.rules.contract import check_contract, undispatched
from msdcomp.semver import is_range
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from msdcomp.candidate import Candidate
    from msdcomp.manifest import Manifest

__all__ = ["validate"]


def validate(
    candidate: Candidate,
    contract: HostContract | None = None,
    *,
    first_party: bool = False,
    file: str | None = None,
) -> tuple[Problem, ...]:
    """Return every fault and notice of one folder or manifest, in document order.

    Args:
        candidate: With its fragments, if they are to be checked.
        contract: Roles, points and kinds of the host; by default those of MSD.
        first_party: The reserved id prefixes are the first party's own.
        file: Where the manifest was read from, for problems to name; by default the
            `capability.json` of the candidate's folder.
    """
    contract = contract or _standard()
    found = _found(candidate, contract, first_party=first_party)
    if file is not None:
        found = [attrs.evolve(problem, file=file) for problem in found]
    return tuple(sorted(found, key=lambda p: (p.line or 0, p.column or 0)))


@functools.cache
def _standard() -> HostContract:
    return HostContract()


def _found(
    candidate: Candidate, contract: HostContract, *, first_party: bool
) -> list[Problem]:
    decoded = candidate.decoded
    if decoded is None:
        return [
            Problem(
                code="unreadable",
                message=f"cannot be read: {candidate.unreadable}",
                hint="Put a regular file of at most 8 MiB there.",
                file=f"{candidate.path}/capability.json",
            )
        ]
    found = [*decoded.problems, *decoded.diagnostics]
    if decoded.manifest is not None:
        found += candidate.placed(_deeper(candidate, decoded.manifest, contract))
    if not first_party and candidate.folder.startswith(RESERVED_PREFIXES):
        found.append(
            Problem(
                code="reserved-prefix",
                path="/id",
                message=f"the id {quoted(candidate.folder)} begins with a prefix that "
                "is kept for the host's own capabilities",
                hint="Give the capability, and its folder, another id.",
                file=f"{candidate.path}/capability.json",
            )
        )
    return found


def _deeper(
    candidate: Candidate, manifest: Manifest, contract: HostContract
) -> Iterator[Problem]:
    """Yield what only a manifest that is valid by itself can be asked."""
    yield from check_contract(manifest, contract)
    yield from undispatched(manifest, contract)
    # Against nobody: what is left is what the manifest claims twice by itself.
    yield from duplicates(Draft(Index(), {}), manifest)
    yield from fragment_texts(candidate, manifest)[1]
    wanted = manifest.engines.msd
    if wanted is not None and not is_range(wanted):
        yield Problem(
            code="bad-range",
            path=pointer("engines", "msd"),
            message=f"{quoted(wanted)} is no npm range, so no host satisfies it",
            hint="Write a range such as >=1.6.0 <3.0.0.",
        )

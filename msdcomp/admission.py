"""The gates of the fold: whether one candidate joins, and if not, why.

The first gate that fails decides; every problem of that gate is reported, not only the
first one. What a skipped candidate would have checked is recorded whatever the reason.
Source: docs/explanation/composition.md, "The nine gates".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import attrs

from msdcomp.candidate import Candidate, FragmentText
from msdcomp.crosscheck import Outlook, violations
from msdcomp.diagnostics import Problem, pointer
from msdcomp.fitting import plainly_fits
from msdcomp.flow import Flow
from msdcomp.invariants import Draft, collisions, quoted
from msdcomp.lostgates import blocked_gates
from msdcomp.records import Record
from msdcomp.registry import Entry
from msdcomp.safetext import is_capability_id
from msdcomp.scope import Consent, Scope
from msdcomp.semver import satisfies
from msdcomp.verdict import Skipped, SkipWarning
from msdcomp.vocabulary import RESERVED_PREFIXES

if TYPE_CHECKING:
    from msdcomp.contender import Contender
    from msdcomp.host import Host
    from msdcomp.manifest import Manifest

__all__ = ["Admission", "Fault", "fragment_texts", "skip"]


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Fault(Record):
    """A gate that a candidate failed."""

    code: str
    reason: str
    problems: tuple[Problem, ...]
    #: What to do, as far as it does not depend on the candidate's id.
    advice: str = ""


def _fault(code: str, message: str, advice: str) -> Fault:
    problem = Problem(code=code, message=message, hint=advice)
    return Fault(code=code, reason=message, problems=(problem,), advice=advice)


def _summed(code: str, what: str, problems: tuple[Problem, ...]) -> Fault:
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Fault(
        code=code,
        reason=f"{what}: {first.message}{more}",
        problems=problems,
        advice=(first.hint or "") if len(problems) == 1 else _MEND,
    )


#: What to do about several problems at once; each has a hint of its own.
_MEND = "Mend what the problems name."


# Gates 1 to 3 and the link rule look at the folder, not at what its manifest says.
# Their sentences are fixed: nothing an unconsented overlay wrote is repeated.


def _dangling(candidate: Candidate) -> Fault | None:
    if not candidate.dangling:
        return None
    return _fault(
        "unreadable",
        "the folder is a symbolic link that leads nowhere",
        "Replace the link by a real folder, or delete it.",
    )


def _linked(candidate: Candidate) -> Fault | None:
    if not candidate.linked or candidate.scope is not Scope.PROJECT:
        return None
    return _fault(
        "linked-folder",
        "the folder is a symbolic link, which is not followed inside a project",
        "Replace the link by a real folder.",
    )


def _pending(candidate: Candidate) -> Fault | None:
    if not candidate.pending:
        return None
    return _fault(
        "pending",
        "an install or upgrade of it has not finished",
        "Run `msd capability reconcile` to finish or roll back what was begun.",
    )


_CONSENT_FAULTS = {
    Consent.NONE: (
        "unconsented",
        "nobody has agreed to this project overlay on this machine",
        "once you have looked at what it does",
    ),
    Consent.CHANGED: (
        "consent-changed",
        "its files are not the ones that were agreed to",
        "once you have looked at what changed",
    ),
}


def _unconsented(candidate: Candidate) -> Fault | None:
    if candidate.scope is not Scope.PROJECT:
        return None
    if candidate.consent is Consent.UNREADABLE:
        return _fault(
            "consent-unreadable",
            "the store of consent records cannot be read, so no consent can be found",
            "Repair the file .msd/consent.json in your home, or move it away.",
        )
    if candidate.consent not in _CONSENT_FAULTS:
        return None
    code, message, when = _CONSENT_FAULTS[candidate.consent]
    # A name that is no id could not be agreed to by any command.
    return _fault(
        code,
        message,
        f"Run `msd capability trust {candidate.folder}` {when}."
        if is_capability_id(candidate.folder)
        else "Give the folder a valid id, then look at what it does.",
    )


def _unread(candidate: Candidate) -> Fault | None:
    if candidate.decoded is None:
        why = candidate.unreadable or "there is no manifest"
        return _fault(
            "unreadable",
            f"its `capability.json` cannot be read: {why}",
            "Put a regular file of at most 8 MiB there.",
        )
    if not candidate.decoded.is_object:
        what = "its `capability.json` is not strict JSON holding one object"
        return _summed("not-json", what, candidate.decoded.problems)
    return None


def _reserved(candidate: Candidate) -> Fault | None:
    prefix = next((p for p in RESERVED_PREFIXES if candidate.folder.startswith(p)), "")
    if not prefix:
        return None
    return _fault(
        "reserved-prefix",
        f'ids beginning with "{prefix}" are kept for the host\'s own capabilities',
        "Give the capability, and its folder, another id.",
    )


def _invalid(candidate: Candidate) -> Fault | None:
    decoded = candidate.decoded
    if decoded is None or decoded.manifest is not None:
        return None
    return _summed("invalid-manifest", "its manifest is not valid", decoded.problems)


_ALONE: tuple[Callable[[Candidate], Fault | None], ...] = (
    _dangling,
    _linked,
    _pending,
    _unconsented,
    _unread,
    _reserved,
    _invalid,
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Admission(Record):
    """What a candidate is judged against; one per fold.

    Attributes:
        draft: Members so far. Grows only in `msdcomp.fold`.
        host: Version, loop and central configuration keys.
        flow: Data flow among the first party's hooks.
        outlook: What became of the other candidates.
        accepted: Overlays that joined, by id.
    """

    draft: Draft
    host: Host
    flow: Flow
    outlook: Outlook
    accepted: dict[str, Candidate]

    def judge(self, contender: Contender) -> Entry | Skipped:
        """Return the entry a candidate joins with, or why it is left out.

        Cost: what the candidate declares; nothing here walks the set.
        """
        candidate, outline = contender
        for gate in _ALONE:
            fault = gate(candidate)
            if fault is not None:
                return self._skip(candidate, fault)
        assert outline is not None  # noqa: S101 - the gates saw to it
        manifest = outline.manifest
        fits = plainly_fits(outline, self.draft)
        fault = (None if fits else self._collides(manifest)) or self._too_new(manifest)
        if fault is not None:
            # What the accepted copy of a shadowed one checks as well is not lost.
            return self._skip(candidate, fault, enforced=self.accepted.get(manifest.id))
        texts, problems = (
            fragment_texts(candidate, manifest) if outline.reads_files else ({}, [])
        )
        if problems:
            what = "a fragment file cannot be used"
            return self._skip(candidate, _summed("bad-fragment", what, tuple(problems)))
        broken = () if fits else self._broken(manifest)
        if not broken:
            return Entry(manifest=manifest, fragments=texts)
        what = "it does not fit the capabilities that are already there"
        about = (other for problem in broken for other in problem.about)
        because = tuple(
            key for other in dict.fromkeys(about) for key in self.outlook.keys(other)
        )
        return self._skip(
            candidate, _summed("invariant", what, broken), because=because
        )

    def _broken(self, manifest: Manifest) -> tuple[Problem, ...]:
        return violations(
            self.draft, manifest, self.host.contract, self.flow, self.outlook
        )

    def _skip(
        self,
        candidate: Candidate,
        fault: Fault,
        *,
        enforced: Candidate | None = None,
        because: tuple[tuple[str, str], ...] = (),
    ) -> Skipped:
        return skip(
            candidate,
            fault,
            self.host,
            enforced=enforced,
            because=because,
            rival=self._has_rival(candidate),
        )

    def _has_rival(self, candidate: Candidate) -> bool:
        """Tell whether the other scope has an overlay of the same id, too.

        Taking one away without a scope takes the global one, which is decided first.
        """
        earlier = self.outlook.keys(candidate.folder)
        return candidate.folder in self.accepted or (
            candidate.scope is Scope.PROJECT
            and (Scope.GLOBAL.value, candidate.folder) in earlier
        )

    def _collides(self, manifest: Manifest) -> Fault | None:
        if manifest.id in self.accepted:
            return _fault(
                "shadowed",
                "an overlay of the same id was accepted before it, and only that "
                "order decided",
                "Remove one of the two copies.",
            )
        found = collisions(self.draft, manifest, self.host.central)
        if not found:
            return None
        return _summed("collision", "first come, first served", found)

    def _too_new(self, manifest: Manifest) -> Fault | None:
        wanted = manifest.engines.msd
        running = self.host.version
        if wanted is None or satisfies(running, wanted):
            return None
        message = (
            f"version {manifest.version} of it needs a host in the range "
            f"{quoted(wanted)}, and this host is {quoted(running)}"
        )
        problem = Problem(
            code="incompatible-engine",
            path=pointer("engines", "msd"),
            message=message,
            hint="Install a version of it that is made for this host.",
        )
        return Fault(
            code="incompatible-engine",
            reason=message,
            problems=(problem,),
            advice=problem.hint or "",
        )


def fragment_texts(
    candidate: Candidate, manifest: Manifest
) -> tuple[dict[str, str], list[Problem]]:
    """Return the texts of the files that a manifest names, and what is wrong there."""
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    feature = manifest.feature
    if feature is None:
        return texts, problems
    hooks = (
        *(("steps", n, step.fragment) for n, step in enumerate(feature.steps)),
        *(
            ("contributions", n, c.fragment)
            for n, c in enumerate(feature.contributions)
        ),
    )
    for group, index, fragment in hooks:
        file = None if fragment is None else fragment.file
        if file is None:
            continue
        found = candidate.fragments.get(file)
        if isinstance(found, FragmentText) and found.text:
            texts[file] = found.text
            continue
        code, why = ("fragment-unreadable", "it was not read")
        if isinstance(found, FragmentText):
            code, why = ("fragment-empty", "it is empty")
        elif found is not None:
            code, why = (found.code, found.reason)
        problems.append(
            Problem(
                code=code,
                path=pointer(group, index, "fragment", "path"),
                message=f"the fragment file {quoted(file)} cannot be used: {why}",
                hint="Put the text there, as a file of the bundle's own.",
            )
        )
    return texts, problems


def skip(
    candidate: Candidate,
    fault: Fault,
    host: Host,
    *,
    enforced: Candidate | None = None,
    because: tuple[tuple[str, str], ...] = (),
    rival: bool = False,
) -> Skipped:
    """Return the record of a candidate that is left out.

    Args:
        candidate: Whatever it is.
        fault: The gate it failed.
        host: For the points of its loop.
        enforced: An accepted overlay of the same id, whose gates are not lost.
        because: Skipped candidates it depended on.
        rival: An overlay of the same id, which the command must not aim at, is in the
            other scope.
    """
    remedy = _remedy(candidate, fault, rival=rival)
    warning = SkipWarning(
        code=fault.code,
        scope=candidate.scope.value,
        capability_id=candidate.folder,
        path=candidate.path,
        reason=fault.reason,
        problems=candidate.placed(fault.problems),
        remedy=remedy,
        because=because,
    )
    gates = blocked_gates(candidate, warning, host.contract, enforced)
    return Skipped(warning=warning, gates=gates)


def _remedy(candidate: Candidate, fault: Fault, *, rival: bool) -> str:
    """Say what to do: the cure first, taking the overlay away last.

    A command names the id only when it can be typed as it stands.
    """
    scope = candidate.scope.value
    folder = candidate.folder
    if not is_capability_id(folder):
        return f"{fault.advice} Or delete its folder in {scope} scope."
    # The command must not aim at the other copy.
    only = f" --scope {scope}" if rival else ""
    return (
        f"{fault.advice} Or take {candidate.path} ({scope}) away: "
        f"`msd capability remove {folder}{only}`"
    )

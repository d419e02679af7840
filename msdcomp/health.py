"""What is not as it should be, as values: each finding names its place and its remedy.

Source: docs/reference/doctor.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import attrs

from msdcomp.records import Record

__all__ = [
    "CHECKS",
    "SEVERITIES",
    "Finding",
    "Severity",
    "finding",
    "is_sound",
    "ranked",
]

#: `error`: something does not do what it is there for, or is not what was agreed to.
#: `warning`: it works, and somebody should look. `info`: it is so, and may be meant.
Severity: TypeAlias = Literal["error", "warning", "info"]

#: From the worst to the mildest.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")

#: Code -> how much it matters. A code is permanent; docs/reference/doctor.md says what
#: each means.
CHECKS: Mapping[str, Severity] = MappingProxyType(
    {
        # where to look
        "home-missing": "warning",
        "no-project": "info",
        "no-global-scope": "info",
        "root-unreadable": "error",
        "not-an-overlay": "info",
        "policy-unreadable": "error",
        "policy-entry-useless": "warning",
        "surface-unreadable": "error",
        "git-missing": "warning",
        "git-absent": "info",
        # the stores
        "ledger-unreadable": "error",
        "ledger-entry-unclear": "warning",
        "consent-unreadable": "error",
        "consent-record-unclear": "warning",
        # what a killed command has left
        "interrupted": "error",
        "staging-left": "warning",
        "temporary-left": "warning",
        "provisional-left": "warning",
        # what is installed
        "folder-missing": "error",
        "folder-replaced": "error",
        "folder-unreadable": "error",
        "differs-from-agreed": "error",
        "differs-from-installed": "warning",
        "agreement-missing": "warning",
        "agreement-unused": "info",
        "hand-made": "info",
        "odd-files": "warning",
        "odd-shared-edits": "warning",
        "source-unusable": "warning",
        "source-gone": "info",
        # settings of hosts
        "settings-unreadable": "error",
        "settings-not-looked-at": "warning",
        "hook-missing": "error",
        "hook-stale": "warning",
        "hook-orphaned": "warning",
        "script-missing": "error",
        "script-not-executable": "error",
        # what is composed
        "nothing-composed": "error",
        "left-out": "warning",
        "gate-not-enforced": "error",
        "advisory-gate-not-enforced": "warning",
    }
)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class Finding(Record):
    """Something that is not as it should be, or that a person may want to know.

    All of its text is safe to show; commands stand in backquotes.

    Attributes:
        code: A key of `CHECKS`.
        scope: `global` or `project`; empty for what belongs to neither.
        subject: Id of a capability, or path of a file relative to the root of the
            scope; empty for the scope as a whole.
        reason: A clause for a person.
        remedy: What to do about it; empty where there is nothing to be done.
        cause: Code of `msdcomp.codes`, of what composing has found.
    """

    code: str
    scope: str = ""
    subject: str = ""
    reason: str
    remedy: str = ""
    cause: str = ""

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        return CHECKS[self.code]


def finding(code: str, reason: str, remedy: str = "", **fields: str) -> Finding:
    """Return a finding.

    Raises:
        ValueError: There is no such code.
    """
    if code not in CHECKS:
        raise ValueError(f"{code} is no check")
    return Finding(code=code, reason=reason, remedy=remedy, **fields)


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity, the worst first, and else in the order given."""
    return tuple(sorted(findings, key=lambda one: SEVERITIES.index(one.severity)))


def is_sound(findings: Iterable[Finding]) -> bool:
    """Tell whether nothing found needs anybody to do something."""
    return all(one.severity == "info" for one in findings)

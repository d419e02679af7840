"""Which machines a project lets capabilities be fetched from.

A project that says nothing allows every one. One that says something nobody can make
sense of meant to forbid, so it gets the strict answer: this machine and no other.
Source: docs/reference/sources.md, "Hosts that a project allows".
"""

from __future__ import annotations

import re
from typing import Self

import attrs

from msdcomp.configlayers import ConfigLayers, Origin, lookup
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import SourceSpec
from msdcomp.sourceurl import plain_host

__all__ = ["POLICY_KEY", "SourcePolicy"]

#: The key of the project's configuration that holds the policy.
POLICY_KEY = "capabilities.strict_known_registries"

#: The entry that is no host: the registry that npm asks where nobody has set one.
_NPM = "npm"

#: Most useless entries that a fault repeats.
_MOST_SHOWN = 3

#: How the name of a host ends that is an address, in any of its spellings.
_NUMBER = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)")

_HINT = f"{POLICY_KEY} in the project's configuration lists the hosts that are allowed"
_ONLY_HERE = "so only what lies on this machine is allowed"


@attrs.frozen(kw_only=True, eq=False, repr=False)
class SourcePolicy(Record):
    """Where capabilities may be fetched from; without arguments, from everywhere.

    Attributes:
        hosts: Names that are allowed with all their subdomains, in lower case and
            without a final dot; None where every host is.
        npm: Whether the registry that npm asks by default is, without being named.
        useless: Entries that are no plain names of hosts, as they were written.
        closed: Why no host at all is allowed, a clause; empty where one may be.

    >>> policy = SourcePolicy.from_value(["Forge.example"])
    >>> policy.allows("git.forge.example"), policy.allows("forge.example.org")
    (True, False)
    """

    hosts: frozenset[str] | None = None
    npm: bool = False
    useless: tuple[str, ...] = ()
    closed: str = ""

    @classmethod
    def of(cls, layers: ConfigLayers) -> Self:
        """Return the policy of a configuration; one that is unreadable closes all."""
        found = lookup(POLICY_KEY, layers, {})
        if found.origin is Origin.UNREADABLE:
            why = safe(found.reason, 120)
            return cls._shut(f"the configuration cannot be read ({why})")
        return cls.from_value(found.value)

    @classmethod
    def from_value(cls, value: object) -> Self:
        """Return the policy of the key's value, which may be any JSON; None is unset.

        The types are held to the letter: a text is no list of one host.
        """
        if value is None:
            return cls()
        entries = tuple(value) if isinstance(value, list | tuple) else (None,)
        if not entries:
            return cls._shut(f"{POLICY_KEY} is an empty list")
        texts = tuple(entry for entry in entries if isinstance(entry, str))
        if len(texts) < len(entries):
            return cls._shut(f"{POLICY_KEY} is not a list of host names")
        named = tuple(text for text in texts if text.lower() != _NPM)
        usable = (plain_host(text) for text in named)
        return cls(
            hosts=frozenset(host for host in usable if host is not None),
            npm=len(named) < len(texts),
            useless=tuple(text for text in named if plain_host(text) is None),
        )

    @classmethod
    def _shut(cls, why: str) -> Self:
        return cls(hosts=frozenset(), closed=f"{why}, {_ONLY_HERE}")

    def allows(self, host: str) -> bool:
        """Tell whether a host may be spoken to, because it or one above is listed."""
        if self.hosts is None:
            return True
        name = plain_host(host)
        if name is None:
            return False
        if _NUMBER.fullmatch(name):
            # Nothing is above an address: 10.0.0.1 is no part of 0.0.1.
            return name in self.hosts
        labels = name.split(".")
        above = (".".join(labels[start:]) for start in range(len(labels)))
        return any(candidate in self.hosts for candidate in above)

    def with_host(self, host: str) -> Self:
        """Return the policy that allows one host more, where it is one's name."""
        name = plain_host(host)
        if self.hosts is None or name is None:
            return self
        return attrs.evolve(self, hosts=self.hosts | {name})

    def fault(self, spec: SourceSpec) -> SourceFault | None:
        """Return why a source may not be asked, as far as its text tells.

        Which hosts a package comes from, and where a server redirects to, is known
        only later: `host_fault` is for each of them.
        """
        if self.hosts is None or spec.is_here:
            return None
        if spec.kind == "npm":
            return None if self.npm or self.hosts else self._refusing("npm")
        return self.host_fault(spec.host or "")

    def host_fault(self, host: str) -> SourceFault | None:
        """Return why a host may not be spoken to, or None."""
        return None if self.allows(host) else self._refusing(host)

    def _refusing(self, what: str) -> SourceFault:
        if self.closed:
            return SourceFault("policy", self.closed, _HINT)
        shown = safe(what, 100) or "what is no host"
        reason = f"{shown} is not listed in {POLICY_KEY}"
        if self.useless:
            texts = [safe(text, 60) or "''" for text in self.useless[:_MOST_SHOWN]]
            more = len(self.useless) - len(texts)
            rest = f" and {more} more" if more else ""
            reason += f"; no plain names of hosts there: {', '.join(texts)}{rest}"
        return SourceFault("policy", reason, _HINT)

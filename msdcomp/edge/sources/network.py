"""Which machines may be spoken to: those that everybody on the internet reaches.

A source is a text by a stranger, or a redirect of one. It must not make this machine
knock at its own services, at those of its network, or at the address where clouds hand
out credentials.

A name is resolved once, its addresses are checked, and the connection goes to a checked
address: asking again would let a name server give another answer the second time.
Source: docs/reference/sources.md, "Addresses".
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time

import attrs

from msdcomp.edge.sources.options import Options
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault

__all__ = ["Deadline", "Endpoint", "endpoints", "is_public"]

# Spelled out, since `is_global` of the standard library changes with its version.
# From the registries of special-purpose addresses (RFC 6890 and its successors).
_CLOSED4 = tuple(
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
#: All that is routed in the internet of IPv6; the rest is local, reserved or multicast.
_OPEN6 = ipaddress.IPv6Network("2000::/3")
_CLOSED6 = tuple(
    ipaddress.IPv6Network(text)
    for text in ("2001::/23", "2001:db8::/32", "3fff::/20", "3ffe::/16")
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")


def is_public(address: str) -> bool:
    """Tell whether an address is one that everybody reaches; text that is none is not.

    An address of IPv6 that carries one of IPv4 is as public as what it carries.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in net for net in _CLOSED4)
    if ip.scope_id is not None:
        return False
    carried = ip.ipv4_mapped or _carried(ip)
    if carried is not None:
        return is_public(str(carried))
    return ip in _OPEN6 and not any(ip in net for net in _CLOSED6)


def _carried(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip in _NAT64:
        return ipaddress.IPv4Address(int(ip) & 0xFFFF_FFFF)
    if ip in _SIX_TO_FOUR:
        return ipaddress.IPv4Address(int(ip) >> 80 & 0xFFFF_FFFF)
    return None


class Deadline:
    """The moment at which the whole of a fetch must be over."""

    def __init__(self, seconds: float) -> None:
        """Start counting."""
        self._end = time.monotonic() + seconds
        self._seconds = seconds

    def left(self) -> float:
        """Return the seconds that are left, never less than nothing."""
        return max(0.0, self._end - time.monotonic())

    def fault(self) -> SourceFault:
        """Return the fault of not being ready in time."""
        return SourceFault("timeout", f"not ready within {self._seconds:g} seconds")


@attrs.frozen(eq=False, repr=False)
class Endpoint(Record):
    """A checked address to connect to."""

    family: int
    address: str
    port: int


def endpoints(
    host: str, port: int, options: Options, deadline: Deadline
) -> tuple[Endpoint, ...] | SourceFault:
    """Return the addresses of a host that the project allows, all of them checked.

    One that is not public is enough to refuse the host: its name server may have been
    told to mix them.
    """
    # Before the name is looked up, which tells others that somebody asks for it.
    refused = options.policy.host_fault(host)
    if refused is not None:
        return refused
    found = _resolve(host, port, deadline)
    if isinstance(found, SourceFault):
        return found
    if options.allow_private or host.lower() in options.allow_hosts:
        return found
    for endpoint in found:
        if not is_public(endpoint.address):
            return SourceFault(
                "private-address",
                f"{safe(host, 100)} is {endpoint.address}, which is no public address",
                "allow the host by name if it is one of yours",
            )
    return found


def _resolve(
    host: str, port: int, deadline: Deadline
) -> tuple[Endpoint, ...] | SourceFault:
    """Ask the system for addresses, which it has no time limit for, in a thread."""
    answer: list[tuple[Endpoint, ...] | SourceFault] = []

    def ask() -> None:
        answer.append(_ask(host, port))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(deadline.left())
    return answer[0] if answer else deadline.fault()


def _ask(host: str, port: int) -> tuple[Endpoint, ...] | SourceFault:
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        rows = []
    # The order is the system's preference; repeated answers are of no use.
    found = dict.fromkeys(
        Endpoint(family, str(where[0]), port) for family, _, _, _, where in rows
    )
    if not found:
        return SourceFault("unknown-host", f"{safe(host, 100)} has no address")
    return tuple(found)

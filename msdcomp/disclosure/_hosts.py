"""Whether an address is this machine, told from its text alone.

Saying "stays on this machine" of an address that does not is the one mistake that
matters here, so whatever is not plainly understood is not local.
Source: docs/reference/disclosure.md, "Where a lane sends to".
"""

from __future__ import annotations

import re

__all__ = ["is_local", "normal_host"]

# No user part, no backslash, no white space: forms that readers take for other hosts.
_ADDRESS = re.compile(
    r"(?:https?://)?(?:\[(?P<v6>[0-9a-f:.]{2,45})\]|(?P<name>[a-z0-9.-]{1,253}))"
    r"(?::(?P<port>[0-9]{1,5}))?(?:/[!-~]*)?",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"0x[0-9a-f]{1,8}|0[0-7]{0,11}|[1-9][0-9]{0,9}", re.IGNORECASE)
_GROUP = re.compile(r"[0-9a-f]{1,4}", re.IGNORECASE)
_MAPPED = re.compile(r"(?:::|(?:0{1,4}:){5})ffff:(?P<v4>[0-9.]+)", re.IGNORECASE)


def is_local(address: str) -> bool:
    """Tell whether an address is provably this machine.

    The loopback addresses count in every spelling that resolvers take (`127.1`,
    decimal, hexadecimal, octal, mapped into IPv6), and so does 0.0.0.0.

    >>> is_local("http://127.1:8080/v1"), is_local("http://localhost@example.org")
    (True, False)
    """
    matched = _ADDRESS.fullmatch(address.strip(" "))
    if matched is None or "\\" in address:
        return False
    if matched["v6"] is not None:
        mapped = _MAPPED.fullmatch(matched["v6"])
        if mapped:
            return _is_local_v4(mapped["v4"])
        return _is_local_v6(matched["v6"])
    name = matched["name"].lower()
    return name in {"localhost", "localhost."} or _is_local_v4(name)


def normal_host(address: str) -> str:
    """Return host and port of an address in one spelling, to compare it later.

    What is no plain address stays as it is, but for spaces around it.

    >>> normal_host("https://API.example.org:443/v1")
    'api.example.org:443'
    """
    text = address.strip(" ")
    matched = _ADDRESS.fullmatch(text)
    if matched is None:
        return text
    v6, name, port = matched["v6"], matched["name"], matched["port"]
    host = f"[{v6.lower()}]" if v6 is not None else name.lower().rstrip(".")
    return host if port is None else f"{host}:{port}"


def _is_local_v6(address: str) -> bool:
    """Tell whether an address is `::` or `::1`, in whatever spelling."""
    before, gap, after = address.partition("::")
    ends = [before, after] if gap else [address]
    groups = [group for end in ends if end for group in end.split(":")]
    if len(groups) > 7 if gap else len(groups) != 8:
        return False
    if not all(_GROUP.fullmatch(group) for group in groups):
        return False
    # With the gap last, what stands before it is the high end and must be zero too.
    last = groups.pop() if groups and not (gap and not after) else "0"
    return not any(map(_hex, groups)) and _hex(last) <= 1


def _hex(digits: str) -> int:
    return int(digits, 16)


def _is_local_v4(text: str) -> bool:
    """Tell whether an address, read as `inet_aton` does, is 127.x.x.x or 0.0.0.0."""
    parts = text.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return False
    numbers = [_number(part) for part in parts]
    last = 256 ** (5 - len(numbers))
    if any(number > 255 for number in numbers[:-1]) or numbers[-1] >= last:
        return False
    value = numbers[-1]
    for place, number in enumerate(numbers[:-1]):
        value += number << (24 - 8 * place)
    return value >> 24 == 127 or value == 0


def _number(digits: str) -> int:
    if digits[:2].lower() == "0x":
        return int(digits, 16)
    return int(digits, 8) if digits[0] == "0" else int(digits)

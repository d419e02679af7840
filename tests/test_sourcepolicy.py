"""Which hosts a project allows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msdcomp.configlayers import ConfigLayers, Unreadable
from msdcomp.safetext import safe
from msdcomp.sourcepolicy import POLICY_KEY, SourcePolicy
from msdcomp.sourcespec import SourceSpec, parse_source

LOCAL = ("/srv/ui", "./ui", "/srv/ui.tgz", "file:///srv/ui", "git+file:///srv/ui")
REMOTE = ("https://h.example/x.tgz", "git+https://h.example/r", "git@h.example:r")


def _spec(text: str) -> SourceSpec:
    found = parse_source(text, "/")
    assert isinstance(found, SourceSpec), found
    return found


def _told(policy: SourcePolicy, text: str) -> str | None:
    """Return the reason of the fault of a source, if it has one."""
    fault = policy.fault(_spec(text))
    if fault is None:
        return None
    assert fault.code == "policy"
    assert POLICY_KEY in fault.hint
    return fault.reason


def _config(value: object) -> dict[str, Any]:
    return {"capabilities": {"strict_known_registries": value}}


# Where it is read.


@pytest.mark.parametrize(
    "layers",
    [
        ConfigLayers(),
        ConfigLayers(project={}),
        ConfigLayers(project={"capabilities": {}}),
        ConfigLayers(project=_config(None)),
    ],
)
def test_t13_a_project_that_says_nothing_allows_everything(
    layers: ConfigLayers,
) -> None:
    policy = SourcePolicy.of(layers)

    assert policy == SourcePolicy()
    for text in (*LOCAL, *REMOTE, "npm:ui"):
        assert _told(policy, text) is None


def test_t13_the_list_of_the_project_is_read() -> None:
    policy = SourcePolicy.of(ConfigLayers(project=_config(["H.example", "npm"])))

    assert policy == SourcePolicy(hosts=frozenset({"h.example"}), npm=True)


def test_t13_a_configuration_that_is_unreadable_allows_this_machine_only() -> None:
    policy = SourcePolicy.of(ConfigLayers(project=Unreadable("line 1, column 2: odd")))

    assert "line 1, column 2: odd" in (_told(policy, "https://h.example/x.tgz") or "")
    assert _told(policy, "npm:ui")
    assert _told(policy, "./ui") is None


@pytest.mark.parametrize(
    "value",
    [
        "h.example",
        "",
        5,
        0,
        True,
        False,
        {},
        {"h.example": 1},
        ["h.example", 5],
        [None],
    ],
)
def test_t13_what_is_no_list_of_texts_allows_this_machine_only(value: object) -> None:
    policy = SourcePolicy.of(ConfigLayers(project=_config(value)))

    for text in (*REMOTE, "npm:ui"):
        assert _told(policy, text) == (
            f"{POLICY_KEY} is not a list of host names, "
            "so only what lies on this machine is allowed"
        )
    for text in LOCAL:
        assert _told(policy, text) is None


def test_t13_an_empty_list_allows_this_machine_only() -> None:
    policy = SourcePolicy.from_value([])

    for text in (*REMOTE, "npm:ui"):
        assert _told(policy, text) == (
            f"{POLICY_KEY} is an empty list, "
            "so only what lies on this machine is allowed"
        )
    for text in LOCAL:
        assert _told(policy, text) is None


# Hosts.


@pytest.mark.parametrize(
    "host",
    ["h.example", "H.EXAMPLE", "h.example.", "git.h.example", "a.b.h.example."],
)
def test_t13_a_host_and_those_below_it_are_allowed(host: str) -> None:
    assert SourcePolicy.from_value(["H.Example."]).allows(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        ".",
        "example",
        "xh.example",
        "h.example.org",
        "h.example..",
        "h-example",
        "h.example:443",
        "h.exam\u212ale",
        "npm",
        "x.npm",
    ],
)
def test_t13_other_hosts_are_not(host: str) -> None:
    policy = SourcePolicy.from_value(["h.example", "npm", "k.example"])

    assert not policy.allows(host)
    assert policy.host_fault(host)


def test_t13_nothing_lies_above_an_address() -> None:
    policy = SourcePolicy.from_value(["1", "0.0.1", "0x1", "10.0.0.2", "8.example"])

    for host in ("10.0.0.1", "127.1", "10.0.0x1", "::1", "2001:db8::1"):
        assert not policy.allows(host), host
    assert policy.allows("10.0.0.2")
    assert policy.allows("1")
    assert policy.allows("8.8.example")


def test_t13_an_entry_that_names_no_host_is_of_no_use_and_told() -> None:
    odd = ["https://h.example", "h.example:443", "h.example/", "*.h.example", ""]
    policy = SourcePolicy.from_value(["k.example", *odd])

    assert _told(policy, "https://k.example/x.tgz") is None
    assert _told(policy, "https://h.example/x.tgz") == (
        f"h.example is not listed in {POLICY_KEY}; no plain names of hosts there: "
        "https://h.example, h.example:443, h.example/ and 2 more"
    )
    assert _told(SourcePolicy.from_value([""]), "npm:ui") == (
        f"npm is not listed in {POLICY_KEY}; no plain names of hosts there: ''"
    )


def test_t13_npm_admits_packages_and_no_host() -> None:
    policy = SourcePolicy.from_value(["npm"])

    assert _told(policy, "npm:ui") is None
    for text in REMOTE:
        assert _told(policy, text)


def test_t13_a_package_may_come_from_any_host_that_is_listed() -> None:
    """Which it comes from is known to whoever asks the registry."""
    assert _told(SourcePolicy.from_value(["h.example"]), "npm:ui") is None


@pytest.mark.parametrize(
    "spec",
    [
        SourceSpec("local", "//server/share"),
        SourceSpec("git", "file:////server/share"),
        SourceSpec("git", "nonsense"),
        SourceSpec("other", "x"),
    ],
)
def test_t13_what_is_neither_here_nor_on_a_listed_host_is_refused(
    spec: SourceSpec,
) -> None:
    assert SourcePolicy.from_value(["h.example", "npm"]).fault(spec)


def test_one_host_more_can_be_allowed() -> None:
    policy = SourcePolicy.from_value(["npm"])

    assert policy.with_host("H.example").allows("h.example")
    assert policy.with_host("::1") is policy
    assert SourcePolicy().with_host("h.example") == SourcePolicy()


# Laws.

labels = st.sampled_from(["a", "b", "ab", "A", "x-y", "example", "1", "0x1", "npm"])
hosts = st.lists(labels, min_size=1, max_size=4).map(".".join)
odd = st.one_of(
    hosts.map("https://{}".format),
    hosts.map("{}:443".format),
    hosts.map("{}/x".format),
    hosts.map("*.{}".format),
    hosts.map(" {}".format),
    st.sampled_from(["", ".", "..", "::1", "\u212a", "\x1b[31m"]),
)
json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | hosts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(hosts, inner),
    max_leaves=6,
)


def _plain(text: str) -> list[str]:
    return text.lower().split(".")


@given(json, st.text(max_size=8) | hosts)
def test_reading_a_policy_is_total_and_only_its_absence_allows_all(
    value: Any, host: str
) -> None:
    policy = SourcePolicy.of(ConfigLayers(project=_config(value)))

    assert policy == SourcePolicy.from_value(value)
    assert (policy.hosts is None) == (value is None)
    fault = policy.host_fault(host)
    assert (fault is None) == policy.allows(host)
    if fault is not None:
        assert safe(fault.reason, 10_000) == fault.reason
    if not isinstance(value, list) and value is not None:
        assert not policy.allows(host)


@given(st.lists(hosts, max_size=4), hosts)
def test_a_host_is_allowed_if_and_only_if_it_ends_in_the_labels_of_an_entry(
    entries: list[str], host: str
) -> None:
    named = [_plain(entry) for entry in entries if entry.lower() != "npm"]
    wanted = _plain(host)
    address = wanted[-1] in {"1", "0x1"}
    expected = any(
        wanted == entry or (not address and wanted[-len(entry) :] == entry)
        for entry in named
    )

    assert SourcePolicy.from_value(entries).allows(host) == expected


@given(st.lists(hosts, max_size=4), hosts)
def test_neither_letter_case_nor_a_final_dot_counts(
    entries: list[str], host: str
) -> None:
    policy = SourcePolicy.from_value(entries)
    written = [e.upper() + ("." if e.lower() != "npm" else "") for e in entries]
    again = SourcePolicy.from_value(written)

    assert again == policy
    assert again.allows(f"{host.upper()}.") == policy.allows(host)


@given(st.lists(hosts, min_size=1, max_size=4), st.lists(odd, max_size=3), hosts)
def test_an_odd_entry_allows_nothing_and_takes_nothing_away(
    entries: list[str], useless: list[str], host: str
) -> None:
    policy = SourcePolicy.from_value(entries)
    more = SourcePolicy.from_value([*useless, *entries])

    assert (more.hosts, more.npm) == (policy.hosts, policy.npm)
    assert more.useless == tuple(useless)
    assert more.allows(host) == policy.allows(host)


@given(st.lists(hosts, max_size=4), hosts, hosts)
def test_an_entry_more_takes_nothing_away(
    entries: list[str], more: str, host: str
) -> None:
    before = SourcePolicy.from_value(entries)
    after = SourcePolicy.from_value([*entries, more])

    assert after.allows(host) or not before.allows(host)


@given(json)
def test_what_lies_on_this_machine_is_always_allowed(value: Any) -> None:
    policy = SourcePolicy.from_value(value)

    assert [_told(policy, text) for text in LOCAL] == [None] * len(LOCAL)

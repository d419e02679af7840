"""Packages of an npm registry, without the program npm.

The protocol is two requests: a document with all versions, and an archive. Speaking it
here means that nothing of a package can run, that the address guard holds, and that
what is unpacked is unpacked by our own rules.
Source: docs/reference/sources.md, "npm".
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from msdcomp.edge.sources.archives import integrity_fault
from msdcomp.edge.sources.https import download
from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.options import MAX_ARCHIVE_BYTES, Options
from msdcomp.edge.sources.process import environment, run
from msdcomp.edge.sources.staging import Refused
from msdcomp.edge.sources.versions import is_release, newest_first
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.semver import is_version
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcepolicy import POLICY_KEY
from msdcomp.sourcespec import Ref, SourceSpec
from msdcomp.sourceurl import Url, parse_url

__all__ = ["Package", "archive_of", "download_archive", "package"]

#: Most bytes of the document about a package.
_MAX_DOCUMENT = 32 * 1024 * 1024

#: The short form of the document, and the long one for registries without it.
_ACCEPT = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"

#: Leaves what npm itself came with. It refuses to read one file as both.
_WITHOUT_SETTINGS = ("--userconfig=/dev/null", "--globalconfig=/dev/null/none")


@attrs.frozen(eq=False, repr=False)
class Package(Record):
    """What a registry says about a package.

    Attributes:
        archives: Version -> URL and integrity of its archive.
        tags: Tag -> version.
        by_token: Whether the policy allows the registry as the one that npm asks by
            default, and with it the host that it keeps the archives on.
    """

    archives: Mapping[str, tuple[str, str]]
    tags: Mapping[str, str]
    by_token: bool = False

    def versions(self, ref: Ref | None) -> tuple[str, ...]:
        """Return the versions that a reference allows, newest first.

        Without one, every release. A range decides about prereleases as npm does.
        """
        if ref is None:
            return newest_first(v for v in self.archives if is_release(v))
        if ref.kind == "range":
            return newest_first(v for v in self.archives if _in_range(v, ref.name))
        named = ref.name if ref.kind == "version" else self.tags.get(ref.name, "")
        return (named,) if named in self.archives else ()

    def chosen(self, ref: Ref | None) -> str:
        """Return the version that npm would install.

        Raises:
            Refused: There is none.
        """
        offered = self.versions(ref)
        latest = self.tags.get("latest", "")
        if latest in offered or (ref is None and latest in self.archives):
            return latest
        if not offered:
            wanted = safe(ref.name, 80) if ref else "a release"
            raise Refused("unknown-version", f"the package does not offer {wanted}")
        return offered[0]


def _in_range(version: str, range_: str) -> bool:
    # Imported on use, as it is elsewhere: few commands ask a registry.
    import nodesemver  # noqa: PLC0415

    answer: bool = nodesemver.satisfies(version, range_, loose=False)
    return answer


def package(spec: SourceSpec, options: Options, deadline: Deadline) -> Package:
    """Ask the registry about a package.

    Raises:
        Refused: It does not know, or cannot be asked.
    """
    registry = _registry(options, deadline)
    by_token = _by_token(registry, options, deadline)
    if by_token:
        options = _admitting(registry, options)
    # The slash of a scoped name is part of the name.
    address = f"{registry.text.rstrip('/')}/{spec.location.replace('/', '%2F')}"
    data = download(address, _MAX_DOCUMENT, options, deadline, accept=_ACCEPT)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    found = _mapping(document)
    if not isinstance(found.get("versions"), dict):
        raise Refused("bad-registry", "the registry's answer is no package document")
    archives = {
        version: archive
        for version, about in found["versions"].items()
        if is_version(version) and (archive := _archive(about)) is not None
    }
    tags = {
        tag: version
        for tag, version in _mapping(found.get("dist-tags")).items()
        if isinstance(version, str)
    }
    return Package(MappingProxyType(archives), MappingProxyType(tags), by_token)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _archive(about: object) -> tuple[str, str] | None:
    dist = _mapping(_mapping(about).get("dist"))
    address, integrity = dist.get("tarball"), dist.get("integrity")
    if not isinstance(address, str):
        return None
    # Several hashes may be given; the strongest is the one that counts.
    given = integrity.split() if isinstance(integrity, str) else []
    strong = [text for text in given if text.startswith("sha512-")]
    return address, strong[0] if strong else ""


def archive_of(found: Package, version: str) -> tuple[str, str]:
    """Return URL and integrity of a version's archive.

    Raises:
        Refused: There is no such version, or no integrity to hold it against.
    """
    if version not in found.archives:
        raise Refused(
            "unknown-version", f"the package does not offer {safe(version, 80)}"
        )
    address, integrity = found.archives[version]
    if not integrity or integrity_fault(integrity) is not None:
        raise Refused(
            "no-integrity",
            f"the registry gives no sha512 for version {safe(version, 80)}",
        )
    return address, integrity


def download_archive(
    found: Package, address: str, options: Options, deadline: Deadline
) -> bytes:
    """Return the archive at an address that `archive_of` gave.

    Raises:
        Refused: It cannot be had, or is on a host that the policy does not allow.
    """
    url = parse_url(address)
    if found.by_token and isinstance(url, Url):
        options = _admitting(url, options)
    return download(address, MAX_ARCHIVE_BYTES, options, deadline)


def _admitting(url: Url, options: Options) -> Options:
    """Return options whose policy allows the host of a URL."""
    return attrs.evolve(options, policy=options.policy.with_host(url.host))


def _by_token(registry: Url, options: Options, deadline: Deadline) -> bool:
    """Tell whether the policy's `npm` stands for a registry.

    It does for the one that npm asks where nobody has set another. Which that is, npm
    says itself: what the user or the environment has set must not pass for it.
    """
    policy = options.policy
    if policy.hosts is None or not policy.npm:
        return False
    try:
        own = parse_url(_of_program(deadline, *_WITHOUT_SETTINGS).strip())
    except Refused as error:
        if error.fault.code != "no-registry":
            raise
        if policy.allows(registry.host):
            return False
        raise Refused(
            "policy",
            f"{safe(registry.host, 100)}: only the program npm knows whether it is "
            "the registry that npm stands for",
            f"list the host in {POLICY_KEY}",
        ) from None
    return isinstance(own, Url) and own.host == registry.host


def _registry(options: Options, deadline: Deadline) -> Url:
    """Return the base URL of the registry."""
    # In small letters, as npm itself reads it.
    text = options.registry or os.environ.get("npm_config_registry")  # noqa: SIM112
    text = (text or _of_program(deadline)).strip().rstrip("/")
    url = parse_url(text)
    if isinstance(url, SourceFault) or url.query or url.user:
        # Not repeated: there may be a secret in it.
        raise Refused("bad-registry", "what is set as the registry is no plain URL")
    if url.scheme != "https":
        raise Refused(
            "insecure-transport",
            f"{safe(url.host, 100)}: the registry is not spoken to over https",
        )
    return url


def _of_program(deadline: Deadline, *arguments: str) -> str:
    """Ask npm, if it is there, where it installs from."""
    hint = "set npm_config_registry, or name the registry"
    try:
        ran = run(
            ["npm", "config", "get", "registry", *arguments],
            # A project's own settings must not choose, so not in the user's folder.
            cwd="/",
            env=environment(("HOME",)),
            deadline=deadline,
            limit=4096,
        )
    except Refused as error:
        if error.fault.code != "no-program":
            raise
        raise Refused("no-registry", "no npm registry is known", hint) from None
    if ran.code or not ran.out.strip():
        raise Refused("no-registry", "npm does not say which registry to ask", hint)
    return ran.out.decode("utf-8", "replace")

"""A source becomes files in a staging folder; nothing of it is run or trusted.

Whatever goes wrong is a value, and leaves the staging folder empty.
Source: docs/reference/sources.md.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

from msdcomp.edge.sources.archives import check_integrity, integrity_fault, unpack
from msdcomp.edge.sources.folders import copy_folder, local_archive
from msdcomp.edge.sources.git import Repository
from msdcomp.edge.sources.https import download
from msdcomp.edge.sources.network import Deadline
from msdcomp.edge.sources.npm import archive_of, download_archive, package
from msdcomp.edge.sources.options import MAX_ARCHIVE_BYTES, Fetched, Latest, Options
from msdcomp.edge.sources.staging import Refused, Staging, fault_in_system
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import Ref, SourceSpec

__all__ = ["enumerates", "fetch", "latest", "versions"]

_DEFAULTS = Options()

_Given = ParamSpec("_Given")
_Found = TypeVar("_Found")


def _faults_as_values(
    ask: Callable[_Given, _Found],
) -> Callable[_Given, _Found | SourceFault]:
    """Have a function return the fault that ends it; what it raises is a defect."""

    @functools.wraps(ask)
    def asked(*args: _Given.args, **kwargs: _Given.kwargs) -> _Found | SourceFault:
        try:
            return ask(*args, **kwargs)
        except Refused as refused:
            return refused.fault
        except OSError as error:
            return fault_in_system(error)

    return asked


@_faults_as_values
def fetch(
    spec: SourceSpec,
    into: str,
    options: Options = _DEFAULTS,
    *,
    integrity: str | None = None,
    version: str | None = None,
) -> Fetched | SourceFault:
    """Put a bundle's files into an empty folder.

    Args:
        spec: Where the bundle comes from.
        into: A folder of the caller's, empty and closed to others. It is the bundle
            afterwards, `capability.json` at its top; after a fault it is empty.
        options: What is allowed.
        integrity: The `sha512-` value that the archive must have: the user's, or the
            one recorded when it was installed. Only for archives and npm.
        version: One of `versions(spec)`, to step down to it.

    Raises:
        KeyboardInterrupt: And whatever else ends a program; the folder is empty then.

    Source: docs/reference/sources.md, "What is verified".
    """
    fault = _unfit(spec, integrity, version)
    if fault:
        return fault
    _admit(spec, options)
    deadline = Deadline(options.timeout_s)
    with _emptied_on_failure(Staging(into)) as staging:
        found = _filled(spec, staging, options, deadline, integrity, version)
        staging.settle()
        return found


@contextlib.contextmanager
def _emptied_on_failure(staging: Staging) -> Iterator[Staging]:
    try:
        yield staging
    except BaseException:
        staging.clear()
        raise
    finally:
        staging.close()


def _unfit(
    spec: SourceSpec, integrity: str | None, version: str | None
) -> SourceFault | None:
    """Return what is wrong with a request, before anything is asked or made."""
    if version is not None and not enumerates(spec):
        return SourceFault(
            "no-versions", "the source holds one version and offers no other"
        )
    if integrity is None:
        return None
    if spec.kind == "git":
        return SourceFault(
            "integrity-unsupported",
            "a git repository has no archive whose hash could be checked",
            "pin a commit instead: #sha:<hex>",
        )
    return integrity_fault(integrity)


def _admit(spec: SourceSpec, options: Options) -> None:
    """Refuse what the project's policy does, before any program or server is asked.

    Raises:
        Refused: The source is on a host that is not allowed.
    """
    fault = options.policy.fault(spec)
    if fault is not None:
        raise Refused.of(fault)


def enumerates(spec: SourceSpec) -> bool:
    """Tell whether a source may offer several versions to choose from.

    A git repository does, by its tags, unless one state of it is named; a package
    does, unless one version of it is.
    """
    if spec.kind == "git":
        return spec.ref is None
    return spec.kind == "npm" and (spec.ref is None or spec.ref.kind == "range")


def _filled(
    spec: SourceSpec,
    staging: Staging,
    options: Options,
    deadline: Deadline,
    integrity: str | None,
    version: str | None,
) -> Fetched:
    if spec.kind == "git":
        return _from_git(spec, staging, options, deadline, version)
    if spec.kind == "npm":
        return _from_npm(spec, staging, options, deadline, integrity, version)
    if spec.kind == "archive":
        data = download(spec.location, MAX_ARCHIVE_BYTES, options, deadline)
    else:
        local = local_archive(spec.location)
        if local is None:
            if integrity is not None:
                raise Refused(
                    "integrity-unsupported",
                    "a folder has no archive whose hash could be checked",
                    "leave the integrity out, or pack the folder",
                )
            copy_folder(spec.location, staging, deadline)
            return Fetched(root=staging.path)
        data = local
    found = check_integrity(data, integrity)
    unpack(data, staging, deadline)
    return Fetched(root=staging.path, integrity=found)


def _from_git(
    spec: SourceSpec,
    staging: Staging,
    options: Options,
    deadline: Deadline,
    version: str | None,
) -> Fetched:
    with contextlib.closing(Repository(spec, options, deadline)) as repository:
        tips = repository.tips()
        offered = tips.versions() if enumerates(spec) else ()
        ref = spec.ref
        if version is not None:
            tag = tips.tagged().get(version)
            if tag is None:
                raise Refused(
                    "unknown-version", f"no tag for version {safe(version, 80)}"
                )
            ref = Ref("tag", tag.removeprefix("refs/tags/"))
        name, oid = repository.wanted(tips, ref)
        commit = repository.fetch(name, oid, tips)
        repository.write(commit, staging)
    return Fetched(root=staging.path, commit=commit, version=version, versions=offered)


def _from_npm(
    spec: SourceSpec,
    staging: Staging,
    options: Options,
    deadline: Deadline,
    integrity: str | None,
    version: str | None,
) -> Fetched:
    found = package(spec, options, deadline)
    chosen = version if version is not None else found.chosen(spec.ref)
    address, published = archive_of(found, chosen)
    if integrity is not None and integrity != published:
        raise Refused(
            "integrity-mismatch",
            f"the registry offers {published}, not {integrity}",
            "it was changed, or the value belongs to another version",
        )
    data = download_archive(found, address, options, deadline)
    check_integrity(data, published)
    unpack(data, staging, deadline)
    offered = found.versions(spec.ref) if enumerates(spec) else ()
    return Fetched(
        root=staging.path, integrity=published, version=chosen, versions=offered
    )


@_faults_as_values
def versions(
    spec: SourceSpec, options: Options = _DEFAULTS
) -> tuple[str, ...] | SourceFault:
    """Return the versions that a source offers, newest first, without prereleases.

    Empty for a source that holds one version: the caller has nothing to step down to.
    """
    if not enumerates(spec):
        return ()
    _admit(spec, options)
    deadline = Deadline(options.timeout_s)
    if spec.kind == "npm":
        return package(spec, options, deadline).versions(spec.ref)
    with contextlib.closing(Repository(spec, options, deadline)) as repository:
        return repository.tips().versions()


def latest(spec: SourceSpec, options: Options = _DEFAULTS) -> Latest:
    """Return what a source offers now, for `outdated`; nothing is fetched."""
    if spec.kind in {"local", "archive"}:
        return Latest(status="manual")
    if spec.ref is not None and spec.ref.kind in {"sha", "tag", "version"}:
        return Latest(status="pinned")
    found = _newest(spec, options)
    if isinstance(found, SourceFault):
        return Latest(status="unknown", fault=found)
    return found


@_faults_as_values
def _newest(spec: SourceSpec, options: Options) -> Latest:
    _admit(spec, options)
    deadline = Deadline(options.timeout_s)
    if spec.kind == "npm":
        found = package(spec, options, deadline)
        return Latest(status="version", version=found.chosen(spec.ref))
    with contextlib.closing(Repository(spec, options, deadline)) as repository:
        tips = repository.tips()
        offered = tips.versions() if spec.ref is None else ()
        if offered:
            commit = tips.refs[tips.tagged()[offered[0]]]
            return Latest(status="version", version=offered[0], commit=commit)
        _, commit = repository.wanted(tips, spec.ref)
        return Latest(status="commit", commit=commit)

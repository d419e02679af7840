"""Git repositories, without a work tree.

Objects are fetched into an empty bare repository and written out from there one by one,
so nothing that a repository can ask for happens: no hook, no filter, no monitor, no
submodule, no attribute. Only the commit that is wanted is fetched, unless it has to be
looked for.
Source: docs/reference/sources.md, "Git".
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping
from types import MappingProxyType

import attrs

from msdcomp.edge.sources.network import Deadline, Endpoint, endpoints
from msdcomp.edge.sources.options import MAX_ENTRIES, MAX_TOTAL_BYTES, Options
from msdcomp.edge.sources.process import Ran, environment, run
from msdcomp.edge.sources.scratch import scratch
from msdcomp.edge.sources.staging import Refused, Staging, is_left_out, split_name
from msdcomp.edge.sources.versions import is_release, newest_first
from msdcomp.records import Record
from msdcomp.safetext import safe
from msdcomp.semver import is_version
from msdcomp.sourcefault import SourceFault
from msdcomp.sourcespec import Ref, SourceSpec
from msdcomp.sourceurl import Url, parse_url, scp_host

__all__ = ["Repository", "Tips"]

#: Most bytes of a list of branches and tags, or of files.
_MAX_LIST = 16 * 1024 * 1024

_OBJECT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

#: Settings that no repository and no user may have otherwise here.
_SETTINGS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    # Beyond this, an object is streamed and not held in memory.
    "core.bigFileThreshold": "8m",
    "credential.helper": "",
    "fetch.recurseSubmodules": "false",
    # A pack stays a pack: one file, which has a largest size.
    "fetch.unpackLimit": "1",
    "gc.auto": "0",
    "http.followRedirects": "false",
    "maintenance.auto": "false",
    "protocol.version": "2",
    "submodule.recurse": "false",
}


@attrs.frozen(eq=False, repr=False)
class Tips(Record):
    """What a repository points at.

    Attributes:
        head: The commit of its default branch, if there is one.
        refs: `refs/heads/x`, `refs/tags/y` -> commit; a tag that is an object of its
            own counts as the commit it names.
    """

    head: str | None
    refs: Mapping[str, str]

    def tagged(self) -> dict[str, str]:
        """Return version -> full name of its tag, for tags `1.2.3` and `v1.2.3`."""
        found: dict[str, str] = {}
        for ref in sorted(self.refs):
            tag = ref.removeprefix("refs/tags/")
            # Sorted so, that of a version with both spellings counts which has no v.
            version = tag.removeprefix("v")
            if tag != ref and is_version(version):
                found.setdefault(version, ref)
        return found

    def versions(self) -> tuple[str, ...]:
        """Return the releases among the tags, newest first."""
        return newest_first(v for v in self.tagged() if is_release(v))


class Repository:
    """A repository elsewhere, and the empty one here that its objects go to."""

    def __init__(self, spec: SourceSpec, options: Options, deadline: Deadline) -> None:
        """Check where the repository is.

        Raises:
            Refused: It may not be spoken to.
        """
        self._deadline = deadline
        self._location = spec.location
        self._settings = dict(_SETTINGS)
        self._env = environment()
        self._env |= {
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "false",
            "SSH_ASKPASS": "false",
            "SSH_ASKPASS_REQUIRE": "never",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }
        held = scratch("msd-git-")
        if isinstance(held, SourceFault):
            raise Refused.of(held)
        self._folder = held
        self._env["HOME"] = self._folder.name
        self._bare = os.path.join(self._folder.name, "bare")  # noqa: PTH118
        try:
            self._aim(spec, options)
        except BaseException:
            self.close()
            raise

    def _aim(self, spec: SourceSpec, options: Options) -> None:
        """Prepare for the transport, and check where it leads."""
        url = parse_url(spec.location)
        scheme = url.scheme if isinstance(url, Url) else "ssh"
        self._env["GIT_ALLOW_PROTOCOL"] = scheme
        if scheme in {"http", "git"} and not options.allow_insecure:
            raise Refused("insecure-transport", f"{scheme}:// is not secure")
        if scheme == "ssh":
            self._speak_ssh(url if isinstance(url, Url) else None, options)
        elif scheme != "file" and isinstance(url, Url):
            self._speak_http(url, options)

    def close(self) -> None:
        """Remove what was fetched."""
        self._folder.cleanup()

    def _checked(self, host: str, port: int, options: Options) -> Endpoint:
        found = endpoints(host, port, options, self._deadline)
        if isinstance(found, SourceFault):
            raise Refused.of(found)
        return found[0]

    def _speak_http(self, url: Url, options: Options) -> None:
        """Have git connect to the address that was checked."""
        port = url.port or {"https": 443, "http": 80}.get(url.scheme, 9418)
        where = self._checked(url.host, port, options)
        if url.scheme == "git":
            # Its transport resolves by itself and cannot be told an address, which
            # whoever allows it at all has to know; an address needs no resolving.
            bracketed = f"[{where.address}]" if ":" in where.address else where.address
            self._location = f"git://{bracketed}:{port}{url.path}"
            return
        if not options.allow_private and url.host not in options.allow_hosts:
            self._require_pinning()
        address = f"[{where.address}]" if ":" in where.address else where.address
        self._settings["http.curloptResolve"] = f"{url.host}:{port}:{address}"
        if options.ca_file is not None:
            self._settings["http.sslCAInfo"] = options.ca_file

    def _require_pinning(self) -> None:
        """Refuse a git that would resolve the host again, and may get another answer.

        Raises:
            Refused: It is older than 2.37.
        """
        said = self._done("version").decode("utf-8", "replace")
        found = re.search(r"(\d+)\.(\d+)", said)
        if found is None or (int(found[1]), int(found[2])) < (2, 37):
            raise Refused(
                "git-too-old", "git 2.37 or later is needed to fetch over https"
            )

    def _speak_ssh(self, url: Url | None, options: Options) -> None:
        """Have ssh connect to the address that was checked, as the host it is."""
        # The user's own keys, agent and configuration are what lets him in.
        self._env |= environment(("HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK"))
        command = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes"
        command += " -oPermitLocalCommand=no -oClearAllForwardings=yes"
        host = url.host if url else scp_host(self._location) or ""
        refused = options.policy.host_fault(host)
        if refused is not None:
            raise Refused.of(refused)
        if not options.allow_private and host not in options.allow_hosts:
            port = (url.port if url else None) or 22
            where = self._checked(host, port, options)
            alias = host if port == 22 else f"[{host}]:{port}"
            command += f" -oHostName={where.address} '-oHostKeyAlias={alias}'"
        elif options.policy.hosts is not None:
            # What is listed is what is spoken to, and no host it is a nickname of.
            command += f" -oHostName={host}"
        self._env["GIT_SSH_COMMAND"] = command
        self._env["GIT_SSH_VARIANT"] = "ssh"

    def _git(
        self, *argv: str, limit: int = _MAX_LIST, oids: list[str] | None = None
    ) -> Ran:
        settings = [
            part
            for name, value in self._settings.items()
            for part in ("-c", f"{name}={value}")
        ]
        with tempfile.TemporaryFile(dir=self._folder.name) as given:
            given.write("".join(f"{oid}\n" for oid in oids or ()).encode())
            given.seek(0)
            return run(
                ["git", *settings, *argv],
                # Not in a folder of the user's: git would look for a repository.
                cwd=self._folder.name,
                env=self._env,
                deadline=self._deadline,
                limit=limit,
                given=given,
            )

    def _done(self, *argv: str, limit: int = _MAX_LIST) -> bytes:
        ran = self._git(*argv, limit=limit)
        if ran.code:
            raise _failed(ran)
        return ran.out

    def tips(self) -> Tips:
        """Return what the repository points at.

        Raises:
            Refused: It cannot be asked.
        """
        out = self._done("ls-remote", "--", self._location)
        head = None
        refs: dict[str, str] = {}
        peeled: dict[str, str] = {}
        for line in out.decode("utf-8", "surrogateescape").splitlines():
            oid, tab, name = line.partition("\t")
            if not tab or not _OBJECT.fullmatch(oid):
                continue
            if name == "HEAD":
                head = oid
            elif name.endswith("^{}"):
                peeled[name[:-3]] = oid
            elif name.startswith(("refs/heads/", "refs/tags/")):
                refs[name] = oid
        return Tips(head, MappingProxyType({**refs, **peeled}))

    def wanted(self, tips: Tips, ref: Ref | None) -> tuple[str, str]:
        """Return the full name of what is wanted, or nothing, and its commit.

        Raises:
            Refused: There is no such branch or tag.
        """
        if ref is None:
            if tips.head is None:
                raise Refused("unknown-ref", "the repository has no default branch")
            return "HEAD", tips.head
        if ref.kind == "sha":
            full = [oid for oid in tips.refs.values() if oid == ref.name]
            return "", full[0] if full else ref.name
        kinds = ["refs/tags/"] if ref.kind == "tag" else ["refs/heads/", "refs/tags/"]
        for kind in kinds:
            if (name := kind + ref.name) in tips.refs:
                return name, tips.refs[name]
        raise Refused(
            "unknown-ref",
            f"{safe(ref.name, 100)}: no such {ref.kind} in the repository",
        )

    def fetch(self, name: str, oid: str, tips: Tips) -> str:
        """Fetch one commit and return it in full.

        Args:
            tips: What the repository points at.
            name: The branch or tag, or empty for a commit that is named by itself.
            oid: The commit; the beginning of one when `name` is empty.

        Raises:
            Refused: It is not there.
        """
        longest = max(map(len, (*tips.refs.values(), tips.head or "")))
        shape = "sha256" if longest == 64 else "sha1"
        self._done(
            "init",
            "--quiet",
            "--bare",
            "--template=",
            f"--object-format={shape}",
            self._bare,
        )
        if name:
            self._done(*self._fetching("--depth=1"), f"+{name}:refs/fetched/one")
            found = self._done(
                *self._here("rev-parse", "--verify", "refs/fetched/one^{commit}")
            )
            # It may have moved since it was listed; what was fetched is what counts.
            return found.decode().strip()
        if _OBJECT.fullmatch(oid):
            # Most servers give any commit by its full name, and old ones do not.
            ran = self._git(*self._fetching("--depth=1"), f"+{oid}:refs/fetched/one")
            if not ran.code:
                return self._commit(oid)
        self._done(
            *self._fetching(),
            "+refs/heads/*:refs/fetched/heads/*",
            "+refs/tags/*:refs/fetched/tags/*",
        )
        return self._commit(oid)

    def _here(self, *argv: str) -> list[str]:
        return [f"--git-dir={self._bare}", *argv]

    def _fetching(self, *more: str) -> list[str]:
        return self._here(
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            *more,
            "--",
            self._location,
        )

    def _commit(self, start: str) -> str:
        """Return the one commit whose name begins so."""
        # By object and not by name: a branch may be called like a commit.
        listed = self._done(*self._here("rev-parse", f"--disambiguate={start}"))
        oids = [oid for oid in listed.decode().split() if oid.startswith(start)]
        ran = self._git(*self._here("cat-file", "--batch-check"), oids=oids)
        commits = [
            row.split()[0]
            for row in ran.out.decode().splitlines()
            if row.split()[1:2] == ["commit"]
        ]
        if len(commits) != 1:
            what = "more than one commit begins" if commits else "no commit begins"
            raise Refused("unknown-ref", f"{what} with {safe(start, 64)}")
        return commits[0]

    def write(self, commit: str, staging: Staging) -> None:
        """Write the files of a commit.

        Raises:
            Refused: It holds what a bundle may not.
        """
        out = self._done(*self._here("ls-tree", "-r", "-z", "--long", commit))
        rows = [row for row in out.split(b"\0") if row]
        if len(rows) > MAX_ENTRIES:
            raise Refused("too-many", f"more than {MAX_ENTRIES:,} files and folders")
        files = [found for row in rows if (found := _row(row)) is not None]
        staging.expect(sum(size for _, _, _, size in files))
        ran = self._git(
            *self._here("cat-file", "--batch"),
            limit=MAX_TOTAL_BYTES + MAX_ENTRIES * 128,
            oids=[oid for _, _, oid, _ in files],
        )
        at = 0
        for parts, executable, oid, size in files:
            head = f"{oid} blob {size}\n".encode()
            start, end = at + len(head), at + len(head) + size
            if ran.out[at:start] != head or ran.out[end : end + 1] != b"\n":
                raise Refused("damaged", "an object of the repository cannot be read")
            staging.add_file(parts, [ran.out[start:end]], executable=executable)
            at = end + 1


def _row(row: bytes) -> tuple[list[str], bool, str, int] | None:
    """Return path, executable bit, object and size of a file; None if left out."""
    meta, _, raw = row.partition(b"\t")
    mode, _, oid, size = meta.decode().split()
    name = raw.decode("utf-8", "surrogateescape")
    parts = split_name(name)
    if not parts or is_left_out(parts):
        return None
    shown = safe(name, 120)
    if mode == "120000":
        raise Refused("link", f"{shown}: a symbolic link")
    if mode == "160000":
        raise Refused("submodule", f"{shown}: a submodule, which is never fetched")
    return parts, mode == "100755", oid, int(size)


def _failed(ran: Ran) -> Refused:
    # The last line is git's own verdict; the ones before may be the server's words.
    lines = ran.said.decode("utf-8", "replace").strip().splitlines()
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    said = safe(fatal[0] if fatal else "", 200)
    return Refused(
        "git-failed",
        f"git could not fetch the repository{f' ({said})' if said else ''}",
    )

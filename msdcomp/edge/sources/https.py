"""Files over HTTPS, from checked addresses only.

The standard library's client, since what matters here is which address a socket is
opened to: that is one overridden method of `http.client`, and nothing of what the
larger libraries add (pools, retries, proxies, cookies) is wanted.
Source: docs/reference/sources.md, "Over the network".
"""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Iterator
from urllib.parse import urljoin

from msdcomp.edge.sources.network import Deadline, Endpoint, endpoints
from msdcomp.edge.sources.options import MAX_REDIRECTS, Options
from msdcomp.edge.sources.staging import Refused
from msdcomp.safetext import safe
from msdcomp.sourcefault import SourceFault
from msdcomp.sourceurl import Url, parse_url

__all__ = ["download"]

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CHUNK = 64 * 1024


class _Connection(http.client.HTTPSConnection):
    """A connection to addresses that were checked, under the name of their host."""

    def __init__(
        self,
        url: Url,
        where: tuple[Endpoint, ...],
        context: ssl.SSLContext,
        deadline: Deadline,
    ) -> None:
        super().__init__(url.host, url.port or 443, context=context)
        self._where = where
        self._trusting = context
        self._deadline = deadline
        #: The socket as long as it is open; `sock` is given up with the last header.
        self.wire: ssl.SSLSocket | None = None

    def connect(self) -> None:
        """Connect to the first address that answers, and check who does."""
        raw = _connected(self._where, self._deadline)
        try:
            # The certificate has to be one of the name, not of the address.
            wire = self._trusting.wrap_socket(
                raw,
                server_hostname=self.host,
                do_handshake_on_connect=False,
                # An end that the other side did not announce is no end of an answer.
                suppress_ragged_eofs=False,
            )
        except BaseException:
            raw.close()
            raise
        self.sock = self.wire = wire
        if not self._deadline.left():
            # Whoever cuts at the deadline may have come a moment too early.
            raise TimeoutError
        wire.do_handshake()


def _connected(where: tuple[Endpoint, ...], deadline: Deadline) -> socket.socket:
    error: OSError = TimeoutError()
    for endpoint in where:
        left = deadline.left()
        if not left:
            break
        made = socket.socket(endpoint.family, socket.SOCK_STREAM)
        try:
            made.settimeout(left)
            made.connect((endpoint.address, endpoint.port))
        except OSError as problem:
            made.close()
            error = problem
        except BaseException:
            made.close()
            raise
        else:
            return made
    raise error


@contextlib.contextmanager
def _cut_off(connection: _Connection, deadline: Deadline) -> Iterator[None]:
    """End a conversation at the deadline, however slowly the other side drips."""

    def cut() -> None:
        if connection.wire is not None:
            with contextlib.suppress(OSError):
                # Of the socket itself: that of TLS would first let go of its state.
                socket.socket.shutdown(connection.wire, socket.SHUT_RDWR)

    timer = threading.Timer(deadline.left(), cut)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def download(
    address: str,
    limit: int,
    options: Options,
    deadline: Deadline,
    *,
    accept: str = "*/*",
) -> bytes:
    """Return the content of a URL, following redirects.

    Args:
        address: An `https` URL.
        limit: Most bytes, by what the server announces and by what it sends.
        options: What is allowed beyond public addresses, and whom to trust.
        deadline: When all of it must be over.
        accept: The media types wanted.

    Raises:
        Refused: Nothing of that kind can be had.
    """
    context = _context(options)
    for _ in range(MAX_REDIRECTS + 1):
        url = parse_url(address)
        if isinstance(url, SourceFault):
            raise Refused.of(url)
        if url.scheme != "https":
            raise Refused("insecure-transport", f"{safe(url.scheme)}:// is not secure")
        if url.user:
            raise Refused("credentials", "a redirect to a URL with a user name")
        found = _get(url, limit, options, deadline, context, accept)
        if isinstance(found, bytes):
            return found
        try:
            address = urljoin(url.text, found).partition("#")[0]
        except ValueError:
            raise Refused("bad-url", "a redirect to what is no URL") from None
    raise Refused("too-many-redirects", f"more than {MAX_REDIRECTS} redirects")


def _context(options: Options) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=options.ca_file)
    except (OSError, ValueError):
        raise Refused(
            "bad-ca-file", "the file of certificates cannot be read"
        ) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _get(
    url: Url,
    limit: int,
    options: Options,
    deadline: Deadline,
    context: ssl.SSLContext,
    accept: str,
) -> bytes | str:
    """Return what a URL holds, or where it redirects to."""
    where = endpoints(url.host, url.port or 443, options, deadline)
    if isinstance(where, SourceFault):
        raise Refused.of(where)
    connection = _Connection(url, where, context, deadline)
    try:
        with _cut_off(connection, deadline):
            connection.request(
                "GET",
                (url.path or "/") + url.query,
                headers={
                    "Accept": accept,
                    "Accept-Encoding": "identity",
                    "Connection": "close",
                    "Host": url.authority,
                    "User-Agent": "msdcomp",
                },
            )
            answer = connection.getresponse()
            if answer.status in _REDIRECTS:
                return answer.getheader("Location") or ""
            return _body(answer, limit)
    except (OSError, http.client.HTTPException, ValueError) as error:
        if not deadline.left():
            raise Refused.of(deadline.fault()) from None
        raise _failed(error, url) from None
    except Refused:
        # Being cut off looks like an early end, which has a fault of its own.
        if not deadline.left():
            raise Refused.of(deadline.fault()) from None
        raise
    finally:
        connection.close()
        if connection.wire is not None:
            # The answer may hold it open still.
            connection.wire.close()


def _body(answer: http.client.HTTPResponse, limit: int) -> bytes:
    if answer.status != 200:
        raise Refused("http-status", f"the server answered {answer.status}")
    if answer.getheader("Content-Encoding", "identity").lower() != "identity":
        raise Refused("http-status", "the server answered in an encoding of its own")
    announced = answer.length
    if announced is not None and announced > limit:
        raise Refused("too-large", f"larger than {limit:,} bytes")
    chunks = []
    total = 0
    while chunk := answer.read(_CHUNK):
        chunks.append(chunk)
        total += len(chunk)
        if total > limit:
            raise Refused("too-large", f"larger than {limit:,} bytes")
    if announced is not None and total != announced:
        raise Refused("connection", "the connection ended early")
    return b"".join(chunks)


def _failed(error: Exception, url: Url) -> Refused:
    shown = safe(url.host, 100)
    if isinstance(error, ssl.SSLCertVerificationError):
        return Refused(
            "certificate",
            f"{shown}: the certificate cannot be trusted",
            "name the file of your own authority",
        )
    kind = type(error).__name__
    return Refused("connection", f"{shown}: the connection failed ({kind})")

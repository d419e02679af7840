"""An HTTPS server on loopback that answers from a table."""

from __future__ import annotations

import http.server
import os
import ssl
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Self

Answer = Callable[[http.server.BaseHTTPRequestHandler], None]


def plain(
    body: bytes, status: int = 200, headers: dict[str, str] | None = None
) -> Answer:
    """Return an answer of a body and its length, unless the headers say otherwise."""

    def answer(request: http.server.BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        given = {"Content-Length": str(len(body)), **(headers or {})}
        for name, value in given.items():
            if value:
                request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body)

    return answer


def redirect(target: str, status: int = 302) -> Answer:
    return plain(b"", status, {"Location": target})


class Server:
    """Serves `routes` until it is left; `seen` are the paths that were asked for."""

    def __init__(self, context: ssl.SSLContext) -> None:
        """Take a port; the server runs once it is entered."""
        self.routes: dict[str, Answer] = {}
        self.seen: list[str] = []
        #: Set when the server ends, for answers that wait.
        self.over = threading.Event()
        #: Where git repositories lie, if any are served.
        self.repositories: Path | None = None
        self._server = _Quiet(("127.0.0.1", 0), self._handler())
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    def _handler(self) -> type[http.server.BaseHTTPRequestHandler]:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            timeout = 20

            def do_GET(self) -> None:
                outer.seen.append(self.path)
                if outer.repositories is not None:
                    _backend(self, outer.repositories)
                    return
                outer.routes.get(self.path, plain(b"", 404))(self)

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def url(self, path: str, host: str = "localhost") -> str:
        return f"https://{host}:{self.port}{path}"

    def __enter__(self) -> Self:
        """Run."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End."""
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Quiet(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing: clients of these tests hang up."""


def _backend(request: http.server.BaseHTTPRequestHandler, root: Path) -> None:
    """Answer as `git http-backend` does."""
    path, _, query = request.path.partition("?")
    length = int(request.headers.get("Content-Length") or 0)
    ran = subprocess.run(
        ["git", "http-backend"],
        input=request.rfile.read(length),
        capture_output=True,
        check=True,
        env={
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "REQUEST_METHOD": request.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": request.headers.get("Content-Type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding", ""),
            "HTTP_GIT_PROTOCOL": request.headers.get("Git-Protocol", ""),
        },
    )
    head, _, body = ran.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
    status = int(headers.pop("Status", "200").split()[0])
    plain(body, status, headers)(request)

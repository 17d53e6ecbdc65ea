"""A fake of what Ollama says of its models, on loopback: `GET /api/tags`."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self

from typing_extensions import override

if TYPE_CHECKING:
    from types import TracebackType


class FakeTagsServer:
    """Answers with a status, a header and a body; use as a context manager."""

    def __init__(
        self, *models: str, status: int = 200, body: bytes | None = None, location: str = "", is_silent: bool = False
    ) -> None:
        self.paths: list[str] = []
        """What was asked for."""
        self.end = threading.Event()
        listing = json.dumps({"models": [{"name": name, "size": 1} for name in models]}).encode()
        answer = listing if body is None else body
        server = self

        class Handler(BaseHTTPRequestHandler):
            @override
            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

            def do_GET(self) -> None:
                server.paths.append(self.path)
                if is_silent:
                    server.end.wait()
                    return
                self.send_response(status)
                if location:
                    self.send_header("location", location)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Return its address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

"""The base of fake servers: HTTP on loopback while a block runs."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler
from types import TracebackType
from typing import Self

from typing_extensions import override


class QuietHandler(BaseHTTPRequestHandler):
    """Answers one request after the other, without a log."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or each body waits for the client to acknowledge its head

    def read_body(self) -> bytes:
        """Return the body of a request, sent whole or in chunks."""
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def reply(self, status: int, body: bytes = b"", **headers: str) -> None:
        """Send a whole reply; names of headers have an underscore for each hyphen, and empty ones are left out."""
        self.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            if value:
                self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    @override
    def log_message(self, format: str, *args: object) -> None:
        """Write no log."""


class LoopbackServer:
    """Runs a handler for each request, in its own thread, while a block runs."""

    def __init__(
        self, handler: type[BaseRequestHandler], server: type[ThreadingHTTPServer] = ThreadingHTTPServer
    ) -> None:
        """Take a free port; each handler knows this as `fake`."""
        self.closing = threading.Event()
        """Set when the block ends; a handler that delays its reply waits for this too."""
        self._http = server(("127.0.0.1", 0), type("Handler", (handler,), {"fake": self}))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._http.server_port

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.address}"

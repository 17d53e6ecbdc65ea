"""A fake of what Ollama says of its models, on loopback: `GET /api/tags`."""

from __future__ import annotations

import json

from tests.fakes.loopback import LoopbackServer, QuietHandler


class FakeTagsServer(LoopbackServer):
    """Answers with a status, a header and a body; use as a context manager."""

    def __init__(
        self, *models: str, status: int = 200, body: bytes | None = None, location: str = "", is_silent: bool = False
    ) -> None:
        self.paths: list[str] = []
        """What was asked for."""
        listing = json.dumps({"models": [{"name": name, "size": 1} for name in models]}).encode()
        answer = listing if body is None else body
        server = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                server.paths.append(self.path)
                if is_silent:
                    server.closing.wait()
                    return
                self.send_response(status)
                if location:
                    self.send_header("location", location)
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        super().__init__(Handler)

    @property
    def url(self) -> str:
        """Return its address."""
        return self.origin

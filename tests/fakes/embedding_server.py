"""A fake of OpenAI's and Ollama's embeddings on loopback, by hashed runs of letters."""

from __future__ import annotations

import json
from typing import Any

from tests.fakes.hashed_embedder import hash_runs
from tests.fakes.loopback import LoopbackServer, QuietHandler


class FakeEmbeddingServer(LoopbackServer):
    """Speaks `POST /v1/embeddings` and `POST /api/embed`; use as a context manager.

    Args:
        failures: Statuses with which the first requests are refused.
        dropped: How many vectors are left out of each reply.
    """

    def __init__(self, *failures: int, dropped: int = 0) -> None:
        self.failures = list(failures)
        self.dropped = dropped
        self.requests: list[tuple[str, dict[str, Any]]] = []
        """Path and body of every request so far."""
        server = self

        class Handler(_Handler):
            fake = server

        super().__init__(Handler)

    @property
    def url(self) -> str:
        """Return what a client of Ollama takes as its base."""
        return self.origin

    @property
    def openai_url(self) -> str:
        """Return what a client of OpenAI takes as its base."""
        return f"{self.url}/v1"

    @property
    def texts(self) -> list[str]:
        """Return every text that was embedded so far."""
        return [text for _, body in self.requests for text in _list_inputs(body)]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, object]:
        """Return status and body of the reply to a request."""
        if self.failures:
            return self.failures.pop(0), {"error": {"message": "not now", "type": "server_error"}}
        self.requests.append((path, body))
        vectors = [hash_runs(text) for text in _list_inputs(body)]
        vectors = vectors[: len(vectors) - self.dropped]
        if path == "/api/embed":
            return 200, {"model": body["model"], "embeddings": vectors, "prompt_eval_count": 1}
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return 200, {"object": "list", "model": body["model"], "data": data[::-1], "usage": usage}


class _Handler(QuietHandler):
    protocol_version = "HTTP/1.1"
    fake: FakeEmbeddingServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))))
        status, reply = self.fake.answer(self.path, body)
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _list_inputs(body: dict[str, Any]) -> list[str]:
    given = body["input"]
    return [given] if isinstance(given, str) else list(given)

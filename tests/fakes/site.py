"""A web site on loopback: pages by path, with entity tags, and counts of requests and bytes."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from tests.fakes.loopback import LoopbackServer, QuietHandler

_TYPES = {"md": "text/markdown", "txt": "text/plain", "json": "application/json", "pdf": "application/pdf"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SitePage:
    """The site's reply at one path."""

    body: bytes | str = ""
    media_type: str = ""
    """If empty, the path's ending decides."""
    status: int = 200
    location: str = ""
    markdown: str = ""
    """Sent to clients that accept Markdown; empty if the site does not negotiate."""


@dataclass(slots=True)
class SiteCounts:
    """Counts of a site."""

    paths: list[str] = field(default_factory=list)
    """Requested paths, in order."""
    most_at_once: int = 0
    """Maximum number of concurrent requests."""


class FakeSite(LoopbackServer):
    """Serves pages while the block runs; they may be changed meanwhile."""

    def __init__(self, pages: Mapping[str, SitePage | str], *, before: Callable[[str], object] | None = None) -> None:
        """Serve `pages` by path; `before` is called with each path before it is answered."""
        self.pages = dict(pages)
        self.counts = SiteCounts()
        self.before = before or (lambda _: None)
        self._now = 0
        self._lock = threading.Lock()
        super().__init__(_Handler)

    @contextmanager
    def count_request(self, path: str) -> Iterator[None]:
        """Count a request while it is answered."""
        with self._lock:
            self._now += 1
            self.counts.paths.append(path)
            self.counts.most_at_once = max(self.counts.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    def url(self, path: str) -> str:
        return f"{self.origin}{path}"

    def forget(self) -> None:
        self.counts = SiteCounts()


def make_ollama(*models: str) -> FakeSite:
    """Return a server that lists models as Ollama and others do."""
    return FakeSite({"/v1/models": json.dumps({"data": [{"id": name, "object": "model"} for name in models]})})


class _Handler(QuietHandler):
    fake: FakeSite

    def do_GET(self) -> None:
        self.read_body()
        with self.fake.count_request(self.path), suppress(OSError):
            self.fake.before(self.path)
            self._answer(self.fake.pages.get(self.path.partition("?")[0]))

    do_POST = do_GET

    def _answer(self, found: SitePage | str | None) -> None:
        page = found if isinstance(found, SitePage) else SitePage(body=found or "", status=200 if found else 404)
        wants_markdown = "text/markdown" in self.headers.get("accept", "").partition(",")[0]
        is_markdown = bool(page.markdown) and wants_markdown
        text = page.markdown if is_markdown else page.body
        body = text.encode() if isinstance(text, str) else text
        media_type = page.media_type or _TYPES.get(self.path.rpartition(".")[2], "text/html; charset=utf-8")
        media_type = "text/markdown" if is_markdown else media_type
        self.reply(page.status, body, content_type=media_type, vary="accept", location=page.location)

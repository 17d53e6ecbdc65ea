"""A site of 2,000 pages that takes 50 ms for each answer: opening its llms.txt, 20 pages at once, and a second visit.

The site is a program of its own, so that its work is not measured: `python -m tests.benchmarks.web_pages`.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from subprocess import PIPE, Popen

from roamtui.document.loader import WebOptions
from roamtui.document.node import NodeKind
from roamtui.document.source_loader import open_sources
from tests.benchmarks.measuring import Finding
from tests.fakes.site import FakeSite

_PAGES = 2_000
_BATCH = 20
_DELAY_SECONDS = 0.05
_ROUNDS = 5
_TRIPS_MAX = 6
_PAGE = "# Page {0}\n\nWords of page {0}.\n\n" + "## Part\n\nMany words, over and over again. \n\n" * 20


def serve() -> None:
    """Serve the site until standard input ends; each line that comes is answered by the bytes of bodies sent so far."""
    links = "".join(f"- [Page {number}](/docs/page-{number}): what page {number} says\n" for number in range(_PAGES))
    pages = {"/llms.txt": f"# Site\n\n> Many pages.\n\n## Docs\n\n{links}"}
    for number in range(_PAGES):
        pages[f"/docs/page-{number}"] = f"<html><body><h1>Page {number}</h1><p>Words.</p></body></html>"
        pages[f"/docs/page-{number}.md"] = _PAGE.format(number)
    with FakeSite(pages, before=lambda _: time.sleep(_DELAY_SECONDS)) as site:
        sys.stdout.write(f"{site.origin}\n")
        sys.stdout.flush()
        for _ in sys.stdin:
            sys.stdout.write(f"{site.counts.bytes_sent} {len(site.counts.paths)}\n")
            sys.stdout.flush()


class SlowSite:
    """The site, as its visitor sees it."""

    def __init__(self, program: Popen[str]) -> None:
        self._program = program
        self.origin = self._read_line()

    def _read_line(self) -> str:
        assert self._program.stdout is not None
        return self._program.stdout.readline().strip()

    def count(self) -> tuple[int, int]:
        """Return the bytes of bodies sent and the requests answered so far."""
        assert self._program.stdin is not None
        self._program.stdin.write("\n")
        self._program.stdin.flush()
        sent, asked = self._read_line().split()
        return int(sent), int(asked)


@contextmanager
def _start_site() -> Iterator[SlowSite]:
    with Popen([sys.executable, "-m", "tests.benchmarks.web_pages"], stdin=PIPE, stdout=PIPE, text=True) as program:
        yield SlowSite(program)
        assert program.stdin is not None
        program.stdin.close()


def bench_web() -> list[Finding]:
    """Return how long a visit takes in round trips, and what a second one transfers."""
    opening: list[float] = []
    batches: list[float] = []
    again: list[float] = []
    sent: list[int] = []
    with _start_site() as site:
        for _ in range(_ROUNDS):
            with tempfile.TemporaryDirectory() as folder:
                first = _visit(site, Path(folder))
                before, _ = site.count()
                second = _visit(site, Path(folder))
                sent.append(site.count()[0] - before)
            opening.append(first[0])
            batches.append(first[1])
            again.append(sum(second))
    trips = median(batches) / _DELAY_SECONDS
    return [
        Finding(what=f"open an llms.txt of {_PAGES:,} links, 50 ms away", value=f"{median(opening) * 1e3:.0f} ms"),
        Finding(
            what=f"open {_BATCH} of its links at once, in round trips",
            value=f"{trips:.1f}",
            goal=f"at most {_TRIPS_MAX}",
            is_met=trips <= _TRIPS_MAX,
        ),
        Finding(what="both on a second visit", value=f"{median(again) * 1e3:.0f} ms"),
        Finding(
            what="bytes of bodies transferred on a second visit",
            value=f"{max(sent):,}",
            goal="none",
            is_met=not any(sent),
        ),
    ]


def _visit(site: SlowSite, cache_dir: Path) -> tuple[float, float]:
    """Return how many seconds it takes to open the list, and then a batch of its links."""
    begin = time.perf_counter()
    library, loader = open_sources([f"{site.origin}/llms.txt"], web=WebOptions(cache_dir=cache_dir))
    opening = time.perf_counter() - begin
    assert loader is not None
    links = [node_id for node_id in library.walk() if library.get_label(node_id).kind is NodeKind.LINK][:_BATCH]
    begin = time.perf_counter()
    grown = library.graft_all(loader.load_batch(library, tuple(links), frozenset()).documents)
    batch = time.perf_counter() - begin
    assert all(grown.is_loaded(link) for link in links)
    return opening, batch


if __name__ == "__main__":
    serve()

"""What an index costs in each place where it can be kept: `python -m tests.benchmarks.index_places 10000`.

The libraries are real files: documents of the question sets, then pages of MDN, and all of these again with other
titles, as many as give the sections wanted. Vectors are sums of numbers that each word has by chance, 384 of them as
MiniLM has, because an embedder takes hours for these; what it costs to keep and to compare them is the same. Each step
runs in a program of its own.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roamtui.document.build import WebOptions, open_named
from roamtui.document.library import Library
from roamtui.document.loader import load_files
from roamtui.search.base import EmbedKind, Indexing, Searcher, SearchParts
from roamtui.search.choosing import make_searcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.lance.searcher import LanceSearcher
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.section_store import IndexPlace
from tests.real_documents import find_data_dir

_DIMENSIONS = 384
_BUCKETS = 1 << 14
_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^(#{1,6} .*)$", re.MULTILINE)
_QUERIES = 60
_STEPS = ("write", "ask", "change", "compare")
_PLACES = ("sqlite", "lance")
_FILE_CHARACTERS = 60_000
_COMPARED = 50
"""Places of which it is counted how many both lists of sections have."""
_SETS = ("anthropic-docs", "vespa-docs", "ray-docs")


class HashingEmbedder:
    """Adds up numbers that each word has by chance, always the same, so that texts that share words are near."""

    name = "hashing"

    def __init__(self) -> None:
        self._rows = np.random.default_rng(1).standard_normal((_BUCKETS, _DIMENSIONS), dtype=np.float32)

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:  # noqa: ARG002
        return np.array([self._embed_one(text) for text in texts], dtype=np.float32)

    def _embed_one(self, text: str) -> NDArray[np.float32]:
        words = [zlib.crc32(word.encode("utf-8", "surrogatepass")) % _BUCKETS for word in _WORD.findall(text.lower())]
        total: NDArray[np.float32] = self._rows[words or [0]].sum(axis=0)
        return total


def write_library(folder: Path, sections: int) -> None:
    """Write files with about so many headings."""
    written = 0
    for edition in itertools.count(1):
        for name, text in _list_texts():
            if written >= sections:
                return
            path = folder / (f"edition-{edition}/{name}" if edition > 1 else name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_HEADING.sub(rf"\1 {edition}", text) if edition > 1 else text, "utf-8")
            written += text.count("\n#")


def _list_texts() -> Iterator[tuple[str, str]]:
    data = find_data_dir()
    for name in _SETS:
        docs = data / "sets" / name / "docs"
        for path in sorted(docs.rglob("*.md")):
            yield f"{name}/{path.relative_to(docs)}", path.read_text("utf-8", "replace")
    whole = gzip.decompress((data / "perf" / "mdn-concat-50mb.md.gz").read_bytes()).decode()
    start = 0
    while start < len(whole):
        end = whole.find("\n# ", start + _FILE_CHARACTERS)
        end = len(whole) if end < 0 else end + 1
        yield f"mdn/{start:09}.md", whole[start:end]
        start = end


def _open(folder: Path) -> Library:
    library, loader = open_named([str(folder)], web=WebOptions(cache_dir=folder.parent / "pages"))
    return load_files(library, loader) if loader is not None else library


def _time(act: Callable[[], object]) -> dict[str, float]:
    wall, own = time.perf_counter(), time.process_time()
    act()
    return {"s": round(time.perf_counter() - wall, 3), "cpu_s": round(time.process_time() - own, 3)}


def _list_queries() -> list[str]:
    queries = []
    for name in _SETS:
        with (find_data_dir() / "sets" / name / "questions.jsonl").open(encoding="utf-8") as lines:
            queries += [json.loads(line)["question"] for line, _ in zip(lines, range(_QUERIES // 3), strict=False)]
    return queries


def compare_vectors(base: Path) -> dict[str, object]:
    """Return the share of the best sections that LanceDB finds too, by chunks that are compared one by one."""
    library = _open(base / "library")
    parts = SearchParts(embedder=HashingEmbedder(), cache=base / "cache", needs_vectors=True)
    found = []
    for uri in (None, str(base / "lance")):
        searcher = make_searcher(library, RetrievalOptions(index=uri, mode=SearchMode.VECTOR), parts)
        assert searcher is not None
        found.append([{hit.section_id for hit in searcher.search(query, limit=_COMPARED)} for query in _list_queries()])
    shares = [len(exact & near) / len(exact) for exact, near in zip(*found, strict=True)]
    return {"found_too": round(statistics.mean(shares), 3)}


def run_step(step: str, base: Path, place_name: str) -> dict[str, object]:
    """Carry out one step and return what it took."""
    if step == "compare":
        return compare_vectors(base)
    place = IndexPlace(folder=base / "indexes", is_wanted=True)
    options = RetrievalOptions(index=str(base / "lance") if place_name == "lance" else None)
    if step == "change":
        path = sorted((base / "library").rglob("*.md"))[3]
        path.write_text(path.read_text("utf-8") + f"\n## Added {time.time_ns()}\n\nA zebra was here.\n", "utf-8")
    found: dict[str, object] = {}
    libraries: list[Library] = []
    found["read"] = _time(lambda: libraries.append(_open(base / "library")))
    library = libraries[0]
    found["sections"] = len(library)
    found["mb"] = round(sum(path.stat().st_size for path in (base / "library").rglob("*.md")) / 1e6, 2)
    parts = SearchParts(embedder=HashingEmbedder(), cache=base / "cache", needs_vectors=True)
    words: Indexing = KeywordSearcher(library, options, place=place)
    if options.index is not None:
        words = LanceSearcher(library, options, parts)
    found["words"] = _time(words.prepare)
    found["peak_mb_words"] = measure_peak()
    for mode in (SearchMode.KEYWORD, SearchMode.VECTOR, SearchMode.HYBRID):
        searcher = make_searcher(library, replace(options, mode=mode), parts, place)
        assert searcher is not None
        if mode is SearchMode.VECTOR:
            found["vectors"] = _time(partial(searcher.search, ""))
        if step == "ask":
            searcher.search("warm up")
            found[mode.value] = _time_queries(searcher)
        elif mode is SearchMode.VECTOR:
            break
    found["peak_mb"] = measure_peak()
    return found


def _time_queries(searcher: Searcher) -> dict[str, float]:
    times = [_time(partial(searcher.search, query)) for query in _list_queries()]
    found = {}
    for key in ("s", "cpu_s"):
        ordered = sorted(entry[key] for entry in times)
        found[f"median_{key}"] = statistics.median(ordered)
        found[f"p95_{key}"] = ordered[int(len(ordered) * 0.95)]
    return found


def measure_peak() -> int:
    """Return the megabytes of memory that this program had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def measure_sizes(base: Path) -> dict[str, float]:
    """Return the megabytes of each place."""
    return {
        name: round(sum(path.stat().st_size for path in (base / name).rglob("*") if path.is_file()) / 1e6, 1)
        for name in ("indexes", "cache", "lance")
        if (base / name).exists()
    }


def main() -> int:
    """Run all steps for one size, a JSON object a line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sections", type=int)
    parser.add_argument("--steps", nargs="+", choices=_STEPS, default=_STEPS)
    parser.add_argument("--places", nargs="+", choices=_PLACES, default=_PLACES)
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    values = parser.parse_args()
    if values.step:
        step, base, place = values.step
        print(json.dumps(run_step(step, Path(base), place)))  # noqa: T201
        return 0
    base = Path(tempfile.mkdtemp(prefix="roamtui-index-"))
    try:
        write_library(base / "library", values.sections)
        for place in values.places:
            for step in values.steps:
                if step == "compare" and place == values.places[0]:  # it needs what both have written
                    continue
                command = [sys.executable, "-m", "tests.benchmarks.index_places", "0", "--step", step, str(base), place]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                result = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr[-2_000:]}
                print(json.dumps({"place": place, "step": step, **result, "sizes": measure_sizes(base)}), flush=True)  # noqa: T201
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

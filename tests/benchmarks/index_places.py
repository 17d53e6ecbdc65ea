"""What an index costs in each place where it can be kept: `python -m tests.benchmarks.index_places 10000`.

The libraries are real files: documents of the question sets, then pages of MDN, as many as give the sections wanted.
Vectors are made by chance from each text, 384 numbers as MiniLM has them, because real ones take hours here; what it
costs to keep and to compare them is the same. Each step runs in a program of its own.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from roamtui.document.library import Library
from roamtui.document.loader import load_files
from roamtui.document.web_options import WebOptions
from roamtui.document.web_sources import open_named
from roamtui.search.base import EmbedKind, SearchMode
from roamtui.search.choosing import make_keyword_searcher, make_searcher
from roamtui.search.fused import SearchParts
from roamtui.search.options import RetrievalOptions
from roamtui.search.store.opening import IndexPlace
from tests.real_documents import find_data_dir

_DIMENSIONS = 384
_QUERIES = 60
_STEPS = ("write", "ask", "change", "write-hybrid", "ask-hybrid", "change-hybrid")
_FILE_CHARACTERS = 60_000
_SETS = ("anthropic-docs", "vespa-docs", "ray-docs")


class ChanceEmbedder:
    """Gives each text a vector by chance, always the same."""

    name = "chance"

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:  # noqa: ARG002
        seeds = [zlib.crc32(text.encode("utf-8", "surrogatepass")) for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(_DIMENSIONS) for seed in seeds]
        return np.array(rows, dtype=np.float32)


def write_library(folder: Path, sections: int) -> None:
    """Write files with about so many headings."""
    written = 0
    for name, text in _list_texts():
        if written >= sections:
            return
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written += text.count("\n#")


def _list_texts() -> list[tuple[str, str]]:
    data = find_data_dir()
    texts = []
    for name in _SETS:
        docs = data / "sets" / name / "docs"
        for path in sorted(docs.rglob("*.md")):
            texts.append((f"{name}/{path.relative_to(docs)}", path.read_text("utf-8", "replace")))
    whole = gzip.decompress((data / "perf" / "mdn-concat-50mb.md.gz").read_bytes()).decode()
    start = 0
    while start < len(whole):
        end = whole.find("\n# ", start + _FILE_CHARACTERS)
        end = len(whole) if end < 0 else end + 1
        texts.append((f"mdn/{len(texts):05}.md", whole[start:end]))
        start = end
    return texts


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


def run_step(step: str, base: Path, place_name: str) -> dict[str, object]:
    """Carry out one step and return what it took."""
    place = IndexPlace(folder=base / "indexes", is_wanted=True)
    options = RetrievalOptions(index=str(base / "lance") if place_name == "lance" else None)
    if step.startswith("change"):
        path = sorted((base / "library").rglob("*.md"))[3]
        path.write_text(path.read_text("utf-8") + f"\n## Added {time.time_ns()}\n\nA zebra was here.\n", "utf-8")
    found: dict[str, object] = {}
    libraries: list[Library] = []
    found["read"] = _time(lambda: libraries.append(_open(base / "library")))
    library = libraries[0]
    found["sections"] = len(library)
    found["mb"] = round(sum(path.stat().st_size for path in (base / "library").rglob("*.md")) / 1e6, 2)
    mode = SearchMode.HYBRID if step.endswith("hybrid") else SearchMode.KEYWORD
    parts = SearchParts(embedder=ChanceEmbedder(), cache=base / "cache", needs_vectors=True)
    searcher = make_searcher(library, replace(options, mode=mode), parts, place)
    assert searcher is not None
    if mode is SearchMode.KEYWORD:
        words = make_keyword_searcher(library, options, place)
        found["index"] = _time(words.prepare)
    else:
        found["index"] = _time(lambda: searcher.search(""))
    if step.startswith("ask"):
        found["first"] = _time(lambda: searcher.search("warm up"))
        times = [_time(partial(searcher.search, query)) for query in _list_queries()]
        for key in ("s", "cpu_s"):
            ordered = sorted(entry[key] for entry in times)
            found[f"median_{key}"] = statistics.median(ordered)
            found[f"p95_{key}"] = ordered[int(len(ordered) * 0.95)]
    found["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return found


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
    parser.add_argument("--keyword-only", action="store_true")
    parser.add_argument("--step", nargs=3, help=argparse.SUPPRESS)
    values = parser.parse_args()
    if values.step:
        step, base, place = values.step
        print(json.dumps(run_step(step, Path(base), place)))  # noqa: T201
        return 0
    base = Path(tempfile.mkdtemp(prefix="roamtui-index-"))
    try:
        write_library(base / "library", values.sections)
        steps = _STEPS[:3] if values.keyword_only else _STEPS
        for place in ("sqlite", "lance"):
            for step in steps:
                command = [sys.executable, "-m", "tests.benchmarks.index_places", "0", "--step", step, str(base), place]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                result = json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr[-2_000:]}
                print(json.dumps({"place": place, "step": step, **result, "sizes": measure_sizes(base)}), flush=True)  # noqa: T201
    finally:
        shutil.rmtree(base, ignore_errors=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

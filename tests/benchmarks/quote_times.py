"""What looking up quotes takes: time and memory of one long text, and of `recheck` over many files."""

import gzip
import multiprocessing
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from time import process_time

from roamtui.quotes.find import find_quote
from tests.benchmarks.bench import make_text
from tests.benchmarks.measuring import Finding, format_seconds, make_environ
from tests.real_documents import find_data_dir

_SIZES = (1_000_000, 20_000_000)
_FURTHER_SECONDS_MAX = 0.02
_TURNS = 5
_FILES = 40
_FILE_LENGTH = 1_025_000
_RECHECK_TIMES_MAX, _RECHECK_MEMORY_MAX = 5, 3
_AT_THE_END = ("The last words", "last words are said", "words are said only once", "only once, here", "are … once")
_MISSING = "A late spade of the second kind costs seventeen guilders for each day of the winter."
_PROGRAM = """
import atexit, re, sys, time
from pathlib import Path
from roamtui.cli import main

def tell():
    memory = re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]
    sys.stderr.write(f"\\n{time.process_time()} {memory}\\n")

atexit.register(tell)
sys.exit(main())
"""
"""roamtui, which tells at its end what it took. The operating system would count the memory of its parent too."""
_ANSWER = 'Source: {}\n\n1. ✓ [a8a96034] Loans > Late fees, line 12 (quote found in the text): "{}"\n'


def make_long_text(length: int) -> str:
    """Return pages of a real site, or else the example handbook again and again, cut to a length."""
    pages = find_data_dir() / "perf" / "mdn-concat-50mb.md.gz"
    if pages.is_file():
        with gzip.open(pages, "rt", encoding="utf-8") as file:
            return file.read(length)
    return make_text(length)[:length]


def measure_look_ups(length: int) -> tuple[float, float, float, float]:
    """Return the seconds and the MB of the first quote in a text, and the seconds of a found and of a missing one."""
    text = f"{make_long_text(length)}\n\nThe **last** words are said only `once`, here.\n"
    Path("/proc/self/clear_refs").write_text("5", "utf-8")  # the peak of memory is that of now
    before = _read_memory_peak()
    first = _measure_seconds("The last words are said only once, here", text)
    memory = _read_memory_peak() - before
    found = [_measure_seconds(quote, text) for quote in _AT_THE_END]
    missing = [_measure_seconds(_MISSING.replace("seventeen", str(turn)), text) for turn in range(_TURNS)]
    return first, memory, median(found), median(missing)


def _measure_seconds(quote: str, text: str) -> float:
    start = process_time()
    find_quote(quote, text)
    return process_time() - start


def _read_memory_peak() -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1_000


def bench_look_ups() -> Iterator[Finding]:
    """The first quote in texts of two sizes, and further ones, each size in a process of its own."""
    for length in _SIZES:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            first, memory, found, missing = pool.submit(measure_look_ups, length).result()
        size = length // 1_000_000
        yield Finding(what=f"first quote in {size} MB, for each MB", value=format_seconds(first / size))
        yield Finding(what=f"memory of the first quote in {size} MB, for each MB", value=f"{memory / size:.1f} MB")
        for what, seconds in (("a further quote", found), ("a further quote that is missing", missing)):
            yield Finding(
                what=f"{what} in {size} MB",
                value=format_seconds(seconds),
                goal=f"≤ {_FURTHER_SECONDS_MAX * 1_000:.0f} ms",
                is_met=seconds <= _FURTHER_SECONDS_MAX,
            )


def run_program(*arguments: str | Path) -> tuple[float, float]:
    """Run roamtui, and return its processor time in seconds and its peak memory in MB."""
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    program = subprocess.run(command, capture_output=True, text=True, env=make_environ(), check=False)
    seconds, memory = program.stderr.splitlines()[-1].split()
    return float(seconds), int(memory) / 1_000


def bench_recheck() -> Iterator[Finding]:
    """`recheck` of a missing quote beside `outline`, both on the same folder of 41 MB."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "documents"
        folder.mkdir()
        text = make_long_text(_FILES * _FILE_LENGTH)
        for number in range(_FILES):
            part = text[number * _FILE_LENGTH : (number + 1) * _FILE_LENGTH]
            (folder / f"{number:02}.md").write_text(part, "utf-8")
        del text
        answer = Path(name) / "answer.md"
        answer.write_text(_ANSWER.format(folder, _MISSING), "utf-8")
        run_program("outline", folder)  # compiles, and fills the cache of files
        seconds, memory = run_program("outline", folder)
        recheck_seconds, recheck_memory = run_program("recheck", answer)
    yield Finding(
        what=f"recheck of a missing quote in {_FILES} files / outline of them",
        value=f"{format_seconds(recheck_seconds)} / {format_seconds(seconds)}",
        goal=f"ratio ≤ {_RECHECK_TIMES_MAX}",
        is_met=recheck_seconds <= _RECHECK_TIMES_MAX * seconds,
    )
    yield Finding(
        what="memory of both",
        value=f"{recheck_memory:.0f} / {memory:.0f} MB",
        goal=f"ratio ≤ {_RECHECK_MEMORY_MAX}",
        is_met=recheck_memory <= _RECHECK_MEMORY_MAX * memory,
    )


def measure_times() -> Iterator[Finding]:
    yield from bench_look_ups()
    yield from bench_recheck()

"""What looking up quotes takes: the time of one long text, time and memory of `recheck` over many files."""

import gzip
import multiprocessing
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

from roamtui.quotes.find import find_quote
from tests.benchmarks.bench import make_text
from tests.benchmarks.measuring import Finding, format_seconds, limit_seconds, make_environ, measure_cpu
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


def measure_look_ups(length: int) -> tuple[float, float]:
    """Return the seconds of the first quote in a text, and those of a further one."""
    text = f"{make_long_text(length)}\n\nThe **last** words are said only `once`, here.\n"
    first = measure_cpu(partial(find_quote, "The last words are said only once, here", text))
    further = (*_AT_THE_END, *(_MISSING.replace("seventeen", str(turn)) for turn in range(_TURNS)))
    return first, median(measure_cpu(partial(find_quote, quote, text)) for quote in further)


def bench_look_ups() -> Iterator[Finding]:
    """The first quote in texts of two sizes, and further ones, each size in a process of its own."""
    for length in _SIZES:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            first, further = pool.submit(measure_look_ups, length).result()
        size = length // 1_000_000
        yield limit_seconds(f"first quote in {size} MB, for each MB", first / size)
        yield limit_seconds(f"a further quote in {size} MB", further, _FURTHER_SECONDS_MAX)


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

"""roamtui beside other readers of Markdown in a terminal, on the same files in one run: `make bench ARGS=--readers`.

Each gets a terminal of 160 × 48 and 60 seconds. The files are the beginning of a large real documentation under one
heading, so that every reader shows one long document.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import monotonic

from roamtui.document.parse import parse_document
from tests.benchmarks.interleaved import make_environ
from tests.benchmarks.terminal_program import TerminalProgram
from tests.real_documents import find_data_dir

_SECONDS_MAX = 60.0
_PAGES = 10
_PAGE_DOWN = b"\x1b[6~"
_FIRST_WORD = "Anatomy"
_SIZES = {"100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one start of one reader gave; None for what did not come in time."""

    first_words_seconds: float | None
    outline_seconds: float | None
    page_seconds: float | None
    """Processor time of one page-down."""
    memory_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProgram:
    """A reader of Markdown."""

    name: str
    command: Callable[[Path, Path], list[str]]
    """From the document and the file of the probe to what is started."""
    keys: tuple[bytes, ...] = ()
    """What brings a person from its first screen to the beginning of the text."""
    is_probed: bool = True
    """Whether a probe tells when the outline is there; else its count on the screen does."""


def cut_document(length_min: int) -> str:
    """Return whole pages of the large document, until it is long enough, each heading a level lower under a title."""
    source = find_data_dir() / "perf" / "mdn-concat-50mb.md.gz"
    lines, length, in_fence = ["# Collected pages\n", "\n"], 0, False
    with gzip.open(source, "rt", encoding="utf-8") as stream:
        for line in stream:
            in_fence ^= bool(_FENCE.match(line))
            is_heading = line.startswith("#") and not in_fence
            if is_heading and line.startswith("# ") and length >= length_min:
                break
            lines.append(f"#{line}" if is_heading else line)
            length += len(line.encode())
    return "".join(lines)


def make_programs() -> list[ReaderProgram]:
    """Return roamtui and the others, each installed into an environment of its own."""
    roamtui = str(Path(sys.executable).with_name("roamtui"))
    probe = str(_HERE / "outline_probe.py")

    def run_probed(python: str, script: str, document: Path, marker: Path) -> list[str]:
        return [python, probe, str(marker), script, str(document)]

    programs = [
        ReaderProgram(
            name="roamtui",
            command=lambda document, _: [roamtui, str(document), "--model", "offline"],
            keys=(b"\x1b", b"g", b"\r", b"\r"),
            is_probed=False,
        ),
        ReaderProgram(
            name="Textual's MarkdownViewer", command=partial(run_probed, sys.executable, str(_HERE / "viewer_app.py"))
        ),
    ]
    for package, name in (("frogmouth", "frogmouth==0.9.2"), ("hike", "hike==1.4.0")):
        folder = _install(package, name)
        command = partial(run_probed, str(folder / "python"), str(folder / package))
        keys = (b"\x1b",) if package == "hike" else ()
        programs.append(ReaderProgram(name=name.replace("==", " "), command=command, keys=keys))
    return programs


def _install(folder_name: str, requirement: str) -> Path:
    """Return the programs' folder of an environment that holds one reader."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "roamtui-bench" / folder_name
    if not (folder / "bin" / folder_name).exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        pip = [str(folder / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", requirement], check=True, stderr=subprocess.DEVNULL)
    return folder / "bin"


def measure_reader(reader: ReaderProgram, document: Path, sections: int) -> Reading:
    """Start a reader, look at it, and end it."""
    with tempfile.TemporaryDirectory() as home:
        marker = Path(home) / "outline"
        places = {"HOME": home, "XDG_CONFIG_HOME": home, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
        with closing(TerminalProgram(reader.command(document, marker), make_environ(**places))) as program:
            until = program.start + _SECONDS_MAX
            first = program.wait_for(_FIRST_WORD, until)
            outline = None
            if first is not None:
                if not reader.is_probed:
                    outline = program.wait_for(f"{sections:,} sections", until)
                is_idle = program.wait_until_idle(until)
                outline = outline if not reader.is_probed else _read_marker(marker, program.start)
                page = _measure_page(program, reader.keys) if is_idle else None
            else:
                page = None
            return Reading(
                first_words_seconds=first,
                outline_seconds=outline,
                page_seconds=page,
                memory_bytes=program.memory_bytes(),
            )


def _read_marker(marker: Path, start: float) -> float | None:
    with suppress(FileNotFoundError, IndexError, ValueError):
        return float(marker.read_text("utf-8").split()[0]) - start
    return None


def _measure_page(program: TerminalProgram, keys: tuple[bytes, ...]) -> float | None:
    """Return the processor time of one page-down; None where the screen did not change."""
    until = monotonic() + _SECONDS_MAX
    for key in keys:
        program.press(key)
        program.wait_until_idle(until)
    before, written = program.cpu_seconds(), program.written
    pages = 0
    while pages < _PAGES and monotonic() < until:
        program.press(_PAGE_DOWN)
        program.wait_until_idle(until)
        pages += 1
    return (program.cpu_seconds() - before) / pages if pages and program.written - written > 500 * pages else None


def bench_readers(times: int) -> Iterator[str]:
    """Yield the lines of a table for each size, as they come; each reader is started so many times, in turns."""
    programs = make_programs()
    with tempfile.TemporaryDirectory() as folder:
        for size, length_min in _SIZES.items():
            text = cut_document(length_min)
            document = Path(folder) / "pages.md"
            document.write_text(text, "utf-8")
            sections = len(parse_document(text).columns)
            yield ""
            yield f"| {size}, {sections:,} sections | first words | whole outline | page-down (CPU) | memory |"
            yield "|---|---:|---:|---:|---:|"
            readings: dict[str, list[Reading]] = {program.name: [] for program in programs}
            for _ in range(times):
                for program in programs:
                    readings[program.name].append(measure_reader(program, document, sections))
            for name, found in readings.items():
                yield _format_reader(name, found)


def _format_reader(name: str, readings: list[Reading]) -> str:
    cells = [
        _format_median([reading.first_words_seconds for reading in readings], "s"),
        _format_median([reading.outline_seconds for reading in readings], "s"),
        _format_median([reading.page_seconds for reading in readings], "ms"),
        f"{median(reading.memory_bytes for reading in readings) / 1e6:,.0f} MB",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _format_median(values: list[float | None], unit: str) -> str:
    found = [value for value in values if value is not None]
    if len(found) <= len(values) // 2:
        return f"not in {_SECONDS_MAX:.0f} s"
    return f"{median(found) * 1_000:,.0f} ms" if unit == "ms" else f"{median(found):.2f} s"

"""roamtui beside other readers of Markdown in a terminal, on the same files in one run: `make bench ARGS=--readers`.

Each gets a terminal of 160 × 48 and 60 seconds. The files are the beginning of a large real documentation under one
heading, so that every reader shows one long document. For all of them alike an outline is known when the program holds
it, and shown when it is drawn; a panel that is hidden at first is opened by its key once the first words stand there.
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
from time import monotonic, sleep

from roamtui.document.parse import parse_document
from tests.benchmarks.measuring import make_environ
from tests.benchmarks.terminal_program import TerminalProgram
from tests.real_documents import find_data_dir

_SECONDS_MAX = 60.0
_PAGES = 10
_PAGE_DOWN = b"\x1b[6~"
_CONTROL_T = b"\x14"
_FIRST_WORD = "Anatomy"
_SIZES = {"100 KB": 100_000, "1 MB": 1_000_000, "10 MB": 10_000_000}
_MEASURES = ("first words", "outline known", "outline shown", "page-down (CPU)", "memory")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)")
_HERE = Path(__file__).parent
_POLL_SECONDS = 0.01
_OUTLINE_SHARE = 0.9
"""Of all sections, what an outline has at least: readers differ in whether they count headings in lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one start of one reader gave; None for what did not come in time."""

    first_words_seconds: float | None
    outline_known_seconds: float | None
    outline_shown_seconds: float | None
    page_seconds: float | None
    """Processor time of one page-down."""
    memory_bytes: int

    @property
    def is_whole(self) -> bool:
        """Whether everything came in time."""
        found = (self.first_words_seconds, self.outline_known_seconds, self.outline_shown_seconds, self.page_seconds)
        return None not in found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderProgram:
    """A reader of Markdown."""

    name: str
    command: Callable[[Path, Path], list[str]]
    """From the document and the file of the probe to what is started."""
    keys: tuple[bytes, ...] = ()
    """What brings a person from its first screen to the beginning of the text."""
    outline_key: bytes = b""
    """What opens its outline, where it is hidden at first."""
    is_shown_by_count: bool = False
    """Whether the number of sections on its screen tells that the outline is shown; else the probe does."""


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
    probe = str(_HERE / "outline_probe.py")

    def run_own(document: Path, marker: Path) -> list[str]:
        return [sys.executable, str(_HERE / "own_probe.py"), str(marker), str(document)]

    def run_probed(python: str, script: str, document: Path, marker: Path) -> list[str]:
        return [python, probe, str(marker), script, str(document)]

    viewer = partial(run_probed, sys.executable, str(_HERE / "viewer_app.py"))
    programs = [
        ReaderProgram(name="roamtui", command=run_own, keys=(b"\x1b", b"g", b"\r", b"\r"), is_shown_by_count=True),
        ReaderProgram(name="Textual's MarkdownViewer", command=viewer),
    ]
    for package, name, escapes in (("frogmouth", "frogmouth==0.9.2", 1), ("hike", "hike==1.4.0", 2)):
        folder = _install(package, name)
        command = partial(run_probed, str(folder / "python"), str(folder / package))
        programs.append(
            ReaderProgram(
                name=name.replace("==", " "), command=command, keys=(b"\x1b",) * escapes, outline_key=_CONTROL_T
            )
        )
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
            headings_min = int(_OUTLINE_SHARE * sections)
            known = None if first is None else _wait_for_mark(marker, program, "known", headings_min, until)
            shown = None
            if known is not None and reader.is_shown_by_count:
                shown = program.wait_for(f"{sections:,} sections", until)
            elif known is not None:
                program.press(reader.outline_key)
                shown = _wait_for_mark(marker, program, "shown", 1, until)
            is_idle = first is not None and program.wait_until_idle(until)
            return Reading(
                first_words_seconds=first,
                outline_known_seconds=known,
                outline_shown_seconds=shown,
                page_seconds=_measure_page(program, reader.keys) if is_idle else None,
                memory_bytes=program.memory_bytes(),
            )


def _wait_for_mark(marker: Path, program: TerminalProgram, what: str, headings_min: int, until: float) -> float | None:
    """Return the seconds from the start to the moment that a probe noted; None where it did not in time."""
    while monotonic() < until:
        with suppress(FileNotFoundError):
            for line in marker.read_text("utf-8").splitlines(keepends=True):
                if line.endswith("\n") and line.startswith(f"{what} ") and int(line.split()[1]) >= headings_min:
                    return float(line.split()[2]) - program.start
        sleep(_POLL_SECONDS)
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
    """Yield the lines of a table for each size, as they come.

    Readers are started in turns, each so many times; one that was not done in time the first time is not tried again.
    """
    programs = make_programs()
    with tempfile.TemporaryDirectory() as folder:
        for size, length_min in _SIZES.items():
            text = cut_document(length_min)
            document = Path(folder) / "pages.md"
            document.write_text(text, "utf-8")
            sections = len(parse_document(text).columns)
            readings: dict[str, list[Reading]] = {program.name: [] for program in programs}
            for _ in range(times):
                for program in programs:
                    found = readings[program.name]
                    if not found or found[0].is_whole:
                        found.append(measure_reader(program, document, sections))
            yield ""
            yield f"| {size}, {sections:,} sections | {' | '.join(_MEASURES)} |"
            yield f"|---|{'---:|' * len(_MEASURES)}"
            for name, found in readings.items():
                yield _format_reader(name, found)


def _format_reader(name: str, readings: list[Reading]) -> str:
    cells = [
        _format_median([reading.first_words_seconds for reading in readings], "s"),
        _format_median([reading.outline_known_seconds for reading in readings], "s"),
        _format_median([reading.outline_shown_seconds for reading in readings], "s"),
        _format_median([reading.page_seconds for reading in readings], "ms"),
        f"{median(reading.memory_bytes for reading in readings) / 1e6:,.0f} MB",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _format_median(values: list[float | None], unit: str) -> str:
    found = [value for value in values if value is not None]
    if len(found) <= len(values) // 2:
        return f"not in {_SECONDS_MAX:.0f} s"
    return f"{median(found) * 1_000:,.0f} ms" if unit == "ms" else f"{median(found):.2f} s"

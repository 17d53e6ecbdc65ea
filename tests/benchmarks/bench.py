"""How quick roamtui is, each number beside one that it can be compared with: `make bench`.

The documents are the example handbook, repeated until it has the wanted size, so that every machine measures the same.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import lru_cache, partial
from importlib.metadata import version
from itertools import chain
from pathlib import Path

from markdown_it import MarkdownIt

from roamtui import __version__
from roamtui.agent.loop import Agent
from roamtui.conversation.session import Session
from roamtui.conversation.store import ConversationStore
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.outline.render import render_outline
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.growth import bench_growth
from tests.benchmarks.heading_scan import bench_headings
from tests.benchmarks.long_conversations import bench_long_conversations
from tests.benchmarks.measuring import (
    FINDINGS_HEAD,
    Finding,
    Measure,
    Row,
    format_finding,
    make_environ,
    measure_in_turns,
    timed,
)
from tests.benchmarks.own_parts import (
    bench_key_queue,
    bench_own_tree,
)
from tests.benchmarks.passages import bench_passages
from tests.benchmarks.provider_steps import bench_provider_steps
from tests.benchmarks.readers import bench_readers
from tests.benchmarks.search_scale import bench_search_scale
from tests.benchmarks.terminal_program import TerminalProgram
from tests.benchmarks.web_pages import bench_web
from tests.benchmarks.wide_tree import bench_find, bench_wide_tree
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR, find_data_dir

_STEP_SECONDS_MAX = 0.02
_STEPS = 10
_SCREEN_SECONDS_MAX = 60.0
_QUERY = "how long is a token valid"
_OUTLINE_TOKENS = 12_000
_BIN = Path(sys.executable).parent


@lru_cache
def make_text(length_min: int) -> str:
    """Return the example handbook, repeated as chapters with titles of their own until it is long enough."""
    handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    copies = -(-length_min // len(handbook))
    return "\n".join(re.sub(r"(?m)^(#+ .*)$", rf"\1 {number}", handbook) for number in range(1, copies + 1))


def make_library(length_min: int) -> Library:
    """Return a new library of such a text, with nothing computed beforehand."""
    return Library(source="bench.md", root=parse_document(make_text(length_min)))


def bench_help() -> Row:
    """`roamtui --help` beside a Python that only imports argparse."""
    run = partial(subprocess.run, stdout=subprocess.DEVNULL, env=make_environ(), check=True)
    ours = partial(run, [_BIN / "roamtui", "--help"])
    theirs = partial(run, [sys.executable, "-c", "import argparse"])
    seconds, beside = measure_in_turns(timed(ours), timed(theirs), 25)
    return Row(
        what="roamtui --help",
        seconds=seconds,
        beside="python -c 'import argparse'",
        beside_seconds=beside,
        ratio_max=1.5,
    )


def bench_first_screen() -> Row:
    """The app on 100 KB beside an empty app of stock widgets, each from its start to its first whole screen."""
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "handbook.md"
        path.write_text(make_text(100_000), "utf-8")
        environ = make_environ(HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home, XDG_CACHE_HOME=home)
        title = parse_document(make_text(100_000)).columns.titles[0].split()[0]
        ours = partial(_start_program, [str(_BIN / "roamtui"), str(path)], (title, "offline"), environ)
        stock = [sys.executable, "-m", "tests.benchmarks.stock_app"]
        theirs = partial(_start_program, stock, ("Outline", "Status"), environ)
        seconds, beside = measure_in_turns(ours, theirs, 11)
    return Row(
        what="first screen, 100 KB",
        seconds=seconds,
        beside="empty app of Textual's own widgets",
        beside_seconds=beside,
        ratio_max=1.25,
    )


def _start_program(command: Sequence[str], words: Sequence[str], environ: Mapping[str, str]) -> float:
    """Return the seconds from the start of a program until all of some words stand on its terminal."""
    with closing(TerminalProgram(command, environ)) as program:
        found = [program.wait_for(word, program.start + _SCREEN_SECONDS_MAX) for word in words]
        return max(math.inf if seconds is None else seconds for seconds in found)


def bench_step() -> Row:
    """What a step of the agent costs beside the time that the model takes, saving included."""
    library = make_library(100_000)
    ids = list(library.walk())
    replies = [
        ScriptedReply(calls=(("expand_sections", {"section_ids": ids[2 * step : 2 * step + 2]}),))
        for step in range(1, _STEPS)
    ]
    replies.append(ScriptedReply(text=f'It says "words" [{ids[3]}]. ' * 20))

    async def ask(store: ConversationStore) -> None:
        agent = Agent(Session.start(library, store=store), ScriptedModel(replies))
        async for _ in agent.ask("What does it say?"):
            pass

    with tempfile.TemporaryDirectory() as folder:
        store = ConversationStore(Path(folder) / "conversations")
        seconds, _ = measure_in_turns(timed(lambda: asyncio.run(ask(store))), lambda: 0.0, 15)
    return Row(
        what="own work in one step of the agent",
        seconds=seconds / _STEPS,
        beside="20 ms",
        beside_seconds=_STEP_SECONDS_MAX,
        ratio_max=1,
    )


def bench_parse() -> Row:
    """Headings, ids and sizes of 1 MB beside a full parse by markdown-it-py."""
    text = make_text(1_000_000)
    parser = MarkdownIt("commonmark").enable("table")
    seconds, beside = measure_in_turns(
        timed(lambda: parse_document(text).tokens_before), timed(lambda: parser.parse(text)), 5
    )
    return Row(what="open 1 MB", seconds=seconds, beside="full parse by markdown-it-py", beside_seconds=beside)


def bench_outline() -> Row:
    """The outline that a model reads, of 1 MB, beside opening the document."""
    seconds, beside = measure_in_turns(
        _timed_on_new_library(lambda library: render_outline(library, budget_tokens=_OUTLINE_TOKENS)),
        timed(lambda: make_library(1_000_000).root.tokens_before),
        5,
    )
    return Row(what="outline of 1 MB", seconds=seconds, beside="opening it", beside_seconds=beside)


def bench_index() -> Row:
    """The first search in 1 MB, which makes the index, beside opening the document."""
    seconds, beside = measure_in_turns(
        _timed_on_new_library(_search), timed(lambda: make_library(1_000_000).root.tokens_before), 5
    )
    return Row(what="first search in 1 MB", seconds=seconds, beside="opening it", beside_seconds=beside)


def bench_search() -> Row:
    """A further search beside a look at every section for one of the words."""
    library = make_library(1_000_000)
    searcher = KeywordSearcher(library)
    assert searcher is not None
    texts = [library.own_text(section_id).lower() for section_id in library.walk()]
    seconds, beside = measure_in_turns(
        timed(lambda: searcher.search(_QUERY)), timed(lambda: [text.find("token valid") for text in texts]), 25
    )
    return Row(what="next search", seconds=seconds, beside="str.find in every section", beside_seconds=beside)


def _search(library: Library) -> object:
    searcher = KeywordSearcher(library)
    return searcher.search(_QUERY) if searcher else None


def _timed_on_new_library(work: Callable[[Library], object]) -> Measure:
    """Return a measure of `work` on a library that is opened, untimed, for each turn."""

    def measure() -> float:
        library = make_library(1_000_000)
        _ = library.root.tokens_before, library.root.ids
        return timed(lambda: work(library))()

    return measure


BENCHES: dict[str, Callable[[], Row]] = {
    "help": bench_help,
    "first-screen": bench_first_screen,
    "step": bench_step,
    "parse": bench_parse,
    "outline": bench_outline,
    "index": bench_index,
    "search": bench_search,
}


LOADS: dict[str, Callable[[], list[Finding]]] = {
    "headings": bench_headings,
    "provider": lambda: bench_provider_steps(make_library(100_000)),
    "conversations": bench_long_conversations,
    "tree": bench_wide_tree,
    "find": bench_find,
    "key-queue": bench_key_queue,
    "own-tree": bench_own_tree,
    "growth": bench_growth,
    "search-scale": bench_search_scale,
    "web": bench_web,
    "passages": lambda: [*bench_passages()],
}
_NEED_DOCUMENTS = {"headings", "tree", "find", "garbage", "own-tree", "growth", "search-scale", "passages"}


def describe_machine() -> list[str]:
    """Return what the numbers depend on."""
    processor = platform.machine()
    with suppress(OSError):
        found = re.search(r"(?m)^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text("utf-8"))
        processor = found.group(1) if found else processor
    return [
        f"{os.cpu_count()} × {processor}, {platform.system()}, Python {platform.python_version()}",
        (
            f"roamtui {__version__}, textual {version('textual')}, markdown-it-py {version('markdown-it-py')},"
            f" SQLite {sqlite3.sqlite_version}"
        ),
    ]


def format_seconds(seconds: float) -> str:
    """Return a duration with three digits or so, in the unit that suits it."""
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1_000:.0f} ms" if seconds >= 0.01 else f"{seconds * 1_000:.2f} ms"


def format_row(row: Row) -> str:
    """Return one line of the table, which is Markdown too."""
    cells = (
        f"{row.what:<33}",
        f"{format_seconds(row.seconds):>8}",
        f"{row.beside:<34}",
        f"{format_seconds(row.beside_seconds):>8}",
        f"{row.ratio:>6.2f}",
        f"{row.verdict:<14}",
    )
    return f"| {' | '.join(cells)} |"


HEAD = f"""\
| {"what":<33} | {"roamtui":>8} | {"beside":<34} | {"":>8} | {"ratio":>6} | {"goal":<14} |
|{"-" * 35}|{"-" * 9}:|{"-" * 36}|{"-" * 9}:|{"-" * 7}:|{"-" * 16}|"""


_KEPT_FROM = "\n## "
"""What stands from here on in the page is written by hand, from other benches."""
INTRO = """\
# Benchmarks

One run of `make bench ARGS="--readers --write"`. The first table has medians, in turns with what stands beside them.
The last ones show roamtui beside other readers of Markdown in a terminal of 160 × 48, on the same files, with 60
seconds each: medians of starts in turns, of one start where a reader was not done in time. An outline is known when the
program holds all of it, and shown when it is drawn (by a key, once the first words stand there, where it is hidden). A
page-down is measured once a reader rests; memory is that at the end, or after 60 seconds where it did not rest before.

"""


def run_benches(names: set[str]) -> Iterator[str]:
    """Yield the lines of both tables, as they come."""
    if names & BENCHES.keys():
        yield HEAD
    for name in [name for name in BENCHES if name in names]:
        yield format_row(BENCHES[name]())
    if names & LOADS.keys():
        yield ""
        yield FINDINGS_HEAD
    for name in [name for name in LOADS if name in names]:
        if name in _NEED_DOCUMENTS and not find_data_dir().is_dir():
            yield f"| {name}: there are no real documents here, set ROAMTUI_DATA |"
            continue
        yield from map(format_finding, LOADS[name]())


def main() -> int:
    """Print the tables; write them into the documentation only when asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*BENCHES, *LOADS]
    parser.add_argument("--only", choices=names, action="append", help="measure this alone; may be repeated")
    parser.add_argument("--readers", action="store_true", help="then other readers of Markdown, which takes long")
    parser.add_argument("--times", type=int, default=3, help="starts of each reader on each file (default 3)")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    arguments = parser.parse_args()
    lines = []
    readers = bench_readers(arguments.times) if arguments.readers else ()
    for line in chain([*describe_machine(), ""], run_benches({*(arguments.only or names)}), readers):
        lines.append(line)
        print(line, flush=True)  # noqa: T201 - the tables are the output
    if arguments.write:
        page = PROJECT_DIR / "docs" / "benchmarks.md"
        page.parent.mkdir(exist_ok=True)
        written = page.read_text("utf-8") if page.exists() else ""
        kept = written[written.index(_KEPT_FROM) :] if _KEPT_FROM in written else ""
        page.write_text(INTRO + "\n".join(lines) + "\n" + kept, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

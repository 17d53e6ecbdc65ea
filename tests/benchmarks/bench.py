"""How quick roamtui is, each number beside one that it can be compared with: `make bench`.

The documents are the example handbook, repeated until it has the wanted size, so that every machine measures the same.
"""

import argparse
import asyncio
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path

from markdown_it import MarkdownIt

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.search.keyword import KeywordSearcher
from tests.benchmarks.growth import bench_growth
from tests.benchmarks.long_conversation import bench_long_conversation
from tests.benchmarks.measuring import (
    TABLE_HEAD,
    Finding,
    compare,
    format_finding,
    make_environ,
    timed,
)
from tests.benchmarks.wide_tree import bench_find, bench_tree, measure_sizes
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR
from tests.terminal.pseudo_terminal import PseudoTerminal

_STEP_SECONDS_MAX = 0.02
_STEPS = 10
_QUERY = "how long is a token valid"
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


def bench_help() -> list[Finding]:
    """`roamtui --help` beside a Python that only imports argparse."""
    run = partial(subprocess.run, stdout=subprocess.DEVNULL, env=make_environ(), check=True)
    ours = timed(partial(run, [_BIN / "roamtui", "--help"]))
    theirs = timed(partial(run, [sys.executable, "-c", "import argparse"]))
    return [compare("roamtui --help / start Python and import argparse", ours, theirs, turns=25, ratio_max=1.5)]


def bench_first_screen() -> list[Finding]:
    """The app on 100 KB beside an empty app of stock widgets, each from its start to its first whole screen."""
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        path = home / "handbook.md"
        path.write_text(make_text(100_000), "utf-8")
        title = parse_document(make_text(100_000)).columns.titles[0].split()[0]
        ours = timed(partial(_start_program, [_BIN / "roamtui", path], (title, "offline"), home))
        stock = [sys.executable, "-m", "tests.benchmarks.stock_app"]
        theirs = timed(partial(_start_program, stock, ("Outline", "Status"), home))
        return [compare("first screen, file of 100 KB / empty Textual app", ours, theirs, turns=11, ratio_max=1.4)]


def _start_program(program: Sequence[str | Path], words: Sequence[str], home: Path) -> None:
    """Start a program, and end it once all of some words stand on its terminal."""
    environ = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "PYTHONDONTWRITEBYTECODE": ""}
    with closing(PseudoTerminal([], home, environ=environ, program=program)) as terminal:
        for word in words:
            terminal.wait_for(word.encode())


def bench_step() -> list[Finding]:
    """What a step of the agent costs, saving included, beside what a model takes at the very least."""
    library = make_library(100_000)
    ids = list(library.walk())
    replies = [
        ScriptedReply(calls=(("expand_sections", {"section_ids": ids[2 * step : 2 * step + 2]}),))
        for step in range(1, _STEPS)
    ]
    replies.append(ScriptedReply(text=f'It says "words" [{ids[3]}]. ' * 20))

    async def ask(store: ConversationStore) -> None:
        agent = Agent(Conversation(library, store=store), ScriptedModel(replies))
        await agent.ask("What does it say?")

    with tempfile.TemporaryDirectory() as folder:
        store = ConversationStore(Path(folder) / "conversations")
        seconds = timed(lambda: asyncio.run(ask(store)))
        what = "roamtui's own work for one request to a model / limit"
        return [compare(what, lambda: seconds() / _STEPS, lambda: _STEP_SECONDS_MAX, turns=15, ratio_max=1)]


def bench_opening() -> list[Finding]:
    """Headings, ids and sizes of 1 MB beside a full parse."""
    text = make_text(1_000_000)
    opening = timed(lambda: parse_document(text).tokens_before)
    parsing = timed(partial(MarkdownIt("commonmark").enable("table").parse, text))
    return [compare("find the headings of 1 MB / parse it with markdown-it-py", opening, parsing, turns=5)]


def bench_search() -> list[Finding]:
    """A search in 1 MB whose index is made."""
    library = make_library(1_000_000)
    texts = [library.text_at(library.node(section_id).own_span).lower() for section_id in library.walk()]
    searcher = KeywordSearcher(library)
    searcher.search(_QUERY)
    further = timed(lambda: searcher.search(_QUERY))
    looking = timed(lambda: [text.find("token valid") for text in texts])
    return [compare("second search of 1 MB / str.find in every section", further, looking, turns=25)]


BENCHES: dict[str, Callable[[], list[Finding]]] = {
    "help": bench_help,
    "first-screen": bench_first_screen,
    "step": bench_step,
    "opening": bench_opening,
    "search": bench_search,
    "tree": partial(measure_sizes, bench_tree),
    "find": partial(measure_sizes, bench_find),
    "long": lambda: asyncio.run(bench_long_conversation()),
    "growth": bench_growth,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=BENCHES, action="append", help="measure this alone; may be repeated")
    chosen = parser.parse_args().only or BENCHES
    sys.stdout.write(f"{TABLE_HEAD}\n")
    for name in chosen:
        for finding in BENCHES[name]():
            sys.stdout.write(f"{format_finding(finding)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

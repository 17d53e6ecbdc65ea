"""How quick roamtui is, each number beside one that it can be compared with: `make bench`.

The documents are the example handbook, repeated until it has the wanted size, so that every machine measures the same.
"""

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache, partial
from pathlib import Path

from roamtui.document.parse import parse_document
from tests.benchmarks.long_conversation import bench_long_conversation
from tests.benchmarks.measuring import TABLE_HEADER, compare, timed
from tests.benchmarks.wide_tree import bench_tree
from tests.real_documents import PROJECT_DIR
from tests.terminal.pseudo_terminal import PseudoTerminal

_BIN = Path(sys.executable).parent


@lru_cache
def make_text(length_min: int) -> str:
    """Return the example handbook, repeated as chapters with titles of their own until it is long enough."""
    handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    copies = -(-length_min // len(handbook))
    return "\n".join(re.sub(r"(?m)^(#+ .*)$", rf"\1 {number}", handbook) for number in range(1, copies + 1))


def bench_help() -> list[str]:
    """`roamtui --help` beside a Python that only imports argparse."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}  # as installed
    run = partial(subprocess.run, stdout=subprocess.DEVNULL, env=environ, check=True)
    ours = timed(partial(run, [_BIN / "roamtui", "--help"]))
    theirs = timed(partial(run, [sys.executable, "-c", "import argparse"]))
    return [compare("roamtui --help / start Python and import argparse", ours, theirs, turns=25, ratio_max=1.5)]


def bench_first_screen() -> list[str]:
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


BENCHES: dict[str, Callable[[], list[str]]] = {
    "help": bench_help,
    "first-screen": bench_first_screen,
    "tree": lambda: asyncio.run(bench_tree()),
    "long": lambda: asyncio.run(bench_long_conversation()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=BENCHES, action="append", help="measure this alone; may be repeated")
    chosen = parser.parse_args().only or BENCHES
    sys.stdout.write(f"{TABLE_HEADER}\n")
    for name in chosen:
        for row in BENCHES[name]():
            sys.stdout.write(f"{row}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

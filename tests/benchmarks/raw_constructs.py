"""Screens of public documents as the reader shows them, and the source constructs that are still raw in them.

``python -m tests.benchmarks.raw_constructs [SEED] [COUNT]`` counts. ``--show`` adds the lines with such constructs, and
``--all`` all lines.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from roamtui.document.parse import parse_document
from roamtui.tui.markdown.line import Line, TextRole
from roamtui.tui.reader.document_view import DocumentView
from roamtui.tui.reader.lazy_lines import LazyLines
from tests.real_documents import find_data_dir

_WIDTH, _HEIGHT = 100, 40
_FILE_LENGTH_MAX = 2_000_000
_CONSTRUCTS = {
    "container": r"^\s*(:{3,}|/{3,}\s*[a-z|]|!!! |\?\?\?\+? |=== \")",
    "component": r"</?[A-Z][A-Za-z.]*(\s[^<>]*)?/?>",
    "HTML tag": r"</?(?:a|div|span|p|br|img|table|t[rdh]|d[ltd]|[uo]l|li|details|summary|code|pre|b|i|em|su[bp])"
    r"(\s[^<>]*)?/?>",
    "comment": r"<!--|\{/\*",
    "Jinja tag": r"\{%",
    "wikilink": r"\[\[[^\[\]\n]+\]\]",
    "image": r"!\[[^\]]*\]\(",
    "link": r"(?<!!)\[[^\]\n]+\]\([^)\s]+\)",
    "reference link": r"\]\[[\w -]+\]",
    "formula": r"\$\$|\\\(|\\frac|\\left",
    "export or import": r"^\s*(export (const|default|function)\b|import \w[\w{}, *]* from ['\"])",
    "RST role": r":[a-z]+(:[a-z]+)?:`[^`]+`|\{[a-z]+(:[a-z]+)?\}`[^`]+`|^\s*\.\. [a-z-]+::",
    "attribute": r"\{:?\s*[#.][\w-]+[^{}]*\}",
    "footnote definition": r"^\s*\[\^[^\]]+\]: ",
    "emphasis": r"\*\*\S",
    "emoji code": r"(?<!\w):(?:warning|rocket|bulb|memo|tada|fire|octicons-\S+|material-\S+|fontawesome-\S+):",
}
"""Patterns of raw source by name."""


def list_screens(seed: int, count: int) -> Iterator[tuple[str, list[Line]]]:
    """Yield the name of a document and a screen of its lines, sampled evenly over kinds of documents."""
    data = find_data_dir()
    assert data is not None, "the public documents are not on this machine"
    groups = [
        [*data.glob("books/*.md")],
        [*data.glob("llms/full/*.txt")],
        *([*data.glob(f"sets/{name}/**/*.md"), *data.glob(f"sets/{name}/**/*.mdx")] for name in _SETS),
    ]
    dice = random.Random(seed)  # noqa: S311 - a sample
    for number in range(count):
        group = sorted(groups[number % len(groups)])
        path: Path = dice.choice(group)
        text = path.read_text("utf-8", "replace")[:_FILE_LENGTH_MAX]
        lines = LazyLines(DocumentView(document=parse_document(text)), _WIDTH)
        chunk = dice.randrange(max(1, len(lines.chunks)))
        screen: list[Line] = []
        while len(screen) < _HEIGHT and chunk < len(lines.chunks):
            screen += lines.get_chunk_lines(chunk).lines
            chunk += 1
        yield f"{path.relative_to(data)}", screen[:_HEIGHT]


_SETS = ("ray-docs", "vespa-docs", "anthropic-docs")


def find_raw(line: Line) -> Iterator[str]:
    """Yield the names of the constructs in the words of a line. Code shows its source, so it has none."""
    if line.is_code:
        return
    words = "".join(
        "·" * len(run.text)
        if run.style.emphasis.CODE in run.style.emphasis or run.style.role is TextRole.CODE
        else run.text
        for run in line.runs
    )
    for name, pattern in _CONSTRUCTS.items():
        if re.search(pattern, words):
            yield name


def main() -> None:
    """Count, and print the counts."""
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdecimal()]
    seed, count = [*numbers, *(1, 200)[len(numbers) :]][:2]
    counts: Counter[str] = Counter()
    raw_screens = 0
    for number, (name, screen) in enumerate(list_screens(seed, count)):
        found = Counter(raw for line in screen for raw in find_raw(line))
        counts += found
        raw_screens += bool(found)
        shown = [f"   {', '.join(find_raw(line))}: {line.text.strip()}" for line in screen if any(find_raw(line))]
        if "--all" in sys.argv:
            shown = [line.text.rstrip() for line in screen]
        if shown and {"--all", "--show"} & {*sys.argv}:
            write(f"\n===== {number} {name}", *shown)
    write(f"\n{count} screens, {raw_screens} with raw constructs, {sum(counts.values())} lines in all")
    write(*(f"{lines:5} {raw}" for raw, lines in counts.most_common()))


def write(*lines: str) -> None:
    """Write lines to stdout."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()

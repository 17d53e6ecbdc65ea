"""markdown-it-py's block rules over a text or a piece of one: exact and slow, the judge of the scan."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

from roamtui.document.scanning.titles import parse_title, read_blank_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_NESTING_MAX = 10**6
"""markdown-it-py drops the rest of a document in silence past its own limit of 20, so the limit is out of reach."""
_RECURSION_MAX = 10**6
_MARKERS_MAX = 100
"""Container marks on one line past this number are left out of the parse: each level costs time by all others, and
a heading that deep is text anyway."""

_MARKER_RUN = re.compile(
    rf"^(?>[ \t]{{0,3}}(?:[-+*]|\d{{1,9}}[.)]|>)(?=[ \t>]|$)[ \t]?){{{_MARKERS_MAX + 1},}}+", re.MULTILINE
)
_MARKER = re.compile(r"[ \t]{0,3}(?:[-+*]|\d{1,9}[.)]|>)[ \t]?")


def parse_headings(text: str) -> list[tuple[int, str, int]]:
    r"""Return level, title and 0-based line of each heading of a whole text, by block rules alone.

    Args:
        text: Markdown with ``\n`` as its only line end.
    """
    env: dict[str, object] = {}
    source = text.replace("\0", "\N{REPLACEMENT CHARACTER}")
    starts = find_starts(source)
    return [
        (level, parse_title(content, env) if content else read_blank_title(source, starts[line], level), line)
        for level, content, line in list(list_headings(parse_blocks(source, env)))
    ]


def parse_blocks(source: str, env: dict[str, object]) -> list[Token]:
    """Return the block tokens of a text without NUL; definitions of reference links go into `env`."""
    if not source:
        return []
    if not source.endswith("\n"):
        source += "\n"  # without it, html_block reads past the end in a quoted list ("> - <?php\n>")
    parser = _make_parser()
    tokens: list[Token] = []
    with _deep_recursion():
        parser.block.parse(_MARKER_RUN.sub(_keep_first_markers, source), parser, env, tokens)
    return tokens


def list_headings(tokens: list[Token]) -> Iterator[tuple[int, str, int]]:
    """Yield level, content and line of each heading outside quotes and lists."""
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            yield int(token.tag[1]), tokens[index + 1].content, token.map[0]


def find_starts(source: str) -> list[int]:
    r"""Return the offset of each line that ends at ``\n``, and of the end."""
    return [0, *(match.end() for match in re.finditer("\n", source))]


@lru_cache(maxsize=1)
def _make_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - often not needed

    return MarkdownIt("commonmark", {"maxNesting": _NESTING_MAX}).enable("table")


def _keep_first_markers(match: re.Match[str]) -> str:
    run = match.group()
    end = 0
    for _ in range(_MARKERS_MAX):
        marker = _MARKER.match(run, end)
        if marker is None:
            break
        end = marker.end()
    return run[:end]


@contextmanager
def _deep_recursion() -> Iterator[None]:
    """Let Python recurse as deep as a document nests; frames of pure Python live on the heap."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _RECURSION_MAX))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)

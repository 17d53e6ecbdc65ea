"""Finds headings exactly as CommonMark 0.31.2 has them, by markdown-it-py's own block rules.

One deliberate difference: headings inside block quotes and list items are text, not sections.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

_NESTING_MAX = 10**6
"""markdown-it-py drops the rest of a document in silence past its own limit of 20, so the limit is out of reach."""
_TITLE_NESTING_MAX = 100
"""Brackets deeper than this inside a title stay text, so that none of ``[[[[[…`` is looked at again and again."""
_RECURSION_MAX = 10**6
_MARKERS_MAX = 100
"""Container marks on one line past this number are left out of the parse: each level costs time by all others, and
a heading that deep is text anyway."""
_TITLE_PARSED_MAX = 100_000
"""Characters; a longer heading is its own title, since inline parsing is not linear."""

_MARKER_RUN = re.compile(
    rf"^(?>[ \t]{{0,3}}(?:[-+*]|\d{{1,9}}[.)]|>)(?=[ \t>]|$)[ \t]?){{{_MARKERS_MAX + 1},}}+", re.MULTILINE
)
_MARKER = re.compile(r"[ \t]{0,3}(?:[-+*]|\d{1,9}[.)]|>)[ \t]?")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading outside quotes and lists."""

    level: int
    """1 to 6."""
    title: str
    """Text and code of its inline tokens, joined."""
    line: int
    """0-based line where it begins."""


def find_headings(text: str) -> list[Heading]:
    r"""Return the headings of a Markdown text in order.

    Args:
        text: Markdown with ``\\n`` as its only line end, front matter already taken off or blanked.
    """
    if not text:
        return []
    parser = _make_parser(_NESTING_MAX)
    source = _MARKER_RUN.sub(_keep_first_markers, text.replace("\0", "\N{REPLACEMENT CHARACTER}"))
    if not source.endswith("\n"):
        source += "\n"  # without it, html_block reads past the end in a quoted list ("> - <?php\n>")
    env: dict[str, object] = {}
    tokens: list[Token] = []
    with _deep_recursion():
        parser.block.parse(source, parser, env, tokens)
    lines = source.split("\n")
    title_parser = _make_parser(_TITLE_NESTING_MAX)
    headings = []
    for index, token in enumerate(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map is not None:
            content = tokens[index + 1].content
            title = (
                _read_title(title_parser, content, env) if content else _read_blank_title(token, lines[token.map[0]])
            )
            headings.append(Heading(int(token.tag[1]), title, token.map[0]))
    return headings


@lru_cache(maxsize=2)
def _make_parser(nesting_max: int) -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": nesting_max}).enable("table")


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


def _read_title(parser: MarkdownIt, content: str, env: dict[str, object]) -> str:
    if len(content) > _TITLE_PARSED_MAX:
        return content.replace("\n", " ")
    parts = []
    for token in parser.parseInline(content, env)[0].children or ():
        match token.type:
            case "text" | "code_inline" | "text_special":
                parts.append(token.content)
            case "softbreak" | "hardbreak":
                parts.append(" ")
            case _:
                pass
    return "".join(parts).strip(" \t")


def _read_blank_title(token: Token, line: str) -> str:
    """Return what the specification leaves where markdown-it-py strips a title to nothing: spaces and tabs alone go."""
    if not token.markup.startswith("#"):
        return ""
    title = line.strip(" \t").removeprefix(token.markup).strip(" \t")
    unclosed = title.rstrip("#")
    return unclosed.rstrip(" \t") if unclosed[-1:] in ("", " ", "\t") else title

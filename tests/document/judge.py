"""A second opinion on headings: a full parse by markdown-it-py, independent of the code under test."""

import itertools
import re
import sys
from collections.abc import Iterable

from markdown_it import MarkdownIt
from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(?!\n)(?:.*\n)*?(?:---|\.\.\.)[ \t]*(?:\n|\Z)")


def _raise_letters(text: str) -> str:
    figures = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    return text.translate(figures) if text.isdigit() else f"^{text}"


def _join_words(tokens: Iterable[Token]) -> str:
    words = "".join(
        " " if token.type.endswith("break") else token.content
        for token in tokens
        if token.type in ("text", "code_inline", "softbreak", "hardbreak") or token.content in ("<sup>", "</sup>")
    )
    return re.sub(r"<sup>(.*?)</sup>", lambda match: _raise_letters(match[1]), words).strip(" \t")


def judge_outline(text: str) -> list[tuple[int, str, int]]:
    """Return level, title and 1-based line of each heading outside quotes and lists.

    Args:
        text: A whole document, with any line ends, without byte order mark.
    """
    source = text.replace("\r\n", "\n").replace("\r", "\n")
    front_matter = _FRONT_MATTER.match(source)
    lines_before = 0
    if front_matter:
        source = source[front_matter.end() :]
        lines_before = front_matter.group().count("\n")
    parser = MarkdownIt("commonmark", {"maxNesting": 2_000}).enable("table")
    outline = []
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        tokens = parser.parse(source + "\n")
    finally:
        sys.setrecursionlimit(limit)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            children = inline.children or ()
            pictures = (_join_words(child.children or ()) for child in children if child.type == "image")
            title = _join_words(children) or " ".join(filter(None, pictures))
            outline.append((int(opening.tag[1:]), title, opening.map[0] + 1 + lines_before))
    return outline

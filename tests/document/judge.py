"""A second opinion on headings: a full parse by markdown-it-py, whose titles are read like those of the outline."""

import itertools
import sys
from typing import Any

from markdown_it import MarkdownIt

from roamtui.document.headings import parse_title
from roamtui.text import measure_front_matter, normalise_line_ends


def judge_outline(text: str) -> list[tuple[int, str, int]]:
    """Return level, title and 1-based line of each heading outside quotes and lists.

    Args:
        text: A whole document, with any line ends, without byte order mark.
    """
    source = normalise_line_ends(text)
    front_length = measure_front_matter(source)
    lines_before = source.count("\n", 0, front_length)
    source = source[front_length:]
    parser = MarkdownIt("commonmark", {"maxNesting": 2_000}).enable("table")
    env: dict[str, Any] = {}
    outline = []
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(50_000)
    try:
        tokens = parser.parse(source + "\n", env)
    finally:
        sys.setrecursionlimit(limit)
    references = env.get("references", {})
    env["references"] = {label: references[label] for label in references if not label.startswith("^")}
    for opening, inline in itertools.pairwise(tokens):
        if opening.type == "heading_open" and opening.level == 0 and opening.map:
            title = parse_title(inline.content, env)
            outline.append((int(opening.tag[1:]), title, opening.map[0] + 1 + lines_before))
    return outline

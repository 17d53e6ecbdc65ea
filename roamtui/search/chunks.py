"""Sections as chunks: pieces of own text that are small enough to be one thought, each under the titles above it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.node import NodeKind

_PATH_LENGTH_MAX = 200
"""Characters of titles before a chunk; of more, the last stay, which are nearest to the text."""
_PATH_JOINT = " > "
_ENDS = (re.compile(r"\n[ \t]*\n"), re.compile(r"[.!?][\"')\]]*\s|\n"), re.compile(r"\s"))
"""Where a chunk may end, the best first: after a paragraph, after a sentence or line, after a word."""
_UNDERLINE = re.compile(r"[ \t]{0,3}(?:=+|-+)[ \t]*$")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of one section, as an embedder is given it."""

    section_id: str
    text: str
    """The titles above and its own on one line, then the piece."""


def make_chunks(library: Library, section_ids: Iterable[str], *, size: int, overlap: int) -> Iterator[Chunk]:
    """Yield the chunks of sections in order; a section without text has one, its titles.

    Args:
        library: Holds the sections. No chunk crosses the end of a section's own text.
        section_ids: What is cut.
        size: Characters of a chunk at most, its titles not counted.
        overlap: Characters that a chunk repeats of the one before, less than half of `size`.
    """
    for section_id in section_ids:
        document, row = library.locate(section_id)
        columns = document.columns
        starts = columns.starts
        text = document.text[starts[row] : starts[row + 1]]
        kind = columns.kinds[row]
        if not text.strip() and library.heading(section_id).has_more:
            continue
        titles = _list_titles(library, section_id)
        if kind is NodeKind.SECTION:
            text = _drop_heading(text)
        pieces = [text[start:end] for start, end in cut_text(text, size=size, overlap=overlap)]
        if summary := library.summary(section_id):
            pieces.append(summary)
        for piece in pieces or [""]:
            whole = f"{titles}\n{piece}".strip()
            if whole:
                yield Chunk(section_id, whole)


def cut_text(text: str, *, size: int, overlap: int) -> list[tuple[int, int]]:
    """Return where the pieces of a text begin and end; together they hold every character but white space.

    A piece ends where a paragraph, a sentence or a word ends, if one does so in its second half.
    """
    spans = []
    start = _skip_space(text, 0)
    while start < len(text):
        end = _find_end(text, start, size)
        stripped = start + len(text[start:end].rstrip())
        spans.append((start, stripped))
        if end >= len(text):
            break
        start = _skip_space(text, max(_find_word(text, end - overlap, end), start + 1))
    return spans


def _find_end(text: str, start: int, size: int) -> int:
    limit = start + size
    if limit >= len(text):
        return len(text)
    for pattern in _ENDS:
        ends = [match.end() for match in pattern.finditer(text, start + size // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _find_word(text: str, start: int, end: int) -> int:
    """Return where the first whole word from `start` on begins, `end` where none does before."""
    if start >= end or text[start - 1].isspace():
        return min(start, end)
    match = _ENDS[-1].search(text, start, end)
    return match.end() if match else end


def _skip_space(text: str, start: int) -> int:
    while start < len(text) and text[start].isspace():
        start += 1
    return start


def _list_titles(library: Library, section_id: str) -> str:
    """Return the titles from the file's path down to the section's own, each once, on one line."""
    document, row = library.locate(section_id)
    key = document.key
    titles = {key[: key.rfind(".")] if "." in key.rpartition("/")[2] else key: None}
    if document.columns.kinds[row] is not NodeKind.TEXT:
        titles |= dict.fromkeys(document.columns.path(row))
    line = _PATH_JOINT.join(" ".join(title.split()) for title in titles if title.strip())
    return line[-_PATH_LENGTH_MAX:]


def _drop_heading(text: str) -> str:
    """Return a section's own text without the lines of its heading, which stand in the titles already."""
    first, _, rest = text.partition("\n")
    if first.lstrip().startswith("#"):
        return rest
    second, _, after = rest.partition("\n")
    return after if _UNDERLINE.match(second) else text

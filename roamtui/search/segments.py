"""`IndexSegment`: rows of a document, or a line of a folder listing, which an index adds or removes as a unit."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from roamtui.document.document import Document
from roamtui.document.node import NodeKind
from roamtui.document.numbering import NodeNumbering
from roamtui.search.terms import (
    encode_identifier,
    extract_identifiers,
    normalise_unicode,
    space_unspaced_scripts,
    split_camel_case,
)

_FORMAT_VERSION = "2"
"""Increase it when the same text gives different rows, so that older index files are refilled."""
_ROWS_MAX = 5_000
_PIECE_LENGTH = 1_000_000
"""Number of characters of a text that are processed at once, to limit memory."""
_CACHED_RUNS_MAX = 50_000
"""Maximum number of cached runs. They take about 8 MB, and a larger cache is not faster."""
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s")
_ENUMERATOR = re.compile(r"[\W\d_]*(?:[a-z]|[ivxl]+)?[\W\d_]*", re.IGNORECASE)
"""A title that is only a number, such as ``5.8.1`` or ``(iv)``."""
_IDENTIFIER_MARKS = frozenset("_.:-+#@$")
"""Every identifier that is not a plain word contains one of these characters."""
_BRACKETS = "()[]{}<>,;!?'\"`*|"
_ABOVE_LENGTH_MAX = 200
"""Maximum number of characters of a title that are indexed with each section below it. A title may have 100 KB."""


class IndexRow(NamedTuple):
    """The FTS5 columns of one node."""

    title: str
    path: str
    """Titles above the node, and the path of its file."""
    body: str
    names: str
    """Encoded identifiers."""
    parts: str
    """Parts of words in camel case."""


@dataclass(frozen=True, slots=True)
class IndexSegment:
    """The rows of a document from `first` up to `end` (exclusive)."""

    document: Document
    first: int
    end: int
    above: tuple[str, ...]
    """Titles above the document, nearest first."""
    digest: str
    """Digest of everything that the index rows depend on, the same in every process.

    If a library repeats a segment, the copies get a suffix such as ``#2``.
    """
    summaries: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Summaries of the document and its sections, which are searched like their text; see `Document.get_summary`."""

    def __len__(self) -> int:
        return self.end - self.first

    def make_rows(self, names_by_run: NamesByRun) -> Iterator[IndexRow]:
        """Yield the index columns of each row."""
        columns, text = self.document.columns, self.document.text
        for row in range(self.first, self.end):
            own_text = normalise_unicode(text[columns.starts[row] : columns.starts[row + 1]])
            summary = self.document.get_summary(row, self.summaries)
            identifiers = list(filter(None, map(names_by_run.__getitem__, _split_runs(own_text))))
            yield IndexRow(
                space_unspaced_scripts(normalise_unicode(qualified_title_of(self.document, row))),
                space_unspaced_scripts(normalise_unicode(join_context(self.document, row, self.above))),
                space_unspaced_scripts(f"{own_text}\n{normalise_unicode(summary)}" if summary else own_text),
                " ".join(names for names, _ in identifiers),
                " ".join(parts for _, parts in identifiers),
            )


def list_segments(
    layout: NodeNumbering,
    documents: Sequence[Document],
    known: Mapping[int, Sequence[IndexSegment]],
    summaries: Mapping[str, str] = MappingProxyType({}),
) -> dict[int, list[IndexSegment]]:
    """Return the segments of each document by its ``id()``. Each segment has a unique digest.

    `known` has earlier segments by the ``id()`` of their document. Those of unchanged documents are reused. `summaries`
    has the summaries of documents and sections by the digest of their text.
    """
    segments_by_document: dict[int, list[IndexSegment]] = {}
    digest_counts: Counter[str] = Counter()
    for document in documents:
        above = list_ancestor_titles(layout, document)
        count = len(document.columns)
        segments = list(known.get(id(document), ()))
        if document.columns.has_files:
            # A listing has a segment for each line, except for loaded files, which are found by their sections.
            numbers = (layout.number_of(document, row) for row in range(count))
            rows = [row for row, number in enumerate(numbers) if len(layout.subtree(number)) == 1]
            segments = [_make_segment(document, row, row + 1, above, {}) for row in rows]
        elif not segments or segments[0].document is not document or segments[0].above != above:
            # A large document has several segments, so that a change rewrites only some of it.
            starts = range(0, count, _ROWS_MAX)
            segments = [_make_segment(document, row, min(count, row + _ROWS_MAX), above, summaries) for row in starts]
        for index, segment in enumerate(segments):
            digest_counts[segment.digest] += 1
            if digest_counts[segment.digest] > 1:
                segments[index] = replace(segment, digest=f"{segment.digest}#{digest_counts[segment.digest]}")
        segments_by_document[id(document)] = segments
    return segments_by_document


def batch_segments(segments: Iterable[IndexSegment], rows_max: int) -> Iterator[list[IndexSegment]]:
    """Yield segments in batches of about `rows_max` rows."""
    batch: list[IndexSegment] = []
    size = 0
    for segment in segments:
        batch.append(segment)
        size += len(segment)
        if size >= rows_max:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def list_ancestor_titles(layout: NodeNumbering, document: Document) -> tuple[str, ...]:
    """Return the titles above a grafted document, nearest first."""
    titles: list[str] = []
    host = layout.host(document)
    while host is not None:
        titles += _list_titles(*host)
        host = layout.host(host[0])
    return tuple(titles)


def join_context(document: Document, row: int, above: tuple[str, ...]) -> str:
    """Return the titles above a row and the path of its file without suffix, each once, as one string."""
    parent = document.columns.parents[row]
    key = document.key
    stem_end = key.rfind(".") if key.rfind(".") > key.rfind("/") else len(key)
    titles = _list_titles(document, parent) if parent >= 0 else []
    return " ".join(dict.fromkeys((*titles, *above, key[:stem_end])))


def title_of(document: Document, row: int) -> str:
    """Return the title of a row, or an empty string if it is only the first words of its text."""
    columns = document.columns
    return "" if columns.kinds[row] is NodeKind.TEXT else columns.titles[row]


def qualified_title_of(document: Document, row: int) -> str:
    """Return the title of a row. If it is only a number, add the title of the parent."""
    title = title_of(document, row)
    parent = document.columns.parents[row]
    if parent < 0 or not title or not _ENUMERATOR.fullmatch(title):
        return title
    return f"{title} {title_of(document, parent)[:_ABOVE_LENGTH_MAX]}"


def _list_titles(document: Document, row: int) -> list[str]:
    """Return the titles of a row and of its ancestors in the document, nearest first."""
    titles = []
    while row >= 0:
        titles.append(title_of(document, row)[:_ABOVE_LENGTH_MAX])
        row = document.columns.parents[row]
    return titles


def _make_segment(
    document: Document, first: int, end: int, above: tuple[str, ...], summaries: Mapping[str, str]
) -> IndexSegment:
    """Make the segment for some rows. Its digest covers everything that its index rows depend on."""
    columns = document.columns
    start = columns.starts[first]
    digest = blake2b(digest_size=16)
    titles = [title_of(document, row) for row in range(first, end)]
    context = join_context(document, first, above)
    head = "\x1f".join((_FORMAT_VERSION, document.key, context, *titles, ""))
    digest.update(head.encode("utf-8", "surrogatepass"))
    for offset in range(start, columns.starts[end], _PIECE_LENGTH):
        piece = document.text[offset : min(offset + _PIECE_LENGTH, columns.starts[end])]
        digest.update(piece.encode("utf-8", "surrogatepass"))
    digest.update(columns.levels[first:end])
    digest.update(array("Q", (offset - start for offset in columns.starts[first:end])).tobytes())
    for row in range(first, end) if summaries else ():
        digest.update(f"\x1f{document.get_summary(row, summaries)}".encode("utf-8", "surrogatepass"))
    return IndexSegment(document, first, end, above, digest.hexdigest(), summaries)


def _split_runs(text: str) -> Iterator[str]:
    """Yield the parts of `text.split()`, without having all parts of a huge text in memory."""
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + _PIECE_LENGTH)
        end = space.start() if space is not None else len(text)
        yield from text[start:end].split()
        start = end


class NamesByRun(dict[str, tuple[str, str] | None]):
    """Encoded identifiers and camel-case parts of each run of characters without a space, computed when needed.

    The value is None for most runs, which are plain words, perhaps with a comma or bracket.
    """

    def __missing__(self, run: str) -> tuple[str, str] | None:
        word = run.strip(_BRACKETS).rstrip(".:")
        found = None
        if not (word.isalnum() and (word[1:].islower() or word.islower() or word.isupper())):
            names = parts = ""
            if not _IDENTIFIER_MARKS.isdisjoint(word):
                names = " ".join(map(encode_identifier, extract_identifiers(run)))
            if word.lower() != word:
                parts = " ".join(part for word in _WORD.findall(run) for part in split_camel_case(word))
            found = (names, parts) if names or parts else None
        if len(self) >= _CACHED_RUNS_MAX:
            self.clear()
        self[run] = found
        return found

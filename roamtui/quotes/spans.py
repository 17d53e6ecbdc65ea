"""Widen the span in which a quote is looked up, and read it without page breaks, as a person does."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from roamtui.document.library import Library
from roamtui.text import Bounds, Span, replace_ranges


def widen_to_sections(library: Library, span: Span) -> Span:
    """Widen a span to the whole own texts of the sections that it touches."""
    starts = library.documents_by_key[span.doc].columns.starts
    first = max(0, bisect_right(starts, span.start) - 1)
    after = bisect_left(starts, span.end)
    start = min(span.start, starts[first])
    end = starts[after] if after < len(starts) else span.end
    return Span(doc=span.doc, start=start, end=end)


def widen_to_pages(library: Library, span: Span) -> Span:
    """Add the pages before and after to the span of a page that is a section. Keep other spans."""
    titles = [start for start, _ in _iter_page_titles(library, span)]
    if titles != [span.start]:
        return span
    document = library.documents_by_key[span.doc]
    edges = (*document.page_starts, len(document.text))
    first = bisect_left(edges, span.start)
    last = bisect_left(edges, span.end) + 1
    return Span(doc=span.doc, start=edges[max(0, first - 1)], end=edges[min(last, len(edges) - 1)])


def join_pages(library: Library, span: Span) -> str:
    """Return the text of a span as if it had no pages: with spaces for footers and for titles of pages.

    The conversion of a file without titles adds one for each page, in the middle of sentences.
    """
    titles = (
        (start - span.start, end - span.start, " " * (end - start))
        for start, end in _iter_page_titles(library, span)
    )
    return replace_ranges(library.clean_text(span), titles)


def _iter_page_titles(library: Library, span: Span) -> Iterator[Bounds]:
    document = library.documents_by_key[span.doc]
    if not document.has_page_titles:
        return
    for start in document.page_starts[bisect_left(document.page_starts, span.start) :]:
        if start >= span.end:
            return
        if document.text.startswith("# ", start):
            end = document.text.find("\n", start, span.end)
            yield start, span.end if end < 0 else end

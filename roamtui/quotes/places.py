"""Find the place of a quote in a text: in what a model has read, or in all that the documents say now.

One rule serves both. The quote is looked up in the sections that it names, then everywhere: as written, then
without the ids that a model copied with it. Of several places, the one with the sentence that was kept with
the quote is chosen, or else the likeliest.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice
from operator import attrgetter
from typing import NamedTuple

from roamtui.document.library import Library
from roamtui.outline.ids import IdMark, iter_id_marks, strip_id_marks
from roamtui.outline.labels import list_titles
from roamtui.quotes.find import FoundQuote, find_quote, is_long_quote, iter_in_span
from roamtui.quotes.full_sentence import covers_whole_sentence, find_quoted_sentence
from roamtui.quotes.spans import widen_to_pages
from roamtui.quotes.words import read_plain_words
from roamtui.search.terms import TermMatcher
from roamtui.text import Span, merge_bounds

_PLACES_MAX = 1000
"""Maximum number of places of a quote that are compared. One place may be found several times."""


class QuotePlace(NamedTuple):
    """Where a text has a quote."""

    found: FoundQuote
    quote: str
    """The quote, without the ids that were copied with it if the text has it only without them."""
    section_id: str | None
    """The named section that has it, or None if it is elsewhere."""
    has_sentence: bool
    """Whether the sentence that was kept with the quote is still around it."""


class QuotableText:
    """The text of a library in which quotes are looked up: parts of its documents, or all of them."""

    def __init__(self, library: Library, read: Iterable[Span] | None = None) -> None:
        """Take what a model has `read`, or else all documents."""
        self._library = library
        if read is None:
            documents = library.documents
            read = (Span(doc=document.key, start=0, end=len(document.text)) for document in documents)
        self.spans = [span for span in read if span.start < span.end]

    def iter_marks(self, answer: str, question: str = "") -> Iterator[IdMark]:
        """Yield the marks of an answer. An unknown id that is in this text or the question is no mark."""
        texts = [(self._library.documents_by_key[each.doc].text, each) for each in self.spans]

        def is_invented(mark: IdMark) -> bool:
            words = answer[mark.start : mark.end]
            is_quoted = any(text.find(words, each.start, each.end) >= 0 for text, each in texts)
            return not is_quoted and words not in question

        return iter_id_marks(answer, self._library, is_invented)

    def find_place(
        self,
        quote: str,
        section_ids: Sequence[str],
        *contexts: str,
        sentence: str = "",
        was_in_section: bool = False,
    ) -> QuotePlace | None:
        """Find a quote in the first of the named sections that has it, or else anywhere, or return None.

        The documents of these sections come before others. Of several places, the one with the `sentence` is
        chosen, or else the likeliest by the `sentence` and the `contexts`. If the quote `was_in_section`, a
        place elsewhere needs the sentence, because many tables may have one figure.
        """
        library = self._library
        named = [each for each in section_ids if each in library]
        named_docs = {library.node(each).content_span.doc for each in named}
        needs_sentence = bool(was_in_section and named and sentence)
        for words in dict.fromkeys((quote, strip_id_marks(quote, library))):
            in_sections = ((each, self._list_in_section(words, each)) for each in named)
            documents = self._iter_documents(named_docs)
            anywhere = ((None, self._list_elsewhere(words, spans)) for spans in documents)
            for section_id, places in chain[tuple[str | None, Sequence[FoundQuote]]](in_sections, anywhere):
                kept = next(
                    (place for place in places if _has_sentence(quote, sentence, place, library)), None
                )
                found = kept
                if found is None and places and (section_id is not None or not needs_sentence):
                    found = _choose_place(places, library, sentence, *contexts)
                if found is not None:
                    return QuotePlace(found, words, section_id, kept is not None)
        return None

    def _iter_documents(self, first: Container[str]) -> Iterator[list[Span]]:
        """Yield the spans of each document, beginning with the documents in `first`."""
        ordered = sorted(self.spans, key=lambda span: span.doc not in first)
        for _, spans in groupby(ordered, key=attrgetter("doc")):
            yield [*spans]

    def _list_in_section(self, words: str, section_id: str) -> Sequence[FoundQuote]:
        """List the places of a quote in the text of a section, and in its title."""
        library = self._library
        node = library.node(section_id)
        own = node.span
        # A sentence may continue on the next page, even if each page is a section.
        for span in dict.fromkeys((node.content_span, own, widen_to_pages(library, own))):
            bounds = [(each.start, each.end) for each in self.spans if each.doc == span.doc]
            if span == own and find_quote(words, node.title):
                end = library.documents_by_key[own.doc].text.find("\n", own.start, own.end)
                # a model that has the id has read the title
                bounds.append((own.start, own.end if end < 0 else end))
            pieces = [(max(start, span.start), min(end, span.end)) for start, end in merge_bounds(bounds)]
            spans = [Span(doc=span.doc, start=start, end=end) for start, end in pieces if start < end]
            places = self._list_in(words, spans)
            if places := [place for place in places if span.doc != own.doc or place.span.overlaps(own)]:
                return places
        return ()

    def _list_elsewhere(self, words: str, spans: Sequence[Span]) -> Sequence[FoundQuote]:
        """List the places of a quote outside of the sections that it names.

        There, a letter or digit must be a whole cell, item or sentence, because it is nearly everywhere.
        """
        is_long = is_long_quote(words)
        return [place for place in self._list_in(words, spans) if is_long or place.fills_unit]

    def _list_in(self, words: str, spans: Sequence[Span]) -> Sequence[FoundQuote]:
        places = chain.from_iterable(iter_in_span(words, self._library, span) for span in spans)
        return [*islice(places, _PLACES_MAX)]


def _has_sentence(quote: str, sentence: str, found: FoundQuote, library: Library) -> bool:
    if not sentence:
        return False
    now = find_quoted_sentence(library, found.parts)
    if now is None or (sentence == quote and covers_whole_sentence(now)):
        return sentence == quote
    return read_plain_words(sentence).letters.text == read_plain_words(now.text).letters.text


def _choose_place(places: Sequence[FoundQuote], library: Library, *contexts: str) -> FoundQuote:
    """Choose the likeliest place of a quote.

    An exact place comes before one written otherwise, and a whole cell, item or sentence before a part. Of
    equal places, choose the one whose sentence and titles share most words with the first context, then with
    the next.
    """
    ranked: dict[tuple[bool, bool], list[FoundQuote]] = defaultdict(list)
    for place in places:
        ranked[place.is_exact, place.fills_unit].append(place)
    best = ranked[max(ranked)]
    if len(best) == 1:
        return best[0]
    matchers = [*map(TermMatcher.for_question, contexts)]

    def count_shared(place: FoundQuote) -> list[int]:
        around = find_quoted_sentence(library, place.parts)
        section_id = library.find_node_at(place.span.doc, place.span.start) or library.root_id
        text = " ".join([*list_titles(library, section_id), "" if around is None else around.text])
        return [len(matcher.find_terms(text)) for matcher in matchers]

    return max(best, key=count_shared)

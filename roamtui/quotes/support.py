"""Find the sentences of a text that carry an answer without quotes, and what the text lacks.

A sentence of the text carries a sentence of the answer if it has the same numbers and names, and most of the
words. The words that govern the carrying sentence count too: the heads of its row, the line that leads its
list in, and its titles. If none has most of the words, the sentence that is nearest in meaning carries it, if
a model can tell. A number or a name that is nowhere in the text is false, as a quote would be.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import log

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.not_found import is_not_found
from roamtui.document.library import Library
from roamtui.markdown.surroundings import Surroundings
from roamtui.markdown.units import UnitKind, split_sentences
from roamtui.outline.labels import list_titles
from roamtui.quotes.surroundings import find_surroundings
from roamtui.quotes.verdicts import list_marks, make_citation
from roamtui.retrieval.missing import list_absent
from roamtui.search.base import Comparison
from roamtui.search.terms import TermMatcher, extract_query_terms
from roamtui.text import Bounds, Span

_SHARE_MIN = 0.5
"""Minimum share of a sentence's words that the sentences that carry it must have."""
_NEW_WORDS_MIN = 2
"""Minimum number of its words that each further sentence adds. A single word is in many sentences."""
_SOURCES_MAX = 4
"""Maximum number of sentences that together carry one sentence, such as a price and its exception."""
_SENTENCES_MAX = 50
"""Maximum number of sentences of an answer to find sources for. Nobody reads more of them."""
_COMPARED_MAX = 40
"""Maximum number of sentences of the text to compare with one sentence: those with most of its words."""
_COSINE_MIN = 0.7
"""Minimum cosine of a sentence and the sentence that carries it. Of 216 sentences of reference answers, 96
got the right source instead of 63. Without their source in the text, 40 got a wrong one instead of 31."""
_NUMBER = re.compile(r"(?<!\w)(?<![^\W\d_]-)[$€£¥]?(?P<digits>\d+(?:[.,:'’]\d+)*)")
"""A number that is not part of a name, such as `T-1101`."""
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[,'’](?=\d{3}(?!\d))")
_DOUBTFUL_DOT = re.compile(r"\.(?=\d{3}(?!\d))")
_ASSERTING = (UnitKind.PARAGRAPH, UnitKind.ITEM, UnitKind.ROW)
_NOT_STATED = (UnitKind.HEADING, UnitKind.TABLE_HEAD)


class Support(Struct, frozen=True, kw_only=True):
    """What a text says for an answer."""

    citations: tuple[Citation, ...] = ()
    """Sentences that carry one of the answer, and its numbers and names that are nowhere in the text."""
    unsourced: tuple[Bounds, ...] = ()
    """The bounds of the answer's sentences that have neither a quote nor such a sentence."""


class _SourceSentence(Struct, frozen=True, eq=False, dict=True):
    library: Library
    span: Span
    section_id: str

    @cached_property
    def titles(self) -> str:
        """The titles above it."""
        return " ".join(list_titles(self.library, self.section_id))

    @cached_property
    def bare(self) -> str:
        """Its words below its titles."""
        return f"{self.titles}\n{self.library.clean_text(self.span)}"

    @cached_property
    def surroundings(self) -> Surroundings | None:
        """The sentence with the words that govern it, as a person sees it."""
        return find_surroundings(self.library, (self.span,), is_exact=False)

    @cached_property
    def text(self) -> str:
        """The same below its titles."""
        return self.bare if self.surroundings is None else f"{self.titles}\n{self.surroundings.sentence}"

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Its numbers, and those of the words that govern it."""
        return _list_numbers(self.text)


def find_support(
    answer: str,
    quoted: Sequence[Citation],
    library: Library,
    spans: Sequence[Span],
    question: str,
    compare: Comparison | None = None,
) -> Support:
    """Find the sentences that carry each sentence of an answer that has no quote.

    It reads the whole text, so call it in a thread.

    Args:
        answer: What the model wrote.
        quoted: The citations of the answer.
        library: What the conversation is about.
        spans: The text that the model got.
        question: The person's question. Its numbers and names need no source.
        compare: Compares sentences by meaning where words do not suffice.
    """
    text = _Text(library, spans)
    citations: list[Citation] = []
    known: set[Span] = set()
    unsourced: list[Bounds] = []
    asked = _list_numbers(question)
    characters = [*answer]
    for mark in list_marks(answer, quoted, library):
        characters[mark.start : mark.end] = " " * (mark.end - mark.start)
    for start, end in _list_assertions(answer):
        words = "".join(characters[start:end])
        is_quoted = any(
            citation.start < end and start < max(citation.end, citation.start + 1) for citation in quoted
        )
        if is_quoted or is_not_found(words) or not any(map(str.isalnum, words)):  # ids claim nothing
            continue
        absent = [*_find_absent(words, text, asked, question)]
        citations += (
            replace(
                make_citation(text.first_id, library, quote=words[first:last], state=QuoteState.NOT_FOUND),
                start=start + first,
                end=start + last,
            )
            for first, last in absent
        )
        sources = text.find_carriers(words, question, compare)
        if not sources:
            unsourced.append((start, end))
        for source in sources:
            if source.span not in known:
                known.add(source.span)
                cited = make_citation(
                    source.section_id, library, state=QuoteState.SUPPORTED, span=source.span
                )
                citations.append(replace(cited, start=start, end=end, surroundings=source.surroundings))
    return Support(citations=tuple(citations), unsourced=tuple(unsourced))


def _list_assertions(answer: str) -> list[Bounds]:
    """List the sentences and rows of an answer that say something: no headings, questions, leads or code."""
    assertions: list[Bounds] = []
    for sentence in split_sentences(answer):
        words = answer[sentence.start : sentence.end].rstrip("*_ \n")
        if sentence.kind in _ASSERTING and not words.endswith((":", "?")):
            assertions.append((sentence.start, sentence.start + len(words)))
    return assertions[:_SENTENCES_MAX]


def _find_absent(words: str, text: "_Text", asked: frozenset[str], question: str) -> Iterator[Bounds]:
    """Yield the bounds of the numbers and names of a sentence that are nowhere in the text."""
    for match in _NUMBER.finditer(words):
        if not _list_readings(match["digits"]) & (text.numbers | asked):
            yield match.span()
    names = [name for name in list_absent(words, (question, *text.texts)) if not _NUMBER.fullmatch(name)]
    if names:
        pattern = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        run = re.compile(rf"(?<!\w)(?:{pattern})(?: (?:{pattern}))*(?!\w)")  # "Mr Smith" is one
        yield from (match.span() for match in run.finditer(words))


def _list_numbers(text: str) -> frozenset[str]:
    return frozenset().union(*map(_list_readings, _NUMBER.findall(text)))


def _list_readings(number: str) -> frozenset[str]:
    """Return a number without separators of thousands. A dot before three digits may be one, or not."""
    digits = _BETWEEN_THOUSANDS.sub("", number)
    return frozenset(map(_strip_zeros, (digits, _DOUBTFUL_DOT.sub("", digits))))


def _strip_zeros(number: str) -> str:
    """Return a number without final zeros of decimals. Three zeros are hardly decimals."""
    whole, point, decimals = number.partition(".")
    is_decimal = point and decimals.isdigit() and decimals != "000"
    return f"{whole}.{decimals.rstrip('0')}".rstrip(".") if is_decimal else number


class _Text:
    def __init__(self, library: Library, spans: Sequence[Span]) -> None:
        self._library = library
        self.first_id = library.root_id
        """A section to name for words that are nowhere in the text."""
        self._sentences = [*self._read(spans)]
        self.texts = [library.text_at(span) for span in spans]
        self.texts += {sentence.titles for sentence in self._sentences}
        self.numbers = frozenset().union(*map(_list_numbers, self.texts))
        if self._sentences:
            self.first_id = self._sentences[0].section_id

    def _read(self, spans: Sequence[Span]) -> Iterator[_SourceSentence]:
        library = self._library
        seen: set[Span] = set()
        for delivered in spans:
            around = library.widen_to_sections(delivered)
            for sentence in split_sentences(library.clean_text(around)):
                span = around.get_part(sentence.start, sentence.end)
                if sentence.kind not in _NOT_STATED and delivered.overlaps(span) and span not in seen:
                    seen.add(span)
                    yield _SourceSentence(
                        library, span, library.section_at(span.doc, span.start) or library.root_id
                    )

    def find_carriers(self, words: str, question: str, compare: Comparison | None) -> list[_SourceSentence]:
        """Find the few sentences that carry some words, best first; none if no sentences do."""
        matcher = TermMatcher(extract_query_terms(words), TermMatcher.for_question(words).language)
        weights, likely = self._find_likely(matcher)
        terms_of = {each: matcher.find_terms(each.text) for each in likely}
        asked = TermMatcher.for_question(question)
        numbers = _list_numbers(words) & self.numbers
        new_words_min = min(_NEW_WORDS_MIN, len(matcher.terms))
        left = likely.copy()
        chosen: list[_SourceSentence] = []
        found: set[str] = set()
        proven: frozenset[str] = frozenset()

        def rank(sentence: _SourceSentence) -> tuple[int, float, int]:
            gained = sum(weights[term] for term in terms_of[sentence] - found)
            in_question = len(asked.find_terms(sentence.text))
            return len(numbers & sentence.numbers - proven), gained, in_question

        while True:
            if numbers <= proven and len(found) >= _SHARE_MIN * len(matcher.terms):
                return chosen
            if not left or len(chosen) == _SOURCES_MAX:
                break
            best = max(left, key=rank)
            is_beside = not chosen or best.section_id == chosen[0].section_id
            is_new = is_beside and len(terms_of[best] - found) >= new_words_min
            if not (is_new or numbers & best.numbers - proven):
                break
            left.remove(best)
            chosen.append(best)
            found |= terms_of[best]
            proven |= best.numbers
        alike = [each for each in likely if numbers <= each.numbers]
        return [] if compare is None else self._find_nearest(words, alike, compare)

    def _find_likely(self, matcher: TermMatcher) -> tuple[dict[str, float], list[_SourceSentence]]:
        """Return the weight of each term, more if it is rare, and the sentences with most of the terms."""
        terms_of = {each: matcher.find_terms(each.bare) for each in self._sentences}
        counts = Counter(term for terms in terms_of.values() for term in terms)
        weights = {term: log(1 + (len(terms_of) + 1) / (counts[term] + 0.5)) for term in matcher.terms}
        likely = sorted(terms_of, key=lambda each: -sum(weights[term] for term in terms_of[each]))
        return weights, likely[:_COMPARED_MAX]

    def _find_nearest(
        self, words: str, sentences: Sequence[_SourceSentence], compare: Comparison
    ) -> list[_SourceSentence]:
        """Find the sentence that says nearly the same as some words; none if no sentence does."""
        texts = [self._library.clean_text(sentence.span) for sentence in sentences]
        cosines = dict(zip(sentences, compare(words, texts), strict=False))
        nearest = max(cosines, key=lambda sentence: cosines[sentence], default=None)
        return [] if nearest is None or cosines[nearest] < _COSINE_MIN else [nearest]

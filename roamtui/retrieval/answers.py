"""Choose the passages that are likeliest to answer a question, without a model, and list what they lack.

A passage is a whole paragraph, list, table or block of code. Its score is the mean of two shares of the
question's weight: the shares of its best sentence and of the whole passage. A rare word weighs more.
The order of passages also depends on their sections' scores and, if a model can compare it, on their meaning.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.markdown.passages import find_passage
from roamtui.markdown.units import Unit, read_units, read_visible_line, split_unit
from roamtui.retrieval.policy import POLICY
from roamtui.search.base import NEAR_SIMILARITY_MIN, Comparison, Hit
from roamtui.search.lexicon import STOP_WORDS, Language
from roamtui.search.sentences import (
    RankedSentence,
    Statement,
    find_question_words,
    find_related_words,
    get_first_sentence,
    rank_sentences,
    read_statement,
)
from roamtui.search.terms import TermMatcher, is_unspaced
from roamtui.text import WHOLE_TOKENS_MAX, Bounds, Span, estimate_tokens, merge_bounds

_SENTENCES_MAX = 100
_TEXT_LENGTH_MAX = 200_000
"""Maximum length in characters of the text of a section that is looked at."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_OTHER_TEXTS = 10
"""Number of texts that are assumed to lack the words. Without them, the words of a document with one section
would prove nothing."""
_BESIDE_TITLE = "0123456789.,:·…*#|-–— \t"
"""Characters that a list of contents has before or after a title."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage of a section."""

    section_id: str
    span: Span
    score: float = 0.0
    """Share of the question's weight that its words have, from 0 to 1."""


def find_statement(question: str, passages: Sequence[str]) -> Statement:
    """Return the sentence or row of passages that is likeliest to answer a question.

    It is empty if the passages have nothing else, or if what answers follows their likeliest sentence.
    Passages that begin inside a table need its heads before them.
    """
    text = "\n\n".join(passages)
    ranked = rank_sentences(text, find_question_words(question, [text]), limit=_SENTENCES_MAX)
    best = next((sentence for sentence in ranked if not _is_title(text, sentence)), None)
    if best is None:
        return Statement()
    statement = read_statement(text, best)
    is_nothing_else = statement.words.endswith(":") or statement.words == read_visible_line(text)
    return Statement() if is_nothing_else else statement


def _is_title(text: str, sentence: RankedSentence) -> bool:
    """Return whether a sentence is a title in capitals at the start of a paragraph that goes on."""
    unit = next(unit for unit in read_units(text).units if sentence.start < unit.end)
    first, *more = split_unit(text, unit)
    words = [word for word in _WORD.findall(text, first.start, first.end) if word not in STOP_WORDS]
    is_title = bool(more and words) and all(word[0].isupper() for word in words)
    return is_title and sentence.start == first.start


def list_missing_words(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """List the content words of a question, as it writes them, that no text has, with any ending.

    In English, synonyms do not count. In scripts without spaces, a word is a run of characters.
    """
    matcher = TermMatcher.for_question(question)
    found = set[str]().union(*map(matcher.find_terms, texts))
    missing = [term for term in matcher.content_terms if term not in found]
    return _spell(question, missing, matcher.language) or tuple(missing)


def list_found_words(question: str, text: str) -> tuple[str, ...]:
    """List the words of a question, as it writes them, that a text has, with any ending."""
    matcher = TermMatcher.for_question(question)
    found = matcher.find_terms(text)
    return _spell(question, [term for term in matcher.terms if term in found], matcher.language)


def _spell(question: str, terms: Sequence[str], language: Language) -> tuple[str, ...]:
    """Return some terms of a question as it writes them."""
    spans = merge_bounds((start, end) for start, end, _ in TermMatcher(terms, language).locate(question))
    words = (" ".join(question[start:end].split()) for start, end in spans)
    return tuple(dict.fromkeys(words))


def choose_passages(
    library: Library, question: str, hits: Sequence[Hit], compare: Comparison | None = None
) -> Sequence[FoundPassage]:
    """Choose passages of the hits and the sections below them, the likeliest first, together by section.

    With `compare`, the first passage has the answer to 98 instead of 86 of 147 questions.

    Passages are returned only if something is near the question: a passage by its words, a section by its
    meaning, or a title that has all words of the question. A question without a content word, such as "who
    is it for?", always gets passages.
    """
    found_by, texts = _read_sections(library, hits)
    titled_texts = [f"{library.node(node_id).title}\n{text}" for node_id, text in texts.items()]
    weighing = _Weighing(question, titled_texts)
    similar_ids = {hit.section_id for hit in hits if (hit.similarity or 0.0) >= NEAR_SIMILARITY_MIN}
    passages = [
        passage
        for section_id, text in texts.items()
        for passage in _score_passages(library, section_id, text, weighing)
        if passage.score or section_id in similar_ids
    ]
    best_score = max(map(attrgetter("score"), passages), default=0.0)
    likelihoods = {
        passage: found_by[passage.section_id].score + passage.score / (best_score or 1.0)
        for passage in passages
    }
    passages.sort(key=lambda passage: -likelihoods[passage])
    candidates = _take_first(library, passages, POLICY.candidates_max)
    if compare is not None:
        for passage, nearness in _compare_passages(library, question, candidates, compare):
            likelihoods[passage] += nearness
    candidates.sort(key=lambda passage: -likelihoods[passage])
    chosen = _join_sections(candidates[: POLICY.passages_max])
    if not chosen:
        return ()
    proof = weighing.certainty * best_score
    titles = (library.node(passage.section_id).title for passage in chosen)
    is_titled = any(weighing.compute_share(weighing.find_words(title)) == 1.0 for title in titles)
    is_near = is_titled or bool(similar_ids) or proof >= POLICY.nearest_min or not weighing.certainty
    return chosen if is_near else ()


def _read_sections(library: Library, hits: Sequence[Hit]) -> tuple[dict[str, Hit], dict[str, str]]:
    """Read the hits, and the sections below each that would open with it.

    Returns:
        The hit that brings each section, with its share of the best score, and the texts of the sections. No
        share is higher than that of a hit before it. Named statements come first.
    """
    found_by: dict[str, Hit] = {}
    texts: dict[str, str] = {}
    share = 1.0
    for hit in hits:
        share = min(share, hit.score / hits[0].score)
        tokens_left = WHOLE_TOKENS_MAX
        for node_id in library.walk(hit.section_id):
            found_by.setdefault(node_id, replace(hit, score=share + 2 * hit.is_named))
            own = library.node(node_id).own_content_span
            texts[node_id] = library.clean_text(own.get_part(0, min(own.end - own.start, _TEXT_LENGTH_MAX)))
            tokens_left -= estimate_tokens(texts[node_id])
            if tokens_left <= 0:
                break
    return found_by, texts


def _take_first(library: Library, passages: Iterable[FoundPassage], count: int) -> list[FoundPassage]:
    """Take the first passages that say something new."""
    titles = {
        title.casefold().strip(_BESIDE_TITLE)
        for document in library.documents
        for title in document.columns.titles
    }
    known: set[tuple[str, str]] = set()
    taken: list[FoundPassage] = []
    for passage in passages:
        text = library.clean_text(passage.span)
        content = (library.node(passage.section_id).title, " ".join(text.split()))
        is_new = content not in known and not any(passage.span.overlaps(other.span) for other in taken)
        own_title = content[0].casefold().strip(_BESIDE_TITLE)
        if is_new and not all(_names_section(unit, titles - {own_title}) for unit in read_units(text).units):
            known.add(content)
            taken.append(passage)
            if len(taken) == count:
                break
    return taken


def _join_sections(passages: Iterable[FoundPassage]) -> list[FoundPassage]:
    """Put the passages of each section together, in the order of the first ones."""
    by_section: dict[str, list[FoundPassage]] = {}
    for passage in passages:
        by_section.setdefault(passage.section_id, []).append(passage)
    return [*chain.from_iterable(by_section.values())]


def _compare_passages(
    library: Library, question: str, passages: Sequence[FoundPassage], compare: Comparison
) -> Iterator[tuple[FoundPassage, float]]:
    """Yield each passage with its similarity to the question, as a share of the best."""
    texts = [
        "\n".join((*library.node(passage.section_id).path[-2:], library.clean_text(passage.span)))
        for passage in passages
    ]
    cosines = compare(question, texts)
    best = max(cosines, default=0.0)
    if best > 0:
        yield from ((passage, cosine / best) for passage, cosine in zip(passages, cosines, strict=True))


def _names_section(unit: Unit, titles: set[str]) -> bool:
    """Return whether a unit is only a title or links, as in a list of contents."""
    if unit.whole.text.casefold().strip(_BESIDE_TITLE) in titles:
        return True
    return all(
        words.link is not None or not words.text.strip(_BESIDE_TITLE)
        for inline in unit.inlines
        for words in inline
    )


class _Weighing:
    """How much the words of a question, their synonyms and corrections weigh."""

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        matcher = TermMatcher.for_question(question)
        terms = matcher.terms
        counts = Counter(term for text in texts for term in {located for *_, located in matcher.locate(text)})
        related = find_related_words(matcher, texts, present=counts.keys())
        count = len(texts) + _OTHER_TEXTS
        self.weights = {term: math.log(1 + count / (counts[term] + 1)) for term in terms}
        """Weight of each term, synonym and correction: higher if the term is rare in the texts."""
        for term in filter(is_unspaced, self.weights.keys() - counts.keys()):
            self.weights[term] *= POLICY.unseen_pair_weight
        self._total = sum(self.weights.values())
        self.certainty = 0.0 if matcher.is_vague else self._total / (self._total + POLICY.doubt_weight)
        """How much a passage with all these words proves."""
        for term in terms:
            for word in sorted(related[term] - {*terms}):
                self.weights[word] = POLICY.synonym_weight * self.weights[term]
        self.matcher = TermMatcher(self.weights, matcher.language)
        """Finds all these words."""

    def find_words(self, text: str) -> frozenset[str]:
        """Return the words of the question, or related ones, that a text has."""
        return frozenset(word for *_, word in self.matcher.locate(text))

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that some of its words have."""
        return min(1.0, sum(map(self.weights.__getitem__, words)) / self._total)


def _score_passages(
    library: Library, section_id: str, text: str, weighing: _Weighing
) -> Iterable[FoundPassage]:
    """Yield the passages of a section's own text that have a word, or its first one if none has."""
    best_words: dict[Bounds, frozenset[str]] = {}
    for sentence in rank_sentences(text, weighing.matcher, limit=_SENTENCES_MAX, weights=weighing.weights):
        if (passage := find_passage(text, sentence.start)) is not None:
            best_words.setdefault(passage, sentence.terms)
    opening = None if best_words else get_first_sentence(text)
    if opening is not None and (passage := find_passage(text, opening.start)) is not None:
        best_words[passage] = frozenset()
    own = library.node(section_id).own_content_span
    of_title = weighing.find_words(library.node(section_id).title)
    for (start, end), words in best_words.items():
        all_words = words | of_title | weighing.find_words(text[start:end])
        shares = weighing.compute_share(words), weighing.compute_share(all_words)
        yield FoundPassage(section_id=section_id, span=own.get_part(start, end), score=sum(shares) / 2)

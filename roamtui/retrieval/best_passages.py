"""Choose the passages that are likeliest to answer a question, without a model, and list the words they have.

A passage is a whole paragraph, list, table or block of code. Each word of the question has a weight, a rare
one more. The score of a passage is the mean of two shares of these weights: its best sentence's, and its own
with the titles above it.

Words and meaning both propose passages. If the best passage has most of the question's rare words, words
decide; otherwise meaning does. A passage is as near in meaning as its nearest sentence. The score of its
section counts as much as its own.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, pairwise
from operator import attrgetter, itemgetter
from pathlib import PurePath
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.markdown.blocks import Code, List, Table
from roamtui.markdown.passages import find_passage, split_passages
from roamtui.markdown.quoted_sentence import KeySentence
from roamtui.markdown.units import Unit, get_unit, read_units, read_visible_line, split_sentences, split_unit
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.retrieval import policy
from roamtui.retrieval.question_search import list_whole_document
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import NEAR_SIMILARITY_MIN, Comparison, Hit
from roamtui.search.lexicon import STOP_WORDS_BY_LANGUAGE
from roamtui.search.sentences import (
    HEADING_KINDS,
    READ_LENGTH_MAX,
    RankedSentence,
    cut_around_terms,
    get_row_name,
    list_related_words,
    rank_sentences,
    read_key_sentence,
)
from roamtui.search.terms import TermMatcher, list_similar_words
from roamtui.text import Bounds, Span, estimate_tokens, merge_bounds

_SENTENCES_MAX = 100
_OTHER_TEXTS = 10
"""Number of texts that are assumed to lack the words. Without them, the words of a document with one section
would prove nothing."""
_TABLES_MAX = 50
"""Maximum number of sections whose tables are read although no search found them. Filings have hundreds."""
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*\|[-:| \t]*$", re.MULTILINE)
"""The line below the heads of a table."""
_BEFORE_PART = re.compile(r"\w-\Z")
_AFTER_PART = re.compile(r"-\w")
_BESIDE_TITLE = "0123456789.,:·…*#|-–— \t"
"""Characters that a list of contents has before or after a title."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage of a section."""

    section_id: str
    span: Span
    score: float = 0.0
    """Share of the question's weight that its words have, from 0 to 1."""
    key_sentence: KeySentence = KeySentence()
    """The row that is likeliest to answer, or the likeliest sentence and those around it; empty if that is
    the whole passage, or if the whole passage must be shown."""
    similarity: float | None = None
    """Cosine of the question and its nearest sentence; None if they were not compared."""
    is_asked_for: bool = False
    """Whether the question asks for its section."""
    has_own_words: bool = True
    """Whether it has a word of a follow-up itself, and one of what this keeps of the question before it."""

    @property
    def is_near(self) -> bool:
        """Whether it is asked for, near the question in meaning with a sentence, or not compared.

        If it was not compared, it needs words of a follow-up.
        """
        is_near = self.has_own_words if self.similarity is None else self.similarity >= NEAR_SIMILARITY_MIN
        return self.is_asked_for or is_near


class _Candidate(NamedTuple):
    """A sentence or row of a passage that may answer."""

    share: float
    """Share of the question's weight that its words have."""
    key_sentence: KeySentence
    start: int
    """Offset in the passage, after its table heads."""


def list_found_words(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """List the content words of a question that the texts have, with any ending, as the question spells them.

    Words next to each other are joined. Synonyms do not count. A part of a code or of words with hyphens,
    such as the T of T-1204, is no word.
    """
    matcher = TermMatcher.for_question(question, finds_synonyms=False)
    found = set[str]().union(*map(matcher.find_terms, texts)).intersection(matcher.content_terms)
    ends_after_gap = (
        (start, end + 1) for start, end, term in matcher.list_occurrences(question) if term in found
    )
    runs = (
        question[start : end - 1].split()
        for start, end in merge_bounds(ends_after_gap)
        if not (_BEFORE_PART.search(question, 0, start) or _AFTER_PART.match(question, end - 1))
    )
    return tuple(dict.fromkeys(map(" ".join, runs)))


def choose_passages(
    library: Library,
    question: str,
    hits: Sequence[Hit],
    *,
    follow_up: Sequence[str] = (),
    pieces: Iterable[Span] = (),
    compare: Comparison | None = None,
) -> Sequence[FoundPassage]:
    """Choose passages of the hits and the sections below them, the likeliest first. Sections stay together.

    Passages of sections that the question asks for come first, then those with words of each part of a
    follow-up. There are none unless a section is asked for, or something is near the question: a passage by
    its words, a section by its meaning, or a title that has all words of the question. A question without a
    content word, such as "who is it for?", always gets passages.

    Args:
        library: Has the sections.
        question: Any text.
        hits: Sections, best first.
        follow_up: The parts of the last question, if `question` also has the words of the one before it.
        pieces: Parts of the hits that are near the question in meaning, nearest first.
        compare: Compares sentences by their meaning. With it and `pieces`, 77 instead of 58 of 96 questions
            in everyday words have an answer among their passages.
    """
    hit_shares, texts = _read_sections(library, hits)
    titled_texts = [f"{library.node(node_id).title}\n{text}" for node_id, text in texts.items()]
    tables = _read_tables(library, {library.node(hit.section_id).doc for hit in hits}, known=texts)
    weights = _TermWeights(question, follow_up, titled_texts, tables.values())
    texts |= {node_id: text for node_id, text in tables.items() if weights.rows.joins(text)}
    similar_ids = {hit.section_id for hit in hits if (hit.similarity or 0.0) >= NEAR_SIMILARITY_MIN}
    asked_for_ids = {node_id for hit in hits if hit.is_asked_for for node_id in library.walk(hit.section_id)}
    by_words = [
        passage
        for section_id, text in texts.items()
        for passage in _score_passages(
            library, section_id, text, weights, is_asked_for=section_id in asked_for_ids
        )
        if passage.score or section_id in (similar_ids | asked_for_ids)
    ]
    best_score = max(map(attrgetter("score"), by_words), default=0.0)
    word_confidence = weights.certainty * best_score  # how far words decide, and not meaning

    def join_hit(passage: FoundPassage, likelihood: float) -> float:
        """Return the mean of a passage's likelihood and its hit's, which knows the topic of a follow-up."""
        return (hit_shares.get(passage.section_id, likelihood) + likelihood) / 2

    def measure_words(passage: FoundPassage) -> float:
        return passage.score / (best_score or 1.0)

    def rank(passage: FoundPassage) -> tuple[bool, bool, float]:
        likelihood = join_hit(passage, measure_words(passage))
        return passage.section_id in asked_for_ids, passage.has_own_words, likelihood

    by_words.sort(key=rank, reverse=True)
    by_meaning = _list_passages_at(library, pieces, texts, weights)
    candidates = _take_first(library, (by_words, by_meaning), policy.CANDIDATES_MAX)
    compared = _choose_key_sentences(library, question, candidates, weights, word_confidence, compare)
    judged = [replace(passage, is_asked_for=passage.section_id in asked_for_ids) for passage in compared]
    similarities = [passage.similarity or 0.0 for passage in judged]
    likelihoods = _weigh([*map(measure_words, judged)], similarities, word_confidence)
    chosen = _take_likeliest(judged, [*map(join_hit, judged, likelihoods)])
    titles = (library.node(passage.section_id).title for passage in chosen)
    is_titled = any(weights.compute_share(weights.find_words(title)) == 1.0 for title in titles)
    has_near_section = is_titled or bool(similar_ids | asked_for_ids)
    is_near = has_near_section or word_confidence >= policy.NEAREST_MIN or not weights.certainty
    return chosen if is_near else ()


def list_all_passages(library: Library, question: str, compare: Comparison) -> Sequence[FoundPassage]:
    """List all passages of a short document, those nearest to the question in meaning first, else in order.

    There are none if an answer cannot show all of its text.
    """
    is_short = bool(list_whole_document(library, WHOLE_TOKENS_MAX))
    if not is_short or measure_coverage(library).gaps:
        return ()
    passages: list[FoundPassage] = []
    for section_id in library.walk():
        own = library.node(section_id).own_content_span
        bounds = split_passages(library.clean_text(own))
        passages += (FoundPassage(section_id=section_id, span=own.get_part(*each)) for each in bounds)
    if len(passages) > policy.PASSAGES_MAX:
        return ()
    cosines = compare(question, [library.clean_text(passage.span) for passage in passages])
    pairs = zip(cosines or [0.0] * len(passages), passages, strict=True)
    ranked = sorted(pairs, key=itemgetter(0), reverse=True)
    return [passage for _, passage in ranked]


def _read_sections(library: Library, hits: Sequence[Hit]) -> tuple[dict[str, float], dict[str, str]]:
    """Read the hits, and the sections below each that would open with it.

    Returns:
        Two mappings by section id. The first has the score of the hit that brought the section, as a share
        of the best score; no hit has a higher one than an earlier hit. The second has the section's text.
    """
    hit_shares: dict[str, float] = {}
    texts: dict[str, str] = {}
    share = 1.0
    for hit in hits:
        share = min(share, hit.score / hits[0].score)
        tokens_left = WHOLE_TOKENS_MAX
        for node_id in library.walk(hit.section_id):
            hit_shares.setdefault(node_id, share)
            own = library.node(node_id).own_content_span
            texts[node_id] = library.clean_text(own.get_part(0, min(own.end - own.start, READ_LENGTH_MAX)))
            tokens_left -= estimate_tokens(texts[node_id])
            if tokens_left <= 0:
                break
    return hit_shares, texts


def _read_tables(library: Library, docs: Iterable[str], *, known: Container[str]) -> dict[str, str]:
    """Return the texts of sections with tables, without `known` ones, by id; none if there are too many."""
    found: dict[str | None, None] = {}
    for doc in sorted(docs):
        for match in _TABLE_RULE.finditer(library.documents_by_key[doc].text):
            found[library.find_node_at(doc, match.start())] = None
    section_ids = [section_id for section_id in found if section_id is not None]
    if len(section_ids) > _TABLES_MAX:
        return {}
    unread = (section_id for section_id in section_ids if section_id not in known)
    return {each: library.clean_text(library.node(each).own_content_span) for each in unread}


def _take_first(
    library: Library, proposals: Iterable[Iterable[FoundPassage]], count: int
) -> list[FoundPassage]:
    """Take new passages from each series: `count`, and as many more as the earlier series lacked."""
    titles = {
        title.casefold().strip(_BESIDE_TITLE)
        for document in library.documents
        for title in document.columns.titles
    }
    known: set[tuple[str, str]] = set()
    taken: list[FoundPassage] = []
    for number, passages in enumerate(proposals, 1):
        for passage in passages:
            if len(taken) == number * count:
                break
            text = library.clean_text(passage.span)
            title = library.node(passage.section_id).title
            content = (title, " ".join(text.split()))
            is_new = content not in known and not any(passage.span.overlaps(other.span) for other in taken)
            others = titles - {title.casefold().strip(_BESIDE_TITLE)}
            if is_new and not all(_names_section(unit, others) for unit in read_units(text).units):
                known.add(content)
                taken.append(passage)
    return taken


def _choose_key_sentences(
    library: Library,
    question: str,
    passages: Sequence[FoundPassage],
    weights: _TermWeights,
    word_confidence: float,
    compare: Comparison | None,
) -> list[FoundPassage]:
    """Return the passages, each with the sentence that is likeliest to answer by its words and meaning."""
    texts = [
        f"{library.list_headers([passage.span])[0]}{library.clean_text(passage.span)}" for passage in passages
    ]
    nodes = [library.node(passage.section_id) for passage in passages]
    listed: list[list[_Candidate]] = []
    for passage, text, node in zip(passages, texts, nodes, strict=True):
        file_name = PurePath(passage.span.doc or library.source).stem
        given = weights.find_words("\n".join((file_name, *node.path)))  # a passage seldom repeats these words
        listed.append(_list_candidates(text, weights, given=given))
    compared = [
        f"{node.title}\n{candidate.key_sentence.shown} {candidate.key_sentence.beside}".rstrip()
        for node, candidates in zip(nodes, listed, strict=True)
        for candidate in candidates
    ]
    cosines = iter(compare(question, compared) if compare is not None else ())
    judged: list[FoundPassage] = []
    for passage, text, candidates in zip(passages, texts, listed, strict=True):
        own_cosines = [*islice(cosines, len(candidates))]
        best = _choose_candidate(candidates, own_cosines, word_confidence)
        key_sentence = KeySentence()
        if best is not None and not _needs_whole(text, best, candidates):
            key_sentence = _read_around(text, best, weights.matcher)
        if key_sentence.words == read_visible_line(text):
            key_sentence = KeySentence()
        similarity = max(own_cosines, default=None)
        judged.append(replace(passage, key_sentence=key_sentence, similarity=similarity))
    return judged


def _needs_whole(text: str, best: _Candidate, candidates: Sequence[_Candidate]) -> bool:
    """Return whether to show a passage whole, because its best sentence only introduces the rest.

    Short code is shown whole too, and a short list or table if no word of the question tells its rows apart.
    """
    if best.key_sentence.words.endswith(":"):
        return True
    last = read_units(text).blocks[-1]
    is_short = len(split_sentences(text[last.start :])) <= policy.SENTENCES_MAX
    if not isinstance(last, List | Table) or not is_short:
        return isinstance(last, Code) and is_short
    rows = [candidate.share for candidate in candidates if candidate.start >= last.start]
    return best.start < last.start or best.share == min(rows)


def _read_around(text: str, candidate: _Candidate, matcher: TermMatcher) -> KeySentence:
    """Read a sentence with its neighbours in the paragraph, up to `SENTENCE_EXCERPT_TOKENS`.

    With it go the paragraphs that its sentence continues in, and the items below an item. A very long
    sentence is cut around the words of the question.
    """
    unit = get_unit(text, candidate.start)
    paragraph = text[unit.start : unit.end]
    bounds = find_passage(paragraph, candidate.start - unit.start, policy.SENTENCE_EXCERPT_TOKENS)
    if bounds is None or not unit.kind.has_sentences:
        return candidate.key_sentence
    words = read_visible_line(paragraph[slice(*bounds)])
    units = read_units(text).units
    index = units.index(unit)
    if bounds[0] == 0 and index and unit.continues(units[index - 1]):
        words = f"{sanitise_line(units[index - 1].line)} {words}"
    if bounds[1] == len(paragraph):
        for upper, lower in pairwise(units[index:]):
            if not (lower.continues(upper) or lower.start < unit.list_end):
                break
            words = f"{words} {sanitise_line(lower.line)}"
    return KeySentence(cut_around_terms(words, matcher, policy.KEY_SENTENCE_WIDTH_MAX))


def _choose_candidate(
    candidates: Sequence[_Candidate], cosines: Sequence[float], word_confidence: float
) -> _Candidate | None:
    """Return the likeliest candidate, or None if none has a word of the question and none was compared."""
    highest_share = max((candidate.share for candidate in candidates), default=0.0) or 1.0
    by_words = [candidate.share / highest_share for candidate in candidates]
    likelihoods = _weigh(by_words, cosines, word_confidence)
    highest = max(likelihoods, default=0.0)
    return candidates[likelihoods.index(highest)] if highest > 0 else None


def _take_likeliest(judged: Sequence[FoundPassage], likelihoods: Sequence[float]) -> list[FoundPassage]:
    """Return the likeliest passages, best first. Those of a section stay together."""
    ranked = sorted(
        zip(likelihoods, judged, strict=True),
        key=lambda each: (each[1].is_asked_for, each[1].has_own_words, each[0]),
        reverse=True,
    )
    best = [passage for _, passage in ranked[: policy.PASSAGES_MAX]]
    order = [*dict.fromkeys(passage.section_id for passage in best)]
    return sorted(best, key=lambda passage: order.index(passage.section_id))


def _weigh(by_words: Sequence[float], cosines: Sequence[float], word_confidence: float) -> list[float]:
    """Combine the likelihoods of texts by words and by meaning, if any text is near in meaning.

    The more the words prove, the more their likelihood counts.
    """
    nearest = max(cosines, default=0.0)
    if nearest <= 0:
        return [*by_words]
    both = zip(by_words, cosines, strict=True)
    return [
        word_confidence * words + (1 - word_confidence) * max(0.0, cosine / nearest) for words, cosine in both
    ]


def _list_candidates(text: str, weights: _TermWeights, *, given: frozenset[str]) -> list[_Candidate]:
    """List sentences and rows of a passage, those with most weight first, then in order.

    The `given` words do not count: the titles have them, so that they tell no sentence from the others.
    """
    ranked = weights.rank(text, _SENTENCES_MAX)
    shares = {
        (sentence.start, sentence.end): weights.compute_share(sentence.terms - given)
        for sentence in ranked
        if sentence.terms
    }
    for unit in read_units(text).units:
        if unit.kind not in HEADING_KINDS:
            share = weights.compute_share(weights.find_words(unit.header_words) - given)
            for sentence in split_unit(text, unit):
                shares.setdefault((sentence.start, sentence.end), share)
    likeliest = sorted(shares.items(), key=lambda item: -item[1])[: policy.SENTENCES_MAX]
    return [
        _Candidate(share, weights.rows.read_key_sentence(text, start, end), start)
        for (start, end), share in likeliest
    ]


def _list_passages_at(
    library: Library, pieces: Iterable[Span], texts: Mapping[str, str], weights: _TermWeights
) -> Iterator[FoundPassage]:
    """Yield the passages that overlap the pieces, in the order of the pieces."""
    for piece in pieces:
        section_id = library.find_node_at(piece.doc, piece.start)
        if section_id is None or section_id not in texts:
            continue
        text = texts[section_id]
        own = library.node(section_id).own_content_span
        for start, end in split_passages(text):
            offset = max(start, piece.start - own.start)
            if offset >= min(end, piece.end - own.start):
                continue
            bounds = find_passage(text, offset) or (start, end)
            ranked = weights.rank(text[slice(*bounds)], 1)
            words = ranked[0].terms if ranked else frozenset[str]()
            yield _score_passage(library, section_id, text, bounds, words, weights)


def _names_section(unit: Unit, titles: set[str]) -> bool:
    """Return whether a unit is only a title or links, as in a list of contents."""
    if unit.whole.text.casefold().strip(_BESIDE_TITLE) in titles:
        return True
    return all(
        words.link_number is not None or not words.text.strip(_BESIDE_TITLE)
        for inline in unit.inlines
        for words in inline
    )


class _TermWeights:
    """The weights of the words of a question, their synonyms and corrections."""

    def __init__(
        self, question: str, follow_up: Sequence[str], texts: Sequence[str], tables: Iterable[str]
    ) -> None:
        """Weigh the words by how rare they are in the texts. Their rows may be joined with those of `tables`.

        A word that no text has, and that looks like a mistyped stop word, such as "whats", does not count.
        """
        matcher = TermMatcher.for_question(question)
        counts = Counter(
            term for text in texts for term in {located for *_, located in matcher.list_occurrences(text)}
        )
        stops = [*STOP_WORDS_BY_LANGUAGE[matcher.language]]
        kept_terms = [term for term in matcher.terms if counts[term] or not list_similar_words(term, stops)]
        terms = kept_terms or matcher.terms
        related = list_related_words(matcher, texts, present=counts.keys())
        count = len(texts) + _OTHER_TEXTS
        own_parts = [*filter(None, map(matcher.find_terms, follow_up))]
        own_terms = next(iter(own_parts), frozenset[str]())
        self.weights = {term: math.log(1 + count / (counts[term] + 1)) for term in terms}
        """Weight of each term, synonym and correction: higher if the term is rare in the texts, and lower if
        only the question before a follow-up has it."""
        if own_terms:
            for term in self.weights.keys() - own_terms:
                self.weights[term] *= policy.INDIRECT_WEIGHT
        self._total = sum(self.weights.values())
        self.certainty = 0.0 if matcher.is_vague else self._total / (self._total + policy.DOUBT_WEIGHT)
        """How much a passage with all these words proves, from 0 to 1."""
        for term in terms:
            for word in sorted(related[term] - {*terms}):
                self.weights[word] = policy.INDIRECT_WEIGHT * self.weights[term]
        self.own_parts = [part.union(*map(related.__getitem__, part)) for part in own_parts]
        """The words of each part of a follow-up, with synonyms and corrections."""
        self.matcher = TermMatcher(self.weights, matcher.language)
        """Finds all these words."""
        self.find_words = self.matcher.find_terms
        needed = frozenset(counts).intersection(own_terms or terms)
        self.rows = _RowJoiner(self.matcher, needed, (*texts, *tables))

    def rank(self, text: str, limit: int) -> Sequence[RankedSentence]:
        """Return up to `limit` sentences and rows of a text, those with most weight first."""
        return rank_sentences(
            text, self.matcher, limit=limit, weights=self.weights, join_row=self.rows.join_row
        )

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that these words have, from 0 to 1."""
        return min(1.0, sum(map(self.weights.__getitem__, words)) / self._total)


class _RowJoiner:
    """Joins rows that begin with the same cell: one table says what "Class C" is, another what it costs.

    Rows are joined only if together, but not alone, they have all words that are needed: those of the
    question, or of a follow-up by itself, that any text has.
    """

    def __init__(self, matcher: TermMatcher, needed: frozenset[str], texts: Iterable[str]) -> None:
        """Join rows of some texts if they have the words in `needed`."""
        self._matcher = matcher
        self._needed = needed
        self._rows: dict[str, dict[str, frozenset[str]]] = defaultdict(dict)
        """By first cell: the rows that have words of the question, and these words."""
        for unit in chain.from_iterable(read_units(text).units for text in texts):
            if (name := get_row_name(unit)) and (words := matcher.find_terms(unit.words)):
                self._rows[name][unit.as_row.text] = words

    def join_row(self, unit: Unit) -> frozenset[str]:
        """Return the words of the question in the rows that are joined with this one, if any are."""
        joined = frozenset[str]().union(*self._rows.get(get_row_name(unit), {}).values())
        own = self._matcher.find_terms(f"{unit.header_words} {unit.words}") if joined else joined
        return joined if self._needed <= joined | own and not self._needed <= own else frozenset()

    def joins(self, text: str) -> bool:
        """Return whether a row of a text is joined."""
        return any(map(self.join_row, read_units(text).units))

    def read_key_sentence(self, text: str, start: int, end: int) -> KeySentence:
        """Read a key sentence and, for a row, the joined row with most words of the question."""
        key_sentence = read_key_sentence(text, start, end, self._matcher)
        unit = get_unit(text, start)
        if not self.join_row(unit):
            return key_sentence
        rows = self._rows[get_row_name(unit)]
        others = (row for row in rows if row != unit.as_row.text)
        return key_sentence._replace(beside=max(others, key=lambda row: len(rows[row])))


def _score_passages(
    library: Library, section_id: str, text: str, weights: _TermWeights, *, is_asked_for: bool
) -> Iterator[FoundPassage]:
    """Yield the passages of a section that have a word of the question.

    If none has, yield the first one, or all if the section is asked for.
    """
    best_words: dict[Bounds, frozenset[str]] = {}
    for sentence in weights.rank(text, _SENTENCES_MAX):
        if (bounds := find_passage(text, sentence.start)) is not None:
            best_words.setdefault(bounds, sentence.terms)
    if is_asked_for and not any(best_words.values()):
        best_words = dict.fromkeys(split_passages(text), frozenset())
    for bounds, words in best_words.items():
        yield _score_passage(library, section_id, text, bounds, words, weights)


def _score_passage(
    library: Library,
    section_id: str,
    text: str,
    bounds: Bounds,
    sentence_words: frozenset[str],
    weights: _TermWeights,
) -> FoundPassage:
    """Score a passage of a section's own text by its best sentence, and by its words and those of titles.

    Titles alone make no passage.
    """
    node = library.node(section_id)
    own_words = sentence_words | weights.find_words(f"{node.title}\n{text[slice(*bounds)]}")
    all_words = own_words | weights.find_words("\n".join(node.path))
    shares = weights.compute_share(sentence_words), weights.compute_share(all_words)
    return FoundPassage(
        section_id=section_id,
        span=node.own_content_span.get_part(*bounds),
        score=sum(shares) / 2 if own_words else 0.0,
        has_own_words=not any(map(own_words.isdisjoint, weights.own_parts)),
    )

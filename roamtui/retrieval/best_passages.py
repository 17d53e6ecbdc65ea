"""Choose the passages that are likeliest to answer a question, without a model, and list the words they have.

A passage is a whole paragraph, list, table or block of code. It has the score of its best sentence, which has
two parts. Each word of the question has a weight, a rare one more. The words of a sentence count by the mean
of two shares of these weights: its own, and the one of its passage and the titles above it. Its meaning
counts by the cosine. If the best passage has most of the question's rare words, words decide; otherwise
meaning does. The score of a passage's section counts as much as its own.
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
from roamtui.markdown.units import (
    Unit,
    UnitKind,
    get_unit,
    read_units,
    read_visible_line,
    split_sentences,
    split_unit,
)
from roamtui.outline.coverage import measure_coverage
from roamtui.outline.delivered import WHOLE_TOKENS_MAX
from roamtui.retrieval import policy
from roamtui.retrieval.question_search import list_whole_document
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import NEAR_SIMILARITY_MIN, Comparison, Hit
from roamtui.search.lexicon import STOP_WORDS_BY_LANGUAGE, get_implied_words
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
from roamtui.search.terms import TermMatcher, list_similar_words, tokenise
from roamtui.text import Bounds, Span, estimate_tokens

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
_LETTER = re.compile(r"\w")
_BESIDE_TITLE = "0123456789.,:·…*#|-–— \t"
"""Characters that a list of contents has before or after a title."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """A passage of a section."""

    section_id: str
    span: Span
    score: float = 0.0
    """The score of its best sentence, from 0 to 1: by its words and, once it is compared, by its meaning."""
    evidence: float = 0.0
    """How much it proves, from 0 to 1: with its words, if the last question has some of them, or else with
    the meaning of a sentence."""
    key_sentence: KeySentence = KeySentence()
    """The row that is likeliest to answer, or the likeliest sentence and those around it; empty if that is
    the whole passage, or if the whole passage must be shown."""
    similarity: float | None = None
    """Cosine of the question and its nearest sentence; None if they were not compared."""
    is_asked_for: bool = False
    """Whether the question asks for its section."""
    has_own_words: bool = True
    """Whether it has a word of the last question."""

    @property
    def is_near(self) -> bool:
        """Whether it is asked for, near the question in meaning, or not compared and has a word of it."""
        is_near = self.has_own_words if self.similarity is None else self.similarity >= NEAR_SIMILARITY_MIN
        return self.is_asked_for or is_near


class _Sentence(NamedTuple):
    """A sentence or row of a passage that may answer."""

    share: float
    """Share of the question's weight that its words have, without those of the titles."""
    score: float
    """Its score by words, from 0 to 1; see `_TermWeights.score_words`."""
    key_sentence: KeySentence
    start: int
    """Offset in the passage, after its table heads."""


def list_found_words(question: str, texts: Iterable[str]) -> tuple[str, ...]:
    """List the content words of a question that the texts have, with any ending, as the question spells them.

    Words that stand together in the question are joined if they stand together in a text too. Synonyms do not
    count. A part of a code or of words with hyphens, such as the T of T-1204, is no word.
    """
    matcher = TermMatcher.for_question(question, finds_synonyms=False)
    found: set[str] = set()
    neighbours: set[tuple[str, str]] = set()
    for text in texts:
        occurrences = matcher.list_occurrences(text)
        found.update(term for *_, term in occurrences)
        neighbours.update(
            (term, following)
            for (_, end, term), (start, _, following) in pairwise(occurrences)
            if not _LETTER.search(text, end, start)
        )
    found.intersection_update(matcher.content_terms)
    runs: list[Bounds] = []
    last = ""
    for start, end, term in matcher.list_occurrences(question):
        if term not in found:
            continue
        run_start, run_end = runs[-1] if runs else (0, -1)
        if start < run_end or (start == run_end + 1 and (last, term) in neighbours):
            runs[-1] = (run_start, max(end, run_end))
        else:
            runs.append((start, end))
        last = term
    words = (
        question[start:end].split()
        for start, end in runs
        if not (_BEFORE_PART.search(question, 0, start) or _AFTER_PART.match(question, end))
    )
    return tuple(dict.fromkeys(map(" ".join, words)))


def choose_passages(
    library: Library,
    queries: Sequence[str],
    hits: Sequence[Hit],
    *,
    pieces: Iterable[Span] = (),
    compare: Comparison | None = None,
) -> Sequence[FoundPassage]:
    """Choose passages of the hits and the sections below them, the likeliest first. Sections stay together.

    Passages of sections that the question asks for come first. There are none unless a section is asked for,
    or something is near the question: a passage by its words, a section by its meaning, or a title that has
    all words of the question. A question without a content word, such as "who is it for?", always gets
    passages.

    Args:
        library: Has the sections.
        queries: The question and, if it may be a follow-up, the question after the one before it. A passage
            has to fit both.
        hits: Sections, best first.
        pieces: Parts of the hits that are near the question in meaning, nearest first.
        compare: Compares sentences by their meaning. With it and `pieces`, 77 instead of 58 of 96 questions
            in everyday words have an answer among their passages.
    """
    hit_shares, texts = _read_sections(library, hits)
    titled_texts = [f"{library.node(node_id).title}\n{text}" for node_id, text in texts.items()]
    tables = _read_tables(library, {library.node(hit.section_id).doc for hit in hits}, known=texts)
    weights = _TermWeights(queries, titled_texts, tables.values())
    texts |= {node_id: text for node_id, text in tables.items() if weights.rows.joins(text)}
    similar_ids = {hit.section_id for hit in hits if (hit.similarity or 0.0) >= NEAR_SIMILARITY_MIN}
    asked_for_ids = {node_id for hit in hits if hit.is_asked_for for node_id in library.walk(hit.section_id)}
    by_words = [
        passage
        for section_id, text in texts.items()
        for passage in _list_passages(
            library, section_id, text, weights, is_asked_for=section_id in asked_for_ids
        )
        if passage.score or section_id in (similar_ids | asked_for_ids)
    ]
    best_score = max(map(attrgetter("score"), by_words), default=0.0)

    def rank(passages: Iterable[FoundPassage], best: float) -> list[FoundPassage]:
        """Sort passages by the mean of their score, as a share of the best, and their hit's.

        The hit's knows the topic of the conversation.
        """

        def score(passage: FoundPassage) -> tuple[bool, float]:
            own = passage.score / (best or 1.0)
            return passage.section_id in asked_for_ids, own + hit_shares.get(passage.section_id, own)

        return sorted(passages, key=score, reverse=True)

    by_meaning = _list_passages_at(library, pieces, texts, weights)
    candidates = _take_first(library, (rank(by_words, best_score), by_meaning))
    judged = _score_meaning(library, queries, candidates, weights, best_score, compare)
    best_by_words: dict[tuple[frozenset[str], tuple[str, ...]], FoundPassage] = {}
    for passage in rank(judged, 1.0):
        best_by_words.setdefault(_list_shown_words(library, passage, weights), passage)
    best = [*best_by_words.values()][: policy.PASSAGES_MAX]
    chosen = [replace(passage, is_asked_for=passage.section_id in asked_for_ids) for passage in best]
    order = [*dict.fromkeys(passage.section_id for passage in chosen)]
    chosen.sort(key=lambda passage: order.index(passage.section_id))
    titles = (library.node(passage.section_id).title for passage in chosen)
    is_titled = any(weights.compute_share(weights.find_words(title)) == 1.0 for title in titles)
    has_near_section = is_titled or bool(similar_ids | asked_for_ids)
    has_near_words = weights.certainty * best_score >= policy.NEAREST_MIN
    return chosen if has_near_section or has_near_words or not weights.certainty else ()


def list_all_passages(library: Library, question: str, compare: Comparison) -> Sequence[FoundPassage]:
    """List all passages of a short document, those nearest to the question in meaning first, else in order.

    There are none if the document has more passages than words would propose, or if some text was not read.
    """
    is_short = bool(list_whole_document(library, WHOLE_TOKENS_MAX))
    if not is_short or measure_coverage(library).gaps:
        return ()
    passages: list[FoundPassage] = []
    for section_id in library.walk():
        own = library.node(section_id).own_content_span
        bounds = split_passages(library.clean_text(own))
        passages += (FoundPassage(section_id=section_id, span=own.get_part(*each)) for each in bounds)
    if len(passages) > policy.CANDIDATES_MAX:
        return ()
    cosines = compare([question], [library.clean_text(passage.span) for passage in passages])
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


def _take_first(library: Library, proposals: Iterable[Iterable[FoundPassage]]) -> list[FoundPassage]:
    """Take equally many new passages from each series, and as many more as the earlier series lacked."""
    titles = {
        title.casefold().strip(_BESIDE_TITLE)
        for document in library.documents
        for title in document.columns.titles
    }
    taken: list[FoundPassage] = []
    for number, passages in enumerate(proposals, 1):
        for passage in passages:
            if len(taken) == number * policy.CANDIDATES_MAX:
                break
            text = library.clean_text(passage.span)
            is_new = not any(passage.span.overlaps(other.span) for other in taken)
            others = titles - {library.node(passage.section_id).title.casefold().strip(_BESIDE_TITLE)}
            if is_new and not all(_names_section(unit, others) for unit in read_units(text).units):
                taken.append(passage)
    return taken


def _list_shown_words(
    library: Library, passage: FoundPassage, weights: _TermWeights
) -> tuple[frozenset[str], tuple[str, ...]]:
    """List the words of the question in the titles above a passage, and all words that are shown of it.

    A second passage with the same ones tells nothing new.
    """
    titles = "\n".join(library.node(passage.section_id).path)
    shown = passage.key_sentence.words or read_visible_line(library.clean_text(passage.span))
    return weights.find_words(titles), tuple(tokenise(shown))


def _score_meaning(
    library: Library,
    queries: Sequence[str],
    passages: Sequence[FoundPassage],
    weights: _TermWeights,
    best_score: float,
    compare: Comparison | None,
) -> list[FoundPassage]:
    """Return the passages with their likeliest sentence and its score by words and, if compared, by meaning.

    The words and the meaning count as shares of the best ones. The more the best words prove, the more words
    count.
    """
    texts = [
        f"{library.list_headers([passage.span])[0]}{library.clean_text(passage.span)}" for passage in passages
    ]
    listed = [_list_sentences(library, *each, weights) for each in zip(passages, texts, strict=True)]
    compared = [
        f"{library.node(passage.section_id).title}\n{words.shown} {words.beside}".rstrip()
        for passage, sentences in zip(passages, listed, strict=True)
        for words in map(attrgetter("key_sentence"), sentences)
    ]
    cosines = [*compare(queries, compared)] if compare is not None else []
    nearest = max(cosines, default=0.0)
    word_share = weights.certainty * best_score if nearest > 0 else 1.0
    others = iter(cosines)
    judged: list[FoundPassage] = []
    for passage, text, sentences in zip(passages, texts, listed, strict=True):
        own_cosines = [*islice(others, len(sentences))]
        scores = [word_share * sentence.score / (best_score or 1.0) for sentence in sentences]
        for index, cosine in enumerate(own_cosines):
            scores[index] += (1 - word_share) * max(0.0, cosine / (nearest or 1.0))
        best = sentences[scores.index(max(scores))] if scores else None
        key_sentence = KeySentence()
        if best is not None and (cosines or best.share) and not _needs_whole(text, best, sentences):
            key_sentence = _read_around(text, best, weights.matcher)
        if key_sentence.words == read_visible_line(text):
            key_sentence = KeySentence()
        similarity = max(own_cosines, default=None)
        judged.append(
            replace(
                passage,
                score=max(scores, default=0.0),
                evidence=max(passage.evidence, similarity or 0.0),
                key_sentence=key_sentence,
                similarity=similarity,
            )
        )
    return judged


def _needs_whole(text: str, best: _Sentence, sentences: Sequence[_Sentence]) -> bool:
    """Return whether to show a passage whole, because its best sentence only introduces the rest.

    Short code is shown whole too, and a short list or table if no word of the question tells its rows apart.
    """
    if best.key_sentence.words.endswith(":"):
        return True
    last = read_units(text).blocks[-1]
    is_short = len(split_sentences(text[last.start :])) <= policy.SENTENCES_MAX
    if not isinstance(last, List | Table) or not is_short:
        return isinstance(last, Code) and is_short
    rows = [sentence.share for sentence in sentences if sentence.start >= last.start]
    return best.start < last.start or best.share == min(rows)


def _read_around(text: str, sentence: _Sentence, matcher: TermMatcher) -> KeySentence:
    """Read a sentence with its neighbours in the paragraph, up to what is shown of a passage.

    With it go the paragraphs that its sentence continues in, and the items above and below an item. A line of
    code has the lines around it. A very long sentence is cut around the words of the question.
    """
    unit = get_unit(text, sentence.start)
    units = read_units(text).units
    if unit.kind is UnitKind.CODE:
        start, end = find_passage(text, unit.start, policy.SHOWN_TOKENS_MAX) or (unit.start, unit.end)
        lines = (sanitise_line(other.line) for other in units if start <= other.start < end)
        return KeySentence(cut_around_terms(" ".join(lines), matcher, policy.KEY_SENTENCE_WIDTH_MAX))
    paragraph = text[unit.start : unit.end]
    bounds = find_passage(paragraph, sentence.start - unit.start, policy.SHOWN_TOKENS_MAX)
    if bounds is None or not unit.kind.has_sentences:
        return sentence.key_sentence
    words = read_visible_line(paragraph[slice(*bounds)])
    index = units.index(unit)
    if bounds[0] == 0:
        above = [units[lead] for lead in unit.leads if units[lead].list_end]
        above += [other for other in units[max(0, index - 1) : index] if unit.continues(other)]
        words = " ".join((*(sanitise_line(other.line) for other in above), words))
    if bounds[1] == len(paragraph):
        for upper, lower in pairwise(units[index:]):
            if not (lower.continues(upper) or lower.start < unit.list_end):
                break
            words = f"{words} {sanitise_line(lower.line)}"
    return KeySentence(cut_around_terms(words, matcher, policy.KEY_SENTENCE_WIDTH_MAX))


def _list_sentences(
    library: Library, passage: FoundPassage, text: str, weights: _TermWeights
) -> list[_Sentence]:
    """List sentences and rows of a passage, those with most weight first, then in order.

    The words of titles tell no sentence from the others, because a passage seldom repeats them.
    """
    path = library.node(passage.section_id).path
    file_name = PurePath(passage.span.doc or library.source).stem
    titled = weights.find_words("\n".join((file_name, *path)))
    around = _find_words_around(library, passage.section_id, text, weights)
    words = {(each.start, each.end): each.terms for each in weights.rank(text, _SENTENCES_MAX) if each.terms}
    for unit in read_units(text).units:
        if unit.kind not in HEADING_KINDS:
            heads = weights.find_words(unit.header_words)
            for sentence in split_unit(text, unit):
                words.setdefault((sentence.start, sentence.end), heads)
    shares = {bounds: weights.compute_share(found - titled) for bounds, found in words.items()}
    likeliest = sorted(shares, key=shares.__getitem__, reverse=True)[: policy.SENTENCES_MAX]
    return [
        _Sentence(
            shares[start, end],
            weights.score_words(words[start, end], around),
            weights.rows.read_key_sentence(text, start, end),
            start,
        )
        for start, end in likeliest
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
            yield _make_passage(library, section_id, text, bounds, words, weights)


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

    def __init__(self, queries: Sequence[str], texts: Sequence[str], tables: Iterable[str]) -> None:
        """Weigh the words by how rare they are in the texts. Their rows may be joined with those of `tables`.

        A word that no text has, and that looks like a mistyped stop word, such as "whats", does not count.
        """
        matcher = TermMatcher.for_question(queries[-1])
        counts = Counter(
            term for text in texts for term in {located for *_, located in matcher.list_occurrences(text)}
        )
        stops = [*STOP_WORDS_BY_LANGUAGE[matcher.language]]
        kept_terms = [term for term in matcher.terms if counts[term] or not list_similar_words(term, stops)]
        terms = kept_terms or matcher.terms
        related = list_related_words(matcher, texts, present=counts.keys())
        count = len(texts) + _OTHER_TEXTS
        own_terms = matcher.find_terms(queries[0])
        self.weights = {term: math.log(1 + count / (counts[term] + 1)) for term in terms}
        """Weight of each term, synonym and correction: higher if the term is rare in the texts, and lower if
        only the question before a follow-up has it."""
        for term in self.weights.keys() - own_terms:
            self.weights[term] *= policy.INDIRECT_WEIGHT
        self._total = sum(self.weights.values())
        self.certainty = 0.0 if matcher.is_vague else self._total / (self._total + policy.DOUBT_WEIGHT)
        """How much a passage with all these words proves, from 0 to 1."""
        for term in terms:
            for word in sorted(related[term] - {*terms}):
                self.weights[word] = policy.INDIRECT_WEIGHT * self.weights[term]
        implied = [word.replace("_", " ") for word in get_implied_words(queries[0])]  # as search does
        for word in implied:
            self.weights.setdefault(word, policy.INDIRECT_WEIGHT * self._total / len(terms))
        self.own_words = own_terms.union(implied, *map(related.__getitem__, own_terms))
        """The words of the last question, with synonyms, corrections and what they imply."""
        self.matcher = TermMatcher(self.weights, matcher.language)
        """Finds all these words."""
        self.find_words = self.matcher.find_terms
        needed = frozenset(counts).intersection(own_terms)
        self.rows = _RowJoiner(self.matcher, needed, (*texts, *tables))

    def rank(self, text: str, limit: int) -> Sequence[RankedSentence]:
        """Return up to `limit` sentences and rows of a text, those with most weight first."""
        return rank_sentences(
            text, self.matcher, limit=limit, weights=self.weights, join_row=self.rows.join_row
        )

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that these words have, from 0 to 1."""
        return min(1.0, sum(map(self.weights.__getitem__, words)) / self._total)

    def score_words(self, words: frozenset[str], around: frozenset[str]) -> float:
        """Score the words of a sentence, and those of its passage and the titles above it."""
        return (self.compute_share(words) + self.compute_share(words | around)) / 2


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


def _list_passages(
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
        yield _make_passage(library, section_id, text, bounds, words, weights)


def _make_passage(
    library: Library,
    section_id: str,
    text: str,
    bounds: Bounds,
    sentence_words: frozenset[str],
    weights: _TermWeights,
) -> FoundPassage:
    """Make a passage of a section's own text, with the score by words of its best sentence."""
    around = _find_words_around(library, section_id, text[slice(*bounds)], weights)
    score = weights.score_words(sentence_words, around)
    has_own_words = not weights.own_words.isdisjoint(sentence_words | around)
    return FoundPassage(
        section_id=section_id,
        span=library.node(section_id).own_content_span.get_part(*bounds),
        score=score,
        evidence=weights.certainty * score if has_own_words else 0.0,
        has_own_words=has_own_words,
    )


def _find_words_around(library: Library, section_id: str, text: str, weights: _TermWeights) -> frozenset[str]:
    """Find the words of the question in a passage and the titles above it; none if only titles have some."""
    node = library.node(section_id)
    own = weights.find_words(f"{node.title}\n{text}")
    return own | weights.find_words("\n".join(node.path)) if own else own

"""Choose the passages that hold most of a question, and judge whether they answer it, without a model.

Paragraphs of the sections that search proposes are ranked by the words of the question, its synonyms and
corrections.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.markdown.passages import find_passage, is_in_code, split_passages
from roamtui.markdown.units import read_visible_line
from roamtui.outline.labels import WHOLE_TOKENS_MAX
from roamtui.plain import sanitise_line
from roamtui.retrieval.policy import DEFAULT_POLICY, RetrievalPolicy
from roamtui.search.base import Hit
from roamtui.search.lexicon import STOP_WORDS_BY_LANGUAGE, Language, find_answer_pattern, get_implied_words
from roamtui.search.sentences import (
    RankedSentence,
    find_question_words,
    find_related_words,
    get_first_sentence,
    rank_sentences,
)
from roamtui.search.terms import TermMatcher, extract_code_names, fold_term, is_unspaced
from roamtui.text import Span, estimate_tokens

_SENTENCES_MAX = 100
_ANSWER_DISTANCE_MAX = 80
"""Maximum number of characters between a word of the question and what answers it."""
_REPEATED_LENGTH_MIN = 100
"""Minimum length of a sentence that is repeated. A shorter one says something else below another title."""
_TEXT_LENGTH_MAX = 200_000
"""Maximum length in characters of the text of a section that is looked at."""
_NAME = re.compile(r"(?<=[\w,;:'\"`(] )[\"'`(]*([A-Z]\w*[a-z]\w*)")
"""A word with a capital letter inside an English sentence."""


class FoundPassage(Struct, frozen=True, kw_only=True):
    """The passage of a section that holds most of a question."""

    section_id: str
    span: Span
    score: float
    terms: frozenset[str]
    """Words of the question in the passage and in the path of its section."""
    sentences: frozenset[str]
    """Its sentences that have words of the question, on one line each."""


def find_statement(question: str, passages: Sequence[str], policy: RetrievalPolicy = DEFAULT_POLICY) -> str:
    """Return the sentence or row of passages that is likeliest to answer a question, as a reader sees it.

    It is empty if the passages have nothing else, or if what answers follows their likeliest sentence.
    """
    text = "\n\n".join(passages)
    matcher = find_question_words(question, [text])
    ranked = _rank_answers(text, matcher, find_answer_pattern(question), policy)
    if not ranked:
        return ""
    best = text[ranked[0].start : ranked[0].end]
    statement = sanitise_line(best) if is_in_code(text, ranked[0].start) else read_visible_line(best)
    return "" if statement.endswith(":") or statement == read_visible_line(text) else statement


def _rank_answers(
    text: str,
    matcher: TermMatcher,
    pattern: re.Pattern[str] | None,
    policy: RetrievalPolicy,
    weights: Mapping[str, float] | None = None,
) -> list[RankedSentence]:
    """Rank a text's sentences by words, and by whether they have what a question asks for nearby."""
    ranked: list[RankedSentence] = []
    for sentence in rank_sentences(text, matcher, limit=_SENTENCES_MAX, weights=weights):
        is_long = sentence.end - sentence.start > policy.long_sentence
        score = sentence.score * policy.long_factor if is_long else sentence.score
        if _holds_answer(text[sentence.start : sentence.end], matcher, pattern):
            score += policy.answer_bonus
        ranked.append(replace(sentence, score=score))
    return sorted(ranked, key=lambda sentence: (-sentence.score, sentence.start))


def _holds_answer(sentence: str, matcher: TermMatcher, pattern: re.Pattern[str] | None) -> bool:
    if pattern is None:
        return False
    words = [(start, end) for start, end, _ in matcher.locate(sentence)]
    for match in pattern.finditer(sentence):
        start, end = match.span()
        at = bisect_left(words, (start, end))
        nearest = words[max(0, at - 1) : at + 1]
        is_near = any(
            start - _ANSWER_DISTANCE_MAX < word_end and word_start < end + _ANSWER_DISTANCE_MAX
            for word_start, word_end in nearest
        )
        if is_near and (start, end) not in nearest:
            return True
    return False


class PassageChoice(NamedTuple):
    """The passages to show for a question."""

    passages: Sequence[FoundPassage]
    is_answer: bool
    """Whether they answer the question. Otherwise, they are at most the nearest ones."""


def choose_passages(
    library: Library,
    question: str,
    hits: Sequence[Hit],
    *,
    needs_certainty: bool,
    policy: RetrievalPolicy = DEFAULT_POLICY,
) -> PassageChoice:
    """Choose passages of the hits and the sections below them.

    With `needs_certainty`, as in a cell of a table, at most one passage is chosen, and none if it is no
    answer.
    """
    hit_scores, texts = _read_sections(library, hits, policy)
    titled_texts = [f"{library.node(node_id).title}\n{text}" for node_id, text in texts.items()]
    weighing = _Weighing(question, titled_texts, policy)
    ranked = {node_id: _rank_passages(library, node_id, text, weighing) for node_id, text in texts.items()}
    best_score = max((passage.score for passages in ranked.values() for passage in passages), default=0.0)
    scores = {
        node_id: hit_scores[node_id] + passages[0].score / (best_score or 1.0)
        for node_id, passages in ranked.items()
        if passages
    }
    kept = _drop_repeated(scores, ranked)
    scores = {section_id: scores[section_id] for section_id in kept}
    order = _order_sections(library, scores, policy)
    order = _cover_words(library, order, scores, kept, weighing)
    chosen = _fill_cards(library, {section_id: kept[section_id] for section_id in order}, texts, policy)
    evidence = max((weighing.compute_evidence(passage.terms) for passage in chosen), default=0.0)
    evidence += policy.score_evidence_max * min(1.0, best_score)
    similarity = max((hit.similarity for hit in hits if hit.similarity is not None), default=None)
    is_evident = (
        evidence >= policy.evidence_min
        if similarity is None
        else evidence + similarity >= policy.similar_evidence_min
    )
    is_answer = is_evident and not weighing.is_vague
    if needs_certainty:
        is_answer = is_answer and best_score >= policy.cell_score_min
        return PassageChoice(chosen[:1] if is_answer else (), is_answer)
    if not is_answer:
        chosen = chosen[: policy.nearest_passages_max] if evidence >= policy.nearest_evidence_min else []
    return PassageChoice(chosen, is_answer)


def _read_sections(
    library: Library, hits: Sequence[Hit], policy: RetrievalPolicy
) -> tuple[dict[str, float], dict[str, str]]:
    """Return the scores and the texts of the hits, and of so much below each as would open with it."""
    scores: dict[str, float] = {}
    texts: dict[str, str] = {}
    for rank, hit in enumerate(hits):
        score = hit.score / hits[0].score / (1 + policy.rank_loss * rank)
        if hit.is_named:
            score += 1.0
        tokens_left = WHOLE_TOKENS_MAX
        for node_id in library.walk(hit.section_id):
            scores.setdefault(node_id, score)
            own = library.node(node_id).own_content_span
            texts[node_id] = library.clean_text(own.get_part(0, min(own.end - own.start, _TEXT_LENGTH_MAX)))
            tokens_left -= estimate_tokens(texts[node_id])
            if tokens_left <= 0:
                break
    return scores, texts


def _fill_cards(
    library: Library,
    ranked: Mapping[str, Sequence[FoundPassage]],
    texts: Mapping[str, str],
    policy: RetrievalPolicy,
) -> list[FoundPassage]:
    """Choose the good passages of sections, the best section first, and widen them."""
    chosen: list[FoundPassage] = []
    tokens_left = policy.answer_tokens_max
    for section_id, passages in ranked.items():
        score_min = policy.passage_score_share_min * passages[0].score
        for passage in passages:
            shown = [earlier.span for earlier in chosen]
            is_shown = any(map(passage.span.overlaps, shown))
            has_room = estimate_tokens(library.text_at(passage.span)) <= tokens_left
            if not chosen or (has_room and passage.score >= score_min and not is_shown):
                tokens_max = min(tokens_left, policy.card_tokens)
                chosen.append(_widen(library, passage, texts[section_id], tokens_max, shown))
                tokens_left -= estimate_tokens(library.text_at(chosen[-1].span))
    return chosen


def _drop_repeated(
    scores: Mapping[str, float], ranked: Mapping[str, Sequence[FoundPassage]]
) -> dict[str, Sequence[FoundPassage]]:
    """Return the passages that no better section has, by section, without sections that have none."""
    seen: set[str] = set()
    kept: dict[str, Sequence[FoundPassage]] = {}
    for section_id in sorted(scores, key=scores.__getitem__, reverse=True):
        passages = [one for one in ranked[section_id] if not one.sentences or not one.sentences <= seen]
        if passages:
            kept[section_id] = passages
        for passage in passages:
            seen |= {one for one in passage.sentences if len(one) >= _REPEATED_LENGTH_MIN}
    return kept


def _order_sections(library: Library, scores: dict[str, float], policy: RetrievalPolicy) -> list[str]:
    """Return the best sections: `passage_sections_max`, of a chapter `chapter_sections_max` at most."""
    best_ids: list[str] = []
    parents: list[str | None] = []
    for section_id in sorted(scores, key=scores.__getitem__, reverse=True):
        parent = library.node(section_id).parent
        is_chapter = parent is not None and parent != library.title_id
        if not is_chapter or parents.count(parent) < policy.chapter_sections_max:
            best_ids.append(section_id)
            parents.append(parent)
    best_ids = best_ids[: policy.passage_sections_max]
    return [
        good_id
        for good_id in best_ids
        if scores[good_id] >= policy.passage_score_share_min * scores[best_ids[0]]
    ]


def _cover_words(
    library: Library,
    order: list[str],
    scores: Mapping[str, float],
    ranked: Mapping[str, Sequence[FoundPassage]],
    weighing: _Weighing,
) -> list[str]:
    """Let the last section be one with a word of the question that no other has, best one titled with it.

    Otherwise, the passages on a "cargo bike" leave no room for the deposit that the question is about.
    """
    policy = weighing.policy
    words = {
        section_id: weighing.find_terms(library.text_at(ranked[section_id][0].span)) for section_id in scores
    }
    missing = weighing.terms.difference(*(words[section_id] for section_id in order))
    others = [
        section_id
        for section_id in scores
        if words[section_id] & missing
        and scores[section_id] >= policy.passage_score_share_min * scores[order[0]]
    ]
    if not others:
        return order
    titled = [one for one in others if weighing.find_terms(library.node(one).title) & missing]
    return [*order[: policy.passage_sections_max - 1], max(titled or others, key=scores.__getitem__)]


def _widen(
    library: Library, passage: FoundPassage, text: str, tokens_max: int, shown: Sequence[Span]
) -> FoundPassage:
    """Widen a passage by paragraphs of `text` not `shown`, up to `tokens_max`, those below first."""
    own = library.node(passage.section_id).own_content_span
    span = passage.span
    others = [own.get_part(*bounds) for bounds in split_passages(text)]
    below = [paragraph for paragraph in others if paragraph.start >= span.end]
    above = [paragraph for paragraph in others if paragraph.end <= span.start]
    for other in (*below, *reversed(above)):
        wider = replace(span, start=min(span.start, other.start), end=max(span.end, other.end))
        if estimate_tokens(library.text_at(wider)) <= tokens_max and not any(map(wider.overlaps, shown)):
            span = wider
    return replace(passage, span=span)


class _Weighing:
    """How much the words of a question, their synonyms and corrections count: in scores, and as evidence."""

    def __init__(self, question: str, texts: Sequence[str], policy: RetrievalPolicy) -> None:
        self.policy = policy
        self.answer_pattern = find_answer_pattern(question)
        matcher = TermMatcher.for_question(question)
        terms = matcher.terms
        counts = Counter(term for text in texts for term in {located for *_, located in matcher.locate(text)})
        self._related = find_related_words(matcher, texts, present=counts.keys())
        factors = {
            term: policy.unseen_pair_weight if is_unspaced(term) and not counts[term] else 1.0
            for term in terms
        }
        self.weights = {
            term: math.log(1 + (len(texts) + 1) / (counts[term] + 1)) * factors[term] for term in terms
        }
        """Weight of each term, synonym and correction: higher if the term is rare in the texts."""
        self.terms = frozenset(terms)
        self.total = sum(self.weights.values())
        self.is_vague = STOP_WORDS_BY_LANGUAGE[matcher.language].issuperset(terms)
        for term in terms:
            for word in sorted(self._related[term] - {*terms}):
                self.weights[word] = policy.synonym_weight * self.weights[term]
        implied = {word for word in get_implied_words(question) if "_" not in word} - self.weights.keys()
        self.weights |= dict.fromkeys(sorted(implied), policy.synonym_weight * self.total / len(terms))
        self.matcher = TermMatcher(self.weights, matcher.language)
        """Finds all these words."""
        is_english = matcher.language is Language.ENGLISH
        names = extract_code_names(question)
        if is_english:  # in other languages, words that are not names have capital letters too
            names |= {fold_term(name) for name in _NAME.findall(question)}
        self._evidence = {
            term: self.weights[term] * (policy.name_weight if term in names else 1) for term in terms
        }
        doubt = policy.english_doubt if is_english else 0.0
        self._evidence_total = min(sum(self._evidence.values()), policy.question_weight_max) + doubt

    def find_terms(self, text: str) -> frozenset[str]:
        """Return the words of the question that a text has, without synonyms."""
        return self.terms & {word for *_, word in self.matcher.locate(text)}

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that some words have."""
        return min(1.0, sum(map(self.weights.__getitem__, words)) / self.total)

    def compute_evidence(self, words: frozenset[str]) -> float:
        """Return the share of the question's subject that some terms and their synonyms are evidence of."""
        weights = (
            term for term in self._evidence if term in words or not words.isdisjoint(self._related[term])
        )
        return sum(map(self._evidence.__getitem__, weights)) / self._evidence_total


def _rank_passages(library: Library, section_id: str, text: str, weighing: _Weighing) -> list[FoundPassage]:
    """Return the best passages of a section's own text, or its first one if none has a word of the question.

    A passage has the score of its best sentence, and bonuses for the words of the question in the whole
    passage and in the path of its section.
    """
    policy = weighing.policy
    words_of_path = frozenset(
        word for *_, word in weighing.matcher.locate(" > ".join(library.node(section_id).path))
    )
    occurrences = weighing.matcher.locate(text)
    sentences: dict[tuple[int, int], float] = {}
    found: dict[tuple[int, int], set[str]] = defaultdict(set)
    for sentence in _rank_answers(text, weighing.matcher, weighing.answer_pattern, policy, weighing.weights):
        if (passage := find_passage(text, sentence.start)) is not None:
            sentences.setdefault(passage, sentence.score)
            found[passage].add(" ".join(text[sentence.start : sentence.end].split()))
    if not sentences and (opening := get_first_sentence(text)) is not None:
        passage = find_passage(text, opening.start)
        sentences = {} if passage is None else {passage: 0.0}
    own = library.node(section_id).own_content_span
    ranked: list[FoundPassage] = []
    for (start, end), sentence_score in sentences.items():
        words = frozenset(word for offset, _, word in occurrences if start <= offset < end)
        score = sentence_score + policy.passage_bonus * weighing.compute_share(words)
        score += policy.path_bonus * weighing.compute_share(words_of_path - words)
        span = own.get_part(start, end)
        ranked.append(
            FoundPassage(
                section_id=section_id,
                span=span,
                score=score,
                terms=words | words_of_path,
                sentences=frozenset(found[start, end]),
            )
        )
    return sorted(ranked, key=attrgetter("score"), reverse=True)[: policy.section_passages_max]

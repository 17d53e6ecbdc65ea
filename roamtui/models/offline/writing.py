"""The reply: the passages that share most with the question, and what limits them, quoted, each with its section."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from roamtui.models.offline.reading import Given, Reading, is_follow_up
from roamtui.search.languages import find_language
from roamtui.search.sentences import RankedSentence, best_sentences, find_opening, find_sentences
from roamtui.search.terms import find_forms, find_terms, find_words, is_unspaced, query_terms
from roamtui.search.titles import find_similar
from roamtui.search.units import UnitKind
from roamtui.search.words import find_synonyms

_QUOTES_MAX = 3
_FURTHER_SHARE = 0.72
"""A further sentence is quoted where it scores at least this share of the best one."""
_MATCH_MIN = 0.27
"""Match of the best sentence below which nothing was found: of 302 questions on technical documents 3 % fall below it
in the right document, 59 % in a wrong one of the same collection."""
_START_COVERAGE_MIN = 0.55
"""Share of the question's weight in one section below which it searches on, although search has opened sections."""
_SECTION_SHARE = 0.2
"""What a section that holds all words of the question adds to each of its sentences."""
_SYNONYM_SHARE = 0.5
"""What another word counts that means the same as one that no open section holds, where that one would be 1."""
_LIGHT = "ask find get give go got happen happens let make need put see take tell use want"
_LIGHT_WORDS = frozenset(_LIGHT.split())
_LIGHT_SHARE = 0.4
"""What an everyday verb counts, where another word is 1."""
_UNSEEN_PAIR_SHARE = 0.2
"""Where words stand without spaces, half of the pairs of a question are the end of one and the start of the next."""
_PATH_WEIGHT = 0.6
"""What a word in a section's path is worth, where one in the sentence is worth 1."""
_RANK_LOSS = 0.08
"""What each rank of the search costs a sentence."""
_MISTYPED_MIN = 5
"""Letters; shorter words are too like each other."""
_QUOTE_LENGTH_MAX = 320
_SENTENCES_EACH = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    section: Given
    quote: str
    score: float
    """How much of the question it holds; about 1 where that is all."""
    coverage: float
    """Share of the question's weight that its section holds."""


def write_answer(reading: Reading) -> str:
    """Return one to three passages for the question of a request, with what limits them, or that nothing was found."""
    terms = query_terms(reading.question)
    if not terms:
        return "Please ask a question about the document, in words that it may contain."
    candidates = _rank_candidates(reading, terms)
    if not _has_match(candidates):
        return _say_not_found(reading, terms)
    best = candidates[0]
    chosen = [best]
    for candidate in candidates[1:]:
        if len(chosen) == _QUOTES_MAX or candidate.score < _FURTHER_SHARE * best.score:
            break
        if all(candidate.quote != other.quote for other in chosen):
            chosen.append(candidate)
    quotes = [candidate.quote for candidate in chosen]
    lines: list[str] = []
    for candidate in chosen:
        lead = "Another one" if lines else "The passage that fits best"
        lines.append(_write_line(lead, candidate.section, candidate.quote))
        if limit := find_exception(candidate, reading.given, terms, quotes):
            part, sentence = limit
            quotes.append(sentence)
            lines.append(_write_line("But see", part.section, sentence, part.path[-1]))
    return "\n\n".join(lines)


def is_answered(reading: Reading) -> bool:
    """Return whether what is open answers the question."""
    return _has_match(_rank_candidates(reading, query_terms(reading.question)))


def is_covered_by_given(reading: Reading) -> bool:
    """Return whether a section that is open already holds every word of the question."""
    terms = query_terms(reading.question)
    return bool(terms) and any(
        {term for _, term in find_terms(f"{section.path}\n{section.text}", terms)} >= set(terms)
        for section in reading.given
    )


def is_answered_by_start(reading: Reading) -> bool:
    """Return whether what search opened with the question holds enough of it to answer from that alone."""
    candidates = _rank_candidates(reading, query_terms(reading.question))
    return max((candidate.coverage for candidate in candidates), default=0.0) >= _START_COVERAGE_MIN


def _has_match(candidates: Sequence[_Candidate]) -> bool:
    return bool(candidates) and candidates[0].score >= _MATCH_MIN


def _rank_candidates(reading: Reading, terms: Sequence[str]) -> list[_Candidate]:
    sections = _choose_given(reading)
    ranks = {hit.section_id: rank for rank, hit in enumerate(reading.found)}
    texts = [f"{section.path}\n{section.text}" for section in sections]
    forms = find_forms("\n".join(texts), terms, find_language(find_words(reading.question)))
    weights = _weigh_terms(terms, reading, forms)
    total = sum(weights.values())
    meant = _list_synonyms(terms, texts, forms)
    weights |= {synonym: _SYNONYM_SHARE * weights[term] for synonym, term in meant.items()}
    terms = tuple(weights)
    candidates = []
    for section in sections:
        in_path = {term for _, term in find_terms(section.path, terms, forms)}
        in_section = in_path | {term for _, term in find_terms(section.text, terms, forms)}
        coverage = sum({meant.get(term, term): weights[term] for term in in_section}.values()) / total
        loss = 1 / (1 + _RANK_LOSS * ranks.get(section.section_id, len(ranks)))
        best = best_sentences(section.text, terms, limit=_SENTENCES_EACH, idf=weights, forms=forms)
        if not best and (opening := find_opening(section.text)):
            best = (RankedSentence(opening.start, opening.end, 0.0),)
        for sentence in best:
            quote = section.text[sentence.start : sentence.end]
            in_quote = {term for _, term in find_terms(quote, terms, forms)}
            path_gain = _PATH_WEIGHT * sum(weights[term] for term in in_path - in_quote) / total
            score = (sentence.score + path_gain + _SECTION_SHARE * coverage) * loss
            candidates.append(_Candidate(section=section, quote=quote, score=score, coverage=coverage))
    return sorted(candidates, key=lambda candidate: -candidate.score)


def _list_synonyms(terms: Sequence[str], texts: Sequence[str], forms: Mapping[str, str]) -> dict[str, str]:
    """Return words that mean the same as terms that no text holds, or that were meant, each with its term."""
    held = {term for text in texts for _, term in find_terms(text, terms, forms)}
    missing = [term for term in terms if term not in held]
    meant = {synonym: term for term in missing for synonym in find_synonyms((term,))}
    words = {word for text in texts for word in find_words(text)} if missing else set[str]()
    meant |= {word: term for term in missing for word in _find_written(term, words)}
    return {synonym: term for synonym, term in meant.items() if synonym not in terms}


def _find_written(term: str, words: set[str]) -> Iterable[str]:
    """Return how a text writes a term that is mistyped."""
    return find_similar(term, sorted(words)) if len(term) >= _MISTYPED_MIN and term.isalpha() else ()


def _choose_given(reading: Reading) -> tuple[Given, ...]:
    """Return the sections to answer from: those found for this question; all that is open for a follow-up."""
    if is_follow_up(reading.question) or not (reading.found or reading.started_ids):
        return reading.given
    wanted = {hit.section_id for hit in reading.found} | reading.asked_ids | reading.started_ids
    return tuple(section for section in reading.given if section.section_id in wanted) or reading.given


def _weigh_terms(terms: Sequence[str], reading: Reading, forms: Mapping[str, str]) -> dict[str, float]:
    """Return a weight for each term: the rarer among the texts at hand, the heavier."""
    texts = [section.text for section in reading.given] + [hit.snippet for hit in reading.found]
    counts = dict.fromkeys(terms, 0)
    for text in texts:
        for term in {term for _, term in find_terms(text, terms, forms)}:
            counts[term] += 1
    return {
        term: math.log(1 + (len(texts) + 1) / (count + 1)) * _rate_term(term, count) for term, count in counts.items()
    }


def _rate_term(term: str, count: int) -> float:
    """Return below 1 for what says little: everyday verbs, and pairs of characters of which no text holds one."""
    if term in _LIGHT_WORDS:
        return _LIGHT_SHARE
    return _UNSEEN_PAIR_SHARE if not count and is_unspaced(term) else 1.0


def _write_line(lead: str, section: Given, quote: str, title: str = "") -> str:
    section_id, found_title = section.find_holder(quote)
    title = title or found_title
    under = f", under {title}" if title and not title.startswith("(") else ""
    return f"{lead}{under}: {_quote(quote)} [{section_id}]."


def _quote(text: str) -> str:
    """Return words of the source between quotation marks that they do not contain."""
    words = re.sub(r"\s+", " ", text).strip()
    if len(words) > _QUOTE_LENGTH_MAX:
        words = words[:_QUOTE_LENGTH_MAX].rsplit(" ", 1)[0]
    return f'"{words}"' if '"' not in words else f"“{words}”"


def _say_not_found(reading: Reading, terms: Sequence[str]) -> str:
    looked = ", ".join(f"“{term}”" for term in terms[:6])
    ideas = [f"- What does the document say about {hit.path.split(' > ')[-1]}?" for hit in reading.found[:2]]
    parts = [f"Not found: no section that was opened answers this. Looked for {looked}."]
    if ideas:
        parts.append("You could ask instead:\n" + "\n".join(ideas))
    return "\n\n".join(parts)


_TITLE = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Part:
    """What stands under one heading."""

    section: Given
    path: tuple[str, ...]
    """Of the heading."""
    sentences: list[str] = field(default_factory=list)


def is_about_exceptions(title: str) -> bool:
    """Return whether a heading announces exceptions."""
    return _TITLE.match(title) is not None


def find_exception(
    candidate: _Candidate, given: Sequence[Given], terms: Sequence[str], told: Sequence[str]
) -> tuple[_Part, str] | None:
    """Return what limits a passage, a sentence under a heading about exceptions below or beside its own."""
    section = candidate.section
    here = next((part.path for part in _list_parts(section) if candidate.quote in part.sentences), _split(section))
    others = (other for other in given if other is section or is_about_exceptions(_split(other)[-1]))
    near = [
        part
        for part in chain.from_iterable(map(_list_parts, others))
        if part.path[:-1] in (here, here[:-1]) and part.path != here and is_about_exceptions(part.path[-1])
    ]
    for part in sorted(near, key=lambda part: -len(part.path)):
        sentence, held = _choose_sentence(part.sentences, terms)
        if sentence and (held or len(part.path) > len(here)):
            return (part, sentence) if sentence not in told else None
    return None


def _split(section: Given) -> tuple[str, ...]:
    return tuple(section.path.split(" > "))


def _list_parts(section: Given) -> list[_Part]:
    above, text = _split(section)[:-1], section.text
    parts = [_Part(section, _split(section))]
    levels: list[tuple[int, str]] = []
    for sentence in find_sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind is UnitKind.HEADING:
            line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end].lstrip()
            level = len(line) - len(line.lstrip("#")) or 2
            levels = [*(one for one in levels if one[0] < level), (level, words.strip("# "))]
            parts.append(_Part(section, (*above, *(title for _, title in levels))))
        elif sentence.kind is not UnitKind.TABLE_HEAD:
            parts[-1].sentences.append(words)
    return parts


def _choose_sentence(sentences: Sequence[str], terms: Sequence[str]) -> tuple[str, int]:
    """Return the sentence that shares most with a question, the first of several, and how many of its words."""
    counts = [len({term for _, term in find_terms(sentence, terms)}) for sentence in sentences]
    best = max(counts, default=0)
    return (sentences[counts.index(best)], best) if counts else ("", 0)

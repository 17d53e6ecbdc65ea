"""Choose the passages with which the offline model answers, and write them."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from roamtui.document.tokens import estimate_tokens
from roamtui.models.offline_request import HITS_MAX, DeliveredSection, ParsedRequest
from roamtui.search.lexicon import Language, detect_language, list_words, stem
from roamtui.search.passages import Passage, find_passage, find_question_words, split_passages
from roamtui.search.sentences import get_first_sentence, rank_sentences, split_sentences
from roamtui.search.terms import (
    extract_names,
    fold_term,
    is_unspaced,
    locate_terms,
    query_terms,
    tokenise,
)
from roamtui.search.units import Unit, UnitKind

_WITHOUT_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』〝〞〟＂', "'"))
_PASSAGES_MAX = 5
_ANSWER_TOKENS_MAX = 1_100
"""Maximum tokens of all passages. Half of the answers need less than 900."""
_EXCEPTION_TOKENS_MAX = 250
"""An exception that ends within this many tokens after a passage is part of the same card."""
_FURTHER_SHARE = 0.4
"""A further passage is chosen if its score is at least this share of the best score."""
_EARLY_SHARE = 0.2
_EARLY_TOKENS = 800
"""As long as the passages have fewer tokens, there is room, so `_EARLY_SHARE` is enough."""
EVIDENCE_MIN = 0.54
"""Minimum evidence for an answer. Of 563 questions about API documentation and two frameworks, 2.5 % have less in the
right document. Of 400, 93 % have less in a document of another set."""
_DOUBT = 0.4
"""Added to the weight of a question, because half of two words is weaker evidence than half of six."""
_EVIDENCE_TERMS_MAX = 6.0
"""Maximum weight of a question. A long one tells a story, and a passage needs only a part of its terms."""
_SCORE_EVIDENCE = 0.2
"""Share of a passage's score in its evidence, because words close together are stronger evidence."""
_NAME_WEIGHT = 2.0
"""Weight of a name or identifier as evidence. Other words have 1."""
_LIGHT_EVIDENCE = 0.3
"""Weight as evidence of a word that occurs in questions about any subject."""
_SYNONYM_EVIDENCE = 0.7
_NAME = re.compile(r"(?<=[\w,;:'\"`(] )[\"'`(]*([A-Z]\w*[a-z]\w*)")
"""A word with a capital letter inside an English sentence."""
_SECTION_SHARE = 0.2
"""Bonus for each passage of a section that contains all words of the question."""
_PASSAGE_SHARE = 0.5
"""Bonus for a passage that contains all words of the question. The rest of the score is that of its best sentence."""
_SYNONYM_SHARE = 0.5
"""Weight of a synonym of a word that no open section contains. The word itself has 1."""
_OTHER_SYNONYM_SHARE = 0.35
"""Weight of a synonym of a word that an open section contains."""
_LIGHT = frozenset(map(stem, list_words("light")))
_VERY_LIGHT = frozenset(list_words("light verbs"))
_LIGHT_SHARE = 0.4
"""Weight of an everyday verb. Other words have 1."""
_UNSEEN_PAIR_SHARE = 0.2
"""Weight of a pair of characters that occurs nowhere. In scripts without spaces, half of the pairs join two words."""
_PATH_WEIGHT = 0.6
"""Weight of a word in the path of a section. In the passage, it has 1."""
_RANK_LOSS = 0.15
"""Loss of score per search rank."""
_SENTENCES_MAX = 400
"""Sentences of one section that are ranked."""
_QUOTATION_MARKS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("〝", "〟"))
"""A passage is put between the first pair that it does not contain, so that it is one quotation."""
_MARKUP = re.compile(r"[\[\]*_`<>|\\]")
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")
_CHANGED = re.compile(r"^\(repeats what stands above\)$|…>", re.MULTILINE)
"""A line that replaces a repeated paragraph in a delivered text, or the end of a shortened URL without a title."""
_TITLE_BONUS = 0.8
"""Bonus if the title consists of words of the question, times their share of the weight."""
EXCEPTIONS = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
"""A heading that announces exceptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    section: DeliveredSection
    passage: Passage
    score: float
    """Share of the question that the passage contains, with bonuses. It is about 1 for all of it."""
    coverage: float
    """Share of the weight of the question that the section contains."""
    terms: frozenset[str]
    """Terms of the question, and synonyms of them, in the passage and in the path of its section."""


@dataclass(slots=True, kw_only=True)
class QuotedRange:
    """One or several neighbouring passages that are shown as one."""

    section: DeliveredSection
    start: int
    end: int
    terms: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Text of the passages, as in the source."""
        return self.section.text[self.start : self.end]

    def overlaps(self, section: DeliveredSection, passage: Passage) -> bool:
        """Check whether the card has words in common with a passage."""
        return self.section is section and passage.start < self.end and self.start < passage.end

    def adjoins(self, section: DeliveredSection, passage: Passage) -> bool:
        """Check whether only blank lines are between the card and a passage that it does not overlap."""
        between = section.text[min(self.end, passage.end) : max(self.start, passage.start)]
        return self.section is section and not between.strip()

    def widen(self, cards: Sequence[QuotedRange], room_tokens: int) -> int:
        """Add neighbouring passages under the same heading as long as there is room. Return their tokens."""
        passages = split_passages(self.section.text)
        used = 0
        while near := [
            (tokens, passage)
            for passage in passages
            if _CHANGED.search(self.section.text, passage.start, passage.end) is None
            and self.adjoins(self.section, passage)
            and not any(card.overlaps(self.section, passage) for card in cards)
            and (tokens := estimate_tokens(self.section.text[passage.start : passage.end])) <= room_tokens - used
        ]:
            tokens, passage = near[-1]  # what follows explains more than what precedes
            self.start, self.end = min(self.start, passage.start), max(self.end, passage.end)
            used += tokens
        return used


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRanking:
    """The passages of the delivered sections, and the values that decide whether one of them is an answer."""

    candidates: tuple[_Candidate, ...] = ()
    """Best first."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of each term as evidence."""
    synonyms: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Synonyms of each term."""
    corrections: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Words that each term may have meant if it is mistyped."""
    doubt: float = 0.0

    def compute_evidence(self, cards: Sequence[QuotedRange]) -> float:
        """Return the share of the question's subject that the best card contains. It is about 1 for all of it."""
        if not self.candidates:
            return 0.0
        score = _SCORE_EVIDENCE * min(1.0, self.candidates[0].score)
        return max((self._compute_share(card.terms) + score for card in cards), default=0.0)

    def _compute_share(self, found: frozenset[str]) -> float:
        share = 0.0
        for term, weight in self.weights.items():
            if term in found or not found.isdisjoint(self.corrections.get(term, ())):
                share += weight
            elif not found.isdisjoint(self.synonyms[term]):
                share += _SYNONYM_EVIDENCE * weight
        return min(1.0, share / (min(sum(self.weights.values()), _EVIDENCE_TERMS_MAX) + self.doubt))


class PassageAnswer:
    """The answer to one request. Its passages are ranked and chosen once, when they are first needed."""

    def __init__(self, parsed: ParsedRequest) -> None:
        self.parsed = parsed
        self._terms = query_terms(parsed.question)

    @cached_property
    def ranking(self) -> PassageRanking:
        """The passages of the delivered sections."""
        return rank_passages(self.parsed)

    @cached_property
    def evidence(self) -> float:
        """Share of the question's subject that the best card contains. It is about 1 for all of it."""
        return self.ranking.compute_evidence(self._cards)

    @cached_property
    def _cards(self) -> Sequence[QuotedRange]:
        return choose_ranges(self.ranking, self.parsed.delivered, self._terms)

    def write(self) -> str:
        """Write up to five passages with the exceptions to them, or say that nothing was found."""
        if not self._terms:
            return "Please ask a question about the document, in words that it may contain."
        if self.evidence < EVIDENCE_MIN:
            looked = ", ".join(f"“{term}”" for term in self._terms[:6])
            return f"Not found: no passage that was read holds enough of this. Looked for {looked}."
        return "\n\n".join(map(_write_card, self._cards))


def choose_ranges(
    ranking: PassageRanking, delivered: Sequence[DeliveredSection], terms: Sequence[str]
) -> list[QuotedRange]:
    """Choose the best passages, best first. Neighbours become one card. An exception follows the passage it limits."""
    cards: list[QuotedRange] = []
    used = 0
    for candidate in ranking.candidates:
        share = _EARLY_SHARE if used < _EARLY_TOKENS else _FURTHER_SHARE
        if cards and candidate.score < share * ranking.candidates[0].score:
            break
        section, passage = candidate.section, candidate.passage
        if any(card.overlaps(section, passage) for card in cards):
            continue
        tokens = estimate_tokens(section.text[passage.start : passage.end])
        near = [card for card in cards if card.adjoins(section, passage)]
        if cards and (used + tokens > _ANSWER_TOKENS_MAX or (not near and len(cards) == _PASSAGES_MAX)):
            continue
        used += tokens
        if near:
            first = near[0]
            first.start = min(passage.start, *(card.start for card in near))
            first.end = max(passage.end, *(card.end for card in near))
            first.terms = candidate.terms.union(*(card.terms for card in near))
            cards = [card for card in cards if card is first or card not in near]
            continue
        card = QuotedRange(section=section, start=passage.start, end=passage.end, terms=candidate.terms)
        cards.append(card)
        exception = _find_exception(section, passage, delivered, terms)
        if exception is not None and not any(other.overlaps(*exception) for other in cards):
            limiting, limit = exception
            end_tokens = estimate_tokens(section.text[passage.end : limit.end])
            if limiting is section and passage.end <= limit.start and end_tokens <= _EXCEPTION_TOKENS_MAX:
                card.end = limit.end  # what limits a rule is read with it
                used += end_tokens
            elif len(cards) < _PASSAGES_MAX:
                used += estimate_tokens(limiting.text[limit.start : limit.end])
                cards.append(QuotedRange(section=limiting, start=limit.start, end=limit.end))
    for card in cards:  # a short answer has room for the paragraphs around it
        used += card.widen(cards, _EARLY_TOKENS - used)
    return cards


def _write_card(card: QuotedRange) -> str:
    """Write the titles above a passage, the passage as one quotation, and the id of its section."""
    section, words = card.section, card.text.strip()
    above = [(section_id, title) for offset, section_id, title in section.inside if offset <= card.start]
    section_id, path = section.section_id, section.path.split(" > ")
    if above:
        section_id = above[-1][0]
        path = [*path, above[-1][1]]
    opening, closing = next(
        (pair for pair in _QUOTATION_MARKS if pair[0] not in words and pair[1] not in words), ('"', '"')
    )
    titles = filter(None, (" ".join(_MARKUP.sub(" ", title).translate(_WITHOUT_QUOTES).split()) for title in path[-2:]))
    # a list, a table or code needs lines of its own
    gap_before = "\n\n" if _STARTS_AS_BLOCK.match(words) else ""
    gap_after = "\n\n" if _STARTS_AS_BLOCK.match(words.rpartition("\n")[2]) else ""
    heading = " › ".join(titles)
    quote = f"{opening}{gap_before}{words}{gap_after}{closing} [{section_id}]"
    return f"**{heading}**\n\n{quote}" if heading else quote


def rank_passages(parsed: ParsedRequest) -> PassageRanking:
    """Rank the passages of the delivered sections for the question."""
    terms, sections = query_terms(parsed.question), parsed.delivered
    if not parsed.is_follow_up and (parsed.found or parsed.started_ids):  # a follow-up may need any open section
        wanted = (
            {hit.section_id for hit in (*parsed.found_before, *parsed.found)} | parsed.asked_ids | parsed.started_ids
        )
        sections = tuple(section for section in sections if section.section_id in wanted) or sections
    if not terms or not sections:
        return PassageRanking()
    searches = (parsed.found, parsed.found_before)  # the ranks of the first search count
    ranks = {hit.section_id: rank for hits in searches for rank, hit in enumerate(hits)}
    texts = [f"{section.path}\n{section.text}" for section in sections]
    language = detect_language(tokenise(parsed.question))
    words = find_question_words(parsed.question, texts)
    forms, present = words.forms, words.present
    weights = _weigh_terms(terms, parsed, forms)
    total = sum(weights.values())
    # Synonyms count in part for their terms, and so do corrections of typos; less if the term itself is there too.
    others = {term: words.get_others(term) for term in terms}
    term_by_synonym = {other: term for term in terms for other in sorted(others[term]) if other not in terms}
    shares = {term: _OTHER_SYNONYM_SHARE if term in present else _SYNONYM_SHARE for term in terms}
    weights |= {synonym: shares[term] * weights[term] for synonym, term in term_by_synonym.items()}
    ranked = tuple(weights)
    every = tuple(dict.fromkeys((*ranked, *sorted(frozenset().union(*others.values())))))

    def weigh(found: Iterable[str]) -> float:
        best: dict[str, float] = {}
        for word in found:
            term = term_by_synonym.get(word, word)
            best[term] = max(best.get(term, 0.0), weights[word])
        return sum(best.values())

    candidates = []
    for section in sections:
        in_path = frozenset(term for _, term in locate_terms(section.path, every, forms))
        occurrences = locate_terms(section.text, every, forms)
        in_section = in_path.union(term for _, term in occurrences).intersection(ranked)
        coverage = weigh(in_section) / total
        loss = 1 / (1 + _RANK_LOSS * ranks.get(section.section_id, HITS_MAX))
        best: dict[Passage, float] = {}
        for sentence in rank_sentences(section.text, ranked, limit=_SENTENCES_MAX, idf=weights, forms=forms):
            passage = _find_verbatim_passage(section.text, sentence.start)
            if passage is not None:
                best.setdefault(passage, sentence.score)
        if not best and (opening := get_first_sentence(section.text)) is not None:
            passage = _find_verbatim_passage(section.text, opening.start)
            best = {passage: 0.0} if passage is not None else {}
        offsets = [offset for offset, _ in occurrences]
        titles = [(0, section.path.rpartition(" > ")[2]), *((start, title) for start, _, title in section.inside)]
        for passage, score in best.items():
            title = titles[bisect_right(titles, passage.start, key=lambda pair: pair[0]) - 1][1]
            own = occurrences[bisect_left(offsets, passage.start) : bisect_left(offsets, passage.end)]
            found = in_path.union(term for _, term in own)
            in_passage = {term for _, term in own if term in weights}
            share = weigh(in_passage) / total
            in_titles = sum(weights[term] for term in in_path if term in weights and term not in in_passage) / total
            in_title = {term for _, term in locate_terms(title, ranked, forms)}
            title_share = len(in_title) / max(1, len(query_terms(title)))
            bonus = _TITLE_BONUS * title_share * sum(weights[term] for term in in_title) / total
            total_score = score + _PASSAGE_SHARE * share + _PATH_WEIGHT * in_titles + _SECTION_SHARE * coverage + bonus
            candidates.append(
                _Candidate(section=section, passage=passage, score=total_score * loss, coverage=coverage, terms=found)
            )
    return PassageRanking(
        candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.score)),
        weights=_weigh_evidence(parsed.question, terms, present, language),
        synonyms=words.synonyms,
        corrections=words.corrections,
        doubt=_DOUBT if language is Language.ENGLISH else 0.0,  # of other languages fewer forms of words are known
    )


def _find_verbatim_passage(text: str, offset: int) -> Passage | None:
    """Return the passage at an offset, without text that was changed for the model, or None if nothing else is left."""
    passage = find_passage(text, offset)
    if passage is None or _CHANGED.search(text, passage.start, passage.end) is None:
        return passage
    start, end = passage.start, passage.end
    for unit in split_sentences(text):
        is_changed = start <= unit.start < end and _CHANGED.search(text, unit.start, unit.end) is not None
        if is_changed and unit.start <= offset < unit.end:
            return None
        if is_changed and unit.end <= offset:
            start = unit.end
        elif is_changed:
            end = unit.start
            break
    start += len(text[start:end]) - len(text[start:end].lstrip())
    return Passage(start, start + len(text[start:end].rstrip()))


def _weigh_evidence(
    question: str, terms: Sequence[str], present: Container[str], language: Language
) -> dict[str, float]:
    """Compute the weight of each term as evidence: highest for names, lowest for words that occur in any question."""
    names = extract_names(question)
    if language is Language.ENGLISH:  # other languages write other words with capital letters
        names |= {fold_term(name) for name in _NAME.findall(question)}
    weights = {}
    for term in terms:
        weight = _NAME_WEIGHT if term in names else 1.0
        weight *= _LIGHT_EVIDENCE if stem(term) in _LIGHT or term.isdigit() else 1.0
        weights[term] = weight * (_UNSEEN_PAIR_SHARE if is_unspaced(term) and term not in present else 1.0)
    return weights


def _weigh_terms(terms: Sequence[str], parsed: ParsedRequest, forms: Mapping[str, str]) -> dict[str, float]:
    """Compute the weight of each term: higher for terms that are rare in the texts, lower for words that say little."""
    texts = [section.text for section in parsed.delivered] + [hit.snippet for hit in parsed.found]
    counts = dict.fromkeys(terms, 0)
    for text in texts:
        for term in {term for _, term in locate_terms(text, terms, forms)}:
            counts[term] += 1
    weights = {}
    for term, count in counts.items():
        share = _UNSEEN_PAIR_SHARE if not count and is_unspaced(term) else 1.0
        share = _LIGHT_SHARE if term in _VERY_LIGHT else share
        weights[term] = math.log(1 + (len(texts) + 1) / (count + 1)) * share
    return weights


@dataclass(frozen=True, slots=True)
class _HeadingPart:
    """The sentences under one heading."""

    section: DeliveredSection
    path: tuple[str, ...]
    """Titles down to the heading."""
    sentences: list[Unit] = field(default_factory=list)


def _find_exception(
    section: DeliveredSection, passage: Passage, delivered: Sequence[DeliveredSection], terms: Sequence[str]
) -> tuple[DeliveredSection, Passage] | None:
    """Find a passage under a heading about exceptions that is below or next to the heading of another passage."""
    own = tuple(section.path.split(" > "))
    parts = [*_split_at_headings(section)]
    here = next(
        (part.path for part in parts if any(passage.start <= unit.start < passage.end for unit in part.sentences)), own
    )
    others = (other for other in delivered if other is section or EXCEPTIONS.match(other.path.split(" > ")[-1]))
    nearby = [
        part
        for part in chain.from_iterable(map(_split_at_headings, others))
        if part.path[:-1] in (here, here[:-1]) and part.path != here and EXCEPTIONS.match(part.path[-1])
    ]
    for part in sorted(nearby, key=lambda part: -len(part.path)):
        text = part.section.text
        shared = [
            len({term for _, term in locate_terms(text[unit.start : unit.end], terms)}) for unit in part.sentences
        ]
        most = max(shared, default=0)
        if shared and (most or len(part.path) > len(here)):
            found = find_passage(text, part.sentences[shared.index(most)].start)
            return (part.section, found) if found is not None else None
    return None


def _split_at_headings(section: DeliveredSection) -> Iterable[_HeadingPart]:
    *above, own = section.path.split(" > ")
    text, parts = section.text, [_HeadingPart(section, (*above, own))]
    levels: list[tuple[int, str]] = []
    for sentence in split_sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind is UnitKind.HEADING:
            line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end].lstrip()
            level = len(line) - len(line.lstrip("#")) or 2
            levels = [*(one for one in levels if one[0] < level), (level, words.strip("# "))]
            parts.append(_HeadingPart(section, (*above, *(title for _, title in levels))))
        elif sentence.kind is not UnitKind.TABLE_HEAD:
            parts[-1].sentences.append(sentence)
    return parts

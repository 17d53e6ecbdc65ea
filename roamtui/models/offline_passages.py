"""Choose and write the passages of an answer by the offline model."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from roamtui.document.tokens import estimate_tokens
from roamtui.models.offline_request import HITS_MAX, DeliveredSection, ParsedRequest
from roamtui.search.lexicon import Language, detect_language, get_implied_words, list_words, stem
from roamtui.search.passages import Passage, find_passage, find_question_words, split_passages
from roamtui.search.sentences import get_first_sentence, rank_sentences, split_sentences
from roamtui.search.terms import (
    extract_code_names,
    extract_query_terms,
    fold_term,
    is_unspaced,
    locate_terms,
    tokenise,
)
from roamtui.search.units import Unit, UnitKind

_WITHOUT_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』〝〞〟＂', "'"))
_PASSAGES_MAX = 5
_ANSWER_TOKENS_MAX = 1_100
"""Maximum tokens of all passages. Half of the answers need less than 900."""
_LIMIT_TOKENS_MAX = 250
"""A passage that limits another, and ends within this many tokens after it, is quoted together with it."""
_FURTHER_SHARE = 0.4
"""A further passage is chosen if its score is at least this share of the best score."""
_EARLY_SHARE = 0.2
_EARLY_TOKENS = 800
"""As long as the chosen passages have fewer tokens, there is room, so `_EARLY_SHARE` of the best score is enough."""
EVIDENCE_MIN = 0.54
"""Minimum evidence for an answer. This value refuses 2.5 % of 563 answerable questions (about API documentation and two
frameworks), and 93 % of 400 unanswerable ones (each asked about a document of another set)."""
_CELL_SCORE_MIN = 0.38
"""Minimum score of the best passage for a cell of a table, which has no room for a doubtful one. On eight contracts
that were not used to choose this value, it raises "not found" from 15 to 56 % of the cells without a clause. 4 % of the
other cells, and one of 282 questions about documentation, lose a right passage."""
_TITLE_FIT_MIN = 0.4
"""Minimum share of the question's subject in the titles of a section that is never "not found". Of 115 questions about
a wrong document that were refused, 1 gets a passage by it."""
_ENGLISH_DOUBT = 0.4
"""Added to the weight of an English question, because half of two words is weaker evidence than half of six."""
_QUESTION_WEIGHT_MAX = 6.0
"""Maximum weight of a question. A long one tells a story, and a passage needs only a part of its terms."""
_SCORE_EVIDENCE_MAX = 0.2
"""Maximum evidence that the score of the best passage adds, reached at a score of 1. The score is higher if the words
of the question are close together."""
_NAME_WEIGHT = 2.0
"""Weight of a name or identifier as evidence. Other words have 1."""
_COMMON_WORD_EVIDENCE = 0.3
"""Factor on the evidence of a word that is common in questions."""
_SYNONYM_EVIDENCE = 0.7
_NAME = re.compile(r"(?<=[\w,;:'\"`(] )[\"'`(]*([A-Z]\w*[a-z]\w*)")
"""A word with a capital letter inside an English sentence."""
_SECTION_BONUS = 0.2
"""Bonus for every passage of a section that contains all words of the question. For some of them, a share of it."""
_PASSAGE_BONUS = 0.5
"""Bonus for a passage that contains all words of the question. Bonuses are added to the score of its best sentence."""
_SYNONYM_WEIGHT = 0.5
"""Weight of a synonym of a word that no open section contains. The word itself has 1."""
_PRESENT_SYNONYM_WEIGHT = 0.35
"""Weight of a synonym of a word that an open section contains."""
_COMMON_QUESTION_WORDS = frozenset(map(stem, list_words("light")))
"""Stems of words that occur in questions about any subject."""
_EVERYDAY_VERBS = frozenset(list_words("light verbs"))
_EVERYDAY_VERB_WEIGHT = 0.4
"""Weight of an everyday verb. Other words have 1."""
_UNSEEN_PAIR_WEIGHT = 0.2
"""Factor on the weight of a pair of characters, in a script without spaces, that the searched texts do not contain.
About half of the pairs join two words, so their absence means little."""
_PATH_BONUS = 0.6
"""Bonus for a passage if the path of its section contains all words of the question, and the passage none."""
_RANK_LOSS = 0.15
"""Loss of score per search rank."""
_RANKED_SENTENCES_MAX = 400
"""Maximum number of ranked sentences per section."""
_QUOTATION_MARKS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("〝", "〟"))
"""A passage is put between the first pair that it does not contain, so that it is one quotation."""
_MARKUP = re.compile(r"[\[\]*_`<>|\\]")
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")
_CHANGED = re.compile(r"^\(repeats what stands above\)$|…>", re.MULTILINE)
"""A line with which version 0.2 replaced a repeated paragraph, or the end of a shortened URL without a title."""
_TITLE_BONUS = 0.8
"""Bonus if the title consists of words of the question, multiplied by their share of the question's weight."""
LIMITS_HEADING = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
"""A heading that announces exceptions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    section: DeliveredSection
    passage: Passage
    score: float
    """Score of the best sentence, with bonuses, reduced by the search rank of the section."""
    coverage: float
    """Share of the weight of the question that the section contains."""
    terms: frozenset[str]
    """Terms of the question, and synonyms of them, in the passage and in the path of its section."""
    title_terms: frozenset[str]
    """The same, and the words that the question implies, in the title of the section and in the one above it."""


@dataclass(slots=True, kw_only=True)
class QuotedRange:
    """A part of a section that the answer quotes: one passage, or several neighbouring ones."""

    section: DeliveredSection
    start: int
    end: int
    terms: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Text of the passages, as in the source."""
        return self.section.text[self.start : self.end]

    def overlaps(self, section: DeliveredSection, passage: Passage) -> bool:
        """Check whether a passage shares text with the range."""
        return self.section is section and passage.start < self.end and self.start < passage.end

    def adjoins(self, section: DeliveredSection, passage: Passage) -> bool:
        """Check whether only blank lines are between the range and a passage that it does not overlap."""
        between = section.text[min(self.end, passage.end) : max(self.start, passage.start)]
        return self.section is section and not between.strip()

    def widen(self, ranges: Sequence[QuotedRange], room_tokens: int) -> int:
        """Add neighbouring passages under the same heading as long as there is room. Return their tokens."""
        passages = split_passages(self.section.text)
        used = 0
        while neighbours := [
            (tokens, passage)
            for passage in passages
            if _CHANGED.search(self.section.text, passage.start, passage.end) is None
            and self.adjoins(self.section, passage)
            and not any(quoted.overlaps(self.section, passage) for quoted in ranges)
            and (tokens := estimate_tokens(self.section.text[passage.start : passage.end])) <= room_tokens - used
        ]:
            tokens, passage = neighbours[-1]  # what follows explains more than what precedes
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
    implied: frozenset[str] = frozenset()
    """Words that the question implies."""
    doubt: float = 0.0
    """Added to the weight of the question when evidence is computed."""

    @property
    def best_score(self) -> float:
        """Score of the best passage; 0 without passages."""
        return self.candidates[0].score if self.candidates else 0.0

    def compute_evidence(self, ranges: Sequence[QuotedRange]) -> float:
        """Return the share of the question's subject in the best range. A range with all of it has about 1."""
        if not self.candidates:
            return 0.0
        score_evidence = _SCORE_EVIDENCE_MAX * min(1.0, self.best_score)
        return max((self._compute_found_share(quoted.terms) + score_evidence for quoted in ranges), default=0.0)

    def find_fitting_title(self) -> _Candidate | None:
        """Return the best passage of a section whose titles fit the question, or None."""
        return next((candidate for candidate in self.candidates if self._fits(candidate.title_terms)), None)

    def _fits(self, title_terms: frozenset[str]) -> bool:
        has_implied = not title_terms.isdisjoint(self.implied)
        return has_implied or self._compute_found_share(title_terms) >= _TITLE_FIT_MIN

    def _compute_found_share(self, terms: frozenset[str]) -> float:
        """Return the share of the question's weight that some of its terms and their synonyms cover."""
        found_weight = 0.0
        for term, weight in self.weights.items():
            if term in terms or not terms.isdisjoint(self.corrections.get(term, ())):
                found_weight += weight
            elif not terms.isdisjoint(self.synonyms[term]):
                found_weight += _SYNONYM_EVIDENCE * weight
        return min(1.0, found_weight / (min(sum(self.weights.values()), _QUESTION_WEIGHT_MAX) + self.doubt))


class PassageAnswer:
    """The answer to one request. Its passages are ranked and chosen once, when they are first needed."""

    def __init__(self, parsed: ParsedRequest) -> None:
        self.parsed = parsed
        self._terms = extract_query_terms(parsed.question)

    @cached_property
    def ranking(self) -> PassageRanking:
        """The passages of the delivered sections."""
        return rank_passages(self.parsed)

    @cached_property
    def evidence(self) -> float:
        """Share of the question's subject that the best range contains, from 0 to about 1."""
        return self.ranking.compute_evidence(self._ranges)

    @cached_property
    def _ranges(self) -> Sequence[QuotedRange]:
        return choose_ranges(self.ranking, self.parsed.delivered, self._terms)

    def write(self) -> str:
        """Write up to five passages with the exceptions to them, or say that nothing was found."""
        if not self._terms:
            return "Please ask a question about the document, in words that it may contain."
        is_weak = self.parsed.is_cell and self.ranking.best_score < _CELL_SCORE_MIN
        ranges = self._ranges
        if self.evidence < EVIDENCE_MIN and not is_weak:
            fitting = self.ranking.find_fitting_title()
            ranking = replace(self.ranking, candidates=() if fitting is None else (fitting,))
            ranges = choose_ranges(ranking, self.parsed.delivered, self._terms)
        if is_weak or not ranges:
            looked = ", ".join(f"“{term}”" for term in self._terms[:6])
            return f"Not found: no passage that was read holds enough of this. Looked for {looked}."
        return "\n\n".join(map(_write_range, ranges))


def choose_ranges(
    ranking: PassageRanking, delivered: Sequence[DeliveredSection], terms: Sequence[str]
) -> list[QuotedRange]:
    """Choose the best passages, best first. Neighbours become one range. A passage that limits another follows it."""
    ranges: list[QuotedRange] = []
    used = 0
    for candidate in ranking.candidates:
        score_share = _EARLY_SHARE if used < _EARLY_TOKENS else _FURTHER_SHARE
        if ranges and candidate.score < score_share * ranking.candidates[0].score:
            break
        section, passage = candidate.section, candidate.passage
        if any(quoted.overlaps(section, passage) for quoted in ranges):
            continue
        tokens = estimate_tokens(section.text[passage.start : passage.end])
        adjoining = [quoted for quoted in ranges if quoted.adjoins(section, passage)]
        if ranges and (used + tokens > _ANSWER_TOKENS_MAX or (not adjoining and len(ranges) == _PASSAGES_MAX)):
            continue
        used += tokens
        if adjoining:  # join them all with the passage
            first = adjoining[0]
            first.start = min(passage.start, *(quoted.start for quoted in adjoining))
            first.end = max(passage.end, *(quoted.end for quoted in adjoining))
            first.terms = candidate.terms.union(*(quoted.terms for quoted in adjoining))
            ranges = [quoted for quoted in ranges if quoted is first or quoted not in adjoining]
            continue
        quoted = QuotedRange(section=section, start=passage.start, end=passage.end, terms=candidate.terms)
        ranges.append(quoted)
        limiting = _find_limiting_passage(section, passage, delivered, terms)
        if limiting is not None and not any(other.overlaps(*limiting) for other in ranges):
            limit_section, limit = limiting
            end_tokens = estimate_tokens(section.text[passage.end : limit.end])
            if limit_section is section and passage.end <= limit.start and end_tokens <= _LIMIT_TOKENS_MAX:
                quoted.end = limit.end  # a rule is read together with what limits it
                used += end_tokens
            elif len(ranges) < _PASSAGES_MAX:
                used += estimate_tokens(limit_section.text[limit.start : limit.end])
                ranges.append(QuotedRange(section=limit_section, start=limit.start, end=limit.end))
    for quoted in ranges:  # a short answer has room for the paragraphs around it
        used += quoted.widen(ranges, _EARLY_TOKENS - used)
    return ranges


_FILE_NAME = re.compile(r"\S[^/]*\.[A-Za-z0-9]{1,8}")
"""The first title of a section in a folder. A passage names it, because files may have the same headings."""


def _write_range(quoted: QuotedRange) -> str:
    """Write the titles above a range, its text as one quotation, and the id of its section."""
    section, words = quoted.section, quoted.text.strip()
    above = [(section_id, title) for offset, section_id, title in section.subsections if offset <= quoted.start]
    section_id, path = section.section_id, section.path.split(" > ")
    if above:
        section_id = above[-1][0]
        path = [*path, above[-1][1]]
    opening, closing = next(
        (pair for pair in _QUOTATION_MARKS if pair[0] not in words and pair[1] not in words), ('"', '"')
    )
    named = path[-2:] if len(path) < 3 or not _FILE_NAME.fullmatch(path[0]) else [path[0], *path[-2:]]
    titles = filter(None, (" ".join(_MARKUP.sub(" ", title).translate(_WITHOUT_QUOTES).split()) for title in named))
    # a list, a table or code needs lines of its own
    gap_before = "\n\n" if _STARTS_AS_BLOCK.match(words) else ""
    gap_after = "\n\n" if _STARTS_AS_BLOCK.match(words.rpartition("\n")[2]) else ""
    heading = " › ".join(titles)
    quote = f"{opening}{gap_before}{words}{gap_after}{closing} [{section_id}]"
    return f"**{heading}**\n\n{quote}" if heading else quote


@dataclass(frozen=True, slots=True, kw_only=True)
class _QuestionWeights:
    """How much the words of a question, and the words related to them, count in the score of a passage."""

    weights: Mapping[str, float]
    """Weight of each term, and of its synonyms and corrections, which count in part."""
    total: float
    """Weight of all terms, without the related words."""
    term_by_related: Mapping[str, str]
    """Term of each related word."""
    forms: Mapping[str, str]
    """The term of each inflected form."""

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that some words have. Of each term, only the best word counts."""
        best: dict[str, float] = {}
        for word in words:
            term = self.term_by_related.get(word, word)
            best[term] = max(best.get(term, 0.0), self.weights[word])
        return sum(best.values()) / self.total


def rank_passages(parsed: ParsedRequest) -> PassageRanking:
    """Rank the passages of the delivered sections for the question."""
    terms, sections = extract_query_terms(parsed.question), parsed.delivered
    if not parsed.is_follow_up and (parsed.hits or parsed.preopened_ids):  # a follow-up may need any open section
        wanted_ids = {hit.section_id for hit in (*parsed.earlier_hits, *parsed.hits)}
        wanted_ids |= parsed.requested_ids | parsed.preopened_ids
        sections = tuple(section for section in sections if section.section_id in wanted_ids) or sections
    if not terms or not sections:
        return PassageRanking()
    searches = (parsed.hits, parsed.earlier_hits)  # the ranks of the first search count
    ranks = {hit.section_id: rank for hits in searches for rank, hit in enumerate(hits)}
    texts = [f"{section.path}\n{section.text}" for section in sections]
    language = detect_language(tokenise(parsed.question))
    words = find_question_words(parsed.question, texts)
    weights = _weigh_terms(terms, parsed, words.forms)
    total = sum(weights.values())
    # Synonyms count in part for their terms, and so do corrections of typos; less if the term itself is there too.
    related = {term: words.get_others(term) for term in terms}
    term_by_related = {word: term for term in terms for word in sorted(related[term]) if word not in terms}
    factors = {term: _PRESENT_SYNONYM_WEIGHT if term in words.present else _SYNONYM_WEIGHT for term in terms}
    weights |= {word: factors[term] * weights[term] for word, term in term_by_related.items()}
    implied = frozenset(word for word in get_implied_words(parsed.question) if word not in weights and "_" not in word)
    weights |= dict.fromkeys(sorted(implied), _SYNONYM_WEIGHT * total / len(terms))
    question = _QuestionWeights(
        weights=weights,
        total=total,
        term_by_related=term_by_related,
        forms=words.forms,
    )
    candidates = [
        candidate
        for section in sections
        for candidate in _score_passages(section, ranks.get(section.section_id, HITS_MAX), question)
    ]
    return PassageRanking(
        candidates=tuple(sorted(candidates, key=lambda candidate: -candidate.score)),
        weights=_weigh_evidence(parsed.question, terms, words.present, language),
        synonyms=words.synonyms,
        corrections=words.corrections,
        implied=implied,
        # fewer forms of words are known in other languages
        doubt=_ENGLISH_DOUBT if language is Language.ENGLISH else 0.0,
    )


def _score_passages(section: DeliveredSection, rank: int, question: _QuestionWeights) -> Iterator[_Candidate]:
    """Yield the passages of a section that contain words of the question, or else its first passage.

    A passage has the score of its best sentence, plus bonuses for the words of the question in the whole passage, in
    the path of its section, in the whole section, and in the title above it. `rank` is the section's rank in search.
    """
    weights, total, searched = question.weights, question.total, tuple(question.weights)
    path_words = frozenset(word for _, word in locate_terms(section.path, searched, question.forms))
    occurrences = locate_terms(section.text, searched, question.forms)
    section_words = path_words.union(word for _, word in occurrences)
    coverage = question.compute_share(section_words)
    sentence_scores: dict[Passage, float] = {}  # score of the best sentence of each passage
    for sentence in rank_sentences(
        section.text, searched, limit=_RANKED_SENTENCES_MAX, idf=weights, forms=question.forms
    ):
        passage = _find_verbatim_passage(section.text, sentence.start)
        if passage is not None:
            sentence_scores.setdefault(passage, sentence.score)
    if not sentence_scores and (opening := get_first_sentence(section.text)) is not None:
        passage = _find_verbatim_passage(section.text, opening.start)
        sentence_scores = {passage: 0.0} if passage is not None else {}
    offsets = [offset for offset, _ in occurrences]
    near_titles = " > ".join(section.path.split(" > ")[-2:])
    title_terms = frozenset(word for _, word in locate_terms(near_titles, searched, question.forms))
    titles = [(0, section.path.rpartition(" > ")[2]), *((start, title) for start, _, title in section.subsections)]
    for passage, sentence_score in sentence_scores.items():
        title = titles[bisect_right(titles, passage.start, key=lambda pair: pair[0]) - 1][1]
        passage_occurrences = occurrences[bisect_left(offsets, passage.start) : bisect_left(offsets, passage.end)]
        passage_words = {word for _, word in passage_occurrences}
        path_weight = sum(weights[word] for word in path_words if word not in passage_words)
        title_words = {word for _, word in locate_terms(title, searched, question.forms)}
        # how much of the title is of the question
        title_share = len(title_words) / max(1, len(extract_query_terms(title)))
        score = (
            sentence_score
            + _PASSAGE_BONUS * question.compute_share(passage_words)
            + _PATH_BONUS * (path_weight / total)
            + _SECTION_BONUS * coverage
            + _TITLE_BONUS * title_share * sum(weights[word] for word in title_words) / total
        )
        yield _Candidate(
            section=section,
            passage=passage,
            score=score * (1 / (1 + _RANK_LOSS * rank)),
            coverage=coverage,
            terms=path_words.union(word for _, word in passage_occurrences),
            title_terms=title_terms,
        )


def _find_verbatim_passage(text: str, offset: int) -> Passage | None:
    """Return the part of the passage at an offset that was not changed for the model, or None if nothing is left."""
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
    names = extract_code_names(question)
    if language is Language.ENGLISH:  # in other languages, words that are not names have capital letters too
        names |= {fold_term(name) for name in _NAME.findall(question)}
    weights = {}
    for term in terms:
        weight = _NAME_WEIGHT if term in names else 1.0
        weight *= _COMMON_WORD_EVIDENCE if stem(term) in _COMMON_QUESTION_WORDS or term.isdigit() else 1.0
        weights[term] = weight * (_UNSEEN_PAIR_WEIGHT if is_unspaced(term) and term not in present else 1.0)
    return weights


def _weigh_terms(terms: Sequence[str], parsed: ParsedRequest, forms: Mapping[str, str]) -> dict[str, float]:
    """Compute the weight of each term: higher for terms that are rare in the texts, lower for words that say little."""
    texts = [section.text for section in parsed.delivered] + [hit.snippet for hit in parsed.hits]
    counts = dict.fromkeys(terms, 0)
    for text in texts:
        for term in {term for _, term in locate_terms(text, terms, forms)}:
            counts[term] += 1
    weights = {}
    for term, count in counts.items():
        factor = _UNSEEN_PAIR_WEIGHT if not count and is_unspaced(term) else 1.0
        factor = _EVERYDAY_VERB_WEIGHT if term in _EVERYDAY_VERBS else factor
        weights[term] = math.log(1 + (len(texts) + 1) / (count + 1)) * factor
    return weights


@dataclass(frozen=True, slots=True)
class _HeadingPart:
    """The sentences under one heading."""

    section: DeliveredSection
    path: tuple[str, ...]
    """Titles down to the heading."""
    sentences: list[Unit] = field(default_factory=list)


def _find_limiting_passage(
    section: DeliveredSection, passage: Passage, delivered: Sequence[DeliveredSection], terms: Sequence[str]
) -> tuple[DeliveredSection, Passage] | None:
    """Find a passage that limits `passage`, and its section, in the delivered sections.

    Its heading announces exceptions, and is next to or below the heading of `passage`. Of all passages under such a
    heading, the one with the sentence that shares the most terms with the question is chosen.
    """
    parts = [*_split_at_headings(section)]
    here = next(  # the path of the passage
        (part.path for part in parts if any(passage.start <= unit.start < passage.end for unit in part.sentences)),
        tuple(section.path.split(" > ")),
    )
    others = (other for other in delivered if other is section or LIMITS_HEADING.match(other.path.split(" > ")[-1]))
    nearby = [
        part
        for part in chain.from_iterable(map(_split_at_headings, others))
        if part.path[:-1] in (here, here[:-1]) and part.path != here and LIMITS_HEADING.match(part.path[-1])
    ]
    for part in sorted(nearby, key=lambda part: -len(part.path)):  # those below first
        text = part.section.text
        shared_counts = [
            len({term for _, term in locate_terms(text[unit.start : unit.end], terms)}) for unit in part.sentences
        ]
        most_shared = max(shared_counts, default=0)
        if shared_counts and (most_shared or len(part.path) > len(here)):
            found = find_passage(text, part.sentences[shared_counts.index(most_shared)].start)
            return (part.section, found) if found is not None else None
    return None


def _split_at_headings(section: DeliveredSection) -> Iterable[_HeadingPart]:
    *above, title = section.path.split(" > ")
    text, parts = section.text, [_HeadingPart(section, (*above, title))]
    levels: list[tuple[int, str]] = []  # level and title of the headings down to the current one
    for sentence in split_sentences(text):
        words = text[sentence.start : sentence.end]
        if sentence.kind is UnitKind.HEADING:
            line = text[text.rfind("\n", 0, sentence.start) + 1 : sentence.end].lstrip()
            level = len(line) - len(line.lstrip("#")) or 2
            levels = [*(upper for upper in levels if upper[0] < level), (level, words.strip("# "))]
            parts.append(_HeadingPart(section, (*above, *(title for _, title in levels))))
        elif sentence.kind is not UnitKind.TABLE_HEAD:
            parts[-1].sentences.append(sentence)
    return parts

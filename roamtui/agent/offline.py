"""Answers without a model: the passages of the document that hold most of a question, at most one of each section.

Search proposes sections. Their paragraphs are ranked by the words of the question, its synonyms and corrections. If no
passage holds enough of the question, and no title fits it, the answer is "Not found".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import itemgetter

from roamtui.agent.retrieval_context import list_history_texts
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.labels import WHOLE_TOKENS_MAX, format_path
from roamtui.outline.spans import split_pages
from roamtui.outline.structure import find_unread_pages, suggest_ids
from roamtui.search.base import Hit, Searcher
from roamtui.search.lexicon import Language, detect_language, get_implied_words, get_synonyms
from roamtui.search.passages import Passage, QuestionWords, find_passage, find_question_words, split_passages
from roamtui.search.query import has_pronoun, is_continuation
from roamtui.search.sentences import get_first_sentence, rank_sentences
from roamtui.search.terms import (
    extract_code_names,
    extract_query_terms,
    fold_term,
    is_unspaced,
    locate_terms,
    tokenise,
)

NOTICE = "(The offline model quotes passages; it does not reason. `--model`, or f2 in the app, chooses another.)"
"""End of the first answer in a conversation."""
NO_QUESTION = "Please ask a question about the document, in words that it may contain."
_HITS_MAX = 8
_PAGES_MAX = 3
_SECTIONS_MAX = 5
_SECTION_PASSAGES_MAX = 3
_CHAPTER_FACTOR = 0.9
_ANSWER_TOKENS_MAX = 1_100
"""Maximum tokens of all passages."""
_WIDENED_TOKENS_MAX = 900
"""Maximum tokens of passages with the paragraphs around them."""
_SCORE_SHARE_MIN = 0.4
"""A further passage has at least this share of the best score."""
_FOLLOW_UP_TERMS_MAX = 3
_EVIDENCE_MIN = 0.54
"""Minimum share of the question's subject in a passage that is an answer. It refuses 2.5 % of 563 answerable questions,
and 93 % of 400 about a document of another set."""
_CERTAIN_EVIDENCE = 0.75
"""With less evidence, synonyms of the question's words are searched for too."""
_CELL_SCORE_MIN = 0.42
"""Minimum score for a cell of a table, which has no room for a doubtful passage. On eight contracts that were not used
to choose this value, it raises "not found" from 15 to 56 % of the cells without a clause."""
_TITLE_FIT_MIN = 0.4
"""Minimum share of the question's subject in the titles of a section that is never "not found"."""
_ENGLISH_DOUBT = 0.4
"""Added to the weight of an English question, because half of two words is weaker evidence than half of six."""
_QUESTION_WEIGHT_MAX = 6.0
"""Maximum weight of a question. A long one tells a story, and a passage needs only a part of its terms."""
_SCORE_EVIDENCE_MAX = 0.2
"""Maximum evidence that the score of the best passage adds. It is higher if the words are close together."""
_NAME_WEIGHT = 2.0
"""Weight of a name or identifier as evidence. Other words have 1."""
_SYNONYM_EVIDENCE = 0.7
_NAME = re.compile(r"(?<=[\w,;:'\"`(] )[\"'`(]*([A-Z]\w*[a-z]\w*)")
"""A word with a capital letter inside an English sentence."""
_PASSAGE_BONUS, _SECTION_BONUS, _PATH_BONUS, _TITLE_BONUS = 0.5, 0.2, 0.6, 0.8
"""Added to the score of the best sentence if the passage, its section, the path alone, or the title has all words."""
_RANK_LOSS = 0.15
"""Loss of score per search rank."""
_SYNONYM_WEIGHT, _PRESENT_SYNONYM_WEIGHT = 0.5, 0.35
"""Weight of a synonym of a word that no section contains, and of one that a section contains."""
_UNSEEN_PAIR_WEIGHT = 0.2
"""Factor on the weight of a pair of characters, in a script without spaces, that no section contains. About half of the
pairs join two words, so their absence means little."""
_SENTENCES_MAX = 100
_TEXT_LENGTH_MAX = 200_000
"""Maximum length in characters of the text of a section that is looked at."""
_BESIDE_MAX = 50
"""Maximum number of sections beside a passage in which its exceptions are looked for."""
_LIMITING_TITLE = re.compile(
    r"[\W\d]*(?:exceptions?|exemptions?|exclusions?|restrictions?|ausnahmen?|excepciones)\b", re.IGNORECASE
)
"""A title that announces exceptions to the sections around it."""
_QUOTATION_MARKS = (("“", "”"), ("«", "»"), ("「", "」"), ("『", "』"), ("〝", "〟"))
"""A passage is put between the first pair that it does not contain, so that it is one quotation."""
_WITHOUT_QUOTES = str.maketrans(dict.fromkeys('"“”„«»「」『』〝〞〟＂', "'"))
_MARKUP = re.compile(r"[\[\]*_`<>|\\]")
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")
_FILE_NAME = re.compile(r"\S[^/]*\.[A-Za-z0-9]{1,8}")
"""The first title of a section in a folder. A passage names it, because files may have the same headings."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPassage:
    """The passage of a section that holds most of a question."""

    section_id: str
    span: Span
    score: float = 0.0
    terms: frozenset[str] = frozenset()
    """Words of the question in the passage and in the path of its section."""
    title_terms: frozenset[str] = frozenset()
    """The same in the title of the section and in the one above it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineSearch:
    """What was found for a question."""

    question: str
    hits: tuple[Hit, ...] = ()
    passages: tuple[FoundPassage, ...] = ()
    """The passages of the answer, best first. Empty if nothing holds enough of the question."""
    evidence: float = 0.0
    """Share of the question's subject in the best passage, from 0 to about 1."""


def find_passages(
    state: ConversationState, searcher: Searcher | None, *, needs_certainty: bool = False
) -> OfflineSearch:
    """Search for the passages that answer the current question.

    Args:
        state: The conversation with the question.
        searcher: Proposes sections. Without one, titles do.
        needs_certainty: Whether a doubtful passage is no answer, as in a cell of a table.

    Raises:
        RoamtuiError: The search failed.
    """
    exchange, library = state.transcript.exchanges[-1], state.library
    question, within = exchange.question, exchange.within
    terms = extract_query_terms(question)
    if not terms:
        return OfflineSearch(question=question)
    earlier = state.transcript.exchanges[:-1]
    query = question
    kept: tuple[str, ...] = ()
    if earlier and _is_follow_up(question):
        query = f"{question} {' '.join(extract_query_terms(earlier[-1].question))}"
        kept = tuple(section_id for section_id in state.open_ids if section_id in library)
    searched = [query, " ".join(get_synonyms(terms))]
    hits: tuple[Hit, ...] = ()
    ranks: dict[str, int] = {}
    found = OfflineSearch(question=question)
    for words in filter(None, searched if searcher is not None else ()):
        assert searcher is not None
        more = searcher.search(words, limit=_HITS_MAX, within=within, earlier=list_history_texts(earlier))
        hits += tuple(hit for hit in more if hit.section_id not in ranks)
        ranks = {hit.section_id: rank for rank, hit in enumerate(more)} | ranks
        sections = ranks | dict.fromkeys(kept, _HITS_MAX)
        found = replace(_choose_passages(library, question, sections, needs_certainty=needs_certainty), hits=hits)
        if found.evidence >= _CERTAIN_EVIDENCE:
            return found
    if searcher is None or (within is not None and not hits):
        proposed = suggest_ids(library, question) if within is None else (within,)
        sections = {section_id: rank for rank, section_id in enumerate((*proposed, *kept))}
        found = _choose_passages(library, question, sections, needs_certainty=needs_certainty)
    return found


def list_openable(library: Library, passages: Iterable[FoundPassage]) -> tuple[str, ...]:
    """List what to open so that the passages can be quoted: their sections, or pages of long ones."""
    wanted: dict[str, None] = {}
    for passage in passages:
        own = library.get_own_content_span(passage.section_id)
        pages = split_pages(library.text_at(own))
        if len(pages) == 1:
            wanted[passage.section_id] = None
            continue
        for number, (start, end) in enumerate(pages, start=1):
            if own.start + start < passage.span.end and passage.span.start < own.start + end:
                wanted[f"{passage.section_id}:{number}"] = None
    return tuple(wanted)


def list_unread_pages(library: Library, found: OfflineSearch) -> tuple[str, ...]:
    """List the pages to load before another search: those that were found by their titles, or else similar ones."""
    unread = tuple(hit.section_id for hit in found.hits if _is_unread(library, hit.section_id))[:_PAGES_MAX]
    if unread or found.evidence >= _EVIDENCE_MIN or not extract_query_terms(found.question):
        return unread
    return find_unread_pages(library, found.question)


def _is_unread(library: Library, section_id: str) -> bool:
    return not library.is_loaded(section_id) and not library.problem_of(section_id)


def write_answer(found: OfflineSearch, library: Library) -> str:
    """Write the passages with their titles and ids, or say that nothing was found."""
    terms = extract_query_terms(found.question)
    if not terms:
        return NO_QUESTION
    if not found.passages:
        looked = ", ".join(f"“{term}”" for term in terms[:6])
        return f"Not found: no passage that was read holds enough of this. Looked for {looked}."
    return "\n\n".join(_write_passage(passage, library) for passage in found.passages)


def _write_passage(passage: FoundPassage, library: Library) -> str:
    path = format_path(library, passage.section_id).split(" > ")
    words = library.clean_text(passage.span).strip()
    opening, closing = next(
        (pair for pair in _QUOTATION_MARKS if pair[0] not in words and pair[1] not in words), ('"', '"')
    )
    named = path[-2:] if len(path) < 3 or not _FILE_NAME.fullmatch(path[0]) else [path[0], *path[-2:]]
    titles = filter(None, (" ".join(_MARKUP.sub(" ", title).translate(_WITHOUT_QUOTES).split()) for title in named))
    # a list, a table or code needs lines of its own
    gap_before = "\n\n" if _STARTS_AS_BLOCK.match(words) else ""
    gap_after = "\n\n" if _STARTS_AS_BLOCK.match(words.rpartition("\n")[2]) else ""
    heading = " › ".join(titles)
    quote = f"{opening}{gap_before}{words}{gap_after}{closing} [{passage.section_id}]"
    return f"**{heading}**\n\n{quote}" if heading else quote


def _is_follow_up(question: str) -> bool:
    """Return whether a question refers to the previous one."""
    is_short = len(extract_query_terms(question)) <= _FOLLOW_UP_TERMS_MAX
    is_why = question.strip().lower().startswith("why")
    return is_why or is_continuation(question) or (is_short and has_pronoun(question))


def _choose_passages(
    library: Library, question: str, sections: Mapping[str, int], *, needs_certainty: bool
) -> OfflineSearch:
    """Choose the passages of an answer from `sections`, which have their ranks, and from those below them."""
    ranks: dict[str, int] = {}
    for section_id, rank in sections.items():
        for node_id in _list_nodes(library, section_id):
            ranks[node_id] = min(rank, ranks.get(node_id, rank))
    texts = {node_id: _read(library, node_id) for node_id in ranks}
    weighing = _Weighing(question, [f"{library.title_of(node_id)}\n{text}" for node_id, text in texts.items()])
    scored = (_score_section(library, node_id, texts[node_id], ranks[node_id], weighing) for node_id in ranks)
    ranked = sorted(chain.from_iterable(scored), key=lambda passage: -passage.score)
    best_score = ranked[0].score if ranked else 0.0
    chosen = _take_varied(library, ranked, best_score, weighing)
    bonus = _SCORE_EVIDENCE_MAX * min(1.0, best_score)
    evidence = max((weighing.compute_found_share(passage.terms) + bonus for passage in chosen), default=0.0)
    if needs_certainty and best_score < _CELL_SCORE_MIN:
        chosen = []
    elif evidence < _EVIDENCE_MIN:  # a section whose title fits the question is never "not found"
        fitting = [passage for passage in ranked if weighing.fits_title(passage.title_terms)][:1]
        chosen = _take_varied(library, fitting, best_score, weighing)
    return OfflineSearch(question=question, passages=tuple(chosen), evidence=evidence)


def _list_nodes(library: Library, section_id: str) -> Iterator[str]:
    """Yield a section and those below it, up to as many tokens as are opened at once."""
    room = WHOLE_TOKENS_MAX
    for node_id in library.walk(section_id):
        yield node_id
        room -= estimate_tokens(_read(library, node_id))
        if room <= 0:
            return


def _read(library: Library, section_id: str) -> str:
    """Return the own text of a section without page furniture, or the start of a very long one."""
    own = library.get_own_content_span(section_id)
    return library.clean_text(own.get_part(0, min(len(own), _TEXT_LENGTH_MAX)))


def _take_varied(
    library: Library, ranked: Sequence[FoundPassage], best_score: float, weighing: _Weighing
) -> list[FoundPassage]:
    """Take the best passages of up to five sections, each with its exception. Those of one section come together.

    Each section of a chapter that is taken lowers the score of the chapter's other sections.
    """
    taken: dict[str, list[FoundPassage]] = {}
    chapters: Counter[tuple[str, ...]] = Counter()
    room = _ANSWER_TOKENS_MAX
    left = [passage for passage in ranked if passage.score >= _SCORE_SHARE_MIN * best_score]

    def compute_score(passage: FoundPassage) -> float:
        is_taken = passage.section_id in taken
        return passage.score * (1 if is_taken else _CHAPTER_FACTOR ** chapters[_get_chapter(library, passage)])

    while left:
        best = max(left, key=compute_score)
        left.remove(best)
        for passage in (best, _find_limit(library, best, weighing)):
            if passage is None or (passage.section_id not in taken and len(taken) == _SECTIONS_MAX):
                continue
            tokens = estimate_tokens(library.text_at(passage.span))
            if (taken and tokens > room) or passage in taken.get(passage.section_id, ()):
                continue
            room -= tokens
            if passage.section_id not in taken:
                chapters[_get_chapter(library, passage)] += 1
            taken.setdefault(passage.section_id, []).append(passage)
    together = [passage for passages in taken.values() for passage in passages]
    widened: list[FoundPassage] = []
    room -= _ANSWER_TOKENS_MAX - _WIDENED_TOKENS_MAX
    for passage in together:  # a short answer has room for the paragraphs around it
        if not any(_covers(other, passage) for other in widened):
            widened.append(_widen(library, passage, together, room))
            room -= estimate_tokens(library.text_at(widened[-1].span)) - estimate_tokens(library.text_at(passage.span))
    return widened


def _get_chapter(library: Library, passage: FoundPassage) -> tuple[str, ...]:
    return library.node(passage.section_id).path[:-1]


def _covers(passage: FoundPassage, other: FoundPassage) -> bool:
    span, inner = passage.span, other.span
    return span.doc == inner.doc and span.start <= inner.start and inner.end <= span.end


def _widen(library: Library, passage: FoundPassage, taken: Sequence[FoundPassage], room_tokens: int) -> FoundPassage:
    """Add the neighbouring paragraphs of a section as long as there is room, those below first."""
    own, text = library.get_own_content_span(passage.section_id), _read(library, passage.section_id)
    start, end = passage.span.start - own.start, passage.span.end - own.start
    known = [(one.span.start - own.start, one.span.end - own.start) for one in taken if one.span.doc == own.doc]
    others = split_passages(text)
    for other in (
        *(other for other in others if other.start >= end),
        *(other for other in reversed(others) if other.end <= start),
    ):
        low, high = min(start, other.start), max(end, other.end)
        is_next = not text[min(end, other.end) : max(start, other.start)].strip()
        is_taken = (other.start, other.end) in known
        tokens = 0 if is_taken else estimate_tokens(text[low:start] + text[end:high])
        if is_next and tokens <= room_tokens:
            start, end, room_tokens = low, high, room_tokens - tokens
    return replace(passage, span=own.get_part(start, end))


def _find_limit(library: Library, passage: FoundPassage, weighing: _Weighing) -> FoundPassage | None:
    """Find the passage of a section below or beside a passage whose title announces exceptions."""
    above = library.parent(passage.section_id)
    beside = library.children(above) if above is not None else ()
    for section_id in (*library.children(passage.section_id)[:_BESIDE_MAX], *beside[:_BESIDE_MAX]):
        if section_id != passage.section_id and _LIMITING_TITLE.match(library.title_of(section_id)):
            return next(_score_section(library, section_id, _read(library, section_id), 0, weighing), None)
    return None


class _Weighing:
    """How much the words of a question, their synonyms and corrections count: in scores, and as evidence."""

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        self.terms = extract_query_terms(question)
        self._words: QuestionWords = find_question_words(question, texts)
        self._term_by_related: dict[str, str] = {}
        language = detect_language(tokenise(question))
        self.weights = self._weigh_terms(texts)
        self.total = sum(self.weights.values())
        for term in self.terms:
            factor = _PRESENT_SYNONYM_WEIGHT if term in self._words.present else _SYNONYM_WEIGHT
            for word in sorted(self._words.get_others(term) - {*self.terms}):
                self.weights[word], self._term_by_related[word] = factor * self.weights[term], term
        implied = {word for word in get_implied_words(question) if "_" not in word} - self.weights.keys()
        self._implied = frozenset(implied)
        self.weights |= dict.fromkeys(sorted(implied), _SYNONYM_WEIGHT * self.total / max(1, len(self.terms)))
        self._evidence = self._weigh_evidence(question, language)
        # fewer forms of words are known in other languages
        self._doubt = _ENGLISH_DOUBT if language is Language.ENGLISH else 0.0

    @property
    def forms(self) -> Mapping[str, str]:
        """The term of each inflected form."""
        return self._words.forms

    def locate(self, text: str) -> list[tuple[int, str]]:
        """Return the offset of each word of the question in a text, and the word, in order."""
        return locate_terms(text, tuple(self.weights), self.forms)

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that some words have. Of each term, only the best word counts."""
        best: dict[str, float] = {}
        for word in words:
            term = self._term_by_related.get(word, word)
            best[term] = max(best.get(term, 0.0), self.weights[word])
        return sum(best.values()) / self.total

    def compute_found_share(self, terms: frozenset[str]) -> float:
        """Return the share of the question's subject that some of its terms and their synonyms are evidence of."""
        found = 0.0
        for term, weight in self._evidence.items():
            if term in terms or not terms.isdisjoint(self._words.corrections.get(term, ())):
                found += weight
            elif not terms.isdisjoint(self._words.synonyms[term]):
                found += _SYNONYM_EVIDENCE * weight
        return min(1.0, found / (min(sum(self._evidence.values()), _QUESTION_WEIGHT_MAX) + self._doubt))

    def fits_title(self, title_terms: frozenset[str]) -> bool:
        """Return whether a title with these terms is about the question."""
        has_implied = not title_terms.isdisjoint(self._implied)
        return has_implied or self.compute_found_share(title_terms) >= _TITLE_FIT_MIN

    def _weigh_terms(self, texts: Sequence[str]) -> dict[str, float]:
        """Weigh each term: more if it is rare in the texts."""
        found = [{term for _, term in locate_terms(text, self.terms, self.forms)} for text in texts]
        weights = {}
        for term in self.terms:
            count = sum(term in terms for terms in found)
            factor = _UNSEEN_PAIR_WEIGHT if not count and is_unspaced(term) else 1.0
            weights[term] = math.log(1 + (len(texts) + 1) / (count + 1)) * factor
        return weights

    def _weigh_evidence(self, question: str, language: Language) -> dict[str, float]:
        """Weigh each term as evidence: more for names."""
        names = extract_code_names(question)
        if language is Language.ENGLISH:  # in other languages, words that are not names have capital letters too
            names |= {fold_term(name) for name in _NAME.findall(question)}
        weights = {}
        for term in self.terms:
            weight = _NAME_WEIGHT if term in names else 1.0
            is_unseen_pair = is_unspaced(term) and term not in self._words.present
            weights[term] = weight * (_UNSEEN_PAIR_WEIGHT if is_unseen_pair else 1.0)
        return weights


def _score_section(
    library: Library, section_id: str, text: str, rank: int, weighing: _Weighing
) -> Iterator[FoundPassage]:
    """Yield the best passages of a section's own text, best first, or its first one if none has a word of the question.

    A passage has the score of its best sentence, and bonuses for the words of the question in the whole passage, in the
    path of its section, in the whole section, and in its title.
    """
    path = library.node(section_id).path
    words_of_path = frozenset(word for _, word in weighing.locate(" > ".join(path)))
    title = path[-1] if path else ""
    title_words = frozenset(word for _, word in weighing.locate(title))
    occurrences = weighing.locate(text)
    section_bonus = _SECTION_BONUS * weighing.compute_share(words_of_path.union(word for _, word in occurrences))
    title_share = len(title_words) / max(1, len(extract_query_terms(title)))
    title_bonus = _TITLE_BONUS * title_share * sum(map(weighing.weights.__getitem__, title_words)) / weighing.total
    sentences: dict[Passage, float] = {}
    ranked = rank_sentences(
        text, tuple(weighing.weights), limit=_SENTENCES_MAX, idf=weighing.weights, forms=weighing.forms
    )
    for sentence in ranked:
        if (passage := find_passage(text, sentence.start)) is not None:
            sentences.setdefault(passage, sentence.score)
    if not sentences and (opening := get_first_sentence(text)) is not None:
        passage = find_passage(text, opening.start)
        sentences = {} if passage is None else {passage: 0.0}
    scored: list[tuple[float, Passage, frozenset[str]]] = []
    for passage, sentence_score in sentences.items():
        words = frozenset(word for offset, word in occurrences if passage.start <= offset < passage.end)
        path_weight = sum(weighing.weights[word] for word in words_of_path - words)
        score = sentence_score + _PASSAGE_BONUS * weighing.compute_share(words)
        score += _PATH_BONUS * path_weight / weighing.total + section_bonus + title_bonus
        scored.append((score / (1 + _RANK_LOSS * rank), passage, words | words_of_path))
    own = library.get_own_content_span(section_id)
    title_terms = frozenset(word for _, word in weighing.locate(" > ".join(path[-2:])))
    for score, passage, terms in sorted(scored, key=itemgetter(0), reverse=True)[:_SECTION_PASSAGES_MAX]:
        span = own.get_part(passage.start, passage.end)
        yield FoundPassage(section_id=section_id, span=span, score=score, terms=terms, title_terms=title_terms)

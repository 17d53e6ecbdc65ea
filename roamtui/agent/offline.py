"""Answers without a model: the passages of the document that hold most of a question.

Search proposes sections. Their paragraphs are ranked by the words of the question, its synonyms and corrections. If no
passage holds enough of the question, the answer is "Not found", with the nearest passages.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import groupby
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.retrieval_context import complete_follow_up, make_search_event, search_question
from roamtui.agent.tools import ToolContext, expand
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import AnswerStreamed, Citation, QuoteState, Step, StepRecorded, ToolCall, ToolUse
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.document.text import Span, estimate_tokens, split_pages
from roamtui.errors import RoamtuiError
from roamtui.outline.labels import WHOLE_TOKENS_MAX, format_path
from roamtui.outline.structure import find_unread_pages
from roamtui.quotes.verdicts import make_citation, strip_links
from roamtui.search.base import Hit, Searcher
from roamtui.search.lexicon import STOP_WORDS_BY_LANGUAGE, Language, get_implied_words
from roamtui.search.passages import (
    find_passage,
    find_question_words,
    find_related_words,
    get_first_sentence,
    rank_sentences,
    split_passages,
)
from roamtui.search.terms import TermMatcher, extract_code_names, extract_query_terms, fold_term, is_unspaced

_ROOM_TOKENS = 30_000
"""Maximum number of tokens of sections to open, which no model reads."""
_HITS_MAX = 8
_PAGES_MAX = 3
_SECTIONS_MAX = 5
_SECTION_PASSAGES_MAX = 3
_ANSWER_TOKENS_MAX = 1_100
"""Maximum tokens of all passages, with the paragraphs around them."""
_CARD_TOKENS = 400
"""A shorter passage comes with the paragraphs around it, up to so many tokens."""
_SCORE_SHARE_MIN = 0.25
"""A further section, or passage of a section, has at least this share of the best score."""
_EVIDENCE_MIN = 0.35
"""Minimum share of the question's subject in a passage that is an answer. It refuses 5 % of 282 answerable questions,
and 90 % of 242 about a document of another set."""
_NEAREST_EVIDENCE_MIN = 0.25
"""The same for a passage that is shown as one of the nearest below "not found"."""
_NEAREST_MAX = 3
_CELL_SCORE_MIN = 0.42
"""Minimum score for a cell of a table, which has no room for a doubtful passage. Of 544 cells of 16 contracts,
it leaves 54 % of those without a clause empty, and 34 % of the others."""
_ENGLISH_DOUBT = 4.0
"""Added to the weight of an English question, because half of two words is weaker evidence than half of six. Fewer
forms of words are known in other languages."""
_QUESTION_WEIGHT_MAX = 16.0
"""Maximum weight of a question. A long one tells a story, and a passage needs only a part of its terms."""
_SCORE_EVIDENCE_MAX = 0.4
"""Maximum evidence that the score of the best passage adds."""
_NAME_WEIGHT = 2.0
"""Factor on the weight of a name or identifier as evidence."""
_NAME = re.compile(r"(?<=[\w,;:'\"`(] )[\"'`(]*([A-Z]\w*[a-z]\w*)")
"""A word with a capital letter inside an English sentence."""
_PASSAGE_BONUS, _PATH_BONUS = 0.5, 0.6
"""Added to the score of the best sentence if the passage, or the path alone, has all words."""
_RANK_LOSS, _CHAPTER_LOSS = 0.3, 0.15
"""Loss of a section for each better hit of the search, and for each better section of its chapter. The best has 2.
A financial statement that the question names has 1 more, so that it comes first."""
_SYNONYM_WEIGHT = 0.5
"""Weight of a synonym. The word itself has 1."""
_UNSEEN_PAIR_WEIGHT = 0.2
"""Factor on the weight of a pair of characters, in a script without spaces, that no section contains. About half of the
pairs join two words, so their absence means little."""
_SENTENCES_MAX = 100
_TEXT_LENGTH_MAX = 200_000
"""Maximum length in characters of the text of a section that is looked at."""
_MARKUP = re.compile(r"[\[\]*_`<>|\\\"“”„«»「」『』〝〞〟＂]")
"""Characters of a title or statement that Markdown, or the reader of quotes, would take for something else."""
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")


class FoundPassage(Struct, frozen=True, kw_only=True):
    """The passage of a section that holds most of a question."""

    section_id: str
    span: Span
    score: float
    terms: frozenset[str]
    """Words of the question in the passage and in the path of its section."""


async def read_offline(
    conversation: Conversation, searcher: Searcher | None, *, needs_certainty: bool
) -> tuple[str, tuple[Citation, ...]]:
    """Answer the current question without a model.

    Open the sections of the best passages, by the calls of a model, and quote these.

    Args:
        conversation: The conversation with the question.
        searcher: Proposes sections. Without one, and if it fails, nothing is found.
        needs_certainty: Whether a doubtful passage is no answer, as in a cell of a table.

    Returns:
        The answer, and a citation of each passage.
    """
    question, is_answer = complete_follow_up(conversation.state.exchanges), False
    passages: Sequence[FoundPassage] = ()
    for number, may_load in enumerate((True, False), start=1):
        state = conversation.state
        if searcher is not None:
            searcher.refresh(state.library)
        hits, passages, is_answer = await asyncio.to_thread(
            _find_passages, state, question, searcher, needs_certainty=needs_certainty
        )
        if hits:
            conversation.apply_unsaved(make_search_event(state.library, question, hits))
        pages: tuple[str, ...] = ()
        if may_load:
            pages = await asyncio.to_thread(_list_unread_pages, state.library, question, hits, is_answer=is_answer)
        if opened := pages or _list_openable(state.library, passages):
            arguments = {"section_ids": [*opened]}
            context = ToolContext(conversation=conversation, searcher=searcher, room_tokens=_ROOM_TOKENS)
            response = await expand.TOOL.run(arguments, context)
            conversation.publish(response.make_event(expand.NAME))
            call = ToolCall(id=f"offline_{number}", name=expand.NAME, arguments=json.dumps(arguments))
            step = Step(text="", uses=(ToolUse(call=call, result=response.text),))
            await conversation.apply((StepRecorded(step=step),))
        if not pages:
            break
    lead = ""
    if not is_answer:
        looked = ", ".join(f"“{term}”" for term in extract_query_terms(question)[:6]) or "nothing: it has no words"
        reason = f"no passage has enough words of the question. Looked for {looked}."
        lead = f"Not found: {reason if len(conversation.state.library) else 'the document is empty.'}"
    answer, citations = _write_passages(question, passages, conversation.state.library, lead)
    conversation.publish(AnswerStreamed(text=answer))
    return answer, citations


def _find_passages(
    state: ConversationState, question: str, searcher: Searcher | None, *, needs_certainty: bool
) -> tuple[tuple[Hit, ...], Sequence[FoundPassage], bool]:
    """Return the hits of a search for a question, their best passages, and whether these answer it."""
    if searcher is None or not extract_query_terms(question):
        return (), (), False
    hits: tuple[Hit, ...] = ()
    with suppress(RoamtuiError):  # an embedder may fail
        hits = search_question(searcher, state.exchanges, question, limit=_HITS_MAX)
    return hits, *_choose_passages(state.library, question, hits, needs_certainty=needs_certainty)


def _list_openable(library: Library, passages: Iterable[FoundPassage]) -> tuple[str, ...]:
    """List what to open so that the passages can be quoted: their sections, or pages of long ones."""
    wanted: list[str] = []
    for passage in passages:
        if library.node(passage.section_id).problem:  # the page of a link was just asked for in vain
            continue
        own = library.node(passage.section_id).own_content_span
        pages = split_pages(library.text_at(own))
        for number, (start, end) in enumerate(pages, start=1):
            if own.get_part(start, end).overlaps(passage.span):
                wanted.append(f"{passage.section_id}:{number}" if len(pages) > 1 else passage.section_id)
    return tuple(wanted)


def _list_unread_pages(library: Library, question: str, hits: Sequence[Hit], *, is_answer: bool) -> tuple[str, ...]:
    """List the pages to load before another search: those that were found by their titles, or else similar ones."""
    ids = (hit.section_id for hit in hits if not library.node(hit.section_id).is_loaded)
    unread = tuple(section_id for section_id in ids if not library.node(section_id).problem)
    if unread or is_answer or not extract_query_terms(question):
        return unread[:_PAGES_MAX]
    return find_unread_pages(library, question)


def _write_passages(
    question: str, passages: Sequence[FoundPassage], library: Library, lead: str
) -> tuple[str, tuple[Citation, ...]]:
    """Write passages with their titles and ids, below a sentence if there is one, and cite each."""
    blocks, citations = [lead] if lead else [], list[Citation]()
    for section_id, found in groupby(passages, key=attrgetter("section_id")):
        spans = sorted((passage.span for passage in found), key=attrgetter("start"))
        texts = [library.clean_text(span).strip() for span in spans]
        titles = map(_strip_markup, format_path(library, section_id).split(" > ")[-2:])
        statement = find_statement(question, texts)
        blocks.append(f"**{' › '.join(filter(None, titles))}**")
        if not _strip_markup(texts[0]).startswith(statement):
            blocks.append(f"> {statement}")
        for text, span in zip(texts, spans, strict=True):
            # a list, a table or code needs lines of its own
            is_block = _STARTS_AS_BLOCK.match(text) or _STARTS_AS_BLOCK.match(text.rpartition("\n")[2])
            quote, gap = (text, "\n\n") if is_block else (f"“{text}”", " ")
            start = sum(len(block) + 2 for block in blocks)
            end = start + len(quote)
            blocks.append(f"{quote}{gap}[{section_id}]")
            first = library.clean_text(span).index(text)
            cited = span.get_part(first, first + len(text))
            citation = make_citation(section_id, text, QuoteState.FOUND, cited, library)
            citations.append(replace(citation, start=start, end=end, marks=(end + len(gap),)))
    return "\n\n".join(blocks), tuple(citations)


def _strip_markup(text: str) -> str:
    return sanitise_line(_MARKUP.sub(" ", strip_links(text))).lstrip("-+#: ")


def find_statement(question: str, passages: Sequence[str]) -> str:
    """Return the sentence or row of passages that is likeliest to answer a question, without markup.

    It is empty if the passages have nothing else, or if what answers follows their likeliest sentence.
    """
    text = "\n\n".join(passages)
    ranked = rank_sentences(text, find_question_words(question, [text]), limit=1)
    statement = _strip_markup(text[ranked[0].start : ranked[0].end]) if ranked else ""
    return "" if statement.endswith(":") or statement == _strip_markup(text) else statement


def _choose_passages(
    library: Library, question: str, hits: Sequence[Hit], *, needs_certainty: bool
) -> tuple[Sequence[FoundPassage], bool]:
    """Choose passages of the sections that search found, and of those below them. Return whether they answer, too.

    If they do not, they are at most the nearest ones. None is near enough for a cell of a table.
    """
    marks: dict[str, float] = {}
    texts: dict[str, str] = {}
    for rank, hit in enumerate(hits):
        room = WHOLE_TOKENS_MAX
        for node_id in library.walk(hit.section_id):
            marks.setdefault(node_id, hit.is_named + hit.score / hits[0].score / (1 + _RANK_LOSS * rank))
            own = library.node(node_id).own_content_span
            texts[node_id] = library.clean_text(own.get_part(0, min(own.end - own.start, _TEXT_LENGTH_MAX)))
            room -= estimate_tokens(texts[node_id])
            if room <= 0:
                break
    weighing = _Weighing(question, [f"{library.node(node_id).title}\n{text}" for node_id, text in texts.items()])
    ranked = {node_id: _rank_passages(library, node_id, text, weighing) for node_id, text in texts.items()}
    best_score = max((passage.score for passages in ranked.values() for passage in passages), default=0.0)
    chosen: list[FoundPassage] = []
    room = _ANSWER_TOKENS_MAX
    marks = {one: marks[one] + ranked[one][0].score / (best_score or 1.0) for one in ranked if ranked[one]}
    for section_id in _order_sections(library, marks):
        for passage in ranked[section_id]:
            tokens = estimate_tokens(library.text_at(passage.span))
            shown = [one.span for one in chosen if one.section_id == section_id]
            is_shown = any(map(passage.span.overlaps, shown))
            is_good = tokens <= room and passage.score >= _SCORE_SHARE_MIN * ranked[section_id][0].score
            if not chosen or (is_good and not is_shown):
                chosen.append(_widen(library, passage, texts[section_id], min(room, _CARD_TOKENS), shown))
                room -= estimate_tokens(library.text_at(chosen[-1].span))
    evidence = max((weighing.compute_evidence(passage.terms) for passage in chosen), default=0.0)
    evidence += _SCORE_EVIDENCE_MAX * min(1.0, best_score)
    if evidence >= _EVIDENCE_MIN and not weighing.is_vague and (not needs_certainty or best_score >= _CELL_SCORE_MIN):
        return chosen[:1] if needs_certainty else chosen, True
    return chosen[:_NEAREST_MAX] if evidence >= _NEAREST_EVIDENCE_MIN and not needs_certainty else (), False


def _order_sections(library: Library, marks: dict[str, float]) -> list[str]:
    """Return the ids of up to five sections, best first. Of a chapter, each loses by the better ones before it."""
    best_ids = sorted(marks, key=marks.__getitem__, reverse=True)[:_SECTIONS_MAX]
    parents = [library.node(section_id).parent for section_id in best_ids]
    for index, section_id in enumerate(best_ids):
        marks[section_id] -= _CHAPTER_LOSS * parents[:index].count(parents[index])
    good_ids = [one for one in best_ids if marks[one] >= _SCORE_SHARE_MIN * marks[best_ids[0]]]
    return sorted(good_ids, key=marks.__getitem__, reverse=True)


def _widen(library: Library, passage: FoundPassage, text: str, room: int, shown: Sequence[Span]) -> FoundPassage:
    """Widen a passage by paragraphs of `text` that are not `shown`, up to `room` tokens in all, those below first."""
    own, span = library.node(passage.section_id).own_content_span, passage.span
    others = [own.get_part(*bounds) for bounds in split_passages(text)]
    below, above = [one for one in others if one.start >= span.end], [one for one in others if one.end <= span.start]
    for other in (*below, *reversed(above)):
        wider = replace(span, start=min(span.start, other.start), end=max(span.end, other.end))
        if estimate_tokens(library.text_at(wider)) <= room and not any(map(wider.overlaps, shown)):
            span = wider
    return replace(passage, span=span)


class _Weighing:
    """How much the words of a question, their synonyms and corrections count: in scores, and as evidence."""

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        matcher = TermMatcher.for_question(question)
        terms = matcher.terms
        counts = Counter(term for text in texts for term in {term for *_, term in matcher.locate(text)})
        self._related = find_related_words(matcher, texts, present=counts.keys())
        factors = {term: _UNSEEN_PAIR_WEIGHT if is_unspaced(term) and not counts[term] else 1.0 for term in terms}
        self.weights = {term: math.log(1 + (len(texts) + 1) / (counts[term] + 1)) * factors[term] for term in terms}
        """Weight of each term, synonym and correction: higher if the term is rare in the texts."""
        self.total = sum(self.weights.values())
        self.is_vague = STOP_WORDS_BY_LANGUAGE[matcher.language].issuperset(terms)
        for term in terms:
            for word in sorted(self._related[term] - {*terms}):
                self.weights[word] = _SYNONYM_WEIGHT * self.weights[term]
        implied = {word for word in get_implied_words(question) if "_" not in word} - self.weights.keys()
        self.weights |= dict.fromkeys(sorted(implied), _SYNONYM_WEIGHT * self.total / len(terms))
        self.matcher = TermMatcher(self.weights, matcher.language)
        """Finds all these words."""
        is_english = matcher.language is Language.ENGLISH
        names = extract_code_names(question)
        if is_english:  # in other languages, words that are not names have capital letters too
            names |= {fold_term(name) for name in _NAME.findall(question)}
        self._evidence = {term: self.weights[term] * (_NAME_WEIGHT if term in names else 1) for term in terms}
        self._evidence_total = min(sum(self._evidence.values()), _QUESTION_WEIGHT_MAX) + is_english * _ENGLISH_DOUBT

    def compute_share(self, words: Iterable[str]) -> float:
        """Return the share of the question's weight that some words have."""
        return min(1.0, sum(map(self.weights.__getitem__, words)) / self.total)

    def compute_evidence(self, words: frozenset[str]) -> float:
        """Return the share of the question's subject that some of its terms and their synonyms are evidence of."""
        found = (term for term in self._evidence if term in words or not words.isdisjoint(self._related[term]))
        return sum(map(self._evidence.__getitem__, found)) / self._evidence_total


def _rank_passages(library: Library, section_id: str, text: str, weighing: _Weighing) -> list[FoundPassage]:
    """Return the best passages of a section's own text, or its first one if none has a word of the question.

    A passage has the score of its best sentence, and bonuses for the words of the question in the whole passage and in
    the path of its section.
    """
    words_of_path = frozenset(word for *_, word in weighing.matcher.locate(" > ".join(library.node(section_id).path)))
    occurrences = weighing.matcher.locate(text)
    sentences: dict[tuple[int, int], float] = {}
    for sentence in rank_sentences(text, weighing.matcher, limit=_SENTENCES_MAX, weights=weighing.weights):
        if (passage := find_passage(text, sentence.start)) is not None:
            sentences.setdefault(passage, sentence.score)
    if not sentences and (opening := get_first_sentence(text)) is not None:
        passage = find_passage(text, opening.start)
        sentences = {} if passage is None else {passage: 0.0}
    own = library.node(section_id).own_content_span
    ranked: list[FoundPassage] = []
    for (start, end), sentence_score in sentences.items():
        words = frozenset(word for offset, _, word in occurrences if start <= offset < end)
        score = sentence_score + _PASSAGE_BONUS * weighing.compute_share(words)
        score += _PATH_BONUS * weighing.compute_share(words_of_path - words)
        span = own.get_part(start, end)
        ranked.append(FoundPassage(section_id=section_id, span=span, score=score, terms=words | words_of_path))
    return sorted(ranked, key=attrgetter("score"), reverse=True)[:_SECTION_PASSAGES_MAX]

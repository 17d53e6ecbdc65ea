"""Answers without a model: shows the passages of the document that are nearest to a question.

Search proposes sections. The outcome is either the nearest passages, or "Not found" without a passage. Only
a person can tell whether a passage answers, so each one says which words of the question it has. A first
passage with all these words answers no more often than others: 28 of 48 did, and 90 of 161 others.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from roamtui.agent.answer_basis import measure_basis
from roamtui.agent.cards import PassageCard, list_cards
from roamtui.agent.first_request import list_history_texts, make_search_event
from roamtui.agent.tools import ToolContext, expand
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    QuestionAnswered,
    QuestionAsked,
    Step,
    StepRecorded,
    StopReason,
    ToolUse,
)
from roamtui.conversation.log import get_time
from roamtui.conversation.messages import OFFLINE, ToolCall
from roamtui.conversation.question_flow import start_question
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import PromptContext
from roamtui.conversation.update import AskOptions
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, UsageError
from roamtui.markdown.escaping import escape_inline, escape_line_starts
from roamtui.markdown.passages import find_code
from roamtui.markdown.units import read_visible_line
from roamtui.outline.coverage import format_absence, measure_coverage
from roamtui.outline.delivered import PART_TOKENS
from roamtui.outline.labels import PATH_STEP, split_titles
from roamtui.parallel import call_in_thread
from roamtui.quotes.read import replace_verdict_marks
from roamtui.quotes.verdicts import make_citation
from roamtui.retrieval.absent import (
    expand_abbreviations,
    find_similar_words,
    format_absence_clause,
    leave_out_subject,
    list_absent_words,
)
from roamtui.retrieval.best_passages import FoundPassage, choose_passages, list_all_passages, list_found_words
from roamtui.retrieval.question_search import is_follow_up, list_readings
from roamtui.sanitiser import sanitise_line
from roamtui.search.base import Hit
from roamtui.search.searcher import Searcher
from roamtui.search.terms import extract_query_terms
from roamtui.text import shorten, split_parts

_ROOM_TOKENS = 30_000
"""Maximum number of tokens of section text to open. No model reads it."""
_HITS_MAX = 20
_PLACES_MAX = 3
"""Maximum number of sections that are named below "Not found"."""
_QUERY_LENGTH_MAX = 100
"""Maximum number of characters to show of a query. Its first question may be a pasted page."""
_NO_SEARCH = "Search is off. Set --mode to keyword, vector or hybrid, or choose a model."
_NEAREST = "These are the nearest passages."
_NEAREST_BY_WORDS = "These are the nearest passages, by words alone."
_NOT_CLOSE = "These are the nearest passages, but none matches closely."
_WHOLE = "None matches closely: these are all passages of the document."
_BELOW_ANSWER = "(These passages of the document are the nearest to the question.)"
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")


class _Found(Struct, frozen=True, kw_only=True):
    """What search finds for a question."""

    question: str
    """The question with its abbreviations expanded, perhaps without the name of the document's subject."""
    query: str
    """What was searched: the question, perhaps after the question before it."""
    hits: tuple[Hit, ...] = ()
    passages: Sequence[FoundPassage] = ()
    """The best passages of the hits, or all passages of the document."""
    is_whole: bool = False
    """Whether nothing is near the question, and these are all passages of a short document."""


async def answer_offline(
    conversation: Conversation, searcher: Searcher | None, question: str, options: AskOptions
) -> QuestionAnswered:
    """Begin a question, and open the sections of the best passages. The outcome quotes these passages.

    Raise `RoamtuiError` if the document cannot be searched.
    """
    asked = QuestionAsked(
        question=question,
        within=options.within,
        model=OFFLINE,
        server="",
        asked_at=get_time(),
        is_one_shot=options.is_one_shot,
    )
    context = PromptContext(system="", outline="", model=OFFLINE)  # no model reads it
    await conversation.apply(*start_question(conversation.state, options, asked, context))
    if searcher is None:
        raise UsageError(f"Nothing was searched. {_NO_SEARCH}")
    state = conversation.state
    try:
        found = await call_in_thread(_find_passages, state, searcher)
    except RoamtuiError as error:
        raise RoamtuiError(f"Nothing was searched. {error}") from error
    if found.hits:  # they count as results only if they have a passage
        hits = found.hits if found.passages else ()
        conversation.apply_unsaved(make_search_event(state.library, found.query, hits))
    if opened := _list_openable(state.library, found.passages):
        await _open_sections(conversation, searcher, opened)
    state = conversation.state
    cards = list_cards(found.query, _cite_passages(found.passages, state.library), state.library)
    lead, stopped = await asyncio.to_thread(_write_lead, state, found, cards, searcher)
    text, citations = _write_cards(cards, state.library, lead)
    conversation.publish(AnswerStreamed(text=text))
    return QuestionAnswered(
        answer=text,
        expanded_question=found.query,
        stopped=stopped,
        citations=citations,
        step_count=len(state.exchanges[-1].steps),
        basis=await asyncio.to_thread(measure_basis, state, citations),
    )


async def add_passages(
    outcome: QuestionAnswered, state: ConversationState, searcher: Searcher | None
) -> QuestionAnswered:
    """Add the nearest passages if a small model gave no answer, or one without a source in the text."""
    is_over = outcome.stopped in (StopReason.ANSWERED, StopReason.NOT_FOUND, StopReason.ERROR)
    if searcher is None or not is_over or any(citation.span for citation in outcome.citations):
        return outcome
    try:
        found = await call_in_thread(_find_passages, state, searcher)
    except RoamtuiError:
        return outcome
    if not found.passages:
        return outcome
    own = outcome.answer[: outcome.own_length]
    lead = f"{own}\n\n{_BELOW_ANSWER}".lstrip()
    cited = _cite_passages(found.passages, state.library)
    text, placed = _write_cards(list_cards(found.query, cited, state.library), state.library, lead)
    sources = tuple(replace(passage, quote=None, state=QuoteState.PASSAGE) for passage in placed)
    return replace(
        outcome,
        answer=text,
        own_length=len(own),
        citations=(*outcome.citations, *sources),
        stopped=outcome.stopped if own else StopReason.NEAREST,
        error="",
    )


async def _open_sections(conversation: Conversation, searcher: Searcher, section_ids: Sequence[str]) -> None:
    """Open sections with a tool call, as a model would."""
    arguments = {"section_ids": [*section_ids]}
    context = ToolContext(conversation=conversation, searcher=searcher, room_tokens=_ROOM_TOKENS)
    response = await expand.TOOL.run(arguments, context)
    conversation.publish(replace(response.event, tool=expand.TOOL.spec.name))
    call = ToolCall(id="offline_1", name=expand.TOOL.spec.name, arguments=json.dumps(arguments))
    step = Step(text="", uses=(ToolUse(call=call, result=response.text),))
    await conversation.apply(StepRecorded(step=step))


def _write_lead(
    state: ConversationState, found: _Found, cards: Sequence[PassageCard], searcher: Searcher
) -> tuple[str, StopReason]:
    """Write the text above the cards: the passages are only the nearest, or nothing was found.

    The text also names the words of the question that are nowhere. It says that nothing is near only if all
    sections were compared by meaning, and none of the best has a word of the question. If nothing was found,
    it names sections that have such a word, and words that are similar to mistyped ones, because only a
    person can tell what was meant.
    """
    library = state.library
    clause = format_absence_clause(list_absent_words(found.question, library))
    compared = searcher.vector_coverage
    if cards:
        absence = format_absence(measure_coverage(library), clause) if clause else ""
        has_near = cards[0].has_all or any(passage.is_near for passage in found.passages)
        is_close = has_near and not found.is_whole
        stopped = StopReason.NEAREST if is_close else StopReason.NONE_CLOSE
        lead = _NEAREST if is_close else _NOT_CLOSE
        if found.is_whole:
            lead = _WHOLE
        elif is_close and all(passage.similarity is None for passage in found.passages):
            lead = _NEAREST_BY_WORDS
        lead = f"{lead} {absence}".rstrip()
    else:
        coverage = measure_coverage(library, state.exchanges[-1].within)
        has_vectors = compared.is_complete and compared.total > 0
        is_compared = has_vectors and searcher.knows_language_of(found.query)
        places = "; ".join(_list_places_of_words(found.question, found.hits, library))
        is_far = is_compared and not places
        nothing = "nothing near the question was" if is_far else "too few words of the question were"
        stopped = StopReason.NOT_FOUND
        lead = f"Not found: {format_absence(coverage, f'{nothing} found', clause)}"
        if places:
            lead = f"{lead} Some of its words were found: {places}."
        similar = find_similar_words(found.question, library).items()
        if typed := ", ".join(f"“{other}” for “{word}”" for word, other in similar):
            lead = f"{lead} Similar words were found: {typed}."
    if found.query != found.question:
        query = shorten(sanitise_line(found.query), _QUERY_LENGTH_MAX)
        lead = f"{lead} Searched with the question before: “{query}”."
    if not compared.is_complete:
        part = f"Only {compared.share} were compared by meaning so far."
        lead = f"{lead} {part} `roamtui index` compares all."
    return lead, stopped


def _list_places_of_words(question: str, hits: Iterable[Hit], library: Library) -> Iterator[str]:
    """Yield, for each of the best hits, the words of a question that its own text has, if any."""
    for hit in islice(hits, _PLACES_MAX):
        text = library.clean_text(library.node(hit.section_id).own_content_span)
        if words := list_found_words(question, [text]):
            yield f"{', '.join(words)} in {PATH_STEP.join(_list_last_titles(library, hit.section_id))}"


def _find_passages(state: ConversationState, searcher: Searcher) -> _Found:
    """Search for the current question, and for it after the question before it. Keep what proves more.

    What was said before tells which of several places is meant. It never makes anything near: of a full
    question, something has to be near by itself, and the question has to bring a passage nearer than the one
    before it does alone. The name of the document's subject is left out at first, and searched too if nothing
    is near without it. If nothing is near then either, and the document is short, find all of its passages.
    Of a question about a section, a person wants to know that the section lacks it.
    """
    *past, current = state.exchanges
    before = (past[-1].expanded_question or past[-1].question) if past else ""
    expanded = expand_abbreviations(current.question, state.library)
    found = _Found(question=expanded, query=expanded)
    for question in dict.fromkeys((leave_out_subject(expanded, state.library), expanded)):
        by_itself, *completed = list_readings(question, before)
        is_full = not is_follow_up(question)
        if is_full or not past:
            found = _search(question, by_itself, state, searcher)
        if past and (found.passages or not is_full):
            earlier = list_history_texts(past)
            found = _search(question, by_itself, state, searcher, earlier)
            for queries in completed:
                reading = _search(question, queries, state, searcher, earlier)
                if not is_full or _is_nearer_than_before(reading, before, state.library, searcher):
                    found = max(found, reading, key=_measure_evidence)
        if found.passages:
            return found
    if state.exchanges[-1].within:
        return found
    passages = list_all_passages(state.library, found.query, searcher.compare)
    return replace(found, passages=passages, is_whole=bool(passages))


def _measure_evidence(found: _Found) -> tuple[float, bool]:
    """Return how much the best passage proves, and whether there is one."""
    proofs = [1.0 if passage.is_asked_for else passage.evidence for passage in found.passages]
    return max(proofs, default=0.0), bool(proofs)


def _is_nearer_than_before(found: _Found, before: str, library: Library, searcher: Searcher) -> bool:
    """Return whether the best passage is nearer in meaning to the query than to the question before alone.

    If not, the passage only answers the question before. Without an embedder, this is not known.
    """
    for passage in found.passages[:1]:
        shown = passage.key_sentence.shown or read_visible_line(library.clean_text(passage.span))
        texts = [f"{library.node(passage.section_id).title}\n{shown}"]
        return [*searcher.compare([found.query], texts)] >= [*searcher.compare([before], texts)]
    return False


def _search(
    question: str,
    queries: Sequence[str],
    state: ConversationState,
    searcher: Searcher,
    earlier: Sequence[str] = (),
) -> _Found:
    """Search for the last of the queries. What is found has to fit the others too."""
    query = queries[-1]
    if not extract_query_terms(query):
        raise UsageError("The question has no words. Type a question, or words to look for.")
    hits = searcher.search(
        state.library,
        query,
        earlier=earlier,
        within=state.exchanges[-1].within,
        limit=_HITS_MAX,
    )
    by_similarity = sorted(hits, key=lambda hit: hit.similarity or 0.0, reverse=True)
    pieces = [hit.piece for hit in by_similarity if hit.piece is not None]
    passages = choose_passages(state.library, queries, hits, pieces=pieces, compare=searcher.compare)
    return _Found(question=question, query=query, hits=hits, passages=passages)


def _list_openable(library: Library, passages: Iterable[FoundPassage]) -> tuple[str, ...]:
    """List what to open so that the passages can be quoted: sections, or parts of long sections."""
    wanted: list[str] = []
    for passage in passages:
        if library.node(passage.section_id).problem:  # the page of this link could not be fetched
            continue
        own = library.node(passage.section_id).own_content_span
        parts = split_parts(library.text_at(own), PART_TOKENS)
        for number, (start, end) in enumerate(parts, start=1):
            if own.get_part(start, end).overlaps(passage.span):
                wanted.append(f"{passage.section_id}:{number}" if len(parts) > 1 else passage.section_id)
    return tuple(wanted)


def _cite_passages(passages: Iterable[FoundPassage], library: Library) -> tuple[Citation, ...]:
    citations: list[Citation] = []
    for passage in passages:
        own = library.node(passage.section_id).own_content_span
        text = library.clean_text(passage.span)
        code = find_code(library.clean_text(own), passage.span.start - own.start)
        quote = text.rstrip().lstrip("\r\n" if code else None)  # code may need its indent
        first = text.index(quote)
        span = passage.span.get_part(first, first + len(quote))
        citation = make_citation(passage.section_id, library, quote=quote, state=QuoteState.EXACT, span=span)
        citations.append(replace(citation, key_sentence=passage.key_sentence))
    return tuple(citations)


def _list_last_titles(library: Library, section_id: str) -> list[str]:
    """List the titles that name a section: its document's, if there are several, and the last two."""
    document, titles = split_titles(library, section_id)
    return [*filter(None, [document, *titles[-2:]])]


def _write_cards(
    cards: Iterable[PassageCard], library: Library, lead: str
) -> tuple[str, tuple[Citation, ...]]:
    """Write the cards below the text `lead`. Return all text, and the passages with their offsets in it.

    Above each passage are its title and the words of the question that it has.
    """
    blocks = [lead]
    placed: list[Citation] = []
    for card in cards:
        passage = card.passage
        section_id = passage.section_id
        text = replace_verdict_marks(passage.quote or "")
        path = PATH_STEP.join(map(escape_inline, _list_last_titles(library, section_id)))
        title = " · ".join(filter(None, [f"**{path}**", escape_inline(card.label)]))
        blocks.append(replace_verdict_marks(title))
        shown = passage.key_sentence.shown
        if not read_visible_line(text).startswith(shown):
            blocks.append(replace_verdict_marks(f"> {escape_line_starts(escape_inline(shown))}"))
        header = "" if passage.span is None else library.list_headers([passage.span])[0]
        header = replace_verdict_marks(header)
        # a list, a table or code needs lines of its own
        is_block = _STARTS_AS_BLOCK.match(text) or _STARTS_AS_BLOCK.match(text.rpartition("\n")[2])
        quote, gap = (text, "\n\n") if is_block else (f"“{text}”", " ")
        start = sum(len(block) + 2 for block in blocks) + len(header)
        end = start + len(quote)
        blocks.append(f"{header}{quote}{gap}[{section_id}]")
        placed.append(replace(passage, start=start, end=end, marks=(end + len(gap),)))
    return "\n\n".join(blocks), tuple(placed)

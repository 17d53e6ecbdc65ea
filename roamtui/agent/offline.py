"""Answers without a model: the passages of the document that hold most of a question.

Search proposes sections. One score of their passages decides between three outcomes: an answer, the nearest
passages, which are not said to answer, and "Not found", without a passage.
"""

import asyncio
import json
import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from msgspec.structs import replace

from roamtui.agent.first_request import list_history_texts, make_search_event
from roamtui.agent.tools import ToolContext, expand
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    QuestionAnswered,
    Step,
    StepRecorded,
    StopReason,
    ToolCall,
    ToolUse,
)
from roamtui.conversation.not_found import UNCERTAIN
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.parallel import call_in_thread
from roamtui.errors import RoamtuiError
from roamtui.markdown.escaping import escape_inline, escape_line_starts
from roamtui.markdown.passages import is_in_code
from roamtui.markdown.units import read_visible_line
from roamtui.outline.coverage import measure_coverage, write_absence
from roamtui.outline.labels import PATH_STEP, split_titles
from roamtui.quotes.verdicts import make_citation
from roamtui.retrieval.answers import FoundPassage, PassageChoice, choose_passages, find_statement
from roamtui.retrieval.choose import asks_itself, complete_follow_up, search_question
from roamtui.retrieval.missing import list_missing, state_missing
from roamtui.search.base import Hit
from roamtui.search.searcher import Searcher
from roamtui.search.terms import extract_query_terms
from roamtui.text import split_pages

_ROOM_TOKENS = 30_000
"""Maximum number of tokens of sections to open, which no model reads."""
_HITS_MAX = 10
_NO_SEARCH = "Search is off. Set --mode to keyword, vector or hybrid, or choose a model."
_NEAREST = f"{UNCERTAIN} These passages are the nearest."
_BELOW_ANSWER = "(These passages of the document are the nearest to the question.)"
_STARTS_AS_BLOCK = re.compile(r"(?:[-+*>|#]|\d+[.)]|`{3}|~{3}|\s)")


async def read_offline(
    conversation: Conversation, searcher: Searcher | None
) -> tuple[str, tuple[Citation, ...], StopReason]:
    """Answer the current question without a model: open the sections of the best passages, and quote these.

    Return the answer, a citation of each passage, and whether they answer.
    """
    questions = [exchange.question for exchange in conversation.state.exchanges]
    completed = complete_follow_up(questions)
    question = questions[-1] if asks_itself(questions[-1]) else completed
    error = "" if searcher is not None else _NO_SEARCH
    choice = PassageChoice()
    state = conversation.state
    if searcher is not None:
        searcher.refresh(state.library)
    try:
        hits, choice = await call_in_thread(_find_passages, state, question, searcher)
    except RoamtuiError as failure:
        error = str(failure)
    else:
        if hits:  # they are no results if none of their passages is near the question
            found = hits if choice.passages else ()
            conversation.apply_unsaved(make_search_event(state.library, completed, found))
        if opened := _list_openable(state.library, choice.passages):
            await _open_sections(conversation, searcher, opened)
    if error:
        lead = f"Not found: nothing was searched. {error}"
    else:
        lead = await asyncio.to_thread(_write_lead, conversation.state, choice)
    answer, citations = _write_passages(question, choice.passages, conversation.state.library, lead)
    conversation.publish(AnswerStreamed(text=answer))
    is_nearest = bool(choice.passages) and not choice.is_answer
    return answer, citations, StopReason.NEAREST if is_nearest else StopReason.ANSWERED


async def add_passages(
    outcome: QuestionAnswered, state: ConversationState, searcher: Searcher | None
) -> QuestionAnswered:
    """Add the nearest passages below an answer that the text does not carry. No model wrote them."""
    if searcher is None:
        return outcome
    try:
        question = state.exchanges[-1].question
        _, choice = await call_in_thread(_find_passages, state, question, searcher)
    except RoamtuiError:
        return outcome
    if not choice.passages:
        return outcome
    own = outcome.answer[: outcome.own_length]
    lead = f"{own}\n\n{_BELOW_ANSWER}".lstrip()
    text, passages = _write_passages(question, choice.passages, state.library, lead)
    found = tuple(replace(passage, quote=None, state=QuoteState.SUPPORTED) for passage in passages)
    return replace(
        outcome,
        answer=text,
        own_length=len(own),
        citations=(*outcome.citations, *found),
        stopped=StopReason.ANSWERED if own and outcome.stopped is StopReason.ANSWERED else StopReason.NEAREST,
        error="",
    )


async def _open_sections(
    conversation: Conversation, searcher: Searcher | None, section_ids: Sequence[str]
) -> None:
    """Open sections by the call that a model would make."""
    arguments = {"section_ids": [*section_ids]}
    context = ToolContext(conversation=conversation, searcher=searcher, room_tokens=_ROOM_TOKENS)
    response = await expand.TOOL.run(arguments, context)
    conversation.publish(response.make_event(expand.TOOL.spec.name))
    call = ToolCall(id="offline_1", name=expand.TOOL.spec.name, arguments=json.dumps(arguments))
    step = Step(text="", uses=(ToolUse(call=call, result=response.text),))
    await conversation.apply((StepRecorded(step=step),))


def _write_lead(state: ConversationState, choice: PassageChoice) -> str:
    """Say what the passages are worth, and which names stand nowhere. For an answer, it may be empty."""
    library = state.library
    exchange = state.exchanges[-1]
    missing = state_missing(list_missing(exchange.question, library))
    if choice.passages:
        absence = write_absence(measure_coverage(library), *missing) if missing else ""
        return absence if choice.is_answer else f"{_NEAREST} {absence}".rstrip()
    coverage = measure_coverage(library, exchange.within)
    return f"Not found: {write_absence(coverage, 'nothing near the question was found', *missing)}"


def _find_passages(
    state: ConversationState, question: str, searcher: Searcher | None
) -> tuple[tuple[Hit, ...], PassageChoice]:
    """Return the hits of a search for a question, and their best passages."""
    if searcher is None or not extract_query_terms(question):
        return (), PassageChoice()
    hits = search_question(
        searcher,
        [exchange.question for exchange in state.exchanges],
        earlier=list_history_texts(state.exchanges[:-1]),
        within=state.exchanges[-1].within,
        limit=_HITS_MAX,
    )
    return hits, choose_passages(state.library, question, hits)


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


def _write_passages(
    question: str, passages: Sequence[FoundPassage], library: Library, lead: str
) -> tuple[str, tuple[Citation, ...]]:
    """Write passages with their titles and ids, below a sentence if there is one, and cite each."""
    blocks = [lead] if lead else []
    citations: list[Citation] = []
    for section_id, group in groupby(passages, key=attrgetter("section_id")):
        spans = [passage.span for passage in group]
        own = library.node(section_id).own_content_span
        own_text = library.clean_text(own)
        texts: list[str] = []
        for span in spans:
            text = library.clean_text(span).rstrip()
            is_code = is_in_code(own_text, span.start - own.start)
            texts.append(text.lstrip("\r\n") if is_code else text.lstrip())  # its indent makes it code
        document, titles = split_titles(library, section_id)
        path = filter(None, [document, *titles[-2:]])
        all_heads = library.list_heads(spans)
        statement = find_statement(question, [*map(str.__add__, all_heads, texts)])
        blocks.append(f"**{PATH_STEP.join(map(escape_inline, path))}**")
        if not read_visible_line(texts[0]).startswith(statement.shown):
            blocks.append(f"> {escape_line_starts(escape_inline(statement.shown))}")
        for text, span, heads in zip(texts, spans, all_heads, strict=True):
            # a list, a table or code needs lines of its own
            is_block = _STARTS_AS_BLOCK.match(text) or _STARTS_AS_BLOCK.match(text.rpartition("\n")[2])
            quote, gap = (text, "\n\n") if is_block else (f"“{text}”", " ")
            start = sum(len(block) + 2 for block in blocks) + len(heads)
            end = start + len(quote)
            blocks.append(f"{heads}{quote}{gap}[{section_id}]")
            first = library.clean_text(span).index(text)
            cited = span.get_part(first, first + len(text))
            citation = make_citation(section_id, library, quote=text, state=QuoteState.EXACT, span=cited)
            citations.append(replace(citation, start=start, end=end, marks=(end + len(gap),)))
    return "\n\n".join(blocks), tuple(citations)

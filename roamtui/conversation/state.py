"""The state of a conversation: an immutable value, computed from the events. Nothing is decided here.

Events do not hold its options and its library, which `Conversation` replaces.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from hashlib import blake2b
from itertools import chain, islice
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from roamtui.conversation.budget import OpenSectionOptions
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import (
    AnswerChosen,
    CitationsChecked,
    ConversationRenamed,
    ConversationStarted,
    DocumentIdentified,
    DocumentReloaded,
    NodesFolded,
    NodesLoaded,
    OpenedSection,
    Origin,
    Outcome,
    PartialReplyRecorded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ReadingSectionChanged,
    RecordedEvent,
    ReminderSent,
    ReplyRejected,
    RetryScheduled,
    SectionsClosed,
    SectionsOpened,
    SectionsSearched,
    Step,
    StepRecorded,
    StepStarted,
    StopReason,
    ThoughtsRecorded,
    ToolFinished,
    ToolUse,
    TranscriptRebuilt,
    UsageRecorded,
)
from roamtui.conversation.messages import OFFLINE, Message, Role, Usage
from roamtui.document.document import NodeKind
from roamtui.document.library import Library, LibrarySource
from roamtui.outline.delivered import SpanSet
from roamtui.sanitiser import sanitise_line
from roamtui.text import Span, shorten

_ID_LENGTH = 12
_NO_ANSWER = "[no answer]"
_TITLE_LENGTH = 80
_EXCERPT_QUESTIONS_MAX = 30
"""Maximum number of the newest questions whose excerpts and closed sections can be quoted.

A wrong quote is looked up in all of them while the screen waits (0.15 s).
"""


class Exchange(Outcome, frozen=True, kw_only=True):
    """A question with its steps and its answer, which grows until the question ends."""

    number: int
    """1-based."""
    question: str
    within: str | None = None
    open_before: tuple[OpenedSection, ...] = ()
    """The sections that were open before the question. A rewind opens them again, unless the person closed
    them or the document has changed."""
    preface: str = ""
    excerpts: tuple[Span, ...] = ()
    """Document text in the preface's search results. It can be quoted, though its sections are not open."""
    named_words: tuple[Span, ...] = ()
    """See `ToolUse.named_words`."""
    steps: tuple[Step, ...] = ()
    closed: tuple[Span, ...] = ()
    """Section text that was closed after the question. The model has read it, so it can be quoted."""
    usage: Usage = Usage()
    model: str = ""
    server: str | None = None
    """Where that model was; see `ModelFacts.server`."""
    asked_at: str = ""
    """ISO 8601, UTC."""
    content_hash: str = ""
    """`ConversationState.content_hash` when the question ended."""
    events: tuple[RecordedEvent, ...] = ()
    """What happened during the question, as it is shown to a person later."""
    is_stale: bool = False
    """Whether the document has changed since, so that the spans of text that the model got may be wrong."""
    earlier: tuple["Exchange", ...] = ()
    """Older answers to the same question, which may have been worded otherwise. A person can choose one."""
    later: tuple["Exchange", ...] = ()

    @property
    def answers(self) -> tuple["Exchange", ...]:
        """All answers to the question, oldest first, each without the others."""
        return (*self.earlier, replace(self, earlier=(), later=()), *self.later)

    @property
    def has_passages(self) -> bool:
        """Whether passages are shown in place of an answer, because there was no model.

        Every front end must decide by this how to show an answer.
        """
        return self.model == OFFLINE

    @property
    def passages(self) -> tuple[Citation, ...]:
        """The passages of an answer in order. Empty if it does not consist of passages."""
        return self.citations if self.has_passages else ()

    @property
    def is_answered(self) -> bool:
        """Whether a model has answered."""
        return self.stopped in (StopReason.ANSWERED, StopReason.STEP_LIMIT)

    @property
    def is_unproven(self) -> bool:
        """Whether it has an answer without a quote or a source, so that nothing could be checked."""
        is_checked = any(
            citation.quote is not None or citation.span is not None for citation in self.citations
        )
        return self.is_answered and bool(self.answer) and not is_checked

    @property
    def has_only_found_quotes(self) -> bool:
        """Whether a model's answer has quotes that all name a section and are in text that the model got."""
        states = {citation.state for citation in self.citations if citation.quote is not None}
        is_quoted = bool(states) and not self.has_passages
        return self.is_answered and is_quoted and QuoteState.NOT_FOUND not in states and not self.unnamed

    @property
    def cancellation(self) -> QuestionAnswered:
        """The event that ends this exchange as cancelled, if the program stopped before its end."""
        return QuestionAnswered(
            number=self.number,
            answer=self.answer,
            stopped=StopReason.CANCELLED,
            usage=self.usage,
            step_count=len(self.steps),
        )

    def iter_excerpts(self) -> Iterator[Span]:
        """Yield the text that searches showed for this question, in order."""
        yield from self.excerpts
        for step in self.steps:
            for use in step.uses:
                yield from use.excerpts

    @property
    def reply(self) -> str:
        """The model's own words in the form that it reads later; never empty."""
        own = self.answer[: self.own_length].rstrip()
        if self.stopped is StopReason.CANCELLED:
            return f"{own}\n\n[interrupted by the person]".lstrip()
        return own or _NO_ANSWER


class ConversationState(Struct, frozen=True, kw_only=True):
    """Everything about one conversation and its library."""

    id: str
    library: Library
    options: OpenSectionOptions = OpenSectionOptions()
    exchanges: tuple[Exchange, ...] = ()
    rebuilt: TranscriptRebuilt = field(default_factory=TranscriptRebuilt)
    open_sections: Mapping[str, OpenedSection] = field(default_factory=dict)
    """By id, oldest first."""
    cited: frozenset[str] = frozenset()
    """The sections that any answer has cited."""
    unfolded: frozenset[str] = frozenset()
    unfolded_by_answer: frozenset[str] = frozenset()
    """Unfolded nodes that answers unfolded, not the person."""
    reading_id: str | None = None
    needs_rebuild: bool = True
    """Whether the next question starts with a rebuild of the transcript."""
    model: str = ""
    """Name of the model that was asked last."""
    server: str | None = None
    """Where that model was; see `ModelFacts.server`."""
    chosen_title: str = ""
    approved_origins: frozenset[str] = frozenset()
    """Origins that the person allowed, in addition to the origins of typed URLs."""
    source: str = ""
    """Key of the source at the last change; see `get_source_key`."""
    content_hash: str = ""
    """Digest of all that was loaded of the library at the last change."""
    pages: tuple[str, ...] = ()
    """The links whose pages were loaded, each after the links that lead to it."""
    sources: tuple[LibrarySource, ...] = ()
    """The sources of the library, or empty if it has only the first source of the conversation."""
    spent: Usage = Usage()
    """What all requests have used. A rewind removes questions, but not what they cost."""
    in_flight: Usage = Usage()
    """Estimate of the running request. It counts as used if the program is killed meanwhile."""
    replaced: tuple[Exchange, ...] = ()
    """The answers to a removed question, until the next question takes its place."""

    @property
    def added_sources(self) -> tuple[str, ...]:
        """The names of the sources that a person added."""
        return tuple(source.name for source in self.sources if source.key)

    @property
    def is_asking(self) -> bool:
        """Whether the last question has no answer yet."""
        return bool(self.exchanges) and self.exchanges[-1].stopped is None

    @property
    def nonce(self) -> str:
        """A word in the lines around section text. No document can guess it, so none can imitate these lines.

        It contains no letter that occurs in ids. The conversations of one row of a table share it, so that
        their prompts begin with the same text: their ids begin with the same 12 digits.
        """
        digest = blake2b(self.id[:_ID_LENGTH].encode(), digest_size=8).digest()
        return "".join("ghjkmnpqrstvwxyz"[byte % 16] for byte in digest)

    @property
    def title(self) -> str:
        """The title that a person chose, or else the first question."""
        first = "".join(self.questions[:1])
        return self.chosen_title or shorten(sanitise_line(first), _TITLE_LENGTH)

    @property
    def questions(self) -> tuple[str, ...]:
        """All questions, oldest first."""
        return tuple(exchange.question for exchange in self.exchanges)

    @property
    def open_tokens(self) -> int:
        """Estimated tokens of all open sections."""
        return sum(section.tokens for section in self.open_sections.values())

    def iter_messages(self) -> Iterator[Message]:
        """Yield the messages of the next request: the conversation as the model reads it.

        Until the transcript is rebuilt, each request begins with all messages of the previous one.
        """
        yield Message(role=Role.SYSTEM, text=self.rebuilt.system)
        lead = self.rebuilt.prologue  # before the first exchange that is sent
        for index, exchange in enumerate(self.exchanges):
            if index < self.rebuilt.first_sent:
                continue
            with_steps = index >= self.rebuilt.first_with_steps
            preface = exchange.preface
            steps = exchange.steps
            if index == self.rebuilt.first_with_steps and self.rebuilt.preface is not None:
                preface = self.rebuilt.preface
                steps = exchange.steps[self.rebuilt.first_step :]
            parts = [part for part in (lead, preface if with_steps else "") if part]
            question = f"Question: {exchange.question}" if parts else exchange.question
            yield Message(role=Role.USER, text="\n\n".join([*parts, question]))
            lead = ""
            for step in steps if with_steps else ():
                calls = tuple(use.call for use in step.uses)
                text = step.text or ("" if calls else _NO_ANSWER)
                yield Message(role=Role.ASSISTANT, text=text, tool_calls=calls)
                for use in step.uses:
                    yield Message(role=Role.TOOL, text=use.result, tool_call_id=use.call.id)
                if step.reminder:
                    yield Message(role=Role.USER, text=step.reminder)
            if exchange.stopped is not None:
                yield Message(role=Role.ASSISTANT, text=exchange.reply)

    def collect_delivered(self) -> SpanSet:
        """Collect the section text in the transcript."""
        return SpanSet.from_spans(
            span for section in self.open_sections.values() for span in section.deliveries
        )

    def collect_excerpts(self, unsaved: Iterable[ToolUse] = ()) -> SpanSet:
        """Collect the text that searches showed in the transcript.

        `unsaved` has calls of the current step, which is not part of the transcript yet.
        """
        shown: list[Exchange | ToolUse] = [*unsaved]
        first = self.rebuilt.first_with_steps
        for index, exchange in enumerate(self.exchanges[first:]):
            if exchange.is_stale:
                continue
            is_cut = index == 0 and self.rebuilt.preface is not None  # the preface may lack the excerpts
            if not is_cut:
                shown.append(exchange)
            for step in exchange.steps[self.rebuilt.first_step if is_cut else 0 :]:
                shown += step.uses
        return SpanSet.from_spans(
            span for each in shown for span in {*each.excerpts}.difference(each.named_words)
        )

    def collect_read(self) -> SpanSet:
        """Collect all text that the model got, with the heads of tables.

        It got open sections, and the hits and the closed sections of the newest questions.
        """
        current = (exchange for exchange in reversed(self.exchanges) if not exchange.is_stale)
        newest = islice(current, _EXCERPT_QUESTIONS_MAX)
        shown = ((*exchange.iter_excerpts(), *exchange.closed) for exchange in newest)
        read = self.collect_delivered() | chain.from_iterable(shown)
        return read | filter(None, map(self.library.find_header, read))

    @property
    def has_content(self) -> bool:
        """Whether it has a question or an open section, and so is worth keeping for a person."""
        return bool(self.exchanges or self.open_sections)


def make_conversation_id() -> str:
    """Make a random id of 12 hex digits."""
    return os.urandom(_ID_LENGTH // 2).hex()


def start_conversation(
    library: Library, options: OpenSectionOptions, conversation_id: str = ""
) -> ConversationState:
    """Start a conversation. Unfold each heading or folder that is the only node on its level."""
    unfolded: list[str] = []
    level = library.children(library.root_id)
    while len(level) == 1 and library.node(level[0]).kind is not NodeKind.FILE:
        unfolded.append(level[0])
        level = library.children(level[0])
    return ConversationState(
        id=conversation_id or make_conversation_id(),
        library=library,
        options=options,
        unfolded=frozenset(unfolded),
    )


def fold_events(state: ConversationState, *events: RecordedEvent) -> ConversationState:
    """Compute the state after events. They may name sections that its library no longer has."""
    return reduce(_apply, events, state)


def _apply(  # noqa: C901, PLR0911, PLR0912 - one case an event
    state: ConversationState, event: RecordedEvent
) -> ConversationState:
    exchanges = state.exchanges
    opened = state.open_sections
    match event:
        case ConversationStarted(conversation_id=conversation_id, unfolded=unfolded):
            return replace(state, id=conversation_id, unfolded=frozenset(unfolded))
        case ConversationRenamed(title=title):
            return replace(state, chosen_title=title)
        case DocumentIdentified(source=source, content_hash=content_hash, sources=sources):
            return replace(state, source=source, content_hash=content_hash, sources=sources)
        case NodesFolded(section_ids=ids, is_folded=is_folded):
            nodes = state.unfolded - {*ids} if is_folded else state.unfolded | {*ids}
            return replace(state, unfolded=nodes, unfolded_by_answer=state.unfolded_by_answer - {*ids})
        case ReadingSectionChanged(section_id=section_id):
            return replace(state, reading_id=section_id)
        case NodesLoaded(pages=pages, approved_origins=origins):
            loaded = tuple(dict.fromkeys((*state.pages, *pages)))
            state = replace(state, pages=loaded, approved_origins=state.approved_origins.union(origins))
            return _keep(state, event)
        case SectionsOpened(sections=sections, unfolded_ids=unfolded_ids):
            if event.origin is Origin.AGENT and event.results:
                state = _keep(state, replace(event, sections=(), unfolded_ids=()))
            by_answer = state.unfolded_by_answer.union(unfolded_ids)
            state = replace(state, unfolded=state.unfolded.union(unfolded_ids), unfolded_by_answer=by_answer)
            return replace(state, open_sections={**opened, **_by_id(sections)})
        case SectionsClosed(section_ids=ids, is_pending=True):
            named = (opened[open_id] for open_id in ids if open_id in opened)
            marked = _by_id(replace(each, is_closing=True) for each in named)
            return _keep(replace(state, open_sections={**opened, **marked}), event)
        case SectionsClosed(section_ids=ids):
            return _keep(_close(state, ids), event)
        case DocumentReloaded(sections=sections, gone_ids=gone_ids):
            return replace(
                state,
                open_sections=_by_id(sections),
                unfolded=state.unfolded - {*gone_ids},
                reading_id=None if state.reading_id in gone_ids else state.reading_id,
                exchanges=tuple(map(_make_stale, exchanges)),
                needs_rebuild=True,
            )
        case QuestionAsked():
            return _begin_exchange(state, event)
        case TranscriptRebuilt():
            return replace(state, rebuilt=event, needs_rebuild=False, model=event.model)
        case StepStarted(input_tokens=tokens, cost_usd=cost):
            return replace(state, in_flight=Usage(input_tokens=tokens, cost_usd=cost))
        case UsageRecorded(usage=usage, ends_step=ends_step):
            return _spend(replace(state, in_flight=Usage()) if ends_step else state, usage)
        case StepRecorded(step=step):
            return _change_last(state, steps=(*exchanges[-1].steps, step), answer="")
        case PartialReplyRecorded(start=start, text=text):
            return _change_last(state, answer=exchanges[-1].answer[:start] + text)
        case ToolFinished(notice=""):
            return state  # another event says what it did
        case (
            ReplyRejected()
            | ReminderSent()
            | RetryScheduled()
            | SectionsSearched()
            | ThoughtsRecorded()
            | ToolFinished()
        ):
            return _keep(state, event)
        case QuestionAnswered():
            return _end_exchange(state, event)
        case CitationsChecked(number=number, citations=citations):
            checked = replace(exchanges[number - 1], citations=citations)
            return _replace_exchange(state, checked)
        case QuestionsRewound(first=first):
            return _rewind(state, first - 1)
        case AnswerChosen(number=number, index=index):
            answers = exchanges[number - 1].answers
            chosen = replace(answers[index], earlier=answers[:index], later=answers[index + 1 :])
            return replace(_replace_exchange(state, chosen), needs_rebuild=True)
        case _:
            assert_never(event)


def _begin_exchange(state: ConversationState, event: QuestionAsked) -> ConversationState:
    exchange = Exchange(
        number=len(state.exchanges) + 1,
        question=event.question,
        within=event.within,
        open_before=tuple(state.open_sections.values()),
        preface=event.preface,
        excerpts=event.excerpts,
        named_words=event.named_words,
        model=event.model,
        server=event.server,
        asked_at=event.asked_at,
        earlier=state.replaced,
    )
    return replace(
        state,
        replaced=(),
        exchanges=(*state.exchanges, exchange),
        open_sections={**state.open_sections, **_by_id(event.sections)},
        model=event.model,
        server=event.server,
    )


def _end_exchange(state: ConversationState, event: QuestionAnswered) -> ConversationState:
    state = replace(_spend(state, state.in_flight), in_flight=Usage())
    outcome = {name: getattr(event, name) for name in Outcome.__struct_fields__}
    ended = replace(state.exchanges[-1], **outcome, content_hash=state.content_hash)
    opened = state.open_sections
    named = (opened[open_id] for open_id in event.cited_ids if open_id in opened)
    cited = _by_id(replace(each, last_cited=event.number) for each in named)
    is_cut = event.stopped is StopReason.CANCELLED  # calls may lack their results
    return replace(
        _replace_exchange(state, ended),
        open_sections={**opened, **cited},
        needs_rebuild=state.needs_rebuild or is_cut,
    )


def _keep(state: ConversationState, event: RecordedEvent) -> ConversationState:
    """Add an event to the last exchange, where a person sees it later."""
    if not state.exchanges:
        return state
    return _change_last(state, events=(*state.exchanges[-1].events, event))


def _spend(state: ConversationState, usage: Usage) -> ConversationState:
    """Add usage to what was spent and, during a question, to what the question used."""
    if state.is_asking:
        state = _change_last(state, usage=state.exchanges[-1].usage + usage)
    return replace(state, spent=state.spent + usage)


def _close(state: ConversationState, section_ids: Sequence[str]) -> ConversationState:
    opened = state.open_sections
    closing = (opened[section_id] for section_id in section_ids if section_id in opened)
    closed = [span for section in closing for span in section.deliveries]
    if closed and state.exchanges:
        state = _change_last(state, closed=(*state.exchanges[-1].closed, *closed))
    remaining = _by_id(section for open_id, section in opened.items() if open_id not in section_ids)
    return replace(state, open_sections=remaining, needs_rebuild=state.needs_rebuild or bool(closed))


def _replace_exchange(state: ConversationState, exchange: Exchange) -> ConversationState:
    """Replace the exchange with the same number."""
    index = exchange.number - 1
    exchanges = (*state.exchanges[:index], exchange, *state.exchanges[index + 1 :])
    cited = state.cited.union(citation.section_id for citation in exchange.citations)
    return replace(state, exchanges=exchanges, cited=cited)


def _by_id(sections: Iterable[OpenedSection]) -> dict[str, OpenedSection]:
    return {section.section_id: section for section in sections}


def _change_last(state: ConversationState, **changes: object) -> ConversationState:
    last = replace(state.exchanges[-1], **changes)
    return replace(state, exchanges=(*state.exchanges[:-1], last))


def _make_stale(exchange: Exchange) -> Exchange:
    earlier = tuple(map(_make_stale, exchange.earlier))
    later = tuple(map(_make_stale, exchange.later))
    return replace(exchange, is_stale=True, earlier=earlier, later=later)


def _rewind(state: ConversationState, kept_count: int) -> ConversationState:
    """Keep the first `kept_count` exchanges. Undo what the agent opened and closed for the others."""
    removed = state.exchanges[kept_count]
    before = _by_id(removed.open_before)
    opened = state.open_sections
    events = (event for exchange in state.exchanges[kept_count:] for event in exchange.events)
    closings = (event for event in events if isinstance(event, SectionsClosed))
    unwanted = {each for event in closings if event.origin is Origin.PERSON for each in event.section_ids}
    sections: dict[str, OpenedSection] = {}
    for section_id, section in before.items():
        if section_id in opened or not (removed.is_stale or section_id in unwanted):
            is_pinned = opened.get(section_id, section).is_pinned
            deliveries = () if removed.is_stale else section.deliveries
            sections[section_id] = replace(section, is_pinned=is_pinned, deliveries=deliveries)
    for section_id, section in opened.items():
        if section_id not in before and (section.opened_by is Origin.PERSON or section.is_pinned):
            sections[section_id] = replace(section, deliveries=())  # they were part of a removed question
    # Without a rebuild since the question, the transcript before it is still exactly what the model got.
    was_rebuilt = state.rebuilt.first_with_steps >= kept_count
    return replace(
        state,
        exchanges=state.exchanges[:kept_count],
        replaced=removed.answers,
        open_sections=sections,
        needs_rebuild=state.needs_rebuild or was_rebuilt,
    )

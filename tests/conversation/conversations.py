"""Plays conversations without a model: the commands of the agent and of a person."""

from collections.abc import Iterable, Sequence
from typing import Self

from msgspec.structs import replace

from roamtui.conversation.budget import KeepOpenMode, OpenSectionOptions
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import (
    ConversationStarted,
    OpenResult,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    RecordedEvent,
    SectionsOpened,
    Step,
    StepRecorded,
    StopReason,
    ToolUse,
)
from roamtui.conversation.library_loader import ApprovalRequest
from roamtui.conversation.library_sync import identify_document, reload_state
from roamtui.conversation.messages import Message, Role, ToolCall
from roamtui.conversation.question_flow import finish_question, start_question
from roamtui.conversation.state import ConversationState, fold_events
from roamtui.conversation.transcript import PromptContext
from roamtui.conversation.update import AskOptions, CloseSections, Command, Events, OpenSections, PinSections, update
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from tests.fakes.replay import replay_events
from tests.search.libraries import id_of

PROMPT_CONTEXT = PromptContext(system="Our fixed text.", outline="- [12345678] An outline line\n", model="scripted")


def write_section(title: str, level: int = 2, words: int = 40) -> str:
    """Return a section with unique text."""
    body = " ".join(f"{title.lower().replace(' ', '-')}-{index}" for index in range(words))
    return f"{'#' * level} {title}\n\n{body}\n\n"


TEXT = (
    "# Manual\n\nIntroduction.\n\n"
    + "".join(write_section(title) for title in ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta"))
    + write_section("Parent")
    + write_section("Child one", 3)
    + write_section("Child two", 3)
    + write_section("Long", words=3_000)
    + write_section("Below long", 3)
)


def make_library(text: str = TEXT, source: str = "manual.md") -> Library:
    return Library(source=source, root=parse_document(text))


def find(library: Library | ConversationState, title: str) -> str:
    if isinstance(library, ConversationState):
        library = library.library
    return id_of(library, title)


def make_state(
    text: str = TEXT,
    *,
    mode: KeepOpenMode = KeepOpenMode.KEEP,
    budget_tokens: int = 32_000,
    conversation_id: str = "c0ffee",
) -> ConversationState:
    options = OpenSectionOptions(mode=mode, budget_tokens=budget_tokens)
    return ConversationState(id=conversation_id, library=make_library(text), options=options)


def do(state: ConversationState, command: Command) -> ConversationState:
    return fold_events(state, *update(state, command))


def fold(state: ConversationState, events: Events) -> tuple[ConversationState, Events]:
    """Return the state after some events, and the events."""
    return fold_events(state, *events), events


def reload(state: ConversationState, library: Library) -> tuple[ConversationState, Events]:
    """Continue with another version of the document. Return the state after it, and the events."""
    return fold(replace(state, library=library), reload_state(state, library))


def expand_by_agent(
    state: ConversationState, *titles: str, room_tokens: int | None = None
) -> tuple[ConversationState, tuple[OpenResult, ...]]:
    """Open sections by title, or by id if no section has the title, during a question."""
    command = OpenSections(section_ids=_ids(state, titles), origin=Origin.AGENT, room_tokens=room_tokens)
    events = update(state, command)
    expanded = next(event for event in events if isinstance(event, SectionsOpened))
    return fold_events(state, *events), expanded.results


def open_by_person(state: ConversationState, *titles: str) -> ConversationState:
    return do(state, OpenSections(section_ids=_ids(state, titles), origin=Origin.PERSON))


def close_by(state: ConversationState, origin: Origin, *titles: str) -> ConversationState:
    return do(state, CloseSections(section_ids=_ids(state, titles), origin=origin))


def pin(state: ConversationState, *titles: str) -> ConversationState:
    return do(state, PinSections(section_ids=_ids(state, titles), is_pinned=True))


def _ids(state: ConversationState, titles: Iterable[str]) -> tuple[str, ...]:
    known = {state.library.node(section_id).title: section_id for section_id in state.library.walk()}
    return tuple(known.get(title, title) for title in titles)


def begin(
    state: ConversationState, question: str = "Why?", context: PromptContext = PROMPT_CONTEXT
) -> ConversationState:
    asked = QuestionAsked(question=question, model=context.model)
    return fold_events(state, *start_question(state, AskOptions(), asked, context))


def plan_step(state: ConversationState, titles: Sequence[str]) -> Events:
    """Return the events of a step of the agent that opens sections in one call."""
    number = sum(len(exchange.steps) for exchange in state.exchanges) + 1
    events = update(state, OpenSections(section_ids=_ids(state, titles), origin=Origin.AGENT))
    expanded = next(event for event in events if isinstance(event, SectionsOpened))
    call = ToolCall(id=f"call_{number}", name="expand_sections", arguments="{}")
    use = ToolUse(call=call, result="\n\n".join(result.text for result in expanded.results))
    return (*events, StepRecorded(step=Step(text="", uses=(use,))))


def step(state: ConversationState, *titles: str) -> ConversationState:
    return fold_events(state, *plan_step(state, titles))


def finish(state: ConversationState, answer: str = "Because.", *, cited: Sequence[str] = ()) -> ConversationState:
    return finish_with_events(state, answer, cited=cited)[0]


def finish_with_events(
    state: ConversationState, answer: str = "Because.", *, cited: Sequence[str] = ()
) -> tuple[ConversationState, tuple[RecordedEvent, ...]]:
    citations = tuple(
        Citation(section_id=section_id, quote="x", state=QuoteState.EXACT) for section_id in _ids(state, cited)
    )
    outcome = QuestionAnswered(answer=answer, stopped=StopReason.ANSWERED, citations=citations)
    events = finish_question(state, outcome)
    return fold_events(state, *events), events


def ask(state: ConversationState, *titles: str, question: str = "Why?", cited: Sequence[str] = ()) -> ConversationState:
    """Play a whole question that opens sections in one step."""
    state = begin(state, question)
    if titles:
        state = step(state, *titles)
    return finish(state, cited=cited)


def messages(state: ConversationState) -> list[Message]:
    return list(state.iter_messages())


def read_all(state: ConversationState) -> str:
    """Return everything that the model reads, as one text."""
    return "\n\n".join(message.text for message in messages(state))


def check_messages(sent: Sequence[Message]) -> None:
    """Assert that a provider would accept these messages: every call is followed by its result."""
    if [message.role for message in sent] == [Role.USER]:
        return  # a short request
    assert sent[0].role is Role.SYSTEM
    assert [message.role for message in sent].count(Role.SYSTEM) == 1
    pending: list[str] = []
    before = Role.SYSTEM
    for message in sent[1:]:
        if message.role is Role.TOOL:
            assert message.tool_call_id == pending.pop(0)
            assert not message.tool_calls
            continue
        assert pending == [], "a call has no result"
        if message.role is Role.USER:
            assert before in (Role.SYSTEM, Role.ASSISTANT)
            assert message.text
        else:
            assert message.role is Role.ASSISTANT
            assert message.text or message.tool_calls
        pending = [call.id for call in message.tool_calls]
        before = message.role
    assert pending == []
    calls = [call.id for message in sent for call in message.tool_calls]
    assert len(calls) == len(set(calls))


class Recorder:
    """Plays a conversation and records its log."""

    def __init__(self, conversation_id: str = "c0ffee", library: Library | None = None) -> None:
        begun = ConversationStarted(conversation_id=conversation_id)
        self.state = replay_events(library or make_library(), (begun,))
        self.events: list[RecordedEvent] = [begun]

    def apply(self, events: Events) -> None:
        self.state = fold_events(self.state, *events)
        identified = identify_document(self.state)
        self.state = fold_events(self.state, *identified)
        self.events += (*events, *identified)

    def begin(self, question: str = "Why?") -> Self:
        asked = QuestionAsked(question=question, model=PROMPT_CONTEXT.model)
        self.apply(start_question(self.state, AskOptions(), asked, PROMPT_CONTEXT))
        return self

    def ask(self, question: str = "Why?", *titles: str, answer: str = "Because.") -> Self:
        """Play a whole question, with a step that opens sections."""
        self.begin(question)
        if titles:
            self.apply(plan_step(self.state, titles))
        self.apply(finish_question(self.state, QuestionAnswered(answer=answer, stopped=StopReason.ANSWERED)))
        return self

    def record(self, event: RecordedEvent) -> None:
        self.apply((event,))


class FakeApprover:
    """Gives one fixed answer, and records the requests."""

    def __init__(self, *, answer: bool) -> None:
        self.answer = answer
        self.asked: list[ApprovalRequest] = []

    async def __call__(self, approval: ApprovalRequest) -> bool:
        self.asked.append(approval)
        return self.answer

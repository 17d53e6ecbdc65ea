"""The shell around the state: what it saves, and what it does when it cannot."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.conversation.commands import Command, ExpandSections, FoldNodes, Origin, PinSections, UnfoldNodes
from roamtui.conversation.events import (
    ConversationEvent,
    ConversationSwitched,
    DocumentReloaded,
    QuestionAnswered,
    QuestionAsked,
    SaveFailed,
    SaveWarningRaised,
    SectionsClosed,
    SectionsExpanded,
)
from roamtui.conversation.log import ConversationLog
from roamtui.conversation.session import Session
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions, fold_events
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import Step, StopReason, ToolCall, ToolUse
from roamtui.document.library import Library
from roamtui.errors import StoreError
from tests.conversation.conversations import PROMPT_CONTEXT, TEXT, check_messages, find, locked, make_library, messages


@pytest.fixture
def library() -> Library:
    return make_library()


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("roamtui.conversation.log._BUSY_SECONDS", 0.02)
    return tmp_path / "conversations"


@pytest.fixture
def store(path: Path) -> ConversationStore:
    return ConversationStore(path)


@pytest.fixture
def session(library: Library, store: ConversationStore) -> Session:
    return Session.start(library, store=store)


async def _do(session: Session, command: Command) -> list[ConversationEvent]:
    return [event async for event in session.dispatch(command)]


def _expand(session: Session, title: str, origin: Origin = Origin.AGENT) -> ExpandSections:
    return ExpandSections(section_ids=(find(session.state, title),), origin=origin)


_OUTCOME = QuestionAnswered(answer="Because.", stopped=StopReason.ANSWERED)


async def _ask(session: Session, question: str, opened: str = "") -> None:
    await session.begin_question(question, PROMPT_CONTEXT)
    if opened:
        await _do(session, _expand(session, opened))
    await session.finish_question(_OUTCOME)


def test_a_new_conversation_unfolds_the_title(library: Library) -> None:
    state = Session.start(library).state
    assert state.unfolded == {find(library, "Manual")}
    assert state.open_sections == ()
    assert Session.start(make_library("# A\n\n# B\n")).state.unfolded == frozenset()


async def test_every_event_is_on_disk_when_it_is_yielded(session: Session, store: ConversationStore) -> None:
    assert store.list() == ()
    await session.begin_question("Why?", PROMPT_CONTEXT)
    saved = store.load(session.state.id)
    assert saved.transcript.exchanges[0].question == "Why?"
    await _do(session, _expand(session, "Alpha"))
    assert [section.section_id for section in store.load(session.state.id).open_sections] == [
        find(session.state, "Alpha")
    ]
    use = ToolUse(call=ToolCall(id="1", name="expand_sections", arguments="{}"), result="Text")
    await session.record_step(Step(text="", uses=(use,)))
    assert store.load(session.state.id).transcript.exchanges[0].steps[0].uses == (use,)
    await session.finish_question(_OUTCOME)
    assert store.load(session.state.id).transcript.exchanges[0].answer == "Because."
    await _do(session, PinSections(section_ids=session.state.open_ids, is_pinned=True))
    assert store.load(session.state.id).open_sections[0].is_pinned


async def test_what_a_person_opens_is_on_disk_before_it_is_shown(session: Session, store: ConversationStore) -> None:
    await _ask(session, "Why?")
    alpha = find(session.state, "Alpha")
    async for _ in session.dispatch(_expand(session, "Alpha", Origin.PERSON)):
        assert [section.section_id for section in store.load(session.state.id).open_sections] == [alpha]
        return
    pytest.fail("no event")


async def test_a_long_answer_is_saved_while_it_streams(session: Session, store: ConversationStore) -> None:
    await session.begin_question("Why?", PROMPT_CONTEXT)

    def read_draft() -> str:
        return store.load(session.state.id).transcript.exchanges[0].answer

    text = ""
    for _ in range(100):
        text += "A word or two. "
        assert await session.record_draft(text) == ()
        assert len(text) - len(read_draft()) < 500
        assert text.startswith(read_draft())
    use = ToolUse(call=ToolCall(id="1", name="expand_sections", arguments="{}"), result="Text")
    await session.record_step(Step(text=text, uses=(use,)))
    assert read_draft() == ""
    await session.record_draft("x" * 600)
    assert read_draft() == "x" * 600
    check_messages(messages(session.state))
    await session.finish_question(_OUTCOME)
    assert read_draft() == "Because."


@pytest.mark.parametrize("ending", ["step", "refusal"])
async def test_each_reply_loses_at_most_500_characters(session: Session, store: ConversationStore, ending: str) -> None:
    await session.begin_question("Why?", PROMPT_CONTEXT)
    await session.record_draft("First. " * 200)
    if ending == "step":
        use = ToolUse(call=ToolCall(id="1", name="expand_sections", arguments="{}"), result="Text")
        await session.record_step(Step(text="First. " * 200, uses=(use,)))
    text = "Second. " * 200  # arrives in one piece, longer than the saved draft of the previous reply
    await session.record_draft(text)
    assert len(text) - len(store.load(session.state.id).transcript.exchanges[0].answer) < 500
    assert text.startswith(store.load(session.state.id).transcript.exchanges[0].answer)


async def test_a_conversation_continued_elsewhere_is_forked(
    session: Session, store: ConversationStore, library: Library, path: Path
) -> None:
    await _ask(session, "Why?", "Alpha")
    first_id = session.state.id
    elsewhere = ConversationStore(path)
    other = Session.resume(library, first_id, store=elsewhere)
    await _ask(other, "From the other?")
    events = await session.begin_question("From here?", PROMPT_CONTEXT)
    assert [type(event) for event in events] == [QuestionAsked, SaveWarningRaised]
    assert events[1] == SaveWarningRaised(
        message="Another program continued this conversation; yours goes on as “Why? (continued elsewhere)”.",
        conversation_id=session.state.id,
    )
    assert session.state.id != first_id
    await _do(session, _expand(session, "Beta"))
    assert [type(event) for event in await session.finish_question(_OUTCOME)] == [QuestionAnswered]
    await other.begin_question("And then?", PROMPT_CONTEXT)
    assert [type(event) for event in await other.finish_question(_OUTCOME)] == [QuestionAnswered]
    questions = {s.id: [e.question for e in store.load(s.id).transcript.exchanges] for s in store.list()}
    assert questions == {
        first_id: ["Why?", "From the other?", "And then?"],
        session.state.id: ["Why?", "From here?"],
    }
    await session.begin_question("And here?", PROMPT_CONTEXT)
    check_messages(messages(session.state))
    assert sum(message.text.count("alpha-0 ") for message in messages(session.state)) == 1
    assert Session.resume(library, session.state.id, store=store).state.open_ids == session.state.open_ids


async def test_a_cancelled_question_forks_too_and_is_reported_with_the_next(
    session: Session, store: ConversationStore, library: Library, path: Path
) -> None:
    await session.begin_question("Why?", PROMPT_CONTEXT)
    first_id = session.state.id
    elsewhere = ConversationStore(path)
    other = Session.resume(library, first_id, store=elsewhere)
    await other.begin_question("From the other?", PROMPT_CONTEXT)
    session.abandon_question(QuestionAnswered(answer="Half", stopped=StopReason.CANCELLED))
    assert store.load(session.state.id).transcript.exchanges[0].answer == "Half"
    assert store.load(first_id).transcript.exchanges[1].question == "From the other?"
    assert [type(event) for event in await session.begin_question("And?", PROMPT_CONTEXT)] == [
        QuestionAsked,
        SaveWarningRaised,
    ]


async def test_an_unsaved_conversation_is_written_later(library: Library) -> None:
    store = _FakeStore()
    session = Session.start(library, store=store)
    store.failure = "The disk is full."
    await _ask(session, "Why?")
    unsaved = session.state
    session.switch_to(Session.start(library, store=store))
    await session.begin_question("Other?", PROMPT_CONTEXT)
    assert store.saved == []
    store.failure = ""
    await session.finish_question(_OUTCOME)
    assert [log.conversation_id for log in store.saved] == [session.state.id, unsaved.id]
    assert fold_events(library, store.saved[1].events) == unsaved
    session.flush()
    assert len(store.saved) == 2


async def test_an_unsaved_conversation_continued_elsewhere_is_forked(
    session: Session, library: Library, store: ConversationStore, path: Path
) -> None:
    await _ask(session, "One?")
    left_id = session.state.id
    elsewhere = ConversationStore(path)
    other = Session.resume(library, left_id, store=elsewhere)
    with locked(path / ".lock"):
        await _ask(session, "Two?")
        session.switch_to(Session.start(library, store=store))
    await other.begin_question("From the other?", PROMPT_CONTEXT)
    await session.begin_question("Three?", PROMPT_CONTEXT)
    questions = sorted([e.question for e in store.load(s.id).transcript.exchanges] for s in store.list())
    assert questions == [["One?", "From the other?"], ["One?", "Two?"], ["Three?"]]
    assert session.save_failure == ""


async def test_an_unsaved_conversation_can_be_switched_to(
    session: Session, library: Library, store: ConversationStore, path: Path
) -> None:
    await _ask(session, "One?")
    with locked(path / ".lock"):
        await _ask(session, "Two?")
        unsaved = session.state
        session.switch_to(Session.start(library, store=store))
        session.switch_to(Session.resume(library, unsaved.id, store=store))
    assert session.state is unsaved


async def test_an_unsaved_conversation_continues_with_the_current_document(
    session: Session, library: Library, store: ConversationStore, path: Path
) -> None:
    await _ask(session, "One?")
    with locked(path / ".lock"):
        await _ask(session, "Two?", "Alpha")
        unsaved = session.state
        assert unsaved.open_sections[0].deliveries
        session.switch_to(Session.start(library, store=store))
        changed = make_library(f"Before all.\n\n{TEXT}")
        await session.reload(changed)
        session.switch_to(Session.resume(changed, unsaved.id, store=store))
    assert session.state.library is changed
    assert session.state.open_ids == unsaved.open_ids
    assert [section.deliveries for section in session.state.open_sections] == [()]
    await _ask(session, "Three?")
    assert [one.question for one in session.state.transcript.exchanges] == ["One?", "Two?", "Three?"]
    assert fold_events(changed, store.read(unsaved.id).events) == session.state


async def test_folding_is_saved_with_the_next_change(session: Session, store: ConversationStore) -> None:
    await _ask(session, "Why?")
    parent = find(session.state, "Parent")
    assert await _do(session, UnfoldNodes(section_ids=(parent,)))
    assert parent not in store.load(session.state.id).unfolded
    session.flush()
    assert parent in store.load(session.state.id).unfolded
    await _do(session, FoldNodes(section_ids=(parent,)))
    await _do(session, _expand(session, "Alpha", Origin.PERSON))
    assert parent not in store.load(session.state.id).unfolded


async def test_a_command_without_effect_is_not_saved(session: Session, store: ConversationStore) -> None:
    assert await _do(session, FoldNodes(section_ids=("deadbeef",))) == []
    session.flush()
    assert store.list() == ()


async def test_a_conversation_resumes_where_it_stopped(
    session: Session, store: ConversationStore, library: Library
) -> None:
    await _ask(session, "Why?", "Alpha")
    resumed = Session.resume(library, session.state.id, store=store)
    assert resumed.state == session.state
    assert resumed.opening_events == ()
    options = OpenSectionOptions(mode=KeepOpenMode.ALL, budget_tokens=5)
    assert Session.resume(library, session.state.id, store=store, options=options).state.options == options
    with pytest.raises(StoreError, match='No conversation "nothing"'):
        Session.resume(library, "nothing", store=store)


async def test_resuming_with_a_changed_document_reports_missing_sections(
    session: Session, store: ConversationStore
) -> None:
    await _ask(session, "Why?", "Zeta")
    changed = make_library(TEXT.partition("## Zeta")[0])
    resumed = Session.resume(changed, session.state.id, store=store)
    assert any(isinstance(event, SectionsClosed) for event in resumed.opening_events)


async def test_a_locked_file_is_reported_once(session: Session, store: ConversationStore, path: Path) -> None:
    with locked(path / ".lock"):
        first = await session.begin_question("Why?", PROMPT_CONTEXT)
        assert [type(event) for event in first] == [QuestionAsked, SaveFailed]
        assert first[1] == SaveFailed(message=f"Could not save the conversation: locked by another program ({path}).")
        events = await _do(session, _expand(session, "Alpha"))
        assert isinstance(events[-1], SectionsExpanded)
        assert session.save_failure
        await session.finish_question(_OUTCOME)
    assert session.state.transcript.exchanges[0].answer == "Because."
    assert store.list() == ()
    assert [type(event) for event in await session.begin_question("And?", PROMPT_CONTEXT)] == [QuestionAsked]
    assert session.save_failure == ""
    assert [exchange.question for exchange in store.load(session.state.id).transcript.exchanges] == ["Why?", "And?"]
    assert store.load(session.state.id).transcript.exchanges[0].answer == "Because."


class _FakeStore(ConversationStore):
    """A store with a full or slow disk."""

    def __init__(self) -> None:
        self.failure = ""
        self.saved: list[ConversationLog] = []
        self.gates: list[threading.Event] = []
        self.has_entered = threading.Event()

    @override
    def pop_warnings(self) -> tuple[str, ...]:
        return ()

    @override
    def write(self, log: ConversationLog) -> None:
        self.has_entered.set()
        if self.gates:
            self.gates.pop().wait(10)
        if self.failure:
            raise StoreError(self.failure)
        log.saved_count = len(log.events)
        self.saved.append(log)


async def test_a_different_failure_is_reported_again(library: Library) -> None:
    store = _FakeStore()
    session = Session.start(library, store=store)
    failures = []
    for failure in ("The disk is full.", "The disk is full.", "", "", "The disk is gone.", "The disk is full."):
        store.failure = failure
        events = [*await session.begin_question("Why?", PROMPT_CONTEXT), *await session.finish_question(_OUTCOME)]
        failures.append([event.message for event in events if isinstance(event, SaveFailed)])
    assert failures == [["The disk is full."], [], [], [], ["The disk is gone."], ["The disk is full."]]


async def test_a_slow_disk_gets_the_newest_state_last(library: Library) -> None:
    """A cancelled task leaves a thread behind, which must not overwrite later events."""
    store = _FakeStore()
    session = Session.start(library, store=store)
    gate = threading.Event()
    store.gates.append(gate)
    beginning = asyncio.create_task(session.begin_question("Why?", PROMPT_CONTEXT))
    await asyncio.to_thread(store.has_entered.wait, 10)
    beginning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    outcome = QuestionAnswered(answer="Half", stopped=StopReason.CANCELLED)
    abandoning = asyncio.create_task(asyncio.to_thread(session.abandon_question, outcome))
    await asyncio.wait({abandoning}, timeout=0.05)
    gate.set()
    await abandoning
    assert len(store.saved) == 2
    assert store.saved[-1].is_saved
    assert fold_events(library, store.saved[-1].events) == session.state
    assert session.state.transcript.exchanges[0].answer == "Half"


async def test_abandoning_in_the_middle_of_calls_keeps_the_step_and_delivers_its_text_again(
    session: Session, store: ConversationStore, library: Library
) -> None:
    await session.begin_question("Why?", PROMPT_CONTEXT)
    await _do(session, _expand(session, "Alpha"))
    use = ToolUse(call=ToolCall(id="1", name="expand_sections", arguments="{}"), result="not run")
    session.abandon_question(
        QuestionAnswered(answer="Half", stopped=StopReason.CANCELLED), step=Step(text="", uses=(use,))
    )
    assert not session.state.is_asking
    assert session.state.needs_rebuild
    for continued in (session, Session.resume(library, session.state.id, store=store)):
        await continued.begin_question("And?", PROMPT_CONTEXT)
        check_messages(messages(continued.state))
        assert sum(message.text.count("alpha-0 ") for message in messages(continued.state)) == 1


async def test_a_person_changes_sections_while_a_question_is_saved(session: Session, store: ConversationStore) -> None:
    await session.begin_question("Why?", PROMPT_CONTEXT)
    await asyncio.gather(
        *(_do(session, _expand(session, title, Origin.PERSON)) for title in ("Alpha", "Beta", "Gamma")),
        _do(session, _expand(session, "Delta")),
    )
    assert len(session.state.open_sections) == 4
    session.flush()
    assert len(store.load(session.state.id).open_sections) == 4


async def test_without_a_store_nothing_is_saved_and_nothing_fails(library: Library) -> None:
    session = Session.start(library)
    assert [type(event) for event in await session.begin_question("Why?", PROMPT_CONTEXT)] == [QuestionAsked]
    session.abandon_question(QuestionAnswered(answer="", stopped=StopReason.CANCELLED))
    session.flush()
    assert session.save_failure == ""


async def test_the_budget_can_follow_the_context_window(library: Library) -> None:
    follows = Session.start(library, options=OpenSectionOptions(budget_tokens=7, follows_window=True))
    follows.set_context_window(10_000)
    assert follows.state.options.budget_tokens == 4_000
    fixed = Session.start(library, options=OpenSectionOptions(budget_tokens=7))
    fixed.set_context_window(10_000)
    assert fixed.state.options.budget_tokens == 7


async def test_switching_replaces_a_saved_conversation(
    session: Session, library: Library, store: ConversationStore
) -> None:
    await _ask(session, "One?")
    await _do(session, UnfoldNodes(section_ids=(library.root.ids[0],)))
    one = session.state
    other = Session.start(library, store=store)
    assert session.switch_to(other) == (ConversationSwitched(conversation_id=other.state.id),)
    assert session.state is other.state
    assert store.load(one.id).unfolded == one.unfolded, "unsaved folding is saved"
    await _ask(session, "Two?")
    session.switch_to(Session.resume(library, one.id, store=store))
    assert session.state == one
    assert [summary.id for summary in store.list()] == [other.state.id, one.id], (
        "leaving a conversation does not change it"
    )


async def test_a_title_is_saved(session: Session, store: ConversationStore) -> None:
    await _ask(session, "One?")
    assert await session.rename("Ovens") == ()
    assert session.state.title == store.load(session.state.id).title == "Ovens"
    await session.begin_question("Two?", PROMPT_CONTEXT)
    assert session.state.title == "Ovens"


async def test_a_conversation_continues_with_a_reloaded_text(session: Session, store: ConversationStore) -> None:
    await _ask(session, "One?", "Alpha")
    changed = make_library(TEXT.replace("alpha-3 ", "ALPHA-3 "))
    assert await session.reload(changed) == (DocumentReloaded(),)
    assert session.state.library is changed
    assert store.load(session.state.id).content_hash == changed.root.content_hash
    await session.begin_question("Two?", PROMPT_CONTEXT)
    sent = [message.text for message in messages(session.state)]
    assert sum(text.count("ALPHA-3 ") for text in sent) == 1

"""Whatever is cancelled or requested while a change of the conversation waits: it stays whole, and goes on.

Each request is interfered with at every place where it waits. The files are real, and so is the order of threads.
"""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path

import pytest
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ConversationStarted,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    SectionsOpened,
    StepStarted,
    StopReason,
)
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Role
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.update import AskOptions, OpenSections
from roamtui.models.base import ModelRequest
from tests.agent.asking import MANUAL, NO_HITS, FakeSearcher
from tests.anomalies.waits import act_at_wait, cancel_at_wait
from tests.conversation.conversations import check_messages, find, make_library
from tests.fakes.replay import replay_events
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_LIBRARY = make_library(MANUAL)
_CHANGED = make_library(MANUAL.replace("Open daily.", "Closed on Sundays."))
_FEES = find(_LIBRARY, "Fees")


class WaitingModel(ScriptedModel):
    """Waits before it starts, opens a section for each question, and answers with a quote from it."""

    def __init__(self) -> None:
        super().__init__([_reply] * 50)

    @override
    async def start(self) -> None:
        await asyncio.sleep(0)


def _reply(request: ModelRequest) -> ScriptedReply:
    if request.messages[-1].role is Role.TOOL:
        return ScriptedReply(text=f'It says "2 euros a day" [{_FEES}].', chunk_size=20)
    return ScriptedReply(text="I look.", calls=(("expand_sections", {"section_ids": [_FEES]}),))


@dataclass
class Case:
    """A conversation of two questions that goes on, and another one of one question on the same disk."""

    agent: Agent
    store: ConversationStore
    other_id: str
    before: ConversationState
    shown: list[ConversationEvent] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)
    """Of new questions."""

    @classmethod
    def open(cls, folder: Path, ids: tuple[str, str]) -> "Case":
        store = ConversationStore(folder)
        conversation = Conversation(_LIBRARY, store=store).resume(ids[0])
        case = cls(Agent(conversation, WaitingModel(), FakeSearcher(), NO_HITS), store, ids[1], conversation.state)
        conversation.subscribe(case.shown.append)
        return case

    @property
    def conversation(self) -> Conversation:
        return self.agent.conversation

    @property
    def exchange(self) -> Exchange:
        """The last one when the case began."""
        return self.before.exchanges[-1]

    def read_disk(self) -> tuple[tuple[str, ...], ...]:
        """Return the questions of each conversation on disk."""
        states = (self.store.load(summary.id) for summary in self.store.list())
        return tuple(sorted(tuple(one.question for one in state.exchanges) for state in states))

    @property
    def outcome(self) -> tuple[object, ...]:
        """What conversations there are, which one is held, and over which document."""
        state = self.conversation.state
        held = tuple(exchange.question for exchange in state.exchanges)
        return self.read_disk(), held, state.library.files_hash

    async def check(self) -> tuple[object, ...]:
        """Check that the conversation is whole, on disk too, and can go on; return the outcome before it does."""
        # the writes that nobody waits for any more
        if writes := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(writes)
        self.conversation.flush()
        self._check_whole()
        outcome = self.outcome
        await self.agent.ask("And then?")
        assert self.conversation.state.exchanges[-1].stopped is StopReason.ANSWERED
        self._check_whole()
        for request in self._model.requests:
            check_messages(request.messages)
        return outcome

    @property
    def _model(self) -> WaitingModel:
        assert isinstance(self.agent.model, WaitingModel)
        return self.agent.model

    @property
    def _streamed(self) -> str:
        """What was streamed since the last request."""
        text = ""
        for event in self.shown:
            if isinstance(event, StepStarted | QuestionAsked):
                text = ""
            elif isinstance(event, AnswerStreamed):
                text += event.text
        return text

    def _check_whole(self) -> None:
        state = self.conversation.state
        assert not state.is_asking
        shown = [*takewhile(lambda event: not isinstance(event, ConversationStarted), reversed(self.shown))]
        if state.id not in {summary.id for summary in self.store.list()}:
            changes = [event for event in shown if isinstance(event, QuestionAsked | SectionsOpened)]
            assert not changes, "only a copy without changes is not saved"
        elif state.exchanges:
            events = self.store.read(state.id).events
            saved = replay_events(state.library, events)
            assert (saved.exchanges, saved.rebuilt) == (state.exchanges, state.rebuilt)
            assert saved.open_sections == state.open_sections
            expanded = [event for event in shown if isinstance(event, SectionsOpened)]
            opened = [event for event in expanded if event.origin is Origin.PERSON]
            assert all(event in events for event in opened), "nothing of another conversation is shown"
            exchange = state.exchanges[-1]
            if exchange.stopped is StopReason.CANCELLED:
                assert self._streamed in (exchange.answer, *(step.text for step in exchange.steps))
        for questions in self.read_disk():
            assert len(set(questions)) == len(questions), "nothing is there twice"
        asked = [event.question for event in self.shown if isinstance(event, QuestionAsked)]
        answered = [event for event in self.shown if isinstance(event, QuestionAnswered)]
        assert len(asked) == len(answered), "each question that a person sees begin, they see end, once"


REQUESTS: dict[str, Callable[[Case], Coroutine[object, None, object]]] = {
    "ask": lambda case: case.agent.ask(f"New {next(case.numbers)}?"),
    "retry": lambda case: case.agent.ask(
        case.exchange.question, AskOptions(replaces=case.exchange, open_first=(_FEES,))
    ),
    "reload": lambda case: case.conversation.reload(_CHANGED),
    "switch": lambda case: case.conversation.open(case.other_id),
    "start new": lambda case: case.conversation.start_new(),
    "open": lambda case: case.conversation.execute(
        OpenSections(section_ids=(find(_LIBRARY, "Hours"),), origin=Origin.PERSON)
    ),
}


@dataclass
class Template:
    """Saved conversations, copied for each case."""

    folder: Path
    ids: tuple[str, str]
    number: int = 0

    def open(self) -> "Case":
        self.number += 1
        folder = self.folder.with_name(f"case-{self.number}")
        shutil.copytree(self.folder, folder)
        return Case.open(folder, self.ids)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    folder = tmp_path_factory.mktemp("awaits") / "conversations"

    async def talk(*questions: str) -> str:
        conversation = Conversation(_LIBRARY, store=ConversationStore(folder))
        for question in questions:
            await Agent(conversation, WaitingModel(), FakeSearcher(), NO_HITS).ask(question)
        conversation.close()
        return conversation.state.id

    return Template(folder, (asyncio.run(talk("One?", "Two?")), asyncio.run(talk("Other?"))))


async def _play(template: Template, *names: str) -> tuple[object, ...]:
    """Return the outcome of requests, each after the one before has ended."""
    case = template.open()
    for request in [REQUESTS[name](case) for name in names]:
        await request
    return await case.check()


@pytest.mark.parametrize("name", REQUESTS)
async def test_a_request_that_is_cancelled_anywhere_leaves_a_conversation_that_goes_on(
    template: Template, name: str
) -> None:
    outcomes = {await _play(template), await _play(template, name)}
    for number in count(1):
        case = template.open()
        was_cancelled = await cancel_at_wait(REQUESTS[name](case), number)
        assert await case.check() in outcomes
        if not was_cancelled:
            break
    assert number > 1, "it waits at least once"


@pytest.mark.parametrize("later", [name for name in REQUESTS if name != "start new"])
@pytest.mark.parametrize("first", ["ask", "reload", "switch"])
async def test_what_is_requested_while_another_request_waits_happens_after_it(
    template: Template, first: str, later: str
) -> None:
    outcomes = {await _play(template, first, later)}
    if (first, later) == ("switch", "ask"):  # a question is not asked in another conversation
        outcomes.add(await _play(template, first))
    for number in count(1):
        case = template.open()
        begun: list[asyncio.Task[object]] = []

        def begin(case: Case = case, begun: list[asyncio.Task[object]] = begun) -> None:
            begun.append(asyncio.create_task(REQUESTS[later](case)))

        await act_at_wait(REQUESTS[first](case), number, begin)
        await asyncio.gather(*begun)
        if not begun:
            break
        assert await case.check() in outcomes
    assert number > 1, "it waits at least once"

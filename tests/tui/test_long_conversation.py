"""What a key and an event cost does not grow with the number of questions asked before."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import asdict, replace
from typing_extensions import override

from roamtui.conversation.events import (
    AnswerStreamed,
    Origin,
    QuestionAnswered,
    QuestionAsked,
    RecordedEvent,
    SectionsSearched,
    StepStarted,
    StopReason,
)
from roamtui.conversation.state import Exchange, fold_events
from roamtui.conversation.update import OpenSections, open_for_agent
from roamtui.tui.actions import Scope
from roamtui.tui.chat.chat_log import EXCHANGES_MAX
from tests.fakes.services import app_over
from tests.tui.driving import make_session, running

_QUESTIONS = 3 * EXCHANGES_MAX
_read_numbers: set[int] = set()


class _WatchedExchange(Exchange, frozen=True):
    """Notes its number whenever anything of it is read."""

    @override
    def __getattribute__(self, name: str) -> Any:
        _read_numbers.add(super().__getattribute__("number"))
        return super().__getattribute__(name)


def _ask_all() -> Iterator[RecordedEvent]:
    """Yield many questions with their answers, and one that is being answered."""
    for number in range(1, _QUESTIONS + 1):
        yield QuestionAsked(number=number, question=f"What is said about number {number}?")
        yield QuestionAnswered(number=number, answer="It is said.", stopped=StopReason.ANSWERED)
    yield QuestionAsked(number=_QUESTIONS + 1, question="And the last one?")


async def test_no_key_and_no_event_reads_a_question_that_is_not_shown() -> None:
    session = make_session()
    conversation = session.conversation
    state = fold_events(conversation.state, *_ask_all())
    watched = tuple(_WatchedExchange(**asdict(exchange)) for exchange in state.exchanges)
    conversation.state = replace(state, exchanges=watched)
    hidden = range(1, _QUESTIONS - EXCHANGES_MAX + 1)
    async with running(app_over(session), (160, 48)) as ui:
        for scope, keys in {Scope.INPUT: "xy", Scope.TREE: "jk opox", Scope.CHAT: "jksn"}.items():
            ui.main.panes.focus_scope(scope)
            await ui.pause()
            for key in keys:
                _read_numbers.clear()
                await ui.press({" ": "space"}.get(key, key))
                await ui.pause()
                assert _read_numbers.isdisjoint(hidden), f"{key} in {scope}"
        command = OpenSections(section_ids=tuple(ui.state.library.walk())[:2], origin=Origin.AGENT)
        events = (
            SectionsSearched(query="q", hits=()),
            open_for_agent(ui.state, command),
            StepStarted(number=1, input_tokens=1),
            QuestionAnswered(number=_QUESTIONS + 1, answer="It is said.", stopped=StopReason.ANSWERED),
        )
        for event in events:
            _read_numbers.clear()
            ui.conversation.publish(AnswerStreamed(text="It is said.\n\n"))
            ui.conversation.apply_unsaved(event)
            await ui.pause()
            assert _read_numbers.isdisjoint(hidden), type(event).__name__

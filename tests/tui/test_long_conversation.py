"""What a key and an event cost does not grow with the number of questions asked before."""

from typing import Any

from msgspec.structs import asdict, replace
from typing_extensions import override

from roamtui.conversation.events import (
    AnswerStreamed,
    Origin,
    QuestionAnswered,
    SectionsSearched,
    StepStarted,
    StopReason,
)
from roamtui.conversation.state import Exchange
from roamtui.conversation.update import OpenSections, open_for_agent
from roamtui.tui.actions import Scope
from roamtui.tui.chat.chat_log import EXCHANGES_MAX
from tests.tui.driving import running
from tests.tui.long_conversation import make_long_app

_read_numbers: set[int] = set()


class _WatchedExchange(Exchange, frozen=True):
    """Notes its number whenever anything of it is read."""

    @override
    def __getattribute__(self, name: str) -> Any:
        _read_numbers.add(super().__getattribute__("number"))
        return super().__getattribute__(name)


async def test_no_key_and_no_event_reads_a_question_that_is_not_shown() -> None:
    questions = 3 * EXCHANGES_MAX
    hidden = range(1, questions - EXCHANGES_MAX + 1)
    section_command = OpenSections(section_ids=(), origin=Origin.AGENT)
    async with running(make_long_app(questions), (160, 48)) as ui:
        watched = tuple(_WatchedExchange(**asdict(exchange)) for exchange in ui.exchanges)
        ui.conversation.state = replace(ui.state, exchanges=watched)
        for scope, keys in {Scope.INPUT: "xy", Scope.TREE: "jk opox", Scope.CHAT: "jksn"}.items():
            ui.main.panes.focus_scope(scope)
            await ui.pause()
            for key in keys:
                _read_numbers.clear()
                await ui.press({" ": "space"}.get(key, key))
                await ui.pause()
                assert _read_numbers.isdisjoint(hidden), f"{key} in {scope}"
        command = replace(section_command, section_ids=tuple(ui.state.library.walk())[:2])
        events = (
            SectionsSearched(query="q", hits=()),
            open_for_agent(ui.state, command),
            StepStarted(number=1, input_tokens=1),
            QuestionAnswered(number=questions + 1, answer="It is said.", stopped=StopReason.ANSWERED),
        )
        for event in events:
            _read_numbers.clear()
            ui.conversation.publish(AnswerStreamed(text="It is said.\n\n"))
            ui.conversation.apply_unsaved(event)
            await ui.pause()
            assert _read_numbers.isdisjoint(hidden), type(event).__name__

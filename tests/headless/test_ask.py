"""Every event that a question may have has a line, and the page about them names each of its fields."""

import json
import re
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.conversation import events
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin, SearchHit, StopReason
from roamtui.conversation.messages import Usage
from roamtui.errors import ModelError
from roamtui.export.json import to_json_event
from roamtui.headless.ask import AnswerWriter, OutputFormat, run_ask
from tests.agent.asking import expanding, make_agent
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.real_documents import PROJECT_DIR

IDS = ("a8a96034", "b9e8ef5c")
EXPANDED = events.OpenResult(
    id="a8a96034:2", section_id="a8a96034", status=events.OpenStatus.OPENED, text="Text.", tokens=9
)
HIT = SearchHit(section_id="a8a96034", path=("Manual", "Tools"), score=0.5)
EVENTS: tuple[events.ConversationEvent, ...] = (
    events.QuestionAsked(number=1, question="Where?"),
    events.StepStarted(number=1, input_tokens=5_000),
    events.AnswerStreamed(text="Here"),
    events.ThinkingStreamed(text="Hm"),
    events.SectionsSearched(query="spade", hits=(HIT,)),
    events.ToolFinished(tool="search_sections", query="spade", results=(("a8a96034", "found"),)),
    events.ToolFinished(tool="expand_sections", section_ids=IDS, results=(("a8a96034", "opened"),)),
    events.ReplyRejected(text="Here"),
    events.ReminderSent(text="Quote."),
    events.RetryScheduled(reason="Busy.", wait_seconds=1.5),
    events.SectionsOpened(results=(EXPANDED,), origin=Origin.AGENT),
    events.SectionsClosed(section_ids=IDS, origin=Origin.PERSON, reason=events.CloseReason.BUDGET),
    events.LoadingStarted(count=300),
    events.NodesLoaded(section_ids=IDS, problems=(("a8a96034", "It is gone."),), notes=("An older copy.",)),
    events.WarningRaised(message="The disk is full."),
    events.QuestionAnswered(
        number=1, answer="Here.", stopped=StopReason.ANSWERED, citations=(), usage=Usage(), step_count=1, error=""
    ),
)


def _list_documented() -> Iterator[tuple[str, set[str]]]:
    page = (PROJECT_DIR / "docs" / "command-line.md").read_text("utf-8")
    for name, fields in re.findall(r"^\| `(\w+)` \|.*\| ([^|]*) \|$", page, re.MULTILINE):
        yield name, set(re.findall(r"`(\w+)`", fields))


def test_the_page_names_every_event_with_its_fields() -> None:
    written: dict[str, set[str]] = {}
    for event in EVENTS:
        described = to_json_event(event)
        if described is not None:
            written.setdefault(described[0], set()).update(described[1])
    documented = dict(_list_documented())
    documented.pop("answer")
    assert documented == written


@pytest.mark.parametrize(
    ("stopped", "error", "status"),
    [
        (StopReason.ANSWERED, "", 0),
        (StopReason.STEP_LIMIT, "", 0),
        (StopReason.STEP_LIMIT, "The model returned no answer.", 1),
        (StopReason.NOT_FOUND, "", 1),
        (StopReason.ERROR, "", 1),
        (StopReason.COST, "", 1),
        (StopReason.CANCELLED, "", 130),
    ],
)
def test_the_exit_status_says_how_a_question_ended(stopped: StopReason, error: str, status: int) -> None:
    writer = AnswerWriter(Agent(Conversation(make_library()), ScriptedModel()), is_watched=False)
    writer.record(replace(EVENTS[-1], stopped=stopped, answer="", error=error))
    assert writer.write_answer() == status


async def test_nothing_is_said_of_who_answered_if_nobody_did(capsys: pytest.CaptureFixture[str]) -> None:
    agent = Agent(Conversation(make_library()), ScriptedModel([ScriptedReply(error=ModelError("No."))]))
    assert await run_ask(agent, "Where?") == 1
    assert capsys.readouterr().out == ""


async def test_a_section_for_which_there_was_no_room_is_not_among_those_that_were_opened(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = "\n".join(f"# Part {number}\n\n{'The heron waits by the water. ' * 150}" for number in range(9))
    opening = expanding(*(f"Part {number}" for number in range(9)))
    agent = make_agent([opening, "Not found: no."], text=text, window_tokens=8_000)
    await run_ask(agent, "Where?", output_format=OutputFormat.JSON)
    answer = json.loads(capsys.readouterr().out)
    results = [(result["id"], result["status"]) for step in answer["steps"] for result in step["results"]]
    opened = [section_id for section_id, status in results if status == "opened"]
    assert "no_room" in dict(results).values()
    assert answer["opened"] == opened == answer["open"]


def test_a_line_is_ascii_json_whatever_the_text_holds(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    text = "é\u2028\u0085\x1b[31m\n\ud83d"
    agent = Agent(Conversation(make_library()), ScriptedModel())
    AnswerWriter(agent, is_watched=False, output_format=OutputFormat.EVENTS).record(events.AnswerStreamed(text=text))
    line = capfdbinary.readouterr().out
    assert line.count(b"\n") == 1
    assert line.isascii()
    assert b"\x1b" not in line
    assert json.loads(line) == {"v": 1, "event": "answer_streamed", "text": text}

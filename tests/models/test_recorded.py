"""A recorded conversation is replayed reply by reply, without its model."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.transcript import Usage
from roamtui.document.source_loader import open_sources
from roamtui.errors import ModelError, UsageError
from roamtui.models.base import Model, ReplyFinished, RetryPending, TextDelta, ToolCallReceived, UsageReported
from roamtui.models.recorded import RecordedModel
from roamtui.models.registry import make_model
from roamtui.search.keyword import KeywordSearcher
from tests.agent.recording import Turn, make_library, make_replies, record, replay, start_recorded, talk
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.fakes.site import FakeSite
from tests.models.asking import collect, make_request

LIBRARY = make_library()
IDS = {LIBRARY.title_of(section_id): section_id for section_id in LIBRARY.walk()}
SEARCH = ScriptedReply(calls=(("search_sections", {"query": "fish"}),))
OPEN_TWO = ScriptedReply(
    text="I look.",
    calls=(("expand_sections", {"section_ids": [IDS["Herons"], IDS["Owls"], "nonsense"]}),),
    thinking="Where?",
    retries=(RetryPending("Busy.", 20.0),),
    usage=Usage(input_tokens=700, output_tokens=9, cost_usd=0.5, source="provider"),
)
QUOTE = ScriptedReply(
    text=f'A heron eats "forty grams of fish a day" [{IDS["Herons"]}].',
    usage=Usage(input_tokens=900, output_tokens=20, cached_tokens=700, cost_usd=0.25, source="provider"),
)
PLAIN = ScriptedReply(text="About forty grams.")
TALK = (
    Turn(question="How much?", replies=(SEARCH, OPEN_TWO, PLAIN, QUOTE)),
    Turn(question="And owls?", replies=(replace(QUOTE, thinking="Hm.", chunk_size=3),), opens=(IDS["Swifts"],)),
)
_files = count()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a run.jsonl"


async def test_each_reply_says_what_was_said(path: Path) -> None:
    await record(path, (Turn(question="How much?", replies=(OPEN_TWO, QUOTE)),))
    model = make_model(f"recorded:{path}")
    assert isinstance(model, Model)
    assert isinstance(model, RecordedModel)
    assert (model.name, model.window_tokens, model.questions) == (f"recorded:{path}", 128_000, ("How much?",))
    assert model.is_about(LIBRARY.content_hash)
    assert not model.is_about("0123")
    retrying, *said, call, usage, stopped = await collect(model, make_request("Question: How much?"))
    assert retrying == RetryPending("Busy.", 20.0)
    assert said == [TextDelta("I "), TextDelta("look.")]
    assert isinstance(call, ToolCallReceived)
    assert call.call.name == "expand_sections"
    assert usage == UsageReported(OPEN_TWO.usage or Usage())
    assert stopped == ReplyFinished("tool_calls", '[{"type": "thinking", "thinking": "Where?"}]')
    await model.close()


async def test_the_log_of_any_conversation_can_be_played(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "conversations")
    conversation = Conversation.start(make_library(), store=store)
    searcher = KeywordSearcher(LIBRARY)
    asked = await talk(Agent(conversation, ScriptedModel(make_replies(TALK)), searcher), TALK)
    path = tmp_path / "conversations" / f"{conversation.state.id}.jsonl"
    assert await replay(path, TALK, options=AgentOptions()) == asked


async def test_a_replay_fetches_and_searches_as_it_did(path: Path) -> None:
    pages = {"/a.md": "# A\n\nWords of a heron.\n", "/b.md": "# B\n\nWords of an owl.\n"}
    links = "# Site\n\n## Docs\n\n- [A](/a.md)\n- [B](/b.md)\n- [Gone](/gone.md)\n"
    with FakeSite({"/llms.txt": links, **pages}) as site:
        library, loader = open_sources([site.url("/llms.txt")])
        ids = [section_id for section_id in library.walk() if library.title_of(section_id) in ("A", "B", "Gone")]
        replies = (
            ScriptedReply(calls=(("expand_sections", {"section_ids": ids}),)),
            ScriptedReply(calls=(("search_sections", {"query": "heron"}),)),
            ScriptedReply(text=f'It says "Words of a heron" [{ids[0]}].'),
        )
        turns = (Turn(question="Which bird?", replies=replies),)
        conversation = start_recorded(path, library, loader)
        recorded = await talk(Agent(conversation, ScriptedModel(replies), KeywordSearcher(library)), turns)
        library, loader = open_sources([site.url("/llms.txt")])
        conversation = Conversation.start(library, loader=loader)
        replayed = await talk(Agent(conversation, RecordedModel(path), KeywordSearcher(library)), turns)
    assert replayed == recorded
    assert [status in str(recorded) for status in ("OPENED", "FAILED", "NodesLoaded", "SectionsSearched")] == [True] * 4
    assert conversation.state.transcript.exchanges[0].citations[0].is_verified


@pytest.mark.parametrize("stops_after", [5, 9])
async def test_a_stopped_question_stops_again_and_the_next_is_answered(path: Path, stops_after: int) -> None:
    turns = (
        replace(TALK[0], replies=(SEARCH, replace(PLAIN, chunk_size=2)), stops_after=stops_after),
        Turn(question="Again?", replies=(OPEN_TWO, QUOTE)),
    )
    recorded = await record(path, turns)
    played = await replay(path, (replace(turns[0], stops_after=None), turns[1]))
    assert played[0][:-1] == recorded[0]
    assert played[0][-1] == f"ReplayStoppedError: This question of {path} was cancelled here."
    assert played[1] == recorded[1]


async def test_a_question_that_was_stopped_before_it_was_sent_has_no_reply(path: Path) -> None:
    turns = (replace(TALK[0], stops_after=1), Turn(question="Again?", replies=(QUOTE,)))
    await record(path, turns)
    told = (await replay(path, (replace(turns[0], stops_after=None), turns[1])))[0]
    assert f'{path} has no reply to this question; the recorded one is "Again?".' in told[-1]


async def test_another_model_is_told_by_the_name_so_that_its_replay_rebuilds_as_it_did(path: Path) -> None:
    first = ScriptedModel([SEARCH, OPEN_TWO, QUOTE], name="first", window_tokens=50_000)
    second = ScriptedModel([QUOTE], name="second", window_tokens=60_000)
    agent = Agent(start_recorded(path, make_library()), first)
    recorded = await talk(agent, TALK[:1])
    agent.model = second
    recorded += await talk(agent, (replace(TALK[1], opens=()),))
    model = RecordedModel(path)
    assert (model.name, model.window_tokens) == (f"recorded:{path}", 50_000)
    again = Agent(Conversation.start(make_library()), model)
    assert await talk(again, TALK[:1]) == recorded[:1]
    assert (model.name, model.window_tokens) == (f"recorded:{path}#second", 60_000)
    assert await talk(again, (replace(TALK[1], opens=()),)) == recorded[1:]


async def test_another_question_and_one_more_request_are_refused_with_the_reason(path: Path) -> None:
    await record(path, TALK[:1])
    with pytest.raises(ModelError, match=r'has no reply to this question; the recorded one is "How much\?"'):
        await collect(RecordedModel(path), make_request("How many?"))
    told = await replay(path, TALK[:1], text="# Birds\n\nNothing about fish.\n")
    assert "QuestionAnswered" in told[0][-1]
    model = RecordedModel(path)
    for request in (make_request("How much?"), *(make_request("So?"),) * 3):
        await collect(model, request)
    with pytest.raises(ModelError, match="has no reply to this question"):
        await collect(model, make_request("So?"))


async def test_an_answer_that_was_cut_off_is_cut_off_once(path: Path) -> None:
    turns = (Turn(question="How much?", replies=(replace(QUOTE, reason="length"),)),)
    recorded = await record(path, turns)
    assert "cut off here" in recorded[0][-1]
    assert (await replay(path, turns))[0][-1] == recorded[0][-1]


@pytest.mark.parametrize("content", ["", "# Heading\n", '{"event": "question_asked"}\n', "[]\n", "\x00", '{"event": "'])
def test_a_file_that_is_no_conversation_is_refused(path: Path, content: str) -> None:
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="is not a conversation of roamtui"):
        RecordedModel(path)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot replay .*: no such file"):
        make_model(f"recorded:{tmp_path / 'none.jsonl'}")
    for name in (tmp_path, "/dev/zero"):
        with pytest.raises(UsageError, match="not a file"):
            make_model(f"recorded:{name}")


REPLIES = st.sampled_from(
    [
        SEARCH,
        OPEN_TWO,
        QUOTE,
        PLAIN,
        replace(PLAIN, retries=(RetryPending("Busy.", 2.0),), thinking="Hm, so.", chunk_size=1),
        ScriptedReply(),
        ScriptedReply(text="Not found: nothing about it."),
        ScriptedReply(calls=(("expand_sections", "{broken"), ("collapse_sections", {"section_ids": [IDS["Owls"]]}))),
        ScriptedReply(calls=(("no_tool", {}), ("expand_sections", {"section_ids": [IDS["Birds"]]}))),
        ScriptedReply(text="So", error=ModelError("The line broke.")),
        ScriptedReply(error=ModelError("Too long.", overflow=True)),
    ]
)
TURNS = st.lists(
    st.builds(
        Turn,
        question=st.sampled_from(["How much?", "And owls?", "Question: why?", "…"]),
        replies=st.just(()),
        opens=st.sampled_from([(), (), (IDS["Swifts"],), (IDS["Owls"], IDS["Herons"])]),
        within=st.sampled_from([None, None, IDS["Herons"]]),
    ),
    min_size=1,
    max_size=4,
)


def _leave_out_words(told: list[list[str]]) -> list[list[str]]:
    """Leave out streamed text: if the last reply was empty, the replay streams the one before it, the answer, again."""
    return [[event for event in events if not event.startswith("said ")] for events in told]


@given(TURNS, st.lists(REPLIES, min_size=16, max_size=16))
def test_every_conversation_is_played_event_by_event(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Turn], replies: list[ScriptedReply]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"replay-{next(_files)}.jsonl"

    async def check() -> None:
        recorded = await record(path, tuple(turns), ScriptedModel(replies * 2))
        assert _leave_out_words(await replay(path, tuple(turns))) == _leave_out_words(recorded)

    asyncio.run(check())
    path.unlink()


@pytest.fixture(scope="session")
def whole_log(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[list[str]]]:
    path = tmp_path_factory.mktemp("whole") / "run.jsonl"
    recorded = asyncio.run(record(path, TALK))
    return path.read_bytes(), recorded


@given(st.data())
def test_a_log_cut_at_any_byte_is_played_up_to_there_or_refused(
    tmp_path_factory: pytest.TempPathFactory, whole_log: tuple[bytes, list[list[str]]], data: st.DataObject
) -> None:
    whole, recorded = whole_log
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    near_ends = st.sampled_from(ends).flatmap(lambda end: st.integers(max(0, end - 2), min(len(whole), end + 1)))
    cut = data.draw(st.one_of(near_ends, st.integers(0, len(whole))))
    path = tmp_path_factory.getbasetemp() / f"cut-{next(_files)}.jsonl"
    path.write_bytes(whole[:cut])
    if cut < ends[0]:
        with pytest.raises(UsageError, match="is not a conversation of roamtui"):
            RecordedModel(path)
        return
    replayed = asyncio.run(replay(path, TALK))
    first = next((turn for turn in range(len(TALK)) if replayed[turn] != recorded[turn]), None)
    if first is None:
        return
    *before, last = replayed[first]
    if b"question_asked" in whole[: whole.rfind(b"\n", 0, cut) + 1]:
        assert before == recorded[first][: len(before)]
    assert "stopped=<StopReason.ERROR" in last
    assert f"{path} ends in the middle of this question" in last or f"{path} has no" in last

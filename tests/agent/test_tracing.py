"""What was traced happens again, event by event, without the model that said it."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.loop import Agent
from roamtui.agent.tracing import TracedAgent
from roamtui.conversation.events import SaveFailed
from roamtui.conversation.session import Session
from roamtui.conversation.transcript import Usage
from roamtui.document.build import open_named
from roamtui.errors import ModelError, UsageError
from roamtui.models.base import Retrying
from roamtui.models.recorded import RecordedModel
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from roamtui.models.trace import TraceWriter
from roamtui.search.keyword import KeywordSearcher
from tests.agent.recording import Turn, make_library, make_replies, record, replay, talk
from tests.fakes.site import FakeSite

LIBRARY = make_library()
IDS = {LIBRARY.title_of(section_id): section_id for section_id in LIBRARY.walk()}
KEY = "sk-0123456789abcdef"
SEARCH = ScriptedReply(calls=(("search_sections", {"query": "fish"}),))
OPEN_TWO = ScriptedReply(
    text="I look.", calls=(("expand_sections", {"section_ids": [IDS["Herons"], IDS["Owls"], "nonsense"]}),)
)
QUOTE = ScriptedReply(
    text=f'A heron eats "forty grams of fish a day" [{IDS["Herons"]}].',
    usage=Usage(input_tokens=900, output_tokens=20, cached_tokens=700, cost_usd=0.01, source="provider"),
)
PLAIN = ScriptedReply(text="About forty grams.")
TALK = (
    Turn(question="How much?", replies=(SEARCH, OPEN_TWO, PLAIN, QUOTE)),
    Turn(question="And owls?", replies=(replace(QUOTE, thinking="Hm.", chunk_size=3),), opens=(IDS["Swifts"],)),
)
_files = count()


def lines_of(path: Path, kind: str | None = None) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    return [line for line in lines if kind is None or line["kind"] == kind]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.jsonl"


async def test_a_replay_fetches_and_searches_as_it_did(path: Path) -> None:
    pages = {"/a.md": "# A\n\nWords of a heron.\n", "/b.md": "# B\n\nWords of an owl.\n"}
    links = "# Site\n\n## Docs\n\n- [A](/a.md)\n- [B](/b.md)\n- [Gone](/gone.md)\n"
    with FakeSite({"/llms.txt": links, **pages}) as site:
        library, loader = open_named([site.url("/llms.txt")])
        ids = [section_id for section_id in library.walk() if library.title_of(section_id) in ("A", "B", "Gone")]
        search = ScriptedReply(calls=(("search_sections", {"query": "heron"}),))
        replies = (
            ScriptedReply(calls=(("expand_sections", {"section_ids": ids}),)),
            search,
            ScriptedReply(text=f'It says "Words of a heron" [{ids[0]}].'),
        )
        turns = (Turn(question="Which bird?", replies=replies),)
        writer = TraceWriter(path, {})
        session = Session.start(library, loader=loader)
        searcher = KeywordSearcher(library)
        traced = await talk(TracedAgent(session, ScriptedModel(replies), searcher, writer=writer), turns)
        writer.close()
        library, loader = open_named([site.url("/llms.txt")])
        session = Session.start(library, loader=loader)
        searcher = KeywordSearcher(library)
        replayed = await talk(Agent(session, RecordedModel(path, {}), searcher), turns)
    assert _without_progress(replayed) == _without_progress(traced)
    assert [status in str(traced) for status in ("OPENED", "FAILED", "NodesLoaded", "SectionsSearched")] == [True] * 4
    assert session.state.transcript.exchanges[0].citations[0].is_verified


def _without_progress(told: list[list[str]]) -> list[list[str]]:
    """Leave out how far the fetching was: pages come side by side, in any order."""
    return [[event for event in events if not event.startswith("LoadingProgressed")] for events in told]


async def test_a_stopped_question_is_marked_and_stops_again(path: Path) -> None:
    turns = (
        replace(TALK[0], replies=(SEARCH, replace(PLAIN, chunk_size=2)), stops_after=8),
        Turn(question="Again?", replies=(OPEN_TWO, QUOTE)),
    )
    recorded = await record(path, turns)
    assert "AnswerStreamed" in recorded[0][-1]
    assert [line["kind"] for line in lines_of(path) if line["kind"] in ("cancelled", "abandoned")] == [
        "cancelled",
        "abandoned",
    ]
    assert await replay(path, turns) == recorded
    by_hand = await replay(path, (replace(turns[0], stops_after=None), turns[1]))
    assert by_hand[0][:-1] == recorded[0]
    assert by_hand[0][-1] == f"ReplayStoppedError: The person stopped reply 2 of {path} here."
    assert by_hand[1] == recorded[1]


async def test_a_model_that_is_chosen_later_is_traced_and_its_replay_rebuilds_as_it_did(path: Path) -> None:
    writer = TraceWriter(path, {})
    first = ScriptedModel([SEARCH, OPEN_TWO, QUOTE], name="first", window_tokens=50_000)
    second = ScriptedModel([QUOTE], name="second", window_tokens=60_000)
    agent = TracedAgent(Session.start(make_library()), first, writer=writer)
    recorded = await talk(agent, (Turn(question="How much?", replies=()),))
    agent.model = second
    agent.model = agent.model
    recorded += await talk(agent, (Turn(question="And owls?", replies=()),))
    writer.close()
    assert [(line["model"], line["window_tokens"]) for line in lines_of(path, "request")] == [
        *[("first", 50_000)] * 3,
        ("second", 60_000),
    ]
    model = RecordedModel(path)
    assert (model.name, model.window_tokens) == (f"recorded:{path}", 50_000)
    again = Agent(Session.start(make_library()), model)
    assert await talk(again, TALK[:1]) == recorded[:1]
    assert (model.name, model.window_tokens) == (f"recorded:{path}#second", 60_000)
    assert await talk(again, (replace(TALK[1], opens=()),)) == recorded[1:]


async def test_a_full_disk_is_told_once_and_the_answer_comes() -> None:
    writer = TraceWriter(Path("/dev/full"), {})
    agent = TracedAgent(Session.start(make_library()), ScriptedModel(make_replies(TALK)), writer=writer)
    recorded = await talk(agent, TALK)
    told = [event for turn in recorded for event in turn if event.startswith(SaveFailed.__name__)]
    assert len(told) == 1
    assert "/dev/full" in told[0]
    assert recorded[1][-1].startswith("QuestionAnswered")


REPLIES = st.sampled_from(
    [
        SEARCH,
        OPEN_TWO,
        QUOTE,
        PLAIN,
        replace(PLAIN, retries=(Retrying("Busy.", 2.0),), thinking="Hm, so.", chunk_size=1),
        ScriptedReply(),
        ScriptedReply(text="Not found: nothing about it."),
        ScriptedReply(calls=(("expand_sections", "{broken"), ("collapse_sections", {"section_ids": [IDS["Owls"]]}))),
        ScriptedReply(calls=(("no_tool", {}), ("expand_sections", {"section_ids": [IDS["Birds"]]}))),
        ScriptedReply(text="So", error=ModelError("The line broke.", retryable=True)),
        ScriptedReply(error=ModelError("Too long.", overflow=True)),
    ]
)
TURNS = st.lists(
    st.builds(
        Turn,
        question=st.sampled_from(["How much?", "And owls?", "Question: why?", "…"]),
        replies=st.just(()),
        opens=st.sampled_from([(), (), (IDS["Swifts"],), (IDS["Owls"], IDS["Herons"])]),
        stops_after=st.one_of(st.none(), st.integers(1, 25)),
        within=st.sampled_from([None, None, IDS["Herons"]]),
    ),
    min_size=1,
    max_size=4,
)


@given(TURNS, st.lists(REPLIES, min_size=4, max_size=20))
def test_every_conversation_is_replayed_event_by_event(
    tmp_path_factory: pytest.TempPathFactory, turns: list[Turn], replies: list[ScriptedReply]
) -> None:
    path = tmp_path_factory.getbasetemp() / f"replay-{next(_files)}.jsonl"

    async def check() -> None:
        recorded = await record(path, tuple(turns), ScriptedModel(replies))
        assert await replay(path, tuple(turns)) == recorded

    asyncio.run(check())
    path.unlink()


@pytest.fixture(scope="session")
def whole_trace(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[list[str]]]:
    path = tmp_path_factory.mktemp("whole") / "run.jsonl"
    recorded = asyncio.run(record(path, TALK))
    return path.read_bytes(), recorded


@given(st.data())
def test_a_trace_cut_at_any_byte_is_replayed_up_to_there_or_refused(
    tmp_path_factory: pytest.TempPathFactory, whole_trace: tuple[bytes, list[list[str]]], data: st.DataObject
) -> None:
    whole, recorded = whole_trace
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    near_ends = st.sampled_from(ends).flatmap(lambda end: st.integers(max(0, end - 2), min(len(whole), end + 1)))
    cut = data.draw(st.one_of(near_ends, st.integers(0, len(whole))))
    path = tmp_path_factory.getbasetemp() / f"cut-{next(_files)}.jsonl"
    path.write_bytes(whole[:cut])
    if cut < ends[0] - 1:
        with pytest.raises(UsageError, match="is no trace of roamtui"):
            RecordedModel(path)
        return
    replayed = asyncio.run(replay(path, TALK))
    first = next((turn for turn in range(len(TALK)) if replayed[turn] != recorded[turn]), None)
    if first is None:
        return
    *before, last = replayed[first]
    assert before == recorded[first][: len(before)]
    assert "stopped=<Stopped.ERROR" in last
    assert f"{path} ends within reply" in last or f"{path} holds no more than" in last

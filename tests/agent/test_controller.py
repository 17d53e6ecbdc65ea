"""Everything that changes a conversation waits its turn, and every update is published once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typing_extensions import override

from roamtui.agent.controller import ConversationController, ConversationUpdated
from roamtui.agent.loop import Agent
from roamtui.conversation.commands import CloseSections, ExpandSections, FoldNodes, Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    ConversationSwitched,
    DocumentReloaded,
    NodesFolded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    SectionsExpanded,
    SectionsMarkedForClosing,
)
from roamtui.conversation.log import locked
from roamtui.conversation.session import Session
from roamtui.conversation.state import AskOptions
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import StopReason
from roamtui.document.library import Library
from roamtui.document.source_loader import open_sources
from roamtui.errors import ModelError, StoreError
from roamtui.quotes.verdicts import make_proof
from roamtui.search.base import EmbedKind, Searcher, SearchServices
from roamtui.search.factory import make_searcher
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import RetrievalOptions, SearchMode
from tests.agent.asking import MANUAL, expanding, ids, make_agent, model_of, saying
from tests.conversation.conversations import find, make_library
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply, SlowModel
from tests.fakes.site import FakeSite


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(tmp_path / "conversations")


def control(agent: Agent) -> tuple[ConversationController, list[ConversationEvent]]:
    """Return a controller, and a list to which every event is added."""
    controller, seen = ConversationController(agent), list[ConversationEvent]()
    controller.subscribe(lambda update: seen.append(update.event))
    return controller, seen


def questions(controller: ConversationController) -> list[str]:
    return [exchange.question for exchange in controller.state.transcript.exchanges]


async def wait_for(is_met: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not is_met():  # noqa: ASYNC110 - the condition may depend on a thread
            await asyncio.sleep(0)


async def settle() -> None:
    """Let every task run until it waits for something that a test holds back."""
    for _ in range(50):
        await asyncio.sleep(0)


@asynccontextmanager
async def starting(controller: ConversationController) -> AsyncIterator[asyncio.Event]:
    """Give a gate that holds back the start of the model, and open it in the end."""
    gate = asyncio.Event()
    controller.agent.model = SlowModel([saying("Not found: no.")] * 9, gate=gate)
    yield gate
    gate.set()


async def run_in_order(*requests: Coroutine[Any, Any, object]) -> list[asyncio.Task[object]]:
    """Begin each request, and let it come as far as it can, before the next."""
    tasks = []
    for request in requests:
        tasks.append(asyncio.create_task(request))
        await settle()
    return tasks


async def test_a_question_stays_in_its_conversation_while_its_model_starts(store: ConversationStore) -> None:
    controller, seen = control(make_agent(store=store))
    first_id = controller.state.id
    async with starting(controller) as gate:
        tasks = await run_in_order(controller.ask("First?"), controller.start_new(), controller.ask("Second?"))
        assert controller.state.id == first_id
        gate.set()
        await asyncio.gather(*tasks)
    assert [e.question for e in store.load(first_id).transcript.exchanges] == ["First?"]
    assert controller.state.id != first_id
    assert questions(controller) == ["Second?"]
    order = [type(e) for e in seen if isinstance(e, QuestionAsked | QuestionAnswered | ConversationSwitched)]
    assert order == [QuestionAsked, QuestionAnswered, ConversationSwitched, QuestionAsked, QuestionAnswered]


async def test_a_reload_and_a_rewind_wait_for_the_answer() -> None:
    controller, seen = control(make_agent([saying("Not found: no.")]))
    changed = make_library(MANUAL.replace("Open daily.", "Closed."))
    await controller.ask("First?")
    (exchange,) = controller.state.transcript.exchanges
    seen.clear()
    async with starting(controller) as gate:
        tasks = await run_in_order(controller.ask("Second?"), controller.reload(changed), controller.rewind(exchange))
        assert controller.state.library is not changed
        gate.set()
        await asyncio.gather(*tasks)
    assert controller.state.library == changed
    assert questions(controller) == []
    kinds = QuestionAsked | QuestionAnswered | DocumentReloaded | QuestionsRewound
    order = [type(event) for event in seen if isinstance(event, kinds)]
    assert order == [QuestionAsked, QuestionAnswered, DocumentReloaded, QuestionsRewound]


async def test_section_commands_act_at_once_also_before_and_during_an_answer() -> None:
    controller, seen = control(make_agent())
    fees, hours = (find(controller.state, title) for title in ("Fees", "Hours"))

    def expand(section_id: str) -> Coroutine[Any, Any, str]:
        return controller.dispatch(lambda _: ExpandSections(section_ids=(section_id,), origin=Origin.PERSON))

    async with starting(controller) as gate:
        asking = asyncio.create_task(controller.ask("First?"))
        await settle()
        await expand(fees)
        assert [type(event) for event in seen] == [SectionsExpanded], "the model has not started"
        reply_gate = asyncio.Event()
        controller.agent.model = ScriptedModel([ScriptedReply(text="Not found: no.", gate=reply_gate, gate_after=0)])
        gate.set()
        await wait_for(lambda: controller.state.is_asking)
        await expand(hours)
        close = CloseSections(section_ids=(fees,), origin=Origin.PERSON)
        await controller.dispatch(lambda _: close)
        during = controller.state
        assert (during.is_asking, during.open_ids) == (True, (fees, hours)), "nothing closes during an answer"
        assert isinstance(seen[-1], SectionsMarkedForClosing)
        reply_gate.set()
        await asking
    assert controller.state.open_ids == (hours,)


async def test_a_question_that_replaces_one_is_asked_in_its_place() -> None:
    controller, seen = control(make_agent([saying("Not found: one."), saying("Not found: two.")]))
    fees = find(controller.state, "Fees")
    await controller.ask("First?")
    (exchange,) = controller.state.transcript.exchanges
    await controller.ask("Again?", AskOptions(replaces=exchange, open_first=(fees,)))
    assert questions(controller) == ["Again?"]
    assert controller.state.transcript.exchanges[0].answer.startswith("Not found: two.")
    kinds = QuestionAsked | QuestionsRewound | SectionsExpanded
    order = [type(event) for event in seen if isinstance(event, kinds)]
    assert order == [QuestionAsked, QuestionsRewound, SectionsExpanded, QuestionAsked]


async def test_what_concerns_an_exchange_does_not_happen_to_another_conversation(store: ConversationStore) -> None:
    agent = make_agent([saying("Not found: one."), saying("Not found: two.")], store=store)
    controller, _ = control(agent)
    await controller.ask("First?")
    first, (exchange,) = controller.state.id, controller.state.transcript.exchanges
    await controller.start_new()
    await controller.ask("Second?")
    second = controller.state.id
    await controller.ask("First?", AskOptions(replaces=exchange))
    await controller.rewind(exchange)
    await controller.fork(exchange)
    assert controller.state.id == second
    assert questions(controller) == ["Second?"]
    await controller.resume(first)
    await controller.fork(exchange)
    assert controller.state.id not in (first, second)


async def test_a_conversation_that_cannot_be_read_leaves_the_present_one(store: ConversationStore) -> None:
    controller, seen = control(make_agent([saying("Not found: no.")], store=store))
    with pytest.raises(StoreError):
        await controller.resume("0123456789ab")
    assert seen == []
    await controller.ask("First?")
    assert questions(controller) == ["First?"]


async def test_a_cancelled_question_is_published_to_its_end() -> None:
    gate = asyncio.Event()
    controller, seen = control(make_agent([ScriptedReply(text="It costs 2 euros.", gate=gate, gate_after=1)]))
    asking = asyncio.create_task(controller.ask("How much?"))
    await wait_for(lambda: any(isinstance(event, AnswerStreamed) for event in seen))
    asking.cancel()
    await asyncio.wait({asking})
    assert asking.cancelled()
    ending = seen[-1]
    assert isinstance(ending, QuestionAnswered)
    assert ending.stopped is StopReason.CANCELLED
    assert ending.answer == "It costs 2 euros"
    assert sum(isinstance(event, QuestionAnswered) for event in seen) == 1


@pytest.mark.parametrize("error", [None, ModelError("The connection broke.")])
async def test_an_answer_that_is_stopped_or_fails_keeps_its_verdicts(error: ModelError | None) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    text = f'It costs "2 euros a day" [{fees}]. It was "3 francs" [{fees}]. And th'
    gate = None if error else asyncio.Event()
    model_of(agent).add_replies(
        expanding(fees), ScriptedReply(text=f"{text}en", chunk_size=len(text), gate=gate, gate_after=1, error=error)
    )
    controller, seen = control(agent)
    asking = asyncio.create_task(controller.ask("How much?"))
    await wait_for(lambda: any(isinstance(event, AnswerStreamed) for event in seen))
    if error is None:
        asking.cancel()
    await asyncio.wait({asking})
    exchange = controller.state.transcript.exchanges[-1]
    assert exchange.stopped is (StopReason.ERROR if error else StopReason.CANCELLED)
    assert [mark.label for mark in make_proof(exchange.answer, exchange.citations).marks] == ["[1 ✓]", "[2 ✗]"]


async def test_a_page_that_comes_after_a_switch_opens_nothing_in_the_other_conversation() -> None:
    is_requested, may_send = threading.Event(), threading.Event()

    def hold(path: str) -> None:
        if path == "/a.md":
            is_requested.set()
            assert may_send.wait(20)

    with FakeSite({"/llms.txt": "# Site\n\n- [a](/a.md)\n", "/a.md": "# A\n\nWords.\n"}, before=hold) as site:
        library, loader = open_sources([site.url("/llms.txt")])
        controller, _ = control(Agent(Session.start(library, loader=loader), ScriptedModel()))
        link = find(library, "a")
        command = ExpandSections(section_ids=(link,), origin=Origin.PERSON)
        opening = asyncio.create_task(controller.dispatch(lambda _: command))
        assert await asyncio.to_thread(is_requested.wait, 20)
        await controller.start_new()
        may_send.set()
        await opening
        assert controller.state.open_sections == ()


async def test_updates_carry_the_newest_state() -> None:
    controller = ConversationController(make_agent())
    fees = find(controller.state, "Fees")
    updates: list[ConversationUpdated] = []
    controller.subscribe(updates.append)
    controller.agent.model = ScriptedModel([expanding(fees), saying("Not found: no.")])
    await controller.ask("How much?")
    expanded = next(update for update in updates if isinstance(update.event, SectionsExpanded))
    assert expanded.state.open_ids == (fees,)
    assert updates[-1].state is controller.state


async def test_switching_waits_for_another_program_without_stopping_anything_else(
    tmp_path: Path, store: ConversationStore
) -> None:
    controller, _ = control(make_agent([saying("Not found: no.")] * 2, store=store))
    await controller.ask("Before?")
    await controller.dispatch(lambda state: FoldNodes(section_ids=(next(state.library.walk()),)))
    first = controller.state.id
    with locked(tmp_path / "conversations"):
        switching = asyncio.create_task(controller.start_new())
        await settle()
        assert not switching.done()
    await switching
    assert controller.state.id != first
    assert any(isinstance(event, NodesFolded) for event in store.read(first).events)


async def test_a_question_that_follows_is_asked_only_after_a_whole_answer(store: ConversationStore) -> None:
    controller, _ = control(make_agent(store=store))
    async with starting(controller) as gate:
        tasks = await run_in_order(
            controller.ask("First?"),
            controller.ask("Second?", AskOptions(needs_previous_answer=True)),
            controller.start_new(),
            controller.ask("Third?", AskOptions(needs_previous_answer=True)),
        )
        gate.set()
        assert await asyncio.gather(*tasks) == [True, True, None, False]
    assert questions(controller) == []
    async with starting(controller) as gate:
        stopped, waiting = await run_in_order(
            controller.ask("First?"), controller.ask("Second?", AskOptions(needs_previous_answer=True))
        )
        stopped.cancel()
        gate.set()
        assert await waiting is False
    assert questions(controller) == []
    assert await controller.ask("Third?")


async def test_a_question_does_not_follow_an_answer_that_failed() -> None:
    failing = ScriptedReply(text="", error=ModelError("The key was refused."))
    controller, _ = control(make_agent([failing, saying("Not found: no.")]))
    tasks = await run_in_order(
        controller.ask("First?"), controller.ask("Second?", AskOptions(needs_previous_answer=True))
    )
    assert await asyncio.gather(*tasks) == [True, False]
    assert questions(controller) == ["First?"]


class GatedEmbedder(HashedEmbedder):
    """Waits for its gate before it embeds, like a slow server."""

    def __init__(self) -> None:
        super().__init__()
        self.was_asked, self.gate = threading.Event(), threading.Event()

    @override
    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:
        self.was_asked.set()
        assert self.gate.wait(30)
        return super().embed(texts, kind=kind)


def make_hybrid(library: Library, embedder: HashedEmbedder, cache: Path) -> Searcher | None:
    options = RetrievalOptions(mode=SearchMode.HYBRID, chunk_size=50)
    return make_searcher(library, options, SearchServices(embedder=embedder, vector_folder=cache))


def ignore(done: int, total: int) -> None:
    """Take no note of progress."""


async def test_another_searcher_is_used_once_its_index_is_complete_also_of_a_reloaded_document(tmp_path: Path) -> None:
    words = KeywordSearcher(make_library(MANUAL))
    controller, _ = control(make_agent(searcher=words))
    embedder, progress = GatedEmbedder(), list[tuple[int, int]]()
    changing = asyncio.create_task(
        controller.change_searcher(
            lambda library: make_hybrid(library, embedder, tmp_path), lambda *counts: progress.append(counts)
        )
    )
    await wait_for(embedder.was_asked.is_set)
    assert controller.agent.searcher is words
    grown = make_library(MANUAL + "\n## Kangaroos\n\nThey hop at night.\n")
    await controller.reload(grown)
    assert [hit.section_id for hit in await controller.search("hop", 1)] == [find(controller.state, "Kangaroos")]
    embedder.gate.set()
    await changing
    assert controller.agent.searcher is not words
    assert len(embedder.documents) == len(set(embedder.documents))
    assert [text for text in embedder.documents if "Kangaroos" in text]
    (hit,) = await controller.search("kangaroo hopping", 1)
    assert (hit.section_id, "vector rank 1" in hit.why) == (find(controller.state, "Kangaroos"), True)
    first = len(embedder.documents) - 1
    assert progress == [(0, first), (first, first), (0, 1), (1, 1)]


async def test_a_searcher_that_fails_or_is_cancelled_is_not_used(tmp_path: Path) -> None:
    words = KeywordSearcher(make_library(MANUAL))
    controller, _ = control(make_agent(searcher=words))
    away = HashedEmbedder(fails_after=0)
    with pytest.raises(ModelError, match="away"):
        await controller.change_searcher(lambda library: make_hybrid(library, away, tmp_path), ignore)
    assert controller.agent.searcher is words
    embedder, threads = GatedEmbedder(), set(threading.enumerate())
    many = make_library("\n".join(f"# Title {number}\n\nText {number}.\n" for number in range(150)))
    await controller.reload(many)
    changing = asyncio.create_task(
        controller.change_searcher(lambda library: make_hybrid(library, embedder, tmp_path), ignore)
    )
    await wait_for(embedder.was_asked.is_set)
    changing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await changing
    embedder.gate.set()
    for thread in set(threading.enumerate()) - threads:
        if "run_into" in thread.name:
            await asyncio.to_thread(thread.join, 30)
    assert controller.agent.searcher is words
    assert 0 < len(embedder.documents) < 100
    again = HashedEmbedder()
    await controller.change_searcher(lambda library: make_hybrid(library, again, tmp_path), ignore)
    assert len(again.documents) + len(embedder.documents) == 150
    assert controller.agent.searcher is not words
    await controller.change_searcher(lambda _: None, ignore)
    assert controller.agent.searcher is None

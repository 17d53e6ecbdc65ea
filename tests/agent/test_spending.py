"""What a conversation has spent: every request counts, however it ends, and whatever becomes of its question."""

import asyncio
from threading import Barrier
from typing import Any

import pytest
from msgspec.structs import replace
from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import StepStarted, StopReason
from roamtui.conversation.log import ConversationStore, encode_events
from roamtui.conversation.messages import Usage
from roamtui.conversation.notices import format_usage
from roamtui.conversation.update import AskOptions
from roamtui.document.library import Library
from roamtui.errors import ModelError
from roamtui.models.search_models import BackgroundLoop, make_reranker
from roamtui.models.worker_protocol import ModelFailure, ProviderError
from roamtui.search.base import Hit, RetrievalOptions, SearchServices
from roamtui.search.searcher import Searcher
from tests.agent.asking import MANUAL, answer, expanding, make_agent, model_of, saying
from tests.conversation.conversations import FakeApprover, make_library
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

PAID = Usage(input_tokens=1_000, output_tokens=50, cost_usd=0.0081, source="provider")
REPLY = ScriptedReply(text="Not found: no.", usage=PAID)


async def _ask_again(agent: Agent, *replies: ScriptedReply) -> None:
    """Ask the last question again in place of its answer, as a person does with `r`."""
    model_of(agent).add_replies(*replies)
    last = agent.conversation.state.exchanges[-1]
    await agent.ask(last.question, AskOptions(replaces=last))


async def test_an_answer_that_was_replaced_stays_paid(store: ConversationStore) -> None:
    agent = make_agent([REPLY], store=store)
    await agent.ask("Why?")
    for _ in range(6):
        await _ask_again(agent, REPLY)
    state = agent.conversation.state
    assert len(state.exchanges) == 1
    assert state.spent.cost_usd == pytest.approx(7 * 0.0081)
    assert state.exchanges[0].usage == PAID
    assert format_usage(state.spent).endswith("$0.0567")
    assert store.read(state.id).state.spent == state.spent
    (summary,) = store.list()
    assert summary.usage == state.spent


async def test_the_limit_counts_answers_that_were_replaced() -> None:
    approver = FakeApprover(answer=False)
    agent = make_agent([REPLY], options=AgentOptions(cost_usd_max=0.03), approver=approver)
    await agent.ask("Why?")
    for _ in range(3):
        await _ask_again(agent, REPLY)
    await _ask_again(agent)
    assert agent.conversation.state.exchanges[0].answers[-1].stopped is StopReason.COST
    assert approver.asked[0].detail == "Spent so far: $0.0324. Your limit is $0.03."


async def test_a_request_that_was_stopped_or_broke_off_counts_by_estimate() -> None:
    agent = make_agent()
    model_of(agent).facts = replace(model_of(agent).facts, prices=(1e-6, 1e-5))
    gate = asyncio.Event()
    model_of(agent).add_replies(ScriptedReply(text="It costs two euros a day.", gate=gate, gate_after=1))
    asking = asyncio.create_task(agent.ask("Why?"))
    while not model_of(agent).requests:  # noqa: ASYNC110 - the model has no event for it
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    stopped = agent.conversation.state.spent
    assert stopped.input_tokens > 100
    assert stopped.cost_usd == pytest.approx(1e-6 * stopped.input_tokens + 1e-5 * stopped.output_tokens)
    await answer(agent, "And?", ScriptedReply(text="It costs two euros.", error=ModelError("It broke off.")))
    timeout = ProviderError(ModelFailure(reason="It timed out", advice="Ask again.", may_cost=True))
    await answer(agent, "And?", ScriptedReply(error=timeout))
    broken = agent.conversation.state.spent
    assert broken.input_tokens > 2.9 * stopped.input_tokens
    assert format_usage(broken).startswith("~")
    await answer(agent, "And?", ScriptedReply(error=ModelError("The key is wrong.")))
    assert agent.conversation.state.spent == broken, "a request that was refused costs nothing"


async def test_thoughts_without_a_start_mark_count_once() -> None:
    thoughts = "I wonder. " * 20
    output_tokens = []
    for text in (f"<think>{thoughts}</think>Not found: no.", f"{thoughts}</think>Not found: no."):
        agent = make_agent([ScriptedReply(text=text)])
        await agent.ask("Why?")
        output_tokens.append(agent.conversation.state.spent.output_tokens)
    assert output_tokens[1] <= output_tokens[0]


async def test_a_request_that_the_program_did_not_survive_counts(store: ConversationStore) -> None:
    agent = make_agent([expanding("Fees")], store=store)
    model_of(agent).facts = replace(model_of(agent).facts, prices=(1e-6, 1e-6))
    await answer(agent, "Why?", saying('It is "2 euros a day" [{Fees}].'))
    path = next(store._folder.glob("*.jsonl"))
    lines = path.read_bytes().splitlines(keepends=True)
    start = encode_events((StepStarted(number=2, input_tokens=0),)).partition(b', "at"')[0]
    last_request = [number for number, line in enumerate(lines) if line.startswith(start)][-1]
    path.write_bytes(b"".join(lines[: last_request + 1]))
    resumed = Conversation(make_library(MANUAL), store=store).resume(path.stem).state
    whole = agent.conversation.state.spent
    (first,) = resumed.exchanges
    assert first.stopped is StopReason.CANCELLED
    assert resumed.spent.input_tokens > 0.9 * whole.input_tokens
    assert resumed.spent.cost_usd
    assert first.usage == resumed.spent


async def test_reranking_counts() -> None:
    background = BackgroundLoop()
    paid = Usage(input_tokens=900, output_tokens=9, cost_usd=0.002, source="provider")
    ranking = ScriptedModel([ScriptedReply(text="[1]", usage=paid)] * 2)
    services = SearchServices(reranker=make_reranker(ranking, background))
    library = make_library(MANUAL)
    searcher = Searcher(library, RetrievalOptions(rerank="on"), services)
    conversation = Conversation(library)
    options = AgentOptions(sends_hits=True)
    agent = Agent(conversation, ScriptedModel([REPLY]), searcher, options)
    await agent.ask("How high are the fees for late books?")
    assert conversation.state.spent.cost_usd == pytest.approx(0.0081 + 0.002 * len(ranking.requests))
    assert conversation.state.exchanges[0].usage == conversation.state.spent
    await agent.search.find("fees for late books", 10)
    assert ranking.requests
    assert conversation.state.spent.cost_usd == pytest.approx(0.0081 + 0.002 * len(ranking.requests))


async def test_what_two_conversations_search_at_once_counts_in_each() -> None:
    background = BackgroundLoop()
    library = make_library(MANUAL)
    both_have_paid = Barrier(2, timeout=60)

    class PaidSearcher(Searcher):
        @override
        def search(self, library: Library, query: str, **options: Any) -> tuple[Hit, ...]:
            background.meter.add(Usage(input_tokens=len(query), cost_usd=0.001 * len(query)))
            both_have_paid.wait()
            return super().search(library, query, **options)

    searcher = PaidSearcher(library)
    agents = [Agent(Conversation(library), ScriptedModel(), searcher) for _ in range(2)]
    await asyncio.gather(
        *(agent.search.find(query, 10) for agent, query in zip(agents, ("late", "books"), strict=True))
    )
    assert [agent.conversation.state.spent.input_tokens for agent in agents] == [4, 5]
    assert background.meter.take() == Usage()


async def test_a_search_sends_no_request_that_could_exceed_the_limit() -> None:
    background = BackgroundLoop()
    ranking = ScriptedModel([ScriptedReply(text="[1]", usage=replace(PAID, cost_usd=0.002))] * 9)
    ranking.facts = replace(ranking.facts, prices=(0.0, 2e-5))
    warnings: list[str] = []
    services = SearchServices(reranker=make_reranker(ranking, background), on_warning=warnings.append)
    library = make_library(MANUAL)
    searcher = Searcher(library, RetrievalOptions(rerank="on"), services)
    conversation = Conversation(library)
    options = AgentOptions(cost_usd_max=0.007)
    agent = Agent(conversation, ScriptedModel(), searcher, options)
    for _ in range(5):
        assert await agent.search.find("fees for late books", 10)
    assert conversation.state.spent.cost_usd == pytest.approx(0.006)
    assert len(ranking.requests) == 3
    (warning,) = warnings
    assert warning.endswith("ranking failed: The next request could exceed your spending limit.")


async def test_of_two_requests_at_once_neither_can_exceed_the_limit() -> None:
    agent = make_agent(options=AgentOptions(cost_usd_max=1.0))
    model = model_of(agent)
    model.facts = replace(model.facts, prices=(0.0, 1e-4))  # only the reply costs something
    gate = asyncio.Event()
    model.add_replies(ScriptedReply(text="Not found: no.", gate=gate, usage=PAID))
    asking = asyncio.create_task(agent.ask("Why?"))
    while not model.requests:  # noqa: ASYNC110 - the model has no event for it
        await asyncio.sleep(0)
    with pytest.raises(ModelError, match="could exceed your spending limit"):
        _reserve(agent, 0.9)
    gate.set()
    await asking
    _reserve(agent, 0.9)
    with agent.search.meter.reserving(lambda: Usage(cost_usd=0.6)):
        with pytest.raises(ModelError, match="could exceed your spending limit"):
            _reserve(agent, 0.6)
        model.add_replies(REPLY)
        refused = await agent.ask("And?")
        assert refused is not None
        assert refused.stopped is StopReason.COST
    _reserve(agent, 0.6)


def _reserve(agent: Agent, cost_usd: float) -> None:
    with agent.search.meter.reserving(lambda: Usage(cost_usd=cost_usd)):
        pass


@pytest.mark.parametrize(
    ("usages", "words"),
    [
        ((), ""),
        ((Usage(),), ""),
        ((PAID,), "1k tokens · $0.0081"),
        ((PAID, PAID, Usage()), "2k tokens · $0.0162"),
        ((PAID, replace(PAID, source="estimate")), "~2k tokens · ~$0.0162"),
        ((replace(PAID, cost_usd=0.0),), "1k tokens"),
        ((replace(PAID, cost_usd=None),), "1k tokens · cost unknown"),
        ((PAID, replace(PAID, cost_usd=None), PAID), "3k tokens · $0.0162 + unknown"),
        ((replace(PAID, cost_usd=0.0), replace(PAID, cost_usd=None)), "2k tokens · cost unknown"),
        ((replace(PAID, cost_usd=12.345, cached_tokens=900),), "100 tokens · 900 cached · $12.35"),
    ],
)
def test_an_unknown_cost_is_called_unknown_and_an_estimate_is_marked(usages: tuple[Usage, ...], words: str) -> None:
    assert format_usage(sum(usages, Usage())) == words

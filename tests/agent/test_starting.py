"""Questions come with search results, and with the section that clearly answers them open."""

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.agent.first_request import HITS_LEAD, choose_question_context
from roamtui.agent.options import AgentOptions
from roamtui.conversation.events import WarningRaised
from roamtui.conversation.messages import Role
from roamtui.conversation.question_flow import OPENED_LEAD
from roamtui.document.library import Library
from roamtui.errors import ModelError, StoreError
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit, RetrievalOptions, SearchMode, SearchServices
from roamtui.search.searcher import Searcher
from tests.agent.asking import FakeSearcher, answer, ask, make_agent, model_of, saying, sent
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.fakes.scripted_model import ScriptedReply
from tests.search.libraries import id_of, make_library

TEXT = (
    "# Birds\n\n"
    "## Herons\n\nHerons wait for fish in shallow water. Nothing else is eaten by any of them.\n\n"
    "## Owls\n\nOwls turn their heads 270 degrees. Nothing else is turned by any of them.\n\n"
    "## Swifts\n\nSwifts sleep while they fly. Nothing else is done asleep by any of them.\n\n"
    "## Wrens\n\nWrens sing in shallow hedges. Nothing else is sung in by any of them.\n\n"
    "## Red kites\n\n[About red kites](kites.md)\n\n"
    f"## Storks\n\nStorks clatter. {'They clatter and clatter again. ' * 400}\n\n"
    f"## Cranes\n\nCranes dance, and clatter not. {'They dance and dance again. ' * 400}\n\n"
)
LIBRARY = make_library(TEXT)
IDS = {LIBRARY.node(section_id).title: section_id for section_id in LIBRARY.walk()}
ANSWER = saying('They "wait for fish" [{Herons}].')
CLEAR = "What do herons wait for?"
UNCLEAR = "What is shallow there?"


def _make_agent(text: str = TEXT) -> Agent:
    """Return an agent whose questions come with search results."""
    agent = make_agent(text=text, options=AgentOptions(sends_hits=True))
    agent.search.searcher = Searcher(agent.conversation.state.library)
    return agent


def _last_question(agent: Agent) -> str:
    return [message.text for message in sent(agent) if message.role is Role.USER][-1]


async def test_the_first_request_contains_the_section_that_answers() -> None:
    agent = _make_agent()
    last = await answer(agent, CLEAR, ANSWER)

    assert len(model_of(agent).requests) == 1
    text = _last_question(agent)
    assert text.index(OPENED_LEAD) < text.rindex("Herons wait for fish") < text.index(f"Question: {CLEAR}")
    assert text.count("Herons wait for fish") == 1, "an opened section is not also a hit"
    assert [citation.is_verified for citation in last.citations] == [True]


@pytest.mark.parametrize("question", [UNCLEAR, " ", "zebra crossing"])
async def test_nothing_is_opened_unless_the_first_hit_is_clear(question: str) -> None:
    agent = _make_agent()
    await ask(agent, question, saying("Not found: no."))
    assert agent.conversation.state.open_sections == {}
    assert OPENED_LEAD not in _last_question(agent)


def _hit(library: Library, title: str, score: float = 1.0) -> Hit:
    return Hit(section_id=id_of(library, title), score=score, snippet="", why="")


@pytest.mark.parametrize(("error", "lead"), [(None, HITS_LEAD), (StoreError("The index is damaged."), "")])
async def test_a_search_that_fails_brings_a_warning_and_no_hits(error: StoreError | None, lead: str) -> None:
    library = make_library(f"# A\n\n## Late\n\nRed. {'Gray stones. ' * 2_000}")
    searcher = FakeSearcher(_hit(library, "Late"), error=error)
    warnings: list[str] = []
    view = ModelView(library=library, room_tokens=64_000)
    found = await choose_question_context(searcher, view, "Is it red?", None, warn=warnings.append)
    assert found.text.partition("\n")[0] == lead
    assert warnings == ([] if error is None else ["The document was not searched: The index is damaged."])


async def test_a_later_search_of_the_model_that_fails_warns_the_person_too() -> None:
    agent = _make_agent()
    agent.search.searcher = FakeSearcher(error=StoreError("The index is damaged."))
    searching = ScriptedReply(calls=(("search_sections", {"queries": ["late"]}),))
    events = await ask(agent, UNCLEAR, searching, saying("Not found: no."))
    warnings = [event.message for event in events if isinstance(event, WarningRaised)]
    reason = "The index is damaged."
    assert warnings == [f"The document was not searched: {reason}", f"The model could not search: {reason}"]
    assert any(reason in message.text for message in model_of(agent).requests[-1].messages)


@pytest.mark.parametrize("parameters", [None, 500_000_000])
async def test_a_question_ends_with_an_error_if_only_vectors_are_searched_and_the_embedder_fails(
    parameters: int | None,
) -> None:
    agent = _make_agent()
    services = SearchServices(embedder=HashedEmbedder(fails_after=0))
    options = RetrievalOptions(mode=SearchMode.VECTOR)
    agent.search.searcher = Searcher(agent.conversation.state.library, options, services)
    agent.model.facts = replace(agent.model.facts, parameters=parameters)
    with pytest.raises(ModelError, match="The embedder is away"):
        await agent.ask(UNCLEAR)
    assert agent.conversation.state.exchanges == ()
    assert model_of(agent).requests == []

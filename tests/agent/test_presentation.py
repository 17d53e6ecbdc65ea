"""What is shown with an answer."""

from roamtui.agent.loop import AgentOptions
from roamtui.agent.presentation import list_unopened_hits
from roamtui.search.base import Hit
from tests.agent.asking import FakeSearcher, answer, expanding, ids, make_agent, saying
from tests.fakes.scripted_model import ScriptedReply


async def test_likely_hits_that_nobody_opened_are_listed() -> None:
    fees, lost, hours, lending = ids(make_agent(), "Fees", "Lost books", "Hours", "Lending")
    scores = {fees: 9.0, lost: 8.0, hours: 5.0, lending: 7.0}
    searcher = FakeSearcher(*(Hit(section_id=key, score=score, snippet="", why="") for key, score in scores.items()))
    search = ScriptedReply(text="", calls=(("search_sections", {"query": "fees"}),))
    # a parent is delivered with its subsections
    expected = {
        lending: [],
        fees: [(lost, 8.0), (lending, 7.0)],
    }
    for opened, likely in expected.items():
        agent = make_agent(searcher=searcher, options=AgentOptions(sends_hits=False))
        await answer(agent, "How much?", search, expanding(opened), saying("It costs something [{Fees}]."))
        state = agent.conversation.state
        unopened = list_unopened_hits(state.exchanges[-1], state.library)
        assert [(hit.section_id, hit.score) for hit in unopened] == likely
    agent = make_agent(searcher=searcher, options=AgentOptions(sends_hits=False))
    await answer(agent, "How much?", search, expanding(fees), saying('It costs "2 euros" [{Fees}].'))
    state = agent.conversation.state
    assert state.exchanges[-1].is_proven
    assert not list_unopened_hits(state.exchanges[-1], state.library)

"""How a question ends: answered, not found, nothing said; and how much room a request leaves."""

from __future__ import annotations

import pytest

from roamtui.agent.answer import count_verified, find_unread
from roamtui.agent.options import AgentOptions, ConfidentStart
from roamtui.agent.room import TokenCalibration, estimate_request, find_room
from roamtui.conversation.transcript import Citation, Message, QuoteState, Role, Stopped, ToolCall, Usage
from roamtui.models.base import Request, ToolSpec
from roamtui.search.base import Hit
from tests.agent.asking import FakeSearcher, answer, expanding, ids, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


def _hits(*section_ids: str) -> FakeSearcher:
    return FakeSearcher(*(Hit(section_id=i, score=1.0, snippet="", why="") for i in section_ids))


async def test_not_found_lists_what_was_opened_and_what_search_finds_nearest() -> None:
    fees, lost, hours, lending = ids(make_agent(), "Fees", "Lost books", "Hours", "Lending")
    agent = make_agent(searcher=_hits(fees, lost, hours, lending))
    model_of(agent).add_replies(expanding(fees), saying("Not found: nothing on parking. Try “where to park”."))
    last = await answer(agent, "Where can I park?")
    assert last.stopped is Stopped.NOT_FOUND
    assert last.answer == (
        "Not found: nothing on parking. Try “where to park”.\n\n"
        f"Opened: Manual > Lending > Fees [{fees}]\n\n"
        f"Nearest sections: Manual > Lending > Lost books [{lost}]; Manual > Hours [{hours}]; "
        f"Manual > Lending [{lending}]"
    )
    assert agent.session.state.transcript.exchanges[0].answer == last.answer


async def test_not_found_names_the_words_that_the_nearest_sections_share_with_the_question() -> None:
    (fees,) = ids(make_agent(), "Fees")
    agent = make_agent([saying("Not found: no.")], searcher=_hits(fees))
    last = await answer(agent, "Are there fees for zebras?")
    assert last.answer.endswith(f"Nearest sections: Manual > Lending > Fees [{fees}] (has fees)")


async def test_what_search_found_and_nobody_opened_is_told() -> None:
    fees, lost, hours, lending = ids(make_agent(), "Fees", "Lost books", "Hours", "Lending")
    scores = {fees: 9.0, lost: 8.0, hours: 5.0, lending: 7.0}
    searcher = FakeSearcher(*(Hit(section_id=one, score=score, snippet="", why="") for one, score in scores.items()))
    agent = make_agent(searcher=searcher, options=AgentOptions(confident_start=ConfidentStart.OFF))
    search = ScriptedReply(text="", calls=(("search_sections", {"query": "fees"}),))
    model_of(agent).add_replies(search, expanding(lending), saying(f'It costs "2 euros" [{fees}].'))
    await answer(agent)
    state = agent.session.state
    assert find_unread(state.transcript.exchanges[-1], state.library).likely == ()  # they came with what is above them
    agent = make_agent(searcher=searcher, options=agent.options)
    model_of(agent).add_replies(search, expanding(fees), saying(f'It costs "2 euros" [{fees}].'))
    await answer(agent)
    state = agent.session.state
    unread = find_unread(state.transcript.exchanges[-1], state.library)
    assert [(hit.section_id, hit.score) for hit in unread.likely] == [(lost, 8.0), (lending, 7.0)]
    assert unread.words == "searched 4, opened 1, not opened: 2 likely"


@pytest.mark.parametrize(
    "start",
    [
        *("Not found:", "not found -", "NOT FOUND.", "**Not found:**", "> Not found:", "# Not found"),
        *("Nicht gefunden:", "Non trouvé :", "No encontrado:", "未找到："),
    ],
)
async def test_not_found_is_known_however_it_is_dressed_and_in_the_language_of_the_question(start: str) -> None:
    assert (await answer(make_agent([saying(f"{start} no such thing.")]))).stopped is Stopped.NOT_FOUND


async def test_quotes_of_an_answer_that_found_nothing_are_checked_too() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(expanding(fees), saying(f'Not found: only "2 euros a day" [{fees}] and "3" is there.'))
    last = await answer(agent)
    assert last.stopped is Stopped.NOT_FOUND
    assert next((citation.quote, citation.is_verified) for citation in last.citations) == ("2 euros a day", True)
    assert agent.session.state.open[0].last_cited == 1


async def test_a_model_that_says_nothing_is_an_error_in_a_sentence() -> None:
    for text in ("", "  \n "):
        last = await answer(make_agent([ScriptedReply(text=text)] * 2))
        assert (last.stopped, last.answer, last.citations) == (Stopped.ERROR, "", ())
        assert last.error == "The model ended without an answer. Ask again, or choose another model."


async def test_an_answer_that_was_cut_off_says_so() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    half = f'It costs "2 euros a day" [{fees}], but'
    model_of(agent).add_replies(expanding(fees), ScriptedReply(text=half, reason="length"))
    last = await answer(agent)
    assert last.stopped is Stopped.ANSWERED
    assert (
        last.answer == f"{half}\n\n(The answer is cut off here: the model may write no more at once. Ask it to go on.)"
    )
    assert [citation.is_verified for citation in last.citations] == [True]


async def test_a_draft_is_the_answer_where_nothing_better_follows() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(expanding(fees), saying("It costs two euros."), ScriptedReply())
    last = await answer(agent)
    assert (last.stopped, last.answer, last.citations) == (Stopped.ANSWERED, "It costs two euros.", ())


def test_verified_quotes_are_counted_among_the_quotes() -> None:
    citations = tuple(
        Citation(section_id="x", quote=None if state is QuoteState.NO_QUOTE else "q", state=state)
        for state in QuoteState
    )
    assert count_verified(citations) == (2, 4)
    assert count_verified(()) == (0, 0)


def _request(words: int) -> Request:
    call = ToolCall(id="1", name="x", arguments="word " * words)
    return Request(
        messages=(
            Message(role=Role.SYSTEM, text="word " * words),
            Message(role=Role.ASSISTANT, text="", tool_calls=(call,)),
        ),
        tools=(ToolSpec(name="x", description="", parameters={}),) * 3,
    )


def test_room_is_half_of_what_request_and_answer_leave() -> None:
    used = estimate_request(_request(1_000))
    assert 1_900 < used < 2_700
    assert find_room(_request(1_000), 20_000) == (20_000 - used - 4_000) // 2
    assert find_room(_request(1_000), None) == (64_000 - used - 4_000) // 2
    assert find_room(_request(1_000), 4_000) == (4_000 - used - 1_000) // 2
    assert find_room(_request(50_000), 20_000) == 0


@pytest.mark.parametrize(("words", "window"), [(100, 20_000), (5_000, 10_000)])
def test_what_a_provider_adds_to_a_short_request_says_nothing_of_the_rest(words: int, window: int) -> None:
    request, model, calibration = _request(words), ScriptedModel(window_tokens=20_000), TokenCalibration()
    counted = Usage(input_tokens=2 * estimate_request(request), source="provider")
    calibration.learn(model.name, request, counted)
    assert calibration.find_window(model) == window

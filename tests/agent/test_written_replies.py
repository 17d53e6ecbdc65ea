"""What small models write: thoughts and calls as text, the same call again, and text without end."""

import json
from dataclasses import replace

import pytest

from roamtui.agent.agent import Agent
from roamtui.agent.prompt import CALL_REMINDER, LAST_STEP_NOTE, REPEATED_CALL
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.events import AnswerStreamed, QuestionAnswered, StopReason, ThoughtsRecorded
from roamtui.errors import ModelError, StoreError
from roamtui.export.markdown import render_markdown
from roamtui.models.written_calls import parse_calls
from tests.agent.asking import FakeSearcher, answer, ask, expanding, ids, make_agent, model_of, results, saying, sent
from tests.fakes.scripted_model import ScriptedReply


def thoughts_of(agent: Agent) -> list[str]:
    events = agent.conversation.state.exchanges[-1].events
    return [event.text for event in events if isinstance(event, ThoughtsRecorded)]


def read_sent(agent: Agent) -> str:
    """Return all that the model was sent in its last request."""
    return "\n".join(message.text for message in sent(agent))


@pytest.mark.parametrize("opener", ["<think>\n", ""])
async def test_thoughts_are_kept_apart_from_the_answer(opener: str) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    thoughts = f'Maybe it "costs 9 euros" [{fees}]?'
    proof = f'It costs "2 euros a day" [{fees}].'
    model_of(agent).add_replies(
        expanding(fees), saying(f"{opener}{thoughts}\n</think>\n\n{proof}"), saying("Not found: no.")
    )
    last = await answer(agent)
    assert last.answer == proof
    assert [citation.state for citation in last.citations] == [QuoteState.EXACT]
    assert thoughts_of(agent) == [thoughts]
    await ask(agent, "And?")
    assert "9 euros" not in read_sent(agent)
    assert "9 euros" not in render_markdown(agent.conversation.state, "m.md")


@pytest.mark.parametrize(
    "form", ["<tool_call>\n{}\n</tool_call>", "```json\n{}\n```", "[TOOL_CALLS][{}]", "I look.\n{}"]
)
async def test_a_written_call_is_run(form: str) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    call = json.dumps({"name": "expand_sections", "arguments": {"section_ids": [fees]}})
    proof = f'It costs "2 euros a day" [{fees}].'
    model_of(agent).add_replies(saying(form.replace("{}", call)), saying(proof))
    last = await answer(agent)
    assert (last.answer, last.step_count) == (proof, 2)
    assert tuple(agent.conversation.state.open_sections) == (fees,)
    step = model_of(agent).requests[-1].messages[-2]
    assert [one.name for one in step.tool_calls] == ["expand_sections"]
    assert "tool_call" not in step.text.lower()
    assert "{" not in step.text


@pytest.mark.parametrize("name", ["functions.expand_sections", "expand_sections<|channel|>commentary"])
async def test_marks_that_a_server_leaves_around_the_name_of_a_tool_do_not_matter(name: str) -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    model_of(agent).add_replies(ScriptedReply(calls=((name, {"section_ids": [fees]}),)), saying("Not found: no."))
    await answer(agent)
    assert tuple(agent.conversation.state.open_sections) == (fees,)


async def test_a_reply_that_does_not_end_is_stopped_at_the_size_of_the_window() -> None:
    agent = make_agent(window_tokens=4_000)
    words = " ".join(f"word{number}" for number in range(10_000))
    model_of(agent).add_replies(saying(f"Not found: {words}"))
    last = await answer(agent)
    assert "The answer is cut off here" in last.answer
    assert len(last.answer) < len(words) / 2


async def test_a_call_that_cannot_be_read_is_reminded_of_once_and_never_an_answer() -> None:
    broken = '<tool_call>{"name": "expand_sec'
    agent = make_agent([saying(broken), saying("Not found: no."), *[saying(broken)] * 3])
    assert (await answer(agent)).stopped is StopReason.NOT_FOUND
    assert read_sent(agent).endswith(CALL_REMINDER)
    assert broken.removeprefix("<tool_call>") in read_sent(agent)
    last = await answer(agent)
    assert (last.stopped, last.answer, last.error[:28]) == (StopReason.ERROR, "", "The model writes tool calls ")


async def test_an_answer_that_an_error_cuts_off_is_kept_even_if_it_quotes_a_request_to_read() -> None:
    text = "The log says READ: a8a96034 and that fees are 2 euros a day."
    last = await answer(make_agent([ScriptedReply(text=text, error=ModelError("The model has gone."))]))
    assert (last.stopped, last.answer) == (StopReason.ERROR, text)


async def test_the_same_call_is_answered_once_and_the_third_ends_the_calls() -> None:
    agent = make_agent([expanding("Fees"), expanding("Fees"), expanding("Fees"), saying("Not found: no.")])
    assert (await answer(agent)).stopped is StopReason.NOT_FOUND
    first, second, third = results(agent)
    assert "2 euros a day" in first
    assert second == REPEATED_CALL
    assert third == f"{REPEATED_CALL}\n{LAST_STEP_NOTE}"
    assert [request.allows_calls for request in model_of(agent).requests] == [True, True, True, False]
    await ask(agent, "Another question?", expanding("Fees"), saying("Not found: no."))
    assert REPEATED_CALL not in results(agent)


async def test_a_call_may_be_made_again_after_others_changed_the_open_sections() -> None:
    search = ScriptedReply(calls=(("search_sections", {"queries": ["late fees"]}),))
    collapse = ScriptedReply(calls=(("collapse_sections", {"section_ids": ["Fees"]}),))
    script = [search, expanding("Fees"), search, collapse, expanding("Fees"), search, saying("Not found: no.")]
    searcher = FakeSearcher()
    agent = make_agent(script, searcher=searcher, window_tokens=32_000)
    await answer(agent)
    assert REPEATED_CALL not in "".join(results(agent))
    assert len(searcher.searches) == 3


async def test_a_defect_in_a_call_ends_the_question_with_its_error_and_keeps_the_results_before_it() -> None:
    search = ("search_sections", {"queries": ["late fees"]})
    agent = make_agent(searcher=FakeSearcher(error=KeyError("defect")))
    opening = replace(expanding("Fees"), calls=(*expanding("Fees").calls, search))
    with pytest.raises(KeyError):
        await ask(agent, "How much is it?", opening)
    last = agent.conversation.state.exchanges[-1]
    assert (last.stopped, "KeyError" in last.error) == (StopReason.ERROR, True)
    assert "2 euros a day" in results(agent)[0]
    await ask(agent, "And?", saying("Not found: no."))
    assert "2 euros a day" in read_sent(agent)
    assert "interrupted" not in read_sent(agent)


async def test_a_call_that_failed_may_be_made_again() -> None:
    searcher = FakeSearcher(error=StoreError("The embedder timed out."))
    call = ScriptedReply(calls=(("search_sections", {"queries": ["late fees"]}),))
    agent = make_agent([call] * 3 + [saying("Not found: no.")], searcher=searcher)
    await answer(agent)
    assert [result.partition("\n")[0] for result in results(agent)] == [
        "search_sections failed: The embedder timed out."
    ] * 3
    assert len(searcher.searches) == 3


async def test_an_answer_that_repeats_itself_is_stopped() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    unit = f'It costs "2 euros a day" [{fees}]. '
    events = await ask(agent, "How much?", expanding("Fees"), saying(unit * 400))
    last = events[-1]
    assert isinstance(last, QuestionAnswered)
    assert last.answer == f"{unit.strip()}\n\n(The answer is cut off here, because the model repeated itself.)"
    assert last.stopped is StopReason.ANSWERED
    assert len(model_of(agent).requests) == 2
    streamed = "".join(event.text for event in events if isinstance(event, AnswerStreamed))
    assert len(streamed) < len(unit) * 40


@pytest.mark.parametrize(
    "reply",
    [
        '<tool_call>{"name": "list_documents"}</tool_call>',
        "list_documents()",
        "<tool_call>list_documents()</tool_call>",
    ],
)
def test_a_call_may_have_no_arguments(reply: str) -> None:
    (call,) = parse_calls(reply, ["expand_sections", "list_documents"])
    assert (call.name, call.arguments) == ("list_documents", "{}")
    for words in ("It serves {}, which lists all documents.", "{} lists all.", "I could use {}.", "I could use `{}`."):
        assert parse_calls(words.format("list_documents()"), ["list_documents"]) == ()

"""Outcomes of a question: answered, not found, empty, or after a reminder."""

from html import unescape

import pytest

from roamtui.answer_report import AnswerReport
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.events import StopReason
from roamtui.export.html import render_html
from roamtui.export.markdown import render_markdown
from roamtui.headless.answer_lines import render_report
from roamtui.models.base import FinishReason
from tests.agent.asking import answer, expanding, make_agent, model_of, saying
from tests.fakes.scripted_model import ScriptedReply

_ENDLESS = "Hm, so be it. " * 400


@pytest.mark.parametrize(
    "start",
    [
        *(
            "Not found:",
            "not found -",
            "NOT FOUND.",
            "**Not found:**",
            "__Not found__:",
            "> Not found:",
            "# Not found\n\n",
        ),
        *("Nicht gefunden:", "Non trouvé :", "No encontrado:", "未找到：", "未找到任何内容。"),
        "Not found in this text:",
    ],
)
async def test_not_found_is_recognised_in_any_format_and_language(start: str) -> None:
    assert (await answer(make_agent([saying(f"{start} no such thing.")]))).stopped is StopReason.NOT_FOUND


async def test_a_sentence_that_begins_with_the_words_not_found_is_an_answer() -> None:
    reply = 'Not found errors are fined: "Late returns cost 2 euros a day" [{Fees}].'
    last = await answer(make_agent([expanding("Fees"), saying(reply)]))
    assert (last.stopped, [citation.state for citation in last.citations]) == (StopReason.ANSWERED, [QuoteState.EXACT])


@pytest.mark.parametrize(
    "reply",
    ["Two parts.\n\nReading\n\nOpen it.\n\nAnswering\n\nThe end.", "How much is it?\n\nNobody says.", "Reading"],
)
async def test_headings_that_are_also_lines_of_ours_stay_in_the_answer(reply: str) -> None:
    assert (await answer(make_agent([saying(reply)]))).answer == reply


async def test_the_reply_before_a_reminder_is_the_answer_if_nothing_follows() -> None:
    agent = make_agent([expanding("Fees"), saying("It costs two euros."), ScriptedReply()])
    last = await answer(agent)
    assert (last.stopped, last.answer, last.citations) == (StopReason.ANSWERED, "It costs two euros.", ())
    assert len(model_of(agent).requests) == 3


@pytest.mark.parametrize("replies", [("", "  "), ("<think>Hm.", "<think>Hm, hm.")])
async def test_an_empty_reply_triggers_a_reminder_and_then_an_error(replies: tuple[str, ...]) -> None:
    agent = make_agent(map(saying, replies))
    last = await answer(agent)
    assert (last.stopped, last.answer) == (StopReason.ERROR, "")
    assert last.error.startswith("The model returned no answer.")
    _, reminded = (request.messages[-1].text for request in model_of(agent).requests)
    assert reminded.startswith("No quote was found in your answer.")


@pytest.mark.parametrize(
    ("reason", "why"),
    [
        ("length", ", because the reply reached the model's limit."),
        ("filtered", ", because the provider's filter stopped the reply."),
        ("stop", "."),
    ],
)
async def test_why_there_is_no_answer_is_said(reason: FinishReason, why: str) -> None:
    last = await answer(make_agent([ScriptedReply(thinking="Hm.", reason=reason)] * 2))
    assert last.error.startswith(f"The model returned no answer{why} Ask again")


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ("stop", "filtered", ""),
        ("length", "stop", "the reply reached the model's limit"),
        ("length", "filtered", "limit"),
    ],
)
async def test_a_reply_is_said_to_be_cut_off_only_if_it_is_the_one_that_was(
    first: FinishReason, second: FinishReason, why: str
) -> None:
    cut = ScriptedReply(text="It costs two euros.", reason=first)
    last = await answer(make_agent([expanding("Fees"), cut, ScriptedReply(reason=second)]))
    assert last.answer.startswith("It costs two euros.")
    assert ("cut off here" in last.answer) is bool(why)
    assert why in last.answer
    assert "filter" not in last.answer


@pytest.mark.parametrize("reply", [ScriptedReply(thinking=_ENDLESS), saying(f"<think>{_ENDLESS}")])
async def test_thoughts_that_repeat_themselves_end_the_question(reply: ScriptedReply) -> None:
    last = await answer(make_agent([reply]))
    assert (last.stopped, last.answer) == (StopReason.ERROR, "")


_FEE = '"Late returns cost 2 euros a day" [{Fees}]'


@pytest.mark.parametrize(
    ("written", "unnamed"),
    [
        (
            'The manual also says: "members must pay five hundred pounds at once".',
            '"members must pay five hundred pounds at once"',
        ),
        (
            "> Members must pay five hundred pounds at once.\n\nSo it says.",
            "Members must pay five hundred pounds at once.",
        ),
        ('A so-called "late return" costs 2 euros a day.', ""),
        ('Not found: nothing is said about "paid parking for vans".', ""),
        ('You asked "how much is it?" about `three plain words`.', ""),
    ],
)
async def test_a_quote_that_names_no_section_is_told_beside_the_count(written: str, unnamed: str) -> None:
    agent = make_agent([expanding("Fees"), saying(f"Late: {_FEE}.\n\n{written}")])
    await answer(agent)
    state = agent.conversation.state
    (exchange,) = state.exchanges
    told = "1/1 quote found in the text"
    told += f" · 1 quote not looked up, because it names no section: {unnamed}" if unnamed else ""
    piped = render_report(AnswerReport(exchange, state.library), "scripted", is_laid_out=False)
    pages = (render_markdown(state, ""), unescape(render_html(state, "")), piped)
    assert all(told in page for page in pages)
    assert all(("not looked up" in page) is bool(unnamed) for page in pages)
    assert exchange.has_only_found_quotes is not bool(unnamed)


@pytest.mark.parametrize("quote", ["", ' It says "members must pay five hundred pounds at once".'])
async def test_an_answer_without_proof_says_whether_its_quotes_name_no_section(quote: str) -> None:
    agent = make_agent([expanding("Fees"), saying(f"You pay.{quote}"), saying(f"You pay.{quote}")])
    await answer(agent)
    state = agent.conversation.state
    (exchange,) = state.exchanges
    ((text, _),) = AnswerReport(exchange, state.library).endings
    assert text == ("no quote names its section" if quote else "no quotes to verify")

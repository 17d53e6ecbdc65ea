"""A small model gets a question in one short request, and the nearest passages follow its answer."""

import re

import pytest
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.agent.prompt import BRIEF_INSTRUCTION, SYSTEM
from roamtui.agent.tool_calls import make_tools
from roamtui.conversation.citations import QuoteState
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin, QuestionAnswered, StopReason
from roamtui.conversation.messages import Message, Role
from roamtui.conversation.update import OpenSections
from roamtui.models.base import ModelRequest
from roamtui.models.written_calls import remove_tools
from roamtui.opening.loader import open_sources
from roamtui.search.base import Embedder, RetrievalOptions, SearchServices
from roamtui.search.searcher import Searcher
from tests.agent.asking import answer, ask, expanding, ids, make_agent, model_of, saying, sent
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply, make_refusal
from tests.fakes.site import FakeSite

_ID = re.compile(r"\b[0-9a-f]{8}\b")
_TEXT = """# Harbour

Boats moor at the east quay.

## Fees

| Boat | A night | Deposit |
|---|---|---|
| Dinghy | £4 | none |
| Yacht | £18 | £250 |

Members of the Sailing Club pay half.

## Opening

The office opens at 08:30. It closes at noon on Sundays.
"""
_QUESTION = "What does a yacht cost a night?"
_FILLING = "The keeper writes the state of the sea into the book, with the wind and the light of each buoy. "


def ask_small(
    *replies: Reply, text: str = _TEXT, window_tokens: int | None = 4_096, embedder: Embedder | None = None
) -> Agent:
    services = SearchServices(embedder=embedder)
    searcher = Searcher(make_library(text), RetrievalOptions(), services=services)
    agent = make_agent(
        replies, text=text, searcher=searcher, options=AgentOptions(sends_hits=True), window_tokens=window_tokens
    )
    agent.model.facts = replace(agent.model.facts, parameters=500_000_000)
    return agent


@pytest.mark.parametrize("window_tokens", [4_096, 8_192])
async def test_a_small_model_gets_the_text_one_instruction_and_the_question(window_tokens: int) -> None:
    agent = ask_small("A yacht costs £18 a night.", window_tokens=window_tokens)
    last = await answer(agent, _QUESTION)
    (request,) = model_of(agent).requests
    assert request.tools == ()
    assert [message.text for message in request.messages] == [
        f"{_TEXT.strip()}\n\n{BRIEF_INSTRUCTION}\n\nQuestion: {_QUESTION}"
    ]
    assert last.answer.startswith("A yacht costs £18 a night.\n\n(These passages")
    assert (last.stopped, last.step_count) == (StopReason.ANSWERED, 1)


async def test_an_id_that_is_repeated_is_no_quote() -> None:
    reply = saying("It costs two euros a day [{Fees}]. [{Fees}]. [{Fees}].\n\n[{Fees}]\n[{Fees}]")
    last = await answer(make_agent([reply], window_tokens=3_000))
    assert {citation.quote for citation in last.citations} == {None}
    assert last.unsourced == ()


@pytest.mark.parametrize(
    ("reply", "stopped"),
    [
        ("Not found: the text does not say it.", StopReason.NOT_FOUND),
        ("yes", StopReason.ANSWERED),
        ("I do not know.", StopReason.ANSWERED),
    ],
)
async def test_the_passages_follow_an_answer_without_a_source_and_are_never_sent_back(
    reply: str, stopped: StopReason
) -> None:
    agent = ask_small(reply, "At 08:30.")
    last = await answer(agent, _QUESTION)
    assert last.stopped is stopped
    assert last.answer.startswith(f"{reply}\n\n(These passages")
    assert "| Yacht | £18 | £250 |" in last.answer
    assert not any(citation.is_verified for citation in last.citations)
    assert agent.conversation.state.exchanges[-1].reply == reply
    await answer(agent, "When does the office open?")
    assert "passages" not in sent(agent)[-1].text


@pytest.mark.parametrize(
    "reply",
    [
        _QUESTION,
        f"Question: {_QUESTION}",
        f"{BRIEF_INSTRUCTION}\n\nQuestion: {_QUESTION}",
        '<tool_call>{"name": "expand_sections", "arguments": {"section_ids": ["Fees"]}}</tool_call>',
        "",
        "...",
    ],
)
async def test_an_echo_and_a_call_are_no_answers(reply: str) -> None:
    last = await answer(ask_small(reply), _QUESTION)
    assert last.stopped is StopReason.NEAREST
    assert last.answer.startswith("(These passages")
    assert "| Yacht | £18 | £250 |" in last.answer


async def test_a_follow_up_brings_the_question_before_it() -> None:
    agent = ask_small("£18.", "£250.")
    await answer(agent, _QUESTION)
    await answer(agent, "And the deposit?")
    assert sent(agent)[-1].text.endswith(f"Question: {_QUESTION} And the deposit?")


async def test_of_a_long_document_the_best_excerpts_are_sent_and_what_the_person_opened() -> None:
    chapters = "".join(f"## Watch {number}\n\n{_FILLING * 12}\n\n" for number in range(30))
    agent = ask_small("A yacht costs £18 a night.", text=f"{_TEXT}\n{chapters}")
    (watch,) = ids(agent, "Watch 7")
    await agent.conversation.execute(OpenSections(section_ids=(watch,), origin=Origin.PERSON))
    last = await answer(agent, _QUESTION)
    text = sent(agent)[-1].text
    assert "| Yacht | £18 | £250 |" in text
    assert "Watch 7" in text
    assert not _ID.search(text)
    assert len(text) < 8_000
    assert last.citations[0].path[-1] == "Fees"


async def test_an_excerpt_of_a_page_has_a_title_wherever_the_link_stands_in_the_list() -> None:
    listing = f"# Harbour\n\n- [Quay](/quay.md): {_FILLING * 90}\n- [Fees](/fees.md): cost of a yacht\n"
    page = f"{_FILLING * 60}\n\nA yacht costs £18 a night.\n\n# Winter\n\nClosed.\n"
    with FakeSite({"/llms.txt": listing, "/fees.md": page}) as site:
        library, loader = open_sources([site.url("/llms.txt")])
        conversation = Conversation(library, source_loader=loader)
        (fees,) = (each for each in library.walk() if library.node(each).title == "Fees")
        await conversation.load((fees,), Origin.PERSON)
        await conversation.execute(OpenSections(section_ids=(fees,), origin=Origin.PERSON))
        agent = Agent(conversation, ScriptedModel(["£18."], window_tokens=3_000), Searcher(conversation.state.library))
        await answer(agent, _QUESTION)
    titles, _, text = sent(agent)[-1].text.partition("\n")
    assert titles == "Harbour > Fees"
    assert "costs £18" in text


@pytest.mark.parametrize("window_tokens", [32_000, None])
@pytest.mark.parametrize(("title", "is_whole"), [("Watches", False), ("Opening", True)])
async def test_the_section_of_a_question_is_sent_whole_only_if_it_is_short(
    title: str, window_tokens: int | None, *, is_whole: bool
) -> None:
    chapters = "".join(f"### Watch {number}\n\n{_FILLING * 12}\n\n" for number in range(30))
    agent = ask_small("At 08:30.", text=f"{_TEXT}\n## Watches\n\nAlso open.\n\n{chapters}", window_tokens=window_tokens)
    (section,) = ids(agent, title)
    await ask(agent, "Who writes when it is open?", within=section)
    text = sent(agent)[-1].text
    library = agent.conversation.state.library
    assert (library.text_at(library.node(section).span).strip() in text) is is_whole
    assert len(text) < 8_000


async def test_a_request_that_the_server_refuses_is_sent_again_shorter() -> None:
    chapters = "".join(f"## Watch {number}\n\n{_FILLING * 12}\n\n" for number in range(30))
    refusal = ScriptedReply(error=make_refusal(window_tokens=1_024, request_tokens=1_500))
    agent = ask_small(refusal, "A yacht costs £18 a night.", text=f"{_TEXT}\n{chapters}")
    assert (await answer(agent, _QUESTION)).stopped is StopReason.ANSWERED
    first, second = (request.messages[-1].text for request in model_of(agent).requests)
    assert len(second) < 0.7 * len(first)
    assert second.endswith(_QUESTION)


async def test_a_copy_of_an_opened_section_is_no_answer() -> None:
    agent = make_agent([expanding("Fees")])
    nonce = agent.conversation.state.nonce
    echo = f"Open already for the question below: <<<{nonce} Fees"
    last = await answer(agent, "How much is it?", saying(echo), saying(echo))
    assert (last.stopped, last.answer) == (StopReason.ERROR, "")


async def test_tools_are_offered_unless_everything_is_open() -> None:
    searcher = Searcher(make_library(_TEXT), RetrievalOptions())
    options = AgentOptions(sends_hits=True)
    agent = make_agent([saying("Not found: no.")], text=_TEXT, searcher=searcher, options=options)
    await answer(agent, _QUESTION)
    assert model_of(agent).requests[-1].tools == ()
    long = make_agent([saying("Not found: no.")], text=_TEXT + _FILLING * 900, searcher=searcher, options=options)
    await answer(long, _QUESTION)
    assert model_of(long).requests[-1].tools


async def test_what_the_program_adds_to_an_answer_is_not_sent_as_words_of_the_model() -> None:
    cut = ScriptedReply(text='It costs "2 euros a day" [{Fees}], and', reason="length")
    agent = make_agent([expanding("Fees"), cut, saying("Not found: no.")])
    last = await answer(agent)
    assert "cut off" in last.answer
    await answer(agent, "And?")
    assert not any("cut off" in message.text for message in sent(agent))


def test_nothing_that_a_model_reads_has_an_example_of_an_id() -> None:
    tools = tuple(tool.spec for tool in make_tools(make_library(), has_search=True).values())
    system = Message(role=Role.SYSTEM, text=SYSTEM)
    (without,) = remove_tools(ModelRequest(messages=(system,), tools=tools)).messages
    texts = [SYSTEM, without.text, *(f"{tool.description} {tool.parameters}" for tool in tools)]
    assert not any(_ID.search(text) for text in texts)


async def test_sentences_without_a_source_are_named_in_the_answer_of_a_large_model() -> None:
    text = 'It costs "2 euros a day" [{Fees}]. The mayor of Paris likes elephants.'
    last: QuestionAnswered = await answer(make_agent([expanding("Fees"), saying(text)]))
    assert [last.answer[start:end] for start, end in last.unsourced] == ["The mayor of Paris likes elephants."]
    assert [citation.state for citation in last.citations] == [QuoteState.EXACT]

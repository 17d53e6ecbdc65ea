"""Questions come with search results, and with the section that clearly answers them open."""

import pytest

from roamtui.agent.loop import AgentOptions
from roamtui.agent.prompt import WHOLE_NOTE
from roamtui.agent.question_context import HITS_LEAD
from roamtui.conversation.events import FOUND_LEAD, Role, SectionsExpanded
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions
from roamtui.search.base import Searcher
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import Desk, make_desk
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedReply

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
ANSWER = ScriptedReply(text=f'They "wait for fish" [{IDS["Herons"]}].')
NOTHING = ScriptedReply(text="Not found: no.")
CLEAR = "What do herons wait for?"
UNCLEAR = "What is shallow there?"


def _make_desk(
    *,
    text: str = TEXT,
    mode: KeepOpenMode = KeepOpenMode.KEEP,
    searcher: Searcher | None = None,
    store: ConversationStore | None = None,
) -> Desk:
    """Return a desk whose questions come with search results."""
    return make_desk(
        text=text,
        keep=OpenSectionOptions(mode=mode),
        searcher=searcher or KeywordSearcher(make_library(text)),
        store=store,
        options=AgentOptions(sends_hits=True),
    )


def _last_question(desk: Desk) -> str:
    return [message.text for message in desk.sent if message.role is Role.USER][-1]


async def test_the_first_request_contains_the_section_that_answers() -> None:
    desk = _make_desk()
    answer = await desk.ask(CLEAR, ANSWER)

    assert len(desk.model.requests) == 1
    text = _last_question(desk)
    assert text.index(FOUND_LEAD) < text.rindex("Herons wait for fish") < text.index(f"Question: {CLEAR}")
    assert text.count("Herons wait for fish") == 1, "an opened section is not also a hit"
    assert [citation.is_verified for citation in answer.citations] == [True]


async def test_an_excerpt_can_be_quoted_and_opens_its_section_only_then() -> None:
    desk = _make_desk()
    answer = await desk.ask(UNCLEAR, desk.opening("Herons"), desk.quoting("Wrens", "sing in shallow hedges"))

    [opened, quoted] = [event for event in desk.events if isinstance(event, SectionsExpanded)]
    assert opened.opened_ids == (IDS["Herons"],)
    assert "Herons wait for fish" in opened.results[0].text, "an excerpt does not count as delivered text"
    assert quoted.opened_ids == (IDS["Wrens"],)
    assert desk.events.index(quoted) == len(desk.events) - 2
    assert [citation.is_verified for citation in answer.citations] == [True]
    assert "Wrens sing" not in desk.sent[-1].text
    await desk.ask("And then?", ANSWER)
    assert f"[{IDS['Wrens']}] Birds > Wrens (lines" in _last_question(desk)
    assert set(desk.agent.conversation.state.open_sections) == {IDS["Herons"], IDS["Wrens"]}


async def test_a_small_document_is_sent_whole_and_open() -> None:
    desk = _make_desk(text=TEXT.partition("## Storks")[0])
    await desk.ask(UNCLEAR, ANSWER)

    text = _last_question(desk)
    assert WHOLE_NOTE in text
    assert HITS_LEAD not in text
    assert f"## Wrens [{IDS['Wrens']}]" in text
    library = desk.agent.conversation.state.library
    assert {library.node(section_id).title for section_id in desk.agent.conversation.state.open_sections} == {"Birds"}
    assert any(isinstance(event, SectionsExpanded) for event in desk.events)
    await desk.ask("And then?", ANSWER)
    assert _last_question(desk) == "And then?"


@pytest.mark.parametrize("question", [UNCLEAR, "Herons!", " ", "zebra crossing", "What about red kites?"])
async def test_nothing_is_opened_unless_the_first_hit_is_clear(question: str) -> None:
    desk = _make_desk()
    await desk.ask(question, NOTHING)
    assert desk.agent.conversation.state.open_sections == {}
    assert FOUND_LEAD not in _last_question(desk)

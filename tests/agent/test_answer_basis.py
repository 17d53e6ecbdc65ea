"""What an answer rests on: the sections that were read, and those that were found and not read."""

from pathlib import Path

from roamtui.answer_report import format_basis
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import OpenStatus, SectionsOpened
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.notices import iter_notices
from roamtui.conversation.update import AskOptions
from roamtui.search.base import Hit
from tests.agent.asking import FakeSearcher, answer, collect_events, expanding, make_agent, saying
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedReply

_COUNT = 10
_PUMPS = "# Pumps\n\n" + "".join(
    f"## Pump {number}\n\nIt needs {number} litres. {'Water runs through the pipe. ' * 400}\n\n"
    for number in range(1, _COUNT + 1)
)
_LIBRARY = make_library(_PUMPS)
_IDS = [section_id for section_id in _LIBRARY.walk() if _LIBRARY.node(section_id).title.startswith("Pump ")]
_SEARCH = ScriptedReply(calls=(("search_sections", {"queries": ["litres of a pump"]}),))


async def test_what_was_found_and_not_read_is_named_with_what_was_read(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path)
    searcher = FakeSearcher(*(Hit(section_id=section_id, score=1.0, why="") for section_id in _IDS))
    agent = make_agent(text=_PUMPS, searcher=searcher, store=store)
    last = await answer(agent, "How much?", _SEARCH, expanding(_IDS[9]), saying(f'"It needs 10 litres." [{_IDS[9]}]'))
    assert last.basis is not None
    unread = {hit.section_id for hit in last.basis.unread}
    assert _IDS[8] in unread, "the model had one line of it"
    assert unread.isdisjoint({_IDS[0], _IDS[9]}), "an excerpt of the first was sent, and the last was opened"
    assert (last.basis.whole, last.basis.sections) == (1, 1 + _COUNT)
    assert last.basis.partly == _COUNT - 1 - len(unread), "an excerpt of each other pump was sent"
    assert last.basis.queries == ("litres of a pump",)
    state = agent.conversation.state
    exchange = state.exchanges[-1]
    words = format_basis(exchange)
    assert words.startswith(f"Read 1 of 11 sections, and parts of {last.basis.partly} more. ")
    assert "Searched for: litres of a pump. Found, not read: Pump " in words
    agent.conversation.close()
    resumed = Conversation(make_library(_PUMPS), store=store).resume(state.id).state
    assert resumed.exchanges[0].basis == last.basis


async def test_sections_that_were_opened_with_a_question_and_had_no_room_are_named() -> None:
    agent = make_agent(["Not found: nothing."], text=_PUMPS, window_tokens=8_192)
    events = await collect_events(agent, "How much?", AskOptions(open_first=tuple(_IDS)))
    state = agent.conversation.state
    results = [result for event in events if isinstance(event, SectionsOpened) for result in event.results]
    refused_ids = [result.id for result in results if result.status is OpenStatus.NO_ROOM]
    titles = ", ".join(state.library.node(section_id).title for section_id in refused_ids)
    told = [notice.format() for event in events for notice in iter_notices(event, state.library)]
    assert 0 < len(refused_ids) < _COUNT
    assert f"The model has no room left to open {len(refused_ids)} sections: {titles}" in told


async def test_a_document_that_was_open_whole_is_said_to_be_read_whole() -> None:
    agent = make_agent()
    library = agent.conversation.state.library
    opened = expanding(*library.children(library.root_id))
    last = await answer(agent, "How much?", opened, saying("Not found: nothing."))
    assert last.basis is not None
    exchange = agent.conversation.state.exchanges[-1]
    assert format_basis(exchange) == "Read the whole document"


async def test_text_that_was_read_for_an_earlier_question_counts_as_read() -> None:
    searcher = FakeSearcher(Hit(section_id=_IDS[0], score=1.0, why=""))
    agent = make_agent(text=_PUMPS, searcher=searcher)
    quoted = saying(f'"It needs 1 litres." [{_IDS[0]}]')
    before = await answer(agent, "How much?", _SEARCH, quoted)
    last = await answer(agent, "Are you sure?", quoted)
    assert last.citations[0].is_verified
    assert last.basis is not None
    assert before.basis is not None
    assert (last.basis.whole, last.basis.partly) == (before.basis.whole, before.basis.partly) == (0, 1)

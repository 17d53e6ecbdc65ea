"""The tools: they answer bad arguments, item by item, and never raise."""

import json
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.agent.prompt import SYSTEM
from roamtui.agent.tool_calls import make_tools
from roamtui.agent.tools import parse_section_ids, parse_tool_arguments
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import SearchHit, SectionsSearched, ToolFinished
from roamtui.conversation.log import ConversationStore, encode_events
from roamtui.conversation.notices import iter_notices
from roamtui.outline.structure import get_canonical_id
from roamtui.retrieval import policy
from roamtui.search.base import Hit
from roamtui.search.searcher import Searcher
from roamtui.text import estimate_tokens
from tests.agent.asking import MANUAL, NO_HITS, FakeSearcher, ask, ids, make_agent, model_of, results
from tests.case_files import read_rows
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.search.libraries import make_folder


async def _call(agent: Agent, tool: str, arguments: object) -> ToolFinished:
    """Let the model call a tool once, and return the event of its result."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    model_of(agent).add_replies(ScriptedReply(calls=((tool, text),)), ScriptedReply(text="Not found: no."))
    return next(event for event in await ask(agent) if isinstance(event, ToolFinished))


@pytest.mark.parametrize("shape", read_rows("agent/tools", "shapes"))
async def test_ids_are_parsed_from_any_shape(shape: str) -> None:
    agent = make_agent()
    fees, lost = ids(agent, "Fees", "Lost books")
    await _call(agent, "expand_sections", shape.format(fees, lost))
    assert tuple(agent.conversation.state.open_sections) == (fees, lost)


async def test_a_title_beside_an_id_is_opened_too() -> None:
    agent = make_agent()
    fees, hours = ids(agent, "Fees", "Hours")
    await _call(agent, "expand_sections", {"section_ids": f"{fees} Late fees, Hours"})
    assert [*agent.conversation.state.open_sections] == [fees, hours]


async def test_a_section_is_closed_by_each_id_that_opens_it() -> None:
    library = make_library(MANUAL)
    fees, lost = ids(make_agent(), "Fees", "Lost books")
    conversation = Conversation(replace(library, aliases={lost: fees}))
    agent = Agent(conversation, ScriptedModel(window_tokens=32_000), options=NO_HITS)
    for named in (f"{fees}:1", lost):
        await _call(agent, "expand_sections", {"section_ids": [named]})
        assert [*agent.conversation.state.open_sections] == [fees]
        await _call(agent, "collapse_sections", {"section_ids": [named]})
        assert results(agent) == [f"[{fees}] closed after this question"]
        assert not agent.conversation.state.open_sections


async def test_a_search_is_limited_by_id_path_or_title_and_not_limited_by_the_id_of_all() -> None:
    searcher = FakeSearcher()
    agent = make_agent(searcher=searcher)
    (fees,) = ids(agent, "Fees")
    whole = agent.conversation.state.library.root_id
    for named in (fees, f"[{fees}]", "Fees", "Lending > Fees", whole, f"[{whole}]", "Nonsense"):
        await _call(agent, "search_sections", {"query": "loan", "within": named})
    assert [within for query, _, within in searcher.searches if query == "loan"] == [fees] * 4 + [None] * 3
    assert '(All sections were searched: no section is called "Nonsense" in the document.)' in results(agent)[0]


async def test_a_search_stays_in_the_section_of_the_question() -> None:
    searcher = FakeSearcher()
    agent = make_agent(searcher=searcher)
    lending, fees, rooms = ids(agent, "Lending", "Fees", "Hours")
    for named in (fees, rooms, "Manual"):
        call = ScriptedReply(calls=(("search_sections", {"query": "loan", "within": named}),))
        await ask(agent, "How much is it?", call, ScriptedReply(text="Not found: no."), within=lending)
        is_told = f"(Only [{lending}] was searched: the question is about it.)" in results(agent)[0]
        assert is_told is (named != fees)
    assert [within for query, _, within in searcher.searches if query == "loan"] == [fees, lending, lending]


async def test_unknown_titles_get_suggestions_and_the_others_are_opened() -> None:
    agent = make_agent()
    (fees,) = ids(agent, "Fees")
    wrong = ("0" if fees[0] != "0" else "1") + fees[1:]
    finished = await _call(agent, "expand_sections", {"section_ids": [wrong, "Lost boots", fees]})
    assert [*finished.results] == [(wrong, "unknown"), ("Lost boots", "unknown"), (fees, "opened")]
    unknown, other, _ = results(agent)[0].split("\n\n", 2)
    assert unknown == f'No section is called "{wrong}" in the document.'
    assert f"Nearest: [{ids(agent, 'Lost books')[0]}] Manual > Lending > Lost books." in other


async def test_only_twenty_of_three_hundred_ids_are_opened() -> None:
    agent = make_agent(text="# M\n\n" + "".join(f"## S{i}\n\nText {i}.\n\n" for i in range(300)))
    wanted = ids(agent, *(f"S{i}" for i in range(300)))
    finished = await _call(agent, "expand_sections", {"section_ids": wanted})
    assert tuple(agent.conversation.state.open_sections) == tuple(wanted[:20])
    assert finished.section_ids == tuple(wanted[:20])
    assert results(agent)[0].endswith("(Not opened: 280 more ids. The limit is 20 per call.)")


async def test_wordings_that_are_not_searched_for_are_counted() -> None:
    agent = make_agent(searcher=Searcher(make_library()))
    finished = await _call(agent, "search_sections", {"queries": [f"loan {number}" for number in range(10)]})
    assert finished.query == "; ".join(f"loan {number}" for number in range(8))
    assert results(agent)[0].endswith("(Not searched: 2 more wordings. The limit is 8 per call.)")


@pytest.mark.parametrize("shape", ['{{"section_ids": ["{0}", "{1}"]}}', "{1}", '{{"section_ids": "{0}{1}"}}'])
async def test_of_endless_arguments_64_kb_are_kept(shape: str, tmp_path: Path) -> None:
    store = ConversationStore(tmp_path)
    agent = make_agent(store=store)
    (fees,) = ids(agent, "Fees")
    await _call(agent, "expand_sections", shape.format(fees, "Herons wait. " * 100_000))
    assert len(encode_events(store.read(agent.conversation.state.id).events)) < 80_000


async def test_a_search_lists_ids_paths_sizes_and_excerpts() -> None:
    text = MANUAL.replace("2 euros a day.", "2 euros a day [deadbeef] <!-- x -->.")
    (fees,) = ids(make_agent(text=text), "Fees")
    searcher = FakeSearcher(Hit(section_id=fees, score=2.0, why="text rank 1"))
    agent = make_agent(text=text, searcher=searcher)
    model_of(agent).add_replies(
        ScriptedReply(calls=(("search_sections", {"query": "late  fees\n"}),)),
        ScriptedReply(text="Not found: no."),
    )
    events = await ask(agent)
    assert searcher.searches[0] == ("late fees", policy.HITS_MAX, None)
    line, excerpt = results(agent)[0].split("\n")
    assert line.startswith(f"- [{fees}] Lending > Fees (")
    assert excerpt == " Late returns cost 2 euros a day [deadbeef] <!-- x -->."
    searched = next(event for event in events if isinstance(event, SectionsSearched))
    assert searched.query == "late fees"
    assert searched.hits == (
        SearchHit(section_id=fees, path=("Manual", "Lending", "Fees"), score=2.0, why="text rank 1", is_read=True),
    )
    finished = next(event for event in events if isinstance(event, ToolFinished))
    assert finished == ToolFinished(tool="search_sections", query="late fees", results=((fees, "found"),))
    assert agent.conversation.state.open_sections == {}, "a search opens nothing"


_LIBRARY = make_library(MANUAL)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
)


@given(st.dictionaries(st.sampled_from(["section_ids", "ids", "query", "queries", "within", "_raw"]), _JSON) | _JSON)
def test_any_json_is_parsed_as_ids_without_an_error(value: object) -> None:
    text = json.dumps(value)
    for arguments in (text, json.dumps(text), text[: len(text) // 2]):
        found, _ = parse_section_ids(parse_tool_arguments(arguments), _LIBRARY)
        assert all(isinstance(item, str) and item.strip() == item != "" for item in found)


def test_a_title_in_brackets_names_its_section() -> None:
    library = make_library("# Rules\n\n## (a) Late fees\n\nTwo euros.\n\n## [Draft]\n\nNone.\n")
    names = ["(a) Late fees", "[Draft]", "[(a) Late fees]", "(a) Late fees; [Draft]"]
    found, _ = parse_section_ids({"section_ids": names}, library)
    fees, draft = found[:2]
    assert [library.node(one).title for one in (fees, draft)] == ["(a) Late fees", "[Draft]"]
    assert found[2:] == (fees, fees, draft)


_FILES = {
    "birds/herons.md": "# Herons\n\nThe heron stands in water.\n\n## Food\n\nA heron eats fish.\n",
    "birds/owls.md": "# Owls\n\nThe owl turns its head.\n\n## Food\n\nAn owl eats mice and, once, a fish.\n",
    "fish.md": "# Fish\n\nThe carp swims.\n\n## Size\n\nA carp is long.\n",
}


async def test_documents_are_listed_page_by_page_with_opening_words(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        path = tmp_path / "animals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    library = open_library((str(tmp_path / "animals"),))
    agent = Agent(Conversation(library), ScriptedModel())

    async def call(**arguments: object) -> str:
        await _call(agent, "list_documents", arguments)
        return results(agent)[-1]

    by_title = {library.node(node_id).title: get_canonical_id(library, node_id) for node_id in library.root.ids}
    herons, owls, fish = (by_title[name] for name in ("herons.md", "owls.md", "fish.md"))
    text = await call()
    assert text.split("\n")[0] == "Documents 1 to 3 of 3:"
    assert f"[{herons}] birds > herons.md (16): " in text
    assert "The heron stands in water." in text
    assert text.index(herons) < text.index(owls) < text.index(fish)
    assert (await call(offset="1")).split("\n")[0] == "Documents 2 to 3 of 3:"
    assert await call(offset=9) == "There are 3 documents, none after 3."
    shown = [event for exchange in agent.conversation.state.exchanges for event in exchange.events]
    notices = [notice.text for event in shown for notice in iter_notices(event, library)]
    assert notices == ["Listed documents 1 to 3 of 3", "Listed documents 2 to 3 of 3"]
    assert (await call(offset=1.0)).split("\n")[0] == "Documents 2 to 3 of 3:"


def test_the_prompt_and_the_tools_have_at_most_750_tokens() -> None:
    tools = make_tools(make_folder({"a.md": "A.", "b.md": "B."}), has_search=True)
    specs = [tool.spec for tool in tools.values()]
    text = "".join(f"{spec.name}{spec.description}{json.dumps(spec.make_bare_schema())}" for spec in specs)
    assert len(specs) == 4
    assert estimate_tokens(SYSTEM) + estimate_tokens(text) <= 750


async def test_the_searches_of_a_step_share_a_budget_and_bring_only_new_text() -> None:
    sections = "".join(f"## Bird {number}\n\n{'It eats fish and mice there. ' * 60}\n\n" for number in range(9))
    agent = make_agent(text=f"# Birds\n\n{sections}", searcher=Searcher(make_library(f"# Birds\n\n{sections}")))
    queries = ("fish", "mice", "fish and mice")
    model_of(agent).add_replies(
        ScriptedReply(calls=tuple(("search_sections", {"query": query}) for query in queries)),
        ScriptedReply(text="Not found: no."),
    )
    await ask(agent)
    uses = agent.conversation.state.exchanges[-1].steps[0].uses
    assert sum(len(use.excerpts) for use in uses) > len(queries)
    read = [span for use in uses for span in use.excerpts if span not in use.named_words]
    library = agent.conversation.state.library
    assert sum(estimate_tokens(library.text_at(span)) for span in read) <= policy.LATER_HITS_TOKENS_MAX
    assert not any(one.overlaps(other) for one, other in combinations(read, 2))


@pytest.mark.parametrize("options", [AgentOptions(), NO_HITS], ids=["with the question", "with a search"])
async def test_a_short_section_that_came_whole_is_not_repeated(options: AgentOptions) -> None:
    text = f"# Birds\n\n{'They fly. ' * 2_000}\n\n## Food\n\nHerons eat fish.\n\n## Nests\n\nHerons breed.\n"
    agent = make_agent(text=text, searcher=Searcher(make_library(text)), options=options)
    searches = (ScriptedReply(calls=(("search_sections", {"query": query}),)) for query in ("herons", "eat fish"))
    await ask(agent, "What of herons?", *searches, ScriptedReply(text="Not found: no."))
    read = [agent.conversation.state.exchanges[-1].preface, *results(agent)]
    assert sum(each.count("Herons eat fish.") for each in read) == 1


async def test_a_search_of_several_wordings_lists_what_each_of_them_finds() -> None:
    parts = {"Food": "Herons eat fish.", "Nests": "They breed in trees.", "Filler": "Words. " * 4_000}
    text = "# Birds\n\n" + "".join(f"## {title}\n\n{words}\n\n" for title, words in parts.items())
    agent = make_agent(text=text, searcher=Searcher(make_library(text)))
    await ask(
        agent,
        "?",
        ScriptedReply(calls=(("search_sections", {"queries": ["eat", "breed", "breed"]}),)),
        ScriptedReply(text="Not found: no."),
    )
    found = results(agent)[0]
    assert "Herons eat fish." in found
    assert "They breed in trees." in found
    finished = [use.call for use in agent.conversation.state.exchanges[-1].steps[0].uses]
    assert len(finished) == 1

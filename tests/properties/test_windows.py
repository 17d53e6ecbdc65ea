"""Whatever the window, the conversation and the calls of the model: each request fits."""

import asyncio
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import Origin, StopReason
from roamtui.conversation.update import AskOptions, OpenSections
from roamtui.document.library import Library
from roamtui.search.searcher import Searcher
from tests.conversation.conversations import check_messages, make_library
from tests.fakes.counting_model import CountingModel
from tests.fakes.scripted_model import Reply, ScriptedReply

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook.md"
PROSE = (
    "Herons stand in the shallow water and wait for fish, which they take with one quick movement of the neck. ",
    "Die Bibliothek verleiht Bücher für vier Wochen; wer sie später zurückgibt, zahlt zwei Euro am Tag. ",
    "| 2023 | 1,204.5 | 17 % | (33.1) |\n",
    "    if value is None and not self._cache.get(key, default=0x1f): return parse_items(value[2:])\n",
    "図書館は四週間本を貸し出します。返却が遅れると一日二ユーロかかります。",
)
_ENDED = (StopReason.ANSWERED, StopReason.NEAREST, StopReason.NOT_FOUND)
_SILENT = "The model returned no answer."
"""What is said of a small model that only calls tools, which it was not offered."""
QUESTIONS = ("How long can I keep a book?", "And what does it cost?", "Compare herons and owls. " * 8)


@cache
def make_document(prose: str) -> Library:
    """Make a document with long, short, deep and nearly empty sections."""
    parts = [f"# Part {number}\n\n{prose * (4 * number % 50)}\n\n" for number in range(40)]
    parts += [f"## Deep {number}\n\n{prose * 3}\n\n### {number}\n\n" for number in range(60)]
    parts.append(f"# Long\n\n{(prose * 8 + chr(10) * 2) * 60}\n")
    return make_library("".join(parts))


@cache
def load_handbook() -> Library:
    return open_library((str(HANDBOOK),))


documents = st.sampled_from(PROSE).map(make_document) | st.builds(load_handbook)


@st.composite
def calls(draw: st.DrawFn, library: Library) -> tuple[str, dict[str, object] | str]:
    """Draw a call as models write it: some of them ask for much, some for nothing that there is."""
    name = draw(st.sampled_from(["expand_sections"] * 4 + ["search_sections", "collapse_sections", "no_such_tool"]))
    if name == "search_sections":
        return name, {"query": draw(st.sampled_from(["books", "herons fish", "Euro", "x" * 900])), "limit": 20}
    ids = [*library.walk()]
    pages = st.tuples(st.sampled_from(ids), st.sampled_from(["", "", ":2", ":3", ":c1"])).map("".join)
    named = draw(st.lists(pages | st.sampled_from(["Long", "no such section", "?" * 300]), min_size=1, max_size=20))
    arguments: dict[str, object] = {"section_ids": named}
    return name, arguments if draw(st.integers(0, 1)) else "{" * 5_000


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Library, list[tuple[str, list[Reply], list[str]]]]:
    library = draw(documents)
    ids = [*library.walk()]
    asked = []
    for _ in range(draw(st.integers(1, 4))):
        count = draw(st.integers(0, 5))
        text = draw(st.sampled_from(["", "I look. ", "Let me think about it. " * 40]))
        steps = [draw(st.lists(calls(library), min_size=1, max_size=4)) for _ in range(count)]
        replies: list[Reply] = [ScriptedReply(text=text, calls=tuple(step)) for step in steps]
        answer = draw(st.sampled_from(['It says "herons" here.', "Not found: no.", "Two euros a day. " * 30]))
        replies += [ScriptedReply(text=answer)] * 2
        opened = draw(st.lists(st.sampled_from(ids), max_size=3))
        asked.append((draw(st.sampled_from(QUESTIONS)), replies, opened))
    return library, asked


def play(
    model: CountingModel, library: Library, asked: list[tuple[str, list[Reply], list[str]]]
) -> list[tuple[StopReason | None, str]]:
    """Ask all questions, and return how each ended."""

    async def run() -> list[tuple[StopReason | None, str]]:
        conversation = Conversation(library)
        agent = Agent(conversation, model, Searcher(library))
        for question, replies, opened in asked:
            model.replace_script(replies)
            await conversation.execute(OpenSections(section_ids=tuple(opened), origin=Origin.PERSON))
            requested = len(model.requests)
            within = opened[0] if opened else None
            await agent.ask(question, AskOptions(within=within))
            for request in model.requests[requested:]:
                check_messages(request.messages)
                words = "".join(message.text for message in request.messages)
                is_brief = len(request.messages) == 1  # without ids
                assert within is None or is_brief or f"(The question is about [{within}]" in words
        return [(one.stopped, one.error) for one in conversation.state.exchanges]

    return asyncio.run(run())


@given(window=st.integers(2_048, 9_000) | st.integers(2_048, 200_000), conversation=conversations())
def test_no_request_exceeds_the_window(
    window: int, conversation: tuple[Library, list[tuple[str, list[Reply], list[str]]]]
) -> None:
    model = CountingModel((), said_tokens=window, true_tokens=window)
    endings = play(model, *conversation)
    assert model.refused == 0, (window, max(model.counts))
    allowed = {*_ENDED, StopReason.STEP_LIMIT}  # the last for repeated calls
    assert all(stopped in allowed or error.startswith(_SILENT) for stopped, error in endings), endings


def test_a_question_that_does_not_fit_is_refused_in_one_sentence_that_names_the_way_out() -> None:
    model = CountingModel((), said_tokens=2_048, true_tokens=2_048)
    [(stopped, error)] = play(model, load_handbook(), [("Why is that so? " * 600, [], [])])
    assert (stopped, model.counts) == (StopReason.ERROR, [])
    assert "window of 2,048 tokens" in error
    assert all(word in error for word in ("--ctx-size", "OLLAMA_CONTEXT_LENGTH", "window_tokens"))

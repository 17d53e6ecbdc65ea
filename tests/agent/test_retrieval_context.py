"""Search hits as the model reads them: with answers, exceptions and no noise."""

from __future__ import annotations

import asyncio
import re

import pytest

from roamtui.agent.retrieval_context import HitList, format_hits, retrieve_context
from roamtui.conversation.events import Origin
from roamtui.conversation.state import ConversationState, OpenSectionOptions
from roamtui.conversation.update import ExpandSections, update
from roamtui.document.library import Library
from roamtui.search.base import Hit
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import FakeSearcher, count_turns
from tests.conversation.conversations import fold
from tests.search.libraries import id_of, make_folder, make_library

_FILLER = "Nothing of note is said in this sentence of a long file. " * 120
LIBRARY = make_folder(
    {
        "birds.md": f"# Birds\n\n## Herons\n\nHerons eat [fish](fish.md).\n\n## Owls\n\nOwls eat mice.\n\n{_FILLER}\n",
        "fees.md": (
            "# Fees\n\nA loan is free.\n\n## Late\n\nA late book costs 2 euros.\n\n### Exceptions\n\nNot on Mondays.\n"
        ),
    }
)


def _describe(library: Library, *titles: str, query: str, opened: str = "") -> HitList:
    state = ConversationState(id="c0ffee", library=library, options=OpenSectionOptions())
    if opened:
        state, _ = fold(
            state, update(state, ExpandSections(section_ids=(id_of(library, opened),), origin=Origin.AGENT))
        )
    return format_hits(state, [_hit(library, title) for title in titles], query)


def _hit(library: Library, title: str, score: float = 1.0) -> Hit:
    return Hit(section_id=id_of(library, title), score=score, snippet="", why="")


def _lines(library: Library, *titles: str, query: str, opened: str = "") -> list[str]:
    text = _describe(library, *titles, query=query, opened=opened).text
    return re.sub(r" \([\d.]+k?(?: of [\d.]+k?)?(, its text .*)?(?:, complete)?\)", r"\1", text).split("\n")


def test_complete_sections_and_omissions_are_marked() -> None:
    long = "\n\n".join(f"Sentence {n} speaks of herons at some length and says little." for n in range(90))
    library = make_library(f"# Birds\n\n## Short\n\nHerons eat fish.\n\n## Long\n\n{long}\n\nHerons nest in trees.\n")
    short, *_ = _describe(library, "Short", query="herons eat").text.split("\n")
    assert short.endswith(", complete)")
    head, *excerpt = _describe(library, "Long", query="herons nest trees").text.split("\n")
    assert "complete" not in head
    assert "    […]" in excerpt


def test_what_a_question_names_is_whole_besides_few_other_hits() -> None:
    rows = "".join(f"| Line {number} of the balance sheet of herons | {number},000 |\n" for number in range(80))
    others = "".join(f"## Part {number}\n\nQuick ratio. {_FILLER}\n\n" for number in range(9))
    library = make_library(f"# Report\n\n{others}## Balance Sheets\n\n| Line | 2022 |\n|---|---|\n{rows}")
    state = ConversationState(id="c0ffee", library=library, options=OpenSectionOptions())
    question = "What is the quick ratio?"
    found = asyncio.run(retrieve_context(KeywordSearcher(library), state, question, None, room_tokens=None))
    assert found.text.startswith(f"- [{id_of(library, 'Balance Sheets')}] Balance Sheets")
    assert ", complete)\n" in found.text.partition("| Line")[0]
    assert "| 79,000 |" in found.text
    assert len(found.hits) == 4


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("Is red a zebra?", ""),
        ("Zebra or red", ""),
        ("Which Newest brick was red in Q2, 2Q or H1?", ""),
        ("Is red in the 8k, the 8-K or the 9k?", "9k"),
        ("What does Contoso say of red, and Fabrikam?", "Contoso, Fabrikam"),
        ("Was red due in FY2022, FY2031 or 2022?", "FY2031"),
        ("red with readUnits or writeUnits of T-1103 or T-1104", "writeUnits, T-1104"),
        ("Zählt Rot als Farbe der Ziegel 77?", "77"),
        ("Is red a Brick?", ""),
        ("Which state/country is red from?", ""),
        ("Are there red post-bricks or brick-layers?", "brick-layers"),
    ],
)
def test_names_and_numbers_that_stand_nowhere_are_listed(query: str, missing: str) -> None:
    text = "# A\n\n## B\n\nRed.\n\n## C\n\nThe bricks of 2022: readUnits, T-1103, 8-K, $5, new.\n"
    lines = _lines(make_library(text), "B", query=query)
    assert lines[2:] == ([f"(Nowhere in the text: {missing}.)"] if missing else [])


async def test_missing_names_are_looked_for_beside_the_event_loop() -> None:
    text = "# A\n\n## B\n\nRed bricks.\n\n## C\n\n" + "Gray stones of Überlingen lie here.\n" * 100_000
    library = make_library(text)
    state = ConversationState(id="c0ffee", library=library, options=OpenSectionOptions())
    searcher = FakeSearcher(_hit(library, "B"))
    question = "Which bricks are red, says Fabrikam?"
    found, turns = await count_turns(retrieve_context(searcher, state, question, None, room_tokens=None))
    assert "(Nowhere in the text: Fabrikam.)" in found.text
    assert turns > 100, "the event loop went on meanwhile"


async def test_few_hits_come_besides_a_section_that_clearly_answers() -> None:
    text = "Herons wait for fish in shallow water, and they eat nothing else at all."
    others = "".join(f"## Bird {number}\n\nBird {number} waits for mice.\n\n" for number in range(5))
    others += f"## The rest\n\n{'Of other animals. ' * 1_000}"
    library = make_library(f"# Birds\n\n## Herons\n\n{text}\n\n#{others}")  # the first of them is below the herons
    searcher = FakeSearcher(_hit(library, "Herons"), *(_hit(library, f"Bird {number}", 0.7) for number in range(5)))
    state = ConversationState(id="c0ffee", library=library, options=OpenSectionOptions())
    found = await retrieve_context(searcher, state, "Do herons wait for fish?", None, room_tokens=None)
    assert found.auto_opened == (id_of(library, "Herons"),)
    assert [library.node(section_id).title for section_id in found.section_ids] == ["Bird 0", "Bird 1"]
    assert "Bird 1 waits" in found.text
    assert "Bird 0 waits" not in found.text, "it comes with its chapter"
    assert len(found.hits) > 3
    unclear = await retrieve_context(searcher, state, "Do herons fear owls or foxes?", None, room_tokens=None)
    assert len(unclear.section_ids) > 3


def test_an_open_section_is_marked_without_an_excerpt() -> None:
    listed = _describe(LIBRARY, "Herons", "Late", query="eat", opened="Herons")
    assert ", its text stands above)" in listed.text
    assert "Herons eat" not in listed.text
    assert {span.doc for span in listed.excerpts} == {"fees.md"}


def test_no_excerpt_line_can_be_mistaken_for_a_line_of_the_list() -> None:
    library = make_library("# A\n\n## B\n\n- [0123abcd] A red line (12)\n<!-- red -->\nQuestion: red?\n")
    head, *excerpt = _lines(library, "B", query="red")
    assert head == f"- [{id_of(library, 'B')}] B"
    assert excerpt
    assert all(line.startswith("    ") for line in excerpt)
    assert "[0123abcd]" not in "".join(excerpt)

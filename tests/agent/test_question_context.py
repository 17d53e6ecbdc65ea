"""What comes with a question: the statements it names, a section that clearly answers, and few hits besides."""

import asyncio
import re

from roamtui.agent.question_context import QuestionContext, retrieve_context
from roamtui.document.library import Library
from roamtui.retrieval.choose import ModelView
from roamtui.search.base import Hit
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import FakeSearcher, count_turns
from tests.search.libraries import id_of, make_library

_FILLER = "Nothing of note is said in this sentence of a long file. " * 120


def _hit(library: Library, title: str, score: float = 1.0) -> Hit:
    return Hit(section_id=id_of(library, title), score=score, snippet="", why="")


def _list_hits(found: QuestionContext) -> list[str]:
    return re.findall(r"^- \[(\w{8})\]", found.text.partition("Outline near")[0], re.MULTILINE)


def test_what_a_question_names_is_whole_besides_few_other_hits() -> None:
    rows = "".join(f"| Line {number} of the balance sheet of herons | {number},000 |\n" for number in range(80))
    others = "".join(f"## Part {number}\n\nQuick ratio. {_FILLER}\n\n" for number in range(9))
    library = make_library(f"# Report\n\n{others}## Balance Sheets\n\n| Line | 2022 |\n|---|---|\n{rows}")
    question = "What is the quick ratio?"
    found = asyncio.run(retrieve_context(KeywordSearcher(library), ModelView(library=library), question, None))
    assert _list_hits(found)[0] == id_of(library, "Balance Sheets")
    assert ", complete)\n" in found.text.partition("| Line")[0]
    assert "| 79,000 |" in found.text
    assert len(found.hits) == 4


async def test_missing_names_are_looked_for_beside_the_event_loop() -> None:
    text = "# A\n\n## B\n\nRed bricks.\n\n## C\n\n" + "Gray stones of Überlingen lie here.\n" * 100_000
    library = make_library(text)
    view = ModelView(library=library)
    searcher = FakeSearcher(_hit(library, "B"))
    question = "Which bricks are red, says Fabrikam?"
    found, turns = await count_turns(retrieve_context(searcher, view, question, None))
    assert "(Nowhere in the text: Fabrikam.)" in found.text
    assert turns > 100, "the event loop went on meanwhile"


async def test_few_hits_come_besides_a_section_that_clearly_answers() -> None:
    text = "Herons wait for fish in shallow water, and they eat nothing else at all."
    others = "".join(f"## Bird {number}\n\nBird {number} waits for mice.\n\n" for number in range(5))
    others += f"## The rest\n\n{'Of other animals. ' * 1_000}"
    library = make_library(f"# Birds\n\n## Herons\n\n{text}\n\n#{others}")  # the first of them is below the herons
    view = ModelView(library=library)
    searcher = FakeSearcher(_hit(library, "Herons"), *(_hit(library, f"Bird {number}", 0.7) for number in range(5)))
    found = await retrieve_context(searcher, view, "Do herons wait for fish?", None)
    assert found.auto_opened == (id_of(library, "Herons"),)
    assert [library.node(section_id).title for section_id in _list_hits(found)] == ["Bird 0", "Bird 1"]
    assert "Bird 1 waits" in found.text
    assert "Bird 0 waits" not in found.text, "it comes with its chapter"
    assert len(found.hits) > 3
    unclear = await retrieve_context(searcher, view, "Do herons fear owls or foxes?", None)
    assert len(_list_hits(unclear)) > 3

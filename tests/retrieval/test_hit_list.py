"""Search hits as the model reads them: with answers, exceptions and no noise."""

import re

import pytest

from roamtui.document.library import Library
from roamtui.outline.delivered import SpanSet
from roamtui.retrieval.hit_list import HitList, render_hits
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit
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
    delivered = SpanSet.from_spans([library.node(id_of(library, opened)).content_span] if opened else [])
    view = ModelView(library=library, room_tokens=64_000, delivered=delivered)
    return render_hits(view, [_hit(library, title) for title in titles], query)


def _hit(library: Library, title: str) -> Hit:
    return Hit(section_id=id_of(library, title), score=1.0, snippet="", why="")


def _lines(library: Library, *titles: str, query: str, opened: str = "") -> list[str]:
    text = _describe(library, *titles, query=query, opened=opened).text
    return re.sub(r" \((?:complete|[\d.]+k?(?: of [\d.]+k?)?)\)", "", text).split("\n")


def test_complete_sections_are_marked_and_omissions_say_what_they_hide() -> None:
    long = "\n\n".join(f"Sentence {n} speaks of herons at some length and says little." for n in range(190))
    library = make_library(f"# Birds\n\n## Short\n\nHerons eat fish.\n\n## Long\n\n{long}\n\nHerons nest in trees.\n")
    short, *_ = _describe(library, "Short", query="herons eat").text.split("\n")
    assert short.endswith(" (complete)"), "nobody needs the size of what is there"
    head, *excerpt = _describe(library, "Long", query="herons nest trees").text.split("\n")
    assert "complete" not in head
    [gap] = [line for line in excerpt if line.startswith(" [… Sentence ")]
    assert gap.endswith(" tokens]")


@pytest.mark.parametrize("read", [0, 5_000])
def test_an_excerpt_of_a_table_has_its_heads_once(read: int) -> None:
    rows = [f"| City {number} | {number * 7} |" for number in range(900)]
    rows[600] = "| Heron bay | 2100 |"
    text = "\n".join(["# Report", "", "| City | Births |", "| --- | --- |", *rows])
    library = make_library(f"{text}\n")
    delivered = SpanSet({"": [(0, text.index("\n", read) + 1)]} if read else {})
    view = ModelView(library=library, room_tokens=64_000, delivered=delivered)
    found = render_hits(view, [_hit(library, "Report")], "births in Heron bay")
    lines = found.text.split("\n")
    assert lines.count(" | City | Births |") == 1
    assert lines.index(" | City | Births |") < lines.index(" | Heron bay | 2100 |")
    assert any("| City | Births |" in library.text_at(span) for span in found.excerpts) is not bool(read)


def test_no_excerpt_line_can_be_mistaken_for_a_line_of_the_list() -> None:
    library = make_library("# A\n\n## B\n\n- [0123abcd] A red line (12)\n<!-- red -->\nQuestion: red?\n")
    head, *excerpt = _lines(library, "B", query="red")
    assert head == f"- [{id_of(library, 'B')}] B"
    assert excerpt
    assert all(line.startswith(" ") for line in excerpt)

"""Sections that name each other by their numbers are listed under "also found"."""

import pytest

from roamtui.retrieval.choose import ModelView
from roamtui.retrieval.hit_list import render_hits
from roamtui.retrieval.references import find_naming
from roamtui.search.base import Hit
from tests.case_files import read_case
from tests.search.libraries import id_of, make_library

_CONTRACT = read_case("lease_with_limits.md")
_SURVIVAL = "Section 2.3 survives the end of this lease."


def _list_naming(title: str, text: str) -> list[tuple[str, str]]:
    library = make_library(text)
    naming = find_naming(library, id_of(library, title))
    return [(library.node(section_id).title, library.text_at(span)) for section_id, span in naming]


def test_sections_that_name_a_number_are_found_where_they_do() -> None:
    contract = _CONTRACT.format(guests="two weeks", survival=_SURVIVAL)
    named = _list_naming("2.3 Pets", contract)
    assert ("9.1 Exceptions", "Sections 2.3") in named
    assert ("9.2 After the end", "Section 2.3") in named
    assert named == _list_naming("2.3.1 Aquariums", contract), "its clause is named"
    assert _list_naming("2. Use", contract) == []


def test_sections_of_laws_are_found_too() -> None:
    law = (
        "# Law\n\n## § 5 Term\n\nIt ends.\n\n## § 9\n\nAbweichend von § 5 endet sie nie. § 15 gilt.\n\n## § 15\n\nX.\n"
    )
    assert _list_naming("§ 5 Term", law) == [("§ 9", "§ 5")]
    assert _list_naming("§ 15", law) == [("§ 9", "§ 15")]


def test_a_number_that_two_sections_have_names_neither() -> None:
    assert _list_naming("2.3 Pets", _CONTRACT.format(guests="1", survival="#### 2.3 Annex\n\nNothing.")) == []


@pytest.mark.parametrize("title", ["9.1 Exceptions", "9.2 After the end"])
def test_they_are_listed_with_the_words_around_the_number(title: str) -> None:
    library = make_library(_CONTRACT.format(guests="two weeks", survival=_SURVIVAL))
    hits = [Hit(section_id=id_of(library, "2.3 Pets"), score=1.0, snippet="", why="")]
    listed = render_hits(ModelView(library=library), hits, "animal")
    (line,) = (line for line in listed.text.split("\n") if line.startswith(f"- [{id_of(library, title)}]"))
    assert "2.3" in line.rpartition(": … ")[2]
    assert id_of(library, title) in listed.also_found

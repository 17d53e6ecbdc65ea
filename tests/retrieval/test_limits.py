"""Sentences that limit a section from elsewhere come with it."""

import pytest

from roamtui.retrieval.choose import ModelView
from roamtui.retrieval.limits import find_limits
from roamtui.retrieval.policy import RetrievalPolicy
from roamtui.retrieval.render import render_hits
from roamtui.search.base import Hit
from roamtui.text import estimate_tokens
from tests.case_files import read_case
from tests.search.libraries import id_of, make_library

_CONTRACT = read_case("lease_with_limits.md")
_SURVIVAL = "Section 2.3 survives the end of this lease."


def _list_limits(title: str, text: str) -> list[tuple[str, str]]:
    library = make_library(text)
    limits = find_limits(library, id_of(library, title))
    return [(limit.number, library.text_at(limit.span)) for limit in limits]


@pytest.mark.parametrize(
    ("title", "numbers"),
    [("2.3 Pets", ["2.3", "2.3"]), ("2.3.1 Aquariums", ["2.3", "2.3"]), ("2.4 Guests", ["2.4"]), ("2. Use", [])],
)
def test_a_section_is_limited_by_sentences_that_name_its_number(title: str, numbers: list[str]) -> None:
    limits = _list_limits(title, _CONTRACT.format(guests="two weeks", survival=_SURVIVAL))
    assert [number for number, _ in limits] == numbers
    assert all("has the meaning" not in sentence for _, sentence in limits), "a definition limits nothing"
    if limits:
        assert limits[0][1] == "Sections 2.3, 2.4(b) and 7 shall not apply to guide dogs."


def test_sections_of_laws_are_limited_too() -> None:
    law = (
        "# Law\n\n## § 5 Term\n\nIt ends.\n\n## § 9\n\nAbweichend von § 5 endet sie nie. § 15 gilt.\n\n## § 15\n\nX.\n"
    )
    assert _list_limits("§ 5 Term", law) == [("5", "Abweichend von § 5 endet sie nie.")]
    assert _list_limits("§ 15", law) == []


def test_a_number_that_two_sections_have_names_neither() -> None:
    assert _list_limits("2.3 Pets", _CONTRACT.format(guests="1", survival="#### 2.3 Annex\n\nNothing.")) == []


@pytest.mark.parametrize(
    ("survival", "is_quoted"), [(_SURVIVAL, True), (f"{_SURVIVAL[:-1]}, {'as agreed ' * 200}.", False)]
)
def test_they_come_with_the_hits_as_far_as_there_is_room(survival: str, *, is_quoted: bool) -> None:
    library = make_library(_CONTRACT.format(guests="two weeks", survival=survival))
    hits = [Hit(section_id=id_of(library, "2.3 Pets"), score=1.0, snippet="", why="")]
    listed = render_hits(ModelView(library=library), hits, "animal")
    lines = listed.text.split("\n")
    assert any("9.1 Exceptions" in line and "names 2.3" in line for line in lines)
    assert any("9.2 After the end" in line and "names 2.3" in line for line in lines), "a model can open it"
    assert (" Section 2.3 survives" in listed.text) is is_quoted
    policy = RetrievalPolicy(limited_hits_max=0)
    added = estimate_tokens(listed.text) - estimate_tokens(
        render_hits(ModelView(library=library, policy=policy), hits, "animal").text
    )
    assert 0 < added <= policy.limits_tokens_max


def test_they_are_not_sent_twice() -> None:
    library = make_library(_CONTRACT.format(guests="two weeks", survival=_SURVIVAL))
    ids = [id_of(library, title) for title in ("9.1 Exceptions", "2.3 Pets", "2.4 Guests")]
    text = render_hits(
        ModelView(library=library), [Hit(section_id=i, score=1.0, snippet="", why="") for i in ids], "pets"
    ).text
    assert text.count("guide dogs") == 1

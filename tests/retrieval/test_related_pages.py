"""The pages of a folder whose titles bear on a question."""

import pytest

from roamtui.document.library import Library
from roamtui.retrieval.related_pages import render_related_pages
from roamtui.search.terms import TermMatcher
from roamtui.text import estimate_tokens
from tests.search.libraries import make_folder, make_library

_TITLES = ["Feed the herons", "Herons of the north", "Feed other birds", "Owls"]

_FOLDER = make_folder({f"{number}.md": f"# {title}\n\nText.\n" for number, title in enumerate(_TITLES)})


def _list(question: str, tokens_max: int = 200, library: Library = _FOLDER) -> str:
    return render_related_pages(library, TermMatcher.for_question(question), tokens_max)


def test_pages_are_named_by_titles_with_two_terms() -> None:
    lines = _list("How do I feed herons?").splitlines()
    assert [line.partition("] ")[2] for line in lines[1:]] == ["Feed the herons (7)"]


@pytest.mark.parametrize("question", ["herons", "What do owls eat?", "", "???"])
def test_a_single_term_names_no_page(question: str) -> None:
    assert _list(question) == ""


@pytest.mark.parametrize("tokens_max", [0, 5, 20, 200])
def test_the_lines_stay_within_their_size(tokens_max: int) -> None:
    assert estimate_tokens(_list("How do I feed herons in the north?", tokens_max)) <= tokens_max


def test_a_single_document_has_no_pages() -> None:
    assert _list("How do I feed herons?", library=make_library("# Feed herons\n\nText.\n")) == ""

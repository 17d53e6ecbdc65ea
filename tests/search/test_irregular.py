"""Irregular forms of English words are found like any other form."""

from __future__ import annotations

import pytest

from roamtui.search.forms import find_forms
from roamtui.search.irregular import list_other_forms
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.languages import Language
from roamtui.search.stem import stem
from tests.search.libraries import make_library

_LIBRARY = make_library(
    "# Rules\n\n## Loans\n\nA tool is lent for a week.\n\n## Lost things\n\nWhoever has lost a key pays for it.\n\n"
    "## Closing\n\nWe close at six, and whatever has happened is told to the rota.\n"
)


def _find_titles(question: str) -> list[str]:
    hits = KeywordSearcher(_LIBRARY).search(question)
    return [_LIBRARY.node(hit.section_id).title for hit in hits]


def test_forms_lead_to_one_another() -> None:
    assert list_other_forms("lose") == ("loss", "lost")
    assert list_other_forms("lost") == ("lose", "loss")
    assert list_other_forms("lathe") == ()


def test_no_form_is_one_that_stems_already_bring_together() -> None:
    for word in ("lose", "break", "child", "knife", "withdraw"):
        stems = [stem(form) for form in (word, *list_other_forms(word))]
        assert len(set(stems)) == len(stems)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("I lose a key", "Lost things"),
        ("who lends me a tool", "Loans"),
        ("what happens if I lose it", "Lost things"),
    ],
)
def test_a_question_finds_other_forms_of_its_words(question: str, title: str) -> None:
    assert _find_titles(question)[0] == title


def test_a_word_whose_other_form_is_known_is_no_typing_mistake() -> None:
    assert "Closing" not in _find_titles("lose")


def test_a_sentence_with_another_form_holds_the_word() -> None:
    assert find_forms("anything", ("lose", "key"), Language.ENGLISH) == {"loss": "lose", "lost": "lose"}

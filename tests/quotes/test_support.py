"""The sentences of a text that carry an answer without quotes, and what stands nowhere in it."""

from collections.abc import Sequence

import pytest

from roamtui.conversation.citations import QuoteState
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.quotes.support import Support, find_support
from roamtui.text import Span

_TEXT = """# Ferry

The ferry crosses in 25 minutes. Dogs travel free on deck.

## Fares

Fares are paid on board, in cash:

- Adults pay 4 florins.
- Children under 12 pay 1,500 cents.

| Day | First | Last |
|---|---|---|
| Monday | 06:30 | 21:15 |
| Sunday | 09:00 | 18:45 |

## Crew

Captain Ida Brunn steers since 1998. The mate is Odd Lie.
"""
_QUESTION = "What does the ferry cost?"


def support(answer: str, question: str = _QUESTION, text: str = _TEXT) -> Support:
    library = Library(source="ferry.md", root=parse_document(text))
    return find_support(answer, (), library, (Span(doc="", start=0, end=len(text)),), question)


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("The crossing takes 25 minutes by ferry.", ["The ferry crosses in 25 minutes."]),
        ("Adults pay 4 florins.", ["Fares are paid on board, in cash: Adults pay 4 florins."]),
        (
            "Children under 12 pay 1500 cents.",
            ["Fares are paid on board, in cash: Children under 12 pay 1,500 cents."],
        ),
        ("On Sunday, the last ferry leaves at 18:45.", ["Day Sunday | First 09:00 | Last 18:45"]),
        ("18:45", ["Day Sunday | First 09:00 | Last 18:45"]),
        ("Ida Brunn steers the ferry.", ["Captain Ida Brunn steers since 1998."]),
        (
            "It leaves at 06:30 on Monday and at 09:00 on Sunday.",
            ["Day Monday | First 06:30 | Last 21:15", "Day Sunday | First 09:00 | Last 18:45"],
        ),
        ("**Dogs** travel free.", ["Dogs travel free on deck."]),
    ],
)
def test_a_sentence_has_those_that_carry_it(answer: str, sentences: list[str]) -> None:
    found = support(answer)
    assert sorted(citation.sentence for citation in found.citations) == sorted(sentences)
    assert {(citation.state, citation.quote) for citation in found.citations} == {(QuoteState.SUPPORTED, None)}
    assert found.unsourced == ()


@pytest.mark.parametrize(
    ("answer", "false"),
    [
        ("The crossing takes 40 minutes by ferry.", ["40"]),
        ("The ferry costs $4.25, or 1,600 cents.", ["$4.25", "1,600"]),
        ("The captain is Ahab Starbuck of Nantucket.", ["Ahab Starbuck", "Nantucket"]),
        ("It leaves from pier B-77.", ["B-77"]),
        ("Dogs travel free on deck.", []),
    ],
)
def test_numbers_and_names_that_stand_nowhere_are_false(answer: str, false: list[str]) -> None:
    wrong = [citation for citation in support(answer).citations if citation.state is QuoteState.NOT_FOUND]
    assert [answer[citation.start : citation.end] for citation in wrong] == false == [each.quote for each in wrong]


def test_what_the_question_names_needs_no_source() -> None:
    found = support("Captain Ahab pays 4 florins for 3 dogs.", "What does Captain Ahab pay for 3 dogs?")
    assert not any(citation.state is QuoteState.NOT_FOUND for citation in found.citations)


@pytest.mark.parametrize(
    ("answer", "unsourced"),
    [
        ("yes", ["yes"]),
        ("Elephants sleep in trees. Dogs travel free on deck.", ["Elephants sleep in trees."]),
        ("## Elephants\n\nElephants like these:\n\n- Do they?\n\n```\nelephant = 1\n```", []),
        ("Not found: elephants.", []),
        ("", []),
    ],
)
def test_a_sentence_that_says_something_has_a_source_or_none(answer: str, unsourced: list[str]) -> None:
    assert [answer[start:end] for start, end in support(answer).unsourced] == unsourced


def test_text_that_was_not_sent_carries_nothing() -> None:
    library = Library(source="ferry.md", root=parse_document(_TEXT))
    sent = (Span(doc="", start=0, end=_TEXT.index("## Crew")),)
    found = find_support("Captain Ida Brunn steers since 1998.", (), library, sent, _QUESTION)
    assert [citation.state for citation in found.citations if citation.quote == "1998"] == [QuoteState.NOT_FOUND]
    assert found.unsourced


@pytest.mark.parametrize(
    ("answer", "cosine", "is_found"),
    [
        ("Pets cost nothing outside.", 0.8, True),
        ("Pets cost nothing outside.", 0.5, False),
        ("Pets cost nothing outside for 25 minutes.", 0.8, False),
    ],
)
def test_without_most_words_the_nearest_sentence_with_the_same_numbers_carries(
    answer: str, cosine: float, *, is_found: bool
) -> None:
    def compare(_query: str, texts: Sequence[str]) -> list[float]:
        return [cosine if "Dogs" in text else 0.1 for text in texts]

    library = Library(source="ferry.md", root=parse_document(_TEXT))
    found = find_support(answer, (), library, (Span(doc="", start=0, end=len(_TEXT)),), _QUESTION, compare)
    assert [citation.sentence for citation in found.citations] == ["Dogs travel free on deck."] * is_found
    assert bool(found.unsourced) is not is_found

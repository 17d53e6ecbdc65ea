"""Units and sentences of Markdown are exact spans, and the best ones are chosen."""

from __future__ import annotations

import itertools
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.sentences import (
    find_sentence_end,
    get_first_sentence,
    rank_sentences,
    split_sentences,
)
from roamtui.search.terms import extract_query_terms
from roamtui.search.units import find_units

_MARKUP = "text|# Head|---|===|- item|1. one|  more|    deep|> quote|> - x|```|~~~|<!-- c|-->|<div>|[r]: u"
_PIECES = st.sampled_from(
    [*_MARKUP.split("|"), "![i](u)", ":::", "", "*", "\tx", "``` `", "  ", "| a | b |", "|---|---|"]
)


def _list_units(text: str) -> list[tuple[str, str]]:
    return [(unit.kind.value, text[unit.start : unit.end]) for unit in find_units(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One\ntwo\n\nthree\n", [("prose", "One\ntwo"), ("prose", "three")]),
        ("# Head ##\ntext", [("heading", "Head"), ("prose", "text")]),
        ("Head\nof two\n---\ntext", [("heading", "Head\nof two"), ("prose", "text")]),
        (
            "- one\n- [x] two\n  more\n\n  a paragraph\n1) three",
            [("item", "one"), ("item", "two\n  more"), ("prose", "a paragraph"), ("item", "three")],
        ),
        ("> quoted\n> on\n", [("prose", "quoted\n> on")]),
        ("```py\n# x\ny = 1\n```\nafter", [("code", "# x"), ("code", "y = 1"), ("prose", "after")]),
        (
            "intro\n| a | b |\n|---|:-:|\n| c | d |\n\nend",
            [("prose", "intro"), ("table_head", "| a | b |"), ("row", "| c | d |"), ("prose", "end")],
        ),
        ("| a | b |\n| c | d |\n", [("row", "| a | b |"), ("row", "| c | d |")]),
        ("<div>\n\n<!-- a\nb -->\n<!-- c -->\n[r]: http://x\n![i](u)\n***\n:::note\n{% tabs %}\n", []),
        ("a\r\nb\rc\n\r\nd", [("prose", "a\r\nb\rc"), ("prose", "d")]),
        ("---\ntitle: x\n---\ntext", [("prose", "text")]),
    ],
)
def test_units(text: str, expected: list[tuple[str, str]]) -> None:
    assert _list_units(text) == expected


@given(st.lists(_PIECES, max_size=12).map("\n".join))
def test_units_follow_each_other_and_hold_words(text: str) -> None:
    units = find_units(text)
    assert all(before.end <= after.start for before, after in itertools.pairwise(units))
    assert all(any(map(str.isalnum, text[unit.start : unit.end])) for unit in units)


_TEXT = st.text(alphabet="ab AB.!?;()`\n*_|#>-'\"。1 ", max_size=80)


def _split(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in split_sentences(text)]


def _choose(text: str, question: str, *, limit: int = 1) -> list[str]:
    best = rank_sentences(text, extract_query_terms(question), limit=limit)
    return [text[sentence.start : sentence.end] for sentence in best]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One is here. Two is not.", ["One is here.", "Two is not."]),
        ("See e.g. Foo, i.e. Bar. Then go.", ["See e.g. Foo, i.e. Bar.", "Then go."]),
        ("It costs 3.5 MB. More follows.", ["It costs 3.5 MB.", "More follows."]),
        ("As in Fig. 3 and No. 4. No. Never.", ["As in Fig. 3 and No. 4.", "No.", "Never."]),
        ("I, Jeffrey P. Bezos, and Roe v. Wade. Done.", ["I, Jeffrey P. Bezos, and Roe v. Wade.", "Done."]),
        (
            "Under U.S. GAAP, 18 U.S.C. Section 1350 and Treas. Reg. §1.",
            ["Under U.S. GAAP, 18 U.S.C. Section 1350 and Treas. Reg. §1."],
        ),
        ("We sell in the U.S. We also export.", ["We sell in the U.S.", "We also export."]),
        ("Open until 5 p.m. Members may stay.", ["Open until 5 p.m.", "Members may stay."]),
        ('He said "Stop!" Then he left.', ['He said "Stop!"', "Then he left."]),
        ("It works (see below. Or not). Next.", ["It works (see below. Or not).", "Next."]),
        ("Call `stop. Now` twice. Done.", ["Call `stop. Now` twice.", "Done."]),
        ("**Bold ends.** *Then this.*", ["**Bold ends.**", "*Then this.*"]),
        ("1. First thing. Second.\n2. Other", ["First thing.", "Second.", "Other"]),
        ("Sie wird am 1. April fällig. Danach 2. Mai.", ["Sie wird am 1. April fällig.", "Danach 2. Mai."]),
        ("Es gilt Abs. 2, vgl. Anhang. Im 19. Jahrhundert.", ["Es gilt Abs. 2, vgl. Anhang.", "Im 19. Jahrhundert."]),
        ("数据库很快。它很好！真的", ["数据库很快。", "它很好！", "真的"]),
        ("# Head. Not split\n\nText.", ["Head. Not split", "Text."]),
        ("| a. B | c |\n|---|---|\n| d. E | f |\n", ["| a. B | c |", "| d. E | f |"]),
        ("", []),
        ("***\n\n...\n", []),
    ],
)
def test_a_text_is_divided_into_sentences(text: str, expected: list[str]) -> None:
    assert _split(text) == expected


@pytest.mark.parametrize(
    ("text", "words", "end"),
    [
        ("One is here. Two is not.", "One", "here."),
        ("| a | b |\n|---|---|\n| c. D | e |\n| f | g |\n", "c", "e |"),
        ("A late book costs\n\ntwo euros a day. More.", "late", "day."),
        ("The borrower must\n\na) pay.", "borrower", "must"),
        ("The borrower pays.\n\nhe must.", "borrower", "pays."),
        ("First " + "clause, and " * 60 + "so on; last. More.", "First", "last."),
    ],
)
def test_the_end_of_the_sentence_around_a_character(text: str, words: str, end: str) -> None:
    found = find_sentence_end(text, text.index(words))
    assert found is not None
    assert text[:found].endswith(end)


def test_a_very_long_sentence_is_divided_at_semicolons() -> None:
    clauses = [f"clause {number} {'word ' * 30}ends;" for number in range(6)]
    text = " ".join(clauses)
    pieces = _split(text)
    assert len(pieces) == 3
    assert " ".join(pieces) == text
    assert all(piece.endswith(";") and len(piece) <= 400 for piece in pieces)


@given(_TEXT)
def test_sentences_are_slices_in_order(text: str) -> None:
    sentences = split_sentences(text)
    assert all(sentence.start < sentence.end <= len(text) for sentence in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() for s in sentences)


@given(_TEXT, st.integers(0, 3))
def test_best_sentences_are_sentences(text: str, limit: int) -> None:
    known = {(sentence.start, sentence.end) for sentence in split_sentences(text)}
    best = rank_sentences(text, ("a", "b"), limit=limit)
    assert len(best) <= limit
    assert all((sentence.start, sentence.end) in known and sentence.score > 0 for sentence in best)
    assert [sentence.score for sentence in best] == sorted((s.score for s in best), reverse=True)


_BACKUPS = "Backups are kept. Restore is manual. Backups are kept for thirty days. Ask the desk about days."
_LEASES = """Some words go before.

The lease of a car that you have rented may end when you decide on renewal. Ask for lease renewal in person here."""
_RETRIES = "```\nretry(limit=3)\n```\n\nWhat is the retry limit here?\n\nYou can set the retry limit yourself.\n"


@pytest.mark.parametrize(
    ("text", "question", "best"),
    [
        pytest.param(_BACKUPS, "How many days are backups kept?", "Backups are kept for thirty days.", id="more terms"),
        pytest.param(_LEASES, "lease renewal", "Ask for lease renewal in person here.", id="terms close together"),
        pytest.param(
            _RETRIES, "retry limit", "You can set the retry limit yourself.", id="prose, not code or questions"
        ),
    ],
)
def test_the_best_sentence_comes_first(text: str, question: str, best: str) -> None:
    assert _choose(text, question) == [best]


def test_fragments_come_last() -> None:
    better = "At most set the retry limit to three."
    text = f"Nothing.\n\nNothing.\n\nNothing.\n\nRetry limit\n\n{better}\n"
    assert _choose(text, "set retry limit", limit=2) == [better, "Retry limit"]


def test_the_first_sentence_is_a_meaningful_one() -> None:
    text = "# Head\n\nNote:\n\nThis page says a great deal. More.\n"
    opening = get_first_sentence(text)
    assert opening is not None
    assert text[opening.start : opening.end] == "This page says a great deal."
    assert get_first_sentence("# Only a head\n") is None

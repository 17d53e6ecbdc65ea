"""Looking a quote up in a text."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roamtui.agent.quotes import find_quote, normalise_markdown

_TEXT = (
    "## Fees & fines\r\n\r\n> Late *returns* cost **2 euros** a day - see [the rules](rules.md (x)), `fee_table`.\r\n"
    "\r\n1. First, pay.\r\n2. Then ask. It’s 12,50 € “in all” …\r\n\r\n| a | b |\r\n|---|---|\r\n| 逾期 | 两欧元 |\r\n"
)


@given(st.integers(0, len(_TEXT)), st.integers(0, len(_TEXT)))
def test_any_piece_of_a_text_is_found_exactly_in_it(start: int, end: int) -> None:
    quote = _TEXT[start:end].strip()
    assume(sum(character.isalnum() for character in quote) >= 2)
    place = _TEXT.index(quote, start)
    before = _TEXT[place - 1 : place]
    begins_inside_word = before.isascii() and before.isalnum() and quote[0].isalnum()
    ends_inside_number = quote[-1].isdigit() and _TEXT[place + len(quote) : place + len(quote) + 1].isdigit()
    match = find_quote(quote, _TEXT)
    if not begins_inside_word and not ends_inside_number:
        assert match is not None
        assert match.is_exact
        assert _TEXT[match.start : match.end] == quote


@given(
    st.lists(st.sampled_from(["fee", "day", "2", "Über", "两欧元", "a_b", "x-y", "C++", "§"]), min_size=2, max_size=8),
    st.data(),
)
def test_words_are_found_whatever_marks_stand_around_them(words: list[str], data: st.DataObject) -> None:
    assume(sum(character.isalnum() for word in words for character in word) >= 2)
    marks = ["{}", "*{}*", "**{}**", "`{}`", "~~{}~~", "[{}](x.md)", "“{}”", "\u200b{}"]
    spaces = [" ", "  ", "\n", "\r\n", "\n> ", "\n  ", "\u00a0", "\t"]
    shown = [data.draw(st.sampled_from(marks)).format(word) for word in words]
    text = "Before " + "".join(word + data.draw(st.sampled_from(spaces)) for word in shown) + "after."
    match = find_quote(" ".join(words), text)
    assert match is not None
    found = text[match.start : match.end]
    assert all(word in found for word in words)
    assert not found.startswith("Before")


@given(st.text(alphabet="ab *_`[]()#>-|\\\n\r\"'“”&;1.…漢", max_size=80))
def test_normal_text_knows_where_each_character_came_from(text: str) -> None:
    for has_numbers in (False, True):
        normal = normalise_markdown(text, has_numbers=has_numbers)
        assert len(normal.text) == len(normal.offsets)
        assert list(normal.offsets) == sorted(set(normal.offsets))
        assert "  " not in normal.text
        for character, offset in zip(normal.text, normal.offsets, strict=True):
            assert character in {" ", '"', "'", "-", "&", "<", ">"} or text[offset] == character


@pytest.mark.parametrize(
    ("quote", "text", "is_found"),
    [
        ("2 euros", "It costs 12 euros.", False),
        ("12 euro", "It costs 12 euros.", True),
        ("costs 1", "It costs 12 euros.", False),
        ("2 euros", "It costs 12 euros, then 2 euros.", True),
        ("the *fee", "the feed", False),
        ("*fee* is", "coffee is", False),
        ("欧元 每", "两欧元\n每天", True),
        ("Übung *eins*", "Vorübung eins", False),
        ("a b", "a\n\n\nb", True),
        ("legal to copy", "It is illegal to copy.", False),
        ("Find the extension page", "extensionFind the extension pageQuick.", True),
        ("Phone", "It is an iPhone.", False),
        ("costs 12 eur", "It costs 12 euros.", True),
        ("欧元 每", "两欧元每天", False),
        ("欧元每", "两欧元每天", True),
        ("5欧元", "每5欧元。", True),
        ("one two", "one<br>two", True),
        ("say now", "say&quot;now", False),
        ("a snake_case name", "a snake\\_case name", True),
        ("Gebühr für die", "Die Gebu\u0308hr\nfu\u0308r die", True),
        ("Gebuhr", "Die Gebu\u0308hr", False),
        ("file office", "The \ufb01le of\ufb01ce", True),
        ("no - yes", "no – yes", True),
        ("no yes", "no – yes", False),
        ("do not pay", "do pay", False),
        ("do pay", "do not pay", False),
        ("ab", "AB", False),
        ("x", "x", False),
        ("", "text", False),
        ("...", "text ...", False),
        ("one ... two", "two one", False),
        ("one ... one", "one", False),
        ("one ... one", "one, one", True),
        ("first. Second", "first.\n\n2. Second", True),
        ("first. Second", "first.\n\u00a0\t2. Second", True),
        ("3. Second", "first.\n\n2. Second", False),
        ("12. May", "on\n12. May", True),
        ("2. May", "on\n12. May", False),
        ("- 5 degrees", "- 5 degrees", True),
        ("-5 degrees", "It has 5 degrees.", False),
        ("63% fewer", "There are 63\u00a0% fewer.", True),
        ("63 % fewer", "There are 63% fewer.", True),
        ("3 % fewer", "There are 63% fewer.", False),
        ("The fee is due", "Then the *fee* is due.", True),
        ("may", "In May.", False),
        ("The law", "THE LAW", False),
        ("一天，两欧元。", "一天,两欧元", True),
        ("curl \\ -d now", "curl \\\n  -d now", True),
        ("a Voraussetzung here", "a Vor-\naussetzung here", True),
        ("Eltern-Kind-Verhältnis", "das Eltern-Kind-\r\n  Verhältnis", True),
        ("one two", "one-\ntwo", False),
    ],
)
def test_what_counts_as_the_same_words(quote: str, text: str, is_found: bool) -> None:  # noqa: FBT001 - a case
    assert (find_quote(quote, text) is not None) is is_found


def test_an_ellipsis_spans_all_its_parts() -> None:
    text = "Start: one thing, and another thing. End."
    match = find_quote("one thing … another thing", text)
    assert match is not None
    assert text[match.start : match.end] == "one thing, and another thing"


def test_words_divided_at_the_end_of_a_line_are_found_whole() -> None:
    text = "Die Vor-\naussetzung und das Er-\ngebnis gelten."
    match = find_quote("Voraussetzung und das Ergebnis", text)
    assert match is not None
    assert text[match.start : match.end] == "Vor-\naussetzung und das Er-\ngebnis"


def test_letters_that_are_written_otherwise_are_found_whole() -> None:
    text = "Die Gebu\u0308hr fa\u0308llt an: e\ufb03cient cafe\u0301!"
    match = find_quote("Gebühr  fällt an: efficient café", text)
    assert match is not None
    assert text[match.start : match.end] == "Gebu\u0308hr fa\u0308llt an: e\ufb03cient cafe\u0301"

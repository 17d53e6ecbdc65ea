"""Units and sentences of Markdown are exact spans."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.units import find_units, split_sentences

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
            "- one\n- two\n  more\n\n  a paragraph\n1) three",
            [("item", "one"), ("item", "two\n  more"), ("prose", "a paragraph"), ("item", "three")],
        ),
        ("> quoted\n> on\n", [("prose", "quoted\n> on")]),
        ("```py\n# x\ny = 1\n```\nafter", [("code", "# x"), ("code", "y = 1"), ("prose", "after")]),
        (
            "intro\n| a | b |\n|---|:-:|\n| c | d |\n\nend",
            [("prose", "intro"), ("table_head", "| a | b |"), ("row", "| c | d |"), ("prose", "end")],
        ),
        ("<!-- a\nb -->\n<!-- c -->\n\n[r]: http://x\n\n***\n", []),
        ("a\r\nb\rc\n\r\nd", [("prose", "a\r\nb\rc"), ("prose", "d")]),
        ("---\ntitle: x\n---\ntext", [("prose", "text")]),
    ],
)
def test_units(text: str, expected: list[tuple[str, str]]) -> None:
    assert _list_units(text) == expected


@given(st.lists(_PIECES, max_size=12).map("\n".join))
def test_units_follow_each_other_and_hold_words(text: str) -> None:
    units = find_units(text)
    assert all(before.end <= after.start for before, after in pairwise(units))
    assert all(any(map(str.isalnum, text[unit.start : unit.end])) for unit in units)


_TEXT = st.text(alphabet="ab AB.!?;()`\n*_|#>-'\"。1 ", max_size=80)


def _split(text: str) -> list[str]:
    return [text[sentence.start : sentence.end] for sentence in split_sentences(text)]


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
        ("Sie wird am 1. April fällig. Danach nie.", ["Sie wird am 1. April fällig.", "Danach nie."]),
        ("Es gilt Abs. 2, vgl. Anhang. Im 19. Jahrhundert.", ["Es gilt Abs. 2, vgl. Anhang.", "Im 19. Jahrhundert."]),
        ("数据库很快。它很好！真的", ["数据库很快。", "它很好！", "真的"]),
        ("# Head. Not split\n\nText.", ["Head. Not split", "Text."]),
        ("| a. B | c |\n|---|---|\n| d. E | f |\n", ["| a. B | c |", "| d. E | f |"]),
        ("Rows in lines:  \nA | 1  \nB | 2", ["Rows in lines:", "A | 1", "B | 2"]),
        ("", []),
        ("***\n\n...\n", []),
    ],
)
def test_a_text_is_divided_into_sentences(text: str, expected: list[str]) -> None:
    assert _split(text) == expected


@given(_TEXT)
def test_sentences_are_slices_in_order(text: str) -> None:
    sentences = split_sentences(text)
    assert all(sentence.start < sentence.end <= len(text) for sentence in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() for s in sentences)

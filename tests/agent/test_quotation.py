"""What stands between double quotation marks."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.agent.binding import find_quotations


@pytest.mark.parametrize(
    ("answer", "quotes"),
    [
        ('"a" and "b"', ["a", "b"]),
        ('"a","b"', ["a", "b"]),
        ('"a b\nc"', ["a b\nc"]),
        ('" a "', ["a"]),
        ('He said "a "b" c" twice.', ['a "b" c']),
        ('He said "a "b"".', ['a "b"']),
        ('"“a” b"', ["“a” b"]),
        ('“a "b" c”', ['a "b" c']),
        ("“a “b” c “d” e”", ["a “b” c “d” e"]),
        ("„a“ und „b“", ["a", "b"]),
        ("„a” i „b”", ["a", "b"]),
        ("«a» et « b »", ["a", "b"]),
        ("«a «b» c»", ["a «b» c"]),
        ("»a« und »b«", ["a", "b"]),
        ("「a」、『b』", ["a", "b"]),
        ("〝a〟と〝b〞", ["a", "b"]),
        ("他说“a”和”b”", ["a"]),
        ("”a” och ”b”", ["a", "b"]),
        ('The 5" pipe is "a".', ["a"]),
        ('A 3" and a 5" pipe.', []),
        ('"no end. Then "a" again.', ["a"]),
        ('"no end\n\nnew "a" here', ["a"]),
        ('No start" and "a".', ["a"]),
        ('**"a"**, *"b"*, ("c"), ["d"], —"e"—', ["a", "b", "c", "d", "e"]),
        ('说"甲"和"乙"。', ["甲", "乙"]),
        ('Говорит "а" и "б".', ["а", "б"]),
        ("it's a 'single' ‘quote’", []),
        ('""', []),
        ('" "', []),
        ('`print("a")`', ['print("a")']),
        ('``a ` "b"`` and "c"', ['a ` "b"', "c"]),
        ('```py\nprint("a", "b")\n```\n"c"', ['print("a", "b")', "c"]),
        ('"the `a` option"', ["the `a` option"]),
        ('the ` sign, "a" and "b"', ["a", "b"]),
        ("", []),
    ],
)
def test_quotations_in_many_languages(answer: str, quotes: list[str]) -> None:
    assert [quotation.text for quotation in find_quotations(answer)] == quotes


@given(st.text(alphabet='ab “”„«»「」"`\n.[', max_size=60))
def test_quotations_never_overlap_and_stand_where_they_say(answer: str) -> None:
    quotations = find_quotations(answer)
    assert all(before.end <= after.start for before, after in itertools.pairwise(quotations))
    for quotation in quotations:
        assert quotation.text == answer[quotation.start + 1 : quotation.end - 1].strip() != ""

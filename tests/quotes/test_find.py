"""Finding a quote in a text."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from roamtui.quotes.find import find_quote

_TEXT = (
    "## Fees & fines\r\n\r\n> Late *returns* cost **2 euros** a day - see [the rules](rules.md (x)), `fee_table`.\r\n"
    "\r\n1. First, pay.\r\n2. Then ask. It’s 12,50 € “in all” …\r\n\r\n| a | b |\r\n|---|---|\r\n| 逾期 | 两欧元 |\r\n"
)


_PIECES = [*re.finditer(r"\[the rules\]\(rules\.md \(x\)\),|“in all”|\S*\w\S*", _TEXT)]


@given(st.integers(0, len(_PIECES) - 1), st.integers(0, len(_PIECES) - 1))
def test_any_words_of_a_text_are_found_where_they_stand(first: int, last: int) -> None:
    assume(first <= last)
    start, end = _PIECES[first].start(), _PIECES[last].end()
    quote = _TEXT[start:end]
    assume(sum(character.isalnum() for character in quote) >= 2)
    match = find_quote(quote, _TEXT)
    assert match is not None
    assert start <= match[0] <= match[1] <= end
    assert not re.search(r"\w", _TEXT[start : match[0]] + _TEXT[match[1] : end].replace("rules.md (x)", ""))


@pytest.mark.parametrize(
    ("quote", "text", "is_found"),
    [
        ("2 euros", "It costs 12 euros.", False),
        ("2 euros", "It costs 12 euros, then 2 euros.", True),
        ("欧元 每", "两欧元\n每天", True),
        ("legal to copy", "It is illegal to copy.", False),
        ("Find the extension page", "extensionFind the extension pageQuick. A page", True),
        ("Find the extension page", "extensionFind the extension pageQuick.", False),
        ("less skill than Claude 3", "Yes, less skill than Claude 3Yes, less skill", True),
        ("Allowed by policy here", "The flag notAllowed by policy here.", False),
        ("configures [X](https://e.org/long…) to serve", "configures [X](https://e.org/long/path) to serve", True),
        ("configures X … to serve", "configures [X](https://e.org/long/path) to serve", True),
        ("a deposit of 5", "a deposit of 5M euros", False),
        ("Phone", "It is an iPhone.", False),
        ("one two", "one<br>two", True),
        ("Tool Fee Saw £3", "| Tool | Fee |\r\n|:---|--|\r\n| Saw | £3 |", True),
        ("a snake_case name", "a snake\\_case name", True),
        ("Gebühr für die", "Die Gebu\u0308hr\nfu\u0308r die", True),
        ("file office", "The \ufb01le of\ufb01ce", True),
        ("no - yes", "no – yes", True),
        ("is 5'10\" tall", "He is 5′10″ tall", True),
        ("x", "x", False),
        ("one ... two", "two one", False),
        ("one ... one", "one, one", True),
        ("type: a … size", "```\ntype: a b\nid: 5\nsize: 7\n```\n", False),
        ("type: a … b", "```\ntype: a x b\n```\n", True),
        ("3. Second", "first.\n\n2. Second", False),
        ("12. May", "on\n12. May", True),
        ("- 5 degrees", "- 5 degrees", True),
        ("63% fewer", "There are 63\u00a0% fewer.", True),
        ("The fee is due", "Then the *fee* is due.", True),
        ("The law", "THE LAW", False),
        ("一天，两欧元。", "一天,两欧元", True),
        ("curl \\ -d now", "curl \\\n  -d now", True),
        ("a Voraussetzung here", "a Vor-\naussetzung here", True),
        ("Eltern-Kind-Verhältnis", "das Eltern-Kind-\r\n  Verhältnis", True),
    ],
)
def test_what_counts_as_the_same_words(quote: str, text: str, is_found: bool) -> None:  # noqa: FBT001 - a case
    assert (find_quote(quote, text) is not None) is is_found


@pytest.mark.parametrize(
    ("quote", "text", "is_found"),
    [
        ("a deposit of 1", "a deposit of 1,200 euros", False),
        ("200 euros", "a deposit of 1,200 euros", False),
        ("5 % per month", "0.5 % per month", False),
        ("a rate of 0.5", "a rate of 0.5 % per month", False),
        ("a rate of 0.5 %", "a rate of 0.5% per month", True),
        ("5 degrees", "-5 degrees", False),
        ("-5 degrees", "it has \u22125 degrees", True),
        ("1103 is old", "T-1103 is old", True),
        ("version 3", "version 3.11", False),
        ("version 3", "version 3. Then", True),
        ("3 Fees", "## 12.3 Fees", False),
        ("200 francs", "1'200 francs", False),
        ("000 Euro", "75\u00a0000 Euro", False),
        ("75 000 Euro", "75\u202f000 Euro", True),
        ("a mass of 1.5", "a mass of 1.5e-3 kg", False),
        ("a mass of 1.5", "a mass of 1.5 × 10⁻³ kg", False),
        ("5 million", "$5 million", True),
        ("€5 million", "$5 million", False),
        ("$5 million", "C$5 million", False),
        ("a fee of $5", "a fee of $5m", False),
        ("§ 5", "§ 5a", False),
        ("as of 2020", "as of 2020The", True),
        ("53 apples", "5[3] apples", False),
        ("105 apples", "10<sup>5</sup> apples", False),
        ("grew 12[3] % then", "grew 12[3] % *then*", True),
    ],
)
def test_no_match_starts_or_ends_inside_a_number(quote: str, text: str, is_found: bool) -> None:  # noqa: FBT001 - a case
    assert (find_quote(quote, text) is not None) is is_found


_RULES = """\
Members may borrow books, tools and games. Nobody under 18 may borrow petrol machines (see below. Or later) at all.

- Members may keep books for three weeks
- Petrol machines for one day. They smell.

| What | Deposit | Days |
|---|---|---|
| Books. All of them | free | 21 |
| Petrol machines | 50 euros | 1 |

A late machine costs

two euros a day… Then *three* euros. It is due
in the U.S. Treasury of the club.
"""


@pytest.mark.parametrize(
    ("quote", "is_whole"),
    [
        ("Members may borrow … games", True),
        ("Members [...] books ... games", True),
        ("Members […] may borrow petrol machines", False),
        ("Members may borrow books, tools and games. […] Nobody under 18 may borrow petrol machines", False),
        ("tools and games. Nobody under 18 … at all", True),
        ("Nobody under 18 … at all", True),
        ("Members … three weeks", True),
        ("Members may keep … one day", False),
        ("Petrol machines … one day", True),
        ("Books. … 21", True),
        ("Petrol machines … 50 euros", True),
        ("free … 50 euros", False),
        ("A late … two euros", True),
        ("two euros a day… Then three euros", True),
        ("A late … three euros", False),
        ("It is … club", True),
    ],
)
def test_an_ellipsis_omits_words_of_one_sentence_item_or_row(quote: str, is_whole: bool) -> None:  # noqa: FBT001
    assert (find_quote(quote, _RULES) is not None) is is_whole


def test_what_follows_an_ellipsis_may_be_the_last_character() -> None:
    assert find_quote("我们付 … 五", "我们付你五") == (0, 5)


def test_a_quote_needs_two_letters_or_digits() -> None:
    text = "if (a) the notice is late, or (b) [***], the other party may leave. | - | - |"
    assert find_quote("or (b) [***]", text)
    for quote in ("(b)", "(b) [***]", "…", "- | -"):
        assert find_quote(quote, text) is None


def test_a_quote_must_be_in_the_parts_that_count() -> None:
    text = "The fee is due.\n\nThe fee is due.\n"
    assert find_quote("fee is due", text, within=[(17, len(text))]) == (21, 31)
    assert find_quote("fee is due", text, within=[(0, 10), (17, 30)]) is None

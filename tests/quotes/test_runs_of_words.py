"""A quote is a run of words: any run of the words that a person sees is found, and no quote is too odd to look up."""

from hypothesis import assume, given
from hypothesis import strategies as st

from roamtui.quotes.find import find_quote

_WORDS = ("fee", "Tag", "can’t", "über", "договор", "two-year", "C++", "12.50", "5%", "§", "café", "ενοίκιο")
_MARKUP = (
    *("{}", "{}", "*{}*", "**{}**", "`{}`", "~~{}~~", "<b>{}</b>", "\u200b{}", "“{}”"),
    *("[{}](x.md)", "[{}](x.md 'not')"),
)
_BLOCKS = {
    "paragraph": ("{}\n", " "),
    "lines": ("{}\n", "\n"),
    "blanks": ("{}\n", " \u00a0\t"),
    "heading": ("## {}\n", " "),
    "quote": ("> {}\n", "\n> "),
    "items": ("- {}\n", "\n- "),
    "numbered items": ("1. {}\n", "\n2. "),
    "row": ("| {} |\n", " | "),
    "HTML": ("<p>{}</p>\n", " "),
    "HTML row": ("<table><tr><td>{}</td></tr></table>\n", "</td><td>"),
    "after a comment": ("<!-- not shown -->\n\n{}\n", " "),
}
"""Text around the words of a block and text between them."""


def _write_block(kind: str, words: list[tuple[str, str]]) -> str:
    around, between = _BLOCKS[kind]
    shown = [word if "HTML" in kind else markup.format(word) for word, markup in words]
    block = around.format(between.join(shown))
    return f"{block}|{'---|' * len(words)}\n" if kind == "row" else block


_BLOCK = st.tuples(
    st.sampled_from([*_BLOCKS]),
    st.lists(st.tuples(st.sampled_from(_WORDS), st.sampled_from(_MARKUP)), min_size=1, max_size=7),
)


@given(st.lists(_BLOCK, min_size=1, max_size=5), st.sampled_from(["\n", "\r\n"]), st.data())
def test_any_run_of_visible_words_is_found(
    blocks: list[tuple[str, list[tuple[str, str]]]], line_end: str, data: st.DataObject
) -> None:
    text = "\n".join(_write_block(kind, words) for kind, words in blocks).replace("\n", line_end)
    words = [word for _, block in blocks for word, _ in block]
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    assume(sum(map(str.isalnum, quote)) >= 2)
    match = find_quote(quote, text)
    assert match is not None, text
    assert all(word in text[match.start : match.end] for word in quote.split())


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_nothing_is_too_odd_to_look_up(quote: str, text: str) -> None:
    match = find_quote(quote, text)
    assert match is None or 0 <= match.start < match.end <= len(text)


_FORMS = (
    *(("5%", "5 %"), ("€7", "€ 7"), ("4(a)", "4 (a)"), ("2(8)", "2 (8)"), ("6/day", "6 / day"), ("3:1", "3 : 1")),
    *(("9-year", "9 year"), ("ten-year", "ten year"), ("e-mail", "email"), ("U.S.", "US"), ("COVID-19", "COVID19")),
    *(("Tag", "TAG"), ("10–30", "10 - 30"), ("x=-8", "x = -8"), ("договор", "Договор"), ("can’t", "Can't")),
)
"""Two forms of words with the same letters and numbers."""
_LETTERS = st.sampled_from(("fee", "über", "договор", "tenant"))
_NUMBERS = st.sampled_from(("12.50", "2019", "64", "1:05", "7,000"))


@given(st.lists(st.tuples(st.sampled_from(_FORMS), st.booleans(), st.booleans()), min_size=1, max_size=6))
def test_words_with_the_same_letters_and_numbers_are_found(words: list[tuple[tuple[str, str], bool, bool]]) -> None:
    text = " ".join(forms[is_second] for forms, is_second, _ in words)
    quote = " ".join(forms[is_second] for forms, _, is_second in words)
    assert find_quote(quote, f"One {text} two.") is not None


@given(st.lists(_LETTERS, max_size=2), _LETTERS, _NUMBERS, st.sampled_from("-+−–>#<±$€45 .,%'"), st.data())
def test_a_sign_digit_or_space_that_changes_letters_or_numbers_is_not_found(
    before: list[str], word: str, number: str, sign: str, data: st.DataObject
) -> None:
    text = f"One {' '.join([*before, word])} {number} of it."
    changed = [f"{word} {number[:at]}{sign}{number[at:]} of it" for at in range(1, len(number))]
    changed += (f"{word[:at]} {word[at:]} {number} of it" for at in range(1, len(word)))
    if sign not in " .,'":
        changed += (f"{start}{number} of it" for start in (sign, f"{sign} ", f"{word} {sign}"))
    assert find_quote(data.draw(st.sampled_from(changed)), text) is None

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

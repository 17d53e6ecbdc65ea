"""Passages are whole blocks, each with what belongs to it."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from roamtui.markdown.passages import find_passage, split_passages
from roamtui.markdown.units import split_sentences
from roamtui.text import compute_line_starts, estimate_tokens
from tests.case_files import read_rows

_LINES = "text|Words: and more:|**Label**|# Head|===|---|- item|1. one|  more|    deep|> quote|```|<!-- c -->||"
_PIECES = st.lists(
    st.sampled_from([*_LINES.split("|"), "| a | b |", "|---|---|", "A sentence. Another one."]), max_size=30
)
_TOKENS_MAX = 600
_ROWS = "| Name | Use |\n|---|---|\n" + "".join(
    f"| tool {number} | for work of kind {number} |\n" for number in range(200)
)
_ITEMS = "".join(f"- Item {number} of a list is this long sentence.\n" for number in range(200))
_CODE = "```sh\n" + "".join(f"run --number {number} --again\n" for number in range(200)) + "```\n"
_PROSE = " ".join(f"Sentence {number} says nothing at all." for number in range(300))


def _list_blocks(text: str) -> list[tuple[int, int]]:
    """Return the span of each outermost block that is a passage or part of one, without the blanks around it."""
    starts = [*compute_line_starts(text), len(text)]
    spans = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.level == 0 and token.nesting >= 0 and token.map and token.type not in ("heading_open", "hr"):
            start, end = starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]
            body = text[start:end]
            if body.strip() and not body.lstrip().startswith("<!--"):
                spans.append((start + len(body) - len(body.lstrip()), start + len(body.rstrip())))
    return spans


@given(_PIECES)
def test_every_block_is_whole_within_one_passage(pieces: list[str]) -> None:
    text = "\n".join(("", *pieces))  # at the start of a text, two rules are the marks of its front matter
    passages = split_passages(text)
    for start, end in _list_blocks(text):
        assert sum(first <= start and end <= last for first, last in passages) == 1
    for first, last in passages:
        assert any(first <= start < last for start, _ in _list_blocks(text))
        assert text[first:last].strip()
    assert all(end <= start for (_, end), (start, _) in pairwise(passages))


@pytest.mark.parametrize(("text", "expected"), read_rows("markdown/passages", "belonging"))
def test_a_table_a_list_and_code_belong_to_the_paragraph_above(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in split_passages(text)] == expected


@pytest.mark.parametrize("body", [_ROWS, _ITEMS, _CODE, _PROSE], ids=["rows", "items", "code", "prose"])
@example(share=0.61328125)
@given(share=st.floats(0, 1))
def test_a_long_passage_is_cut_between_units_at_the_bound_of_tokens(body: str, share: float) -> None:
    text = f"What follows is long.\n\n{body}"
    offset = min(len(text.rstrip()) - 1, int(share * len(text)))
    passage = find_passage(text, offset)
    if passage is None:  # a blank line between two passages
        assert not text[offset].strip()
        return
    passage_start, passage_end = passage
    units = split_sentences(text)
    inside = [unit for unit in units if passage_start <= unit.start < passage_end]
    assert all(unit.end <= passage_end for unit in inside)
    assert not any(unit.start < passage_start < unit.end for unit in units)
    tokens = estimate_tokens(text[passage_start:passage_end])
    assert tokens <= _TOKENS_MAX
    if len(inside) > 1:
        assert tokens > _TOKENS_MAX - 40
    assert passage_start == 0 or text[passage_start - 1] == "\n" or passage_start in {unit.start for unit in units}

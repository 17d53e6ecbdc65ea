"""The best sentences of a text, the whole passages around them, and excerpts of both."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from roamtui.markdown.passages import find_passage, split_passages
from roamtui.markdown.units import split_sentences
from roamtui.retrieval.excerpt import select_excerpt
from roamtui.search.lexicon import Language
from roamtui.search.sentences import find_question_words, rank_sentences
from roamtui.search.terms import TermMatcher
from roamtui.text import compute_line_starts, estimate_tokens
from tests.case_files import read_rows
from tests.outline.documents import documents

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


@pytest.mark.parametrize(("text", "expected"), read_rows("search/passages", "belonging"))
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


@pytest.mark.parametrize(("question", "text", "words"), read_rows("search/passages", "words"))
def test_words_of_a_question_are_found_as_search_knows_them(question: str, text: str, words: list[str]) -> None:
    found = find_question_words(question, [text]).locate(text)
    assert [text[start:end] for start, end, _ in found] == words


def _choose(text: str, question: str) -> list[str]:
    best = rank_sentences(text, TermMatcher.for_question(question), limit=1)
    return [text[sentence.start : sentence.end] for sentence in best]


@given(st.text(alphabet="ab AB.!?;()`\n*_|#>-'\"。1 ", max_size=80), st.integers(0, 3))
def test_best_sentences_are_sentences(text: str, limit: int) -> None:
    known = {(sentence.start, sentence.end) for sentence in split_sentences(text)}
    best = rank_sentences(text, TermMatcher(("a", "b"), Language.ENGLISH), limit=limit)
    assert len(best) <= limit
    assert all((sentence.start, sentence.end) in known and sentence.score > 0 for sentence in best)
    assert [sentence.score for sentence in best] == sorted((s.score for s in best), reverse=True)


_BACKUPS = "Backups are kept. Restore is manual. Backups are kept for thirty days. Ask the desk about days."
_RETRIES = "```\nretry(limit=3)\n```\n\nYou can set the retry limit yourself.\n"


@pytest.mark.parametrize(
    ("text", "question", "best"),
    [
        pytest.param(_BACKUPS, "How many days are backups kept?", "Backups are kept for thirty days.", id="more terms"),
        pytest.param(_RETRIES, "retry limit", "You can set the retry limit yourself.", id="prose, not code"),
    ],
)
def test_the_best_sentence_comes_first(text: str, question: str, best: str) -> None:
    assert _choose(text, question) == [best]


_FILLER = "Some words that say nothing of it. "
_ROWS = "".join(f"| {name} | {number} crowns |\n" for number, name in enumerate(("Otter", "Vole", "Crane") * 20))


def _excerpts(text: str, query: str, tokens_max: int = 60) -> list[str]:
    return [
        text[start:end] for start, end in select_excerpt(text, TermMatcher.for_question(query), tokens_max=tokens_max)
    ]


@pytest.mark.parametrize("text", ["", "## Fees\n", "Fees\n----\n\n\n"])
def test_a_bare_heading_has_no_excerpt(text: str) -> None:
    assert _excerpts(text, "fees") == []


def test_the_best_sentence_of_a_long_text_comes_with_its_context() -> None:
    text = f"## Fees\n\n{_FILLER * 40}\n\nYou may rent birds.\n\nA heron costs 2 euros.\n\nBut not on Mondays.\n\n"
    found = "\n".join(_excerpts(f"{text}{_FILLER * 40}\n", "what does a heron cost"))
    assert "You may rent birds.\nA heron costs 2 euros.\nBut not on Mondays." in found
    assert estimate_tokens(found) <= 60


def test_a_short_omission_is_filled_and_a_long_one_is_not() -> None:
    herons = "\n\n".join(f"Heron {number} costs {number} euros. {_FILLER * 3}".rstrip() for number in range(4))
    tokens = estimate_tokens(herons)
    text = f"## Fees\n\n{herons}\n\nChildren pay half of it.\n".replace("\n\nHeron 1", f"\n\n{_FILLER * 20}\n\nHeron 1")
    found = _excerpts(text, "heron euros", tokens + 2)
    assert "Children pay half" in found[-1], "one would have to ask for these words again"
    assert _FILLER * 4 not in "".join(found)


def test_a_row_comes_with_the_totals_of_its_table() -> None:
    table = f"| Animal | Price |\n|---|---|\n{_ROWS}| Beaver | 99 crowns |\n{_ROWS}| **Total** | 7 crowns |\n"
    found = "\n".join(_excerpts(f"## Prices\n\n{_FILLER * 20}\n\n{table}", "price of a beaver"))
    assert "| Beaver | 99 crowns |" in found
    assert "| **Total** | 7 crowns |" in found


def test_code_is_whole_or_comes_with_its_fences() -> None:
    code = "```python\nadd_heron(\n    1,\n)\n```"
    text = f"## Fees\n\n{_FILLER * 40}\n\n{code}\n\n{_FILLER * 40}\n"
    assert _excerpts(text, "add_heron")[0].endswith(code)
    lines = "".join(f"bird_{number} = {number}\n" for number in range(60))
    text = f"## Fees\n\n{_FILLER * 40}\n\n```python\n{lines}add_heron(1)\n{lines}```\n\n{_FILLER * 40}\n"
    opening, middle, closing = _excerpts(text, "add_heron")
    assert (opening, closing) == ("```python", "```")
    assert "add_heron(1)\nbird_0 = 0" in middle


def test_a_german_question_gets_no_english_synonyms() -> None:
    text = "The fee and the price.\n\nDie Rate kostet 5 Euro.\n\nDas Entgelt der Miete.\n"
    for question, words in (
        ("Wie hoch ist die Rate?", ["Rate"]),
        ("Was sind die Kosten?", ["kostet", "Entgelt"]),
        ("What is the rate?", ["fee", "price", "Rate"]),
    ):
        found = find_question_words(question, [text]).locate(text)
        assert [text[start:end] for start, end, _ in found] == words


def test_code_comes_after_the_other_best_sentences() -> None:
    code = "```python\n" + "bird = bird + 1\n" * 8 + "```"
    text = (
        f"## Fees\n\nA heron costs 2 euros:\n\n{code}\n\n{_FILLER * 40}\n\nTwo herons cost 3 euros.\n\n{_FILLER * 40}"
    )
    found = "\n".join(_excerpts(text, "what does a heron cost in euros", 58))
    assert "A heron costs 2 euros" in found
    assert "Two herons cost 3 euros." in found


@example("# Fees\n\nOne.\n\n# Fees\n\nword7919 word7950 word7981 word8012 word8043\n\n", "word7", 20)
@given(documents(), st.sampled_from(["word7", "fees late", "nothing of it"]), st.integers(20, 200))
def test_spans_are_in_order_never_blank_and_end_with_whole_words(text: str, query: str, tokens_max: int) -> None:
    bounds = select_excerpt(text, TermMatcher.for_question(query), tokens_max=tokens_max)
    ends = [0, *(end for _, end in bounds)]
    assert all(before <= start < end <= len(text) for before, (start, end) in zip(ends, bounds, strict=False))
    assert all(text[start:end].strip() for start, end in bounds)
    assert not any(f"{text} "[end - 1 : end + 1].isalnum() and " " in text[start:end] for start, end in bounds)

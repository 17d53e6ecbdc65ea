"""Excerpts of sections: the best sentences with their context, and snippets."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.tokens import estimate_tokens
from roamtui.search.excerpts import make_snippet, select_excerpt
from roamtui.search.lexicon import Language
from roamtui.search.terms import extract_query_terms
from tests.outline.documents import documents

_FILLER = "Some words that say nothing of it. "
_ROWS = "".join(f"| {name} | {number} crowns |\n" for number, name in enumerate(("Otter", "Vole", "Crane") * 20))


def _excerpts(text: str, query: str, tokens_max: int = 60) -> list[str]:
    return [text[start:end] for start, end in select_excerpt(text, extract_query_terms(query), tokens_max=tokens_max)]


@pytest.mark.parametrize(
    "answer", ["Die Gäste haben dafür einen Euro zu zahlen.", "Der Gast hat dafür einen Euro zu entrichten."]
)
def test_other_forms_and_formal_words_count_in_german(answer: str) -> None:
    filler = "".join(f"Davon steht in Satz {number} hier leider gar nichts. " for number in range(20))
    terms = extract_query_terms("Was muss ich bezahlen, und wann wird gezahlt?")
    assert make_snippet(f"{filler}\n\n{answer}\n\n{filler}", terms, Language.GERMAN) == answer


def test_a_short_text_is_returned_whole_without_its_heading() -> None:
    assert _excerpts("## Fees\n\nIt costs 2 euros.\n\nBut not on Mondays.\n", "costs") == [
        "It costs 2 euros.\n\nBut not on Mondays."
    ]


@pytest.mark.parametrize("text", ["", "## Fees\n", "Fees\n----\n\n\n"])
def test_a_bare_heading_has_no_excerpt(text: str) -> None:
    assert _excerpts(text, "fees") == []


def test_the_best_sentence_of_a_long_text_comes_with_its_context() -> None:
    text = f"## Fees\n\n{_FILLER * 40}\n\nA heron costs 2 euros.\n\nBut not on Mondays.\n\n{_FILLER * 40}\n"
    found = "\n".join(_excerpts(text, "what does a heron cost"))
    assert "A heron costs 2 euros.\n\nBut not on Mondays." in found
    assert estimate_tokens(found) <= 60


def test_a_row_comes_with_the_head_of_its_table() -> None:
    text = (
        f"## Prices\n\n{_FILLER * 20}\n\n| Animal | Price |\n|---|---|\n{_ROWS.replace('Vole | 31', 'Beaver | 31')}\n"
    )
    found = "\n".join(_excerpts(text, "price of a beaver"))
    assert "| Animal | Price |" in found
    assert "Beaver | 31" in found


def test_a_row_comes_with_the_totals_of_its_table() -> None:
    table = f"| Animal | Price |\n|---|---|\n{_ROWS}| Beaver | 99 crowns |\n{_ROWS}| **Total** | 7 crowns |\n"
    found = "\n".join(_excerpts(f"## Prices\n\n{_FILLER * 20}\n\n{table}", "price of a beaver"))
    assert "| Beaver | 99 crowns |" in found
    assert "| **Total** | 7 crowns |" in found


def test_a_row_comes_with_its_total_even_if_other_rows_have_words_of_the_query() -> None:
    rows = "".join(f"| Otter of kind {n} | {n} crowns |\n" for n in range(40))
    table = f"| Animal | Price |\n|---|---|\n{rows}| Total | 780 crowns |\n"
    assert _excerpts(table, "price otter", tokens_max=120)[-1] == "| Total | 780 crowns |"


@pytest.mark.parametrize("label", ["| Domestic: | |", "| Domestic: |", "| Domestic | | |"])
def test_a_row_that_introduces_others_never_ends_an_excerpt(label: str) -> None:
    rows = "".join(f"| Bonds of kind {n} | {n} | {n} |\n" for n in range(40))
    table = f"|  | 2022 | 2021 |\n|---|---|---|\n{rows}{label}\n{rows}"
    assert f"{label}\n| Bonds of kind 0 | 0 | 0 |" in _excerpts(table, "domestic debt", tokens_max=120)


def test_a_row_comes_with_the_other_rows_that_have_words_of_the_query() -> None:
    rows = "".join(f"| Bird {number} | {number} |\n" for number in range(40))
    otters = [f"| Otter {number} | {number} |" for number in range(6)]
    table = "| Animal | Price |\n|---|---|\n" + "".join(f"{otter}\n{rows}" for otter in otters) + "| Total | 13 |\n"
    found = "\n".join(_excerpts(f"## Prices\n\n{_FILLER * 40}\n\n{table}", "otter", 80))
    assert found.split("\n") == ["| Animal | Price |", "|---|---|", *otters, "| Total | 13 |"]


@pytest.mark.parametrize("mark", ["- ", "{}) ", "  * "])
def test_an_item_comes_with_the_first_sentences_of_its_list(mark: str) -> None:
    marks = [mark.format(number) for number in range(6)]
    items = [f"{one}Bird {number} costs {number} euros." for number, one in enumerate(marks)]
    items[4] = items[4].replace("Bird", "A heron") + f" {_FILLER * 8}"
    text = f"## Fees\n\n{_FILLER * 40}\n\nThe fees are:\n\n" + "\n".join(items) + f"\n\n{_FILLER * 40}\n"
    found = "\n".join(_excerpts(text, "what does a heron cost", 120))
    for number in range(6):
        assert f" {number} costs {number} euros." in found
    assert not found.startswith("Bird")


def test_paragraphs_with_letters_are_a_list_only_if_each_is_one_sentence() -> None:
    items = [f"({letter}) the fee for bird {letter};" for letter in "abcdefg"]
    text = f"## Fees\n\n{_FILLER * 40}\n\n" + "\n\n".join(items).replace("bird e", "herons") + "\n"
    assert "bird a;\n\n(b) the fee for bird b;" in "\n".join(_excerpts(text, "fee for herons", 120))
    sections = [f"({letter}) Bird {letter}. {_FILLER * 12}" for letter in "abcdefg"]
    text = f"## Fees\n\n{_FILLER * 40}\n\n" + "\n\n".join(sections).replace("Bird e", "Herons") + "\n"
    assert "Bird a" not in "\n".join(_excerpts(text, "herons", 120))


def test_code_is_whole_or_comes_with_its_fences_and_the_brackets_that_it_opens() -> None:
    call = "add_heron(\n    [\n        1,\n    ],\n)"
    code = f"```python\n{call}\n```"
    text = f"## Fees\n\n{_FILLER * 40}\n\n{code}\n\n{_FILLER * 40}\n"
    assert _excerpts(text, "add_heron") == [code]
    lines = "".join(f"bird_{number} = {number}\n" for number in range(60))
    text = f"## Fees\n\n{_FILLER * 40}\n\n```python\n{lines}{call}\n{lines}```\n\n{_FILLER * 40}\n"
    assert _excerpts(text, "add_heron") == ["```python", call, "```"]
    text = text.replace(call, "add_bird(1,\n)  # heron")
    assert _excerpts(text, "heron") == ["```python", "add_bird(1,\n)  # heron", "```"]


@pytest.mark.parametrize(("end", "comes"), [(":", True), ("**:**", True), (".", False)])
def test_code_comes_with_the_sentence_that_announces_it(end: str, *, comes: bool) -> None:
    text = f"## Use\n\n{_FILLER * 20}\n\nStart the otter as follows{end}\n\n```\nrun --now\n```\n\n{_FILLER * 20}\n"
    assert ("run --now\n```" in "\n".join(_excerpts(text, "start the otter"))) == comes


def test_a_list_too_long_for_the_excerpt_begins_after_the_sentence_that_announces_it() -> None:
    items = "".join(
        f"- Year {number}: the share rises by {number} per cent of all that is sold.\n" for number in range(30)
    )
    text = f"## Fees\n\n{_FILLER * 40}\n\nA heron costs more from then on, as follows:\n\n{items}\n{_FILLER * 40}\n"
    (found,) = _excerpts(text, "what does a heron cost")
    assert found.startswith("A heron costs more from then on, as follows:\n\n- Year 0: the share rises by 0 per cent")
    assert "Year 1" in found
    assert estimate_tokens(found) <= 60


def test_a_whole_text_keeps_its_fences_brackets_and_inner_headings() -> None:
    code = "```js\n{\n  heron: {\n  }\n}\n```"
    assert _excerpts(f"## Fees\n\n{code}\n", "heron") == [code]
    assert _excerpts(f"# Fees\n\n## Herons\n\n{code}\n", "heron") == [f"## Herons\n\n{code}"]
    assert _excerpts("## Fees\n\n- [ ] Herons\n- Owls\n", "heron") == ["- [ ] Herons\n- Owls"]


def test_a_long_sentence_is_not_divided_if_it_fits() -> None:
    clauses = [f"bird number {number} costs {number} euros and is never sold to another person" for number in range(8)]
    sentence = f"The seller says that {'; '.join(clauses)}; and that a heron is free."
    text = f"## Fees\n\n{_FILLER * 40}{sentence} {_FILLER * 40}\n"
    (found,) = _excerpts(text, "heron free", 250)
    assert found.startswith(sentence)


def test_a_sentence_of_a_long_paragraph_comes_with_the_next_one() -> None:
    text = f"## Fees\n\n{_FILLER * 40}A heron costs 2 euros. It must be kept well. {_FILLER * 40}\n"
    assert _excerpts(text, "what does a heron cost") == ["A heron costs 2 euros. It must be kept well."]


def test_a_label_is_no_context() -> None:
    text = f"{_FILLER * 20}\n\nPython\n\nA heron costs 2 euros.\n\nShell\n\n{_FILLER * 20}\n"
    assert "Shell" not in "\n".join(_excerpts(text, "what does a heron cost"))


def test_the_snippet_of_a_row_names_its_columns() -> None:
    text = "## Prices\n\n| Animal | | Price |\n|---|---|---|\n| Vole | small | 1 crown |\n| Otter | | 2 crowns |\n"
    assert make_snippet(text, ("vole",)) == "Animal: Vole; small; Price: 1 crown"
    assert make_snippet(text, ("otter",)) == "Animal: Otter; Price: 2 crowns"


def test_a_sentence_over_the_token_limit_is_cut() -> None:
    found = "".join(_excerpts(f"## A\n\nA heron {'and another ' * 400}waits.\n", "heron"))
    assert found.startswith("A heron and")
    assert estimate_tokens(found) <= 100


@example("# Fees\n\nOne.\n\n# Fees\n\nword7919 word7950 word7981 word8012 word8043\n\n", "word7", 20)
@given(documents(), st.sampled_from(["word7", "fees late", "nothing of it"]), st.integers(20, 200))
def test_spans_are_in_order_and_never_blank(text: str, query: str, tokens_max: int) -> None:
    bounds = select_excerpt(text, extract_query_terms(query), tokens_max=tokens_max)
    ends = [0, *(end for _, end in bounds)]
    assert all(before <= start < end <= len(text) for before, (start, end) in zip(ends, bounds, strict=False))
    assert all(text[start:end].strip() for start, end in bounds)

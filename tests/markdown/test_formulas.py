"""Formulas of TeX as lines of text that say the same, and what is left as it is."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.blocks import Emphasis, Paragraph
from roamtui.markdown.formulas import convert_formula
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.units import read_visible_line
from tests.case_files import read_rows


@pytest.mark.parametrize(("tex", "text"), read_rows("markdown/formulas", "formulas"))
def test_a_formula_keeps_its_meaning(tex: str, text: str) -> None:
    assert convert_formula(tex) == text


def test_figures_of_a_formula_never_join_those_next_to_it() -> None:
    assert read_visible_line(r"Wait 2\(\frac12\) h, 3\(\frac14\)5") == "Wait 2 1/2 h, 3 1/4 5"


@pytest.mark.parametrize(
    "tex",
    [r"\foo{x}", r"\begin{aligned}a\end{aligned}", r"\text{a} \\ b", "a & b", "{a", "a}", "x^", r"\hat{xy}", "{" * 100],
)
def test_what_is_not_known_is_not_converted(tex: str) -> None:
    assert convert_formula(tex) is None


@given(st.lists(st.sampled_from([*"{}^_ab1$&%+- ", "\\frac", "\\sqrt", "\\left", "\\text", "\\\\", "\\"])).map("".join))
def test_any_formula_is_converted_or_refused(tex: str) -> None:
    text = convert_formula(tex)
    assert text is None or "\ue0f0" not in text


def _write_larger_formulas(inner: list[str]) -> list[str]:
    forms = (r"\sqrt{I}", r"\sqrt{I}'", "{I}^3", "Iz", *(rf"\frac{{I}}{{{below}}}" for below in inner))
    return [*inner, *(form.replace("I", tex) for form in forms for tex in inner)]


def test_different_formulas_are_different_texts() -> None:
    formulas = {*_write_larger_formulas(_write_larger_formulas(["x", "2"])), r"\sqrt{x'}", "x^{33}"}
    assert len({convert_formula(tex) for tex in formulas}) == len(formulas)


def _read(text: str) -> list[tuple[str, bool]]:
    (block,) = parse_markdown(text).blocks
    assert isinstance(block, Paragraph)
    by_kind = groupby(block.words, key=lambda words: Emphasis.CODE in words.emphasis)
    return [("".join(words.text for words in run), is_code) for is_code, run in by_kind]


def test_formulas_are_found_in_prose() -> None:
    for text in ("$x^2$", "$$x^2$$", "$$\nx^2\n$$", r"\(x^2\)", r"\[ x^2 \]"):
        assert _read(f"a {text} b\n") == [("a x² b", False)]
    assert _read(r"$\foo{x}$") == [(r"\foo{x}", True)]


@pytest.mark.parametrize("text", read_rows("markdown/formulas", "no_formulas"))
def test_prices_and_names_are_no_formulas(text: str) -> None:
    shown = "".join(words for words, _ in _read(text))
    assert shown == text.replace("\\", "")

"""Formulas of TeX as lines of text that say the same, and what is left as it is."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.blocks import Emphasis, Paragraph
from roamtui.markdown.formulas import convert_formula
from roamtui.markdown.parser import read_markdown


@pytest.mark.parametrize(
    ("tex", "text"),
    [
        (r"\frac{1-L}{2}", "(1−L)/2"),
        (r"x^2 \le \frac{1}{2}", "x² ≤ 1/2"),
        (r"\frac12 x", "(1/2) x"),
        (r"2\frac{a}{b}", "2(a/b)"),
        (r"\left( \frac{a+b}{c} \right)^2", "((a+b)/c)²"),
        (r"\frac{a}{b}^2", "(a/b)²"),
        (r"\frac{1}{N}\sum_{i=1}^{n} x_i^2", "(1/N)∑ᵢ₌₁ⁿ xᵢ²"),
        (r"\frac{\frac{a}{b}}{c}", "(a/b)/c"),
        (r"\text{max_speedup}_{\text{group}}", "max_speedup_group"),
        (r"max_speedup \times 2", "max_speedup × 2"),
        (r"S_{final} + S_{max}", "S_final + Sₘₐₓ"),
        (r"\sum_{ab}term_{ab}", "∑_(ab)term_ab"),
        (r"e^{-\frac{x}{t}}", "e^(−x/t)"),
        (r"\sqrt{a+b} \ne \sqrt2", "√(a+b) ≠ √2"),
        (r"\hat{x}_t = \bar{y}", "x̂ₜ = ȳ"),
        (r"O(n \log n) - \max{x}", "O(n log n) − max(x)"),
        (r"{a+b}^2 = 2^63", "(a+b)² = 2⁶³"),
        (r"f'(x) \in \mathbb{R}^n", "f′(x) ∈ ℝⁿ"),
        (r"x^{a^b}", "x^(aᵇ)"),
    ],
)
def test_a_formula_keeps_its_meaning(tex: str, text: str) -> None:
    assert convert_formula(tex) == text


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


def _read(text: str) -> list[tuple[str, bool]]:
    (block,) = read_markdown(text).blocks
    assert isinstance(block, Paragraph)
    by_kind = groupby(block.words, key=lambda words: Emphasis.CODE in words.emphasis)
    return [("".join(words.text for words in run), is_code) for is_code, run in by_kind]


def test_formulas_are_found_in_prose() -> None:
    for text in ("$x^2$", "$$x^2$$", "$$\nx^2\n$$", r"\(x^2\)", r"\[ x^2 \]"):
        assert _read(f"a {text} b\n") == [("a x² b", False)]
    assert _read(r"$\foo{x}$") == [(r"\foo{x}", True)]


@pytest.mark.parametrize(
    "text",
    [
        "$5 or $6_000 or $7",
        "$HOME/a_b/$USER",
        "echo $a_b, $c",
        "$ x^2 $",
        "$a$",
        r"\[see\] and \(this\)",
        r"\([^)]*\)",
        '$a_"b"$',
        "$x^2",
    ],
)
def test_prices_and_names_are_no_formulas(text: str) -> None:
    shown = "".join(words for words, _ in _read(text))
    assert shown == text.replace("\\", "")

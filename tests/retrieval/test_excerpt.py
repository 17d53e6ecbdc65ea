"""The text of hits: together within a budget, the first ones whole, and nothing that the model has."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.outline.delivered import SpanSet
from roamtui.retrieval import policy
from roamtui.retrieval.excerpt import choose_excerpts, cut_excerpt, is_complete, is_delivered_text
from roamtui.retrieval.question_search import ModelView
from roamtui.search.base import Hit
from roamtui.search.sentences import READ_LENGTH_MAX
from roamtui.search.terms import TermMatcher
from roamtui.text import Span, estimate_tokens
from tests.outline.documents import documents
from tests.search.libraries import id_of, make_library

_WORDS = "Nothing of note is said in this sentence. " * 3
_QUERY = "Where do herons nest?"
_NEST = "Herons nest in tree"


def _make_library(*sizes: int) -> Library:
    """Return a library of sections with so many paragraphs, of 40 tokens each."""
    sections = (
        f"## Bird {number}\n\n" + "".join(f"{_NEST} {number}.{part}. {_WORDS}\n\n" for part in range(size))
        for number, size in enumerate(sizes)
    )
    return make_library("# Birds\n\n" + "".join(sections))


def _choose(
    library: Library,
    *scores: float,
    delivered: SpanSet = SpanSet(),
    named_count: int = 0,
    is_statement: bool = False,
) -> list[tuple[Span, ...]]:
    ids = [id_of(library, f"Bird {number}") for number in range(len(scores))]
    hits = {
        one: Hit(
            section_id=one,
            score=score,
            why="",
            is_asked_for=number < named_count,
            is_statement=is_statement and number < named_count,
        )
        for number, (one, score) in enumerate(zip(ids, scores, strict=True))
    }
    view = ModelView(library=library, room_tokens=64_000, delivered=delivered)
    chosen = choose_excerpts(view, hits, TermMatcher.for_question(_QUERY))
    return [chosen.get(one, ()) for one in ids]


def _count(library: Library, spans: tuple[Span, ...]) -> int:
    return sum(estimate_tokens(library.text_at(span)) for span in spans)


def test_hits_far_behind_the_best_have_no_excerpt_but_many_that_are_as_good_have_one() -> None:
    library = _make_library(*[9] * 12)
    assert [*map(bool, _choose(library, 1.0, 0.9, *[0.3] * 10))] == [True] * 2 + [False] * 10
    assert all(_choose(library, *[1.0] * 12))


@pytest.mark.parametrize("count", [1, 4, 9])
def test_all_hits_together_keep_to_the_budget_and_each_has_its_best_sentence(count: int) -> None:
    library = _make_library(*[50] * count)
    excerpts = _choose(library, *[1.0] * count)
    assert sum(_count(library, spans) for spans in excerpts) <= policy.HITS_TOKENS_MAX
    assert all(any(_NEST in library.text_at(span) for span in spans) for spans in excerpts)


def test_sections_that_a_question_names_keep_to_the_budget_too() -> None:
    library = _make_library(40, 40, 40, 40)
    excerpts = _choose(library, *[1.0] * 4, named_count=3)
    assert _count(library, excerpts[0]) > 1_000
    assert sum(_count(library, spans) for spans in excerpts) <= policy.HITS_TOKENS_MAX


def test_hits_beside_a_named_section_are_cut_short_only_if_it_is_a_financial_statement() -> None:
    library = _make_library(4, 50)
    beside = [_choose(library, 1.0, 1.0, named_count=1, is_statement=is_statement)[1] for is_statement in (True, False)]
    sizes = [_count(library, spans) for spans in beside]
    assert sizes[0] <= policy.BESIDE_STATEMENTS_TOKENS_MAX < policy.HITS_TOKENS_MAX / 2 < sizes[1]


def test_a_first_hit_far_ahead_comes_whole_and_others_share_the_rest() -> None:
    library = _make_library(12, 50, 50)
    first, second, third = _choose(library, 1.0, 0.8, 0.7)
    assert _count(library, first) > 380
    assert _count(library, second) >= _count(library, third) > 100


def test_a_hit_is_whole_if_its_share_holds_half_of_it() -> None:
    library = _make_library(24, 40, 40)
    whole, *others = _choose(library, 1.0, 1.0, 1.0)
    assert is_complete(library, id_of(library, "Bird 0"), whole)
    assert all(0 < _count(library, spans) < 400 for spans in others)


def test_only_text_that_the_model_does_not_have_is_chosen() -> None:
    library = _make_library(20, 20)
    own = library.node(id_of(library, "Bird 0")).own_content_span
    half = own.get_part(0, (own.end - own.start) // 3)
    delivered = SpanSet.from_spans([half])
    first, _ = _choose(library, 1.0, 0.9, delivered=delivered)
    assert first
    assert not any(half.overlaps(span) for span in first)
    assert _choose(library, 1.0, 0.9, delivered=delivered | [own])[0] == ()


def test_a_chapter_that_is_asked_for_is_not_repeated_if_the_model_has_all_text_below_it() -> None:
    library = make_library(f"# Birds\n\n## Bird 0\n\n### Nests\n\n{_NEST} 0. {_WORDS}\n")
    assert _choose(library, 1.0, named_count=1) != [()]
    text = library.node(id_of(library, "Nests")).own_content_span
    delivered = SpanSet({text.doc: [(text.start + len("### Nests\n\n"), text.end)]})
    assert _choose(library, 1.0, named_count=1, delivered=delivered) == [()]
    assert is_delivered_text(library, id_of(library, "Bird 0"), delivered)


_FILLER = "Some words that say nothing of it. "
_ROWS = "".join(f"| {name} | {number} crowns |\n" for number, name in enumerate(("Otter", "Vole", "Crane") * 20))


def _excerpts(text: str, query: str) -> list[str]:
    bounds = cut_excerpt(text, TermMatcher.for_question(query), tokens_max=60)
    return [text[start:end] for start, end in bounds]


@pytest.mark.parametrize("text", ["", "## Fees\n", "Fees\n----\n\n\n"])
def test_a_bare_heading_has_no_excerpt(text: str) -> None:
    assert _excerpts(text, "fees") == []


@pytest.mark.parametrize("start", [" \n" * READ_LENGTH_MAX, "  \n"], ids=len)
def test_a_long_text_that_begins_blank_is_cut_at_a_word_or_has_no_excerpt(start: str) -> None:
    text = f"{start}{'heron' * READ_LENGTH_MAX}\n"
    bounds = cut_excerpt(text, TermMatcher.for_question("heron"), tokens_max=60)
    assert [text[begin : begin + 5] for begin, _ in bounds] == ["heron"] * ("heron" in text[:1_000])


def test_the_best_sentence_of_a_long_text_comes_with_its_context() -> None:
    text = f"## Fees\n\n{_FILLER * 40}\n\nYou may rent birds.\n\nA heron costs 2 euros.\n\nBut not on Mondays.\n\n"
    found = "\n".join(_excerpts(f"{text}{_FILLER * 40}\n", "what does a heron cost"))
    assert "You may rent birds.\nA heron costs 2 euros.\nBut not on Mondays." in found
    assert estimate_tokens(found) <= 60


@pytest.mark.parametrize("lead", ["", "The price list of animals:\n\n"], ids=len)
def test_a_row_comes_with_the_heads_of_its_table_and_the_sentence_that_introduces_it(lead: str) -> None:
    table = f"| Animal | Crowns |\n|---|---|\n{_ROWS}| Beaver | 99 crowns |\n{_ROWS}"
    found = "\n".join(_excerpts(f"## Prices\n\n{_FILLER * 20}\n\n{lead}{table}", "price list: beaver"))
    assert lead.strip() in found
    assert "| Beaver | 99 crowns |" in found
    assert "| Animal | Crowns |" in found


def test_code_is_whole_or_comes_with_its_fences() -> None:
    code = "```python\nadd_heron(\n    1,\n)\n```"
    text = f"## Fees\n\n{_FILLER * 40}\n\n{code}\n\n{_FILLER * 40}\n"
    assert _excerpts(text, "add_heron")[0].endswith(code)
    lines = "".join(f"bird_{number} = {number}\n" for number in range(60))
    text = f"## Fees\n\n{_FILLER * 40}\n\n```python\n{lines}add_heron(1)\n{lines}```\n\n{_FILLER * 40}\n"
    opening, middle, closing = _excerpts(text, "add_heron")
    assert (opening, closing) == ("```python", "```")
    assert "add_heron(1)\nbird_0 = 0" in middle


@example("# Fees\n\nOne.\n\n# Fees\n\nword7919 word7950 word7981 word8012 word8043\n\n", "word7", 20)
@given(documents(), st.sampled_from(["word7", "fees late", "nothing of it"]), st.integers(20, 200))
def test_spans_are_in_order_never_blank_and_end_with_whole_words(text: str, query: str, tokens_max: int) -> None:
    bounds = cut_excerpt(text, TermMatcher.for_question(query), tokens_max=tokens_max)
    ends = [0, *(end for _, end in bounds)]
    assert all(before <= start < end <= len(text) for before, (start, end) in zip(ends, bounds, strict=False))
    assert all(text[start:end].strip() for start, end in bounds)
    assert not any(f"{text} "[end - 1 : end + 1].isalnum() and " " in text[start:end] for start, end in bounds)

"""The text of hits: together within a budget, the first ones whole, and nothing that the model has."""

import pytest

from roamtui.document.library import Library
from roamtui.retrieval.choose import ModelView
from roamtui.retrieval.excerpt import choose_excerpts
from roamtui.retrieval.policy import DEFAULT_POLICY
from roamtui.search.base import Hit
from roamtui.search.terms import TermMatcher
from roamtui.text import Bounds, Span, add_delivered, estimate_tokens
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
    library: Library, *scores: float, delivered: dict[str, list[Bounds]] | None = None
) -> list[tuple[Span, ...]]:
    ids = [id_of(library, f"Bird {number}") for number in range(len(scores))]
    hits = {one: Hit(section_id=one, score=score, why="") for one, score in zip(ids, scores, strict=True)}
    view = ModelView(library=library, delivered=delivered or {})
    chosen = choose_excerpts(view, hits, TermMatcher.for_question(_QUERY))
    return [chosen.get(one, ()) for one in ids]


def _count(library: Library, spans: tuple[Span, ...]) -> int:
    return sum(estimate_tokens(library.text_at(span)) for span in spans)


@pytest.mark.parametrize("count", [1, 4, 9])
def test_all_hits_together_keep_to_the_budget_and_each_has_its_best_sentence(count: int) -> None:
    library = _make_library(*[50] * count)
    excerpts = _choose(library, *[1.0] * count)
    assert sum(_count(library, spans) for spans in excerpts) <= DEFAULT_POLICY.hits_tokens_max
    assert all(any(_NEST in library.text_at(span) for span in spans) for spans in excerpts)


def test_a_first_hit_far_ahead_comes_whole_and_others_share_the_rest() -> None:
    library = _make_library(12, 50, 50)
    first, second, third = _choose(library, 1.0, 0.8, 0.7)
    assert _count(library, first) > 380
    assert _count(library, second) >= _count(library, third) > 100


def test_a_short_first_hit_comes_whole_beside_many_others() -> None:
    library = _make_library(8, *[50] * 8)
    first, *_ = _choose(library, *[1.0] * 9)
    assert library.text_at(first[0]).count(_NEST) == 8


def test_a_hit_little_larger_than_its_share_comes_whole() -> None:
    library = _make_library(50, 9, 50, 50, 50)
    first, second, *others = _choose(library, *[1.0] * 5)
    assert _count(library, second) > _count(library, first)
    assert library.text_at(second[0]).count(_NEST) == 9
    assert all(others)


def test_only_text_that_the_model_does_not_have_is_chosen() -> None:
    library = _make_library(20, 20)
    own = library.node(id_of(library, "Bird 0")).own_content_span
    delivered: dict[str, list[Bounds]] = {}
    half = own.get_part(0, (own.end - own.start) // 3)
    add_delivered(delivered, [half])
    first, _ = _choose(library, 1.0, 0.9, delivered=delivered)
    assert first
    assert not any(half.overlaps(span) for span in first)
    add_delivered(delivered, [own])
    assert _choose(library, 1.0, 0.9, delivered=delivered)[0] == ()

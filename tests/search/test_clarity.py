"""How clear a search by words is."""

from __future__ import annotations

import math

import pytest

from roamtui.search.base import RankedSection
from roamtui.search.clarity import find_rival, measure_doubt, put_clear_first


def _rank_shares(*shares: float) -> list[RankedSection]:
    return [RankedSection(section_id=str(place), score=share, why="") for place, share in enumerate(shares)]


def test_doubt_is_how_near_the_tenth_section_comes_to_the_first() -> None:
    assert measure_doubt([]) == 1.0
    assert measure_doubt(_rank_shares(0.7)) == 1.0
    assert measure_doubt(_rank_shares(0.8, 0.4)) == pytest.approx(0.25)
    assert measure_doubt(_rank_shares(*[1.0] * 9, 0.5, 0.1)) == pytest.approx(0.25)
    assert 0 < measure_doubt(_rank_shares(1.0, 0.0)) < 0.02


def test_a_rival_is_the_best_other_section_by_words() -> None:
    sections = [RankedSection(section_id=name, score=score, why="") for name, score in (("a", 1.0), ("b", 0.4))]
    assert find_rival(sections, "a") == 0.4
    assert find_rival(sections, "b") == 2.5
    assert find_rival(sections, "c") == math.inf
    assert find_rival(sections[:1], "a") == 0.0


def test_the_best_section_by_words_goes_first_only_where_none_comes_near_it() -> None:
    assert put_clear_first(["2", "1", "0"], _rank_shares(1.0, 0.9, 0.2)) == ["0", "2", "1"]
    assert put_clear_first(["2", "1", "0"], _rank_shares(1.0, 0.95)) == ["2", "1", "0"]
    assert put_clear_first(["2", "1"], _rank_shares(1.0, 0.1)) == ["2", "1"]
    assert put_clear_first(["2", "1"], []) == ["2", "1"]

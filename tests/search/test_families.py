"""Parents, children and bare headings among hits."""

from __future__ import annotations

from roamtui.search.families import demote_bare, is_bare, merge_families
from roamtui.search.index import SectionIndex
from roamtui.search.query import parse_query
from tests.search.libraries import make_library

_INDEX = SectionIndex(
    make_library(
        "# Refunds\n\n## By post\n\nSend it back.\n\n## Online\n\nRefunds take days.\n\n# Shop\n\nRefund or swap.\n\n"
        "Exchanges\n---------\n\n"
    )
)
_REFUNDS, _POST, _ONLINE, _SHOP, _EXCHANGES = range(5)


def test_a_bare_heading_is_known() -> None:
    assert [is_bare(_INDEX, number) for number in range(len(_INDEX))] == [True, False, False, False, True]


def test_text_goes_before_bare_headings() -> None:
    query = parse_query("refund price")

    assert demote_bare(_INDEX, [_REFUNDS, _EXCHANGES, _SHOP, _ONLINE], query) == [_SHOP, _REFUNDS, _EXCHANGES, _ONLINE]


def test_a_child_without_a_match_of_its_own_does_not_go_before_its_bare_parent() -> None:
    assert demote_bare(_INDEX, [_REFUNDS, _POST, _SHOP], parse_query("refund price")) == [_SHOP, _REFUNDS, _POST]


def test_sections_with_text_keep_their_order() -> None:
    assert demote_bare(_INDEX, [_POST, _SHOP, _REFUNDS], parse_query("refund price")) == [_POST, _SHOP, _REFUNDS]


def test_text_below_a_title_that_is_asked_for_goes_before_a_bare_heading() -> None:
    assert demote_bare(_INDEX, [_REFUNDS, _SHOP], parse_query("shop")) == [_SHOP, _REFUNDS]


def test_a_bare_heading_that_is_asked_for_stays_first() -> None:
    assert demote_bare(_INDEX, [_REFUNDS, _SHOP], parse_query("refunds")) == [_REFUNDS, _SHOP]


def test_bare_headings_alone_keep_their_order() -> None:
    assert demote_bare(_INDEX, [_EXCHANGES, _REFUNDS], parse_query("refund price")) == [_EXCHANGES, _REFUNDS]


def test_families_merge_only_where_nothing_of_their_own_matches() -> None:
    query = parse_query("refunds")

    assert merge_families(_INDEX, [_REFUNDS, _POST, _ONLINE, _SHOP], query, 5) == [_REFUNDS, _ONLINE, _SHOP]
    assert merge_families(_INDEX, [_ONLINE, _REFUNDS, _SHOP], query, 5) == [_ONLINE, _SHOP]
    assert merge_families(_INDEX, [_POST, _ONLINE], query, 5) == [_POST, _ONLINE]


def test_merging_stops_at_the_limit() -> None:
    assert merge_families(_INDEX, [_ONLINE, _SHOP, _POST], parse_query("refunds"), 2) == [_ONLINE, _SHOP]

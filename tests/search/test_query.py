"""Any text becomes an FTS5 expression made of quoted strings."""

from __future__ import annotations

import pytest

from roamtui.search.query import code_identifier, correct_query, parse_query


def test_an_identifier_is_looked_for_whole_and_in_parts() -> None:
    assert parse_query("max_tokens").expression == '"max" OR "tokens" OR names : "maxx5ftokens0" OR "max tokens"'


@pytest.mark.parametrize("text", ['"load balancing" rules', "“load balancing” rules", "„load balancing“ rules"])
def test_quoted_words_are_a_phrase(text: str) -> None:
    query = parse_query(text)
    assert query.phrases == '"load balancing"'
    assert query.expression == '"load" OR "balancing" OR "rules"'


@pytest.mark.parametrize("text", ["", " ", "***", '""', "\0", "🙂"])
def test_no_word_no_expression(text: str) -> None:
    query = parse_query(text)
    assert (query.terms, query.expression, query.phrases) == ((), "", "")


def test_what_a_word_may_have_meant_is_looked_for_too() -> None:
    query = correct_query(parse_query("instalation gide"), {"gide": ["guide", "gilded"]})
    assert query.expression == '"instalation" OR "gide" OR "guide" OR "gilded"'
    assert query.groups == (frozenset({"instal"}), frozenset({"guid", "gild"}))
    assert query.stems == {"instal", "guid", "gild"}


def test_coded_identifiers_differ_where_their_marks_do() -> None:
    names = ("max_tokens", "max.tokens", "maxtokens", "--max-tokens", "C++", "C#", "c")
    assert len({code_identifier(name) for name in names}) == len(names)
    assert all(code_identifier(name).isalnum() for name in names)


def test_forms_are_looked_for_in_other_languages_than_english() -> None:
    assert parse_query("Wer wählt den Rat?").starts == ('"wahl" *', '"gewahl" *')
    assert parse_query("Who elects the board?").starts == ()
